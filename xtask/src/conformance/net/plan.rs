//! What is compiled of each suite: its programs and the libraries they refer to.
//!
//! `mini` is a list of programs with many test methods each. `tests` takes the programs that Mono's own makefile names
//! (`Makefile.am`), and `rules.txt` for those that are more than one source. In `mcs` each program's first lines say
//! what its compilation needs.
//! Left out: netmodules, assemblies signed by a key, and other things that the C# compiler's libraries could do but the
//! driver of `tools/net` has no options for; a unit that needs one is `refused` with the reason.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::automake::Variables;

/// One compilation.
#[derive(Clone, Default)]
pub struct Unit {
    /// A program's name in reports; a library's name, with `#VARIANT` where it is compiled in several ways.
    pub name: String,
    pub is_library: bool,
    /// The assembly's simple name, where the unit's does not tell it.
    pub assembly: Option<String>,
    pub sources: Vec<PathBuf>,
    /// Options of `tools/net/csc`.
    pub options: Vec<String>,
    /// The units that it is compiled against.
    pub references: Vec<String>,
    /// The libraries that lie beside it when it runs; with theirs.
    pub beside: Vec<String>,
    /// The exit codes that show success.
    pub exits: Vec<i32>,
    /// Why it is not compiled at all.
    pub refused: Option<&'static str>,
}

impl Unit {
    /// A program of one source file.
    fn program(name: &str, source: PathBuf) -> Unit {
        Unit { name: name.to_owned(), sources: vec![source], exits: vec![0], ..Unit::default() }
    }

    pub fn is_il(&self) -> bool {
        self.sources.first().is_some_and(|source| source.extension().is_some_and(|e| e == "il"))
    }

    /// The simple name of what is compiled.
    pub fn assembly(&self) -> &str {
        let name = self.assembly.as_deref().unwrap_or(&self.name);
        let name = name.rsplit('/').next().unwrap_or(name);
        name.split('#').next().unwrap_or(name)
    }

    fn refer(&mut self, name: &str) {
        self.references.push(name.to_owned());
        self.beside.push(name.to_owned());
    }
}

/// The programs of mono/mini.
const MINI: &str = "aot-tests arrays basic basic-calls basic-float basic-long basic-math basic-simd basic-vectors builtin-types \
                    devirtualization exceptions gc-test generics gshared iltests mixed objects ratests unaligned";

/// The units of mono/mini.
pub fn mini(source: &Path) -> Vec<Unit> {
    let folder = source.join("mono/mini");
    let library = |name: &str, files: &[&str]| Unit {
        name: name.to_owned(),
        is_library: true,
        sources: files.iter().map(|file| folder.join(file)).collect(),
        ..Unit::default()
    };
    let mut units = vec![
        library("TestDriver", &["TestDriver.cs", "TestHelpers.cs"]),
        library("generics-variant-types", &["generics-variant-types.il"]),
        library("MemoryIntrinsics", &["MemoryIntrinsics.il"]),
    ];
    for name in MINI.split_whitespace() {
        let extension = if name == "iltests" { "il" } else { "cs" };
        let mut unit = Unit::program(name, folder.join(format!("{name}.{extension}")));
        unit.refer("TestDriver");
        match name {
            "builtin-types" => unit.options.push("-define:ARCH_64".to_owned()),
            "generics" => unit.refer("generics-variant-types"),
            "unaligned" => unit.refer("MemoryIntrinsics"),
            _ => {}
        }
        units.push(unit);
    }
    units
}

/// The programs and libraries of mono/tests that are not one source each.
const RULES: &str = include_str!("rules.txt");

/// Makefile.am's lists of programs.
const LISTS: [&str; 11] = [
    "TESTS_CS_SRC",
    "TESTS_IL_SRC",
    "TESTS_BENCH_SRC",
    "TESTS_GSHARED_SRC",
    "TESTS_SGEN_REGULAR_SRC",
    "TESTS_STRESS_SRC",
    "TESTS_STRESS_PROCESS_SRC",
    "TESTS_UNHANDLED_EXCEPTION_1_SRC",
    "TESTS_UNHANDLED_EXCEPTION_255_SRC",
    "TEST_TAILCALL_CS_SRC",
    "TEST_TAILCALL_IL_SRC",
];

/// Programs that Makefile.am names in rules of their own.
const MORE: [&str; 5] = [
    "console-output.cs",
    "threadpool-in-processexit.cs",
    "test-multi-netmodule-4-exe.cs",
    "appdomain-loader.cs",
    "modules.cs",
];

/// The units of mono/tests; what scripts generate lies in `generated`.
pub fn tests(source: &Path, generated: &Path) -> Result<Vec<Unit>, String> {
    let folder = source.join("mono/tests");
    let makefile = folder.join("Makefile.am");
    let text = fs::read_to_string(&makefile).map_err(|e| format!("{}: {e}", makefile.display()))?;
    let variables = Variables::read(&text, &["AMD64", "HOST_LINUX", "CSC_IS_ROSLYN"]);
    let mut units: Vec<Unit> =
        RULES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| rule(line, &folder)).collect();
    let mut names: HashSet<String> = units.iter().map(|unit| unit.name.clone()).collect();
    let unhandled: HashSet<String> = ["TESTS_UNHANDLED_EXCEPTION_1_SRC", "TESTS_UNHANDLED_EXCEPTION_255_SRC"]
        .into_iter()
        .flat_map(|list| variables.words(list))
        .collect();
    for file in LISTS.iter().flat_map(|list| variables.words(list)).chain(MORE.map(str::to_owned)) {
        let Some((name, extension)) = file.rsplit_once('.') else { continue };
        if !names.insert(name.to_owned()) {
            continue;
        }
        // Some that are listed as C# are IL.
        let other = if extension == "cs" { "il" } else { "cs" };
        let candidates = [
            generated.join(&file),
            generated.join(format!("{}.{extension}", name.replace('/', "-"))),
            folder.join(&file),
            folder.join(format!("{name}.{other}")),
        ];
        let found = candidates.iter().find(|path| path.exists());
        let mut unit = Unit::program(name, found.unwrap_or(&candidates[2]).clone());
        if unhandled.contains(&file) {
            // .NET aborts where Mono exits with 1, or with 255 from another thread.
            unit.exits = vec![1, 255, super::run::ABORTED];
        } else if name.starts_with("tailcall/coreclr/") {
            // Of CoreCLR's tests, most of which exit with 100.
            unit.exits = vec![0, 100];
        }
        if found.is_none() {
            unit.refused = Some("no source in the package");
        } else if !unit.is_il() {
            unit.refer("TestDriver");
        }
        units.push(unit);
    }
    Ok(units)
}

/// A line of `rules.txt`.
fn rule(line: &str, folder: &Path) -> Option<Unit> {
    let mut words = line.split_whitespace();
    let mut unit = Unit { is_library: words.next()? == "lib", ..Unit::program(words.next()?, PathBuf::new()) };
    unit.sources.clear();
    for word in words {
        match word.split_once(':') {
            Some(("-r", name)) => unit.refer(name),
            Some(("-c", name)) => unit.references.push(name.to_owned()),
            Some(("-b", name)) => unit.beside.push(name.to_owned()),
            Some(("-d", symbol)) => unit.options.push(format!("-define:{symbol}")),
            _ => unit.sources.push(folder.join(word)),
        }
    }
    Some(unit)
}

/// Runs the scripts of mono/tests that write sources. Errors: no folder for them. A script that fails leaves a program
/// without its source.
pub fn generate(source: &Path, generated: &Path) -> Result<(), String> {
    fs::create_dir_all(generated).map_err(|e| format!("{}: {e}", generated.display()))?;
    let folder = source.join("mono/tests");
    for name in ["bigvt", "int", "smallvt"] {
        let script = folder.join(format!("array-coop-{name}.sh"));
        if let Ok(done) = Command::new("sh").arg(&script).arg(&folder).output() {
            let file = generated.join(format!("array-coop-{name}.cs"));
            fs::write(&file, &done.stdout).map_err(|e| format!("{}: {e}", file.display()))?;
        }
    }
    Ok(())
}

/// The libraries of mcs/tests/dlls, with the other libraries that they refer to.
const MCS_LIBRARIES: [(&str, &[&str]); 6] = [
    ("dlls/test-679-2/test-679-lib-2", &[]),
    ("dlls/test-679-1/test-679-lib", &["dlls/test-679-2/test-679-lib-2"]),
    ("dlls/test-939-common", &[]),
    ("dlls/test-939-1/test-939-lib", &[]),
    ("dlls/test-939-1/test-939-ref", &["dlls/test-939-1/test-939-lib"]),
    ("dlls/test-939-2/test-939-lib", &["dlls/test-939-common"]),
];

/// The units of mcs/tests. Errors: the folder cannot be read.
pub fn mcs(source: &Path) -> Result<Vec<Unit>, String> {
    let folder = source.join("mcs/tests");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        files.extend(entry.map_err(|e| e.to_string())?.file_name().into_string());
    }
    files.sort();
    let mut units = Vec::new();
    for (name, references) in MCS_LIBRARIES {
        let mut unit = Unit::program(name, folder.join(format!("{name}.cs")));
        unit.is_library = true;
        references.iter().for_each(|name| unit.refer(name));
        units.push(unit);
    }
    let il_libraries = files.iter().filter(|file| file.ends_with("-lib.il")).map(String::as_str);
    for file in il_libraries.chain(["dlls/test-883.il"]) {
        let mut unit = Unit::program(file.trim_end_matches(".il"), folder.join(file));
        unit.is_library = true;
        units.push(unit);
    }
    let is_program = |file: &str| ["test", "gtest", "dtest"].iter().any(|start| file.starts_with(start));
    for file in files.iter().filter(|file| file.ends_with(".cs") && !file.ends_with("-p2.cs") && is_program(file)) {
        let mut unit = Unit::program(file.trim_end_matches(".cs"), folder.join(file));
        let bytes = fs::read(folder.join(file)).map_err(|e| format!("{file}: {e}"))?;
        // Some are not UTF-8; their first lines are.
        let text = String::from_utf8_lossy(&bytes);
        unit.options.extend(["-pdb".to_owned(), "-define:NET_4_0;NET_4_5".to_owned()]);
        for line in text.lines().take(3) {
            if let Some((_, words)) = line.split_once("Compiler options:") {
                words.split_whitespace().for_each(|word| mcs_option(&mut unit, word, &folder));
            }
        }
        units.push(unit);
    }
    // A reference names a file; what no unit makes is the framework's.
    let by_assembly: HashMap<String, String> = units
        .iter()
        .flat_map(|unit| [(unit.assembly().to_owned(), unit.name.clone()), (unit.name.clone(), unit.name.clone())])
        .collect();
    for unit in &mut units {
        let own = unit.name.clone();
        let known = |name: &String| by_assembly.get(name).filter(|name| **name != own).cloned();
        unit.references = unit.references.iter().filter_map(known).collect();
        unit.beside = unit.references.clone();
    }
    Ok(units)
}

/// Does what an option of mcs means for the unit.
fn mcs_option(unit: &mut Unit, word: &str, folder: &Path) {
    let Some(option) = word.strip_prefix(['-', '/']) else {
        if word.ends_with(".cs") {
            unit.sources.push(folder.join(word));
        }
        return;
    };
    let (option, value) = option.split_once(':').unwrap_or((option, ""));
    let stem = |file: &str| file.trim_end_matches(".dll").trim_end_matches(".exe").to_owned();
    match option.to_lowercase().as_str() {
        "r" | "reference" if value.contains('=') => unit.refused = Some("extern aliases"),
        "r" | "reference" => unit.references.extend(value.split([';', ',']).map(stem)),
        "t" | "target" if value == "library" => unit.is_library = true,
        "t" | "target" if value == "module" => unit.refused = Some("netmodules"),
        "addmodule" => unit.refused = Some("netmodules"),
        "linkresource" => unit.refused = Some("linked resources"),
        "main" | "m" => unit.refused = Some("a choice of Main"),
        "res" | "resource" => {
            unit.options.push(format!("-resource:{}", folder.join(value.trim_end_matches(',')).display()))
        }
        "d" | "define" => unit.options.push(format!("-define:{value}")),
        "checked" | "checked+" => unit.options.push("-checked".to_owned()),
        "out" => unit.assembly = Some(stem(value)),
        // Warnings, documentation, the language's version, keys: they change nothing that the program does.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_refer_to_libraries_of_rules() {
        let units: Vec<Unit> =
            RULES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| rule(line, Path::new(""))).collect();
        let names: HashSet<&str> = units.iter().filter(|unit| unit.is_library).map(|unit| unit.name.as_str()).collect();
        for unit in &units {
            for name in unit.references.iter().chain(&unit.beside) {
                assert!(names.contains(name.as_str()), "{} refers to {name}", unit.name);
            }
        }
    }

    #[test]
    fn options_of_mcs_become_references_sources_and_refusals() {
        let mut unit = Unit::program("a", PathBuf::from("a.cs"));
        for word in "-r:b.dll;System.dll -t:library /d:X -warn:4 c.cs".split(' ') {
            mcs_option(&mut unit, word, Path::new("f"));
        }
        assert_eq!(unit.references, ["b", "System"]);
        assert!(unit.is_library && unit.refused.is_none());
        assert_eq!(unit.sources[1], Path::new("f/c.cs"));
        mcs_option(&mut unit, "-r:x=b.dll", Path::new(""));
        assert_eq!(unit.refused, Some("extern aliases"));
    }
}
