//! The words by which arguments and results pass between managed code and Rust.

use crate::references::{Obj, Word};
use saki_abi::ObjRef;

/// One argument or result word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Slot(pub u64);

impl Slot {
    /// A slot that holds a reference, or null.
    pub fn from_ref(object: impl Word) -> Slot {
        Slot(object.word().address() as u64)
    }
    /// A slot that holds an int32.
    pub fn from_i32(value: i32) -> Slot {
        Slot(value as i64 as u64)
    }
    /// A slot that holds an int64.
    pub fn from_i64(value: i64) -> Slot {
        Slot(value as u64)
    }
    /// A slot that holds a bool.
    pub fn from_bool(value: bool) -> Slot {
        Slot(u64::from(value))
    }
    /// A slot that holds a native pointer.
    pub fn from_ptr<T>(value: *const T) -> Slot {
        Slot(value as u64)
    }
    /// # Safety
    /// The word is a reference: an argument, a field or a result of a reference type.
    pub unsafe fn as_obj<'t>(self) -> Option<Obj<'t>> {
        // SAFETY: the word is a reference out of an argument, a field or a result, which this function demands.
        unsafe { Obj::from_word(ObjRef(self.0 as *mut saki_abi::Object)) }
    }
    /// The slot as an int32.
    pub fn as_i32(self) -> i32 {
        self.0 as i32
    }
    /// The slot as an int64.
    pub fn as_i64(self) -> i64 {
        self.0 as i64
    }
    /// The slot as a bool, of which the lowest byte counts.
    pub fn as_bool(self) -> bool {
        self.0 as u8 != 0
    }
    /// The slot as a native word.
    pub fn as_usize(self) -> usize {
        self.0 as usize
    }
}
