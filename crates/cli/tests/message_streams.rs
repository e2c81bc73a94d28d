//! Closed and full outputs of Saki's own messages: nothing panics, and a program keeps its exit code. Needs `mcs` where
//! programs run.

mod support;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use support::{compile, folder};

/// Exit code of `echo.cs` with one argument.
const EXIT_CODE: i32 = 1;

fn saki(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    // A harness may ignore SIGPIPE; a shell does not.
    // SAFETY: async-signal-safe, and takes numbers only.
    unsafe {
        command.args(arguments).pre_exec(|| {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            Ok(())
        })
    };
    command
}

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").expect("/dev/full")
}

/// The end of a pipe without a reader.
fn closed_pipe() -> std::io::PipeWriter {
    std::io::pipe().expect("a pipe").1
}

/// A program that writes its arguments in angles and returns their number.
fn program(name: &str) -> Option<PathBuf> {
    let program = folder(&format!("message-streams/{name}")).join("echo.exe");
    compile("command_line/echo.cs", &program).then_some(program)
}

/// Commands that answer on standard output.
fn answering() -> Vec<Vec<&'static str>> {
    [
        &["--help"][..],
        &["--version"],
        &["help", "run"],
        &["doctor"],
        &["cache", "stat"],
        &["info", "/usr/lib/mono/4.5/mscorlib.dll"],
        &["profile", "--help"],
    ]
    .into_iter()
    .filter(|words| words[0] != "info" || PathBuf::from(words[1]).exists())
    .map(<[_]>::to_vec)
    .collect()
}

#[test]
fn a_reader_that_goes_away_ends_the_command_as_other_tools() {
    for words in answering() {
        let done = saki(&words).stdout(closed_pipe()).stderr(Stdio::piped()).output().expect("saki starts");
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.signal(), &*errors), (Some(libc::SIGPIPE), ""), "{words:?}: {}", done.status);
    }
}

/// A shell that ignores SIGPIPE has its commands do so, too.
#[test]
fn an_ignored_sigpipe_makes_an_error_of_it() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    // SAFETY: async-signal-safe, and takes numbers only.
    unsafe {
        command.arg("doctor").pre_exec(|| {
            libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            Ok(())
        })
    };
    let done = command.stdout(closed_pipe()).output().expect("saki starts");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("saki doctor: standard output: Broken pipe"), "{errors}");
}

#[test]
fn a_full_output_is_an_error() {
    for words in answering() {
        let done = saki(&words).stdout(full()).output().expect("saki starts");
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{words:?}: {errors}");
        assert!(errors.contains(": standard output: No space left on device"), "{words:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{words:?}: {errors}");
        // Nowhere to say so.
        let done = saki(&words).stdout(full()).stderr(full()).status().expect("saki starts");
        assert_eq!(done.code(), Some(2), "{words:?}: {done}");
    }
    for words in [&["nothere.exe"][..], &["cache", "x"], &["profile", "cpuu", "nothere.exe"]] {
        let done = saki(words).stderr(full()).status().expect("saki starts");
        assert_eq!(done.code(), Some(2), "{words:?}: {done}");
    }
}

/// Ends of the program under messages that go nowhere.
fn check_program(what: &str, command: &mut Command) {
    let check =
        |stream: &str, status: ExitStatus| assert_eq!(status.code(), Some(EXIT_CODE), "{what} {stream}: {status}");
    let status = |command: &mut Command| command.stdout(Stdio::null()).status().expect("saki starts");
    check("full", status(command.stderr(full())));
    check("closed pipe", status(command.stderr(closed_pipe())));
}

#[test]
fn messages_do_not_change_the_programs_exit_code() {
    let Some(program) = program("exit-code") else { return };
    let (folder, program) = (program.parent().unwrap().to_owned(), program.display().to_string());
    for words in [
        &["--stats"][..],
        &["--threads=green", "--stats"],
        &["--threads=mn", "--stats"],
        &["--missing"],
        &["--trace-compile", "--no-cache"],
        &["--dump-ir", "Main"],
        &["--check-walks", "100"],
        &["profile", "cpu"],
        &["profile", "cpu,heap", "--why", "NoSuchType"],
        &["profile", "heap"],
        &["profile", "-o", "/nowhere/x"],
    ] {
        let words = [words, &[&program, "x"]].concat();
        check_program(&format!("{words:?}"), saki(&words).current_dir(&folder));
    }
    for (name, value) in [("SAKI_PROFILE", "cpu,heap"), ("MONO_GC_PARAMS", "nursery-size=x"), ("SAKI_PROFILE", "log:x")]
    {
        check_program(name, saki(&[&program, "x"]).env(name, value).current_dir(&folder));
    }
    let mut mono = saki(&["--runtime=v2", &program, "x"]);
    check_program("mono", mono.arg0("mono").current_dir(&folder));
}

/// `saki profile cpu,heap app.exe 2>&1 | head -3`: the reader goes after some lines.
#[test]
fn a_reader_that_goes_meanwhile_does_not_change_it_either() {
    let Some(program) = program("head") else { return };
    let folder = program.parent().unwrap().to_owned();
    let mut command = saki(&[&program.display().to_string(), "x"]);
    command.env("SAKI_PROFILE", "cpu,heap").current_dir(folder);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("saki starts");
    let mut line = String::new();
    BufReader::with_capacity(1, child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("cpu profile: "), "{line}");
    assert_eq!(child.wait().expect("it ends").code(), Some(EXIT_CODE));
}

/// The log of native libraries and the thread dump go to standard output, where the program writes, too.
#[test]
fn logs_on_a_full_output_do_not_end_the_program() {
    let Some(program) = program("log") else { return };
    let program = program.display().to_string();
    let mut command = saki(&[&program]);
    command.env("MONO_LOG_LEVEL", "debug").env("MONO_LOG_MASK", "dll,cfg");
    let done = command.stdout(full()).output().expect("saki starts");
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
}
