//! Programs for .NET that are not simply an assembly with its descriptions: executables that `dotnet build` and `dotnet
//! publish` make, as a single file or beside the program's assembly, and programs that bring their runtime along.
//!
//! Saki runs them on an installed runtime of the same major version. What a single file has in it, but for the runtime,
//! is written to a folder of the user's cache; so are descriptions that ask for an installed runtime. Where no such
//! runtime is installed, .NET's host says so, as for every program.
//!
//! Invariant: a folder's name says what it was made from, so that another version of a program gets another folder.
//! Left out: the program's own copy of the runtime, which is not used.

use crate::cached_files;
use crate::info::{self, Libraries};
use saki_dotnet::HostOptions;
use saki_dotnet::apphost::{self, Apphost, ApphostError, FileList};
use saki_dotnet::brought_runtime;
use saki_runtime::exec::code_cache::checksum;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Folder of the programs in the cache.
const FOLDER: &str = "programs";
/// Changes when what is written for a program changes.
const FORM: u64 = 1;

const CONFIGURATION: &str = "runtimeconfig.json";
const DEPENDENCIES: &str = "deps.json";

/// The program that an executable of .NET's starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetProgram {
    pub assembly: PathBuf,
    /// The executable, without symbolic links.
    pub executable: PathBuf,
    /// Of a single file: what the program sees in place of its assembly.
    pub shown: Option<Shown>,
}

/// How a single file appears to its program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The executable, the first word of `Environment.GetCommandLineArgs`.
    pub executable: PathBuf,
    /// `AppContext.BaseDirectory`; None if it is the assembly's folder.
    pub base_folder: Option<PathBuf>,
}

/// The program that an executable of .NET's starts; None if the file is something else, or not there.
///
/// # Errors
/// One line: the executable is damaged, there is no program for it, or no place for its files.
pub fn open(path: &Path) -> Result<Option<NetProgram>, String> {
    let Ok(file) = File::open(path) else { return Ok(None) };
    let program = match apphost::read(&file) {
        Ok(None) | Err(ApphostError::Io(_)) => return Ok(None),
        Ok(Some(Apphost::Beside)) => beside(path)?,
        Ok(Some(Apphost::SingleFile(list))) => {
            unpack(path, &file, &list).map_err(|text| format!("{}: {text}", path.display()))?
        }
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    info::check_program(&program.assembly, Some(Libraries::Net))?;
    Ok(Some(program))
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The assembly of the executable's name.
fn beside(path: &Path) -> Result<NetProgram, String> {
    let mut assembly = path.as_os_str().to_owned();
    assembly.push(".dll");
    let assembly = PathBuf::from(assembly);
    if !assembly.is_file() {
        return Err(format!("{}: it starts {}, which is not there", path.display(), assembly.display()));
    }
    Ok(NetProgram { assembly, executable: real(path), shown: None })
}

/// Writes what is missing of a single file's program.
fn unpack(path: &Path, file: &File, list: &FileList) -> Result<NetProgram, String> {
    let packed = |suffix: &str| list.files.iter().find(|file| file.path.ends_with(suffix));
    let contents = |suffix| packed(suffix).map(|file_in_it| file_in_it.contents(file)).transpose();
    let damaged = |e: ApphostError| e.to_string();
    let Some(name) = packed(CONFIGURATION).and_then(|file| file.path.strip_suffix(CONFIGURATION)) else {
        return Err(format!("a single file of .NET without {CONFIGURATION}"));
    };
    let configuration = contents(CONFIGURATION).map_err(damaged)?.unwrap_or_default();
    let dependencies = contents(DEPENDENCIES).map_err(damaged)?;
    let described = Described::new(&configuration, dependencies.as_deref())?;
    let folder = place_of(file, list).map_err(|e| e.to_string())?;
    let unusable = |e: io::Error| format!("{}: {e}", folder.display());
    let runtime_files = described.as_ref().map(|described| &described.runtime_files);
    for packed in &list.files {
        let is_description = packed.path.ends_with(CONFIGURATION) || packed.path.ends_with(DEPENDENCIES);
        let is_of_runtime = runtime_files.is_some_and(|files| files.contains(&packed.path));
        let place = folder.join(&packed.path);
        let is_there = || place.metadata().is_ok_and(|there| there.is_file() && there.len() == packed.size);
        if is_of_runtime || is_description || is_there() {
            continue;
        }
        let contents = packed.contents(file).map_err(damaged)?;
        cached_files::put_contents(&place, &contents).map_err(unusable)?;
    }
    lead_to_symbols(path, &folder).map_err(unusable)?;
    let (configuration, dependencies) = match described {
        Some(described) => (described.configuration, described.dependencies),
        None => (configuration, dependencies),
    };
    let mut descriptions = vec![(CONFIGURATION, configuration)];
    descriptions.extend(dependencies.map(|text| (DEPENDENCIES, text)));
    for (suffix, text) in descriptions {
        cached_files::put_contents(&folder.join(format!("{name}{suffix}")), &text).map_err(unusable)?;
    }
    let executable = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let base_folder = executable.parent().filter(|_| !list.extracts_all).map(Path::to_path_buf);
    Ok(NetProgram {
        assembly: folder.join(format!("{name}dll")),
        executable: real(path),
        shown: Some(Shown { executable, base_folder }),
    })
}

/// `dotnet publish` leaves the symbols of a single file's assemblies beside it, where they may change by themselves:
/// puts links to them beside the assemblies.
fn lead_to_symbols(path: &Path, folder: &Path) -> io::Result<()> {
    let path = real(path);
    let Some(Ok(entries)) = path.parent().map(std::fs::read_dir) else { return Ok(()) };
    for symbols in entries.flatten().map(|entry| entry.path()).filter(|file| has_extension(file, "pdb")) {
        let Some(name) = symbols.file_name() else { continue };
        let link = folder.join(name);
        let is_led = std::fs::read_link(&link).is_ok_and(|target| target == symbols);
        if has_assembly(&link) && !is_led {
            cached_files::put(&link, |temporary| symlink(&symbols, temporary))?;
        }
    }
    Ok(())
}

fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|own| own == extension)
}

/// Whether there is an assembly for these symbols.
fn has_assembly(symbols: &Path) -> bool {
    symbols.with_extension("dll").is_file()
}

/// The folder for a single file, by its name, its list and its time.
fn place_of(file: &File, list: &FileList) -> Result<PathBuf, String> {
    let status = file.metadata().map_err(|e| e.to_string())?;
    let made_from = format!("{list:?} {} {} {}", status.len(), status.mtime(), status.mtime_nsec());
    place_for(made_from.as_bytes())
}

fn place_for(made_from: &[u8]) -> Result<PathBuf, String> {
    let [high, low] = checksum::wide_hash(made_from);
    Ok(cached_files::folder(FOLDER)?.join(format!("{FORM}-{high:016x}{low:016x}")))
}

/// Descriptions that ask for an installed runtime.
struct Described {
    configuration: Vec<u8>,
    dependencies: Option<Vec<u8>>,
    runtime_files: BTreeSet<String>,
}

impl Described {
    /// None if the program does not bring its runtime along.
    fn new(configuration: &[u8], dependencies: Option<&[u8]>) -> Result<Option<Described>, String> {
        let named = |name: &str| {
            let name = name.to_owned();
            move |e: brought_runtime::DescriptionError| format!("{name}: {e}")
        };
        let changed = brought_runtime::configuration(configuration).map_err(named(CONFIGURATION))?;
        let Some(configuration) = changed else { return Ok(None) };
        let changed = dependencies.map(brought_runtime::dependencies).transpose().map_err(named(DEPENDENCIES))?;
        let (dependencies, runtime_files) = match changed.flatten() {
            Some(changed) => (Some(changed.text), changed.runtime_files),
            None => (dependencies.map(<[u8]>::to_vec), BTreeSet::new()),
        };
        Ok(Some(Described { configuration, dependencies, runtime_files }))
    }
}

/// For a program that brings its runtime along in its folder: what .NET's host is to be asked, and the folder, which it
/// takes for that of the changed descriptions. None for all others.
///
/// # Errors
/// One line: a description is damaged, or there is no place for the changed ones.
pub fn on_installed_runtime(assembly: &Path) -> Result<Option<(HostOptions, PathBuf)>, String> {
    let Ok(configuration) = std::fs::read(assembly.with_extension(CONFIGURATION)) else { return Ok(None) };
    let dependencies = std::fs::read(assembly.with_extension(DEPENDENCIES)).ok();
    // What is wrong with the descriptions of all other programs, .NET's host says.
    if !String::from_utf8_lossy(&configuration).contains("includedFrameworks") {
        return Ok(None);
    }
    let Some(described) = Described::new(&configuration, dependencies.as_deref())? else { return Ok(None) };
    let name = assembly.file_stem().unwrap_or(OsStr::new("app"));
    let made_from = [name.as_bytes(), &described.configuration, described.dependencies.as_deref().unwrap_or(&[])];
    let folder = place_for(&made_from.concat())?;
    let mut options = HostOptions::default();
    let texts = [
        ("--runtimeconfig", CONFIGURATION, Some(described.configuration)),
        ("--depsfile", DEPENDENCIES, described.dependencies),
    ];
    for (option, suffix, text) in texts {
        let Some(text) = text else { continue };
        let place = folder.join(name).with_added_extension(suffix);
        cached_files::put_contents(&place, &text).map_err(|e| format!("{}: {e}", place.display()))?;
        options.add(option, &place.display().to_string());
    }
    let assembly = std::path::absolute(assembly).unwrap_or_else(|_| assembly.to_path_buf());
    Ok(Some((options, assembly.parent().unwrap_or(&assembly).to_path_buf())))
}
