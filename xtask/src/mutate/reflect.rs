//! Asking reflection about mutants: one run of `reflect.cs` takes many, and goes on behind one that ends it.
//!
//! Attributes are made as objects, so the mutants' own code runs, too: programs with side effects are left out.

use super::fault::Fault;
use super::mutator::Original;
use super::run::{self, Verdict};
use super::settings::Settings;
use crate::process::{self, Job};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Limit of a run, which takes a batch: twenty seconds and as much again for each mutant are far more than they need.
const LIMIT_FOR_EACH: Duration = Duration::from_secs(20);

/// What came of the mutants of one program.
#[derive(Default)]
pub struct Reflected {
    pub mutant_count: u64,
    pub bad_pointers: u64,
    pub faults: Vec<Fault>,
}

/// Compiles the driver into a folder; its path. Errors: `mcs`.
pub fn compile_driver(folder: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (source, driver) = (folder.join("reflect.cs"), folder.join("reflect.exe"));
    fs::write(&source, include_str!("reflect.cs")).map_err(|e| format!("{}: {e}", source.display()))?;
    let mut mcs = Command::new("mcs");
    mcs.args(["-nologo", "-warn:0"]).arg(format!("-out:{}", driver.display())).arg(&source);
    let done = mcs.output().map_err(|e| format!("mcs: {e}"))?;
    if !done.status.success() {
        return Err(format!("reflect.cs: {}", String::from_utf8_lossy(&[done.stdout, done.stderr].concat())));
    }
    Ok(driver)
}

/// Reflects over mutants `indices` of a program. Errors: the runtime does not start.
pub fn reflect(
    settings: &Settings,
    driver: &Path,
    original: &Original,
    executable: &Path,
    indices: std::ops::Range<u64>,
) -> Result<Reflected, String> {
    let folder = settings.scratch.join(format!("reflect-{}", original.name.replace('/', "+")));
    let text = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(&folder).map_err(text)?;
    let own_driver = folder.join("reflect.exe");
    fs::copy(driver, &own_driver).map_err(text)?;
    run::copy_libraries(executable, &folder);
    let file_name = executable.file_name().unwrap_or_default();
    let mut reflected = Reflected { mutant_count: indices.end - indices.start, ..Reflected::default() };
    for index in indices.clone() {
        let own = folder.join(index.to_string());
        fs::create_dir_all(&own).map_err(text)?;
        fs::write(own.join(file_name), settings.mutant(original, index).bytes).map_err(text)?;
    }
    let mut next = indices.start;
    while next < indices.end {
        let paths: Vec<String> =
            (next..indices.end).map(|i| folder.join(i.to_string()).join(file_name).display().to_string()).collect();
        let list = folder.join("list");
        fs::write(&list, paths.join("\n")).map_err(text)?;
        let mut argv = settings.saki.clone();
        argv.extend([own_driver.display().to_string(), list.display().to_string()]);
        let finished = process::run(&Job {
            argv: &argv,
            directory: &folder,
            environment: &[("SAKI_NO_CACHE".to_owned(), "true".to_owned()), ("LANG".to_owned(), "C.UTF-8".to_owned())],
            stdin: b"",
            timeout: LIMIT_FOR_EACH * (2 + paths.len() as u32),
        })?;
        let output = String::from_utf8_lossy(&finished.stdout);
        if output.lines().any(|line| line == "all") {
            break;
        }
        // The last one that was begun ended it; without any, the first.
        let culprit =
            output.lines().filter_map(|l| l.parse().ok()).filter(|i| indices.contains(i)).max().unwrap_or(next);
        let messages = String::from_utf8_lossy(&finished.stderr);
        match run::judge(&finished) {
            Verdict::Well | Verdict::Busy => {}
            Verdict::BadPointer => reflected.bad_pointers += 1,
            Verdict::TimedOut | Verdict::Fault => {
                let (end, mutant) = (finished.end.to_string(), settings.mutant(original, culprit));
                reflected.faults.push(Fault::new(original, culprit, "reflect", &end, &messages, mutant));
            }
        }
        next = culprit + 1;
    }
    let _ = fs::remove_dir_all(&folder);
    Ok(reflected)
}
