//! Which class libraries are in use: the version of Mono whose mscorlib was loaded.
//!
//! mscorlib says it itself, by a mark that Mono's developers change with each change of the contract between class library and runtime
//! (`Environment.mono_corlib_version`), and by the release that it was built for (`Consts.MonoVersion`).
//! Invariant: the version is found once, when the machine starts (`set`), before anything asks for it. What depends on it is data: rows of
//! the table of internal calls have a mark (`internal_calls`); nothing else looks at it.

use saki_metadata::{ConstantValue, Image, TableId, Token};
use std::sync::OnceLock;

/// Class libraries that Saki knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Mono6_8,
    Mono6_12,
}

impl Version {
    pub const ALL: [Version; 2] = [Version::Mono6_8, Version::Mono6_12];

    /// As it is written in marks and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Version::Mono6_8 => "6.8",
            Version::Mono6_12 => "6.12",
        }
    }

    /// What its mscorlib says of itself.
    const fn corlib_mark(self) -> &'static str {
        match self {
            Version::Mono6_8 => "ABB721D6-116A-4555-B4FD-9248146D2051",
            Version::Mono6_12 => "1A5E0066-58DC-428A-B21C-0AD6CDAE2789",
        }
    }
}

/// The value of a constant string.
fn constant_text(image: &Image, namespace: &str, type_name: &str, field: &str) -> Option<String> {
    let type_rid = image.find_type_def(namespace, type_name, None)?;
    let is_wanted =
        |rid: &u32| image.field(*rid).and_then(|row| image.string(row.name)).is_ok_and(|name| name == field);
    let rid = image.type_def_fields(type_rid).ok()?.find(is_wanted)?;
    let row = image.constant(Token::new(TableId::Field, rid)).ok()??;
    match image.constant_value(&row).ok()? {
        ConstantValue::String(units) => Some(String::from_utf16_lossy(&units)),
        _ => None,
    }
}

/// The mark of an mscorlib; None for a file that is not Mono's mscorlib.
pub fn corlib_mark(corlib: &Image) -> Option<String> {
    constant_text(corlib, "System", "Environment", "mono_corlib_version")
}

/// The release of Mono that an assembly of the class libraries was built for, "6.8.0.105"; not all say it.
pub fn release_of(image: &Image) -> Option<String> {
    constant_text(image, "", "Consts", "MonoVersion")
}

static IN_USE: OnceLock<Version> = OnceLock::new();

/// The version that an mscorlib belongs to.
///
/// # Errors
/// One line that names the file and what it is.
pub fn identify(corlib: &Image) -> Result<Version, String> {
    let path = corlib.path().display();
    let Some(mark) = corlib_mark(corlib) else {
        return Err(format!("{path}: not Mono's mscorlib (it has no Environment.mono_corlib_version)"));
    };
    Version::ALL.into_iter().find(|version| version.corlib_mark() == mark).ok_or_else(|| {
        let expected = Version::Mono6_8;
        format!("{path}: class library version {mark}, expected {} (Mono {})", expected.corlib_mark(), expected.name())
    })
}

/// Called once, while the machine starts.
pub(crate) fn set(version: Version) {
    let _ = IN_USE.set(version);
}

/// The version in use; None before the machine has started.
pub fn version() -> Option<Version> {
    IN_USE.get().copied()
}

/// The release in use, "6.8.0.105".
pub fn release() -> &'static str {
    static RELEASE: OnceLock<String> = OnceLock::new();
    RELEASE.get_or_init(|| {
        let named = release_of(saki_types::universe().corlib().meta);
        named.or_else(|| version().map(|version| version.name().to_owned())).unwrap_or_default()
    })
}
