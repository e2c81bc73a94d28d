//! Helpers that tests of the command share: a compiled program, folders, and the result of a run.
#![allow(dead_code, reason = "no test uses all of it")]

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A new folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compiles `tests/SOURCE` to `program`; false without a compiler.
pub fn compile(source: &str, program: &Path) -> bool {
    compile_with(&[], source, program)
}

/// As `compile`, with options of the compiler.
pub fn compile_with(options: &[&str], source: &str, program: &Path) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let mut mcs = Command::new("mcs");
    mcs.arg("-nologo").args(options).arg(format!("-out:{}", program.display())).arg(source);
    match mcs.output() {
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
            true
        }
        Err(error) => {
            eprintln!("skipped: mcs: {error}");
            false
        }
    }
}

/// A run's exit code and texts.
#[derive(Debug)]
pub struct Outcome {
    pub exit_code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs it to its end, without the variables that would change what it does.
pub fn run(command: &mut Command) -> Outcome {
    for name in ["MONO_ENV_OPTIONS", "MONO_GC_PARAMS", "MONO_GC_DEBUG", "MONO_DEBUG", "MONO_EXTERNAL_ENCODINGS"] {
        if !command.get_envs().any(|(given, _)| given == name) {
            command.env_remove(name);
        }
    }
    let Output { status, stdout, stderr } = output_of_written(command).expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Outcome { exit_code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// A child that another test has forked meanwhile holds the test's files open for writing until it executes its own
/// program. Linux refuses to execute such a file (ETXTBSY).
pub fn output_of_written(command: &mut Command) -> std::io::Result<Output> {
    loop {
        match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            done => return done,
        }
    }
}

/// Makes these system calls fail with the error number `errno` in the command's process and those that it starts, as
/// filters of containers do.
pub fn forbid(command: &mut Command, calls: &[libc::c_long], errno: i32) {
    const ALLOW: u32 = 0x7fff_0000;
    const FAIL: u32 = 0x0005_0000;
    let statement =
        |code: u32, jump_if_false: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: jump_if_false, k };
    // The number of the system call comes first in what the filter sees.
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for call in calls {
        filter.push(statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, *call as u32));
        filter.push(statement(libc::BPF_RET | libc::BPF_K, 0, FAIL | errno as u32));
    }
    filter.push(statement(libc::BPF_RET | libc::BPF_K, 0, ALLOW));
    let install = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: no privileges are gained from now on; takes no pointers.
        let is_bound = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
        // SAFETY: a filter, which the kernel copies.
        if is_bound && unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) } == 0
        {
            return Ok(());
        }
        Err(std::io::Error::last_os_error())
    };
    // SAFETY: two system calls between fork and exec.
    unsafe { command.pre_exec(install) };
}
