//! `saki profile heap`: live objects are counted, and the reported paths from roots are those that keep them alive.
//!
//! Needs `mcs`; without it the tests say so and pass.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder of the test's own.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("heaps").join(test);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// None without the compiler.
fn compile(test: &str) -> Option<PathBuf> {
    let program = folder(test).join("graphs.exe");
    support::compile_with(&["-optimize+"], "heaps/graphs.cs", &program).then_some(program)
}

fn saki(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_saki")).args(arguments).output().expect("saki starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Objects of a type in the table of `saki profile view`.
fn count(file: &str, name: &str) -> u64 {
    let view = saki(&["profile", "view", file, "--why", name]);
    if view.status.success() {
        let out = text(&view.stdout);
        let (found, rest) = out.split_once(": ").expect("a name");
        assert!(found == name || found == format!("{name} (domain 1)"), "{found}");
        return rest.split(' ').next().expect("a number").replace(',', "").parse().expect("a number");
    }
    assert!(text(&view.stderr).contains(&format!("no object of a type {name} is alive")), "{}", text(&view.stderr));
    0
}

/// Number and way of each reason.
fn reasons(file: &str, name: &str) -> Vec<(u64, String)> {
    let view = saki(&["profile", "view", file, "--why", name]);
    assert!(view.status.success(), "{}", text(&view.stderr));
    let out = text(&view.stdout);
    let ways = out.split("\n\n").skip(1).map(|way| {
        let (head, steps) = way.split_once('\n').expect("lines");
        let number = head.split(' ').next().expect("a number").replace(',', "").parse().expect("a number");
        (number, steps.lines().map(str::trim).collect::<Vec<_>>().join(" "))
    });
    ways.collect()
}

const TYPES: [(&str, u64); 17] = [
    ("Node", 1000),
    ("Chain", 1),
    ("Session", 100),
    ("Subscriber", 10),
    ("Twice", 20),
    ("Key", 7),
    ("CachedValue", 7),
    ("WeakTarget", 0),
    ("OnStack", 1),
    ("Pinned", 1),
    ("HandleTarget", 1),
    ("PerThread", 1),
    ("Captured", 1),
    ("InBox", 2),
    ("Pair", 1),
    ("DomainThing", 3),
    ("Dropped", 0),
];

const DICTIONARY: &str = "System.Collections.Generic.Dictionary`2";

/// Stale words of stacks, which are scanned conservatively, may keep an object or a list of them that nothing has any
/// more.
fn check_counts(file: &str, slack: u64) {
    for (name, expect) in TYPES {
        let found = count(file, name);
        assert!((expect..=expect + slack).contains(&found), "{found} objects of {name} instead of {expect}");
    }
}

fn check_reasons(file: &str) {
    let check = |name: &str, number: u64, way: &str| {
        let found = reasons(file, name);
        assert!(found.contains(&(number, way.to_owned())), "{name}: {number} by {way}: {found:#?}");
    };
    check("Node", 1000, "static field Graphs.chain -> Chain.head -> Node   (up to 1,000 in a row, by .next)");
    let entry = format!("{DICTIONARY}+Entry[System.Int32,Session][] [i].value");
    let way =
        format!("static field Graphs.sessions -> {DICTIONARY}[System.Int32,Session]._entries -> {entry} -> Session");
    check("Session", 100, &way);
    let way = "static field Bus.Changed -> System.Action.delegates -> System.Delegate[] [i] -> System.Action.m_target -> Subscriber";
    check("Subscriber", 10, way);
    let way = "static field Graphs.twice -> Twice[] [i] -> Twice";
    check("Twice", 20, way);
    let way =
        "static field Bus.Twice -> System.Action.delegates -> System.Delegate[] [i] -> System.Action.m_target -> Twice";
    check("Twice", 20, way);
    check("Key", 7, "static field Graphs.keys -> Key[] [i] -> Key");
    let way = "static field Graphs.keys -> Key[] [i] -> Key (key in a ConditionalWeakTable) -> CachedValue";
    check("CachedValue", 7, way);
    check("Pinned", 1, "pinned GC handle -> Pinned");
    check("HandleTarget", 1, "GC handle -> HandleTarget");
    check("InBox", 1, "static field Graphs.boxed -> Pair.first -> InBox");
    check("InBox", 1, "static field Graphs.pairs -> Pair[] [i].second -> InBox");
    let domain = "(domain 1)";
    let way = format!("static field InDomain {domain}.kept -> System.Object[] {domain} [i] -> DomainThing {domain}");
    check("DomainThing", 3, &way);
    let (_, captured) = reasons(file, "Captured").remove(0);
    let (start, end) =
        ("static field Graphs.closure -> System.Func`1[System.Int32].m_target -> ", ".captured -> Captured");
    assert!(captured.starts_with(start) && captured.ends_with(end), "{captured}");
    let (_, per_thread) = reasons(file, "PerThread").remove(0);
    let (start, end) = ("thread-static field Graphs.perThread of thread ", " \"Holder\" -> PerThread");
    assert!(per_thread.starts_with(start) && per_thread.ends_with(end), "{per_thread}");
    let (_, on_stack) = reasons(file, "OnStack").remove(0);
    assert!(on_stack.starts_with("stack of thread ") && on_stack.ends_with(" -> OnStack"), "{on_stack}");
    assert!(on_stack.contains(" \"Holder\""), "{on_stack}");
}

fn check_at_end(test: &str, options: &[&str], slack: u64) {
    let Some(program) = compile(test) else { return };
    let file = folder(test).join("end.heap").display().to_string();
    let mut words = vec!["profile", "heap", "--why", "Sesion", "--why", "Key", "-o", &file];
    words.extend(options);
    let program = program.display().to_string();
    words.push(&program);
    let run = saki(&words);
    let stderr = text(&run.stderr);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{stderr}");
    assert!(stderr.starts_with("heap: "), "{stderr}");
    assert!(stderr.contains("no object of a type Sesion is alive; alive are, for example: Session"), "{stderr}");
    assert!(stderr.contains("\nKey: 7 objects, "), "{stderr}");
    assert!(stderr.ends_with(&format!("heap snapshot: {file}\n")), "{stderr}");
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    check_counts(&file, slack);
    check_reasons(&file);
}

#[test]
fn at_the_end_on_native_threads() {
    check_at_end("native", &["--threads=native"], 1);
}

#[test]
fn at_the_end_on_several_carriers() {
    check_at_end("mn", &["--threads=mn:2"], 1);
}

#[test]
fn at_the_end_under_gc_stress() {
    check_at_end("stress", &["--gc-stress=500"], 1);
}

#[test]
fn with_several_collector_threads() {
    check_at_end("gc-threads", &["--gc-threads=3"], 1);
}

#[test]
fn of_a_process_in_which_four_threads_allocate() {
    let Some(program) = compile("pid") else { return };
    for threads in ["--threads=native", "--threads=mn:2"] {
        let mut process = Command::new(env!("CARGO_BIN_EXE_saki"))
            .args([threads, &program.display().to_string(), "allocate", "wait"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("saki starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let (id, base) = (process.id().to_string(), folder("pid").join(threads).display().to_string());
        let words = ["profile", "heap", "--pid", &id, "--format", "heap,html", "-o", &base];
        for words in
            [&words[..], &["profile", "heap", "--pid", &id, "--duration", "0.2", "-o", &format!("{base}.second")]]
        {
            let asked = saki(words);
            assert!(asked.status.success(), "{}", text(&asked.stderr));
            assert!(text(&asked.stdout).contains("\nheap: "), "{}", text(&asked.stdout));
        }
        writeln!(process.stdin.take().expect("a pipe")).expect("the program reads");
        assert_eq!((process.wait().expect("an end").code(), &*line), (Some(0), "ok\n"));
        let (first, second) = (format!("{base}.heap"), format!("{base}.second"));
        // The lists of the four belong to their stacks, and so may some before them, by stale words. A nursery holds
        // 170,000 nodes.
        let nodes = count(&first, "Node");
        assert!(nodes <= 1000 + 4 * 4 * 1001, "{nodes} nodes");
        check_reasons_of_running(&first);
        check_reasons_of_running(&second);
        let page = std::fs::read_to_string(format!("{base}.heap.html")).expect("a page");
        assert!(page.contains("\"Session\",100,") && page.contains("static field Graphs.sessions"));
        let page = format!("{base}.grown.html");
        let diff = saki(&["profile", "diff", "-o", &page, &first, &second]);
        let page = std::fs::read_to_string(page).expect("a page of the changes");
        assert!(page.contains("\"isComparison\":true"), "a page of one snapshot");
        assert!(text(&diff.stdout).starts_with("heap: "), "{}", text(&diff.stderr));
        assert!(!text(&diff.stdout).contains(" Session\n"), "sessions did not change");
    }
}

/// Main waits, and the threads' lists are there too.
fn check_reasons_of_running(file: &str) {
    let chain = "static field Graphs.chain -> Chain.head -> Node   (up to 1,000 in a row, by .next)";
    assert!(reasons(file, "Node").contains(&(1000, chain.to_owned())), "{:#?}", reasons(file, "Node"));
    assert_eq!((count(file, "Session"), count(file, "CachedValue")), (100, 7));
    let (_, on_stack) = reasons(file, "OnStack").remove(0);
    assert!(on_stack.starts_with("stack of thread ") && on_stack.contains(" \"Holder\""), "{on_stack}");
}

/// The profiles end, then the heap is looked at: by command line, by variable, and of a process that runs.
#[test]
fn a_snapshot_goes_with_profiles() {
    let Some(program) = compile("with-profiles") else { return };
    let program = program.display().to_string();
    let check = |base: &str, said: &str| {
        let (profile, heap) = (said.find("gc profile: "), said.find("\nheap: "));
        assert!(profile.is_some() && heap.is_some() && profile < heap, "{said}");
        assert_eq!((said.matches("profile: ").count(), said.matches("heap snapshot: ").count()), (3, 1), "{said}");
        let file = format!("{base}.heap");
        assert_eq!((count(&file, "Session"), count(&file, "CachedValue")), (100, 7));
        std::fs::remove_file(file).expect("the snapshot");
        let folded = std::fs::read_to_string(format!("{base}.folded")).expect("a profile");
        assert!(folded.contains("[cpu];"), "{folded}");
        assert!(!std::fs::exists(format!("{base}.heap.html")).expect("a folder"), "nobody asked for a page");
    };
    let base = folder("with-profiles").join("both").display().to_string();
    let output = format!("{base}.folded");
    let options = ["--format=folded", "-o", &output, "--why", "Key"];
    let run = saki(&[&["profile", "cpu,heap,gc"], &options[..], &[&program]].concat());
    let stderr = text(&run.stderr);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{stderr}");
    assert!(stderr.contains("\nKey: 7 objects, "), "{stderr}");
    check(&base, &stderr);
    let request = format!("heap,gc,cpu,format=folded,output={output}");
    let run = Command::new(env!("CARGO_BIN_EXE_saki")).arg(&program).env("SAKI_PROFILE", request).output();
    let run = run.expect("saki starts");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{}", text(&run.stderr));
    check(&base, &text(&run.stderr));
    let file = format!("{base}.alone");
    let run = Command::new(env!("CARGO_BIN_EXE_saki"))
        .arg(&program)
        .env("SAKI_PROFILE", format!("heap,output={file}"))
        .output()
        .expect("saki starts");
    assert!(text(&run.stderr).starts_with("heap: ") && count(&file, "Session") == 100, "{}", text(&run.stderr));
    let mut process = Command::new(env!("CARGO_BIN_EXE_saki"))
        .args([&program, "allocate", "wait"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("saki starts");
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let id = process.id().to_string();
    let asked = saki(&["profile", "cpu,heap", "--pid", &id, "--duration=1", "--format=folded", "-o", &output]);
    writeln!(process.stdin.take().expect("a pipe")).expect("the program reads");
    assert_eq!((process.wait().expect("an end").code(), &*line), (Some(0), "ok\n"));
    assert!(asked.status.success() && text(&asked.stderr).contains("cpu profile: "), "{}", text(&asked.stderr));
    assert!(text(&asked.stdout).contains("\nheap: "), "{}", text(&asked.stdout));
    assert_eq!(count(&format!("{base}.heap"), "Session"), 100);
}

#[test]
fn what_is_no_snapshot_is_refused() {
    let file = folder("refused").join("profile.folded").display().to_string();
    std::fs::write(&file, "a;b 3\n").expect("a file");
    let view = saki(&["profile", "view", &file, "--why", "Key"]);
    assert_eq!(view.status.code(), Some(2));
    assert!(text(&view.stderr).contains("this is no heap snapshot, which --why is for"), "{}", text(&view.stderr));
    std::fs::write(&file, b"SAKIHEAP\x01").expect("a file");
    let view = saki(&["profile", "view", &file]);
    assert!(text(&view.stderr).contains("the file ends early"), "{}", text(&view.stderr));
}

#[test]
fn a_full_disk_is_no_failure_of_the_program() {
    let Some(program) = compile("full") else { return };
    let run = saki(&["profile", "heap", "-o", "/dev/full", &program.display().to_string()]);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()));
    assert!(
        text(&run.stderr).contains("saki: the heap snapshot was not written: /dev/full: "),
        "{}",
        text(&run.stderr)
    );
}
