//! `Interop.Sys.DoubleToString`: the C library's formatting of doubles, on which all formatting of doubles in .NET
//! rests.

use super::exponent_digits;
use saki_runtime::{CurrentThread, InternalCall};
use std::ffi::CStr;

/// Formats `value` by a format with one `double` conversion into `buffer` of `length_bytes`, where a NUL ends the text
/// and a text that is too long is cut off. Returns the bytes of the whole text, like C's `snprintf`.
fn double_to_string(_t: CurrentThread, value: f64, format: *const u8, buffer: *mut u8, length_bytes: i32) -> i32 {
    let length_bytes = length_bytes.max(0) as usize;
    // SAFETY: managed code passes a NUL-terminated format of its own.
    let text = unsafe { CStr::from_ptr(format.cast()) };
    if let Some(text) =
        exponent_precision(text.to_bytes()).and_then(|precision| exponent_digits::format(value, precision))
        && text.as_bytes().len() < length_bytes
    {
        let bytes = text.as_bytes();
        // SAFETY: managed code passes a buffer of `length_bytes`, which is more than the text with its terminator.
        unsafe { buffer.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        // SAFETY: the terminator lies behind the text in the buffer.
        unsafe { buffer.add(bytes.len()).write(0) };
        return bytes.len() as i32;
    }
    // SAFETY: the format has one floating-point conversion; the buffer as above.
    saki_os::locale::in_plain_locale(|| unsafe { libc::snprintf(buffer.cast(), length_bytes, format.cast(), value) })
}

/// The N of a format "%.Ne".
fn exponent_precision(format: &[u8]) -> Option<usize> {
    let digits = format.strip_prefix(b"%.")?.strip_suffix(b"e")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The internal calls of `Interop/Sys`.
pub const TABLE: &[InternalCall] = &[InternalCall::new("Interop/Sys::DoubleToString", &double_to_string)];

#[cfg(test)]
mod tests {
    use super::double_to_string;
    use saki_runtime::CurrentThread;

    #[test]
    fn seventeen_digits() {
        let mut buffer = [0u8; 32];
        // SAFETY: the function does not look at its thread.
        let t = unsafe { CurrentThread::from_abi(std::ptr::null_mut()) };
        for (value, expect) in [(0.1, "1.0000000000000001e-01"), (1e300, "1.0000000000000001e+300")] {
            let length = double_to_string(t, value, c"%.16e".as_ptr().cast(), buffer.as_mut_ptr(), 32);
            assert_eq!(String::from_utf8_lossy(&buffer[..length as usize]), expect);
        }
    }
}
