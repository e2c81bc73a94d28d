//! The system calls of a request over a connection that stays open, as strace counts them, by I/O model.
//!
//! The program is both ends, so a request has two receives and two sends; the difference between a run with many
//! requests and one with few is the cost of the requests. One carrier runs all threads, so that the figures do not
//! depend on the machine's load. Needs `mcs`, and `strace` that may trace; without them the tests say so and pass.

mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const CONNECTIONS: u64 = 16;
const FEW: u64 = 100;
const MANY: u64 = 1100;

/// The program, or None if the tests' tools are missing.
fn compile(test: &str) -> Option<PathBuf> {
    let traced = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    if !traced.is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: strace is not here, or may not trace");
        return None;
    }
    let program = support::folder(&format!("request-system-calls-{test}")).join("requests.exe");
    support::compile("system_calls/requests.cs", &program).then_some(program)
}

/// The calls in strace's summary, by name.
fn calls_of(summary: &str) -> HashMap<String, u64> {
    // % time     seconds  usecs/call     calls    errors syscall
    let call = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let count = words.get(3)?.parse::<u64>().ok()?;
        Some(((*words.last()?).to_owned(), count))
    };
    summary.lines().filter_map(call).collect()
}

fn trace(program: &Path, options: &[&str], requests: u64) -> HashMap<String, u64> {
    let summary = program.with_extension("txt");
    let outcome = support::run(
        Command::new("strace")
            .args(["-c", "-f", "-o"])
            .arg(&summary)
            .arg(env!("CARGO_BIN_EXE_saki"))
            .args(options)
            .arg(program)
            .arg(requests.to_string())
            .env("XDG_CACHE_HOME", program.with_extension("cache")),
    );
    let ended_well = outcome.exit_code == Some(0) && outcome.stdout == format!("{requests}\n");
    assert!(ended_well, "{options:?}: {:?}, {}{}", outcome.exit_code, outcome.stdout, outcome.stderr);
    calls_of(&std::fs::read_to_string(&summary).expect("strace's summary"))
}

/// Checks how many calls of some names a request makes at most, in hundredths.
fn check(test: &str, options: &[&str], allowed: &[(&[&str], u64)]) {
    let Some(program) = compile(test) else { return };
    // Fills the code cache for the runs that are compared.
    trace(&program, options, FEW);
    let (few, many) = (trace(&program, options, FEW), trace(&program, options, MANY));
    let requests = CONNECTIONS * (MANY - FEW);
    for (names, hundredths) in allowed {
        let total = |calls: &HashMap<String, u64>| -> u64 {
            names.iter().map(|name| calls.get(*name).copied().unwrap_or(0)).sum()
        };
        let more = total(&many).saturating_sub(total(&few));
        let limit = requests * hundredths / 100;
        assert!(
            more <= limit,
            "{options:?}: {names:?}: {more} for {requests} requests, more than {limit}\n{few:?}\n{many:?}"
        );
    }
}

const TRANSFERS: &[&str] = &["recvfrom", "sendto", "recvmsg", "sendmsg"];
const WAITS: &[&str] = &["epoll_wait", "epoll_pwait2", "ppoll", "poll", "io_uring_enter", "futex", "membarrier"];
const REGISTRATIONS: &[&str] = &["epoll_ctl", "getsockopt", "setsockopt", "fcntl", "write", "read"];

#[test]
fn a_request_is_a_receive_and_a_send_with_epoll() {
    check("epoll", &["--threads=green", "--io=epoll"], &[(TRANSFERS, 405), (WAITS, 50), (REGISTRATIONS, 2)]);
}

#[test]
fn a_request_may_try_in_vain_with_poll() {
    // How many threads one poll(2) finds ready, and so the number of waits, depends on the machine's load: 70 to 180
    // hundredths.
    check("poll", &["--threads=green", "--io=poll"], &[(TRANSFERS, 620), (WAITS, 400)]);
}

#[test]
fn a_request_is_a_receive_and_a_send_that_block() {
    check("blocking", &["--threads=native", "--io=blocking"], &[(TRANSFERS, 405), (REGISTRATIONS, 2)]);
}

#[test]
fn a_request_is_a_submission_and_a_send_with_uring() {
    let doctor = support::run(Command::new(env!("CARGO_BIN_EXE_saki")).arg("doctor"));
    if doctor.stdout.contains("not uring") {
        eprintln!("skipped: no io_uring here");
        return;
    }
    check("uring", &["--threads=green", "--io=uring"], &[(TRANSFERS, 205), (WAITS, 250), (REGISTRATIONS, 2)]);
}
