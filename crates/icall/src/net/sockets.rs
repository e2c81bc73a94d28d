//! The table of sockets: managed code names a socket by its file descriptor.
//!
//! Invariants: a descriptor is in the table from before managed code gets it until before it is closed; descriptors of
//! anything else fail with NOT_SOCKET. To end the blocking call of another thread, SafeSocketHandle makes the socket
//! non-blocking and then cancels: a signal interrupts the system call, and the next try fails with EAGAIN; waits for
//! readiness fail with EINTR instead. A signal that comes before the system call is lost; SafeSocketHandle repeats it
//! until the thread has left.

use super::socket_errors::{SocketError, SocketResult, check};
use crate::system_call::{system_call, system_call_unless};
use parking_lot::{Mutex, RwLock};
use saki_runtime::{Thread, interruption};
use saki_thread::ManagedThread;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI32};
use std::sync::{Arc, LazyLock};

/// What is known of an open socket.
pub(crate) struct Socket {
    pub(crate) fd: i32,
    pub(crate) domain: i32,
    pub(crate) kind: i32,
    pub(crate) protocol: i32,
    /// False once this side has shut down receiving: an end of data then is an interruption.
    pub(crate) is_readable: AtomicBool,
    /// The Winsock code of a failed connect, for SO_ERROR, which the system gives only once.
    pub(crate) saved_error: AtomicI32,
}

static SOCKETS: LazyLock<RwLock<HashMap<i32, Arc<Socket>>>> = LazyLock::new(RwLock::default);

/// Puts an open socket into the table.
pub(crate) fn insert(fd: i32, domain: i32, kind: i32, protocol: i32) -> usize {
    let (is_readable, saved_error) = (AtomicBool::new(true), AtomicI32::new(0));
    SOCKETS.write().insert(fd, Arc::new(Socket { fd, domain, kind, protocol, is_readable, saved_error }));
    fd as usize
}

/// # Errors
/// NOT_SOCKET.
pub(crate) fn lookup(handle: usize) -> SocketResult<Arc<Socket>> {
    let fd = i32::try_from(handle).map_err(|_| SocketError::NOT_SOCKET)?;
    SOCKETS.read().get(&fd).cloned().ok_or(SocketError::NOT_SOCKET)
}

/// Takes the socket out of the table; the caller closes it.
///
/// # Errors
/// NOT_SOCKET.
pub(crate) fn remove(handle: usize) -> SocketResult<Arc<Socket>> {
    let fd = i32::try_from(handle).map_err(|_| SocketError::NOT_SOCKET)?;
    SOCKETS.write().remove(&fd).ok_or(SocketError::NOT_SOCKET)
}

/// The threads in blocking socket calls, by managed id, and whether they are cancelled.
static OPERATIONS: LazyLock<Mutex<HashMap<u32, bool>>> = LazyLock::new(Mutex::default);

/// A blocking call of the current thread; over when dropped.
struct Operation(u32);

impl Operation {
    fn begin(t: Thread) -> Operation {
        let id = t.id();
        OPERATIONS.lock().insert(id, false);
        Operation(id)
    }

    fn is_cancelled(&self) -> bool {
        OPERATIONS.lock().get(&self.0).copied().unwrap_or(false)
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        OPERATIONS.lock().remove(&self.0);
    }
}

/// Interrupts the blocking socket call of a thread, if it is in one: to close its socket.
pub(crate) fn cancel(thread: &ManagedThread) {
    let mut operations = OPERATIONS.lock();
    if let Some(is_cancelled) = operations.get_mut(&thread.managed_id()) {
        *is_cancelled = true;
        interruption::signal_thread(thread.native_id());
    }
}

/// `system_call` as an operation that can be cancelled.
///
/// # Errors
/// The errno value.
pub(crate) fn call(t: Thread, body: impl FnMut() -> isize) -> Result<usize, i32> {
    let _operation = Operation::begin(t);
    system_call(t, body)
}

/// As `call`, for waits, which cancelling ends with EINTR.
///
/// # Errors
/// The errno value.
pub(crate) fn call_cancellable(t: Thread, body: impl FnMut() -> isize) -> Result<usize, i32> {
    let operation = Operation::begin(t);
    system_call_unless(t, || operation.is_cancelled(), body)
}

/// Sets an `int` option.
pub(crate) fn set_int_option(fd: i32, level: i32, name: i32, value: i32) -> SocketResult<()> {
    let size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: an option value of `size` bytes.
    check(unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), size) }).map(|_| ())
}
