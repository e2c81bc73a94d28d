//! Quantities in the words of command lines: sizes, samples a second, seconds.

use saki_gc::{MAX_GC_THREADS, MIN_NURSERY_BYTES};
use std::time::Duration;

const MAX_HZ: u32 = saki_runtime::vm::profile_log::settings::MAX_SAMPLES_A_SECOND;

/// Bytes, with an optional k, m or g.
///
/// # Errors
/// What is wrong with it.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.chars().last().map(|c| c.to_ascii_lowercase()) {
        Some('k') => (&text[..text.len() - 1], 10),
        Some('m') => (&text[..text.len() - 1], 20),
        Some('g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().map_err(|_| format!("'{text}' is no size (examples: 512m, 2g)"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("'{text}' is too large"))
}

/// Bytes of a nursery, as `parse_size`.
///
/// # Errors
/// What is wrong with it.
pub fn parse_nursery(text: &str) -> Result<usize, String> {
    match parse_size(text)? {
        bytes if bytes < MIN_NURSERY_BYTES => {
            Err(format!("'{text}' is too small: a nursery has at least {}m", MIN_NURSERY_BYTES >> 20))
        }
        bytes => Ok(bytes),
    }
}

/// Yes or no, in the words that the command line takes.
///
/// # Errors
/// It is neither.
pub fn parse_flag(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "y" | "yes" | "t" | "true" | "on" | "1" => Ok(true),
        "n" | "no" | "f" | "false" | "off" | "0" => Ok(false),
        _ => Err(format!("'{text}' is neither true nor false")),
    }
}

/// A number of collector threads.
///
/// # Errors
/// What is wrong with it.
pub fn parse_gc_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=MAX_GC_THREADS) => Ok(count),
        _ => Err(format!("'{text}' is no number from 1 to {MAX_GC_THREADS}")),
    }
}

/// A number of samples a second.
///
/// # Errors
/// What is wrong with it.
pub fn parse_hz(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(hz @ 1..=MAX_HZ) => Ok(hz),
        _ => Err(format!("'{text}' is no number from 1 to {MAX_HZ}")),
    }
}

/// Seconds, also parts of one.
///
/// # Errors
/// What is wrong with it.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    seconds.filter(|duration| !duration.is_zero()).ok_or_else(|| format!("'{text}' is no number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_bounds() {
        assert_eq!((parse_size("1k"), parse_size("2G")), (Ok(1024), Ok(2 << 30)));
        assert_eq!((parse_nursery("1m"), parse_nursery("4194304")), (Ok(1 << 20), Ok(4 << 20)));
        assert_eq!(parse_nursery("1").unwrap_err(), "'1' is too small: a nursery has at least 1m");
        assert_eq!((parse_gc_threads("1"), parse_gc_threads("256")), (Ok(1), Ok(256)));
        for refused in ["0", "257", "100000", "-1", "x"] {
            assert!(parse_gc_threads(refused).unwrap_err().ends_with("is no number from 1 to 256"), "{refused}");
        }
    }
}
