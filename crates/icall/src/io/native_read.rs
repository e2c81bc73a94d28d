//! `Interop/Sys::Read` of System.dll, by which FileSystemWatcher waits for changes (inotify(7)): a read that parks, or that blocks and lets the world stop.

use super::streams::park_until_readable;
use crate::system_call::system_call;
use saki_runtime::{InternalCall, Thread};

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

pub const TABLE: &[InternalCall] = &[("Interop/Sys::Read", read as *const ())];
