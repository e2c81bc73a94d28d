//! Methods, fields and properties, to be looked up once and used often.

use crate::arguments::{Items, Out, Text, given};
use crate::classes::all;
use crate::failures::{CallFailure, Returned, run};
use crate::handles::ObjectHandle;
use crate::scopes::HostScope;
use crate::strings::TextOut;
use crate::values::{SakiValue, give_value};
use saki::{Class, Field, Method, Property, Thread};

fn give<M>(
    member: Out<Option<M>>,
    class: Option<Class>,
    name: Text,
    find: impl for<'t> FnOnce(Thread<'t>, Class, &str) -> Result<M, CallFailure<'t>>,
) -> Returned {
    member.put(None);
    run(|t| {
        let room = member.required("the member's place")?;
        room.put(Some(find(t, given(class, "class")?, name.get("name")?)?));
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_method_find(
    class: Option<Class>,
    name: Text,
    parameters: usize,
    method: Out<Option<Method>>,
) -> Returned {
    give(method, class, name, |t, class, name| Ok(class.method(t, name, parameters)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_method_find_with(
    class: Option<Class>,
    name: Text,
    parameters: Items<Option<Class>>,
    count: usize,
    method: Out<Option<Method>>,
) -> Returned {
    give(method, class, name, |t, class, name| Ok(class.method_with(t, name, &all(parameters, count)?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_method_name(method: Option<Method>, name: TextOut, length: Out<usize>) -> Returned {
    name.give(length, |_| Ok(given(method, "method")?.name().to_owned()))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_method_class(method: Option<Method>, class: Out<Option<Class>>) -> Returned {
    class.put(None);
    run(|_| {
        class.required("class")?.put(Some(given(method, "method")?.class()));
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_method_parameters(method: Option<Method>, count: Out<usize>) -> Returned {
    count.put(0);
    run(|t| {
        count.required("count")?.put(given(method, "method")?.parameter_count(t)?);
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_method_is_static(method: Option<Method>, result: Out<bool>) -> Returned {
    result.put(false);
    run(|_| {
        result.required("result")?.put(given(method, "method")?.is_static());
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_field_find(class: Option<Class>, name: Text, field: Out<Option<Field>>) -> Returned {
    give(field, class, name, |t, class, name| Ok(class.field(t, name)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_field_get(
    field: Option<Field>,
    object: ObjectHandle,
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    give_value(scope, result, |t| Ok(given(field, "field")?.get(t, object.get_or_none(t, "object")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_field_set(field: Option<Field>, object: ObjectHandle, value: SakiValue) -> Returned {
    run(|t| {
        let object = object.get_or_none(t, "object")?;
        Ok(given(field, "field")?.set(t, object, value.get(t, "value")?)?)
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_property_find(class: Option<Class>, name: Text, property: Out<Option<Property>>) -> Returned {
    give(property, class, name, |t, class, name| Ok(class.property(t, name)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_property_get(
    property: Option<Property>,
    object: ObjectHandle,
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    give_value(scope, result, |t| Ok(given(property, "property")?.get(t, object.get_or_none(t, "object")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_property_set(property: Option<Property>, object: ObjectHandle, value: SakiValue) -> Returned {
    run(|t| {
        let object = object.get_or_none(t, "object")?;
        Ok(given(property, "property")?.set(t, object, value.get(t, "value")?)?)
    })
}
