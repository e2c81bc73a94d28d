//! Variables of managed code that a function of Rust gets by reference.

use crate::calls;
use crate::values::{Place, Thrown};
use crate::{Class, Thread, Value};
use saki_gc::barrier;
use saki_runtime::object::copy_struct;
use saki_runtime::{ObjRef, Word};

impl<'t> Place<'t> {
    /// The address, and the type as a number: for bindings to other languages.
    pub fn into_raw(self) -> (usize, usize) {
        (self.address.expose_provenance(), std::ptr::from_ref(self.ty).expose_provenance())
    }

    /// The place of [`Place::into_raw`].
    ///
    /// # Safety
    /// The numbers came from there, and the function that got the place still runs.
    pub unsafe fn from_raw((address, ty): (usize, usize)) -> Place<'t> {
        // SAFETY: types live as long as their domain, in whose call the thread is.
        let ty = unsafe { &*std::ptr::with_exposed_provenance(ty) };
        // SAFETY: the numbers are those of a place whose function runs.
        unsafe { Place::new(ty, std::ptr::with_exposed_provenance_mut(address)) }
    }

    /// The variable's type.
    pub fn class(self) -> Class {
        Class::new(self.ty)
    }

    /// The variable's value.
    ///
    /// # Errors
    /// OutOfMemoryException, for the box of a struct.
    pub fn get(self, t: Thread<'t>) -> Thrown<'t, Value<'t>> {
        // SAFETY: `new`'s promise.
        unsafe { calls::loaded(t, self.ty, self.address) }
    }

    /// Sets the variable.
    ///
    /// # Errors
    /// ArgumentException if the value does not fit; OutOfMemoryException.
    pub fn set(self, t: Thread<'t>, value: Value<'_>) -> Thrown<'t, ()> {
        let made = calls::in_holder(t, self.ty, calls::boxed(t, self.ty, value)?)?;
        match made {
            // SAFETY: a box, or a holder, of the variable's type, and `new`'s promise.
            Some(made) if self.ty.is_value_type() => unsafe {
                copy_struct(t.inner(), self.address, made.data(), self.ty);
            },
            // SAFETY: null or an object that fits the variable, which holds a reference: `new`'s promise.
            _ => unsafe {
                let word: ObjRef = made.word();
                barrier::store_ref_unknown(t.inner().managed(), self.address.cast(), word);
            },
        }
        Ok(())
    }
}
