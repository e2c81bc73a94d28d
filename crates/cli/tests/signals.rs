//! User signals at 5 kHz and more per thread, nested, into every thread of an allocation storm with forced collections.
//!
//! What must hold: no crash, no lost object (the program keeps checksummed graphs), no deadlock (a time limit), no
//! system call that reports EINTR to managed code. Needs `cc` and `mcs`; without them the test says so and passes.
//! `SAKI_SIGNAL_SECONDS` is the length of the storm (default 5 s; `./x stress` takes 60 s).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The storm must end this long after its time, on a loaded machine too.
const GRACE: Duration = Duration::from_secs(120);

/// Signals per second of its processor time that each busy thread must have met.
const MIN_RATE: u64 = 5000;

fn compiler_ran(command: &mut Command) -> bool {
    match command.output() {
        Ok(done) if done.status.success() => true,
        Ok(done) => panic!("{command:?}:\n{}", String::from_utf8_lossy(&[done.stdout, done.stderr].concat())),
        Err(error) => {
            eprintln!("skipped: {:?}: {error}", command.get_program());
            false
        }
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/signals").join(name)
}

/// Number before `word` in the sender's report.
fn count(report: &str, word: &str) -> u64 {
    let mut words = report.split_whitespace().collect::<Vec<_>>().into_iter().rev();
    words.find(|w| w.trim_end_matches(',') == word).and_then(|_| words.next()?.parse().ok()).unwrap_or(0)
}

#[test]
fn an_allocation_storm_survives_signals() {
    let seconds: u64 = std::env::var("SAKI_SIGNAL_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(5);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (sender, program) = (folder.join("sender.so"), folder.join("storm.exe"));
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-shared", "-fPIC", "-pthread", "-o"]).arg(&sender).arg(source("sender.c"));
    let mut mcs = Command::new("mcs");
    mcs.args(["-nologo", "-optimize+"]).arg(format!("-out:{}", program.display())).arg(source("storm.cs"));
    if !compiler_ran(&mut cc) || !compiler_ran(&mut mcs) {
        return;
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
        .arg(&program)
        .arg(seconds.to_string())
        .env("LD_PRELOAD", &sender)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("saki starts");
    let deadline = Instant::now() + Duration::from_secs(seconds) + GRACE;
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("a child");
            let output = child.wait_with_output().expect("its output");
            panic!("deadlock: {}", String::from_utf8_lossy(&output.stderr));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().expect("its output");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    eprint!("{stderr}");
    assert_eq!((output.status.code(), &*stdout), (Some(0), "ok\n"), "{stderr}");
    let (timed, nested) = (count(&stderr, "timed"), count(&stderr, "nested"));
    assert!(nested > timed / 4, "too few nested signals: {stderr}");
    // By processor time: on a loaded machine a thread that waits for a processor cannot be hit.
    let (busy, slowest) = (count(&stderr, "busy"), count(&stderr, "slowest"));
    assert!(busy >= 4 && slowest >= MIN_RATE, "too few signals: {stderr}");
    // The collector's thread blocks signals; no other does.
    assert!(count(&stderr, "deaf") <= 1, "threads that no signal reached: {stderr}");
}
