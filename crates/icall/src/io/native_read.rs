//! `Interop/Sys::Read` of System.dll: a blocking read that lets the world stop.

use saki_runtime::{InternalCall, Thread};

unsafe extern "C" fn read(t: Thread, fd: usize, buffer: *mut u8, count: i32) -> i32 {
    let Ok(count) = usize::try_from(count) else {
        return -1;
    };
    loop {
        // SAFETY: managed code passes a pinned buffer of `count` bytes.
        let got = t.managed().blocking(|| unsafe { libc::read(fd as i32, buffer.cast(), count) });
        let errno = super::errors::errno();
        if got >= 0 || errno != libc::EINTR || t.managed().pending_requests() != 0 {
            if got < 0 {
                // SAFETY: the current thread's own structure. Managed code reads it by Marshal.GetLastWin32Error.
                unsafe { (*t.abi()).last_error = errno };
            }
            return got as i32;
        }
    }
}

pub const TABLE: &[InternalCall] = &[("Interop/Sys::Read", read as *const ())];
