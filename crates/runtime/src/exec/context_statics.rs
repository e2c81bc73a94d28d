//! `[ContextStatic]` fields: one value for each remoting context, made when the context first uses the field.
//!
//! A context's values are in an object[] behind a strong handle, which is stored in `Context.static_data` and freed by the
//! context's finalizer. The element at a field's number is the box of a value, or an object[1] that holds a reference.

use crate::contexts;
use crate::exceptions;
use crate::fields::ManagedField;
use crate::handles;
use crate::monitors;
use crate::object;
use crate::thread::{CurrentThread, Managed};
use parking_lot::Mutex;
use saki_abi::ObjRef;
use saki_sync::handle_table::{Handle, HandleKind};
use saki_types::{Field, universe};

static STATIC_DATA: ManagedField = ManagedField::corlib("System.Runtime.Remoting.Contexts", "Context", "static_data");

/// By number.
static FIELDS: Mutex<Vec<&'static Field>> = Mutex::new(Vec::new());
/// `Monitor` timeout.
const WAIT_FOREVER: i32 = -1;

fn number_of(field: &'static Field) -> usize {
    let mut fields = FIELDS.lock();
    fields.iter().position(|known| std::ptr::eq(*known, field)).unwrap_or_else(|| {
        fields.push(field);
        fields.len() - 1
    })
}

fn handle_of(context: ObjRef) -> Option<Handle> {
    Handle::from_bits(STATIC_DATA.get::<usize>(context) as u32)
}

/// Address of the field for the current thread's context.
///
/// # Errors
/// OutOfMemoryException; the field type's load errors.
pub fn address(t: CurrentThread, field: &'static Field) -> Managed<*mut u8> {
    if let Some(owner) = saki_types::collectible::owner_of(field).filter(|owner| !owner.is_domain()) {
        // Contexts know it by number.
        owner.keep_for_ever();
    }
    let context = contexts::context(t)?;
    monitors::try_enter(t, context, WAIT_FOREVER)?;
    let found = holder(t, context, field);
    monitors::exit(t, context)?;
    let holder = found?;
    Ok(if object::type_of(holder).is_array() { object::element_address(holder, 0, 8) } else { object::unboxed(holder) })
}

fn holder(t: CurrentThread, context: ObjRef, field: &'static Field) -> Managed<ObjRef> {
    let number = number_of(field);
    let known = handle_of(context).and_then(|handle| handles::target(handle).ok()).unwrap_or(ObjRef::NULL);
    let length = if known.is_null() { 0 } else { object::array_length(known) };
    let mut list = known;
    if number >= length {
        list = object::new_array(t, universe().object(), number + 1)?;
        for index in 0..length {
            object::set_element_ref(t, list, index, object::get_element_ref(known, index));
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
    }
    let present = object::get_element_ref(list, number);
    if !present.is_null() {
        return Ok(present);
    }
    let ty = exceptions::ToManaged::to_managed(field.ty(), t)?;
    let made = if ty.is_reference_type() {
        object::new_array(t, universe().object(), 1)?
    } else {
        object::new_instance(t, ty)?
    };
    object::set_element_ref(t, list, number, made);
    Ok(made)
}

/// The context has died.
pub fn release(t: CurrentThread, context: ObjRef) {
    if let Some(handle) = handle_of(context) {
        STATIC_DATA.set(context, 0usize);
        // Freed with its domain at worst.
        let _ = handles::free(t, handle);
    }
}
