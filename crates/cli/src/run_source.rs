//! `saki run` of C# sources: compiles them with mcs.exe on Saki itself and runs the result.
//!
//! The executable is kept in the cache under a hash of everything it is made from: the sources' texts and names, the
//! compiler's options, and the contents of the compiler and of the assemblies and other files that it reads. Where these files are
//! not known beforehand (`-recurse`, `-pkg`), or the cache is not trusted (`code_cache::trusted`), the executable goes to a
//! temporary folder. Left out: projects of many folders, packages.

use crate::exit::{self, EXIT_UNUSABLE};
use crate::options::Options;
use saki_runtime::code_cache::directory::{self, Place};
use saki_runtime::code_cache::trusted::{self, TrustedFolder};
use saki_runtime::code_cache::{checksum, contents, remembered};
use std::ffi::{OsStr, OsString};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folder of compiled sources in the cache.
const FOLDER: &str = "run";
/// The compiler's default options: line numbers in stack traces, and release code.
const DEFAULT_OPTIONS: [&str; 2] = ["-debug+", "-optimize+"];
/// Assemblies that mcs references by default; it compiles their constants into programs.
const DEFAULT_REFERENCES: [&str; 5] =
    ["mscorlib.dll", "System.dll", "System.Xml.dll", "System.Core.dll", "Microsoft.CSharp.dll"];

/// Whether `word` names a C# source file.
pub fn is_source(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "cs")
}

/// `saki run` of sources.
#[derive(Debug)]
pub struct RunCommand {
    pub options: Options,
    pub compiler_options: Vec<OsString>,
    pub sources: Vec<PathBuf>,
    pub arguments: Vec<String>,
}

impl RunCommand {
    /// `options.command` begins with a source.
    ///
    /// # Errors
    /// An option asks for something else than a program to run.
    pub fn new(mut options: Options, compiler_options: Vec<OsString>) -> Result<RunCommand, String> {
        let is_out_of_place = |option: &&OsString| {
            let text = option.to_string_lossy();
            let target = text.strip_prefix("-target:").or_else(|| text.strip_prefix("-t:"));
            text.starts_with("-out:") || target.is_some_and(|kind| !matches!(kind, "exe" | "winexe"))
        };
        if let Some(option) = compiler_options.iter().find(is_out_of_place) {
            let option = option.display();
            return Err(format!("{option} is for mcs.exe: what 'saki run' compiles it runs, and keeps in the cache"));
        }
        let mut words = std::mem::take(&mut options.command).into_iter().peekable();
        let mut sources = Vec::new();
        while let Some(source) = words.next_if(|word| is_source(word)) {
            sources.push(PathBuf::from(source));
        }
        // `--` ends the sources, so that the first argument may be a name.cs.
        words.next_if(|word| word == "--");
        Ok(RunCommand { options, compiler_options, sources, arguments: words.collect() })
    }

    /// Whether the options name all files that the compiler reads: they do not if it searches folders or packages.
    fn names_all_files(&self) -> bool {
        let searches =
            |option: &OsString| [b"-recurse:".as_slice(), b"-pkg:"].iter().any(|o| option.as_bytes().starts_with(o));
        !self.compiler_options.iter().any(searches)
    }

    /// The values of options, after the colon.
    fn option_values(&self) -> impl Iterator<Item = &[u8]> {
        self.compiler_options.iter().filter_map(|option| {
            let text = option.as_bytes();
            let colon = text.iter().position(|&byte| byte == b':')?;
            Some(&text[colon + 1..])
        })
    }

    /// Files that the compiler reads because of its options: "-r:file,file", "-r:alias=file", "-resource:file". Any word of an option
    /// that is a file counts, as it is or with ".dll", here or in one of these folders.
    fn files_named_by_options(&self, folders: &[PathBuf]) -> Vec<PathBuf> {
        let words = self.option_values().flat_map(|value| value.split(|&byte| matches!(byte, b',' | b';' | b'=')));
        let mut found = Vec::new();
        for word in words.filter(|word| !word.is_empty()).map(OsStr::from_bytes) {
            let mut library = word.to_owned();
            library.push(".dll");
            for name in [word, library.as_os_str()] {
                let here = [PathBuf::from(name)].into_iter();
                found.extend(here.chain(folders.iter().map(|folder| folder.join(name))).filter(|path| path.is_file()));
            }
        }
        found
    }

    /// Folders in which the compiler looks for assemblies: "-lib:folder,folder", and the class library's.
    fn library_folders(&self, framework: &Path) -> Vec<PathBuf> {
        let named = self.compiler_options.iter().filter_map(|option| option.as_bytes().strip_prefix(b"-lib:"));
        let named = named.flat_map(|value| value.split(|&byte| matches!(byte, b',' | b';')));
        let named = named.filter(|folder| !folder.is_empty()).map(|folder| PathBuf::from(OsStr::from_bytes(folder)));
        named.chain([framework.to_path_buf()]).collect()
    }

    /// The file name of the executable.
    fn executable_name(&self) -> PathBuf {
        self.sources
            .first()
            .map_or_else(PathBuf::new, |source| PathBuf::from(source.file_name().unwrap_or_default()))
            .with_extension("exe")
    }

    /// Hash of everything that the executable is made from, as a name.
    fn content_hash(&self, compiler: &Path, framework: &Path) -> Result<String, String> {
        let mut all = Vec::new();
        let mut add = |bytes: &[u8]| {
            all.extend(bytes.len().to_le_bytes());
            all.extend(bytes);
        };
        for option in &self.compiler_options {
            add(option.as_bytes());
        }
        for source in &self.sources {
            // Names are in the debug information, and `#line`-less errors.
            add(source.as_os_str().as_bytes());
            add(&std::fs::read(source).map_err(|e| format!("{}: {e}", source.display()))?);
        }
        let libraries = DEFAULT_REFERENCES.iter().map(|name| framework.join(name)).filter(|path| path.is_file());
        let named = self.files_named_by_options(&self.library_folders(framework));
        for file in [compiler.to_path_buf()].into_iter().chain(libraries).chain(named) {
            let id = contents::id_of_file(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            add(file.as_os_str().as_bytes());
            add(id.map(u64::to_le_bytes).as_flattened());
        }
        let [low, high] = checksum::wide_hash(&all);
        Ok(format!("{high:016x}{low:016x}"))
    }

    /// Where the program's assemblies may lie besides its own folder, which is in the cache.
    fn assembly_folders(&self) -> Vec<PathBuf> {
        let files = self.sources.iter().cloned().chain(self.files_named_by_options(&[]));
        let mut folders = Vec::new();
        for file in files {
            let folder = std::path::absolute(&file).ok().and_then(|path| path.parent().map(Path::to_path_buf));
            folders.extend(folder.filter(|folder| !folders.contains(folder)));
        }
        folders
    }
}

/// What to run.
pub struct Prepared {
    pub options: Options,
    /// Removed at exit: there is no cache.
    pub temporary: Option<PathBuf>,
}

/// Compiles the sources, unless the cache has their executable.
///
/// # Errors
/// The exit code; the error has been printed, by the compiler in its own format.
pub fn prepare(command: &RunCommand) -> Result<Prepared, i32> {
    let fail = |message: String| exit::fail(&message);
    let options = &command.options;
    let framework = options.framework_root();
    let compiler = compiler(&framework).map_err(fail)?;
    let place = (!options.no_cache && command.names_all_files()).then(directory::own).flatten();
    if place.is_some() {
        remembered::remember_in(place.clone(), directory::installed());
    }
    let hash = || command.content_hash(&compiler, &framework.join(saki_types::binder::PROFILE));
    let key = hash().map_err(fail)?;
    let prepared = |executable: PathBuf, temporary| {
        let program = executable.display().to_string();
        let options = Options {
            command: std::iter::once(program).chain(command.arguments.iter().cloned()).collect(),
            assembly_folders: command.assembly_folders(),
            ..options.clone()
        };
        Ok(Prepared { options, temporary })
    };
    let name = command.executable_name();
    if let Some(place) = &place {
        if let Some(kept) = find_kept(place, &key, &name) {
            return prepared(kept, None);
        }
        // A source may be saved while the compiler reads it.
        let is_unchanged = || hash().is_ok_and(|now| now == key);
        match compile_kept(command, options, &compiler, place, (&key, &is_unchanged)) {
            Ok(kept) => return prepared(kept, None),
            Err(Failure::Compiler(code)) => return Err(code),
            // The cache cannot be used: without one, then.
            Err(Failure::Folder(_)) => {}
        }
    }
    let folder = trusted::temporary_folder("run").map_err(|e| fail(format!("a temporary folder: {e}")))?;
    let outcome = compile(command, options, &compiler, &folder);
    if outcome.is_err() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    match outcome {
        Ok(()) => prepared(folder.join(name), Some(folder)),
        Err(Failure::Compiler(code)) => Err(code),
        Err(Failure::Folder(message)) => Err(fail(message)),
    }
}

enum Failure {
    /// The compiler's exit code; it has said why.
    Compiler(i32),
    /// The folder or the compiler cannot be used.
    Folder(String),
}

/// The executable that the cache has under this key, if no other user can have put it there or can exchange it before it is loaded.
fn find_kept(place: &Place, key: &str, name: &Path) -> Option<PathBuf> {
    let folder = place.open_below(OsStr::new(FOLDER))?.below(OsStr::new(key)).ok()??;
    is_whole(&folder, name).then_some(())?;
    Some(trusted::firm_path(folder.path(), place.trust()).ok()?.join(name))
}

/// Whether the executable exists, and all files beside it, which it may load, are trusted.
fn is_whole(folder: &TrustedFolder, name: &Path) -> bool {
    folder.distrusted(0).is_empty() && matches!(folder.file(name.as_os_str()), Ok(Some(_)))
}

/// Compiles into a folder of this process's own in the cache, which then gets the name of the key, unless that has changed.
fn compile_kept(
    command: &RunCommand,
    options: &Options,
    compiler: &Path,
    place: &Place,
    (key, is_unchanged): (&str, &dyn Fn() -> bool),
) -> Result<PathBuf, Failure> {
    let unusable = |what: &dyn std::fmt::Display| Failure::Folder(what.to_string());
    let kept = place.make_below(OsStr::new(FOLDER)).map_err(|e| unusable(&e))?;
    let path = trusted::firm_path(kept.path(), place.trust()).map_err(|e| unusable(&e))?;
    let own = OsString::from(format!("{key}.{:016x}", saki_os::random::word().map_err(|e| unusable(&e))?));
    kept.folder().create_folder(&own).map_err(|e| unusable(&e))?;
    let folder = path.join(&own);
    let (key, name) = (OsStr::new(key), command.executable_name());
    let outcome = compile(command, options, compiler, &folder).and_then(|()| {
        make_private(&folder).map_err(|e| unusable(&e))?;
        if !is_unchanged() {
            return Err(unusable(&"a source was changed meanwhile"));
        }
        if !matches!(kept.below(key), Ok(Some(there)) if is_whole(&there, &name)) {
            // An existing folder is damaged, and would be in the way.
            let _ = std::fs::remove_dir_all(path.join(key));
            kept.folder().rename(&own, key).map_err(|e| unusable(&e))?;
        }
        Ok(path.join(key).join(&name))
    });
    // Another process was faster, or the executable cannot be kept.
    let _ = std::fs::remove_dir_all(&folder);
    place.evict();
    outcome
}

/// Removes the group's and others' access to the compiler's files, whatever the process's umask.
fn make_private(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let mode = std::fs::symlink_metadata(&path)?.permissions().mode();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode & 0o700))?;
    }
    Ok(())
}

/// Compiles into an existing folder.
fn compile(command: &RunCommand, options: &Options, compiler: &Path, folder: &Path) -> Result<(), Failure> {
    let mut out = OsString::from("-out:");
    out.push(folder.join(command.executable_name()));
    let io = |path: &Path, e: std::io::Error| Failure::Folder(format!("{}: {e}", path.display()));
    let saki = std::env::current_exe().map_err(|e| io(Path::new("saki"), e))?;
    let mut child = Command::new(&saki);
    child.arg("--framework").arg(&options.framework);
    if options.no_cache {
        child.arg("--no-cache");
    }
    child
        .arg(compiler)
        .arg("-nologo")
        .args(DEFAULT_OPTIONS)
        .arg(out)
        .args(&command.compiler_options)
        .args(&command.sources);
    // The compiler's messages go to standard error, because standard output belongs to the program.
    // SAFETY: the descriptor stays open; `process_start` opens it where it is closed.
    let stderr = unsafe { BorrowedFd::borrow_raw(libc::STDERR_FILENO) };
    let output =
        child.stdin(Stdio::null()).stdout(stderr.try_clone_to_owned().map_or_else(|_| Stdio::null(), Stdio::from));
    let status = output.status().map_err(|e| io(&saki, e))?;
    match status.code() {
        Some(0) => Ok(()),
        code => Err(Failure::Compiler(code.unwrap_or(EXIT_UNUSABLE))),
    }
}

/// The C# compiler among the class libraries.
///
/// # Errors
/// It is not there.
pub fn compiler(framework_root: &Path) -> Result<PathBuf, String> {
    let path = framework_root.join(saki_types::binder::PROFILE).join("mcs.exe");
    if path.is_file() { Ok(path) } else { Err(format!("{}: no such file (the C# compiler)", path.display())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str], compiler_options: &[&str]) -> Result<RunCommand, String> {
        let command = words.iter().map(|&word| word.to_owned()).collect();
        RunCommand::new(
            Options { command, ..Options::default() },
            compiler_options.iter().map(OsString::from).collect(),
        )
    }

    #[test]
    fn words_go_where_they_belong() {
        let command = parse(&["x.cs", "y.cs", "one", "-two", "z.cs"], &["-unsafe"]).unwrap();
        assert_eq!(command.sources, [Path::new("x.cs"), Path::new("y.cs")]);
        assert_eq!(command.arguments, ["one", "-two", "z.cs"]);
        assert_eq!(parse(&["x.cs", "--", "y.cs"], &[]).unwrap().arguments, ["y.cs"]);
        for option in ["-out:x.exe", "-target:library", "-t:module"] {
            assert!(parse(&["x.cs"], &[option]).unwrap_err().contains(option));
        }
        assert!(parse(&["x.cs"], &["-target:winexe"]).is_ok());
    }
}
