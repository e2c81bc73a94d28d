//! Which crate may depend on which: the table of ARCHITECTURE.md ("The house") as code; `architecture` compares the
//! two.
//!
//! Invariant: dependencies point down only. A crate may name what its row lists and whatever those
//! rows list in turn; development dependencies are free. A few outside crates belong to one crate
//! alone, so that they can be replaced there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::findings::{Findings, SourceFile};

/// Crate folder → the crates it is built on, floor by floor: a crate stands one floor above the highest of those.
const LAYERS: &[(&str, &[&str])] = &[
    ("base", &[]),
    // Stands in for an outside crate; nothing of ours names it.
    ("spin", &[]),
    // For tests and tools alone.
    ("mutation", &[]),
    ("loops", &[]),
    ("profile", &["base"]),
    ("os", &["base"]),
    ("abi", &["base"]),
    ("dotnet", &["base"]),
    ("metadata", &["base"]),
    ("contract", &["metadata"]),
    ("sync", &["base", "os", "abi"]),
    ("fiber", &["os"]),
    ("thread", &["abi", "os", "sync"]),
    ("code", &["abi", "os", "sync"]),
    ("types", &["base", "os", "abi", "metadata", "contract", "sync", "thread"]),
    ("tools", &["base", "os", "metadata", "code"]),
    ("sched", &["fiber", "thread"]),
    ("reactor", &["thread"]),
    ("unwind", &["abi", "code", "thread"]),
    ("il", &["metadata", "types"]),
    ("sampler", &["base", "os", "abi", "sync", "code", "thread", "unwind", "profile"]),
    ("gc", &["abi", "sync", "thread", "unwind"]),
    ("jit", &["abi", "code", "types", "il"]),
    (
        "runtime",
        &["metadata", "contract", "types", "il", "jit", "code", "sched", "reactor", "unwind", "gc", "tools", "sampler"],
    ),
    ("interop", &["runtime"]),
    ("reflect", &["runtime"]),
    ("icall", &["runtime", "interop", "reflect", "loops"]),
    ("corelib", &["icall"]),
    ("hosting", &["corelib", "dotnet"]),
    ("cli", &["hosting"]),
    ("coreclr", &["hosting"]),
    ("monosgen", &["hosting"]),
    ("saki", &["hosting"]),
    ("capi", &["saki"]),
];

/// Outside crate (a prefix of its name) → the crate folders that may name it.
const OUTSIDE: &[(&str, &[&str])] = &[
    ("mmtk", &["gc"]),
    ("cranelift-codegen", &["jit"]),
    ("cranelift-frontend", &["jit"]),
    ("cranelift-assembler-x64", &["code"]),
    ("parking_lot", &["base", "spin"]),
    ("crossbeam-utils", &["base"]),
    ("memmap2", &["metadata"]),
    ("iced-x86", &["code"]),
    ("io-uring", &["reactor"]),
    ("gimli", &["tools"]),
    ("object", &["tools", "sampler"]),
    ("prost", &["profile"]),
    ("flate2", &["profile"]),
    ("highway", &["runtime"]),
    ("miniz_oxide", &["metadata", "dotnet"]),
    ("sha1_smol", &["metadata"]),
    ("serde_json", &["profile", "dotnet"]),
    ("memchr", &["loops"]),
    ("simdutf8", &["loops"]),
    ("encoding_rs", &["loops"]),
    ("base64-simd", &["loops"]),
    ("rustc-demangle", &["sampler"]),
    ("cpp_demangle", &["sampler"]),
    // Raw system calls are for `os`; these others talk to the C library itself (signals' contexts,
    // P/Invoke symbols, errno, memory that managed code frees).
    (
        "libc",
        &[
            "corelib", "os", "dotnet", "gc", "icall", "interop", "loops", "reactor", "reflect", "runtime", "sampler",
            "sync", "thread", "tools", "unwind", "cli", "coreclr", "monosgen", "capi",
        ],
    ),
];

/// Checks the manifests of `crates/*`, that the tables name nothing that is not there, and that only `gc` mentions MMTk
/// in code. Errors: unreadable manifests.
pub fn check(root: &Path, files: &[SourceFile], findings: &mut Findings) -> Result<(), String> {
    let below = closure();
    let folder = root.join("crates");
    let folders = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut missing: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    let mut unused: BTreeSet<(&str, &str)> =
        OUTSIDE.iter().flat_map(|(outside, owners)| owners.iter().map(|owner| (*outside, *owner))).collect();
    for entry in folders {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path().join("Cargo.toml");
        let Some(name) = path.parent().and_then(Path::file_name).and_then(|n| n.to_str()).map(str::to_owned) else {
            continue;
        };
        let Ok(manifest) = fs::read_to_string(&path) else { continue };
        let shown = path.strip_prefix(root).unwrap_or(&path);
        let Some(allowed) = below.get(name.as_str()) else {
            findings.error(shown, 1, format!("crate {name} is not in the table of xtask/src/tidy/dependencies.rs"));
            continue;
        };
        missing.remove(name.as_str());
        for (line, dependency) in dependencies(&manifest) {
            unused.retain(|(outside, owner)| !(*owner == name && dependency.starts_with(outside)));
            let inner = if dependency == "saki" { Some("saki") } else { dependency.strip_prefix("saki-") };
            if let Some(inner) = inner {
                if !allowed.contains(inner) {
                    findings.error(shown, line, format!("{name} must not depend on {inner}"));
                }
            } else if let Some((outside, owners)) = OUTSIDE.iter().find(|(prefix, _)| dependency.starts_with(prefix))
                && !owners.contains(&name.as_str())
            {
                findings.error(shown, line, format!("{outside} is for {} only", owners.join(", ")));
            }
        }
    }
    let this_file = Path::new(file!());
    for name in missing {
        findings.error(this_file, 1, format!("there is no crate {name}"));
    }
    for (outside, owner) in unused {
        findings.error(this_file, 1, format!("{owner} does not use {outside}"));
    }
    for file in files {
        let path = file.path.to_string_lossy();
        if path.starts_with("crates/gc/") || path.starts_with("xtask/") {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            if !line.trim_start().starts_with("//") && line.contains("mmtk::") {
                findings.error(&file.path, index + 1, "only crates/gc names mmtk");
            }
        }
    }
    Ok(())
}

/// The rows of the table of crates: floor, folder, and the crates that it is built on.
pub(super) fn rows() -> Vec<(usize, &'static str, &'static [&'static str])> {
    let mut floors: BTreeMap<&str, usize> = BTreeMap::new();
    let floor_of = |(name, uses): &(&'static str, &'static [&'static str])| {
        let floor = uses.iter().map(|used| floors.get(used).map_or(0, |floor| floor + 1)).max().unwrap_or(0);
        floors.insert(*name, floor);
        (floor, *name, *uses)
    };
    LAYERS.iter().map(floor_of).collect()
}

/// Crate folder → everything below it.
fn closure() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut below: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    // A row only names rows above it in the table, which are complete by then.
    for (name, direct) in LAYERS {
        let mut all = BTreeSet::new();
        for dependency in *direct {
            all.insert(*dependency);
            all.extend(below.get(dependency).into_iter().flatten().copied());
        }
        below.insert(name, all);
    }
    below
}

/// Line number and name of each entry of `[dependencies]` and `[build-dependencies]`, per-target ones included.
fn dependencies(manifest: &str) -> Vec<(usize, String)> {
    entries(manifest, |section| {
        section.ends_with("dependencies") && !section.ends_with("dev-dependencies") && !section.starts_with("workspace")
    })
}

/// Line number and name of each entry of the sections wanted.
pub(super) fn entries(manifest: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            inside = is_wanted(section.trim_end_matches(']'));
            continue;
        }
        if inside && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or("").trim_matches('"');
            if !name.is_empty() {
                found.push((index + 1, name.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_follow_each_other() {
        let floors: Vec<usize> = rows().iter().map(|(floor, ..)| *floor).collect();
        assert!(floors.is_sorted(), "{floors:?}");
    }

    #[test]
    fn the_table_is_ordered_bottom_up() {
        let mut seen = BTreeSet::new();
        for (name, direct) in LAYERS {
            for dependency in *direct {
                assert!(seen.contains(dependency), "{name} lists {dependency} before its row");
            }
            seen.insert(*name);
        }
    }

    #[test]
    fn closure_reaches_the_ground() {
        let below = closure();
        assert!(below["runtime"].contains("base"));
        assert!(below["gc"].contains("os"));
        assert!(!below["types"].contains("il"));
    }

    #[test]
    fn dependency_lines_are_found() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nsaki-base.workspace = true\n# c\nlibc = \"0.2\"\n\
                        [dev-dependencies]\nproptest = \"1\"\n[target.'cfg(unix)'.dependencies]\n\"memmap2\" = \"0.9\"\n";
        let names: Vec<String> = dependencies(manifest).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["saki-base", "libc", "memmap2"]);
    }
}
