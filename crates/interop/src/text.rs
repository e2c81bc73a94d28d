//! Strings between managed UTF-16 and native memory of the C heap.
//!
//! "ANSI" is UTF-8 on this platform. Everything allocated here is freed with `free`, except BSTRs, whose block begins
//! at the length field before the text. Invariant: no native string is kept beyond the call that reads it. Left out:
//! the choice of a parameter's native form (`saki_il::synth::marshal`).

use crate::slots::NativeBlock;
use saki_il::synth::marshal::StringForm;
use saki_runtime::object::references::Str;
use saki_runtime::object::thread::{CurrentThread, Managed};

/// Bytes of the length in front of a BSTR.
const BSTR_PREFIX_BYTES: usize = 4;

/// Bytes of a character of this form.
pub fn unit_bytes(form: StringForm) -> usize {
    match form {
        StringForm::Utf16 | StringForm::Bstr => 2,
        StringForm::Utf8 | StringForm::AnsiBstr => 1,
    }
}

/// Frees C heap memory; null is fine.
///
/// # Safety
/// `block` came from the C heap and is not used again.
pub unsafe fn free(block: *mut u8) {
    // SAFETY: null, or a block of the C heap that is not used again.
    unsafe { libc::free(block.cast()) };
}

/// UTF-16 to UTF-8; lone surrogates become U+FFFD.
pub fn utf8_of(units: &[u16]) -> Vec<u8> {
    if units.iter().all(|u| *u < 0x80) {
        return units.iter().map(|u| *u as u8).collect();
    }
    String::from_utf16_lossy(units).into_bytes()
}

/// A native copy of these UTF-16 units, terminated.
///
/// # Errors
/// OutOfMemoryException.
pub fn native_copy(t: CurrentThread, form: StringForm, units: &[u16]) -> Managed<*mut u8> {
    match form {
        StringForm::Utf8 => terminated(t, &utf8_of(units), 0),
        StringForm::Utf16 => terminated(t, bytes_of(units), 0),
        StringForm::Bstr => terminated(t, bytes_of(units), BSTR_PREFIX_BYTES),
        StringForm::AnsiBstr => terminated(t, &utf8_of(units), BSTR_PREFIX_BYTES),
    }
}

/// Allocates and writes `prefix` bytes of length (if any), the content, and two zero bytes; returns the address of the
/// content.
fn terminated(t: CurrentThread, content: &[u8], prefix: usize) -> Managed<*mut u8> {
    let block = NativeBlock::allocate(t, prefix + content.len() + 2)?.leak();
    if prefix != 0 {
        block.write(content.len() as u32);
    }
    let start = block.part(prefix, content.len());
    start.copy_from(content);
    Ok(start.address())
}

/// The units as they lie in memory.
pub fn bytes_of(units: &[u16]) -> &[u8] {
    // SAFETY: any u16 is two bytes.
    unsafe { std::slice::from_raw_parts(units.as_ptr().cast(), units.len() * 2) }
}

/// A managed string from native characters; None for null.
///
/// # Errors
/// OutOfMemoryException.
///
/// # Safety
/// `native` is null or a string of this form.
pub unsafe fn managed_copy<'t>(t: CurrentThread<'t>, form: StringForm, native: *const u8) -> Managed<Option<Str<'t>>> {
    if native.is_null() {
        return Ok(None);
    }
    let string = match form {
        // SAFETY: a string of this form ends with a NUL.
        StringForm::Utf8 => Str::from_utf8(t, unsafe { c_bytes(native) })?,
        // SAFETY: a string of this form ends with a zero unit.
        StringForm::Utf16 => Str::from_units(t, &unsafe { wide_units(native) })?,
        StringForm::Bstr => {
            // SAFETY: a BSTR has its length in front of it.
            let length_bytes = unsafe { bstr_length_bytes(native) };
            // SAFETY: its length says that so many units can be read.
            Str::from_units(t, &unsafe { copied_units(native, length_bytes / 2) })?
        }
        StringForm::AnsiBstr => {
            // SAFETY: a BSTR has its length in front of it.
            let length_bytes = unsafe { bstr_length_bytes(native) };
            // SAFETY: its length says that so many bytes can be read.
            Str::from_utf8(t, unsafe { std::slice::from_raw_parts(native, length_bytes) })?
        }
    };
    Ok(Some(string))
}

/// # Safety
/// `native` is a BSTR.
unsafe fn bstr_length_bytes(native: *const u8) -> usize {
    // SAFETY: the length lies before the text.
    let length_bytes = unsafe { native.cast::<u32>().sub(1).read_unaligned() };
    length_bytes as usize
}

/// Frees a native string of this form; null is fine.
///
/// # Safety
/// `native` is null or a string of this form that is not used again.
pub unsafe fn free_string(form: StringForm, native: *mut u8) {
    if native.is_null() {
        return;
    }
    let prefix = match form {
        StringForm::Bstr | StringForm::AnsiBstr => BSTR_PREFIX_BYTES,
        StringForm::Utf8 | StringForm::Utf16 => 0,
    };
    // SAFETY: the block begins at the prefix.
    unsafe { free(native.sub(prefix)) };
}

/// Bytes up to the terminator.
///
/// # Safety
/// `native` is NUL-terminated.
pub unsafe fn c_bytes<'a>(native: *const u8) -> &'a [u8] {
    // SAFETY: `native` is NUL-terminated.
    unsafe { std::ffi::CStr::from_ptr(native.cast()) }.to_bytes()
}

/// Units up to the terminator; the address need not be even.
///
/// # Safety
/// `native` is terminated by a zero unit.
pub unsafe fn wide_units(native: *const u8) -> Vec<u16> {
    let native = native.cast::<u16>();
    let mut length = 0;
    // SAFETY: the terminator bounds the walk.
    while unsafe { native.add(length).read_unaligned() } != 0 {
        length += 1;
    }
    // SAFETY: the loop has read `length` units.
    unsafe { copied_units(native.cast(), length) }
}

/// # Safety
/// `count` units can be read at `native`.
pub unsafe fn copied_units(native: *const u8, count: usize) -> Vec<u16> {
    // SAFETY: `i < count`, and `count` units can be read at `native`.
    (0..count).map(|i| unsafe { native.cast::<u16>().add(i).read_unaligned() }).collect()
}

#[cfg(test)]
mod tests {
    use super::{bytes_of, c_bytes, copied_units, utf8_of, wide_units};

    #[test]
    fn utf8() {
        let check = |text: &str| assert_eq!(utf8_of(&text.encode_utf16().collect::<Vec<_>>()), text.as_bytes());
        check("");
        check("plain");
        check("ä€😀");
        assert_eq!(utf8_of(&[0xd800]), "\u{fffd}".as_bytes());
    }
    #[test]
    fn surrogates_that_have_no_pair_are_replaced_one_by_one() {
        let check = |units: &[u16], text: &str| assert_eq!(utf8_of(units), text.as_bytes(), "{units:x?}");
        check(&[0xd83d, 0xde00], "😀");
        check(&[0xde00, 0xd83d], "\u{fffd}\u{fffd}");
        check(&[0xd83d, 0x61], "\u{fffd}a");
        check(&[0x61, 0xdc00, 0x62], "a\u{fffd}b");
        check(&[0xd83d, 0xd83d, 0xde00], "\u{fffd}😀");
        // Characters around the limits of one, two and three bytes.
        check(&[0x7f, 0x80, 0x7ff, 0x800, 0xffff], "\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}");
        check(&[0x61, 0, 0x62], "a\0b");
    }

    #[test]
    fn native_text_ends_at_its_terminator() {
        // SAFETY: terminated.
        assert_eq!(unsafe { c_bytes([0, b'r', 0].as_ptr()) }, b"");
        // SAFETY: terminated.
        assert_eq!(unsafe { c_bytes(c"ä".as_ptr().cast()) }, "ä".as_bytes());
        // At an odd address, with a unit whose lower byte is zero.
        let bytes = [0xff, 0x61, 0, 0, 0x01, 0xd8, 0xdf, 0, 0, 0x62, 0];
        // SAFETY: the units 0061, 0100, dfd8 and 0 from the second byte on.
        assert_eq!(unsafe { wide_units(bytes[1..].as_ptr()) }, [0x61, 0x0100, 0xdfd8]);
        // SAFETY: two units lie there.
        assert_eq!(unsafe { copied_units(bytes[1..].as_ptr(), 2) }, [0x61, 0x0100]);
        // SAFETY: none is read.
        assert!(unsafe { copied_units(bytes.as_ptr(), 0) }.is_empty());
        assert_eq!(bytes_of(&[0x0102, 0]), [2, 1, 0, 0]);
        assert!(bytes_of(&[]).is_empty());
    }
}
