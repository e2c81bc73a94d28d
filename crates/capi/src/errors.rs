//! `saki_error`.

use crate::arguments::{Out, Text, given};
use crate::failures::{CallFailure, Returned, SakiError, run};
use crate::handles::ObjectHandle;
use crate::scopes::HostScope;
use std::ffi::{CString, c_char};

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_error_new(class: Text, message: Text) -> Returned {
    let made = (|| Ok(SakiError::new(class.get("type")?, message.get("message")?)))();
    Some(made.unwrap_or_else(|failure| match failure {
        CallFailure::Error(error) => error,
        CallFailure::Exception(_) => SakiError::new("System.Exception", ""),
    }))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_error_of(exception: ObjectHandle) -> Returned {
    let mut made = None;
    let failed = run(|t| {
        let object = exception.get(t, "exception")?;
        match t.exception(object) {
            Some(exception) => made = Some(SakiError::of(t, exception)),
            None => return Err(CallFailure::wrong(format!("An object of {:?} is no exception.", object.class(t)))),
        }
        Ok(())
    });
    failed.or(made)
}

fn shown(error: Option<&SakiError>, text: fn(&SakiError) -> &CString) -> *const c_char {
    error.map_or(c"".as_ptr(), |error| text(error).as_ptr())
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_error_type(error: Option<&SakiError>) -> *const c_char {
    shown(error, |error| &error.class)
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_error_message(error: Option<&SakiError>) -> *const c_char {
    shown(error, |error| &error.message)
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_error_text(error: Option<&SakiError>) -> *const c_char {
    shown(error, |error| &error.text)
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_error_stack(error: Option<&SakiError>) -> *const c_char {
    shown(error, |error| &error.stack)
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_error_exception(
    error: Option<&SakiError>,
    scope: Option<&mut HostScope>,
    exception: Out<ObjectHandle>,
) -> Returned {
    exception.put(ObjectHandle::NULL);
    run(|t| {
        let exception = exception.required("exception")?;
        let kept = given(error, "error")?.exception;
        if let Some(object) = kept.and_then(|kept| kept.get(t)) {
            exception.put(ObjectHandle::new(t, object, scope)?);
        }
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_error_free(error: Returned) {
    if let Some(mut error) = error {
        error.free();
    }
}
