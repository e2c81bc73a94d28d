//! `WeakReference` and `WeakReference<T>`: their finalizers only free a GC handle, so collections do that in place of
//! them.

use crate::references::Obj;
use saki_sync::handle_table::Handle;
use saki_types::{LibraryType, LoadResult, Ty};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Offsets in bytes of the handle in `WeakReference` and in `WeakReference<T>`; 0 = no vtable of the class was built
/// yet. Relaxed: numbers, read with the world stopped.
static HANDLE_OFFSETS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Whether objects of exactly this type have a finalizer that only frees a handle.
///
/// # Errors
/// Those of the type's fields.
pub(crate) fn note_class(ty: Ty) -> LoadResult<bool> {
    let (place, field) = if ty.is(LibraryType::WeakReference) {
        (&HANDLE_OFFSETS[0], "gcHandle")
    } else if ty.is(LibraryType::WeakReferenceOf) && !ty.is_open {
        (&HANDLE_OFFSETS[1], "handle")
    } else {
        return Ok(false);
    };
    let Some(field) = ty.find_field(field)? else { return Ok(false) };
    // Relaxed: all instantiations have the same layout, and collections read it with the world stopped.
    place.store(field.offset_bytes()? as usize, Ordering::Relaxed);
    Ok(true)
}

/// Takes the handle out of a dead object of such a class. The world is stopped.
pub(crate) fn take_handle(object: Obj, ty: Ty) -> Option<Handle> {
    let is_generic = ty.is(LibraryType::WeakReferenceOf);
    let offset = HANDLE_OFFSETS[usize::from(is_generic)].load(Ordering::Relaxed);
    let place = object.field_address::<u32>(offset);
    // SAFETY: the offset is that of the class's GCHandle, which is one int, or a native int whose upper half is 0; no
    // other thread runs.
    let bits = unsafe { place.replace(0) };
    Handle::from_bits(bits)
}
