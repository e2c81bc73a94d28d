//! Overflows of the main thread's stack, whatever its limit, and overflows outside of managed code. Needs `mcs` and
//! `cc`; without them the tests say so and pass.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

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

/// Runs the test program with this limit of the stack; None without compilers or where the limit cannot be set.
fn run(argument: &str, stack_bytes: u64) -> Option<Output> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stack_overflow");
        std::fs::create_dir_all(&folder).expect("a folder for test programs");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stack_overflow");
        let mut mcs = Command::new("mcs");
        mcs.args(["-nologo", "-unsafe"])
            .arg(format!("-out:{}", folder.join("overflow.exe").display()))
            .arg(source.join("overflow.cs"));
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-shared", "-fPIC", "-pthread", "-o"])
            .arg(folder.join("libhover.so"))
            .arg(source.join("hover.c"));
        (compiler_ran(&mut mcs) && compiler_ran(&mut cc)).then_some(folder)
    };
    let folder = FOLDER.get_or_init(compile).as_ref()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.arg(folder.join("overflow.exe")).arg(argument).env("XDG_CACHE_HOME", folder.join("cache"));
    let limit = libc::rlimit { rlim_cur: stack_bytes, rlim_max: libc::RLIM_INFINITY };
    let set_limit = move || {
        // SAFETY: the pointer is to an initialised value; async-signal-safe.
        match unsafe { libc::setrlimit(libc::RLIMIT_STACK, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: `set_limit` makes one system call.
    unsafe { command.pre_exec(set_limit) };
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: a stack of {stack_bytes} bytes: {error}");
            None
        }
    }
}

fn check_prints(what: &str, output: &Output, expected: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {:?}: {stderr}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{what}: {stderr}");
}

#[test]
fn an_overflow_of_the_main_thread_is_caught_with_any_limit_of_the_stack() {
    for stack_bytes in [256 << 10, 512 << 10, 8 << 20, 64 << 20, libc::RLIM_INFINITY] {
        let Some(output) = run("catch", stack_bytes) else { return };
        check_prints(&format!("{stack_bytes} bytes"), &output, "3\n");
    }
}

#[test]
fn an_overflow_of_native_code_ends_the_process_with_a_report() {
    let Some(output) = run("native", 8 << 20) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{:?}: {stderr}", output.status);
    assert!(stderr.starts_with("Stack overflow.\n") && stderr.contains("Overflow:Main"), "{stderr}");
}

#[test]
fn an_overflow_is_caught_while_signals_use_the_same_stack() {
    let Some(output) = run("signals", 1 << 20) else { return };
    check_prints("signals", &output, "10 True\n");
}
