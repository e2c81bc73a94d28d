//! Receiving and sending that the system completes by itself (io_uring): the thread parks until the bytes have been
//! moved.
//!
//! The bytes go through a buffer of the transfer's own, outside of the heap and of stacks, both of which may move while
//! a thread is parked. The system owns the buffer from the submission until the completion has been seen, so a thread
//! that gives up asks the system to end the transfer and waits for its completion.
//!
//! Invariant: a transfer (`transfer_request`) lives until its completion has been seen. Received bytes are never
//! dropped: a transfer that is ended but has received bytes returns them. Left out: operations that need more than a
//! descriptor, bytes and flags; those try and wait for readiness (`Look`).

use crate::model::{IoModel, model};
use crate::poller::backend;
use crate::transfer_request::{Direction, Transfer};
use saki_sync::monitor::BlockEnd;
use saki_thread::{ManagedThread, REQUEST_ABORT, WaitState};
use std::time::Duration;

/// Bytes that one transfer moves at most: more than any datagram has.
const BUFFER_BYTES: usize = 64 << 10;

/// How a transfer ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransferEnd {
    Done(usize),
    /// The errno value.
    Failed(i32),
    TimedOut,
    /// No bytes were moved, and the caller must check whether it still wants to wait: its `is_over` returned true, an
    /// abort was requested, or the system ended the request.
    GivenUp,
    /// The system takes no such request now.
    CannotWait,
}

/// Whether `transfer` may be called: the I/O model works by completions.
#[inline]
pub fn completes_transfers() -> bool {
    model() == IoModel::Uring
}

/// Moves bytes between a socket and memory, and parks the thread, which calls it and is RUNNING, until that is done,
/// the timeout has passed, `is_over` returns true after the thread was woken, or an abort of it is requested. Moves
/// fewer bytes than `len` where that is large.
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
