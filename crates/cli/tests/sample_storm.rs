//! Wall-clock samples at 10 kHz of eight busy threads, amid nested user signals, forced collections, threads that start
//! and end, application domains that are loaded and unloaded, and dynamic methods that are made and dropped.
//!
//! The test demands: no crash, no deadlock (a time limit), no wrong result and no wrong name: in each sample of a
//! method, its only caller is the frame above it and its only callee the frame below; and at most one sample in a
//! hundred is lost. Needs `cc` and `mcs`; without them the test says so and passes. `SAKI_STORM_SECONDS` is its length
//! (default 2 s, `./x stress` takes 60 s) for each way in which threads are executed, `SAKI_THREADS` or else native and
//! mn; `SAKI_STORM_METHODS` is the number of dynamic methods (default 2,000, `./x stress` 300,000), all of which are
//! made even if that takes longer.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BUSY_THREADS: u64 = 8;
/// Between two user signals of a thread; at the rate of `signals.rs` they would take most of the time, and little would
/// come and go.
const SIGNAL_INTERVAL_NS: &str = "1000000";
/// On a loaded machine the methods take longer than the time.
const GRACE: Duration = Duration::from_secs(600);

fn number_from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

/// False without a compiler.
fn compile_sender(library: &Path) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/signals/sender.c");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-shared", "-fPIC", "-pthread", "-o"]).arg(library).arg(source);
    match cc.output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr)),
        Err(error) => {
            eprintln!("skipped: cc: {error}");
            return false;
        }
    }
    true
}

/// The program's own frames of a stack, outermost first.
fn own_frames(stack: &str) -> Vec<&str> {
    let is_own = |frame: &&str| ["Storm:", "InDomain:", "method_"].iter().any(|start| frame.starts_with(start));
    stack.split(';').filter(is_own).collect()
}

/// Whether the program can have been there; None: the stack says nothing of that.
fn is_true(frames: &[&str]) -> Option<bool> {
    let below = |at: usize| frames[at + 1..].to_vec();
    let spins = |at: usize| below(at).is_empty() || below(at) == ["Storm:Spin"];
    if let Some(at) = frames.iter().position(|frame| frame.starts_with("method_")) {
        let thread = frames[at].split('_').nth(1)?;
        let is_called_right = frames[..at] == [&*format!("Storm:Work{thread}"), "Storm:Run"];
        return Some(is_called_right && spins(at));
    }
    if let Some(at) = frames.iter().position(|frame| *frame == "Storm:Brief") {
        return Some(at == 0 && spins(at));
    }
    if let Some(at) = frames.iter().position(|frame| *frame == "InDomain:Spins") {
        return Some(frames[..at] == ["Storm:Domains"] && spins(at));
    }
    let at = frames.iter().position(|frame| *frame == "Storm:Run")?;
    Some(at == 1 && frames[0].starts_with("Storm:Work"))
}

/// The number before a word.
fn number_before(text: &str, word: &str) -> Option<u64> {
    text.split(word).next()?.split_whitespace().next_back()?.parse().ok()
}

fn storm(program: &Path, sender: &Path, threads: &str) {
    let folded = program.with_extension(format!("{}.folded", threads.replace(':', "")));
    let seconds = number_from_environment("SAKI_STORM_SECONDS", 2);
    let methods = number_from_environment("SAKI_STORM_METHODS", 2000);
    let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
        .args([&format!("--threads={threads}"), &program.display().to_string()])
        .args([seconds, BUSY_THREADS, methods].map(|number| number.to_string()))
        .env("SAKI_PROFILE", format!("cpu,hz=10000,storm,format=folded,output={}", folded.display()))
        .env("LD_PRELOAD", sender)
        .env("SAKI_SIGNAL_NS", SIGNAL_INTERVAL_NS)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("saki starts");
    let deadline = Instant::now() + Duration::from_secs(seconds) + GRACE;
    while child.try_wait().expect("a child").is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    // Nothing that has ended already.
    let _ = child.kill();
    let output = child.wait_with_output().expect("its output");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((output.status.code(), &*stdout), (Some(0), "ok\n"), "{threads}: {:?}: {stderr}", output.status);
    let stacks = std::fs::read_to_string(folded).expect("a profile");
    let (mut checked, mut of_methods, mut in_domains) = (0, 0, 0);
    for stack in stacks.lines().filter_map(|line| Some(line.rsplit_once(' ')?.0)) {
        let frames = own_frames(stack);
        if let Some(is_true) = is_true(&frames) {
            assert!(is_true, "{threads}: the program was never there: {stack}");
            checked += 1;
            of_methods += u32::from(frames.iter().any(|frame| frame.starts_with("method_")));
            in_domains += u32::from(frames.contains(&"InDomain:Spins"));
        }
    }
    assert!(of_methods > 20, "{threads}: methods that were collected keep their names, but {of_methods} were found");
    let samples = number_before(&stderr, " samples\n").expect("a number");
    let lost =
        if stderr.contains(" samples lost") { number_before(&stderr, " samples lost").expect("a number") } else { 0 };
    let is_told =
        |line: &&str| line.starts_with("storm: ") || line.starts_with("signals: ") && line.contains(" nested");
    eprintln!("{threads}: {}", stderr.lines().filter(is_told).collect::<Vec<_>>().join("; "));
    eprintln!(
        "{threads}: {samples} samples, {lost} lost; {checked} stacks checked, {of_methods} of methods, {in_domains} in domains"
    );
    assert!(lost * 100 <= samples, "{threads}: {lost} of {samples} samples are lost: {stderr}");
}

#[test]
fn samples_are_true_whatever_comes_and_goes() {
    let folder = support::folder("sample-storm");
    let (program, sender) = (folder.join("storm.exe"), folder.join("sender.so"));
    if !compile_sender(&sender) || !support::compile_with(&["-optimize+"], "sample_storm/storm.cs", &program) {
        return;
    }
    match std::env::var("SAKI_THREADS") {
        Ok(mode) if !mode.is_empty() => storm(&program, &sender, &mode),
        _ => ["native", "mn:2"].iter().for_each(|mode| storm(&program, &sender, mode)),
    }
}
