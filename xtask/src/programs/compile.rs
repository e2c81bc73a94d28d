//! Compiles test programs with `mcs` or `ilasm` into `target/programs`, once per content.
//!
//! Every program has a folder of its own that also holds `stamp`, a hash of everything that went
//! into the compilation. Invariant: the stamp is removed before a compiler runs and written after it
//! succeeded, so an interrupted compilation is never taken for a finished one.
//! A file NAME.lib.cs or NAME.lib.il beside NAME.cs is compiled first, and NAME refers to it.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Program;

/// The two compilers' commands. `mcs` may be several words (`saki /usr/lib/mono/4.5/mcs.exe`).
pub struct Compilers {
    pub mcs: Vec<String>,
    pub ilasm: Vec<String>,
}

/// Options of every C# compilation. `-langversion:7.2` is the newest that mcs knows well; warnings are not wanted
/// from programs that exercise odd corners.
const MCS_OPTIONS: [&str; 4] = ["-nologo", "-warn:0", "-debug-", "-langversion:7.2"];

/// Makes `program` up to date under `output_root`; the path of its `.exe`.
/// Errors: unreadable source, or the compiler's own messages.
pub fn compile(program: &Program, compilers: &Compilers, output_root: &Path) -> Result<PathBuf, String> {
    let directory = output_root.join(&program.name);
    let stem = program.source.file_stem().and_then(|s| s.to_str()).ok_or("source without a name")?;
    let executable = directory.join(format!("{stem}.exe"));
    let stamp_path = directory.join("stamp");

    let library = library_of(program, stem);
    let stamp = stamp(program, library.as_deref())?;
    if executable.exists() && fs::read_to_string(&stamp_path).is_ok_and(|old| old == stamp) {
        return Ok(executable);
    }

    fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    // Absent when this is the first compilation.
    let _ = fs::remove_file(&stamp_path);
    let mut options = program.header.compiler_options.clone();
    if let Some(source) = &library {
        let dll = directory.join(format!("{stem}.lib.dll"));
        let library_options: Vec<String> = options.iter().filter(|o| *o == "-unsafe").cloned().collect();
        build(source, &dll, true, &library_options, compilers)?;
        options.push(format!("-r:{}", dll.display()));
    }
    build(&program.source, &executable, false, &options, compilers)?;
    fs::write(&stamp_path, stamp).map_err(|e| format!("{}: {e}", stamp_path.display()))?;
    Ok(executable)
}

/// The source of the library that the program refers to.
pub fn library_of(program: &Program, stem: &str) -> Option<PathBuf> {
    ["cs", "il"]
        .map(|extension| program.source.with_file_name(format!("{stem}.lib.{extension}")))
        .into_iter()
        .find(|path| path.exists())
}

/// Compiles one file. Errors: the compiler's own messages.
pub fn build(
    source: &Path,
    output: &Path,
    is_library: bool,
    options: &[String],
    compilers: &Compilers,
) -> Result<(), String> {
    let is_il = source.extension().is_some_and(|e| e == "il");
    let words = if is_il { &compilers.ilasm } else { &compilers.mcs };
    let (program, leading) = words.split_first().ok_or("empty compiler command")?;
    let mut command = Command::new(program);
    command.args(leading).stdin(Stdio::null());
    if is_il {
        command.arg("/quiet").arg(if is_library { "/dll" } else { "/exe" });
        command.arg(format!("/output:{}", output.display()));
    } else {
        command.args(MCS_OPTIONS).args(options);
        command.arg(if is_library { "-target:library" } else { "-target:exe" });
        command.arg(format!("-out:{}", output.display()));
    }
    let done = command.arg(source).output().map_err(|e| format!("cannot start {program}: {e}"))?;
    if done.status.success() && output.exists() {
        return Ok(());
    }
    let messages = [done.stdout, done.stderr].concat();
    Err(format!("does not compile ({}):\n{}", done.status, String::from_utf8_lossy(&messages).trim_end()))
}

/// A hash of the sources and options, as hexadecimal digits.
pub fn stamp(program: &Program, library: Option<&Path>) -> Result<String, String> {
    let mut hasher = DefaultHasher::new();
    MCS_OPTIONS.hash(&mut hasher);
    for path in std::iter::once(program.source.as_path()).chain(library) {
        fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}
