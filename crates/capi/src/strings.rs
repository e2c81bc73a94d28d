//! Strings to and from UTF-8.

use crate::arguments::{Items, Out};
use crate::failures::{CallFailure, Returned, run};
use crate::handles::{ObjectHandle, give_object};
use crate::scopes::HostScope;
use saki::Thread;
use std::ffi::{c_char, c_void};

/// Room for a text that is made for the host.
pub type TextOut = Out<*mut c_char>;

/// A copy of the C heap's, with a NUL behind it.
fn copied(text: &str) -> Result<*mut c_char, CallFailure<'static>> {
    // SAFETY: no preconditions; zeroed, and so with the NUL.
    let copy = unsafe { libc::calloc(text.len() + 1, 1) }.cast::<u8>();
    if copy.is_null() {
        return Err(CallFailure::memory("no memory for a text"));
    }
    // SAFETY: the room that was made for so many bytes.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), copy, text.len()) };
    Ok(copy.cast())
}

impl TextOut {
    /// Gives the host a text that `make` makes, and its length in bytes, if that is wanted.
    pub fn give(
        self,
        length: Out<usize>,
        make: impl for<'t> FnOnce(Thread<'t>) -> Result<String, CallFailure<'t>>,
    ) -> Returned {
        self.put(std::ptr::null_mut());
        length.put(0);
        run(|t| {
            let room = self.required("text")?;
            let text = make(t)?;
            room.put(copied(&text)?);
            length.put(text.len());
            Ok(())
        })
    }
}

/// The text at an address, of so many bytes.
///
/// # Errors
/// It is null, or no UTF-8.
pub fn text_of<'a>(text: Items<u8>, length: usize, what: &'static str) -> Result<&'a str, CallFailure<'static>> {
    std::str::from_utf8(text.get(length, what)?).map_err(|_| CallFailure::wrong(format!("{what} is not UTF-8.")))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_string_new(
    text: Items<u8>,
    length: usize,
    scope: Option<&mut HostScope>,
    string: Out<ObjectHandle>,
) -> Returned {
    give_object(scope, string, |t| Ok(t.string(text_of(text, length, "text")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_string_text(string: ObjectHandle, text: TextOut, length: Out<usize>) -> Returned {
    text.give(length, |t| {
        let string = string.get(t, "string")?;
        string.text(t).ok_or_else(|| CallFailure::wrong(format!("An object of {:?} is no string.", string.class(t))))
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_text_free(text: *mut c_char) {
    // SAFETY: null, or a copy that `copied` made (saki.h).
    unsafe { libc::free(text.cast::<c_void>()) };
}
