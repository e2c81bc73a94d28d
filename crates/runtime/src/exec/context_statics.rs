//! `[ContextStatic]` fields: one value for each remoting context, made when the context first uses the field.
//!
//! A context's values are in an object[] behind a strong handle, which is stored in `Context.static_data` and freed by the
//! context's finalizer. The element at a field's number is the box of a value, or an object[1] that holds a reference.

use crate::contexts;
use crate::exceptions;
use crate::fields::ManagedField;
use crate::handles;
use crate::monitors;
use crate::references::{Array, Obj};
use crate::thread::{CurrentThread, Managed};
use saki_base::locks::{Mutex, rank};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_types::{Field, LibraryType, universe};

static STATIC_DATA: ManagedField = ManagedField::new(LibraryType::Context, "static_data");

/// The fields by their numbers.
static FIELDS: Mutex<rank::ContextStatics, Vec<&'static Field>> = Mutex::new(Vec::new());
/// Timeout of a monitor, in milliseconds.
const WAIT_FOREVER: i32 = -1;

fn number_of(field: &'static Field) -> usize {
    let mut fields = FIELDS.lock();
    fields.iter().position(|known| std::ptr::eq(*known, field)).unwrap_or_else(|| {
        fields.push(field);
        fields.len() - 1
    })
}

fn handle_of(context: Obj) -> Option<Handle> {
    Handle::from_bits(STATIC_DATA.get::<usize>(context) as u32)
}

/// The list of a context's values; None before the first.
fn values_of<'t>(t: CurrentThread<'t>, context: Obj) -> Option<Array<'t>> {
    let known = Obj::of_handle(t, handle_of(context)?).ok()??;
    known.as_array()
}

/// Address of the field for the current thread's context.
///
/// # Errors
/// OutOfMemoryException; the field type's load errors.
pub fn address(t: CurrentThread, field: &'static Field) -> Managed<*mut u8> {
    if let Some(owner) = saki_types::collectible::owner_of(field).filter(|owner| !owner.is_domain()) {
        // Contexts refer to the field by its number.
        owner.keep_for_ever();
    }
    let context = contexts::context(t)?;
    monitors::try_enter(t, Some(context), WAIT_FOREVER)?;
    let found = holder(t, context, field);
    monitors::exit(t, Some(context))?;
    let holder = found?;
    Ok(holder.as_array().map_or_else(|| holder.data(), |reference| reference.element_address(0)))
}

fn holder<'t>(t: CurrentThread<'t>, context: Obj<'t>, field: &'static Field) -> Managed<Obj<'t>> {
    let number = number_of(field);
    let known = values_of(t, context);
    let list = match known.filter(|known| number < known.length()) {
        Some(known) => known,
        None => {
            let list = Array::new(t, universe().object(), number + 1)?;
            for (index, value) in known.iter().flat_map(|known| known.iter()).enumerate() {
                list.set(t, index, value);
            }
            match handle_of(context) {
                Some(handle) => {
                    // The handle is not stale: only this module frees it.
                    let _ = handles::set_target(handle, list);
                }
                None => {
                    let handle = handles::allocate(t, HandleKind::Normal, list);
                    let handle = handle.ok_or_else(|| exceptions::out_of_memory(t))?;
                    STATIC_DATA.set(context, handle.bits() as usize);
                }
            }
            list
        }
    };
    if let Some(present) = list.get(number) {
        return Ok(present);
    }
    let ty = exceptions::ToManaged::to_managed(field.ty(), t)?;
    let made = match ty.is_reference_type() {
        true => Array::new(t, universe().object(), 1)?.into(),
        false => Obj::new(t, ty)?,
    };
    list.set(t, number, Some(made));
    Ok(made)
}

/// Frees the values of a context that has died.
pub fn release(t: CurrentThread, context: Obj) {
    if let Some(handle) = handle_of(context) {
        STATIC_DATA.set(context, 0usize);
        // An error means that the handle was freed with its domain.
        let _ = handles::free(t, handle);
    }
}
