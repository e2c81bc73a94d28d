//! Starts with scarce resources: a program runs, or one line says why it cannot, with exit code 2. Needs `mcs`.
//!
//! The limits are set in the child between `fork` and `exec`. Limits that this machine or this user cannot set are
//! skipped, with a line.

#[path = "support/mod.rs"]
mod support;

use std::ffi::CString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use support::output_of_written;

const MIB: u64 = 1 << 20;
const WORK_OUTPUT: &str = "3000\n42\ntext 1999\nno handle\n20\n";

/// The compiled test program; None without `mcs`.
fn program(name: &str) -> Option<PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scarce_resources");
        std::fs::create_dir_all(&folder).expect("a folder for test programs");
        for name in ["work", "fill", "fork"] {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/scarce_resources/{name}.cs"));
            let target = folder.join(format!("{name}.exe"));
            let mut mcs = Command::new("mcs");
            mcs.arg("-nologo").arg(format!("-out:{}", target.display())).arg(source);
            match mcs.output() {
                Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout)),
                Err(error) => {
                    eprintln!("skipped: mcs: {error}");
                    return None;
                }
            }
        }
        Some(folder)
    };
    FOLDER.get_or_init(compile).as_ref().map(|folder| folder.join(format!("{name}.exe")))
}

/// `saki ARGUMENTS` with a code cache of its own, or without one.
fn saki(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.args(arguments).env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("scarce-cache"));
    command
}

type Resource = libc::__rlimit_resource_t;

/// Limits the child, hard and soft.
fn limit(command: &mut Command, resource: Resource, bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: setrlimit is async-signal-safe and `limit` a local of the closure.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(resource, &limit) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        });
    }
}

fn text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}\n--- stdout\n{out}--- stderr\n{err}", output.status)
}

fn check_runs(what: &str, output: &Output, expected: &str) {
    assert!(output.status.success(), "{what}: {}", text(output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{what}: {}", text(output));
}

/// One line of Saki's and exit code 2.
fn check_refuses(what: &str, output: &Output) {
    assert_eq!(output.status.code(), Some(2), "{what}: {}", text(output));
    let errors = String::from_utf8_lossy(&output.stderr);
    // Before there is room for its first cache, jemalloc has a line of its own.
    let lines: Vec<_> = errors.lines().filter(|line| !line.starts_with("<jemalloc>: ")).collect();
    assert!(matches!(&lines[..], [line] if line.starts_with("saki: ")), "{what}: {}", text(output));
}

fn check_runs_or_refuses(what: &str, output: &Output, expected: &str) {
    match output.status.code() {
        Some(2) => check_refuses(what, output),
        _ => check_runs(what, output, expected),
    }
}

fn run_limited(arguments: &[&str], resource: Resource, bytes: u64) -> Output {
    let mut command = saki(arguments);
    limit(&mut command, resource, bytes);
    command.output().expect("saki starts")
}

#[test]
fn four_gigabytes_of_address_space_do() {
    let (Some(work), Some(fill)) = (program("work"), program("fill")) else { return };
    let (work, fill) = (work.to_str().unwrap(), fill.to_str().unwrap());
    check_runs("work", &run_limited(&[work], libc::RLIMIT_AS, 4096 * MIB), WORK_OUTPUT);
    check_runs("without cache", &run_limited(&["--no-cache", work], libc::RLIMIT_AS, 4096 * MIB), WORK_OUTPUT);
    check_runs("work", &run_limited(&[work], libc::RLIMIT_AS, 512 * MIB), WORK_OUTPUT);
    // The heap's default size follows the limit, so that the program gets its exception.
    check_runs("fill", &run_limited(&[fill], libc::RLIMIT_AS, 1024 * MIB), "full\n");
}

/// Where address space is limited, who starts a thread waits until it is attached; the threads that a forked child
/// starts again waited for their starter instead.
#[test]
fn a_child_goes_on_with_limited_address_space() {
    let Some(fork) = program("fork") else { return };
    for mode in ["--threads=native", "--threads=green", "--threads=mn"] {
        let output = run_limited(&[mode, fork.to_str().unwrap()], libc::RLIMIT_AS, 4096 * MIB);
        check_runs(mode, &output, "child 7\n");
    }
}

/// `ulimit -v 65536` was "no scheduler for --threads=green: Resource temporarily unavailable".
#[test]
fn green_threads_without_room_name_the_limit() {
    let Some(work) = program("work") else { return };
    for mode in ["--threads=green", "--threads=mn:2"] {
        let output = run_limited(&[mode, work.to_str().unwrap()], libc::RLIMIT_AS, 64 * MIB);
        check_refuses(mode, &output);
        let text = text(&output);
        assert!(text.contains("64 MiB (ulimit -v, ulimit -d)") && !text.contains("scheduler"), "{mode}: {text}");
    }
}

#[test]
fn less_address_space_is_refused_by_a_line() {
    let Some(work) = program("work") else { return };
    let work = work.to_str().unwrap();
    for mib in [30, 40, 50, 60, 70, 80, 90, 100, 115, 130, 150, 200, 250] {
        let output = run_limited(&["--max-heap", "16m", work], libc::RLIMIT_AS, mib * MIB);
        match output.status.code() {
            Some(127) => {} // The loader itself found no room.
            // The program was refused something: it got its exception, which it does not catch; the machine may be
            // refused more while it ends.
            Some(2) if text(&output).contains("OutOfMemoryException") => {}
            Some(1) => assert!(text(&output).contains("OutOfMemoryException"), "{mib} MiB: {}", text(&output)),
            _ => check_runs_or_refuses(&format!("{mib} MiB"), &output, WORK_OUTPUT),
        }
    }
    check_runs("300 MiB", &run_limited(&["--max-heap", "16m", work], libc::RLIMIT_AS, 300 * MIB), WORK_OUTPUT);
}

#[test]
fn a_limit_of_data_does() {
    let Some(work) = program("work") else { return };
    check_runs("1 GiB", &run_limited(&[work.to_str().unwrap()], libc::RLIMIT_DATA, 1024 * MIB), WORK_OUTPUT);
}

#[test]
fn any_limit_of_the_stack_does() {
    let Some(work) = program("work") else { return };
    for bytes in [64 << 10, 256 << 10, MIB, libc::RLIM_INFINITY] {
        let mut command = saki(&[work.to_str().unwrap()]);
        limit(&mut command, libc::RLIMIT_STACK, bytes);
        match command.output() {
            Ok(output) => check_runs(&format!("{bytes} bytes"), &output, WORK_OUTPUT),
            Err(error) => eprintln!("skipped: a stack of {bytes} bytes: {error}"),
        }
    }
}

#[test]
fn a_heap_that_is_too_small_is_refused_by_a_line() {
    let Some(work) = program("work") else { return };
    let work = work.to_str().unwrap();
    for heap in ["1", "5", "100k", "1m", "3m"] {
        check_refuses(heap, &saki(&["--max-heap", heap, work]).output().expect("saki starts"));
    }
    check_runs("8m", &saki(&["--max-heap", "8m", work]).output().expect("saki starts"), WORK_OUTPUT);
}

#[test]
fn without_a_thread_to_be_had_there_is_a_line() {
    let Some(work) = program("work") else { return };
    // SAFETY: no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return eprintln!("skipped: the limit of processes counts those of the user, who has others");
    }
    /// A user who has no processes.
    const NOBODY_ELSE: libc::uid_t = 64_999;
    let folder = std::env::temp_dir().join(format!("saki-scarce-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (binary, exe) = (folder.join("saki"), folder.join("work.exe"));
    std::fs::copy(env!("CARGO_BIN_EXE_saki"), &binary).unwrap();
    std::fs::copy(work, &exe).unwrap();
    for processes in 1..=6 {
        let mut command = Command::new(&binary);
        command.arg(&exe).env_remove("XDG_CACHE_HOME").env("HOME", "/nonexistent");
        limit(&mut command, libc::RLIMIT_NPROC, processes);
        // SAFETY: setuid is async-signal-safe.
        unsafe {
            command.pre_exec(|| match libc::setuid(NOBODY_ELSE) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
        let output = output_of_written(&mut command).expect("saki starts");
        if processes == 1 {
            check_refuses("1 process", &output);
        } else if output.status.code() == Some(2) {
            check_refuses(&format!("{processes} processes"), &output);
        } else {
            // The program itself may be refused a thread: it gets its exception.
            assert!(output.status.code().is_some(), "{processes} processes: {}", text(&output));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_few_files_do_or_there_is_a_line() {
    let Some(work) = program("work") else { return };
    for files in 3..=12 {
        let output = run_limited(&[work.to_str().unwrap()], libc::RLIMIT_NOFILE, files);
        // 127: the loader finds no file for the C library.
        if output.status.code() != Some(127) {
            check_runs_or_refuses(&format!("{files} files"), &output, WORK_OUTPUT);
        }
    }
}

#[test]
fn a_limit_of_file_sizes_ends_nothing() {
    let Some(work) = program("work") else { return };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scarce-file-size");
    let _ = std::fs::remove_dir_all(&cache);
    let mut command = saki(&[work.to_str().unwrap()]);
    command.env("XDG_CACHE_HOME", &cache);
    limit(&mut command, libc::RLIMIT_FSIZE, 0);
    // A pipe is not a file.
    check_runs("no file may grow", &command.output().expect("saki starts"), WORK_OUTPUT);
}

#[test]
fn locked_memory_processors_and_homes_are_not_needed() {
    let Some(work) = program("work") else { return };
    let work = work.to_str().unwrap();
    check_runs("no locked memory", &run_limited(&[work], libc::RLIMIT_MEMLOCK, 0), WORK_OUTPUT);
    let mut command = saki(&[work]);
    command.env_clear();
    check_runs("no environment", &command.output().expect("saki starts"), WORK_OUTPUT);
    let mut command = saki(&[work]);
    command.env("XDG_CACHE_HOME", "/proc/self/nowhere");
    check_runs("no cache", &command.output().expect("saki starts"), WORK_OUTPUT);
    let mut command = saki(&[work]);
    // SAFETY: all-zero is an empty set of processors; the call is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            libc::sched_getaffinity(0, size, &mut set);
            let first = (0..libc::CPU_SETSIZE as usize).find(|&cpu| libc::CPU_ISSET(cpu, &set)).unwrap_or(0);
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(first, &mut one);
            libc::sched_setaffinity(0, size, &one);
            Ok(())
        });
    }
    check_runs("one processor", &command.output().expect("saki starts"), WORK_OUTPUT);
}

#[test]
fn closed_standard_streams_do() {
    let Some(work) = program("work") else { return };
    for closed in [&[0][..], &[1], &[2], &[0, 1, 2]] {
        let mut command = saki(&[work.to_str().unwrap()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let closed = closed.to_vec();
        // SAFETY: close is async-signal-safe; nothing is allocated or freed between `fork` and `exec`.
        unsafe {
            command.pre_exec(move || {
                for &stream in &closed {
                    libc::close(stream);
                }
                Ok(())
            });
        }
        let status = command.status().expect("saki starts");
        assert!(status.success(), "{status}");
    }
}

#[test]
fn a_machine_without_proc_does() {
    let Some(work) = program("work") else { return };
    let mut command = saki(&[work.to_str().unwrap()]);
    let [source, target, kind] = ["none", "/proc", "tmpfs"].map(|name| CString::new(name).unwrap());
    // SAFETY: system calls with strings that the closure owns.
    unsafe {
        command.pre_exec(move || {
            let failed = libc::unshare(libc::CLONE_NEWNS) != 0
                || libc::mount(
                    source.as_ptr(),
                    c"/".as_ptr(),
                    std::ptr::null(),
                    libc::MS_REC | libc::MS_PRIVATE,
                    std::ptr::null(),
                ) != 0
                || libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) != 0;
            if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
        });
    }
    match command.output() {
        Ok(output) => check_runs("no /proc", &output, WORK_OUTPUT),
        Err(error) => eprintln!("skipped: no mount namespace: {error}"),
    }
}

/// Answers one system call of the child and of what it starts with an error.
fn refuse_system_call(command: &mut Command, number: i64, error: i32) {
    let filter = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let program = [
        filter(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        filter(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number as u32),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    // SAFETY: prctl is async-signal-safe; the filter lies in the closure.
    unsafe {
        command.pre_exec(move || {
            let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) != 0
            {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
}

#[test]
fn system_calls_that_older_kernels_lack_are_not_needed() {
    let Some(work) = program("work") else { return };
    let calls = [
        ("membarrier", libc::SYS_membarrier),
        ("rseq", libc::SYS_rseq),
        ("memfd_create", libc::SYS_memfd_create),
        ("madvise", libc::SYS_madvise),
        ("getrandom", libc::SYS_getrandom),
        ("statx", libc::SYS_statx),
        ("clone3", libc::SYS_clone3),
        ("prlimit64", libc::SYS_prlimit64),
        ("sched_getaffinity", libc::SYS_sched_getaffinity),
    ];
    for (name, number) in calls {
        let mut command = saki(&[work.to_str().unwrap()]);
        refuse_system_call(&mut command, number, libc::ENOSYS);
        match command.output() {
            Ok(output) => check_runs(name, &output, WORK_OUTPUT),
            Err(error) => return eprintln!("skipped: no system call filter: {error}"),
        }
    }
}

#[test]
fn the_user_mode_emulator_runs_programs() {
    let Some(work) = program("work") else { return };
    let emulator = format!("qemu-{}", std::env::consts::ARCH);
    if let Err(error) = Command::new(&emulator).arg("--version").output() {
        return eprintln!("skipped: {emulator} (package qemu-user): {error}");
    }
    let mut command = Command::new(&emulator);
    command.arg(env!("CARGO_BIN_EXE_saki")).arg(&work);
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("scarce-cache"));
    // The address space that the program took before it was killed.
    limit(&mut command, libc::RLIMIT_AS, 64 << 40);
    check_runs(&emulator, &command.output().expect("the emulator starts"), WORK_OUTPUT);
}
