//! `Interop/Sys::Read` of System.dll: a blocking read that lets the world stop.

use crate::system_call::system_call;
use saki_runtime::{InternalCall, Thread};

unsafe extern "C" fn read(t: Thread, fd: usize, buffer: *mut u8, count: i32) -> i32 {
    let Ok(count) = usize::try_from(count) else {
        return -1;
    };
    // SAFETY: managed code passes a pinned buffer of `count` bytes.
    match system_call(t, || unsafe { libc::read(fd as i32, buffer.cast(), count) }) {
        Ok(got) => got as i32,
        Err(errno) => {
            // SAFETY: the current thread's own structure. Managed code reads it by Marshal.GetLastWin32Error.
            unsafe { (*t.abi()).last_error = errno };
            -1
        }
    }
}

pub const TABLE: &[InternalCall] = &[("Interop/Sys::Read", read as *const ())];
