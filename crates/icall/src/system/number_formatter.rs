//! `Interop.Sys.DoubleToString`: the C library's formatting of doubles, on which all of .NET's rests.

use saki_runtime::{InternalCall, Thread};

/// As `snprintf(buffer, length, format, value)` with one `double` conversion in the format.
extern "C" fn double_to_string(_t: Thread, value: f64, format: *const u8, buffer: *mut u8, length_bytes: i32) -> i32 {
    // SAFETY: managed code passes a NUL-terminated format of its own with one floating-point conversion, and a buffer of
    // `length_bytes`.
    unsafe { libc::snprintf(buffer.cast(), length_bytes.max(0) as usize, format.cast(), value) }
}

pub const TABLE: &[InternalCall] = &[("Interop/Sys::DoubleToString", double_to_string as *const ())];

#[cfg(test)]
mod tests {
    use super::double_to_string;
    use saki_runtime::Thread;

    #[test]
    fn seventeen_digits() {
        let mut buffer = [0u8; 32];
        // SAFETY: the function does not look at its thread.
        let t = unsafe { Thread::from_abi(std::ptr::null_mut()) };
        let length = double_to_string(t, 0.1, c"%.16e".as_ptr().cast(), buffer.as_mut_ptr(), 32);
        assert_eq!(&buffer[..length as usize], b"1.0000000000000001e-01");
    }
}
