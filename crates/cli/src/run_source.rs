//! `saki run` of C# sources: compiles them and runs the result. `toolchain` says with what.
//!
//! The executable is kept in the cache under a hash of everything it is made from: the sources' texts and names, the
//! compiler's options, and the contents of the compiler and of the assemblies and other files that it reads. Where
//! these files are not known beforehand (`-recurse`, `-pkg`), or the cache is not trusted (`code_cache::trusted`), the
//! executable goes to a temporary folder.
//!
//! The compiler reads a copy of a source that it could not read itself: one from standard input, and one that begins
//! with `#!`. A `#line` in the copy gives messages and stack traces the source's own name and lines. Left out: projects
//! of many folders, packages.

use crate::exit::{self, EXIT_UNUSABLE};
use crate::options::Options;
use crate::toolchain::Toolchain;
use saki_hosting::environment;
use saki_runtime::exec::code_cache::directory::{self, CacheFolder};
use saki_runtime::exec::code_cache::trusted::{self, TrustedFolder};
use saki_runtime::exec::code_cache::{checksum, contents, remembered};
use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Folder of compiled sources in the cache.
const FOLDER: &str = "run";
/// The compiler's default options: line numbers in stack traces, and release code.
const DEFAULT_OPTIONS: [&str; 2] = ["-debug+", "-optimize+"];
/// The source that is read from standard input, and its name in messages.
const STANDARD_INPUT: &str = "-";
const NAME_OF_INPUT: &str = "/dev/stdin";

/// How a source begins that the system starts by its name.
const INTERPRETER_MARK: &[u8] = b"#!";

/// Options of the compiler that hardly any program has: behind the sources they are a mistake.
const UNMISTAKABLE_OPTIONS: [&str; 12] = [
    "-r:",
    "-reference:",
    "-lib:",
    "-pkg:",
    "-define:",
    "-unsafe",
    "-langversion:",
    "-nowarn:",
    "-resource:",
    "-target:",
    "-out:",
    "-main:",
];

/// Projects and what they describe, which neither Saki nor the C# compiler reads.
const PROJECT_EXTENSIONS: [&str; 5] = ["csproj", "fsproj", "vbproj", "sln", "slnx"];

/// Whether `word` names a C# source by its looks.
pub fn is_source(word: &str) -> bool {
    word == STANDARD_INPUT || Path::new(word).extension().is_some_and(|extension| extension == "cs")
}

/// Whether the file begins with `#!`, which no other program of Saki's does.
pub fn is_script(path: &Path) -> bool {
    let mut start = [0; INTERPRETER_MARK.len()];
    // Reading a device or a pipe would take something away.
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *INTERPRETER_MARK
}

/// What to do with a project in place of running it; None: it is none, or is not there.
pub fn about_project(word: &str) -> Option<String> {
    let path = Path::new(word);
    let extension = path.extension()?.to_str()?;
    if !PROJECT_EXTENSIONS.contains(&extension) || !path.is_file() {
        return None;
    }
    let program = path.file_stem()?.display();
    let text = std::fs::read_to_string(path).unwrap_or_default();
    Some(if text.contains("<Project Sdk=") {
        format!(
            "{word}: a project, not a program: make one with 'dotnet build' (<TargetFramework>net472</TargetFramework>), and run it with 'saki bin/Debug/net472/{program}.exe'"
        )
    } else {
        format!(
            "{word}: a project, not a program: make one with 'xbuild {word}' (Debian's package mono-xbuild), and run it with 'saki bin/Debug/{program}.exe'"
        )
    })
}

/// `saki run` of sources.
#[derive(Debug)]
pub struct RunCommand {
    pub options: Options,
    pub compiler_options: Vec<OsString>,
    pub sources: Vec<PathBuf>,
    pub arguments: Vec<String>,
    /// Behind the sources, and perhaps meant for the compiler.
    misplaced: Option<String>,
}

/// The text of a source, and whether the compiler reads a copy of it.
struct Source {
    /// As it was named; the compiler's name for it if it is not copied.
    path: PathBuf,
    text: Vec<u8>,
}

impl Source {
    fn has_interpreter(&self) -> bool {
        self.text.starts_with(INTERPRETER_MARK)
    }

    /// The text that the compiler reads in place of the source's own, if that is not enough.
    fn copy(&self) -> Option<Vec<u8>> {
        if !is_input(&self.path) && !self.has_interpreter() {
            return None;
        }
        // The first line goes, if it is the system's.
        let rest = match self.text.iter().position(|&byte| byte == b'\n') {
            Some(end) if self.has_interpreter() => &self.text[end + 1..],
            None if self.has_interpreter() => &[],
            _ => self.text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.text),
        };
        let first_line = if self.has_interpreter() { 2 } else { 1 };
        let name =
            if is_input(&self.path) { PathBuf::from(NAME_OF_INPUT) } else { std::path::absolute(&self.path).ok()? };
        let name = name.as_os_str().as_bytes();
        // C# has no way to write such a name there; lines are right nevertheless.
        let is_plain = !name.iter().any(|byte| matches!(byte, b'"' | b'\n' | b'\r'));
        let mut copy = format!("#line {first_line}").into_bytes();
        if is_plain {
            copy.extend([b" \"", name, b"\""].concat());
        }
        copy.push(b'\n');
        copy.extend(rest);
        Some(copy)
    }
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
            return Err(format!(
                "{option} is for the compiler alone: what 'saki run' compiles it runs, and keeps in the cache"
            ));
        }
        let mut words = std::mem::take(&mut options.command).into_iter().peekable();
        let mut sources = Vec::new();
        let mut is_script_last = false;
        while !is_script_last && let Some(source) = words.next_if(|word| is_source(word) || is_script(Path::new(word)))
        {
            // Started by its name, it gets all words behind that as they are.
            is_script_last = is_script(Path::new(&source));
            sources.push(PathBuf::from(source));
        }
        // `--` ends the sources, so that the first argument may be a name.cs.
        let is_ended = is_script_last || words.next_if(|word| word == "--").is_some();
        let arguments: Vec<String> = words.collect();
        let is_option = |word: &&String| UNMISTAKABLE_OPTIONS.iter().any(|option| word.starts_with(option));
        let misplaced =
            arguments.iter().take_while(|word| *word != "--").find(is_option).filter(|_| !is_ended).cloned();
        Ok(RunCommand { options, compiler_options, sources, arguments, misplaced })
    }

    /// Reads the sources; `input` is what came by standard input, which can be read once.
    fn read_sources(&self, input: &OnceCell<Vec<u8>>) -> Result<Vec<Source>, String> {
        let read = |path: &PathBuf| {
            let text = if is_input(path) {
                match input.get() {
                    Some(text) => Ok(text.clone()),
                    None => {
                        let mut text = Vec::new();
                        io::stdin().read_to_end(&mut text).map(|_| input.get_or_init(|| text).clone())
                    }
                }
            } else {
                std::fs::read(path)
            };
            let text = text.map_err(|error| format!("{}: {error}", shown(path)))?;
            Ok(Source { path: path.clone(), text })
        };
        self.sources.iter().map(read).collect()
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

    /// Files that the compiler reads because of its options: "-r:file,file", "-r:alias=file", "-resource:file". Any
    /// word of an option that is a file counts, as it is or with ".dll", here or in one of these folders.
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
        self.named_folders().into_iter().chain([framework.to_path_buf()]).collect()
    }

    /// Those of "-lib:".
    fn named_folders(&self) -> Vec<PathBuf> {
        let named = self.compiler_options.iter().filter_map(|option| option.as_bytes().strip_prefix(b"-lib:"));
        let named = named.flat_map(|value| value.split(|&byte| matches!(byte, b',' | b';')));
        let named = named.filter(|folder| !folder.is_empty()).map(|folder| PathBuf::from(OsStr::from_bytes(folder)));
        named.collect()
    }

    /// The file name of the executable, with this ending.
    fn executable_name(&self, extension: &str) -> PathBuf {
        match self.sources.first() {
            Some(source) if !is_input(source) => {
                PathBuf::from(source.file_name().unwrap_or_default()).with_extension(extension)
            }
            _ => PathBuf::from("program").with_extension(extension),
        }
    }

    /// Hash of everything that the executable is made from, as a name.
    fn content_hash(&self, sources: &[Source], toolchain: &Toolchain) -> Result<String, String> {
        let mut all = Vec::new();
        let mut add = |bytes: &[u8]| {
            all.extend(bytes.len().to_le_bytes());
            all.extend(bytes);
        };
        for option in &self.compiler_options {
            add(option.as_bytes());
        }
        for source in sources {
            // Names are in the debug information, and `#line`-less errors.
            add(source.path.as_os_str().as_bytes());
            add(&source.text);
        }
        let named = self.files_named_by_options(&self.library_folders(&toolchain.references));
        for file in toolchain.files().into_iter().chain(named) {
            let id = contents::id_of_file(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            add(file.as_os_str().as_bytes());
            add(id.map(u64::to_le_bytes).as_flattened());
        }
        let [low, high] = checksum::wide_hash(&all);
        Ok(format!("{high:016x}{low:016x}"))
    }

    /// Where the program's assemblies may lie besides its own folder, which is in the cache.
    fn assembly_folders(&self) -> Vec<PathBuf> {
        let libraries = self.named_folders();
        let files = self.sources.iter().cloned().chain(self.files_named_by_options(&libraries));
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
    let toolchain = Toolchain::find(options, environment::dotnet_places).map_err(fail)?;
    let place = (!options.no_cache && command.names_all_files()).then(environment::own_cache).flatten();
    if place.is_some() {
        remembered::remember_in(place.clone(), directory::installed());
    }
    if let Some(option) = &command.misplaced {
        exit::say(&format!(
            "{option} goes to the program: options of the compiler come before the sources ('--' in front of it says that it is the program's)"
        ));
    }
    let input = OnceCell::new();
    let sources = command.read_sources(&input).map_err(fail)?;
    let hash = |sources: &[Source]| command.content_hash(sources, &toolchain);
    let key = hash(&sources).map_err(fail)?;
    let prepared = |executable: PathBuf, temporary| {
        let program = executable.display().to_string();
        let options = Options {
            command: std::iter::once(program).chain(command.arguments.iter().cloned()).collect(),
            assembly_folders: command.assembly_folders(),
            ..options.clone()
        };
        Ok(Prepared { options, temporary })
    };
    let name = command.executable_name(toolchain.extension());
    if let Some(place) = &place {
        if let Some(kept) = find_kept(place, &key, &name) {
            return prepared(kept, None);
        }
        // A source may be saved while the compiler reads it.
        let is_unchanged = || {
            let now = command.read_sources(&input).and_then(|sources| hash(&sources));
            now.is_ok_and(|now| now == key)
        };
        match compile_kept(command, &sources, &toolchain, place, (&key, &is_unchanged)) {
            Ok(kept) => return prepared(kept, None),
            Err(Failure::Compiler(code)) => return Err(code),
            // The cache cannot be used: without one, then.
            Err(Failure::Folder(_)) => {}
        }
    }
    let folder = trusted::temporary_folder("run").map_err(|e| fail(format!("a temporary folder: {e}")))?;
    let outcome = compile(command, &sources, &toolchain, &folder);
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

/// The executable that the cache has under this key, if no other user can have put it there or can exchange it before
/// it is loaded.
fn find_kept(place: &CacheFolder, key: &str, name: &Path) -> Option<PathBuf> {
    let folder = place.open_below(OsStr::new(FOLDER))?.below(OsStr::new(key)).ok()??;
    is_whole(&folder, name).then_some(())?;
    Some(trusted::firm_path(folder.path(), place.trust()).ok()?.join(name))
}

/// Whether the executable exists, and all files beside it, which it may load, are trusted.
fn is_whole(folder: &TrustedFolder, name: &Path) -> bool {
    folder.distrusted(0).is_empty() && matches!(folder.file(name.as_os_str()), Ok(Some(_)))
}

/// Compiles into a folder of this process's own in the cache, which then gets the name of the key, unless that has
/// changed.
fn compile_kept(
    command: &RunCommand,
    sources: &[Source],
    toolchain: &Toolchain,
    place: &CacheFolder,
    (key, is_unchanged): (&str, &dyn Fn() -> bool),
) -> Result<PathBuf, Failure> {
    let unusable = |what: &dyn std::fmt::Display| Failure::Folder(what.to_string());
    let kept = place.make_below(OsStr::new(FOLDER)).map_err(|e| unusable(&e))?;
    let path = trusted::firm_path(kept.path(), place.trust()).map_err(|e| unusable(&e))?;
    let own = OsString::from(format!("{key}.{:016x}", saki_os::random::word().map_err(|e| unusable(&e))?));
    kept.folder().create_folder(&own).map_err(|e| unusable(&e))?;
    let folder = path.join(&own);
    let (key, name) = (OsStr::new(key), command.executable_name(toolchain.extension()));
    let outcome = compile(command, sources, toolchain, &folder).and_then(|()| {
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
fn compile(command: &RunCommand, sources: &[Source], toolchain: &Toolchain, folder: &Path) -> Result<(), Failure> {
    let options = &command.options;
    let mut out = OsString::from("-out:");
    out.push(folder.join(command.executable_name(toolchain.extension())));
    let io = |path: &Path, e: std::io::Error| Failure::Folder(format!("{}: {e}", path.display()));
    let (mut files, mut copies) = (Vec::new(), Vec::new());
    for (index, source) in sources.iter().enumerate() {
        files.push(match source.copy() {
            None => source.path.clone(),
            Some(text) => {
                let path = folder.join(format!("source-{index}.cs"));
                std::fs::write(&path, text).map_err(|e| io(&path, e))?;
                copies.push(path.clone());
                path
            }
        });
    }
    if let Some(configuration) = toolchain.configuration() {
        let path = folder.join(command.executable_name("runtimeconfig.json"));
        std::fs::write(&path, configuration).map_err(|e| io(&path, e))?;
    }
    let mut child = toolchain.command(options).map_err(Failure::Folder)?;
    child.arg("-nologo").args(DEFAULT_OPTIONS).arg(out).args(&command.compiler_options).args(&files);
    // The compiler's messages go to standard error, because standard output belongs to the program.
    // SAFETY: the descriptor stays open; `process_start` opens it where it is closed.
    let stderr = unsafe { BorrowedFd::borrow_raw(libc::STDERR_FILENO) };
    let output =
        child.stdin(Stdio::null()).stdout(stderr.try_clone_to_owned().map_or_else(|_| Stdio::null(), Stdio::from));
    let status = output.status();
    for copy in copies {
        // The compiler has read it; what stays is the folder's.
        let _ = std::fs::remove_file(copy);
    }
    let status = status.map_err(|e| io(Path::new(child.get_program()), e))?;
    match status.code() {
        Some(0) => Ok(()),
        code => Err(Failure::Compiler(code.unwrap_or(EXIT_UNUSABLE))),
    }
}

fn is_input(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// A source's name in messages.
fn shown(path: &Path) -> String {
    if is_input(path) { NAME_OF_INPUT.to_owned() } else { path.display().to_string() }
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

    #[test]
    fn options_behind_the_sources_are_noticed() {
        let misplaced = |words: &[&str]| parse(words, &[]).unwrap().misplaced;
        assert_eq!(misplaced(&["a.cs", "-r:x.dll"]).as_deref(), Some("-r:x.dll"));
        assert_eq!(misplaced(&["a.cs", "one", "-unsafe"]).as_deref(), Some("-unsafe"));
        for words in [&["a.cs", "--", "-r:x.dll"][..], &["a.cs", "-x", "-rest"], &["a.cs", "--", "x"], &["a.cs"]] {
            assert_eq!(misplaced(words), None, "{words:?}");
        }
    }

    #[test]
    fn copies_keep_names_and_lines() {
        let copy = |path: &str, text: &str| {
            let copy = Source { path: path.into(), text: text.as_bytes().to_vec() }.copy();
            copy.map(|copy| String::from_utf8(copy).unwrap())
        };
        assert_eq!(copy("/a/x.cs", "class C {}\n"), None);
        assert_eq!(copy("/a/x", "#!/usr/bin/env saki\nclass C {}\n").unwrap(), "#line 2 \"/a/x\"\nclass C {}\n");
        assert_eq!(copy("/a/x", "#!/usr/bin/env saki").unwrap(), "#line 2 \"/a/x\"\n");
        assert_eq!(copy("/a/\"x\"", "#!s\nclass C {}").unwrap(), "#line 2\nclass C {}");
        assert_eq!(copy("-", "\u{feff}class C {}").unwrap(), "#line 1 \"/dev/stdin\"\nclass C {}");
        assert_eq!(copy("-", "#!s\nclass C {}").unwrap(), "#line 2 \"/dev/stdin\"\nclass C {}");
    }

    #[test]
    fn the_compilers_folders_are_the_programs_too() {
        let folder = std::env::temp_dir().join(format!("saki-run-lib-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("L.dll"), "").unwrap();
        let command = parse(&["/x/p.cs"], &["-r:L", &format!("-lib:{}", folder.display())]).unwrap();
        assert_eq!(command.assembly_folders(), [PathBuf::from("/x"), folder.clone()]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
