//! Objects in the hands of code that no lifetime binds: for bindings to other languages.

use crate::{Object, Thread};
use saki_runtime::Obj;
use saki_runtime::object::handles;
use saki_sync::handle_table::{Handle, HandleKind};

/// An object that is kept until [`Unscoped::free`] is called, as a number. Whoever has the number may use it, on any
/// thread; one that was freed is refused, unless its place has been used again sixteen times (`sync::handle_table`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unscoped(Handle);

impl Unscoped {
    /// Keeps an object. None if all handles are in use.
    pub fn new(t: Thread<'_>, object: Object<'_>) -> Option<Unscoped> {
        handles::allocate(t.inner(), HandleKind::Normal, object.obj(t)).map(Unscoped)
    }

    /// The number, below 2^31 and never 0.
    pub fn number(self) -> u32 {
        self.0.bits()
    }

    /// From a number, which may be any.
    pub fn from_number(number: u32) -> Option<Unscoped> {
        Handle::from_bits(number).filter(|handle| handle.kind() == HandleKind::Normal).map(Unscoped)
    }

    /// The object, for the time of the run or scope. None if it was freed.
    pub fn get<'t>(self, t: Thread<'t>) -> Option<Object<'t>> {
        let object: Option<Obj<'_>> = handles::target(t.inner(), self.0).ok()?;
        object.map(|object| t.keep(object))
    }

    /// Lets the object go. False if that was done before.
    pub fn free(self, t: Thread<'_>) -> bool {
        handles::free(t.inner(), self.0).is_ok()
    }
    /// [`Unscoped::free`] where no run is possible any more: the machine or the thread is at its end.
    pub fn free_from_outside(self) -> bool {
        handles::free_from_outside(self.0).is_ok()
    }
}
