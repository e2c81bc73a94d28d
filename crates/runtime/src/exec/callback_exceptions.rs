//! Exceptions that leave a delegate which native code called.
//!
//! Exceptions do not unwind native frames: the exception waits in a root slot of the thread while the native code goes
//! on with a zero result, and is thrown when that code returns to its managed caller. Invariant: at most one exception
//! waits; a later one replaces it. While it waits, the poll bit is set. Left out: threads without a managed caller,
//! where such an exception is unhandled (`interop`).

use crate::references::Obj;
use crate::thread::CurrentThread;
use saki_thread::{POLL_KEPT, root};

/// The thread's last root slot, so that it does not collide with the named slots.
const SLOT: usize = root::COUNT - 1;

/// Keeps an exception until the native code returns.
pub fn keep(t: CurrentThread, exception: Obj) {
    t.set_root(SLOT, exception);
    // The stub that calls native code looks at nothing but the poll word.
    t.managed().set_poll(POLL_KEPT);
}

/// Whether an exception waits.
pub fn is_kept(t: CurrentThread) -> bool {
    t.root(SLOT).is_some()
}

/// To be called when native code has returned: makes the exception that waited, if any, pending.
pub fn throw_kept(t: CurrentThread) {
    let Some(kept) = t.root(SLOT) else { return };
    t.set_root(SLOT, None::<Obj>);
    t.managed().clear_poll(POLL_KEPT);
    if !t.is_pending() {
        let _ = t.throw(kept);
    }
}
