//! What a host's arguments arrive as: addresses, which only a host can make, with checked ways to what lies there.
//!
//! Classes, assemblies and members need no type of their own: those of the crate `saki` are addresses that are never
//! null, so that `Option` of one is what C calls a pointer.
//!
//! Invariant: each type has the layout of one pointer. The host vouches, by saki.h, for what lies at an address that is
//! not null; all reasons below that name it stand on that.

use crate::failures::CallFailure;
use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `const char *`: a text that ends in NUL.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

/// `T *`: room for a result.
#[repr(transparent)]
pub struct Out<T>(*mut T);

/// `const T *`: so many values as another argument says.
#[repr(transparent)]
pub struct Items<T>(*const T);

/// `T *`: room for so many values as another argument says.
#[repr(transparent)]
pub struct Room<T>(*mut T);

// Derived ones would ask that `T` can be copied.
macro_rules! copied_as_addresses {
    ($($name:ident)*) => { $(
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $name<T> {}
    )* };
}

copied_as_addresses! { Out Items Room }

impl Text {
    fn c_text<'a>(self, what: &'static str) -> Result<&'a CStr, CallFailure<'static>> {
        if self.0.is_null() {
            return Err(CallFailure::null(what));
        }
        // SAFETY: not null, so the host's text, which ends in NUL and stays as it is during the call (saki.h).
        Ok(unsafe { CStr::from_ptr(self.0) })
    }

    /// The text, for the time of the call. `what`: the parameter's name.
    pub fn get<'a>(self, what: &'static str) -> Result<&'a str, CallFailure<'static>> {
        self.c_text(what)?.to_str().map_err(|_| CallFailure::wrong(format!("{what} is not UTF-8.")))
    }

    /// The text as a path, which may have any bytes.
    pub fn path<'a>(self, what: &'static str) -> Result<&'a Path, CallFailure<'static>> {
        Ok(Path::new(OsStr::from_bytes(self.c_text(what)?.to_bytes())))
    }
}

impl<T> Out<T> {
    /// The room, which holds nothing yet.
    ///
    /// # Errors
    /// It is null.
    pub fn required(self, what: &'static str) -> Result<Out<T>, CallFailure<'static>> {
        if self.0.is_null() { Err(CallFailure::null(what)) } else { Ok(self) }
    }

    /// Whether the host wants the result.
    pub fn is_wanted(self) -> bool {
        !self.0.is_null()
    }

    /// Sets the result, if the host wants it.
    pub fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so the host's room for a value of this type (saki.h).
            unsafe { self.0.write(value) };
        }
    }
}

impl<T> Items<T> {
    /// The values at an address that the host has put into a value of its own.
    pub fn at(address: usize) -> Items<T> {
        Items(std::ptr::with_exposed_provenance(address))
    }

    /// The values. None at all may be null.
    pub fn get<'a>(self, count: usize, what: &'static str) -> Result<&'a [T], CallFailure<'static>> {
        if count == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            return Err(CallFailure::null(what));
        }
        if count > isize::MAX as usize / size_of::<T>().max(1) {
            return Err(CallFailure::wrong(format!("{count} are more {what} than memory can hold.")));
        }
        // SAFETY: not null, so that many values of the host's (saki.h), which fit into an address space.
        Ok(unsafe { std::slice::from_raw_parts(self.0, count) })
    }
}

impl<T> Room<T> {
    /// The room, whose values the host has made.
    pub fn get<'a>(self, count: usize, what: &'static str) -> Result<&'a mut [T], CallFailure<'static>> {
        if count == 0 {
            return Ok(&mut []);
        }
        if self.0.is_null() {
            return Err(CallFailure::null(what));
        }
        if count > isize::MAX as usize / size_of::<T>().max(1) {
            return Err(CallFailure::wrong(format!("{what} is larger than memory.")));
        }
        // SAFETY: not null, so that many values of the host's, which nobody else uses during the call (saki.h).
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0, count) })
    }
}

/// A handle that may not be null.
pub fn given<T>(handle: Option<T>, what: &'static str) -> Result<T, CallFailure<'static>> {
    handle.ok_or_else(|| CallFailure::null(what))
}
