//! Opterons of revision E let reads pass locked instructions (`os::errata`): on an emulated one a fence follows each
//! locked instruction in the code of a method and of its locks, and `saki doctor` says so; on its predecessor none does.
//!
//! Needs `mcs` and `qemu-x86_64-static`; without them the test says so and passes. Left out: what the fence is for,
//! which an emulator does not show.
#![cfg(target_arch = "x86_64")]

mod support;

use std::path::Path;
use std::process::Command;

const EMULATOR: &str = "qemu-x86_64-static";
/// Family 15 both; the first model of revision E, and the one before any that is affected.
const FAULTY: &str = "Opteron_G1,model=33";
const SOUND: &str = "Opteron_G1,model=6";

fn run_on(processor: &str, folder: &Path, arguments: &[&str]) -> String {
    let mut emulator = Command::new(EMULATOR);
    emulator.args(["-cpu", processor, env!("CARGO_BIN_EXE_saki")]).args(arguments);
    let outcome = support::run(emulator.env("XDG_CACHE_HOME", folder.join("cache")));
    assert_eq!(outcome.exit_code, Some(0), "{processor} {arguments:?}: {}", outcome.stderr);
    outcome.stdout
}

/// Locked instructions of the text, and how many of them a fence follows.
fn fences(code: &str) -> (usize, usize) {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let follows = lines.windows(2).filter(|pair| pair[0].starts_with("lock ")).map(|pair| pair[1] == "mfence");
    let follows: Vec<bool> = follows.collect();
    (follows.len(), follows.into_iter().filter(|&is_fenced| is_fenced).count())
}

#[test]
fn fences_follow_locked_instructions_on_the_faulty_processor_only() {
    if let Err(error) = Command::new(EMULATOR).arg("--version").output() {
        eprintln!("skipped: {EMULATOR}: {error}");
        return;
    }
    let folder = support::folder("faulty-opterons");
    let program = folder.join("Locks.exe");
    if !support::compile("faulty_opterons/Locks.cs", &program) {
        return;
    }
    let program = program.to_str().unwrap();
    for (processor, is_faulty) in [(FAULTY, true), (SOUND, false)] {
        let doctor = run_on(processor, &folder, &["doctor"]);
        let finding = doctor.lines().find(|line| line.contains("atomic instructions")).expect("a line of the doctor");
        assert_eq!(
            finding.contains("a fence follows them in compiled code and in Saki's locks"),
            is_faulty,
            "{finding}"
        );
        assert_eq!(finding.contains("no fence"), !is_faulty, "{finding}");
        // Interlocked.Increment; the entry of a monitor, that of a fat lock, and the exit.
        for (method, locked) in [("Locks:Add", 1), ("Locks:Enter", 3)] {
            let code = run_on(processor, &folder, &["--compile-only", method, "--emit", "disasm", program]);
            assert_eq!(fences(&code), (locked, if is_faulty { locked } else { 0 }), "{processor}: {code}");
        }
        for tiers in ["--tiers=1", "--tiers=2"] {
            assert_eq!(run_on(processor, &folder, &[tiers, program]), "2000 2000\n", "{processor} {tiers}");
        }
    }
}
