//! `saki cache stat|clear|seed`.

use crate::environment;
use saki_base::answer;
use saki_runtime::exec::code_cache::directory::{self, CacheFolder};
use saki_runtime::exec::code_cache::{self, trusted};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

/// Exercises the parts of mscorlib, System and System.Core that most programs use.
const SEED_PROGRAM: &str = include_str!("seed.cs");

/// The actions on the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheAction {
    Stat,
    Clear,
    Seed,
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
        CacheAction::Seed => seed(&cache, framework_root),
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

/// Compiles the seed program with mcs on Saki itself and runs it: after that the class library's common bodies, and
/// those of the C# compiler, are in the cache.
fn seed(cache: &CacheFolder, framework_root: &Path) -> Result<(), String> {
    let saki = std::env::current_exe().map_err(|e| format!("the saki command: {e}"))?;
    let folder = trusted::temporary_folder("seed").map_err(|e| format!("a temporary folder: {e}"))?;
    let outcome = (|| {
        let (source, program) = (folder.join("seed.cs"), folder.join("seed.exe"));
        std::fs::write(&source, SEED_PROGRAM).map_err(|e| format!("{}: {e}", source.display()))?;
        let mcs = crate::toolchain::mono_compiler(framework_root)?;
        let out = format!("-out:{}", program.display());
        let run = |what: &Path, arguments: &[&std::ffi::OsStr]| {
            let mut command = Command::new(&saki);
            command.arg("--framework").arg(framework_root).arg(what).args(arguments);
            let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
            match status {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(format!("{}: {status}", what.display())),
                Err(e) => Err(format!("{}: {e}", saki.display())),
            }
        };
        run(&mcs, &[out.as_ref(), source.as_ref()])?;
        run(&program, &["argument".as_ref()])?;
        // A second run, so that the classes that bodies assume to be initialised converge.
        run(&program, &[])
    })();
    let _ = std::fs::remove_dir_all(&folder);
    outcome?;
    stat(cache)
}
