//! The contract between the class libraries and the machine, as data: what Saki relies on in Mono's assemblies, for
//! which of their versions.
//!
//! `contract.txt` beside this crate's sources has a line for each internal call, for each field that Rust code reads or
//! writes by name, for each method that it calls or replaces by name, and for each C symbol that Mono's native
//! libraries take from the program; always with the whole signature. A line without a mark holds for all versions,
//! "@6.8,6.12 " in front says that it holds for these versions alone. Invariants: a version is recognised by the mark
//! that Mono's developers change with the contract (`Environment.mono_corlib_version`) and by its release, and several
//! versions may have one mark; an mscorlib whose mark or release is not that of a known version is compared with the
//! contract. Everything here works on metadata alone, so that even an mscorlib with which Saki could not start can be
//! judged. `library` has what the code names: types, fields and methods by their roles, and profiles of class
//! libraries. Left out: facts that signatures do not express (the meaning of arguments, the values of enumerations).
#![deny(unsafe_code)]

mod compare;
mod library;
mod lines;
mod signatures;

pub use compare::{Difference, claimed_version, compare, core_lib_major, is_known_core_library, nearest};
pub use library::{
    Companion, FIELDS, FieldsOf, LibraryAssembly, LibraryMethod, LibraryProfile, LibraryType, TypeName, VectorLibrary,
    has_field,
};
pub use lines::{Contract, ContractLine, LineKind, Section};
pub use signatures::{declared_calls, find_type, layout_text, members_named, name_of_call};

use saki_metadata::{ConstantValue, Image, TableId, Token};

/// Class libraries that Saki knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    Mono6_8,
    Mono6_12,
    Mono6_14,
    Net9,
    Net10,
}

impl Version {
    /// All versions: those of Mono, oldest first, then those of .NET.
    pub const ALL: [Version; 5] =
        [Version::Mono6_8, Version::Mono6_12, Version::Mono6_14, Version::Net9, Version::Net10];
    /// The versions of Mono, oldest first.
    pub const MONO: [Version; 3] = [Version::Mono6_8, Version::Mono6_12, Version::Mono6_14];
    /// The versions of .NET, oldest first.
    pub const NET: [Version; 2] = [Version::Net9, Version::Net10];

    /// The name used in marks and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Version::Mono6_8 => "6.8",
            Version::Mono6_12 => "6.12",
            Version::Mono6_14 => "6.14",
            Version::Net9 => "net9",
            Version::Net10 => "net10",
        }
    }

    /// The name of the product and the version, for messages: "Mono 6.8", ".NET 9".
    pub fn product(self) -> String {
        match self.name().strip_prefix("net") {
            Some(major) => format!(".NET {major}"),
            None => format!("Mono {}", self.name()),
        }
    }

    /// The mark in the version's mscorlib (`Environment.mono_corlib_version`); .NET's CoreLib has none.
    const fn corlib_mark(self) -> Option<&'static str> {
        match self {
            Version::Mono6_8 => Some("ABB721D6-116A-4555-B4FD-9248146D2051"),
            // 6.14 makes other demands than 6.12, but has its mark.
            Version::Mono6_12 | Version::Mono6_14 => Some("1A5E0066-58DC-428A-B21C-0AD6CDAE2789"),
            Version::Net9 | Version::Net10 => None,
        }
    }

    /// The major version of the version's System.Private.CoreLib; None for Mono's.
    pub const fn core_lib_major(self) -> Option<u16> {
        match self {
            Version::Net9 => Some(9),
            Version::Net10 => Some(10),
            Version::Mono6_8 | Version::Mono6_12 | Version::Mono6_14 => None,
        }
    }

    /// The version whose System.Private.CoreLib has this major version.
    pub fn with_core_lib_major(major: u16) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.core_lib_major() == Some(major))
    }

    /// The version with this name ("6.8").
    pub fn from_name(name: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.name() == name)
    }

    /// The versions whose mscorlib has this mark.
    pub fn with_corlib_mark(mark: &str) -> impl Iterator<Item = Version> {
        Version::ALL.into_iter().filter(move |version| version.corlib_mark() == Some(mark))
    }

    /// Whether a release, "6.8.0.105", is one of this version.
    pub fn has_release(self, release: &str) -> bool {
        release.strip_prefix(self.name()).is_some_and(|rest| rest.starts_with('.'))
    }
}

/// A set of versions, as a mark names it: "6.8,6.12". Bit n is that of `Version::ALL[n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Versions(u8);

impl Versions {
    /// Every version of Mono.
    pub const MONO: Versions = Versions((1 << Version::MONO.len()) - 1);
    /// Every version of .NET.
    pub const NET: Versions = Versions(((1 << Version::NET.len()) - 1) << Version::MONO.len());

    /// Whether the version is one of the set.
    pub const fn contains(self, version: Version) -> bool {
        self.0 & Versions::from_version(version).0 != 0
    }

    const fn from_version(version: Version) -> Versions {
        Versions(1 << version as u8)
    }

    /// None if one of the names, which commas separate, is not that of a version.
    pub fn parse(names: &str) -> Option<Versions> {
        if names == "net" {
            return Some(Versions::NET);
        }
        names.split(',').try_fold(Versions(0), |set, name| {
            Version::from_name(name).map(|version| Versions(set.0 | Versions::from_version(version).0))
        })
    }
}

/// Splits "@6.8,6.12 NAME"; a name without a mark holds for all versions of Mono, "@net" is the mark of all versions of
/// .NET.
///
/// # Errors
/// The mark, if it names a version that there is not.
pub fn split_mark(text: &str) -> Result<(Versions, &str), &str> {
    match text.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
        None => Ok((Versions::MONO, text)),
        Some((mark, name)) => Versions::parse(mark).map(|versions| (versions, name)).ok_or(mark),
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
