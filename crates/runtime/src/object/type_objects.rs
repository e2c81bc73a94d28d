//! System.RuntimeType objects: one per type, made on first use, kept in a root cell.

use crate::cells::RootCell;
use crate::exception_types::ExceptionType;
use crate::exceptions::ToManaged;
use crate::fields::ManagedField;
use crate::object::method_tables;
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use saki_types::{LibraryType, Ty, Type, universe};
use std::sync::atomic::Ordering;

/// `RuntimeTypeHandle value` inside System.Type.
static IMPL: ManagedField = ManagedField::new(LibraryType::Type, "_impl");

/// The cell that holds the type object.
///
/// # Errors
/// OutOfMemoryException.
pub fn cell_of(t: CurrentThread, ty: Ty) -> Managed<RootCell> {
    // Acquire: pairs with the Release below.
    let known = ty.runtime.type_object_cell.load(Ordering::Acquire);
    if !known.is_null() {
        // SAFETY: stored below from `RootCell::address`.
        return Ok(unsafe { RootCell::from_address(known as usize) });
    }
    let object = Obj::new(t, universe().runtime_type())?;
    let handle = if method_tables::are_wanted() {
        method_tables::type_handle(ty).to_managed(t)?
    } else {
        ty as *const Type as usize
    };
    IMPL.set(object, handle);
    let cell = RootCell::beside(std::ptr::from_ref(ty).addr(), object);
    let address = cell.address() as *mut u8;
    // Release: publishes the filled cell. The first to publish wins, so that the object is unique.
    match ty.runtime.type_object_cell.compare_exchange(
        std::ptr::null_mut(),
        address,
        Ordering::AcqRel,
        Ordering::Acquire,
    ) {
        Ok(_) => Ok(cell),
        Err(earlier) => {
            cell.set(None::<Obj>);
            // SAFETY: the exchange failed, so another thread has published the address of a cell before.
            Ok(unsafe { RootCell::from_address(earlier as usize) })
        }
    }
}

/// The System.RuntimeType object of a type.
///
/// # Errors
/// OutOfMemoryException.
pub fn type_object<'t>(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
    let cell = cell_of(t, ty)?;
    Ok(cell.obj(t).unwrap_or_else(|| saki_base::bug!("the cell of a type object is empty")))
}

/// The type a System.Type object (not null) stands for. TypeBuilders and the like have a null handle.
pub fn type_of_object(object: Obj) -> Option<Ty> {
    let handle = IMPL.get::<usize>(object);
    if handle != 0 && method_tables::are_wanted() {
        // SAFETY: `m_handle` of runtime types is the handle of their type.
        return Some(unsafe { method_tables::type_of_handle(handle) });
    }
    // SAFETY: `_impl` of runtime types is the address of a `&'static Type`.
    (handle != 0).then(|| unsafe { &*(handle as *const Type) })
}

/// Makes a System.Type object of a builder's class stand for the type that it became.
pub fn bind_type(builder: Obj, ty: Ty) {
    IMPL.set(builder, ty as *const Type as usize);
}

/// The type a System.Type object stands for; throws for null, with the parameter's name, and for types that are not the
/// runtime's.
///
/// # Errors
/// ArgumentNullException, NotSupportedException.
pub fn require(t: CurrentThread, object: Option<Obj>, parameter: &str) -> Managed<Ty> {
    let Some(object) = object else {
        return Err(crate::exceptions::throw_argument_null(t, parameter));
    };
    type_of_object(object)
        .ok_or_else(|| crate::exceptions::throw(t, ExceptionType::NotSupported, "The type is not a runtime type."))
}
