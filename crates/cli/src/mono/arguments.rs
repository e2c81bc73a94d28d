//! Words of Mono's command line that come from elsewhere: MONO_ENV_OPTIONS, response files, other encodings than UTF-8.

use super::table::EXIT_REFUSED;
use crate::exit::Stop;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Mono ends with -1 for an argument that it cannot read.
const EXIT_UNREADABLE_ARGUMENT: i32 = 255;

/// Splits at white space outside quotes of either kind; a backslash takes the next character as it is.
///
/// # Errors
/// Mono's text for quotes that do not end.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            ' ' | '\t' | '\n' if quote.is_none() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            '\\' => word.extend(characters.next()),
            '\'' | '"' => match quote {
                None => quote = Some(c),
                Some(open) if open == c => quote = None,
                Some(_) => word.push(c),
            },
            c => word.push(c),
        }
    }
    if quote.is_some() {
        return Err(format!("Unmatched quotes in value: [{text}]\n"));
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

/// The words of a response file (`--response=FILE`); they follow those of the command line.
pub fn of_response_file(path: &str) -> Result<Vec<String>, Stop> {
    let refuse = |text: &str| Stop::error(EXIT_REFUSED, text);
    let bytes = std::fs::read(path).map_err(|_| refuse("The specified response file can not be read\n"))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if bytes.is_empty() {
        return Err(refuse("The specified response file is empty\n"));
    }
    split(&String::from_utf8_lossy(bytes)).map_err(|text| refuse(&text))
}

/// The program's arguments as text: in the first encoding of MONO_EXTERNAL_ENCODINGS that fits, else UTF-8.
///
/// # Errors
/// Mono's text, naming the argument.
pub fn to_text(arguments: Vec<OsString>) -> Result<Vec<String>, Stop> {
    let encodings = crate::environment::text("MONO_EXTERNAL_ENCODINGS").unwrap_or_default();
    let encodings: Vec<&str> = encodings.split(':').filter(|name| !name.is_empty()).collect();
    let numbered = arguments.into_iter().enumerate();
    numbered
        .map(|(index, argument)| {
            let converted = encodings.iter().find_map(|encoding| convert(argument.as_bytes(), encoding));
            let text = converted.map_or_else(|| String::from_utf8(argument.clone().into_vec()).ok(), Some);
            text.ok_or_else(|| {
                Stop::error(
                    EXIT_UNREADABLE_ARGUMENT,
                    format!(
                        "\nCannot determine the text encoding for argument {} ({}).\n\
                         Please add the correct encoding to MONO_EXTERNAL_ENCODINGS and try again.\n",
                        index + 1,
                        argument.display()
                    ),
                )
            })
        })
        .collect()
}

/// `bytes` from the encoding that the C library knows by this name; None: unknown, or they are none of its characters.
/// "default_locale" is the locale's.
fn convert(bytes: &[u8], encoding: &str) -> Option<String> {
    let encoding = if encoding == "default_locale" { locale_encoding() } else { encoding.to_owned() };
    let name = CString::new(encoding).ok()?;
    // SAFETY: both names end with a NUL.
    let converter = unsafe { libc::iconv_open(c"UTF-8".as_ptr(), name.as_ptr()) };
    if converter.addr() == usize::MAX {
        return None;
    }
    // Four bytes of UTF-8 for a byte are enough in every encoding.
    let mut output = vec![0_u8; bytes.len() * 4 + 4];
    let (mut from, mut from_len) = (bytes.as_ptr().cast_mut().cast(), bytes.len());
    let (mut to, mut to_len) = (output.as_mut_ptr().cast(), output.len());
    // SAFETY: the pointers and lengths are of `bytes`, which is only read, and of `output`.
    let outcome = unsafe { libc::iconv(converter, &raw mut from, &raw mut from_len, &raw mut to, &raw mut to_len) };
    // SAFETY: opened above.
    unsafe { libc::iconv_close(converter) };
    output.truncate(output.len() - to_len);
    if outcome == usize::MAX || from_len != 0 { None } else { String::from_utf8(output).ok() }
}

/// What follows the dot in LC_ALL, LC_CTYPE or LANG; without one, ASCII.
fn locale_encoding() -> String {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = names.iter().filter_map(|name| crate::environment::text(name)).find(|value| !value.is_empty());
    let encoding = locale.and_then(|locale| Some(locale.split_once('.')?.1.split('@').next()?.to_owned()));
    encoding.unwrap_or_else(|| "ASCII".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_keep_words_together() {
        assert_eq!(split(" --debug  '-O=all' \"a 'b\" c\\ d\n").unwrap(), ["--debug", "-O=all", "a 'b", "c d"]);
        assert_eq!(split("\"x").unwrap_err(), "Unmatched quotes in value: [\"x]\n");
        assert!(split(" ").unwrap().is_empty());
    }

    #[test]
    fn other_encodings_become_utf8() {
        assert_eq!(convert(b"caf\xe9", "ISO-8859-1").as_deref(), Some("café"));
        assert_eq!(convert(b"caf\xe9", "UTF-8"), None);
        assert_eq!(convert(b"x", "no-such-encoding"), None);
    }
}
