//! The current managed thread of this OS thread.
//!
//! Invariant: this is the only thread state of this crate in OS thread-local storage. It is read through functions that
//! are never inlined, so that the compiler does not keep the slot's address across a point where a green thread may
//! change carriers.

use crate::managed_thread::ManagedThread;
use crate::protocol::RUNNING;
use saki_abi::ObjRef;
use saki_base::locks::order;
use std::cell::Cell;

thread_local! {
    static CURRENT: Cell<Option<&'static ManagedThread>> = const { Cell::new(None) };
}

/// The managed thread that runs on this OS thread, if it is attached.
#[inline(never)]
pub fn current() -> Option<&'static ManagedThread> {
    CURRENT.get()
}

/// Sets the managed thread of this OS thread.
#[inline(never)]
pub(crate) fn set_current(thread: Option<&'static ManagedThread>) {
    CURRENT.set(thread);
    order::runs_by(thread.map(|thread| &thread.state), RUNNING);
}

impl ManagedThread {
    /// Sets a root slot of a thread that may wait for its turn: collections look at it again. The caller is RUNNING.
    pub fn set_root_from_outside(&self, slot: usize, object: ObjRef) {
        self.roots[slot].set(object);
        if let Some(carrier) = current().and_then(ManagedThread::carrier) {
            carrier.note_ran(self.as_static());
        }
    }
}
