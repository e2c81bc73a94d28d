//! `saki run [options] file.cs… [arguments]`: compiles C# with mcs.exe on Saki itself and runs the result.
//!
//! Options with two dashes are Saki's, those with one dash the compiler's; sources follow, then the program's arguments. The
//! executable is kept in the cache under a hash of everything it is made from: the sources' texts and names, the
//! compiler's options, the compiler, and the assemblies and other files that the options name. Left out: projects of many
//! folders, packages.

use crate::options::Options;
use saki_runtime::code_cache::{checksum, directory};
use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folder of compiled sources in the cache.
const FOLDER: &str = "run";
/// What the compiler gets unless the command line says otherwise: line numbers in stack traces, and code as for release.
const DEFAULT_OPTIONS: [&str; 2] = ["-debug+", "-optimize+"];

/// The parts of a command line behind `saki run`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RunCommand {
    pub saki_options: Vec<OsString>,
    pub compiler_options: Vec<OsString>,
    pub sources: Vec<PathBuf>,
    pub arguments: Vec<OsString>,
}

impl RunCommand {
    /// # Errors
    /// There is no source file, or an option asks for something else than a program to run.
    pub fn parse(words: impl Iterator<Item = OsString>) -> Result<RunCommand, String> {
        let mut command = RunCommand::default();
        let mut words = words.peekable();
        let is_source = |word: &OsString| Path::new(word).extension().is_some_and(|e| e == "cs");
        while let Some(word) = words.next_if(|word| word.as_bytes().starts_with(b"-") && !is_source(word)) {
            let list = if word.as_bytes().starts_with(b"--") {
                &mut command.saki_options
            } else {
                &mut command.compiler_options
            };
            list.push(word);
        }
        while let Some(source) = words.next_if(is_source) {
            command.sources.push(source.into());
        }
        if command.sources.is_empty() {
            return Err(
                "run: no C# source (name.cs) behind the options; 'saki run -r:System.Xml.dll app.cs ARGUMENTS' \
                        compiles app.cs and runs it"
                    .to_owned(),
            );
        }
        let is_out_of_place = |option: &&OsString| {
            let text = option.to_string_lossy();
            let target = text.strip_prefix("-target:").or_else(|| text.strip_prefix("-t:"));
            text.starts_with("-out:") || target.is_some_and(|kind| !matches!(kind, "exe" | "winexe"))
        };
        if let Some(option) = command.compiler_options.iter().find(is_out_of_place) {
            return Err(format!(
                "run: {} is for mcs.exe: what 'saki run' compiles it runs, and keeps in the cache",
                option.to_string_lossy()
            ));
        }
        // `--` ends the sources, so that the first argument may be a name.cs.
        words.next_if(|word| word == "--");
        command.arguments = words.collect();
        Ok(command)
    }

    /// Files that the compiler reads because of its options: "-r:file,file", "-r:alias=file", "-resource:file".
    fn files_named_by_options(&self) -> Vec<PathBuf> {
        let values = self.compiler_options.iter().filter_map(|option| {
            let text = option.as_bytes();
            let colon = text.iter().position(|&byte| byte == b':')?;
            Some(&text[colon + 1..])
        });
        let files = values.flat_map(|value| value.split(|&byte| matches!(byte, b',' | b';' | b'=')));
        files.map(|file| PathBuf::from(OsStr::from_bytes(file))).filter(|path| path.is_file()).collect()
    }

    /// The file name of the executable.
    fn executable_name(&self) -> PathBuf {
        self.sources
            .first()
            .map_or_else(PathBuf::new, |source| PathBuf::from(source.file_name().unwrap_or_default()))
            .with_extension("exe")
    }

    /// Hash of everything that the executable is made from.
    fn content_hash(&self, compiler: &Path) -> Result<u64, String> {
        let mut hash = 0;
        let mut add = |bytes: &[u8]| hash = checksum::hash(hash, bytes);
        for option in &self.compiler_options {
            add(option.as_bytes());
        }
        for file in self.sources.iter().cloned().chain(self.files_named_by_options()) {
            let text = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            // Names are in the debug information, and `#line`-less errors.
            add(file.as_os_str().as_bytes());
            add(&text);
        }
        let status = std::fs::metadata(compiler).map_err(|e| format!("{}: {e}", compiler.display()))?;
        add(&status.len().to_le_bytes());
        add(&status.mtime().to_le_bytes());
        Ok(hash)
    }

    /// Where the program's assemblies may lie besides its own folder, which is in the cache.
    fn assembly_folders(&self) -> Vec<PathBuf> {
        let files = self.sources.iter().cloned().chain(self.files_named_by_options());
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

/// Compiles the sources unless the cache has their executable.
///
/// # Errors
/// The exit code; what is wrong has been said, by the compiler in its own format.
pub fn prepare(command: &RunCommand) -> Result<Prepared, i32> {
    let fail = |message: String| {
        eprintln!("saki: {message}");
        crate::EXIT_UNUSABLE
    };
    let words = |program: OsString| {
        let options = command.saki_options.iter().cloned();
        [OsString::from("saki")].into_iter().chain(options).chain([program]).chain(command.arguments.iter().cloned())
    };
    let mut options = Options::parse_words(words(OsString::new()));
    let compiler = compiler(&options.framework_root()).map_err(fail)?;
    let kept = (!options.no_cache).then(directory::default_directory).flatten();
    let key = command.content_hash(&compiler).map_err(fail)?;
    let mut temporary = None;
    let folder = match &kept {
        Some(cache) => cache.join(FOLDER).join(format!("{key:016x}")),
        None => std::env::temp_dir().join(format!("saki-run-{}", std::process::id())),
    };
    let mut executable = folder.join(command.executable_name());
    if !executable.is_file() {
        let made = match compile(command, &options, &compiler, &folder) {
            Ok(made) => made,
            Err(Failure::Compiler(code)) => return Err(code),
            // The cache cannot be written: without one, then.
            Err(Failure::Folder(_)) if kept.is_some() => {
                let folder = std::env::temp_dir().join(format!("saki-run-{}", std::process::id()));
                let made = compile(command, &options, &compiler, &folder);
                temporary = Some(folder);
                match made {
                    Ok(made) => made,
                    Err(Failure::Compiler(code)) => return Err(code),
                    Err(Failure::Folder(message)) => return Err(fail(message)),
                }
            }
            Err(Failure::Folder(message)) => return Err(fail(message)),
        };
        executable = made;
        if kept.is_none() {
            temporary = Some(folder);
        } else if let Some(cache) = &kept {
            directory::evict(cache);
        }
    }
    options = Options::parse_words(words(executable.into_os_string()));
    options.assembly_folders = command.assembly_folders();
    Ok(Prepared { options, temporary })
}

enum Failure {
    /// The compiler's exit code; it has said why.
    Compiler(i32),
    /// The folder or the compiler cannot be used.
    Folder(String),
}

/// Compiles into a folder of this process's own, which then becomes `folder`.
fn compile(command: &RunCommand, options: &Options, compiler: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let mut own = folder.as_os_str().to_owned();
    own.push(format!(".{}", std::process::id()));
    let own = PathBuf::from(own);
    let io = |path: &Path, e: std::io::Error| Failure::Folder(format!("{}: {e}", path.display()));
    std::fs::create_dir_all(&own).map_err(|e| io(&own, e))?;
    let executable = own.join(command.executable_name());
    let mut out = OsString::from("-out:");
    out.push(&executable);
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
    // The program's standard output is the program's: what the compiler says goes to standard error.
    let stderr = std::io::stderr();
    let output = child
        .stdin(Stdio::null())
        .stdout(stderr.as_fd().try_clone_to_owned().map_or_else(|_| Stdio::null(), Stdio::from));
    let status = output.status().map_err(|e| io(&saki, e));
    let outcome = status.and_then(|status| match status.code() {
        Some(0) if std::fs::rename(&own, folder).is_ok() || folder.join(command.executable_name()).is_file() => Ok(()),
        Some(0) => Err(Failure::Folder(format!("{}: cannot be made", folder.display()))),
        code => Err(Failure::Compiler(code.unwrap_or(crate::EXIT_UNUSABLE))),
    });
    // Another process was faster, or there is nothing to keep.
    let _ = std::fs::remove_dir_all(&own);
    outcome.map(|()| folder.join(command.executable_name()))
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

    fn parse(words: &[&str]) -> Result<RunCommand, String> {
        RunCommand::parse(words.iter().map(OsString::from))
    }

    #[test]
    fn words_go_where_they_belong() {
        let command = parse(&["--stats", "-unsafe", "-r:a.dll", "x.cs", "y.cs", "one", "-two", "z.cs"]).unwrap();
        assert_eq!(command.saki_options, ["--stats"]);
        assert_eq!(command.compiler_options, ["-unsafe", "-r:a.dll"]);
        assert_eq!(command.sources, [Path::new("x.cs"), Path::new("y.cs")]);
        assert_eq!(command.arguments, ["one", "-two", "z.cs"]);
        assert_eq!(parse(&["x.cs", "--", "y.cs"]).unwrap().arguments, ["y.cs"]);
        assert!(parse(&["-unsafe", "x.exe"]).unwrap_err().contains("no C# source"));
        for option in ["-out:x.exe", "-target:library", "-t:module"] {
            assert!(parse(&[option, "x.cs"]).unwrap_err().contains(option));
        }
        assert!(parse(&["-target:winexe", "x.cs"]).is_ok());
    }
}
