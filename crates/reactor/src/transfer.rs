//! Receiving and sending that the system completes by itself (io_uring): the thread parks until the bytes have been moved.
//!
//! The bytes go through a buffer of the transfer's own, outside of the heap and of stacks, both of which may move while a thread is parked. The system owns the buffer
//! from the submission until the completion has been seen, so a thread that gives up asks the system to end the transfer and waits for its completion.
//!
//! | word | change | who | ordering |
//! |---|---|---|---|
//! | `Transfer::result` | PENDING → the result | the poller, which touches the transfer no more | Release, pairs with the Acquire of its thread: the buffer is filled |
//!
//! Invariant: a transfer lives until its completion has been seen. Received bytes are never dropped: a transfer that is ended but has received bytes returns them. Left
//! out: operations that need more than a descriptor, bytes and flags; those try and wait for readiness (`Look`).

use crate::descriptor::backend;
use crate::model::{IoModel, model};
use saki_sync::monitor::BlockEnd;
use saki_thread::{ManagedThread, REQUEST_ABORT, WaitState};
use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

const PENDING: i64 = i64::MIN;

/// Bytes that one transfer moves at most: more than any datagram has.
const BUFFER_BYTES: usize = 64 << 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Receive,
    Send,
}

/// How a transfer ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransferEnd {
    Done(usize),
    /// The errno value.
    Failed(i32),
    TimedOut,
    /// No bytes were moved, and the caller must check whether it still wants to wait: its `is_over` returned true, an abort was requested, or the system ended the
    /// request.
    GivenUp,
    /// The system takes no such request now.
    CannotWait,
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
        place.store(result.into(), Ordering::Release);
        thread
    }

    pub(crate) fn result(&self) -> Option<i32> {
        let result = self.result.load(Ordering::Acquire);
        (result != PENDING).then_some(result as i32)
    }
}

/// Whether `transfer` may be called: the I/O model works by completions.
#[inline]
pub fn completes_transfers() -> bool {
    model() == IoModel::Uring
}

/// Moves bytes between a socket and memory, and parks the thread, which calls it and is RUNNING, until that is done, the timeout has passed, `is_over` returns true after
/// the thread was woken, or an abort of it is requested. Moves fewer bytes than `len` where that is large.
///
/// # Safety
/// `data` are `len` bytes that stay in their place, writable for a receive, or readable for a send.
pub unsafe fn transfer(
    thread: &'static ManagedThread,
    fd: i32,
    direction: Direction,
    data: *mut u8,
    len: usize,
    flags: i32,
    timeout: Option<Duration>,
    is_over: impl Fn() -> bool,
) -> TransferEnd {
    let Ok(backend) = backend() else { return TransferEnd::CannotWait };
    let mut buffer: Vec<u8> = vec![0; len.min(BUFFER_BYTES)];
    if direction == Direction::Send {
        // SAFETY: this function's contract, and as many bytes of the buffer.
        unsafe { std::ptr::copy_nonoverlapping(data, buffer.as_mut_ptr(), buffer.len()) };
    }
    // On the heap: a stack may move while its thread is parked.
    let transfer = Box::new(Transfer::new(thread, fd, direction, flags, &mut buffer));
    // SAFETY: the box and the buffer stay until the completion has been seen, below.
    if unsafe { backend.begin_transfer(&transfer) }.is_err() {
        return TransferEnd::CannotWait;
    }
    let is_done = || transfer.result().is_some() || is_over() || thread.pending_requests() & REQUEST_ABORT != 0;
    let has_timed_out = thread.wait_until(WaitState::Native, timeout, false, is_done) == BlockEnd::TimedOut;
    let result = transfer.result().unwrap_or_else(|| {
        backend.end_transfer(&transfer);
        loop {
            thread.wait_until(WaitState::Native, None, false, || transfer.result().is_some());
            if let Some(result) = transfer.result() {
                return result;
            }
        }
    });
    match usize::try_from(result) {
        Ok(count) => {
            if direction == Direction::Receive {
                let count = count.min(buffer.len());
                // SAFETY: this function's contract; the system has filled so many bytes.
                unsafe { std::ptr::copy_nonoverlapping(buffer.as_ptr(), data, count) };
            }
            TransferEnd::Done(count)
        }
        Err(_) if has_timed_out && -result == libc::ECANCELED => TransferEnd::TimedOut,
        Err(_) => match -result {
            libc::ECANCELED | libc::EINTR | libc::EAGAIN => TransferEnd::GivenUp,
            errno => TransferEnd::Failed(errno),
        },
    }
}

/// The error of backends without completions.
pub(crate) fn unsupported() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOSYS)
}
