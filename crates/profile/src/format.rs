//! The file formats by name.

use crate::model::Profile;
use crate::{firefox, folded, html, mlpd, pprof, speedscope, svg};

/// A format that profiles are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Html,
    Svg,
    Folded,
    Speedscope,
    Pprof,
    Firefox,
    Mlpd,
}

/// A word that names no format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownFormat(String);

impl std::fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        write!(f, "'{}' is not one of {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownFormat {}

impl Format {
    pub const ALL: [Format; 7] =
        [Format::Html, Format::Svg, Format::Folded, Format::Speedscope, Format::Pprof, Format::Firefox, Format::Mlpd];

    pub fn name(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Svg => "svg",
            Format::Folded => "folded",
            Format::Speedscope => "speedscope",
            Format::Pprof => "pprof",
            Format::Firefox => "firefox",
            Format::Mlpd => "mlpd",
        }
    }

    /// What files of the format end with, by which their tools know them.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Svg => "svg",
            Format::Folded => "folded",
            Format::Speedscope => "speedscope.json",
            Format::Pprof => "pb",
            Format::Firefox => "firefox.json",
            Format::Mlpd => "mlpd",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// The contents of a file.
pub fn write(profile: &Profile, format: Format) -> Vec<u8> {
    match format {
        Format::Html => html::write(profile).into_bytes(),
        Format::Svg => svg::write(profile).into_bytes(),
        Format::Folded => folded::write(profile).into_bytes(),
        Format::Speedscope => speedscope::write(profile).into_bytes(),
        Format::Pprof => pprof::write(profile),
        Format::Firefox => firefox::write(profile).into_bytes(),
        Format::Mlpd => mlpd::write(profile),
    }
}

/// Reads a profile in the formats that are for machines: pprof and folded.
///
/// # Errors
/// What is wrong with the contents.
pub fn read(contents: &[u8]) -> Result<Profile, String> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    if contents.starts_with(&GZIP) {
        return Err("compressed: gunzip it first".into());
    }
    if let Ok(profile) = pprof::read(contents) {
        return Ok(profile);
    }
    match std::str::from_utf8(contents) {
        Ok(text) if !text.starts_with(['{', '<']) => {
            folded::read(text).map_err(|error| format!("neither pprof nor folded stacks: {error}"))
        }
        _ => Err("neither pprof nor folded stacks, which are the formats that can be read again".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn every_format_writes_every_profile() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            for stacks in [&[][..], &[("", 1), ("a<b>;\"c\"", 2)]] {
                let contents = write(&sample_profile(stacks), format);
                let is_read = read(&contents).is_ok();
                assert_eq!(is_read, matches!(format, Format::Pprof | Format::Folded), "{}", format.name());
            }
        }
        assert_eq!(
            "x".parse::<Format>().unwrap_err().to_string(),
            "'x' is not one of html, svg, folded, speedscope, pprof, firefox, mlpd"
        );
    }
}
