//! `saki profile --pid`: several clients at a time, any name of a file, and exit codes that tell whether something was
//! written. Needs `mcs`.

mod support;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// None without the compiler.
fn compile(name: &str) -> Option<PathBuf> {
    let program = support::folder(&format!("attached-clients/{name}")).join("program.exe");
    support::compile_with(&["-optimize+"], "attached_clients/waiting.cs", &program).then_some(program)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program that waits until its input ends, and then says that it ends.
struct Waiting {
    process: Child,
    id: String,
}

impl Waiting {
    fn start(program: &Path, options: &[&str]) -> Waiting {
        let mut process = Command::new(env!("CARGO_BIN_EXE_saki"))
            .args(options)
            .arg(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("saki starts");
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        let id = process.id().to_string();
        Waiting { process, id }
    }

    /// `saki profile WORDS --pid`.
    fn ask(&self, words: &[&OsStr]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        command.arg("profile").args(words).args(["--pid", &self.id]);
        command
    }

    /// Nothing was printed beside what the program prints.
    fn end(mut self) {
        drop(self.process.stdin.take());
        let ended = self.process.wait_with_output().expect("it ends");
        assert_eq!((ended.status.code(), &*text(&ended.stdout)), (Some(0), "ok\n"), "{}", text(&ended.stderr));
    }
}

fn words(text: &str) -> Vec<&OsStr> {
    text.split(' ').map(OsStr::new).collect()
}

/// Each client bound the process's socket anew, in place of the one before: 11 of 20 were never connected to.
#[test]
fn clients_at_one_time_do_not_take_each_others_socket() {
    let Some(program) = compile("crowd") else { return };
    for mode in ["--threads=native", "--threads=green", "--threads=mn:2"] {
        let waiting = Waiting::start(&program, &[mode]);
        let outputs: Vec<PathBuf> = (0..8).map(|n| program.with_extension(format!("{n}{mode}.heap"))).collect();
        let start = |output: &PathBuf| {
            let mut command = waiting.ask(&[OsStr::new("heap"), OsStr::new("-o"), output.as_os_str()]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("saki starts")
        };
        let clients: Vec<Child> = outputs.iter().map(start).collect();
        for (client, output) in clients.into_iter().zip(&outputs) {
            let done = client.wait_with_output().expect("it ends");
            assert_eq!(done.status.code(), Some(0), "{mode}: {}", text(&done.stderr));
            assert!(std::fs::read(output).expect("a snapshot").starts_with(b"SAKIHEAP"), "{}", output.display());
        }
        waiting.end();
    }
}

/// Of profiles the process makes one at a time; whoever comes meanwhile is told.
#[test]
fn a_second_profile_at_one_time_is_refused() {
    let Some(program) = compile("second") else { return };
    let waiting = Waiting::start(&program, &[]);
    let output = program.with_extension("folded");
    let options = format!("wall --format=folded --duration 30 -o {}", output.display());
    let mut first = waiting.ask(&words(&options)).stderr(Stdio::piped()).spawn().expect("saki starts");
    let mut errors = BufReader::new(first.stderr.take().expect("a pipe"));
    let mut line = String::new();
    errors.read_line(&mut line).expect("a line");
    assert_eq!(line, "profiling for 30 s; Ctrl-C ends it earlier\n");
    let second = waiting.ask(&words("cpu --duration 30")).output().expect("saki starts");
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("a profile is being made already"), "{}", text(&second.stderr));
    // The program ends long before the profile would: the first client gets its answer then.
    waiting.end();
    assert_eq!(first.wait().expect("it ends").code(), Some(0));
    let rest: String = errors.lines().map_while(Result::ok).map(|line| line + "\n").collect();
    assert!(rest.contains(&format!("profile: {}\n", output.display())), "{rest}");
    assert!(output.exists());
}

#[test]
fn what_is_not_written_is_an_error_of_the_client() {
    let Some(program) = compile("unwritten") else { return };
    let waiting = Waiting::start(&program, &[]);
    let check = |options: &str, expected: &str| {
        let done = waiting.ask(&words(options)).output().expect("saki starts");
        assert_eq!(done.status.code(), Some(2), "{options}: {}", text(&done.stderr));
        assert!(text(&done.stderr).contains(expected), "{options}: {}", text(&done.stderr));
    };
    check("cpu --format=folded --duration=0.2 -o /nowhere/x", "the profile was not written: /nowhere/x: No such file");
    check("cpu --format=folded,pprof --duration=0.2 -o /dev/full/x", "the profile was not written: /dev/full/x.folded");
    check("heap -o /nowhere/x", "/nowhere/x: No such file");
    waiting.end();
}

#[test]
fn any_name_of_a_file_is_written() {
    let Some(program) = compile("names") else { return };
    let waiting = Waiting::start(&program, &[]);
    for name in [&b"line\nfeed.folded"[..], b"tab\there.folded", b"not \xff\xfe utf-8.folded", b"a,output=b.folded"] {
        let output = program.with_file_name(OsStr::from_bytes(name));
        let run = |words: &[&OsStr]| {
            let done: Output = waiting.ask(words).arg("-o").arg(&output).output().expect("saki starts");
            assert_eq!(done.status.code(), Some(0), "{name:?}: {}", text(&done.stderr));
            let contents = std::fs::read(&output).expect("a file of this name");
            std::fs::remove_file(&output).expect("the file");
            contents
        };
        assert!(run(&words("wall --format=speedscope --duration=0.2")).starts_with(b"{"), "{name:?}");
        assert!(run(&words("heap")).starts_with(b"SAKIHEAP"), "{name:?}");
    }
    waiting.end();
}

/// `-o -` wrote a file of the name `-.html`.
#[test]
fn a_minus_is_standard_output() {
    let Some(program) = compile("minus") else { return };
    let folder = program.parent().unwrap();
    let waiting = Waiting::start(&program, &[]);
    let ask = |options: &str| {
        let done = waiting.ask(&words(options)).current_dir(folder).output().expect("saki starts");
        assert_eq!(done.status.code(), Some(0), "{options}: {}", text(&done.stderr));
        done.stdout
    };
    let speedscope = text(&ask("wall --format=speedscope --duration=0.2 -o -"));
    assert!(speedscope.starts_with('{') && speedscope.trim_end().ends_with('}'), "{speedscope}");
    assert!(ask("heap -o -").starts_with(b"SAKIHEAP"));
    waiting.end();
    let run = |options: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        command.arg("profile").args(words(options)).arg(&program).stdin(Stdio::null());
        command.current_dir(folder).output().expect("saki starts")
    };
    let done = run("load --format=folded -o -");
    let (first, rest) =
        text(&done.stdout).split_once("ok\n").map(|(a, b)| (a.to_owned(), b.to_owned())).expect("its end");
    assert_eq!(first, "ready\n");
    assert!(rest.contains("Waiting:Main") && done.status.code() == Some(0), "{rest}");
    for refused in ["cpu --format=folded,pprof -o -", "cpu,heap -o -", "heap --format=heap,html -o -"] {
        let done = run(refused);
        assert_eq!(done.status.code(), Some(2), "{refused}");
        assert!(text(&done.stderr).contains("-o - takes one file"), "{refused}: {}", text(&done.stderr));
    }
    let names = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    let stray: Vec<_> = names.filter(|name| name.as_bytes().starts_with(b"-")).collect();
    assert!(stray.is_empty(), "{stray:?}");
}
