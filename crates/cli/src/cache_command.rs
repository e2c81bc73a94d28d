//! `saki cache stat|clear|seed`.

use saki_runtime::code_cache::{self, directory};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Exercises what most programs use of mscorlib, System and System.Core.
const SEED_PROGRAM: &str = include_str!("seed.cs");

/// What to do with the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheAction {
    Stat,
    Clear,
    Seed,
}

impl CacheAction {
    pub fn parse(word: &str) -> Option<CacheAction> {
        match word {
            "stat" => Some(CacheAction::Stat),
            "clear" => Some(CacheAction::Clear),
            "seed" => Some(CacheAction::Seed),
            _ => None,
        }
    }
}

/// Does it.
///
/// # Errors
/// One line saying what is wrong.
pub fn run(action: CacheAction, framework_root: &Path) -> Result<(), String> {
    let Some(cache) = directory::default_directory() else {
        return Err("there is no cache directory: neither XDG_CACHE_HOME nor HOME is an absolute path".to_owned());
    };
    match action {
        CacheAction::Stat => {
            stat(&cache);
            directory::installed_directory().filter(|installed| *installed != cache).iter().for_each(|i| stat(i));
            Ok(())
        }
        CacheAction::Clear => {
            let count = directory::clear(&cache).map_err(|e| format!("{}: {e}", cache.display()))?;
            println!("{}: {count} files removed", cache.display());
            Ok(())
        }
        CacheAction::Seed => seed(&cache, framework_root),
    }
}

fn kib(bytes: u64) -> u64 {
    bytes.div_ceil(1024)
}

/// The files by folder: one folder for each build of Saki and set of code options, and those of `saki run`.
fn stat(cache: &Path) {
    let files = directory::files(cache);
    let total: u64 = files.iter().map(|file| file.size_bytes).sum();
    println!("{}: {} files, {} KiB", cache.display(), files.len(), kib(total));
    let mut folders: BTreeMap<&Path, Vec<&directory::CacheFile>> = BTreeMap::new();
    for file in &files {
        let below = file.path.strip_prefix(cache).unwrap_or(&file.path);
        let folder = below.iter().next().map_or(below, Path::new);
        folders.entry(folder).or_default().push(file);
    }
    for (folder, mut files) in folders {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let size: u64 = files.iter().map(|file| file.size_bytes).sum();
        println!("{}: {} files, {} KiB", folder.display(), files.len(), kib(size));
        for file in files {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            match code_cache::body_count(&file.path) {
                Some(bodies) => println!("  {:>8} KiB {bodies:>6} bodies  {name}", kib(file.size_bytes)),
                None => println!("  {:>8} KiB                {name}", kib(file.size_bytes)),
            }
        }
    }
}

/// Compiles the seed program with mcs on Saki itself and runs it: after that the class library's common bodies, and those
/// of the C# compiler, are in the cache.
fn seed(cache: &Path, framework_root: &Path) -> Result<(), String> {
    let saki = std::env::current_exe().map_err(|e| format!("the saki command: {e}"))?;
    let folder = std::env::temp_dir().join(format!("saki-seed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let outcome = (|| {
        let (source, program) = (folder.join("seed.cs"), folder.join("seed.exe"));
        std::fs::write(&source, SEED_PROGRAM).map_err(|e| format!("{}: {e}", source.display()))?;
        let mcs = crate::run_source::compiler(framework_root)?;
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
        // Once more: what takes classes for initialised settles.
        run(&program, &[])
    })();
    let _ = std::fs::remove_dir_all(&folder);
    outcome?;
    stat(cache);
    Ok(())
}
