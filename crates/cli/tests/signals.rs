//! User signals at 5 kHz and more per thread, nested, into every thread of an allocation storm with forced collections,
//! from before `main` to the end of the process.
//!
//! The test demands: no crash, no lost object (the program keeps checksummed graphs), no deadlock (a time limit), no
//! system call that reports EINTR to managed code; and signals reach all threads except those that serve the runtime.
//! Needs `cc` and `mcs`; without them the tests say so and pass.
//! `SAKI_SIGNAL_SECONDS` is the length of the storm (default 5 s; `./x stress` takes 60 s), `SAKI_SIGNAL_STARTS` the
//! number of starts with an empty code cache (default 5) and of as many with a full one. `SAKI_THREADS` is how threads
//! are executed; without it the test with a crowd of threads, which also abort and interrupt each other, runs on mn and
//! on green threads.

use saki_os::services::Service;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The storm must end this long after its time, on a loaded machine too.
const GRACE: Duration = Duration::from_secs(120);

/// Signals per second of its processor time that each busy thread must have met.
const MIN_RATE: u64 = 5000;

/// Threads of a crowd, and of one whose threads are the operating system's.
const CROWD: &str = "10000";
const NATIVE_CROWD: &str = "200";

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

fn number_from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

/// Number before `word` in the sender's report.
fn count(report: &str, word: &str) -> u64 {
    let mut words = report.split_whitespace().collect::<Vec<_>>().into_iter().rev();
    words.find(|w| w.trim_end_matches(',') == word).and_then(|_| words.next()?.parse().ok()).unwrap_or(0)
}

/// How threads are executed, if the tests are told.
fn mode() -> Option<String> {
    std::env::var("SAKI_THREADS").ok().filter(|mode| !mode.is_empty())
}

fn is_native(mode: Option<&str>) -> bool {
    mode.is_none_or(|mode| mode == "native")
}

/// The library that sends the signals, the program that they meet, and a folder for code caches. One for each test,
/// which run at the same time.
struct Storm {
    sender: PathBuf,
    program: PathBuf,
    cache: PathBuf,
}

impl Storm {
    /// None without compilers.
    fn compile(test: &str, program: &str) -> Option<Storm> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
        std::fs::create_dir_all(&folder).expect("a folder");
        let storm = Storm {
            sender: folder.join("sender.so"),
            program: folder.join("program.exe"),
            cache: folder.join("cache"),
        };
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-shared", "-fPIC", "-pthread", "-o"]).arg(&storm.sender).arg(source("sender.c"));
        let mut mcs = Command::new("mcs");
        mcs.args(["-nologo", "-optimize+"]).arg(format!("-out:{}", storm.program.display()));
        mcs.args([source(program), source("node.cs")]);
        (compiler_ran(&mut cc) && compiler_ran(&mut mcs)).then_some(storm)
    }

    fn empty_cache(&self) {
        let _ = std::fs::remove_dir_all(&self.cache);
    }

    /// Runs the program for so long and gives the sender's report.
    fn run(&self, seconds: u64) -> String {
        self.run_with(seconds, &[], mode().as_deref())
    }

    fn run_with(&self, seconds: u64, arguments: &[&str], mode: Option<&str>) -> String {
        let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
            .arg(&self.program)
            .arg(seconds.to_string())
            .args(arguments)
            .env("SAKI_THREADS", mode.unwrap_or("native"))
            .env("LD_PRELOAD", &self.sender)
            .env("XDG_CACHE_HOME", &self.cache)
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
        assert_eq!((output.status.code(), &*stdout), (Some(0), "ok\n"), "{:?}: {stderr}", output.status);
        for line in stderr.lines() {
            if let Some(name) = line.strip_prefix("signals: deaf: ") {
                assert!(
                    Service::ALL.iter().any(|service| name.starts_with(service.name())),
                    "no signal reached {name}: {stderr}"
                );
            }
        }
        stderr.into_owned()
    }
}

#[test]
fn an_allocation_storm_survives_signals() {
    let Some(storm) = Storm::compile("storm", "storm.cs") else { return };
    storm.empty_cache();
    let report = storm.run(number_from_environment("SAKI_SIGNAL_SECONDS", 5));
    eprint!("{report}");
    let (timed, nested) = (count(&report, "timed"), count(&report, "nested"));
    assert!(nested > timed / 4, "too few nested signals: {report}");
    // By processor time: on a loaded machine a thread that waits for a processor cannot be hit.
    let (busy, slowest) = (count(&report, "busy"), count(&report, "slowest"));
    let wanted = if is_native(mode().as_deref()) { 4 } else { 1 };
    assert!(busy >= wanted && slowest >= MIN_RATE, "too few signals: {report}");
}

#[test]
fn a_crowd_of_threads_survives_signals_aborts_and_interrupts() {
    let Some(storm) = Storm::compile("crowd", "crowd.cs") else { return };
    let modes = mode().map_or(vec!["mn".to_owned(), "green".to_owned()], |mode| vec![mode]);
    for mode in modes {
        let threads = if is_native(Some(&mode)) { NATIVE_CROWD } else { CROWD };
        let report = storm.run_with(number_from_environment("SAKI_SIGNAL_SECONDS", 5), &[threads], Some(&mode));
        eprint!("{mode}: {report}");
        // Requests are made by those who are disturbed; on a slow machine there are few.
        let (aborted, interrupted) = (count(&report, "aborted"), count(&report, "interrupted"));
        assert!(aborted > 20 && interrupted > 20, "too few requests: {report}");
        assert!(count(&report, "timed") > 1000, "too few signals: {report}");
    }
}

#[test]
fn a_start_survives_signals_with_an_empty_and_a_full_code_cache() {
    let Some(storm) = Storm::compile("starts", "storm.cs") else { return };
    let starts = number_from_environment("SAKI_SIGNAL_STARTS", 5);
    for _ in 0..starts {
        storm.empty_cache();
        assert!(count(&storm.run(0), "timed") > 0);
    }
    for _ in 0..starts {
        assert!(count(&storm.run(0), "timed") > 0);
    }
}
