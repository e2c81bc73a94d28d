//! The class libraries in use: the version of Mono to which the loaded mscorlib belongs.
//!
//! An mscorlib that claims to be of a known version is believed. Any other is compared with the contract (a few
//! milliseconds) and counts as the version whose contract it meets in full; if it meets none the machine does not
//! start. Other assemblies are judged call by call: an internal call that an assembly declares otherwise than the
//! version in use is not found (`disagreement`), which shows that files of several versions are mixed. Invariant: the
//! version is found once, when the machine starts (`set`), before it is used. Only data depends on the version: the
//! contract (crate `contract`) and the marks of rows in the table of internal calls. The only code that uses it is the
//! code cache's key.

use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_contract::{
    Contract, ContractLine, Difference, LibraryProfile, Version, claimed_version, compare, corlib_mark, nearest,
    release_of,
};
use saki_metadata::Image;
use saki_types::Method;
use std::path::Path;
use std::sync::OnceLock;

static IN_USE: OnceLock<Version> = OnceLock::new();

/// "6.8, 6.12 and 6.14"
fn known_versions() -> String {
    let [others @ .., newest] = Version::MONO.map(Version::name);
    format!("{} and {newest}", others.join(", "))
}

/// The version that an mscorlib belongs to.
///
/// # Errors
/// One line that names the file, what it is and what is supported.
pub fn identify(corlib: &Image) -> Result<Version, String> {
    if let Some(major) = saki_contract::core_lib_major(corlib) {
        return identify_net(corlib, major);
    }
    if let Some(version) = claimed_version(corlib) {
        return Ok(version);
    }
    let path = corlib.path().display();
    let supported = format!("supported are the class libraries of Mono {}", known_versions());
    let release = release_of(corlib);
    let Some(mark) = corlib_mark(corlib) else {
        return Err(match release {
            Some(release) => format!("{path}: of Mono {release}; {supported}"),
            None => format!("{path}: not Mono's mscorlib (it has no Environment.mono_corlib_version); {supported}"),
        });
    };
    let lines = Contract::own_section(LibraryProfile::MONO.core_assembly);
    let (version, differences) = nearest(corlib, &lines).map_err(|e| format!("{path}: {e}"))?;
    match differences.first() {
        None => Ok(version),
        Some(first) => Err(format!(
            "{path}: of Mono {} (class library version {mark}); {supported} and others that ask the same of the machine. Differences from {}: {}; \
             the first is {}",
            release.as_deref().unwrap_or("of an unknown release"),
            version.name(),
            differences.len(),
            first
        )),
    }
}

/// The version of .NET of a core assembly. A servicing release that is not known is compared with the contract.
fn identify_net(corlib: &Image, major: u16) -> Result<Version, String> {
    let path = corlib.path().display();
    let lines = Contract::own_section(LibraryProfile::NET.core_assembly);
    let harmful = |version| -> Result<Vec<Difference>, String> {
        let mut differences = compare(corlib, &lines, version).map_err(|e| format!("{path}: {e}"))?;
        differences.retain(Difference::is_harmful);
        Ok(differences)
    };
    let Some(version) = Version::with_core_lib_major(major) else {
        let distance = |version: &Version| version.core_lib_major().unwrap_or(0).abs_diff(major);
        let nearest = Version::NET.into_iter().min_by_key(distance).unwrap_or(Version::NET[0]);
        let differences = harmful(nearest)?;
        let first = differences.first().map_or_else(|| "none".to_owned(), ToString::to_string);
        return Err(format!(
            "{path}: of .NET {major}; supported are .NET 9 and 10. Differences from .NET {}: {}; the first is {first}",
            nearest.core_lib_major().unwrap_or(0),
            differences.len()
        ));
    };
    if saki_contract::is_known_core_library(corlib) {
        return Ok(version);
    }
    let differences = harmful(version)?;
    match differences.first() {
        None => Ok(version),
        Some(first) => Err(format!(
            "{path}: of a release of .NET {major} that asks other things of the machine than those that are known. Differences: {}; \
             the first is {first}",
            differences.len()
        )),
    }
}

/// A line for each of a framework's assemblies, except mscorlib, that differs from the contract; for `saki doctor`.
pub fn strangers(framework_profile: &Path, version: Version) -> Vec<String> {
    let contract = Contract::own();
    let others = contract.sections.iter().filter(|section| !matches!(section.assembly, "mscorlib" | "native"));
    let strange = others.filter_map(|section| {
        let path = framework_profile.join(format!("{}.dll", section.assembly));
        let image = Image::open(&path).ok()?;
        let mut differences = compare(&image, &section.lines, version).ok()?;
        differences.retain(Difference::is_harmful);
        let first = differences.first()?;
        Some(format!(
            "{}: not of Mono {}: {} differences, the first is {first}",
            path.display(),
            version.name(),
            differences.len()
        ))
    });
    strange.collect()
}

/// The lines about an assembly that is not mscorlib, found once.
fn section_of(assembly: &'static str) -> &'static [ContractLine<'static>] {
    static SECTIONS: Mutex<rank::ContractSections, Option<FxHashMap<String, &'static [ContractLine<'static>]>>> =
        Mutex::new(None);
    let mut sections = SECTIONS.lock();
    let sections = sections.get_or_insert_default();
    if let Some(known) = sections.get(assembly) {
        return known;
    }
    let lines: &'static [ContractLine<'static>] = Contract::own_section(assembly).leak();
    sections.insert(assembly.to_owned(), lines);
    lines
}

/// Why an assembly of the class libraries, other than mscorlib, must not have its internal call: the version in use
/// does not declare it so. None for other assemblies.
pub fn disagreement(method: &'static Method) -> Option<String> {
    let (image, version) = (method.image(), version()?);
    if *image == *image.universe.corlib() {
        return None;
    }
    let lines = section_of(image.assembly().name);
    if lines.is_empty() {
        return None;
    }
    let text = saki_contract::name_of_call(image.meta, method.rid()?).ok()?;
    let is_agreed = lines.iter().any(|line| line.kind.is_call() && line.holds_for(version) && line.text == text);
    (!is_agreed).then(|| {
        format!(
            "{}: {} declares it otherwise than the class libraries of Mono {} do, of which mscorlib is ({}). All files must be of one release",
            crate::method_names::name_of(method),
            image.meta.path().display(),
            version.name(),
            release()
        )
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

/// What stands between "Process terminated." or "Fatal error." and the reason.
pub fn separator_after_end() -> &'static str {
    if is_net_since(10) { "\n" } else { " " }
}

/// Whether they are .NET's of at least this major version.
pub fn is_net_since(major: u16) -> bool {
    version().and_then(Version::core_lib_major).is_some_and(|found| found >= major)
}

/// The release in use, "6.8.0.105".
pub fn release() -> &'static str {
    static RELEASE: OnceLock<String> = OnceLock::new();
    RELEASE.get_or_init(|| {
        let named = release_of(saki_types::universe().corlib().meta);
        named.or_else(|| version().map(|version| version.name().to_owned())).unwrap_or_default()
    })
}
