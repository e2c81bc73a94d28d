//! `saki cache stat|clear|seed`.

use crate::environment;
use crate::options::Options;
use crate::toolchain::Toolchain;
use saki_base::answer;
use saki_runtime::exec::code_cache::directory::{self, CacheFolder};
use saki_runtime::exec::code_cache::{self, trusted};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Exercises the parts of the class libraries that most programs use.
const SEED_PROGRAM: &str = include_str!("seed.cs");

/// The actions on the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheAction {
    Stat,
    Clear,
    /// For programs on Mono's class libraries.
    Seed,
    /// For programs for .NET.
    SeedNet,
}

/// Runs the action.
///
/// # Errors
/// One line saying what is wrong.
pub fn run(action: CacheAction, framework_root: &Path) -> Result<(), String> {
    let Some(cache) = environment::own_cache() else {
        return Err("there is no cache directory: neither XDG_CACHE_HOME nor HOME is an absolute path".to_owned());
    };
    match action {
        CacheAction::Stat => {
            stat(&cache)?;
            directory::installed().filter(|installed| installed.path() != cache.path()).map_or(Ok(()), |i| stat(&i))
        }
        CacheAction::Clear => {
            let count = cache.clear().map_err(|distrust| distrust.to_string())?;
            answer!("{}: {count} files removed", cache.path().display());
            Ok(())
        }
        CacheAction::Seed => seed(&cache, |folder| run_on_mono(folder, framework_root)),
        CacheAction::SeedNet => seed(&cache, |folder| run_on_net(folder, framework_root)),
    }
}

fn kib(bytes: u64) -> u64 {
    bytes.div_ceil(1024)
}

/// The files by folder: one folder for each build of Saki and set of code options, those of `saki run`, and hashes of
/// files.
fn stat(cache: &CacheFolder) -> Result<(), String> {
    let opened = cache.open().map_err(|distrust| distrust.to_string())?;
    let files = opened.as_ref().map_or_else(Vec::new, |opened| directory::files(opened.folder()));
    let total: u64 = files.iter().map(|file| file.size_bytes).sum();
    answer!("{}: {} files, {} KiB", cache.path().display(), files.len(), kib(total));
    let mut folders: BTreeMap<&OsStr, Vec<&directory::CacheFile>> = BTreeMap::new();
    for file in &files {
        folders.entry(&file.names[0]).or_default().push(file);
    }
    for (folder, mut files) in folders {
        files.sort_by(|a, b| a.names.cmp(&b.names));
        let size: u64 = files.iter().map(|file| file.size_bytes).sum();
        answer!("{}: {} files, {} KiB", folder.display(), files.len(), kib(size));
        let inside = opened.as_ref().and_then(|opened| opened.below(folder).ok()?);
        for file in files {
            let name = file.names.last().map_or(OsStr::new(""), OsString::as_os_str);
            let opened = inside.as_ref().filter(|_| file.names.len() == 2).and_then(|inside| inside.file(name).ok()?);
            match opened.and_then(|file| code_cache::body_count(&file)) {
                Some(bodies) => answer!("  {:>8} KiB {bodies:>6} bodies  {}", kib(file.size_bytes), name.display()),
                None => answer!("  {:>8} KiB                {}", kib(file.size_bytes), name.display()),
            }
        }
    }
    for distrust in cache.distrusted() {
        answer!("not used: {distrust}");
    }
    Ok(())
}

/// Compiles and runs the seed program in a folder of its own: after that the class library's common bodies are in the
/// cache.
fn seed(cache: &CacheFolder, run: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
    let folder = trusted::temporary_folder("seed").map_err(|e| format!("a temporary folder: {e}"))?;
    let source = folder.join(SOURCE);
    let written = std::fs::write(&source, SEED_PROGRAM).map_err(|e| format!("{}: {e}", source.display()));
    let outcome = written.and_then(|()| run(&folder));
    let _ = std::fs::remove_dir_all(&folder);
    outcome?;
    stat(cache)
}

const SOURCE: &str = "seed.cs";

/// Saki itself, with these options.
fn saki(options: &[&OsStr]) -> Result<Command, String> {
    let saki = std::env::current_exe().map_err(|e| format!("the saki command: {e}"))?;
    let mut command = Command::new(saki);
    command.args(options);
    Ok(command)
}

/// Runs to the end, without a word.
fn run_silently(mut command: Command, what: &Path) -> Result<(), String> {
    match command.stdin(Stdio::null()).stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", what.display())),
        Err(e) => Err(format!("{}: {e}", command.get_program().display())),
    }
}

/// Runs the seed program twice, so that the classes that bodies assume to be initialised converge.
fn run_seed(options: &[&OsStr], program: &Path) -> Result<(), String> {
    for arguments in [&["argument"][..], &[]] {
        let mut command = saki(options)?;
        command.arg(program).args(arguments);
        run_silently(command, program)?;
    }
    Ok(())
}

/// Compiles with mcs, on Saki.
fn compile_with_mcs(folder: &Path, framework_root: &Path) -> Result<PathBuf, String> {
    let mcs = crate::toolchain::mono_compiler(framework_root)?;
    let program = folder.join("seed.exe");
    let mut command = saki(&["--framework".as_ref(), framework_root.as_os_str(), mcs.as_os_str()])?;
    command.arg(format!("-out:{}", program.display())).arg(folder.join(SOURCE));
    run_silently(command, &mcs).map(|()| program)
}

/// The C# compiler's bodies are in the cache after this, too.
fn run_on_mono(folder: &Path, framework_root: &Path) -> Result<(), String> {
    let program = compile_with_mcs(folder, framework_root)?;
    run_seed(&["--framework".as_ref(), framework_root.as_os_str()], &program)
}

/// Compiles with the compiler of an installed .NET SDK, or with mcs: what it makes runs on .NET's class libraries,
/// whose mscorlib forwards.
fn run_on_net(folder: &Path, framework_root: &Path) -> Result<(), String> {
    let places = environment::dotnet_places();
    places.root().map_err(|looked| format!("no .NET is found: {looked}"))?;
    let sdk = Toolchain::of_net(&places);
    let program = match &sdk {
        Ok(toolchain) => {
            let program = folder.join("seed.dll");
            let mut command = toolchain.command(&Options::default())?;
            command.args(["-nologo", "-nowarn:CS1701,CS1702,CS8632"]);
            command.arg(format!("-out:{}", program.display())).arg(folder.join(SOURCE));
            run_silently(command, &toolchain.compiler).map(|()| program)
        }
        Err(no_sdk) => compile_with_mcs(folder, framework_root).map_err(|no_mcs| format!("{no_sdk}; {no_mcs}")),
    }?;
    let configuration = program.with_extension("runtimeconfig.json");
    std::fs::write(&configuration, NEWEST_RUNTIME).map_err(|e| format!("{}: {e}", configuration.display()))?;
    run_seed(&["--net".as_ref()], &program)
}

/// Asks for the newest runtime that is installed.
const NEWEST_RUNTIME: &str = r#"{"runtimeOptions": {"tfm": "net9.0", "rollForward": "LatestMajor",
"framework": {"name": "Microsoft.NETCore.App", "version": "9.0.0"}}}"#;
