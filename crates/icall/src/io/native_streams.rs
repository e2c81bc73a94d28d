//! Reads and writes that the class library makes without MonoIO: they park, or block and let the world stop.
//!
//! - `Interop/Sys::Read` of System.dll, by which FileSystemWatcher waits for changes (inotify(7)), is an internal call.
//! - `SystemNative_Read` and `SystemNative_Write`, by which pipe streams (`System.IO.Pipes`) work, are P/Invokes of
//!   Mono's native library. Compiled code calls the functions here instead, as native code.
//!
//! Invariant: `SystemNative_Write` writes every byte or fails: Mono's PipeStream sends the same bytes again after a
//! write that took only some of them, and a signal may cut any write to a pipe short.

use super::file_handles::FileType;
use super::streams::{self, Stream, park_until_readable};
use crate::system_call::system_call;
use saki_os::error::Errno;
use saki_runtime::OwnFunction;
use saki_runtime::exec::waits::Attempt;
use saki_runtime::vm::profile_events::IoWait;
use saki_runtime::{CurrentThread, InternalCall};

fn read(t: CurrentThread, fd: usize, buffer: *mut u8, count: i32) -> i32 {
    let (Ok(count), Ok(fd)) = (usize::try_from(count), i32::try_from(fd)) else {
        return -1;
    };
    let _wait = IoWait::begin(t, "[file watcher read]");
    park_until_readable(t, fd);
    // SAFETY: managed code passes a pinned buffer of `count` bytes.
    match system_call(t, || Attempt::of(unsafe { libc::read(fd, buffer.cast(), count) })) {
        Ok(got) => got as i32,
        Err(Errno(errno)) => {
            // SAFETY: the current thread's own structure. Managed code reads it by Marshal.GetLastWin32Error.
            unsafe { (*t.abi()).last_error = errno };
            -1
        }
    }
}

/// Runs `body` on the current thread, which is in native code that compiled code called; a pending exception of `body`
/// is thrown when the native code returns. `body` may change OS threads, and with them `errno`.
pub fn outside_native_code<R>(body: impl FnOnce(CurrentThread) -> R) -> R {
    CurrentThread::with(|t| {
        // SAFETY: compiled code called `enter_native` before it called the P/Invoke's function; all frames since are
        // ours and hold no references.
        unsafe { saki_thread::leave_native(t.abi()) };
        let outcome = body(t);
        // SAFETY: the thread is RUNNING, and the frames here still hold no references.
        unsafe { saki_thread::enter_native(t.abi()) };
        outcome
    })
}

/// Runs `body` as `outside_native_code` does. Returns the count, or -1 with errno set, as system calls do.
fn count_outside_native_code(body: impl FnOnce(CurrentThread) -> Result<usize, Errno>) -> i32 {
    // errno is set after the last wait, because a wait may move the thread to another OS thread.
    outside_native_code(body).map_or_else(
        |Errno(errno)| {
            saki_os::error::set_errno(errno);
            -1
        },
        |count| count as i32,
    )
}

/// The arguments of a read or write, or the error number that Mono gives: `too_small` for a negative count.
fn checked(fd: isize, count: i32, too_small: i32) -> Result<(Stream, usize), Errno> {
    let count = usize::try_from(count).map_err(|_| Errno(too_small))?;
    let fd = i32::try_from(fd).map_err(|_| Errno(libc::EBADF))?;
    Ok((Stream { fd, file_type: FileType::Pipe }, count))
}

/// See the module header.
///
/// # Safety
/// `buffer` holds `count` bytes and stays in place. Compiled code calls it as native code.
unsafe extern "C" fn system_native_read(fd: isize, buffer: *mut u8, count: i32) -> i32 {
    count_outside_native_code(|t| {
        let (stream, count) = checked(fd, count, libc::EINVAL)?;
        // SAFETY: `buffer` holds `count` bytes and stays in place: the class library pins it.
        unsafe { streams::read(t, stream, buffer, count) }
    })
}

/// See the module header. Fewer bytes are written only if the system refuses the rest; the next write then returns its
/// error number.
///
/// # Safety
/// `buffer` holds `count` bytes and stays in place. Compiled code calls it as native code.
unsafe extern "C" fn system_native_write(fd: isize, buffer: *const u8, count: i32) -> i32 {
    count_outside_native_code(|t| {
        let (stream, count) = checked(fd, count, libc::ERANGE)?;
        let mut written = 0;
        loop {
            // SAFETY: `written <= count`, and the rest of the pinned buffer's `count` bytes lies there.
            match unsafe { streams::write(t, stream, buffer.add(written), count - written) } {
                Ok(0) => return Ok(written),
                Ok(more) => written += more,
                Err(errno) if written == 0 => return Err(errno),
                Err(_) => return Ok(written),
            }
            if written == count {
                return Ok(written);
            }
        }
    })
}

const fn own_function(name: &'static str, address: *const ()) -> OwnFunction {
    OwnFunction { library: "libmono-native", name, address, original: None }
}

/// The functions that stand in for those of the library.
pub static OWN_FUNCTIONS: &[OwnFunction] = &[
    own_function("SystemNative_Read", system_native_read as *const ()),
    own_function("SystemNative_Write", system_native_write as *const ()),
];

/// The internal calls of `Interop/Sys`.
pub const TABLE: &[InternalCall] = &[InternalCall::new("Interop/Sys::Read", &read)];
