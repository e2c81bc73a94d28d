//! `cargo xtask contract [DIR]...`: compares class libraries with what Saki relies on in them (crate `contract`).
//!
//! Compared are, for each assembly in DIR/4.5, internal calls with their signatures, and the fields, layouts and
//! methods that the contract names; each P/Invoke into Mono's own native libraries with the functions that these
//! define; and the symbols that they take from the program with those that Saki exports. The libraries beside DIR count
//! (DIR/../libmono-native.so). Invariant: what the contract does not say is a difference, also where it would do no
//! harm. Left out: P/Invokes into other libraries; the configuration's `<dllmap>`, whose names for Mono's libraries
//! stand here.

use crate::elf::{DynamicSymbols, dynamic_symbols};
use crate::tool::Outcome;
use saki_contract::{
    Contract, ContractLine, LineKind, Version, claimed_version, compare, core_lib_major, declared_calls, find_type,
    layout_text, members_named, nearest, release_of,
};
use saki_metadata::{Image, TableId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Options {
    /// Directories of class libraries, with 4.5/mscorlib.dll below, or System.Private.CoreLib.dll in them (default:
    /// /usr/lib/mono, those of other releases' chroots below target/debian, and .NET 9 and 10 below target/net).
    #[arg(value_name = "FRAMEWORK-DIR")]
    frameworks: Vec<PathBuf>,
    /// Print the lines for members, as the contract would have them: ASSEMBLY:TYPE::NAME; ASSEMBLY:TYPE for a layout.
    #[arg(long, value_name = "MEMBER")]
    show: Vec<String>,
    /// Print the lines for all internal calls of the core assemblies of .NET in these directories, as the contract
    /// would have them.
    #[arg(long)]
    calls: bool,
}

/// Where the class libraries lie that are installed.
const INSTALLED: &str = "/usr/lib/mono";

/// Mono's own native libraries: the names in P/Invokes, and the file.
const NATIVE_LIBRARIES: [(&[&str], &str); 4] = [
    (&["System.Native", "System.Net.Security.Native", "mono-native"], "libmono-native.so"),
    (&["MonoPosixHelper", "libMonoPosixHelper", "libMonoPosixHelper.so"], "libMonoPosixHelper.so"),
    (&["libmono-btls-shared", "mono-btls-shared"], "libmono-btls-shared.so"),
    (&["MonoSupportW", "libMonoSupportW"], "libMonoSupportW.so"),
];

/// What P/Invokes name that mean the program itself.
const PROGRAM: &str = "__Internal";

/// Compares each directory. Errors: no class libraries there, or files that cannot be read.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let contract = Contract::own();
    let mut frameworks = options.frameworks.clone();
    if frameworks.is_empty() {
        frameworks = present(root);
    }
    if !options.show.is_empty() {
        frameworks
            .iter()
            .try_for_each(|framework| options.show.iter().try_for_each(|member| show(framework, member)))?;
        return Ok(true);
    }
    if options.calls {
        return print_calls(&frameworks).map(|()| true);
    }
    let mut passed = 0;
    for framework in &frameworks {
        let is_net = framework.join(CORE_LIBRARY).is_file();
        let is_met = if is_net { check_net(framework, &contract)? } else { check(framework, &contract)? };
        passed += usize::from(is_met);
    }
    println!("contract: {passed} passed, {} failed", frameworks.len() - passed);
    Ok(passed == frameworks.len())
}

/// The class libraries that are on this machine: the installed ones, those in chroots of other releases, and those of
/// .NET that `tools/net/setup` has fetched, as far as they are served.
fn present(root: &Path) -> Vec<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let chroots = std::fs::read_dir(target.join("debian")).into_iter().flatten().flatten();
    let in_chroots = chroots.map(|entry| entry.path().join("root/usr/lib/mono"));
    let mut found: Vec<PathBuf> = in_chroots.filter(|path| path.join("4.5/mscorlib.dll").is_file()).collect();
    found.sort();
    found.insert(0, PathBuf::from(INSTALLED));
    for version in ["9", "10"] {
        let root = target.join("net").join(version);
        if let Ok(release) = std::fs::read_to_string(root.join("version")) {
            found.push(root.join("shared/Microsoft.NETCore.App").join(release.trim()));
        }
    }
    found
}

/// The core assembly in a folder of .NET's class libraries.
const CORE_LIBRARY: &str = "System.Private.CoreLib.dll";

/// The version of .NET of a core assembly.
fn net_version(image: &Image, path: &Path) -> Result<Version, String> {
    let major = core_lib_major(image).ok_or_else(|| format!("{}: no core assembly of .NET", path.display()))?;
    let nearest = Version::NET.into_iter().min_by_key(|version| version.core_lib_major().unwrap_or(0).abs_diff(major));
    nearest.ok_or_else(|| "no version of .NET is known".to_owned())
}

/// Compares the core assembly of .NET in a folder; one of another version with the nearest.
fn check_net(framework: &Path, contract: &Contract) -> Outcome {
    let path = framework.join(CORE_LIBRARY);
    let image = open(&path)?;
    let version = net_version(&image, &path)?;
    let release = core_lib_major(&image).unwrap_or(0);
    println!("{}: .NET {release}, compared with {}", framework.display(), version.name());
    let section = contract.section("System.Private.CoreLib");
    let differences = compare(&image, section, version).map_err(|e| e.to_string())?;
    differences.iter().for_each(|difference| println!("  {difference}"));
    let count = |begin: &str| differences.iter().filter(|difference| difference.to_string().starts_with(begin)).count();
    let (new, gone) = (count("new: "), count("gone: "));
    println!("  {} differences: {new} new, {gone} gone, {} changed", differences.len(), differences.len() - new - gone);
    Ok(differences.is_empty())
}

fn print_calls(frameworks: &[PathBuf]) -> Result<(), String> {
    let mut versions: BTreeMap<String, Vec<Version>> = BTreeMap::new();
    for framework in frameworks {
        let path = framework.join(CORE_LIBRARY);
        let image = open(&path)?;
        let version = net_version(&image, &path)?;
        for call in declared_calls(&image).map_err(|e| e.to_string())? {
            versions.entry(call).or_default().push(version);
        }
    }
    for (call, of) in versions {
        let mark = if of.len() == Version::NET.len() { "net" } else { of[0].name() };
        println!("@{mark} call {call}");
    }
    Ok(())
}

fn open(path: &Path) -> Result<Image, String> {
    Image::open(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The assemblies of the framework, by name.
fn assemblies(framework: &Path) -> Result<BTreeMap<String, PathBuf>, String> {
    let folder = framework.join("4.5");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "dll")
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            found.insert(name.to_owned(), path);
        }
    }
    Ok(found)
}

fn show(framework: &Path, wanted: &str) -> Result<(), String> {
    let (assembly, member) = wanted.split_once(':').ok_or_else(|| format!("{wanted}: wants ASSEMBLY:TYPE::NAME"))?;
    let image = open(&framework.join("4.5").join(format!("{assembly}.dll")))?;
    let (owner, name) = member.split_once("::").unwrap_or((member, ""));
    let type_rid = find_type(&image, owner).ok_or_else(|| format!("{assembly} has no type {owner}"))?;
    let bad = |e: saki_metadata::BadImage| e.to_string();
    if name.is_empty() {
        println!("{} {}", LineKind::Layout.name(), layout_text(&image, type_rid).map_err(bad)?);
        return Ok(());
    }
    for (kind, are_fields) in [(LineKind::Field, true), (LineKind::Method, false)] {
        for text in members_named(&image, type_rid, name, are_fields).map_err(bad)? {
            println!("{} {text}", kind.name());
        }
    }
    Ok(())
}

fn check(framework: &Path, contract: &Contract) -> Outcome {
    let corlib_path = framework.join("4.5/mscorlib.dll");
    let corlib = open(&corlib_path)?;
    let bad = |e: saki_metadata::BadImage| e.to_string();
    let release = release_of(&corlib).unwrap_or_else(|| "of an unknown release".to_owned());
    let version = match claimed_version(&corlib) {
        Some(version) => version,
        None => nearest(&corlib, contract.section("mscorlib")).map_err(bad)?.0,
    };
    println!("{}: Mono {release}, compared with {}", framework.display(), version.name());

    let mut differences = Vec::new();
    let mut not_there: BTreeSet<&str> = contract.sections.iter().map(|section| section.assembly).collect();
    not_there.remove("native");
    not_there.remove("System.Private.CoreLib");
    let mut imports = BTreeMap::new();
    for (name, path) in assemblies(framework)? {
        // Libraries that are no assemblies, or damaged ones, are none of the contract's.
        let Ok(image) = Image::open(&path) else { continue };
        not_there.remove(name.as_str());
        let found = compare(&image, contract.section(&name), version).map_err(bad)?;
        differences.extend(found.iter().map(|difference| format!("{name}: {difference}")));
        collect_imports(&image, &name, &mut imports).map_err(bad)?;
    }
    let native: Vec<ContractLine> =
        contract.section("native").iter().copied().filter(|line| line.holds_for(version)).collect();
    differences.extend(native_differences(framework, &native, &imports)?);
    for difference in &differences {
        println!("  {difference}");
    }
    // Packages of their own, which need not be installed.
    for name in not_there {
        println!("  not there: {name}");
    }
    Ok(differences.is_empty())
}

/// A P/Invoke: the library's name and the function's, and whether the name is exact (ExactSpelling).
type Import = (String, String, bool);

/// Adds the P/Invokes of an assembly, each with the name of one that has it.
fn collect_imports(
    image: &Image,
    assembly: &str,
    imports: &mut BTreeMap<Import, String>,
) -> Result<(), saki_metadata::BadImage> {
    const EXACT: u16 = 1;
    for rid in 1..=image.row_count(TableId::ImplMap) {
        let row = image.impl_map_row(rid)?;
        let library = image.string(image.module_ref(row.import_scope)?.name)?.to_owned();
        let function = image.string(row.import_name)?.to_owned();
        imports.entry((library, function, row.mapping_flags & EXACT != 0)).or_insert_with(|| assembly.to_owned());
    }
    Ok(())
}

fn native_differences(
    framework: &Path,
    lines: &[ContractLine],
    imports: &BTreeMap<Import, String>,
) -> Result<Vec<String>, String> {
    let listed = |kind: LineKind| lines.iter().filter(move |line| line.kind == kind).map(|line| line.text);
    let exported: BTreeSet<&str> = listed(LineKind::Export).collect();
    let is_absent = |text: &str| listed(LineKind::Absent).any(|listed| listed == text);
    let mut differences = Vec::new();
    let mut taken = BTreeSet::new();
    for (names, file) in NATIVE_LIBRARIES {
        let path = framework.join("..").join(file);
        if !path.exists() {
            println!("  not there: {file}");
            continue;
        }
        let DynamicSymbols { defined, undefined } = dynamic_symbols(&path)?;
        taken.extend(undefined.into_iter().filter(|name| name.starts_with("mono_")));
        for ((library, function, is_exact), assembly) in
            imports.iter().filter(|((l, ..), _)| names.contains(&l.as_str()))
        {
            let is_there = defined.contains(function)
                || !is_exact && ["A", "W"].iter().any(|suffix| defined.contains(&format!("{function}{suffix}")));
            let text = format!("{library} {function}");
            if !is_there && !is_absent(&text) {
                differences.push(format!("{assembly}: new: absent {text}"));
            }
        }
    }
    for ((library, function, _), assembly) in imports.iter().filter(|((l, ..), _)| l == PROGRAM) {
        let text = format!("{library} {function}");
        if !exported.contains(function.as_str()) && !is_absent(&text) {
            differences.push(format!("{assembly}: new: absent {text}"));
        }
    }
    let new = taken.iter().filter(|name| !exported.contains(name.as_str()));
    differences.extend(new.map(|name| format!("native: new: export {name}")));
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What continuous integration notices when a class library changes.
    #[test]
    fn the_class_libraries_of_this_machine_are_as_the_contract_says() {
        let options = Options { frameworks: Vec::new(), show: Vec::new(), calls: false };
        assert_eq!(
            run(&crate::tool::repository_root(), &options),
            Ok(true),
            "`cargo xtask contract` says what differs"
        );
    }

    #[test]
    fn a_contract_of_something_else_is_not_met() {
        let text = "[mscorlib]\ncall static System.GC::Nothing() System.Void\nfield System.String::chars System.Char\n";
        let contract = Contract::parse(text).expect("a contract");
        assert_eq!(check(Path::new(INSTALLED), &contract), Ok(false));
    }
}
