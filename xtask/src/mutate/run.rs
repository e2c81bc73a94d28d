//! Running mutants, each in a process of its own, and judging how they end.
//!
//! What a mutant does is its own affair: exit codes, unhandled exceptions, load errors, endless loops of its own code,
//! and memory faults of compiled code, since CIL is not verified. What it must not do is bring the virtual machine
//! down: a panic, an internal error, an abort without a word, a wait that no thread dump ends.

use super::fault::Fault;
use super::mutator::Original;
use super::settings::Settings;
use crate::process::{self, Finished, Job, ProgramEnd};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Programs chosen take a second at most; this is what a loaded machine may make of it.
const LIMIT: Duration = Duration::from_secs(20);

/// How a mutant ended.
pub enum Ran {
    /// A managed outcome.
    Well,
    /// Compiled code used a garbage pointer.
    BadPointer,
    /// It was still running, in managed code or waiting as managed code does.
    Busy,
    Fault(Box<Fault>),
}

/// What a program that is run mutated may not mention: it must not touch files, processes, the network or native
/// memory.
pub fn is_harmless(source: &str) -> bool {
    const DOORS: [&str; 14] = [
        "System.IO",
        "System.Diagnostics",
        "System.Net",
        "DllImport",
        "pinvokeimpl",
        "Marshal",
        "Process",
        "File",
        "Registry",
        "Socket",
        "Syscall",
        "Mono.Unix",
        "Kill",
        "Console.Read",
    ];
    !DOORS.iter().any(|door| source.contains(door))
}

/// Runs one mutant. Errors: it could not be started.
pub fn run(settings: &Settings, original: &Original, executable: &Path, index: u64) -> Result<Ran, String> {
    let folder = settings.scratch.join(format!("{}-{index}", original.name.replace('/', "+")));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    copy_libraries(executable, &folder);
    let mutant = settings.mutant(original, index);
    let path = folder.join(executable.file_name().unwrap_or_default());
    fs::write(&path, &mutant.bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    let finished = start(settings, &folder, &path, false)?;
    let mut verdict = judge(&finished);
    if verdict == Verdict::TimedOut {
        // Once more, and a thread dump at the end: it shows that threads still come to safepoints.
        let again = start(settings, &folder, &path, true)?;
        verdict = match judge(&again) {
            Verdict::TimedOut if String::from_utf8_lossy(&again.stdout).contains("Full thread dump") => Verdict::Busy,
            other => other,
        };
    }
    let _ = fs::remove_dir_all(&folder);
    Ok(match verdict {
        Verdict::Well => Ran::Well,
        Verdict::BadPointer => Ran::BadPointer,
        Verdict::Busy => Ran::Busy,
        Verdict::TimedOut => {
            let messages = String::from_utf8_lossy(&finished.stderr);
            Ran::Fault(Box::new(Fault::new(original, index, "run", "hang", &messages, mutant)))
        }
        Verdict::Fault => {
            let messages = String::from_utf8_lossy(&finished.stderr);
            Ran::Fault(Box::new(Fault::new(original, index, "run", &finished.end.to_string(), &messages, mutant)))
        }
    })
}

/// Copies the libraries that lie beside a program.
pub fn copy_libraries(executable: &Path, folder: &Path) {
    for entry in fs::read_dir(executable.parent().unwrap_or(Path::new("."))).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|e| e == "dll") {
            let _ = fs::copy(entry.path(), folder.join(entry.file_name()));
        }
    }
}

fn start(settings: &Settings, folder: &Path, path: &Path, with_dump: bool) -> Result<Finished, String> {
    let mut argv = settings.saki.clone();
    argv.extend(["--max-heap".to_owned(), "256m".to_owned(), path.display().to_string()]);
    if with_dump {
        let seconds = LIMIT.as_secs();
        let script = format!("\"$@\" & pid=$!; sleep {seconds}; kill -QUIT $pid 2>/dev/null; wait $pid");
        argv = ["sh", "-c", &script, "sh"].into_iter().map(str::to_owned).chain(argv).collect();
    }
    process::run(&Job {
        argv: &argv,
        directory: folder,
        environment: &[("SAKI_NO_CACHE".to_owned(), "true".to_owned()), ("LANG".to_owned(), "C.UTF-8".to_owned())],
        stdin: b"",
        timeout: if with_dump { 2 * LIMIT } else { LIMIT },
    })
}

/// What the end of a mutant's process means, without details.
#[derive(PartialEq, Clone, Copy, Debug)]
pub enum Verdict {
    Well,
    BadPointer,
    Busy,
    TimedOut,
    Fault,
}

/// What the end of a process means.
pub fn judge(finished: &Finished) -> Verdict {
    let stderr = String::from_utf8_lossy(&finished.stderr);
    if stderr.contains("saki: internal error") || stderr.contains("panicked at") {
        return Verdict::Fault;
    }
    match finished.end {
        ProgramEnd::TimedOut => Verdict::TimedOut,
        ProgramEnd::Exit(_) => Verdict::Well,
        ProgramEnd::Signal(libc::SIGABRT) if stderr.contains("Stack overflow") => Verdict::Well,
        ProgramEnd::Signal(_) if stderr.contains(" in compiled code") => Verdict::BadPointer,
        ProgramEnd::Signal(_) => Verdict::Fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(end: ProgramEnd, stderr: &str, expected: Verdict) {
        let finished = Finished {
            end,
            stdout: Vec::new(),
            stderr: stderr.as_bytes().to_vec(),
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
            max_rss_kib: 0,
        };
        assert_eq!(judge(&finished), expected, "{stderr}");
    }

    #[test]
    fn ends_are_told_apart() {
        check(ProgramEnd::Exit(1), "Unhandled Exception: ...", Verdict::Well);
        check(ProgramEnd::Exit(101), "thread 'main' panicked at crates/types/src/x.rs:1:1:", Verdict::Fault);
        check(ProgramEnd::Signal(6), "saki: internal error at a.rs:1: b", Verdict::Fault);
        check(
            ProgramEnd::Signal(11),
            "saki: signal 11 at address 0x123456789, pc 0x1 in compiled code; managed",
            Verdict::BadPointer,
        );
        check(ProgramEnd::Signal(11), "saki: signal 11 at address 0x1, pc 0x1 in native code; managed", Verdict::Fault);
        check(ProgramEnd::Signal(11), "", Verdict::Fault);
        check(ProgramEnd::TimedOut, "", Verdict::TimedOut);
    }

    #[test]
    fn programs_with_side_effects_are_left_out() {
        assert!(is_harmless("class P { static void Main() {} }"));
        assert!(!is_harmless("[DllImport (\"c\")] static extern int kill (int p, int s);"));
    }
}
