//! Reports of crashes: the library, the function and its offset, and the managed frames with their lines. Needs `mcs`
//! and `cc`; without them the tests say so and pass.

mod support;

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The program beside its library; None without compilers.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let folder = support::folder("crashes");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crashes/crash.c");
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "-o"])
            .arg(folder.join("libcrash.so"))
            .arg(source);
        let done = cc.output().inspect_err(|error| eprintln!("skipped: cc: {error}")).ok()?;
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let program = folder.join("crash.exe");
        support::compile_with(&["-debug", "-unsafe"], "crashes/crash.cs", &program).then_some(program)
    };
    PROGRAM.get_or_init(compile).as_deref()
}

/// Standard error of a run that ends by this signal.
fn report(mode: &str, how: &str, signal: i32) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    let Output { status, stderr, .. } =
        command.arg(format!("--threads={mode}")).arg(program()?).arg(how).output().expect("saki starts");
    let text = String::from_utf8(stderr).expect("UTF-8");
    assert_eq!(status.signal(), Some(signal), "{mode} {how}: {status}: {text}");
    Some(text)
}

/// The lines are there, in this order.
fn check(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(at) = rest.find(part) else { panic!("{part:?} is not in its place in\n{text}") };
        rest = &rest[at + part.len()..];
    }
}

const MODES: [&str; 3] = ["native", "green", "mn:2"];

#[test]
fn a_crash_in_native_code_names_library_and_function_and_lines() {
    for mode in MODES {
        let Some(text) = report(mode, "native", libc::SIGSEGV) else { return };
        assert!(text.starts_with("saki: signal 11 at address 0x18, pc 0x"), "{mode}: {text}");
        let parts = [
            " in native code, crash_here+0x",
            " in libcrash.so (0x",
            "; frames of this thread:\n   at crash_here+0x",
            "\n   at crash_outside+0x",
            " in libcrash.so (0x",
            "\n   at Crash:crash_outside",
            "\n   at Crash:Inner (string) [0x",
            "crash.cs:15\n",
            "\n   at System.Threading.ThreadHelper:ThreadStart",
        ];
        check(&text, &parts);
        assert_eq!(text.matches("crash_here").count(), 2, "{mode}: one report\n{text}");
    }
}

#[test]
fn a_crash_in_compiled_code_says_so() {
    for mode in MODES {
        let Some(text) = report(mode, "pointer", libc::SIGSEGV) else { return };
        check(
            &text,
            &[
                "saki: signal 11 at address 0x123456789, pc 0x",
                " in compiled code",
                "   at Crash:Inner (string) [0x",
                "crash.cs:16\n",
            ],
        );
    }
}

/// The exception was thrown inside the safe region of the call, and caught: managed code went on in that region, where
/// collections do not wait for it.
#[test]
fn a_call_of_native_code_near_null_is_a_crash() {
    for mode in MODES {
        let Some(text) = report(mode, "null", libc::SIGSEGV) else { return };
        let parts = ["saki: signal 11 at address 0x10, pc 0x10 in native code", "   at Crash:CallNative [0x"];
        check(&text, &parts);
        assert!(!text.contains("caught"), "{mode}: {text}");
    }
}

#[test]
fn fail_fast_prints_the_stack() {
    for mode in MODES {
        let Some(text) = report(mode, "fail", libc::SIGABRT) else { return };
        let parts = [
            "CLR: Managed code called FailFast, saying \"enough\"\n   at System.Environment:FailFast",
            "\n   at Crash:Inner (string) [0x",
            "crash.cs:17\n",
        ];
        check(&text, &parts);
        let Some(text) = report(mode, "exception", libc::SIGABRT) else { return };
        check(
            &text,
            &["saying \"enough\"\n", "   at Crash:Inner (string) [0x", "System.InvalidOperationException: why"],
        );
    }
}
