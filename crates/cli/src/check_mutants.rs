//! `--check-mutants`: loads and compiles many changed copies of a program, each in a process of its own (`cargo xtask
//! mutate`).
//!
//! The machine is started once and the unchanged program compiled; methods refused as invalid are named. Then each line
//! of standard input names a file, which a forked child loads and compiles, and a line of standard output says how the
//! child ended: `exit N` or `signal N`. A start costs a hundred times as much as a fork. Invariant: a child allocates
//! only literals and exceptions, since it has no collector threads; and SIGPROF ends it when it takes too long.

use saki_base::{messages, tell};
use saki_runtime::CurrentThread;
use saki_runtime::exec::compile_all::Compiled;
use saki_types::{Assembly, universe};
use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Processor time of a child, in seconds. A whole unchanged program takes less than one, in the dev profile too.
const CPU_LIMIT_SECONDS: i64 = 10;
/// Wall-clock time of a child, in seconds, for children that wait instead of computing.
const WALL_LIMIT_SECONDS: u32 = 120;
/// Bytes that a child may allocate beyond the memory that it begins with: sizes in a mutant may be anything.
const DATA_LIMIT_BYTES: u64 = 2 << 30;
/// Exit code of a child that panicked.
const EXIT_PANIC: i32 = 101;

/// Serves until standard input ends; the command's exit code.
pub fn run(t: CurrentThread, program: &'static Assembly) -> i32 {
    let mut compiled = Compiled::new(t);
    compiled.compile_all(program);
    for method in std::mem::take(&mut compiled.invalid) {
        tell!("{method}");
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(path) = line else { break };
        let end = check(&mut compiled, Path::new(&path));
        messages::answer(format_args!("{end}\n"));
    }
    0
}

/// Checks one file in a child; how that ended.
fn check(compiled: &mut Compiled, path: &Path) -> String {
    // SAFETY: the child runs only this thread. Other threads hold no locks, since they all wait, and the allocator
    // handles forks itself. The child ends by `_exit`.
    let pid = saki_os::fork::plainly(|| unsafe { libc::fork() });
    match pid {
        -1 => "fork failed".to_owned(),
        0 => {
            limit();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                if let Ok(assembly) = universe().binder().load_file(path) {
                    compiled.compile_all(assembly);
                }
            }));
            // SAFETY: ends this process, without the handlers of the parent.
            unsafe { libc::_exit(if outcome.is_ok() { 0 } else { EXIT_PANIC }) }
        }
        _ => {
            let mut status = 0;
            // SAFETY: `status` is a live local, and the child is this function's own.
            while unsafe { libc::waitpid(pid, &mut status, 0) } == -1 {}
            if libc::WIFSIGNALED(status) {
                format!("signal {}", libc::WTERMSIG(status))
            } else {
                format!("exit {}", libc::WEXITSTATUS(status))
            }
        }
    }
}

/// Sets the limits of this process, which is a child.
fn limit() {
    let none = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer =
        libc::itimerval { it_interval: none, it_value: libc::timeval { tv_sec: CPU_LIMIT_SECONDS, tv_usec: 0 } };
    // SAFETY: the timer is a live local; no old value is asked for.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) };
    // SAFETY: no memory is involved.
    unsafe { libc::alarm(WALL_LIMIT_SECONDS) };
    // The data of the process is mostly the heap's reservation, which counts whether used or not.
    let limit = data_bytes() + DATA_LIMIT_BYTES;
    let limits = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: the limits are a live local.
    unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limits) };
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `no_core` is a live local.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &no_core) };
}

/// Private writable memory of this process, as the limit counts it.
fn data_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"));
    let kib: u64 = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
    kib << 10
}
