//! Prefixes by a culture's order.
//!
//! Text that begins with the very characters of the prefix has it as a prefix in every culture, unless what stands on
//! both sides of the prefix's end belongs together: a character and a mark after it, which is not ASCII, or two letters
//! that the culture sorts as one ("ch"). So ASCII text is decided here unless the end is between two letters. All other
//! text is declined, and so is every text that does not begin with these characters.
//!
//! Left out: suffixes. The class library finds no "cs" at the end of "cs" in Hungarian, whose letter it is.

use super::slices::may_decline;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::{CurrentThread, Obj, Str};

/// Longer prefixes are declined, for the comparison has no safepoint.
const MAX_PREFIX_UNITS: usize = 4096;

/// Whether the answer cannot be another one for text that goes on with `rest` after these characters.
fn is_plain(prefix: &[u16], rest: &[u16]) -> bool {
    let is_letter = |unit: u16| u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphabetic());
    let is_end_plain = match (prefix.last(), rest.first()) {
        (Some(&last), Some(&next)) => next < 0x80 && !(is_letter(last) && is_letter(next)),
        _ => true,
    };
    is_end_plain && prefix.iter().all(|&unit| unit < 0x80)
}

/// `SimpleCollator.IsPrefix(string, string, CompareOptions)`
fn is_prefix(_t: CurrentThread, _collator: Option<Obj>, text: Option<Str>, prefix: Option<Str>, _options: i32) -> i32 {
    let (Some(text), Some(prefix)) = (text, prefix) else { return DECLINED };
    let prefix = prefix.units();
    if prefix.len() > MAX_PREFIX_UNITS {
        return DECLINED;
    }
    match text.units().strip_prefix(prefix) {
        Some(rest) if is_plain(prefix, rest) => 1,
        _ => DECLINED,
    }
}

pub(super) const TABLE: &[LoopRow] = &[may_decline(
    "Mono.Globalization.Unicode.SimpleCollator::IsPrefix(System.String,System.String,System.Globalization.CompareOptions) System.Boolean",
    &is_prefix,
)];

#[cfg(test)]
mod tests {
    use super::is_plain;

    fn is_decided(prefix: &str, rest: &str) -> bool {
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        is_plain(&units(prefix), &units(rest))
    }

    #[test]
    fn an_end_between_letters_or_before_a_mark_is_not_plain() {
        assert!(is_decided("/", "") && is_decided("HTTP/", "1.1") && is_decided("/a", "/b") && is_decided("", "a"));
        assert!(!is_decided("c", "h") && !is_decided("e", "\u{301}") && !is_decided("\u{e9}", "/"));
    }
}
