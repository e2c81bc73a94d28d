//! What references do that may load types or throw: new objects, strings and arrays, casts; and the text of a string.

use crate::object;
use crate::references::{Array, Obj, Str, Word};
use crate::strings;
use crate::thread::{CurrentThread, Managed};
use saki_abi::ObjRef;
use saki_types::Ty;

impl<'t> Obj<'t> {
    /// A zeroed instance of a type, whose constructor has not run. Finalizable objects are registered.
    ///
    /// # Errors
    /// TypeLoadException, OutOfMemoryException.
    pub fn new(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
        object::new_instance(t, ty).map(Obj::made)
    }

    /// Whether the object may be used as a `ty`.
    ///
    /// # Errors
    /// TypeLoadException.
    pub fn is_instance(self, t: CurrentThread<'_>, ty: Ty) -> Managed<bool> {
        object::is_instance(t, self.word(), ty)
    }

    /// What an allocation gave, which is never null.
    fn made(word: ObjRef) -> Obj<'t> {
        // SAFETY: the word names the object that was just allocated.
        match unsafe { Obj::from_word(word) } {
            Some(object) => object,
            None => saki_base::bug!("an allocation gave null"),
        }
    }
}

impl<'t> Str<'t> {
    /// A string with this text.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn new(t: CurrentThread<'t>, text: &str) -> Managed<Str<'t>> {
        strings::new_string(t, text).map(|word| Str(Obj::made(word)))
    }

    /// A string of these UTF-16 units.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn from_units(t: CurrentThread<'t>, units: &[u16]) -> Managed<Str<'t>> {
        strings::new_string_utf16(t, units).map(|word| Str(Obj::made(word)))
    }

    /// A string from bytes that should be UTF-8; invalid sequences become U+FFFD.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn from_utf8(t: CurrentThread<'t>, bytes: &[u8]) -> Managed<Str<'t>> {
        strings::new_string_utf8(t, bytes).map(|word| Str(Obj::made(word)))
    }

    /// A string of `length` UTF-16 units, all zero, which `fill` then sets.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn filled(t: CurrentThread<'t>, length: usize, fill: impl FnOnce(&mut [u16])) -> Managed<Str<'t>> {
        let string = Str(Obj::made(strings::alloc_string(t, length)?));
        // SAFETY: the string has `length` units, and nobody else has seen it yet.
        fill(unsafe { std::slice::from_raw_parts_mut(string.first_unit().cast_mut(), length) });
        Ok(string)
    }

    /// The text; lone surrogates become U+FFFD.
    pub fn to_rust(self) -> String {
        strings::text_of(self.units())
    }
}

impl<'t> Array<'t> {
    /// A zeroed array of `length` elements of `element` type.
    ///
    /// # Errors
    /// TypeLoadException, OutOfMemoryException.
    pub fn new(t: CurrentThread<'t>, element: Ty, length: usize) -> Managed<Array<'t>> {
        object::new_array(t, element, length).map(|word| Array(Obj::made(word)))
    }

    /// A byte[] with this content.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn of_bytes(t: CurrentThread<'t>, bytes: &[u8]) -> Managed<Array<'t>> {
        object::new_byte_array(t, bytes).map(|word| Array(Obj::made(word)))
    }
}
