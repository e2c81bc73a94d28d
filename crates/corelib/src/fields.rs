//! Fields of objects that CoreLib declares for the machine to fill, found by their names.

use saki_runtime::{Array, CurrentThread, Managed, Obj, ObjRef, ToManaged, Word};
use saki_types::Field;

fn find(t: CurrentThread, object: Obj, name: &str) -> Managed<Option<&'static Field>> {
    object.ty().find_field(name).to_managed(t)
}

fn offset(t: CurrentThread, object: Obj, name: &str, size_bytes: usize) -> Managed<Option<usize>> {
    let Some(field) = find(t, object, name)? else { return Ok(None) };
    let held = field.ty().to_managed(t)?.value_size_bytes().to_managed(t)? as usize;
    if held != size_bytes {
        saki_base::bug!("{name} of {} has {held} bytes", object.ty().full_name());
    }
    Ok(Some(field.offset_bytes().to_managed(t)? as usize))
}

/// A value without references, such as a number.
pub trait Number: Copy {}

impl Number for u8 {}
impl Number for i32 {}
impl Number for i64 {}
impl Number for usize {}
impl Number for [i64; 4] {}

/// Stores a number of the field's size; nothing where this version has no such field.
///
/// # Errors
/// The errors of the field's type.
pub fn set<T: Number>(t: CurrentThread, object: Obj, name: &str, value: T) -> Managed<()> {
    if let Some(offset) = offset(t, object, name, size_of::<T>())? {
        // SAFETY: the object has a field of this size here, which is aligned to its size.
        unsafe { object.field_address::<T>(offset).write(value) };
    }
    Ok(())
}

/// Stores a reference of the field's type; nothing where this version has no such field.
///
/// # Errors
/// The errors of the field's type.
pub fn set_ref(t: CurrentThread, object: Obj, name: &str, value: impl Word) -> Managed<()> {
    if let Some(offset) = offset(t, object, name, size_of::<usize>())? {
        // SAFETY: the object has a field of references here.
        unsafe { saki_gc::barrier::store_ref(t.managed(), object.word(), offset, value.word()) };
    }
    Ok(())
}

/// A number in a field; None where this version has no such field.
///
/// # Errors
/// The errors of the field's type.
pub fn get<T: Number>(t: CurrentThread, object: Obj, name: &str) -> Managed<Option<T>> {
    let offset = offset(t, object, name, size_of::<T>())?;
    // SAFETY: the object has a field of this size here, which is aligned to its size.
    Ok(offset.map(|offset| unsafe { object.field_address::<T>(offset).read() }))
}

/// A reference in a field; None for null, and where this version has no such field.
///
/// # Errors
/// The errors of the field's type.
pub fn get_ref<'t>(t: CurrentThread<'t>, object: Obj<'t>, name: &str) -> Managed<Option<Obj<'t>>> {
    let offset = offset(t, object, name, size_of::<usize>())?;
    // SAFETY: the object has a field of references here.
    Ok(offset.and_then(|offset| unsafe { Obj::from_word(object.field_address::<ObjRef>(offset).read()) }))
}

/// A new array of the type of a field of the object, which it is stored to; None where this version has no such field.
///
/// # Errors
/// OutOfMemoryException, the errors of the field's type.
pub fn new_array<'t>(t: CurrentThread<'t>, object: Obj<'t>, name: &str, length: usize) -> Managed<Option<Array<'t>>> {
    let Some(field) = find(t, object, name)? else { return Ok(None) };
    let Some(element) = field.ty().to_managed(t)?.element() else { return Ok(None) };
    let array = Array::new(t, element, length)?;
    set_ref(t, object, name, array)?;
    Ok(Some(array))
}
