//! Texts that managed code passes by address.

/// The UTF-16 units up to the NUL.
///
/// The address is not null: managed code has pinned a string or array, which ends with a NUL, for the call.
pub fn units_at<'a>(text: *const u16) -> &'a [u16] {
    let mut length = 0;
    // SAFETY: the units up to the NUL lie there.
    while unsafe { text.add(length).read() } != 0 {
        length += 1;
    }
    // SAFETY: managed code passes memory of this form, which stays for the call.
    unsafe { std::slice::from_raw_parts(text, length) }
}

/// The text, which is not null; halves of surrogate pairs become U+FFFD.
pub fn text_at(text: *const u16) -> String {
    String::from_utf16_lossy(units_at(text))
}

/// The text; None for null.
pub fn optional_text_at(text: *const u16) -> Option<String> {
    (!text.is_null()).then(|| text_at(text))
}
