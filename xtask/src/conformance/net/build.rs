//! Compiles the units of a suite into `target/conformance-net/SUITE`, all in one process of the C# compiler.
//!
//! A program lies in a folder of its own with its libraries, because .NET takes every assembly of a program's folder
//! for a part of it. Invariant: `plan` beside the units holds what they were made from, and is written last; a suite
//! with another plan is compiled anew, and nothing of an earlier one stays, what .NET did included.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::plan::Unit;
use crate::programs::net::Net;
use crate::programs::net_suite::class_of;

/// What does not compile: its name, with the cause and the compiler's first message.
pub type NotCompiled = BTreeMap<String, (String, String)>;

/// A suite on the disk.
pub struct Build<'a> {
    pub folder: PathBuf,
    net: &'a Net,
    units: HashMap<&'a str, &'a Unit>,
}

impl<'a> Build<'a> {
    pub fn new(folder: PathBuf, net: &'a Net, units: &'a [Unit]) -> Build<'a> {
        Build { folder, net, units: units.iter().map(|unit| (unit.name.as_str(), unit)).collect() }
    }

    /// Where the unit's assembly lies.
    pub fn output(&self, unit: &Unit) -> PathBuf {
        let folder = if unit.is_library { self.folder.join("libs") } else { self.folder.join("programs") };
        folder.join(&unit.name).join(format!("{}.dll", unit.assembly()))
    }

    /// Compiles what is not compiled yet. Errors: files that cannot be written, a compiler that does not start.
    pub fn make(&self) -> Result<NotCompiled, String> {
        let (kept, causes) = (self.folder.join("plan"), self.folder.join("not-compiled.tsv"));
        let waves = self.waves();
        let plan = format!("{}\n{}", self.net.stamps(), waves.concat().join("\n"));
        if fs::read_to_string(&kept).is_ok_and(|old| old == plan) {
            return read_not_compiled(&causes);
        }
        eprintln!("compiling {} units of {}", self.units.len(), self.folder.display());
        // Absent when this is the first time.
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(&self.folder).map_err(|e| format!("{}: {e}", self.folder.display()))?;
        let mut not_compiled = self.assemble()?;
        let mut messages = self.net.run_compiler(&waves, &self.folder)?;
        for unit in self.units.values().filter(|unit| !unit.is_il()) {
            let output = self.output(unit);
            let cause = match (unit.refused, messages.remove(&output)) {
                (Some(reason), _) => Some((format!("needs {reason}"), String::new())),
                (None, None) if output.exists() => None,
                (None, message) => Some(cause_of(&message.unwrap_or_default())),
            };
            if let Some(cause) = cause {
                not_compiled.insert(unit.name.clone(), cause);
            }
        }
        for unit in self.units.values().filter(|unit| !unit.is_library && !not_compiled.contains_key(&unit.name)) {
            self.put_libraries_beside(unit)?;
        }
        let rows: Vec<String> =
            not_compiled.iter().map(|(name, (cause, message))| format!("{name}\t{cause}\t{message}\n")).collect();
        fs::write(&causes, rows.concat()).map_err(|e| format!("{}: {e}", causes.display()))?;
        fs::write(&kept, plan).map_err(|e| format!("{}: {e}", kept.display()))?;
        Ok(not_compiled)
    }

    /// The compiler's lines for units in C#, each after those that it refers to.
    fn waves(&self) -> Vec<Vec<String>> {
        let mut waves: Vec<Vec<String>> = Vec::new();
        let mut names: Vec<&str> = self.units.keys().copied().collect();
        names.sort_unstable();
        for unit in names.iter().map(|name| self.units[name]).filter(|unit| !unit.is_il() && unit.refused.is_none()) {
            let depth = self.depth(unit, &mut Vec::new());
            if waves.len() <= depth {
                waves.resize(depth + 1, Vec::new());
            }
            let mut words: Vec<String> = unit.sources.iter().map(|source| source.display().to_string()).collect();
            words.push(format!("-out:{}", self.output(unit).display()));
            words.extend_from_slice(&unit.options);
            if unit.is_library {
                words.push("-library".to_owned());
            }
            let references = unit.references.iter().filter_map(|name| self.units.get(name.as_str()));
            words.extend(references.map(|unit| format!("-r:{}", self.output(unit).display())));
            waves[depth].push(words.join("\t"));
        }
        waves
    }

    /// The length of the longest chain of references below the unit.
    fn depth(&self, unit: &'a Unit, above: &mut Vec<&'a str>) -> usize {
        if above.contains(&unit.name.as_str()) {
            return 0;
        }
        above.push(&unit.name);
        let references = unit.references.iter().filter_map(|name| self.units.get(name.as_str()));
        let depth = references.map(|below| self.depth(below, above) + 1).max().unwrap_or(0);
        above.pop();
        depth
    }

    /// Assembles the units in IL, which need nothing of the others.
    fn assemble(&self) -> Result<NotCompiled, String> {
        let mut failed = NotCompiled::new();
        for unit in self.units.values().filter(|unit| unit.is_il()) {
            if let Some(reason) = unit.refused {
                failed.insert(unit.name.clone(), (format!("needs {reason}"), String::new()));
                continue;
            }
            let output = self.output(unit);
            make_folder_of(&output)?;
            let done = Command::new("ilasm")
                .args(["/quiet", if unit.is_library { "/dll" } else { "/exe" }])
                .arg(format!("/output:{}", output.display()))
                .args(&unit.sources)
                .stdin(Stdio::null())
                .output()
                .map_err(|e| format!("cannot start ilasm: {e}"))?;
            if !done.status.success() || !output.exists() {
                let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
                let message = text.lines().find(|line| line.contains("rror")).unwrap_or_default().replace('\t', " ");
                failed.insert(unit.name.clone(), ("ilasm refuses it".to_owned(), message));
            } else if !unit.is_library {
                let settings = r#"{"runtimeOptions": {"tfm": "net9.0", "framework": {"name": "Microsoft.NETCore.App", "version": "9.0.0"}}}"#;
                let path = output.with_extension("runtimeconfig.json");
                fs::write(&path, settings).map_err(|e| format!("{}: {e}", path.display()))?;
            }
        }
        Ok(failed)
    }

    /// Links the libraries that the program loads, and those that they load, into its folder.
    fn put_libraries_beside(&self, unit: &Unit) -> Result<(), String> {
        let program = self.output(unit);
        let (mut seen, mut rest) = (HashSet::new(), unit.beside.clone());
        while let Some(name) = rest.pop() {
            let Some(library) = self.units.get(name.as_str()).filter(|_| seen.insert(name.clone())) else { continue };
            rest.extend(library.beside.iter().cloned());
            let from = self.output(library);
            let Some(to) = from.file_name().map(|file| program.with_file_name(file)) else { continue };
            if from.exists() && !to.exists() {
                fs::hard_link(&from, &to).map_err(|e| format!("{}: {e}", to.display()))?;
            }
        }
        Ok(())
    }
}

fn make_folder_of(path: &Path) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))
}

/// The class of what the compiler said, and its first line.
fn cause_of(message: &str) -> (String, String) {
    let first = message.lines().next().unwrap_or_default().replace('\t', " ");
    let class = if message.contains("FileNotFoundException") {
        "its library does not compile"
    } else {
        match class_of(message) {
            "absent-type" => "a type that .NET does not have",
            "absent-member" => "a member that .NET does not have",
            "obsolete" => "what .NET makes an error by attribute",
            "il-library" => "a library in IL for another core assembly",
            _ => "what C# 12 refuses",
        }
    };
    (class.to_owned(), first)
}

fn read_not_compiled(path: &Path) -> Result<NotCompiled, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let rows = text.lines().filter_map(|line| {
        let mut fields = line.splitn(3, '\t').map(str::to_owned);
        Some((fields.next()?, (fields.next()?, fields.next()?)))
    });
    Ok(rows.collect())
}

/// Builds the library that programs of mono/tests call by P/Invoke. Errors: files that cannot be written. Where it does
/// not build, for want of a C compiler or of glib, those programs do not pass on .NET either; a line says so.
pub fn native_library(source: &Path, folder: &Path) -> Result<(), String> {
    let output = folder.join("libtest.so");
    if output.exists() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let config = folder.join("config.h");
    let text = "#define HAVE_UNISTD_H 1\n#define MONO_ZERO_LEN_ARRAY 0\n\
                #define g_assertf(x, ...) do { if (!(x)) abort (); } while (0)\n";
    fs::write(&config, text).map_err(|e| format!("{}: {e}", config.display()))?;
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", "gmodule-2.0"]).output();
    let flags = flags.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default();
    let mono = source.join("mono");
    let built = Command::new("gcc")
        .args(["-shared", "-fPIC", "-O1", "-w"])
        .args([folder, &mono, source].map(|path| format!("-I{}", path.display())))
        .arg(mono.join("tests/libtest.c"))
        .arg("-o")
        .arg(&output)
        .args(flags.split_whitespace())
        .args(["-lm", "-lpthread"])
        .output();
    if !built.is_ok_and(|done| done.status.success()) {
        println!("libtest.so does not build here (gcc, libglib2.0-dev and pkg-config are needed)");
    }
    Ok(())
}
