//! Quantities in the words of command lines: sizes, samples a second, seconds.

use std::time::Duration;

const MAX_HZ: u32 = saki_runtime::profile_log::settings::MAX_SAMPLES_A_SECOND;

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
