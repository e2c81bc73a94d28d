//! The request to the system to move bytes between a descriptor and memory, and its result.
//!
//! | word | change | who | ordering |
//! |---|---|---|---|
//! | `Transfer::result` | PENDING → the result | the poller, which touches the transfer no more | Release, pairs with the Acquire of its thread: the buffer is filled |
//!
//! Invariant: a transfer lives until its completion has been seen. Left out: who keeps it alive and waits (`transfer`),
//! and how the system is asked (`backend`).

use saki_thread::ManagedThread;
use std::sync::atomic::{AtomicI64, Ordering};

const PENDING: i64 = i64::MIN;

/// Which way the bytes of a transfer go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Receive,
    Send,
}

/// See the module header.
pub(crate) struct Transfer {
    thread: &'static ManagedThread,
    result: AtomicI64,
    pub(crate) fd: i32,
    pub(crate) direction: Direction,
    pub(crate) flags: i32,
    /// The system's while the result is pending.
    pub(crate) buffer: *mut u8,
    pub(crate) len: usize,
}

impl Transfer {
    pub(crate) fn new(
        thread: &'static ManagedThread,
        fd: i32,
        direction: Direction,
        flags: i32,
        buffer: &mut [u8],
    ) -> Transfer {
        let (buffer, len) = (buffer.as_mut_ptr(), buffer.len());
        Transfer { thread, result: AtomicI64::new(PENDING), fd, direction, flags, buffer, len }
    }

    /// For the poller: the system's result, negative for an error. The transfer's thread is to be woken.
    ///
    /// # Safety
    /// `transfer` was submitted, and this is its only completion. It may be gone when this returns.
    pub(crate) unsafe fn complete(transfer: *const Transfer, result: i32) -> &'static ManagedThread {
        // SAFETY: its thread keeps it until it sees the result.
        let (thread, place) = unsafe { ((*transfer).thread, &(*transfer).result) };
        // Release: pairs with the Acquire in `result`: the buffer's contents are there.
        place.store(result.into(), Ordering::Release);
        thread
    }

    pub(crate) fn result(&self) -> Option<i32> {
        let result = self.result.load(Ordering::Acquire);
        (result != PENDING).then_some(result as i32)
    }
}
