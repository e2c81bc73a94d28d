//! System.Text.EncodingHelper: the code page of the user's locale.

use saki_runtime::{CurrentThread, InternalCall, Managed, Place, Str};
use std::sync::OnceLock;

const NOT_KNOWN: i32 = -1;
const UTF8: i32 = 3;
/// Added to the number for UTF-8, whatever its name.
const IS_UTF8: i32 = 0x1000_0000;

/// Numbers that managed code understands, by the names of character sets.
const CODE_PAGES: [(i32, &[&str]); 6] = [
    (
        1,
        &[
            "ascii",
            "us_ascii",
            "us",
            "ansi_x3.4_1968",
            "ansi_x3.4_1986",
            "cp367",
            "csascii",
            "ibm367",
            "iso_ir_6",
            "iso646_us",
        ],
    ),
    (2, &["utf_7", "csunicode11utf7", "unicode_1_1_utf_7", "unicode_2_0_utf_7"]),
    (UTF8, &["utf_8", "unicode_1_1_utf_8", "unicode_2_0_utf_8"]),
    (4, &["utf_16", "utf_16le", "ucs_2", "unicode", "iso_10646_ucs2"]),
    (5, &["unicodefffe", "utf_16be"]),
    (6, &["iso_8859_1"]),
];

/// Name of the character set that the environment asks for.
fn charset() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(saki_os::locale::charset)
}

fn code_page(charset: &str) -> i32 {
    let name = charset.to_ascii_lowercase().replace('-', "_");
    let known =
        CODE_PAGES.iter().find(|(_, names)| names.contains(&name.as_str())).map_or(NOT_KNOWN, |(page, _)| *page);
    if name.contains("utf_8") { known | IS_UTF8 } else { known }
}

/// Sets `number` to the code page. Returns the name if the number is not known and a name is wanted (`number` is not 0
/// on entry).
fn internal_code_page<'t>(t: CurrentThread<'t>, number: Place<i32>) -> Managed<Option<Str<'t>>> {
    let wants_name = number.get() != 0;
    let page = code_page(charset());
    number.set(page);
    (wants_name && page == NOT_KNOWN).then(|| Str::new(t, charset())).transpose()
}

/// The internal calls of `System.Text.EncodingHelper`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Text.EncodingHelper::InternalCodePage", &internal_code_page)];

#[cfg(test)]
mod tests {
    use super::{IS_UTF8, NOT_KNOWN, UTF8, code_page};

    #[test]
    fn names() {
        assert_eq!(code_page("UTF-8"), UTF8 | IS_UTF8);
        assert_eq!(code_page("ANSI_X3.4-1968"), 1);
        assert_eq!(code_page("ISO-8859-15"), NOT_KNOWN);
    }
}
