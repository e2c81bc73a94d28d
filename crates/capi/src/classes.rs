//! Classes, and their members by name.

use crate::arguments::{Items, Out, Text, given};
use crate::failures::{CallFailure, Returned, run};
use crate::handles::ObjectHandle;
use crate::scopes::HostScope;
use crate::strings::TextOut;
use crate::values::{SakiValue, give_value};
use saki::{Assembly, Class, Thread};

fn give(
    class: Out<Option<Class>>,
    find: impl for<'t> FnOnce(Thread<'t>) -> Result<Class, CallFailure<'t>>,
) -> Returned {
    class.put(None);
    run(|t| {
        let room = class.required("class")?;
        room.put(Some(find(t)?));
        Ok(())
    })
}

/// The host's classes, none of which may be null.
///
/// # Errors
/// One is.
pub fn all(classes: Items<Option<Class>>, count: usize) -> Result<Vec<Class>, CallFailure<'static>> {
    classes.get(count, "classes")?.iter().map(|class| given(*class, "a class")).collect()
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_class_find(assembly: Option<Assembly>, name: Text, class: Out<Option<Class>>) -> Returned {
    give(class, |t| Ok(given(assembly, "assembly")?.class(t, name.get("name")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_class_core(name: Text, class: Out<Option<Class>>) -> Returned {
    give(class, |t| Ok(t.core_class(name.get("name")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_class_generic(
    definition: Option<Class>,
    arguments: Items<Option<Class>>,
    count: usize,
    class: Out<Option<Class>>,
) -> Returned {
    give(class, |t| Ok(given(definition, "definition")?.generic(t, &all(arguments, count)?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_class_base(class: Option<Class>, base: Out<Option<Class>>) -> Returned {
    base.put(None);
    run(|t| {
        base.required("base")?.put(given(class, "class")?.base(t)?);
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_class_name(class: Option<Class>, name: TextOut, length: Out<usize>) -> Returned {
    name.give(length, |_| Ok(given(class, "class")?.full_name()))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_get(
    object: ObjectHandle,
    name: Text,
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    give_value(scope, result, |t| Ok(object.get(t, "object")?.get(t, name.get("name")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_set(object: ObjectHandle, name: Text, value: SakiValue) -> Returned {
    run(|t| Ok(object.get(t, "object")?.set(t, name.get("name")?, value.get(t, "value")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_get_static(
    class: Option<Class>,
    name: Text,
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    give_value(scope, result, |t| Ok(given(class, "class")?.get(t, name.get("name")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_set_static(class: Option<Class>, name: Text, value: SakiValue) -> Returned {
    run(|t| Ok(given(class, "class")?.set(t, name.get("name")?, value.get(t, "value")?)?))
}
