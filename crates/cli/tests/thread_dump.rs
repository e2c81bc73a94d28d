//! SIGQUIT: stacks of all threads on standard output, also while a finalizer hangs; the program goes on. Needs `mcs`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HEAD: &str = "Full thread dump:";
/// A thread that has said it is about to wait does so soon; until then the dump is asked for again.
const PATIENCE: Duration = Duration::from_secs(60);

fn send_quit(pid: u32) {
    // The shell's own `kill`: a fresh machine has no program of that name.
    let sent = Command::new("sh").args(["-c", &format!("kill -QUIT {pid}")]).status().expect("sh runs");
    assert!(sent.success());
}

/// The part of a dump that begins with this thread's line.
fn thread_part<'a>(dump: &'a str, name: &str) -> &'a str {
    let start = dump.find(&format!("\n\"{name}\" (")).unwrap_or_else(|| panic!("no thread {name:?} in:\n{dump}"));
    dump[start..].trim_start().split("\n\n").next().unwrap_or_default()
}

/// The program of this name, compiled; None without a compiler.
fn compile(name: &str) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/thread_dump").join(name).with_extension("cs");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("exe");
    let mut mcs = Command::new("mcs");
    mcs.args(["-nologo", "-debug"]).arg(format!("-out:{}", program.display())).arg(source);
    match mcs.output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout)),
        Err(error) => {
            eprintln!("skipped: mcs: {error}");
            return None;
        }
    }
    Some(program)
}

const ASLEEP: &str = "\n3 threads with this stack (sleeping): \"sleeper\" (thread ";

/// The dump of a process with so many threads at the gate of `parked.cs`, which are written as `at_gate`.
fn dump_of_parked(program: &Path, mode: &str, count: u32, at_gate: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
        .args([&format!("--threads={mode}")])
        .arg(program)
        .arg(count.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("saki starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    assert_eq!(lines.next().as_deref(), Some("ready"));
    let deadline = Instant::now() + PATIENCE;
    send_quit(child.id());
    assert!(lines.any(|line| line == HEAD));
    let dump = loop {
        send_quit(child.id());
        let dump: String = lines.by_ref().take_while(|line| line != HEAD).map(|line| line + "\n").collect();
        // Threads that have reported that they are ready may not have reached the gate yet.
        let are_waiting = dump.contains(at_gate) && dump.contains(ASLEEP);
        if are_waiting || Instant::now() > deadline {
            break dump;
        }
    };
    child.stdin.take().expect("piped").write_all(b"\n").expect("saki reads");
    assert!(lines.any(|line| line == "end"));
    assert!(child.wait().expect("a child").success());
    dump
}

#[test]
fn many_threads_are_grouped_by_equal_stacks() {
    let Some(program) = compile("parked") else { return };
    for (mode, count, written) in [("native", 60, "60"), ("green", 10_000, "10,000"), ("mn:2", 10_000, "10,000")] {
        let at_gate = format!("\n{written} threads with this stack (waiting for a handle): thread ");
        let dump = dump_of_parked(&program, mode, count, &at_gate);
        let part = |head: &str| {
            let start = dump.find(head).unwrap_or_else(|| panic!("{mode}: no {head:?} in:\n{dump}"));
            dump[start..].split("\n\n").next().unwrap_or_default().to_owned()
        };
        let at_gate = part(&at_gate);
        assert_eq!(at_gate.matches("  at Parked:WaitAtTheGate").count(), 1, "{mode}: {at_gate}");
        let asleep = part(ASLEEP);
        assert!(asleep.contains("  at Parked:SleepLong"), "{mode}: {asleep}");
        assert!(part("\"main\" (thread 1, ").contains("  at Parked:Main"), "{mode}: {dump}");
    }
}

/// The first dump of `deadlock.cs` that `is_as_expected`: the threads are on their way to their locks in those before.
fn dump_of_deadlock(program: &Path, mode: &str, kind: &str, is_as_expected: &dyn Fn(&str) -> bool) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
        .args([&format!("--threads={mode}")])
        .arg(program)
        .arg(kind)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("saki starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    assert_eq!(lines.next().as_deref(), Some("ready"));
    let deadline = Instant::now() + PATIENCE;
    send_quit(child.id());
    assert!(lines.any(|line| line == HEAD));
    let dump = loop {
        send_quit(child.id());
        let dump: String = lines.by_ref().take_while(|line| line != HEAD).map(|line| line + "\n").collect();
        if is_as_expected(&dump) {
            break dump;
        }
        assert!(Instant::now() < deadline, "{mode} {kind}: not as expected:\n{dump}");
    };
    child.stdin.take().expect("piped").write_all(b"\n").expect("saki reads");
    assert!(lines.any(|line| line == "end"));
    assert_eq!(child.wait().expect("a child").code(), Some(3));
    dump
}

#[test]
fn dumps_say_which_lock_and_who_holds_it_and_call_a_deadlock_one() {
    let Some(program) = compile("deadlock") else { return };
    let held = |what: &str, by: &str| (what.to_owned(), format!(", held by \"{by}\" (thread "));
    let cases = [
        (
            "locks",
            held("waits for the lock of System.String 0x", "right"),
            held("waits for the lock of System.Object 0x", "left"),
            true,
        ),
        ("mutexes", held("waits for mutex ", "right"), held("waits for mutex ", "left"), true),
        (
            "constructor",
            held("waits for the lock of System.RuntimeType 0x", "right"),
            held("waits for the class constructor of SlowType, run by", "left"),
            true,
        ),
        ("join", held("waits for the lock of System.Object 0x", "right"), held("waits for the end of", "left"), true),
        (
            "timed",
            held("waits for the lock of System.String 0x", "right"),
            held("waits for the lock of System.Object 0x", "left"),
            false,
        ),
        (
            "pulse",
            held("waits for a pulse of System.Object 0x", ""),
            held("waits for a pulse of System.String 0x", ""),
            false,
        ),
    ];
    for mode in ["native", "green", "mn:2"] {
        for (kind, (left, left_held), (right, right_held), is_deadlock) in &cases {
            let is_named = |dump: &str, name: &str, what: &str, held: &str| {
                let has_no_holder = ["run by", "the end of", "a pulse"].iter().any(|part| what.contains(part));
                let held = if has_no_holder { "" } else { held };
                dump.contains(&format!("\n\"{name}\" (thread "))
                    && thread_part(dump, name).lines().any(|line| line.contains(what) && line.contains(held))
            };
            let dump = dump_of_deadlock(&program, mode, kind, &|dump| {
                is_named(dump, "left", left, left_held) && is_named(dump, "right", right, right_held)
            });
            assert_eq!(dump.contains("\nDeadlock of 2 threads:\n"), *is_deadlock, "{mode} {kind}:\n{dump}");
            let counted = |name: &str, what: &str| {
                let deadlock = dump.split("\nDeadlock of 2 threads:\n").nth(1);
                if let Some(deadlock) = deadlock {
                    let lines = deadlock.lines().filter(|line| line.starts_with(&format!("  \"{name}\" (thread ")));
                    assert_eq!(lines.filter(|line| line.contains(what)).count(), 1, "{mode} {kind}:\n{dump}");
                }
            };
            counted("left", left);
            counted("right", right);
        }
        // A lock's object is shown where its text says something.
        for (kind, held) in [
            ("locks", "(\"the second lock\"), held by \"right\""),
            ("constructor", "(typeof (Deadlock)), held by \"right\""),
        ] {
            dump_of_deadlock(&program, mode, kind, &|dump| dump.contains(held));
        }
    }
}

#[test]
fn sigquit_writes_stacks_and_the_program_goes_on() {
    let Some(program) = compile("waits") else { return };
    let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
        .arg(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("saki starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    assert_eq!(lines.next().as_deref(), Some("ready"));
    let deadline = Instant::now() + PATIENCE;
    send_quit(child.id());
    assert!(lines.any(|line| line == HEAD));
    // A dump is over when the next one begins.
    let dump = loop {
        send_quit(child.id());
        let dump: String = lines.by_ref().take_while(|line| line != HEAD).map(|line| line + "\n").collect();
        if thread_part(&dump, "at the gate").contains("waiting for a lock") {
            break dump;
        }
        assert!(Instant::now() < deadline, "not at the gate:\n{dump}");
    };
    let gate = thread_part(&dump, "at the gate");
    assert_eq!(gate.matches("  at Waits:WaitForGate").count(), 4, "{gate}");
    assert!(gate.contains("/waits.cs:28"), "{gate}");
    assert!(thread_part(&dump, "busy").contains("running)\n  at Waits:Spin"), "{dump}");
    assert!(thread_part(&dump, "Finalizer").contains("  at Hangs:Finalize"), "{dump}");
    assert!(thread_part(&dump, "main").contains("  at Waits:Main"), "{dump}");
    child.stdin.take().expect("piped").write_all(b"\n").expect("saki reads");
    assert!(lines.any(|line| line == "end"));
    assert_eq!(child.wait().expect("a child").code(), Some(3));
}

#[test]
fn threads_that_nobody_can_wake_are_named_and_no_others() {
    let Some(program) = compile("leaked") else { return };
    let waits = ["pulse", "event", "semaphore", "any", "slim", "task"];
    let others = ["holder", "at a lock", "inner", "join", "left", "right"];
    for mode in ["native", "green", "mn:2"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
            .args([&format!("--threads={mode}")])
            .arg(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("saki starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
        assert_eq!(lines.next().as_deref(), Some("ready"));
        // Threads are on their way to their waits until then. A word that looks like a reference may hide some, but not
        // most of them.
        let deadline = Instant::now() + PATIENCE;
        let (head, text) = loop {
            let asked = Command::new(env!("CARGO_BIN_EXE_saki"))
                .args(["profile", "threads", "--leaked", "--pid", &child.id().to_string()])
                .output()
                .expect("saki starts");
            let text = String::from_utf8_lossy(&asked.stdout).into_owned();
            assert!(!text.contains("woken "), "{mode}: {text}");
            let head = text.lines().next().unwrap_or_default().to_owned();
            let is_named = |name: &&&str| head.contains(&format!("\"leaked {name}\" (thread "));
            if waits.iter().chain(&others).filter(is_named).count() >= 10 {
                break (head, text);
            }
            assert!(Instant::now() < deadline, "{mode}: {text}");
        };
        assert!(head.starts_with("No other thread can wake 1"), "{mode}: {head}");
        assert!(thread_part(&text, "leaked left").contains("  at Leaked:Enter"), "{mode}: {text}");
        assert!(thread_part(&text, "leaked left").contains(", held by \"leaked right\" (thread "), "{mode}: {text}");
        // The dump names them, too.
        send_quit(child.id());
        assert!(lines.any(|line| line == HEAD));
        assert!(lines.any(|line| line.starts_with("No other thread can wake 1")), "{mode}");
        child.stdin.take().expect("piped").write_all(b"\n").expect("saki reads");
        assert!(lines.any(|line| line == "end"));
        assert!(child.wait().expect("a child").success());
    }
}
