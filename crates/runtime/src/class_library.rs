//! Which class libraries are in use: the version of Mono whose mscorlib was loaded.
//!
//! Invariant: the version is found once, when the machine starts (`set`), before anything asks for it. What depends on it is data: the
//! contract (crate `contract`) and the marks of rows in the table of internal calls. Of the code only the code cache's key asks for it.

use rustc_hash::FxHashSet;
use saki_contract::{Contract, Kind, Version};
use saki_metadata::Image;
use std::sync::OnceLock;

static IN_USE: OnceLock<Version> = OnceLock::new();

/// The version that an mscorlib belongs to.
///
/// # Errors
/// One line that names the file and what it is.
pub fn identify(corlib: &Image) -> Result<Version, String> {
    let path = corlib.path().display();
    let Some(mark) = saki_contract::corlib_mark(corlib) else {
        return Err(format!("{path}: not Mono's mscorlib (it has no Environment.mono_corlib_version)"));
    };
    Version::from_corlib_mark(&mark)
        .ok_or_else(|| format!("{path}: class library version {mark}, which Saki does not know"))
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
        let named = saki_contract::release_of(saki_types::universe().corlib().meta);
        named.or_else(|| version().map(|version| version.name().to_owned())).unwrap_or_default()
    })
}

/// Whether the contract has the field, in debug builds: a field that Rust code reads and that is not listed would not be compared with other
/// class libraries. Nested types as "Outer/Inner".
pub(crate) fn is_field_listed(assembly: &str, namespace: &str, type_name: &str, field: &str) -> bool {
    static LISTED: OnceLock<FxHashSet<String>> = OnceLock::new();
    let listed = LISTED.get_or_init(|| {
        let contract = Contract::own();
        let fields = contract.sections.iter().flat_map(|section| {
            let fields = section.lines.iter().filter(|line| line.kind == Kind::Field);
            fields.map(|line| (section.assembly, line.member()))
        });
        fields.map(|(assembly, (owner, name))| format!("{assembly}:{owner}::{name}")).collect()
    });
    let owner = type_name.replace('/', "+");
    let separator = if namespace.is_empty() { "" } else { "." };
    listed.contains(&format!("{assembly}:{namespace}{separator}{owner}::{field}"))
}
