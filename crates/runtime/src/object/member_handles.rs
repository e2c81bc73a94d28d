//! The objects that handles of methods and fields hold in .NET's class libraries, where a handle is a reference:
//! `ldtoken` makes one each time, as .NET does.

use crate::exceptions::ToManaged;
use crate::fields::ManagedField;
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use saki_types::{Field, LibraryType, Method, universe};

static METHOD: ManagedField = ManagedField::new(LibraryType::RuntimeMethodInfoStub, "m_value");
static FIELD: ManagedField = ManagedField::new(LibraryType::RuntimeFieldInfoStub, "m_fieldHandle");

/// The object that stands for a method in a RuntimeMethodHandle.
///
/// # Errors
/// OutOfMemoryException.
pub fn of_method<'t>(t: CurrentThread<'t>, method: &'static Method) -> Managed<Obj<'t>> {
    let stub = Obj::new(t, universe().library_type(LibraryType::RuntimeMethodInfoStub).to_managed(t)?)?;
    METHOD.set(stub, std::ptr::from_ref(method).addr());
    Ok(stub)
}

/// The object that stands for a field in a RuntimeFieldHandle.
///
/// # Errors
/// OutOfMemoryException.
pub fn of_field<'t>(t: CurrentThread<'t>, field: &'static Field) -> Managed<Obj<'t>> {
    let stub = Obj::new(t, universe().library_type(LibraryType::RuntimeFieldInfoStub).to_managed(t)?)?;
    FIELD.set(stub, std::ptr::from_ref(field).addr());
    Ok(stub)
}
