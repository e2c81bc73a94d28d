//! Switches between green threads, exceptions, and calls into native code and back make no system calls, as strace
//! counts them.
//!
//! Each loop runs with a small and a large count: the difference in system calls belongs to the loop. The watcher's
//! sleeps are left out, since they depend on the time and not on the number of switches; a large nursery keeps
//! collections few. Needs `mcs`, and `strace` that may trace; without them the tests say so and pass.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

/// System calls per operation that a loop may make, as its inverse.
const OPERATIONS_PER_CALL: u64 = 1000;

/// On a loaded machine carriers change places more often, so the best of some attempts counts.
const ATTEMPTS: usize = 3;

/// The system call by which the watcher sleeps (`std::thread::sleep`).
const WATCHERS_CALL: &str = "clock_nanosleep";

const SMALL_COUNT: u64 = 20_000;

/// The program, or None if the tests' tools are missing.
fn compile(test: &str) -> Option<PathBuf> {
    let traced = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    if !traced.is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: strace is not here, or may not trace");
        return None;
    }
    let program = support::folder(&format!("system-calls-{test}")).join("loops.exe");
    support::compile("system_calls/loops.cs", &program).then_some(program)
}

/// The calls in strace's summary, without the watcher's.
fn calls_of(summary: &str) -> u64 {
    // % time     seconds  usecs/call     calls    errors syscall
    let call = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let count = words.get(3)?.parse::<u64>().ok()?;
        (!["total", WATCHERS_CALL].contains(words.last()?)).then_some(count)
    };
    summary.lines().filter_map(call).sum()
}

/// System calls of a whole run, and strace's summary.
fn trace(program: &Path, mode: &str, which: &str, count: u64) -> (u64, String) {
    let summary = program.with_extension(format!("{mode}-{count}.txt"));
    let outcome = support::run(
        Command::new("strace")
            .args(["-c", "-f", "-o"])
            .arg(&summary)
            .arg(env!("CARGO_BIN_EXE_saki"))
            .args([&format!("--threads={mode}"), "--nursery=64m"])
            .arg(program)
            .args([which, &count.to_string()])
            .env("XDG_CACHE_HOME", program.with_extension("cache")),
    );
    let ended_well = outcome.exit_code == Some(0) && outcome.stdout.lines().count() == 1;
    assert!(ended_well, "{which} on {mode}: {:?}, {}{}", outcome.exit_code, outcome.stdout, outcome.stderr);
    let text = std::fs::read_to_string(&summary).expect("strace's summary");
    (calls_of(&text), text)
}

fn check(which: &str, modes: &[&str], count: u64) {
    let Some(program) = compile(which) else { return };
    for mode in modes {
        // Fills the code cache for the runs that are compared.
        trace(&program, mode, which, SMALL_COUNT);
        let allowed = (count - SMALL_COUNT) / OPERATIONS_PER_CALL;
        let mut told = String::new();
        let is_met = (0..ATTEMPTS).any(|_| {
            let (small, _) = trace(&program, mode, which, SMALL_COUNT);
            let (large, summary) = trace(&program, mode, which, count);
            let more = large.saturating_sub(small);
            told += &format!("{more} calls more than with a count of {SMALL_COUNT}:\n{summary}");
            more <= allowed
        });
        assert!(is_met, "{which} on {mode}, {count} times: at most {allowed} system calls were expected\n{told}");
    }
}

#[test]
fn switches_make_no_system_calls() {
    check("ring", &["green", "mn"], 1_000_000);
}

#[test]
fn exceptions_make_no_system_calls() {
    check("throw", &["native", "green", "mn"], 200_000);
}

#[test]
fn calls_into_native_code_make_no_system_calls() {
    check("invoke", &["native", "green", "mn"], 1_000_000);
}

#[test]
fn a_summary_is_read_without_the_watchers_sleeps() {
    let summary = "% time     seconds  usecs/call     calls    errors syscall\n\
                   ------ ----------- ----------- --------- --------- ------------------\n \
                   41.89    0.046332         389       119           clock_nanosleep\n \
                   39.19    0.043353          30      1445        14 futex\n  \
                   5.80    0.006410          26       246           membarrier\n\
                   100.00    0.110611          23      1810        14 total\n";
    assert_eq!(calls_of(summary), 1691);
}
