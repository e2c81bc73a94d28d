//! System.Reflection.RuntimeEventInfo.

use crate::field_info::is_own_or_inherited;
use crate::handles::{Handle, event_of};
use crate::members::{EventDefinition, events_of};
use crate::native_memory::StructPlace;
use crate::objects::{event_object, method_object};
use saki_metadata::TableId;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::{LibraryType, Method, Ty, Type, universe};

fn require_event(t: CurrentThread, event: Option<Obj>) -> Managed<(&'static EventDefinition, Ty)> {
    event.and_then(event_of).ok_or_else(|| exceptions::throw_argument_null(t, "event"))
}

fn accessor_object<'t>(
    t: CurrentThread<'t>,
    accessor: Option<&'static Method>,
    reflected: Ty,
) -> Managed<Option<Obj<'t>>> {
    accessor.map(|method| method_object(t, method, reflected)).transpose()
}

/// `get_event_info(event, out MonoEventInfo)`
fn get_event_info(t: CurrentThread, event: Option<Obj>, info: StructPlace) -> Managed<()> {
    static DECLARING: ManagedField = ManagedField::new(LibraryType::MonoEventInfo, "declaring_type");
    static REFLECTED: ManagedField = ManagedField::new(LibraryType::MonoEventInfo, "reflected_type");
    static NAME: ManagedField = ManagedField::new(LibraryType::MonoEventInfo, "name");
    static ADD: ManagedField = ManagedField::new(LibraryType::MonoEventInfo, "add_method");
    static REMOVE: ManagedField = ManagedField::new(LibraryType::MonoEventInfo, "remove_method");
    static RAISE: ManagedField = ManagedField::new(LibraryType::MonoEventInfo, "raise_method");
    static ATTRIBUTES: ManagedField = ManagedField::new(LibraryType::MonoEventInfo, "attrs");
    static OTHERS: ManagedField = ManagedField::new(LibraryType::MonoEventInfo, "other_methods");
    let (event, reflected) = require_event(t, event)?;
    info.set_ref(t, &REFLECTED, Obj::of_type(t, reflected)?);
    info.set_ref(t, &DECLARING, Obj::of_type(t, event.owner)?);
    info.set_ref(t, &NAME, Str::new(t, event.name)?);
    info.set_ref(t, &ADD, accessor_object(t, event.add, reflected)?);
    info.set_ref(t, &REMOVE, accessor_object(t, event.remove, reflected)?);
    info.set_ref(t, &RAISE, accessor_object(t, event.raise, reflected)?);
    info.set(&ATTRIBUTES, i32::from(event.flags));
    if !event.others.is_empty() {
        let array = Array::new(t, universe().library_type(LibraryType::MethodInfo).to_managed(t)?, event.others.len())?;
        for (index, method) in event.others.iter().enumerate() {
            let item = method_object(t, method, method.owner)?;
            array.set(t, index, Some(item));
        }
        info.set_ref(t, &OTHERS, array);
    }
    Ok(())
}

fn get_metadata_token(t: CurrentThread, event: Option<Obj>) -> Managed<i32> {
    let event = require_event(t, event)?.0;
    Ok(event.image.shown_token(TableId::Event, event.rid).0 as i32)
}

/// `EventInfo.internal_from_handle_type(event, type)`; null when the type does not have the event.
fn from_handle<'t>(t: CurrentThread<'t>, event: Handle<EventDefinition>, ty: Handle<Type>) -> Managed<Option<Obj<'t>>> {
    let (event, ty) = (event.get(), ty.get());
    let Some(event) = event else { return Ok(None) };
    let Some(ty) = ty else { return event_object(t, event, event.owner).map(Some) };
    if is_own_or_inherited(ty, event.owner).to_managed(t)? {
        return event_object(t, event, ty).map(Some);
    }
    if ty.generic_definition().is_none() || ty.generic_definition() != event.owner.generic_definition() {
        return Ok(None);
    }
    events_of(ty).to_managed(t)?.iter().find(|e| e.rid == event.rid).map(|found| event_object(t, found, ty)).transpose()
}

/// The internal calls of `System.Reflection.RuntimeEventInfo` and `System.Reflection.EventInfo`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimeEventInfo::get_event_info", &get_event_info),
    InternalCall::new("System.Reflection.RuntimeEventInfo::get_metadata_token", &get_metadata_token),
    InternalCall::new("System.Reflection.EventInfo::internal_from_handle_type", &from_handle),
];
