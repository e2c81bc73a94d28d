//! Filters of system calls, as containers have them: each call that Saki can do without may fail with EPERM or ENOSYS,
//! alone and together with others.
//!
//! The program prints, starts threads, reads and writes files, pipes and sockets, maps memory, starts a process and
//! collects. Needs `mcs`; without it the tests say so and pass.

mod support;

use std::path::Path;
use std::process::Command;

/// The calls that Saki can do without, and where it uses them. Not among them: getrandom, without which the C library
/// ends processes that make temporary files (EPERM), and sendfile, by which Mono's native library copies files.
const OPTIONAL: [(libc::c_long, &str); 15] = [
    (libc::SYS_preadv2, "preadv2: pipes are tried without blocking"),
    (libc::SYS_pwritev2, "pwritev2: as preadv2"),
    (libc::SYS_epoll_pwait2, "epoll_pwait2: timeouts below a millisecond"),
    (libc::SYS_io_uring_setup, "io_uring_setup: --io=uring"),
    (libc::SYS_membarrier, "membarrier: asymmetric barriers"),
    (libc::SYS_process_madvise, "process_madvise: guards of many stacks at once"),
    (libc::SYS_memfd_create, "memfd_create: memory-mapped files without a name"),
    (libc::SYS_pidfd_open, "pidfd_open: ends of processes"),
    (libc::SYS_mincore, "mincore: how much of the heap is in memory"),
    (libc::SYS_rseq, "rseq: the C library's number of the processor"),
    (libc::SYS_sched_getaffinity, "sched_getaffinity: how many processors there are"),
    (libc::SYS_sched_setaffinity, "sched_setaffinity: --desktop of mono"),
    (libc::SYS_statx, "statx: the standard library's stat"),
    (libc::SYS_copy_file_range, "copy_file_range: the standard library's copy"),
    (libc::SYS_timer_create, "timer_create: profiles"),
];

const MODES: [&str; 3] = ["native", "green", "mn"];

const EXPECTED: &str = "hello\nfile: 5\npipe: 4\nsocket: 3\nthreads: 499500\nmapped: 7\nprocess: 3\ncollected\n";

fn check(program: &Path, mode: &str, calls: &[libc::c_long], errno: i32, what: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.env("XDG_CACHE_HOME", program.with_extension("cache")).arg(format!("--threads={mode}")).arg(program);
    support::forbid(&mut command, calls, errno);
    let outcome = support::run(&mut command);
    let seen = (outcome.exit_code, outcome.stdout.as_str());
    assert_eq!(seen, (Some(0), EXPECTED), "{mode}, errno {errno}, without {what}: {}", outcome.stderr);
}

/// One call at a time fails in one mode or the other; both errors mean the same.
#[test]
fn each_optional_system_call_may_be_forbidden() {
    let program = support::folder("forbidden-each").join("uses.exe");
    if !support::compile("system_calls/uses.cs", &program) {
        return;
    }
    for (number, (call, what)) in OPTIONAL.iter().enumerate() {
        check(&program, MODES[number % 3], &[*call], libc::EPERM, what);
    }
    for mode in MODES {
        for (call, what) in &OPTIONAL[..2] {
            check(&program, mode, &[*call], libc::EPERM, what);
        }
    }
}

#[test]
fn several_optional_system_calls_may_be_forbidden_at_once() {
    let program = support::folder("forbidden-several").join("uses.exe");
    if !support::compile("system_calls/uses.cs", &program) {
        return;
    }
    let all: Vec<libc::c_long> = OPTIONAL.iter().map(|(call, _)| *call).collect();
    for mode in MODES {
        for errno in [libc::EPERM, libc::ENOSYS] {
            check(&program, mode, &all, errno, "all of them");
        }
        // Every second, every third, those of recent kernels alone.
        let every = |step: usize| all.iter().copied().step_by(step).collect::<Vec<_>>();
        check(&program, mode, &every(2), libc::EPERM, "every second");
        check(&program, mode, &every(3), libc::EPERM, "every third");
        check(&program, mode, &all[..6], libc::EPERM, "those of recent kernels");
    }
}
