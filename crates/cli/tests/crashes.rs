//! Reports of crashes: the library, the function and its offset, the managed frames with their lines, and what other
//! threads do. Needs `mcs` and `cc`, one test .NET 9; without them the tests say so and pass.

mod support;

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The program beside its library; None without compilers.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let folder = support::folder("crashes");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crashes/crash.c");
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "-pthread", "-o"])
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

/// As the C library does where it finds the heap damaged.
#[test]
fn an_abort_in_native_code_names_its_managed_caller() {
    for mode in MODES {
        let Some(text) = report(mode, "abort", libc::SIGABRT) else { return };
        let parts = [
            "saki: signal 6 by this process, pc 0x",
            " in native code",
            "; frames of this thread:\n",
            "\n   at abort_outside+0x",
            "\n   at Crash:abort_outside",
            "\n   at Crash:Inner (string) [0x",
        ];
        check(&text, &parts);
        assert_eq!(text.matches("saki: signal").count(), 1, "{mode}: one report\n{text}");
    }
}

#[test]
fn a_crash_tells_what_the_other_threads_do() {
    for mode in MODES {
        for (how, signal) in [("native", libc::SIGSEGV), ("pointer", libc::SIGSEGV), ("abort", libc::SIGABRT)] {
            let Some(text) = report(mode, how, signal) else { return };
            let (_, others) = text.split_once("\nother threads:\n").unwrap_or_else(|| panic!("{mode} {how}: {text}"));
            check(
                others,
                &[
                    "\"main\" (thread 1, ",
                    "joining a thread)\n  waits for the end of the crashed thread (",
                    "  at Crash:Main ",
                ],
            );
            check(others, &["\"spinner\" (thread ", "\n  at Crash:Spin"]);
            assert!(!others.contains("Crash:Inner"), "{mode} {how}: the crashed thread is told twice\n{text}");
        }
    }
}

/// Libraries have threads of their own.
#[test]
fn a_crash_of_a_native_thread_is_reported_with_the_managed_threads() {
    for mode in MODES {
        let Some(text) = report(mode, "foreign", libc::SIGSEGV) else { return };
        let parts = [
            "saki: signal 11 at address 0x18, pc 0x",
            "   at crash_here+0x",
            "\n   at crash_outside+0x",
            " in libcrash.so (0x",
            "\nother threads:\n",
        ];
        check(&text, &parts);
        check(&text, &["in native code)\n  at Crash:crash_on_foreign_thread", "\n  at Crash:Inner (string) [0x"]);
    }
}

/// Watchdogs end programs by this signal that do not answer any more.
#[test]
fn an_abort_from_outside_shows_where_a_program_hangs() {
    for mode in MODES {
        let Some(program) = program() else { return };
        let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
            .arg(format!("--threads={mode}"))
            .arg(program)
            .arg("wait")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("saki starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("text");
        assert_eq!(line, "ready\n");
        let sent = Command::new("sh").args(["-c", &format!("kill -ABRT {}", child.id())]).status().expect("sh runs");
        assert!(sent.success());
        let Output { status, stderr, .. } = child.wait_with_output().expect("a child");
        let text = String::from_utf8(stderr).expect("UTF-8");
        assert_eq!(status.signal(), Some(libc::SIGABRT), "{mode}: {text}");
        check(&text, &["saki: signal 6 from process ", "; frames of the thread that got it:\n", "\nother threads:\n"]);
        check(&text, &[" at Crash:Wait ", " at Crash:Inner (string) [0x"]);
    }
}

/// The same program on .NET's class libraries.
#[test]
fn a_program_for_net_is_reported_as_one_for_mono() {
    let named = std::env::var_os("DOTNET9").map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/net/9/dotnet");
    let Ok(dotnet) = std::fs::canonicalize(named.unwrap_or(here)) else {
        return eprintln!("skipped: no .NET 9 (DOTNET9, target/net/9)");
    };
    let Some(program) = program() else { return };
    let folder = support::folder("crashes-net");
    std::fs::copy(program, folder.join("crash.dll")).expect("copied");
    std::fs::copy(program.with_file_name("libcrash.so"), folder.join("libcrash.so")).expect("copied");
    let configuration = r#"{"runtimeOptions": {"tfm": "net9.0",
        "framework": {"name": "Microsoft.NETCore.App", "version": "9.0.0"}}}"#;
    std::fs::write(folder.join("crash.runtimeconfig.json"), configuration).expect("written");
    for mode in MODES {
        let report = |how: &str, signal: i32| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
            command.arg(format!("--threads={mode}")).arg(folder.join("crash.dll")).arg(how);
            command.env("DOTNET_ROOT", dotnet.parent().expect("a folder")).env_remove("DOTNET_ROOT_X64");
            let output = command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").output().expect("saki starts");
            let text = String::from_utf8(output.stderr).expect("UTF-8");
            assert_eq!(output.status.signal(), Some(signal), "{mode} {how}: {text}");
            text
        };
        let main = ["\"main\" (thread 1, ", "  at Crash:Main "];
        for (how, signal, own) in [
            ("native", libc::SIGSEGV, "   at Crash:crash_outside"),
            ("abort", libc::SIGABRT, "   at Crash:abort_outside"),
            ("pointer", libc::SIGABRT, "Fatal error. System.AccessViolationException"),
        ] {
            let text = report(how, signal);
            check(&text, &[own, "   at Crash:Inner ", "\nother threads:\n"]);
            check(&text, &main);
            assert_eq!(text.matches("saki: signal").count(), 1, "{mode}: one report\n{text}");
        }
        let text = report("foreign", libc::SIGSEGV);
        check(&text, &["   at crash_here+0x", "\nother threads:\n"]);
        check(&text, &main);
        let text = report("fail", libc::SIGABRT);
        check(&text, &["Process terminated. enough\n   at System.Environment.FailFast", "   at Crash.Inner("]);
        assert!(!text.contains("saki: signal"), "{mode}: the reason is told once\n{text}");
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
        assert!(!text.contains("saki: signal"), "{mode}: the reason is told once\n{text}");
        let Some(text) = report(mode, "exception", libc::SIGABRT) else { return };
        check(
            &text,
            &["saying \"enough\"\n", "   at Crash:Inner (string) [0x", "System.InvalidOperationException: why"],
        );
    }
}
