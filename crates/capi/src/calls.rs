//! Calls of managed code, and boxes.

use crate::arguments::{Items, Out, Room, Text, given};
use crate::failures::{CallFailure, Returned, run};
use crate::handles::{ObjectHandle, give_object};
use crate::scopes::HostScope;
use crate::values::{SakiValue, give_value, with_arguments};
use saki::{Class, Method, Place, Thread, Value};

/// What is called.
enum Callee {
    Method(Option<Method>, ObjectHandle),
    OfObject(ObjectHandle, Text),
    OfClass(Option<Class>, Text),
}

/// Calls it, and gives the host the result, if it wants one.
fn give_called(
    callee: Callee,
    arguments: (Items<SakiValue>, usize),
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    give_value(scope, result, |t| {
        with_arguments(t, arguments.0, arguments.1, |values| match callee {
            Callee::Method(method, object) => {
                let object = object.get_or_none(t, "object")?;
                Ok(given(method, "method")?.invoke(t, object, values)?)
            }
            Callee::OfObject(object, name) => Ok(object.get(t, "object")?.call(t, name.get("name")?, values)?),
            Callee::OfClass(class, name) => Ok(given(class, "class")?.call(t, name.get("name")?, values)?),
        })
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_invoke(
    method: Option<Method>,
    object: ObjectHandle,
    arguments: Items<SakiValue>,
    count: usize,
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    give_called(Callee::Method(method, object), (arguments, count), scope, result)
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_invoke_by_ref(
    method: Option<Method>,
    object: ObjectHandle,
    arguments: Room<SakiValue>,
    count: usize,
    mut scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    result.put(SakiValue::NONE);
    run(|t| {
        let object = object.get_or_none(t, "object")?;
        let room = arguments.get(count, "arguments")?;
        let mut values = Vec::with_capacity(count);
        for given in room.iter() {
            values.push(given.get(t, "an argument")?);
        }
        let method = given(method, "method")?;
        let made = method.invoke_by_ref(t, object, &mut values)?;
        for (index, place) in room.iter_mut().enumerate() {
            // What was not a reference stays the host's, with its handle.
            if method.is_by_ref(t, index)? {
                *place = SakiValue::of(t, values[index], scope.as_deref_mut())?;
            }
        }
        if result.is_wanted() {
            result.put(SakiValue::of(t, made, scope)?);
        }
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_place_get(place: SakiValue, scope: Option<&mut HostScope>, result: Out<SakiValue>) -> Returned {
    give_value(scope, result, |t| Ok(place_of(t, place)?.get(t)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_place_set(place: SakiValue, value: SakiValue) -> Returned {
    run(|t| Ok(place_of(t, place)?.set(t, value.get(t, "value")?)?))
}

fn place_of<'t>(t: Thread<'t>, place: SakiValue) -> Result<Place<'t>, CallFailure<'t>> {
    let value = place.get(t, "place")?;
    value.as_place().ok_or_else(|| CallFailure::wrong("place is no variable.".to_owned()))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_call(
    object: ObjectHandle,
    name: Text,
    arguments: Items<SakiValue>,
    count: usize,
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    give_called(Callee::OfObject(object, name), (arguments, count), scope, result)
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_call_static(
    class: Option<Class>,
    method: Text,
    arguments: Items<SakiValue>,
    count: usize,
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    give_called(Callee::OfClass(class, method), (arguments, count), scope, result)
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_new(
    class: Option<Class>,
    arguments: Items<SakiValue>,
    count: usize,
    scope: Option<&mut HostScope>,
    object: Out<ObjectHandle>,
) -> Returned {
    give_object(scope, object, |t| {
        let class = given(class, "class")?;
        with_arguments(t, arguments, count, |values| Ok(class.new_object(t, values)?))
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_box(
    class: Option<Class>,
    value: SakiValue,
    scope: Option<&mut HostScope>,
    object: Out<ObjectHandle>,
) -> Returned {
    give_object(scope, object, |t| Ok(given(class, "class")?.boxed(t, value.get(t, "value")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_unbox(object: ObjectHandle, value: Out<SakiValue>) -> Returned {
    value.put(SakiValue::NONE);
    run(|t| {
        let room = value.required("value")?;
        let object = object.get(t, "object")?;
        match object.value(t) {
            Value::Object(_) => {
                let class = object.class(t);
                Err(CallFailure::wrong(format!("An object of {class:?} is no box of a number, a character or a bool.")))
            }
            number => {
                room.put(SakiValue::of(t, number, None)?);
                Ok(())
            }
        }
    })
}
