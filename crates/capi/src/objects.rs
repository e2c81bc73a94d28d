//! What every object can be asked.

use crate::arguments::{Out, given};
use crate::failures::{Returned, run};
use crate::handles::{ObjectHandle, give_object};
use crate::kept;
use crate::scopes::HostScope;
use crate::strings::TextOut;
use saki::Class;

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_object_release(object: ObjectHandle) {
    kept::release(&mut object.owned().into_iter().collect());
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_object_keep(
    object: ObjectHandle,
    scope: Option<&mut HostScope>,
    kept: Out<ObjectHandle>,
) -> Returned {
    give_object(scope, kept, |t| object.get(t, "object"))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_object_class(object: ObjectHandle, class: Out<Option<Class>>) -> Returned {
    class.put(None);
    run(|t| {
        class.required("class")?.put(Some(object.get(t, "object")?.class(t)));
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_object_is(object: ObjectHandle, class: Option<Class>, result: Out<bool>) -> Returned {
    result.put(false);
    run(|t| {
        let (object, class) = (object.get(t, "object")?, given(class, "class")?);
        result.required("result")?.put(object.is(t, class)?);
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_object_is_same(a: ObjectHandle, b: ObjectHandle, result: Out<bool>) -> Returned {
    result.put(false);
    run(|t| {
        let (a, b) = (a.get_or_none(t, "a")?, b.get_or_none(t, "b")?);
        result.required("result")?.put(match (a, b) {
            (Some(a), Some(b)) => a.is_same(t, b),
            (a, b) => a.is_none() && b.is_none(),
        });
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_object_text(object: ObjectHandle, text: TextOut, length: Out<usize>) -> Returned {
    text.give(length, |t| Ok(object.get(t, "object")?.to_text(t)?))
}
