//! System.TypedReference as ArgIterator makes them; its own internal calls are in `reflect`.

use saki_runtime::ManagedField;
use saki_types::{LibraryType, Ty, Type};

static TYPE: ManagedField = ManagedField::new(LibraryType::TypedReference, "type");
static VALUE: ManagedField = ManagedField::new(LibraryType::TypedReference, "Value");
static CLASS: ManagedField = ManagedField::new(LibraryType::TypedReference, "Type");

/// Fills a TypedReference in.
pub(super) fn write(reference: *mut u8, ty: Ty, value: *mut u8) {
    let put = |field: &ManagedField, word: usize| {
        // SAFETY: `reference` is a TypedReference; all its fields are pointer-sized.
        unsafe { (reference.add(field.offset_bytes()) as *mut usize).write(word) };
    };
    put(&TYPE, ty as *const Type as usize);
    put(&VALUE, value as usize);
    put(&CLASS, ty as *const Type as usize);
}
