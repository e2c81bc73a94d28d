//! System.Reflection.RuntimeEventInfo.

use crate::field_info::is_own_or_inherited;
use crate::handles::{self, event_of};
use crate::known;
use crate::members::{Event, events_of};
use crate::native_memory::store_out;
use crate::objects::{event_object, method_object};
use saki_metadata::TableId;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::type_objects::type_object;
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, ObjRef, object, strings};
use saki_types::{Method, Ty};

fn require_event(t: CurrentThread, event: ObjRef) -> Managed<(&'static Event, Ty)> {
    let found = if event.is_null() { None } else { event_of(event) };
    found.ok_or_else(|| exceptions::throw_argument_null(t, "event"))
}

fn accessor_object(t: CurrentThread, accessor: Option<&'static Method>, reflected: Ty) -> Managed<ObjRef> {
    match accessor {
        Some(method) => method_object(t, method, reflected),
        None => Ok(ObjRef::NULL),
    }
}

/// `get_event_info(event, out MonoEventInfo)`
fn get_event_info(t: CurrentThread, event: ObjRef, info: *mut u8) {
    static DECLARING: ManagedField = ManagedField::corlib("System.Reflection", "MonoEventInfo", "declaring_type");
    static REFLECTED: ManagedField = ManagedField::corlib("System.Reflection", "MonoEventInfo", "reflected_type");
    static NAME: ManagedField = ManagedField::corlib("System.Reflection", "MonoEventInfo", "name");
    static ADD: ManagedField = ManagedField::corlib("System.Reflection", "MonoEventInfo", "add_method");
    static REMOVE: ManagedField = ManagedField::corlib("System.Reflection", "MonoEventInfo", "remove_method");
    static RAISE: ManagedField = ManagedField::corlib("System.Reflection", "MonoEventInfo", "raise_method");
    static ATTRIBUTES: ManagedField = ManagedField::corlib("System.Reflection", "MonoEventInfo", "attrs");
    static OTHERS: ManagedField = ManagedField::corlib("System.Reflection", "MonoEventInfo", "other_methods");
    t.run(|| {
        let (event, reflected) = require_event(t, event)?;
        let put = |field: &ManagedField, value: ObjRef| {
            store_out(t, info.wrapping_add(field.offset_bytes()) as *mut ObjRef, value);
        };
        put(&REFLECTED, type_object(t, reflected)?);
        put(&DECLARING, type_object(t, event.owner)?);
        put(&NAME, strings::new_string(t, event.name)?);
        put(&ADD, accessor_object(t, event.add, reflected)?);
        put(&REMOVE, accessor_object(t, event.remove, reflected)?);
        put(&RAISE, accessor_object(t, event.raise, reflected)?);
        // SAFETY: a field of the caller's structure.
        unsafe { *(info.wrapping_add(ATTRIBUTES.offset_bytes()) as *mut i32) = i32::from(event.flags) };
        if !event.others.is_empty() {
            let array = object::new_array(t, known::METHOD_INFO.get(t)?, event.others.len())?;
            for (index, method) in event.others.iter().enumerate() {
                let item = method_object(t, method, method.owner)?;
                object::set_element_ref(t, array, index, item);
            }
            put(&OTHERS, array);
        }
        Ok(())
    });
}

fn get_metadata_token(t: CurrentThread, event: ObjRef) -> i32 {
    t.run(|| {
        let event = require_event(t, event)?.0;
        Ok(event.image.shown_token(TableId::Event, event.rid).0 as i32)
    })
}

/// `EventInfo.internal_from_handle_type(event, type)`; null when the type does not have the event.
fn from_handle(t: CurrentThread, event: usize, ty: usize) -> ObjRef {
    t.run(|| {
        // SAFETY: the values of a RuntimeEventHandle and a RuntimeTypeHandle.
        let (event, ty) = unsafe { (handles::event(event), handles::ty(ty)) };
        let Some(event) = event else { return Ok(ObjRef::NULL) };
        let Some(ty) = ty else { return event_object(t, event, event.owner) };
        if is_own_or_inherited(ty, event.owner).to_managed(t)? {
            return event_object(t, event, ty);
        }
        if ty.generic_definition().is_none() || ty.generic_definition() != event.owner.generic_definition() {
            return Ok(ObjRef::NULL);
        }
        match events_of(ty).to_managed(t)?.iter().find(|e| e.rid == event.rid) {
            Some(found) => event_object(t, found, ty),
            None => Ok(ObjRef::NULL),
        }
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimeEventInfo::get_event_info", &get_event_info),
    InternalCall::new("System.Reflection.RuntimeEventInfo::get_metadata_token", &get_metadata_token),
    InternalCall::new("System.Reflection.EventInfo::internal_from_handle_type", &from_handle),
];
