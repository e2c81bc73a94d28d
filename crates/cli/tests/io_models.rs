//! A system that forbids io_uring: `--io=uring` is refused with the reason, and everything else
//! works.
//!
//! The tests run Saki under a filter of system calls. Needs `mcs`; without it they say so and pass.

mod support;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program whose end is both ends of connections.
fn compile(test: &str) -> Option<PathBuf> {
    let program = support::folder(&format!("io-models-{test}")).join("requests.exe");
    support::compile("system_calls/requests.cs", &program).then_some(program)
}

/// Makes `io_uring_setup` fail with EPERM in the calling process from now on.
fn forbid_io_uring() -> std::io::Result<()> {
    const ALLOW: u32 = 0x7fff_0000;
    const FAIL: u32 = 0x0005_0000;
    let statement =
        |code: u32, jump_if_false: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: jump_if_false, k };
    let mut filter = [
        // The number of the system call, which comes first in what the filter sees.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, libc::SYS_io_uring_setup as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, FAIL | libc::EPERM as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: no privileges are gained from now on; takes no pointers.
    let is_bound = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
    // SAFETY: a filter of four statements, which the kernel copies.
    if is_bound && unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) } == 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error())
}

fn saki_without_io_uring(program: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.env("XDG_CACHE_HOME", program.with_extension("cache"));
    // SAFETY: two system calls between fork and exec.
    unsafe { command.pre_exec(forbid_io_uring) };
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
