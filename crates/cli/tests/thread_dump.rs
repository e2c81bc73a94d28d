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
    let start = dump.find(&format!("\"{name}\" (")).unwrap_or_else(|| panic!("no thread {name:?} in:\n{dump}"));
    dump[start..].split("\n\n").next().unwrap_or_default()
}

#[test]
fn sigquit_writes_stacks_and_the_program_goes_on() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/thread_dump/waits.cs");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("waits.exe");
    let mut mcs = Command::new("mcs");
    mcs.args(["-nologo", "-debug"]).arg(format!("-out:{}", program.display())).arg(source);
    match mcs.output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout)),
        Err(error) => return eprintln!("skipped: mcs: {error}"),
    }
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
