//! A system that forbids io_uring: `--io=uring` is refused with the reason, and everything else
//! works.
//!
//! The tests run Saki under a filter of system calls. Needs `mcs`; without it they say so and pass.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program whose end is both ends of connections.
fn compile(test: &str) -> Option<PathBuf> {
    let program = support::folder(&format!("io-models-{test}")).join("requests.exe");
    support::compile("system_calls/requests.cs", &program).then_some(program)
}

fn saki_without_io_uring(program: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.env("XDG_CACHE_HOME", program.with_extension("cache"));
    support::forbid(&mut command, &[libc::SYS_io_uring_setup], libc::EPERM);
    command
}

#[test]
fn a_model_that_the_system_forbids_is_refused_with_the_reason() {
    let Some(program) = compile("refused") else { return };
    let outcome = support::run(saki_without_io_uring(&program).arg("--io=uring").arg(&program).arg("1"));
    assert_eq!((outcome.exit_code, outcome.stdout.as_str()), (Some(2), ""), "{}", outcome.stderr);
    let expected = "--io=uring does not work here: the system forbids io_uring";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
}

#[test]
fn the_other_models_work_where_one_is_forbidden() {
    let Some(program) = compile("others") else { return };
    for model in ["blocking", "poll", "epoll"] {
        let options = ["--threads=mn", &format!("--io={model}")];
        let outcome = support::run(saki_without_io_uring(&program).args(options).arg(&program).arg("3"));
        assert_eq!((outcome.exit_code, outcome.stdout.as_str()), (Some(0), "3\n"), "{model}: {}", outcome.stderr);
    }
}

#[test]
fn the_doctor_says_which_models_there_are() {
    let Some(program) = compile("doctor") else { return };
    let outcome = support::run(saki_without_io_uring(&program).arg("doctor"));
    let line = outcome.stdout.lines().find(|line| line.contains("I/O models"));
    let line = line.unwrap_or_else(|| panic!("{}{}", outcome.stdout, outcome.stderr));
    assert!(line.contains("blocking, poll, epoll, not uring (the system forbids io_uring"), "{line}");
    assert_eq!(outcome.exit_code, Some(0));
}
