//! Reads of the class library's own, which park, or block and let the world stop: `Interop/Sys::Read` of System.dll, by which FileSystemWatcher waits for changes
//! (inotify(7)), and `SystemNative_Read`, a P/Invoke by which anonymous pipes wait.

use super::streams::{park_until_readable, poll_input};
use crate::system_call::system_call;
use saki_interop::resolve::OwnFunction;
use saki_reactor::{Interest, Lifetime, WaitEnd};
use saki_runtime::{InternalCall, Thread};
use saki_thread::{ManagedThread, REQUEST_ABORT};

unsafe extern "C" fn read(t: Thread, fd: usize, buffer: *mut u8, count: i32) -> i32 {
    let (Ok(count), Ok(fd)) = (usize::try_from(count), i32::try_from(fd)) else {
        return -1;
    };
    park_until_readable(t, fd);
    // SAFETY: managed code passes a pinned buffer of `count` bytes.
    match system_call(t, || unsafe { libc::read(fd, buffer.cast(), count) }) {
        Ok(got) => got as i32,
        Err(errno) => {
            // SAFETY: the current thread's own structure. Managed code reads it by Marshal.GetLastWin32Error.
            unsafe { (*t.abi()).last_error = errno };
            -1
        }
    }
}

/// `SystemNative_Read` of libmono-native, called from compiled code, in native code's safe region.
unsafe extern "C" fn system_native_read(fd: isize, buffer: *mut u8, count: i32) -> i32 {
    let (Ok(count), Ok(fd)) = (usize::try_from(count), i32::try_from(fd)) else {
        saki_os::error::set_errno(libc::EBADF);
        return -1;
    };
    if saki_reactor::waits_park()
        && let Some(thread) = saki_thread::current().filter(|thread| !thread.is_running())
    {
        wait_in_native_code(thread, fd);
    }
    loop {
        // SAFETY: as the P/Invoke's caller promises.
        let got = unsafe { libc::read(fd, buffer.cast(), count) };
        if got >= 0 || saki_os::error::errno() != libc::EINTR {
            return got as i32;
        }
    }
}

/// Parks until there is something to read, the descriptor cannot be waited for, or the thread is asked to abort, which a read does not heed either.
fn wait_in_native_code(thread: &'static ManagedThread, fd: i32) {
    while poll_input(fd) < 0 && thread.pending_requests() & REQUEST_ABORT == 0 {
        // SAFETY: the thread is in native code that compiled code called, and no frame in between is anybody else's.
        unsafe { saki_thread::leave_native(thread.abi()) };
        let end = saki_reactor::wait(thread, fd, Interest::Read, Lifetime::Unknown, None, || false);
        // SAFETY: the thread is RUNNING; the frames here hold no references.
        unsafe { saki_thread::enter_native(thread.abi()) };
        if end == WaitEnd::CannotWait {
            return;
        }
    }
}

pub static OWN_FUNCTIONS: &[OwnFunction] =
    &[OwnFunction { name: "SystemNative_Read", address: system_native_read as *const () }];

pub const TABLE: &[InternalCall] = &[("Interop/Sys::Read", read as *const ())];
