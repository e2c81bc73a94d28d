//! The file formats by name.

use crate::bundle::Bundle;
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
    /// All formats, in the order in which help texts name them.
    pub const ALL: [Format; 7] =
        [Format::Html, Format::Svg, Format::Folded, Format::Speedscope, Format::Pprof, Format::Firefox, Format::Mlpd];

    /// The name on the command line.
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

    /// The extension of the format's files, by which their tools recognise them.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Svg => "svg",
            Format::Folded => "folded",
            Format::Speedscope => "speedscope.json",
            Format::Pprof => "pb.gz",
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

/// The contents of a file with the profiles of one run, each of another kind.
pub fn write(profiles: &[Profile], format: Format) -> Vec<u8> {
    match format {
        Format::Html => html::write(&Bundle::of(profiles)).into_bytes(),
        Format::Svg => svg::write(profiles).into_bytes(),
        Format::Folded => folded::write(profiles).into_bytes(),
        Format::Speedscope => speedscope::write(&Bundle::of(profiles)).into_bytes(),
        Format::Pprof => pprof::write(&Bundle::of(profiles)),
        Format::Firefox => firefox::write(&Bundle::of(profiles)).into_bytes(),
        // mlpd holds the first only.
        Format::Mlpd => mlpd::write(profiles.first().unwrap_or(&Profile::default())),
    }
}

/// The formats that `read` reads, for messages and help.
pub const READ_FORMATS: &str = "pprof, speedscope, firefox (as saki wrote it), mlpd, html (as saki wrote it), folded";

/// Reads the profiles in a file of one of `READ_FORMATS`.
///
/// # Errors
/// What is wrong with the contents.
pub fn read(contents: &[u8]) -> Result<Vec<Profile>, String> {
    read_named(contents, "")
}

/// Reads the profiles in a file of one of `READ_FORMATS`; the file's name tells the kind of folded stacks, which do not
/// say it themselves.
///
/// # Errors
/// What is wrong with the contents.
pub fn read_named(contents: &[u8], name: &str) -> Result<Vec<Profile>, String> {
    if contents.starts_with(&pprof::GZIP) {
        // Mono compresses its logs in the same way.
        let contents = pprof::decompress(contents)?;
        return if mlpd::is_one(&contents) { mlpd::read(&contents) } else { pprof::read(&contents) };
    }
    if mlpd::is_one(contents) {
        return mlpd::read(contents);
    }
    // Names may begin like JSON or HTML, so a file is folded stacks unless it is something else as a whole.
    if contents.first() == Some(&b'{')
        && let Ok(file) = serde_json::from_slice(contents)
    {
        return match &file {
            file if speedscope::is_one(file) => speedscope::read(file),
            file if firefox::is_one(file) => firefox::read(file),
            _ => Err(format!("JSON, but neither speedscope's nor firefox's; what can be read is {READ_FORMATS}")),
        };
    }
    if let Ok(profiles) = pprof::read(contents) {
        return Ok(profiles);
    }
    let text = std::str::from_utf8(contents)
        .map_err(|_| format!("neither a text nor pprof; what can be read is {READ_FORMATS}"))?;
    if html::reader::is_one(text) {
        return html::reader::read(text);
    }
    folded::read(text, name)
        .map_err(|error| format!("{error}, so no folded stacks; what can be read is {READ_FORMATS}"))
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
                for count in [1, 3] {
                    let contents = write(&vec![sample_profile(stacks); count], format);
                    let is_read = read(&contents).is_ok();
                    let is_picture = format == Format::Svg;
                    assert_eq!(is_read, !is_picture, "{} of {count}", format.name());
                }
            }
        }
        assert_eq!(
            "x".parse::<Format>().unwrap_err().to_string(),
            "'x' is not one of html, svg, folded, speedscope, pprof, firefox, mlpd"
        );
    }
}
