//! Writing JSON text.

use std::fmt::Write;

/// Appends `text` as a JSON string, which is also safe inside of an HTML script element.
pub fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            // A script element must not hold "</script" or "<!--".
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => _ = write!(out, "\\u{:04x}", c as u32),
            c if (c as u32) < 0x20 => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends `[a,b,…]`, each element written by `write`.
pub fn array<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// Appends an array of numbers.
pub fn numbers<N: std::fmt::Display>(out: &mut String, items: impl IntoIterator<Item = N>) {
    array(out, items, |out, number| _ = write!(out, "{number}"));
}

/// Appends an array of strings.
pub fn strings<'a>(out: &mut String, items: impl IntoIterator<Item = &'a str>) {
    array(out, items, string);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_neither_themselves_nor_a_script() {
        let mut out = String::new();
        strings(&mut out, ["a\"b\\", "</script>\n\u{1}"]);
        assert_eq!(out, r#"["a\"b\\","\u003c/script\u003e\n\u0001"]"#);
    }
}
