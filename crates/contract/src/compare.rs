//! Compares an assembly with the contract and lists the differences.

use crate::lines::{ContractLine, LineKind};
use crate::signatures::{declared_calls, find_type, layout_text, members_named};
use crate::{LibraryProfile, Version, Versions, corlib_mark, release_of};
use saki_metadata::{BadImage, Image};
use std::collections::BTreeSet;
use std::fmt;

/// One difference. Texts are as in the contract's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// An internal call that the contract lacks.
    New(String),
    /// A member that the contract has and the assembly lacks.
    Gone(LineKind, String),
    Changed {
        kind: LineKind,
        expected: String,
        found: String,
    },
}

impl Difference {
    /// Whether the difference could make a program fail. An internal call that the assembly lacks is harmless: the
    /// assembly does not call it.
    pub fn is_harmful(&self) -> bool {
        !matches!(self, Difference::Gone(LineKind::Call, _))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::New(text) => write!(f, "new: call {text}"),
            Difference::Gone(kind, text) => write!(f, "gone: {} {text}", kind.name()),
            Difference::Changed { kind, expected, found } => {
                write!(f, "changed: {} {expected}, now {found}", kind.name())
            }
        }
    }
}

/// The differences between an assembly and the lines of its section that hold for a version. Errors: damaged metadata.
pub fn compare(image: &Image, lines: &[ContractLine], version: Version) -> Result<Vec<Difference>, BadImage> {
    let lines: Vec<&ContractLine> = lines.iter().filter(|line| line.holds_for(version)).collect();
    let mut differences = compare_calls(image, &lines)?;
    for line in lines.iter().filter(|line| matches!(line.kind, LineKind::Field | LineKind::Layout | LineKind::Method)) {
        let (owner, name) = line.member();
        let there = match find_type(image, owner) {
            None => Vec::new(),
            Some(type_rid) if line.kind == LineKind::Layout => vec![layout_text(image, type_rid)?],
            Some(type_rid) => members_named(image, type_rid, name, line.kind == LineKind::Field)?,
        };
        if there.iter().any(|text| text == line.text) {
            continue;
        }
        differences.push(match <[String; 1]>::try_from(there) {
            Ok([found]) => Difference::Changed { kind: line.kind, expected: line.text.to_owned(), found },
            // There is no such member, or there are several overloads and none has the signature.
            Err(_) => Difference::Gone(line.kind, line.text.to_owned()),
        });
    }
    Ok(differences)
}

fn compare_calls(image: &Image, lines: &[&ContractLine]) -> Result<Vec<Difference>, BadImage> {
    let listed: BTreeSet<&str> = lines.iter().filter(|line| line.kind.is_call()).map(|line| line.text).collect();
    let declared = declared_calls(image)?;
    let declared: BTreeSet<&str> = declared.iter().map(String::as_str).collect();
    let mut new: Vec<&str> = declared.difference(&listed).copied().collect();
    let member = |text| ContractLine { kind: LineKind::Call, text, versions: Versions::MONO }.member();
    let mut differences = Vec::new();
    for expected in listed.difference(&declared) {
        // A member of the same name with another signature.
        let successor = new.iter().position(|found| member(found) == member(expected));
        differences.push(match successor.map(|index| new.remove(index)) {
            Some(found) => {
                let (expected, found) = ((*expected).to_owned(), found.to_owned());
                Difference::Changed { kind: LineKind::Call, expected, found }
            }
            None => Difference::Gone(LineKind::Call, (*expected).to_owned()),
        });
    }
    differences.extend(new.into_iter().map(|text| Difference::New(text.to_owned())));
    Ok(differences)
}

/// The version that an mscorlib claims to be: by its mark, and by its release if it names one. (Builds from between two
/// releases have the mark of one of them, but may need other internal calls, fields or methods.) A mark that several
/// versions have says nothing without a release.
pub fn claimed_version(corlib: &Image) -> Option<Version> {
    if let Some(major) = core_lib_major(corlib) {
        return Version::with_core_lib_major(major);
    }
    let mark = corlib_mark(corlib)?;
    let mut marked = Version::with_corlib_mark(&mark);
    match release_of(corlib) {
        Some(release) => marked.find(|version| version.has_release(&release)),
        None => marked.next().filter(|_| marked.next().is_none()),
    }
}

/// The MVIDs of the core assemblies of .NET whose lines the contract has: 9.0.5 and 10.0.13.
const KNOWN_CORE_LIBRARIES: [[u8; 16]; 2] = [
    [0xd5, 0xb1, 0x87, 0x34, 0xf1, 0x37, 0xec, 0x4c, 0x9b, 0x3a, 0xc0, 0xb4, 0x82, 0x15, 0xf3, 0x01],
    [0x37, 0xbf, 0x81, 0x9f, 0xe9, 0x7e, 0xd6, 0x46, 0x81, 0x48, 0x59, 0x38, 0xd2, 0xa8, 0xd0, 0x41],
];

/// Whether it is a file that was compared with the contract when its lines were written.
pub fn is_known_core_library(image: &Image) -> bool {
    KNOWN_CORE_LIBRARIES.contains(&image.mvid())
}

/// The major version of a System.Private.CoreLib; None for other assemblies.
pub fn core_lib_major(image: &Image) -> Option<u16> {
    let assembly = image.assembly()?;
    let is_core_lib = image.string(assembly.name).is_ok_and(|name| name == LibraryProfile::NET.core_assembly);
    is_core_lib.then_some(assembly.major_version)
}

/// The version from which an mscorlib differs least, and the harmful differences. `lines` are those of mscorlib.
/// Errors: damaged metadata.
pub fn nearest(corlib: &Image, lines: &[ContractLine]) -> Result<(Version, Vec<Difference>), BadImage> {
    let harmful = |version| -> Result<Vec<Difference>, BadImage> {
        let differences = compare(corlib, lines, version)?;
        Ok(differences.into_iter().filter(Difference::is_harmful).collect())
    };
    let [first, others @ ..] = Version::MONO;
    let mut best = (first, harmful(first)?);
    for version in others {
        let differences = harmful(version)?;
        if differences.len() < best.1.len() {
            best = (version, differences);
        }
    }
    Ok(best)
}
