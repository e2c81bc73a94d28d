//! `saki_object *`: handles of objects.
//!
//! | bits of a handle | meaning |
//! |---|---|
//! | 0..=30 | the number of `saki::Unscoped`, never 0 |
//! | 32 | the object belongs to a scope, which lets it go |
//! | others | 0; a number with others is no handle |
//!
//! Invariant: a handle is never an address that is followed, so that any value of one is safe to look at.

use crate::arguments::Out;
use crate::failures::{CallFailure, Returned, run};
use crate::kept;
use crate::scopes::HostScope;
use saki::{Object, Thread, Unscoped};

/// See the module header.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct ObjectHandle(usize);

/// In a handle: it belongs to a scope.
const IN_SCOPE: usize = 1 << 32;

impl ObjectHandle {
    /// No object.
    pub const NULL: ObjectHandle = ObjectHandle(0);

    /// From the bits of a value.
    pub fn from_bits(bits: u64) -> ObjectHandle {
        ObjectHandle(bits as usize)
    }

    /// As bits of a value.
    pub fn bits(self) -> u64 {
        self.0 as u64
    }

    /// A handle that belongs to the scope, or else to the host.
    ///
    /// # Errors
    /// There are too many.
    pub fn new(
        t: Thread<'_>,
        object: Object<'_>,
        scope: Option<&mut HostScope>,
    ) -> Result<ObjectHandle, CallFailure<'static>> {
        let Some(kept) = kept::keep(t, object) else { return Err(CallFailure::full()) };
        let number = kept.number() as usize;
        Ok(match scope {
            Some(scope) => {
                scope.add(kept);
                ObjectHandle(number | IN_SCOPE)
            }
            None => ObjectHandle(number),
        })
    }

    fn kept(self) -> Option<Unscoped> {
        Unscoped::from_number(u32::try_from(self.0 & !IN_SCOPE).ok()?)
    }

    /// The object. `what`: the parameter's name.
    ///
    /// # Errors
    /// The handle is null, was released, or is none.
    pub fn get<'t>(self, t: Thread<'t>, what: &'static str) -> Result<Object<'t>, CallFailure<'static>> {
        self.get_or_none(t, what)?.ok_or_else(|| CallFailure::null(what))
    }

    /// The object; None if the handle is null.
    ///
    /// # Errors
    /// The handle was released, or is none.
    pub fn get_or_none<'t>(
        self,
        t: Thread<'t>,
        what: &'static str,
    ) -> Result<Option<Object<'t>>, CallFailure<'static>> {
        if self == ObjectHandle::NULL {
            return Ok(None);
        }
        let object = self.kept().and_then(|kept| kept.get(t));
        object.map(Some).ok_or_else(|| CallFailure::wrong(format!("{what} is no object, or one that was released.")))
    }

    /// What is to be let go with the handle: nothing if it belongs to a scope.
    pub fn owned(self) -> Option<Unscoped> {
        self.kept().filter(|_| self.0 & IN_SCOPE == 0)
    }
}

/// Gives the host the object that `make` makes. The handle belongs to the scope, or else to the host.
pub fn give_object(
    scope: Option<&mut HostScope>,
    object: Out<ObjectHandle>,
    make: impl for<'t> FnOnce(Thread<'t>) -> Result<Object<'t>, CallFailure<'t>>,
) -> Returned {
    object.put(ObjectHandle::NULL);
    run(|t| {
        let room = object.required("the object's place")?;
        room.put(ObjectHandle::new(t, make(t)?, scope)?);
        Ok(())
    })
}
