//! Arrays.

use crate::arguments::{Items, Out, Room, given};
use crate::failures::{CallFailure, Returned, run};
use crate::handles::{ObjectHandle, give_object};
use crate::scopes::HostScope;
use crate::values::{SakiValue, give_value};
use saki::{Class, Object, Thread};

/// The array and its length.
fn array_of<'t>(t: Thread<'t>, array: ObjectHandle) -> Result<(Object<'t>, usize), CallFailure<'static>> {
    let array = array.get(t, "array")?;
    let length = array.len(t).ok_or_else(|| {
        let class = array.class(t);
        CallFailure::wrong(format!("An object of {class:?} is no array."))
    })?;
    Ok((array, length))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_array_new(
    class: Option<Class>,
    length: usize,
    scope: Option<&mut HostScope>,
    array: Out<ObjectHandle>,
) -> Returned {
    give_object(scope, array, |t| Ok(t.array(given(class, "class")?, length)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_array_length(array: ObjectHandle, length: Out<usize>) -> Returned {
    length.put(0);
    run(|t| {
        length.required("length")?.put(array_of(t, array)?.1);
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_array_get(
    array: ObjectHandle,
    index: usize,
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
) -> Returned {
    give_value(scope, result, |t| Ok(array_of(t, array)?.0.element(t, index)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_array_set(array: ObjectHandle, index: usize, value: SakiValue) -> Returned {
    run(|t| Ok(array_of(t, array)?.0.set_element(t, index, value.get(t, "value")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_array_read(array: ObjectHandle, first: usize, bytes: Room<u8>, size: usize) -> Returned {
    run(|t| Ok(array_of(t, array)?.0.read_elements(t, first, bytes.get(size, "bytes")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_array_write(array: ObjectHandle, first: usize, bytes: Items<u8>, size: usize) -> Returned {
    run(|t| Ok(array_of(t, array)?.0.write_elements(t, first, bytes.get(size, "bytes")?)?))
}
