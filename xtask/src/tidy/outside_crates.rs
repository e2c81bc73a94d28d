//! What comes into the build from outside: licences, second versions and sources by the lists of deny.toml, that the
//! workspace's `rust-version` is no lower than any crate's of the lock, and that CONTRIBUTING.md says of each crate why
//! it is there.
//!
//! `cargo deny check` looks at the same lists and at more (advisories, yanked versions), but Debian has no package of
//! it, it takes longer to build than Saki, and it needs its list of advisories from the network. What a change here can
//! break is therefore checked by this rule in every test run; cargo-deny is for releases. Left out: licence files,
//! which cargo-deny reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use serde_json::Value;

use super::dependencies::entries;
use super::findings::Findings;

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
const TABLE_HEADING: &str = "## Why each dependency is there";

/// What deny.toml says.
struct Policy {
    targets: Vec<String>,
    licences: BTreeSet<String>,
    /// Crates of which there may be two versions.
    doubled: BTreeSet<String>,
}

impl Policy {
    /// Errors: a list that is not there.
    fn parse(text: &str) -> Result<Policy, String> {
        let quoted = Regex::new(r#""([^"]*)""#).map_err(|e| e.to_string())?;
        let skipped = Regex::new(r#"\{\s*crate\s*=\s*"([^"]*)""#).map_err(|e| e.to_string())?;
        let list = |name: &str| {
            let start = text.find(&format!("\n{name} = [")).ok_or(format!("deny.toml: no list {name}"))?;
            let rest = &text[start..];
            let end = rest.find("\n]").into_iter().chain(rest.find("]\n")).min();
            Ok::<&str, String>(&rest[..end.unwrap_or(rest.len())])
        };
        let all =
            |pattern: &Regex, text: &str| pattern.captures_iter(text).map(|c| c[1].to_owned()).collect::<Vec<_>>();
        Ok(Policy {
            targets: all(&quoted, list("targets")?),
            licences: all(&quoted, list("allow")?).into_iter().collect(),
            doubled: all(&skipped, list("skip")?).into_iter().collect(),
        })
    }

    /// Whether an SPDX expression can be met with the licences allowed. `A/B` is an older way to write `A OR B`.
    fn allows(&self, expression: &str) -> bool {
        let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut rest = words.as_slice();
        self.any_of(&mut rest) && rest.is_empty()
    }

    fn any_of(&self, rest: &mut &[&str]) -> bool {
        let mut met = self.all_of(rest);
        while take(rest, "OR") {
            met |= self.all_of(rest);
        }
        met
    }

    fn all_of(&self, rest: &mut &[&str]) -> bool {
        let mut met = self.licence(rest);
        while take(rest, "AND") {
            met &= self.licence(rest);
        }
        met
    }

    fn licence(&self, rest: &mut &[&str]) -> bool {
        if take(rest, "(") {
            let met = self.any_of(rest);
            return take(rest, ")") && met;
        }
        let Some((name, others)) = rest.split_first() else { return false };
        *rest = others;
        if take(rest, "WITH")
            && let Some((exception, others)) = rest.split_first()
        {
            *rest = others;
            return self.licences.contains(&format!("{name} WITH {exception}"));
        }
        self.licences.contains(*name)
    }
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, others)) if *first == word => {
            *rest = others;
            true
        }
        _ => false,
    }
}

/// A crate of the build, not of ours.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct OutsideCrate {
    name: String,
    version: String,
    licence: String,
}

/// Checks all of it. Errors: files that cannot be read, and `cargo tree`'s.
pub fn check(root: &Path, findings: &mut Findings) -> Result<(), String> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|e| format!("{name}: {e}"));
    let policy = Policy::parse(&read("deny.toml")?)?;
    let mut crates = BTreeSet::new();
    for target in &policy.targets {
        crates.extend(outside_crates(&tree(root, target)?));
    }
    check_crates(&policy, &crates, findings);
    check_rust_version(&read("Cargo.toml")?, &read("CONTRIBUTING.md")?, &crates, &metadata(root)?, findings);
    for (index, line) in read("Cargo.lock")?.lines().enumerate() {
        if line.starts_with("source = ") && !line.contains(REGISTRY) {
            findings.error(Path::new("Cargo.lock"), index + 1, "crates come from crates.io");
        }
    }
    let mut manifests = vec![("xtask/Cargo.toml".to_owned(), read("xtask/Cargo.toml")?)];
    let folders = fs::read_dir(root.join("crates")).map_err(|e| format!("crates: {e}"))?;
    for folder in folders.flatten() {
        let path = format!("crates/{}/Cargo.toml", folder.file_name().to_string_lossy());
        if let Ok(text) = fs::read_to_string(root.join(&path)) {
            manifests.push((path, text));
        }
    }
    check_names(&manifests, &read("Cargo.toml")?, &read("CONTRIBUTING.md")?, findings);
    Ok(())
}

/// One line for each crate: name, version and where it lies if it is ours, a bar, its licence.
fn tree(root: &Path, target: &str) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["tree", "--workspace", "--locked", "--prefix", "none", "--format", "{p}|{l}"]);
    let output = command.args(["--edges", "normal,build,dev", "--target", target]).output();
    let output = output.map_err(|e| format!("cargo tree: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// What `cargo metadata` says of every crate of the lock.
fn metadata(root: &Path) -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    let output = command.current_dir(root).args(["metadata", "--locked", "--format-version", "1"]).output();
    let output = output.map_err(|e| format!("cargo metadata: {e}"))?;
    match output.status.success() {
        true => serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}")),
        false => Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// "1.95" or "1.95.0" as numbers.
fn rust_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// The workspace promises to build with a version of Rust that each crate of the build accepts (`x` reads the same
/// line), and CONTRIBUTING.md names that version.
fn check_rust_version(
    workspace: &str,
    contributing: &str,
    crates: &BTreeSet<OutsideCrate>,
    metadata: &Value,
    findings: &mut Findings,
) {
    let manifest = Path::new("Cargo.toml");
    let promised = workspace.lines().enumerate().find_map(|(index, line)| {
        let text = line.strip_prefix("rust-version = \"")?.strip_suffix('"')?;
        Some((index + 1, text, rust_version(text)?))
    });
    let Some((line, text, promised)) = promised else {
        return findings.error(manifest, 1, "no line rust-version = \"1.N\"");
    };
    if !contributing.contains(&format!("Rust {text} or newer")) {
        findings.error(
            Path::new("CONTRIBUTING.md"),
            1,
            format!("does not say `Rust {text} or newer`, as Cargo.toml does"),
        );
    }
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let field = |name: &str| package[name].as_str().unwrap_or_default();
        let is_built =
            crates.iter().any(|known| known.name == field("name") && known.version == format!("v{}", field("version")));
        if is_built && rust_version(field("rust_version")).is_some_and(|needed| needed > promised) {
            let message = format!("{} {} needs Rust {}", field("name"), field("version"), field("rust_version"));
            findings.error(manifest, line, message);
        }
    }
}

fn outside_crates(tree: &str) -> BTreeSet<OutsideCrate> {
    let mut crates = BTreeSet::new();
    for line in tree.lines() {
        let Some((package, licence)) = line.trim_end_matches(" (*)").split_once('|') else { continue };
        let mut words = package.split_whitespace();
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        let is_ours = words.any(|word| word.starts_with("(/"));
        if !is_ours {
            crates.insert(OutsideCrate { name: name.into(), version: version.into(), licence: licence.trim().into() });
        }
    }
    crates
}

fn check_crates(policy: &Policy, crates: &BTreeSet<OutsideCrate>, findings: &mut Findings) {
    let deny = Path::new("deny.toml");
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for found in crates {
        versions.entry(&found.name).or_default().push(&found.version);
        if !policy.allows(&found.licence) {
            let message =
                format!("{} {} has the licence {:?}, which is not allowed", found.name, found.version, found.licence);
            findings.error(deny, 1, message);
        }
    }
    for (name, versions) in &versions {
        if versions.len() > 1 && !policy.doubled.contains(*name) {
            findings.error(deny, 1, format!("two versions of {name}: {}", versions.join(", ")));
        }
    }
    for name in &policy.doubled {
        if versions.get(name.as_str()).is_none_or(|versions| versions.len() < 2) {
            findings.error(deny, 1, format!("{name} is listed as doubled, but there is one version at most"));
        }
    }
}

/// Every outside crate that a manifest names has a row in CONTRIBUTING.md's table; no row and no entry of the workspace
/// is without use.
fn check_names(manifests: &[(String, String)], workspace: &str, contributing: &str, findings: &mut Findings) {
    let is_outside = |name: &String| name != "saki" && !name.starts_with("saki-");
    let mut rows = BTreeMap::new();
    let lines = contributing.lines().enumerate().skip_while(|(_, line)| *line != TABLE_HEADING);
    for (index, line) in lines.filter(|(_, line)| line.starts_with("| `")) {
        let names = line.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2);
        rows.extend(names.map(|name| (name, index + 1)));
    }
    let mut used = BTreeSet::new();
    for (path, text) in manifests {
        let named = entries(text, |section| section.ends_with("dependencies"));
        for (line, name) in named.into_iter().filter(|(_, name)| is_outside(name)) {
            if !rows.contains_key(name.as_str()) {
                findings.error(Path::new(path), line, format!("CONTRIBUTING.md does not say why {name} is there"));
            }
            used.insert(name);
        }
    }
    for (name, line) in rows {
        if !used.contains(name) {
            findings.error(Path::new("CONTRIBUTING.md"), line, format!("nothing uses {name}"));
        }
    }
    let declared = entries(workspace, |section| section == "workspace.dependencies");
    for (line, name) in declared.into_iter().filter(|(_, name)| is_outside(name)) {
        if !used.contains(&name) {
            findings.error(Path::new("Cargo.toml"), line, format!("nothing uses {name}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = "[graph]\ntargets = [\"x86_64-unknown-linux-gnu\"]\n\n[licenses]\n\
                        allow = [\"MIT\", \"Apache-2.0 WITH LLVM-exception\", \"Unicode-3.0\"]\n\
                        [bans]\nskip = [\n    { crate = \"syn\", reason = \"macros\" },\n]\n";

    fn policy() -> Policy {
        Policy::parse(DENY).expect("three lists")
    }

    #[test]
    fn the_lists_are_read() {
        let policy = policy();
        assert_eq!(policy.targets, ["x86_64-unknown-linux-gnu"]);
        assert_eq!(policy.licences.len(), 3);
        assert_eq!(policy.doubled.iter().collect::<Vec<_>>(), ["syn"]);
        assert!(Policy::parse("[graph]\n").is_err());
    }

    #[test]
    fn licence_expressions_are_met_or_not() {
        let policy = policy();
        for met in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(policy.allows(met), "{met}");
        }
        for not_met in
            ["", "GPL-3.0", "Apache-2.0", "MIT AND GPL-3.0", "(MIT", "MIT GPL-3.0", "MIT WITH LLVM-exception"]
        {
            assert!(!policy.allows(not_met), "{not_met}");
        }
    }

    fn found_in_tree(tree: &str) -> Vec<String> {
        let mut findings = Findings::default();
        check_crates(&policy(), &outside_crates(tree), &mut findings);
        findings.errors
    }

    #[test]
    fn licences_and_second_versions_are_found() {
        let tree = "saki-os v0.1.0 (/x/os)|GPL-3.0\nsyn v1.0.0|MIT\nsyn v2.0.0|MIT\na v1.0.0|MIT\na v1.0.0|MIT (*)\n";
        assert_eq!(found_in_tree(tree), Vec::<String>::new());
        let errors = found_in_tree("a v1.0.0|MIT\na v2.0.0|MIT\nb v1.0.0 (proc-macro)|GPL-3.0\nsyn v1.0.0|MIT\n");
        assert_eq!(errors.len(), 3, "{errors:?}");
        for (error, want) in errors.iter().zip(["b v1.0.0 has the licence", "two versions of a", "syn is listed"]) {
            assert!(error.contains(want), "{error}");
        }
    }

    #[test]
    fn a_rust_version_below_that_of_a_crate_is_found() {
        let crates = outside_crates("a v1.0.0|MIT\nb v2.0.0|MIT\n");
        let metadata = serde_json::json!({ "packages": [
            { "name": "a", "version": "1.0.0", "rust_version": "1.95.0" },
            { "name": "b", "version": "2.0.0", "rust_version": null },
            // Of another target.
            { "name": "c", "version": "1.0.0", "rust_version": "1.99" },
        ] });
        let errors = |promised: &str, contributing: &str| {
            let mut findings = Findings::default();
            let workspace = format!("[workspace.package]\nrust-version = \"{promised}\"\n");
            check_rust_version(&workspace, contributing, &crates, &metadata, &mut findings);
            findings.errors
        };
        assert_eq!(errors("1.95", "Rust 1.95 or newer"), Vec::<String>::new());
        assert_eq!(errors("1.100", "Rust 1.100 or newer"), Vec::<String>::new());
        assert!(errors("1.95", "Rust 1.92 or newer")[0].contains("CONTRIBUTING.md"));
        assert!(errors("1.92", "Rust 1.92 or newer")[0].contains("a 1.0.0 needs Rust 1.95.0"));
    }

    #[test]
    fn crates_without_use_or_reason_are_found() {
        let manifests = [(
            "crates/os/Cargo.toml".to_owned(),
            "[dependencies]\nlibc = \"1\"\nsaki-base = \"1\"\n[dev-dependencies]\nloom = \"1\"\n".to_owned(),
        )];
        let workspace = "[workspace.dependencies]\nlibc = \"1\"\nloom = \"1\"\nlibloading = \"1\"\n";
        let contributing = format!("| `no table` |\n{TABLE_HEADING}\n\n| `libc`, `gone` | os | calls |\n");
        let mut findings = Findings::default();
        check_names(&manifests, workspace, &contributing, &mut findings);
        let wanted =
            ["why loom is there", "CONTRIBUTING.md:4: nothing uses gone", "Cargo.toml:4: nothing uses libloading"];
        assert_eq!(findings.errors.len(), wanted.len(), "{:?}", findings.errors);
        for (error, want) in findings.errors.iter().zip(wanted) {
            assert!(error.contains(want), "{error}");
        }
    }
}
