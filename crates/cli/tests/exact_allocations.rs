//! Profiles of all allocations have the right numbers of objects and bytes, by type, method and thread, whatever the
//! threads do meanwhile: Mono's log (`--profile=log:alloc`) and `saki profile alloc --exact`.
//!
//! Needs `mcs`, and for the log Mono's library of logs (Mono.Profiler.Log.dll); without them the test says so and
//! passes.

mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = "-r:Mono.Profiler.Log.dll";
const ROUNDS: u64 = 12;
const THREADS: u64 = 3;
const OTHER_STRINGS: u64 = 20;
const OTHER_STRING_BYTES: u64 = 200;

/// By type, thread (empty for the recursive method, whose outer frames are cut off) and method: how many objects, if
/// that is known, and bytes.
type Sums = HashMap<(String, String, String), (u64, u64)>;

fn add(sums: &mut Sums, ty: &str, thread: &str, method: &str, count: u64, bytes: u64) {
    let method = method.trim_start_matches("Counts:");
    let thread = if method == "Deep" { "" } else { thread.trim_start_matches("Counts:") };
    let sum = sums.entry((ty.to_owned(), thread.to_owned(), method.to_owned())).or_default();
    sum.0 += count;
    sum.1 += bytes;
}

fn saki(program: &Path, options: &[&str]) -> support::Outcome {
    let mut saki = Command::new(env!("CARGO_BIN_EXE_saki"));
    let outcome = support::run(saki.args(options).arg(program).arg(ROUNDS.to_string()));
    assert_eq!((outcome.exit_code, &*outcome.stdout), (Some(0), "ok\n"), "{options:?}: {}", outcome.stderr);
    outcome
}

/// The sums of Mono's log.
fn logged(folder: &Path, program: &Path, reader: &Path, options: &[&str]) -> Sums {
    let log = folder.join("log.mlpd").display().to_string();
    let _ = std::fs::remove_file(&log);
    saki(program, &[options, &[&format!("--profile=log:nodefaults,alloc,output={log}")]].concat());
    let mut read = Command::new(env!("CARGO_BIN_EXE_saki"));
    let read = support::run(read.arg(reader).arg(&log));
    assert_eq!(read.exit_code, Some(0), "{}", read.stderr);
    let mut sums = Sums::new();
    for line in read.stdout.lines() {
        let [count, bytes, ty, thread, method] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let number = |text: &str| text.parse().expect("a number");
        add(&mut sums, ty, thread, method, number(count), number(bytes));
    }
    sums
}

/// The sums of a profile of Saki's own, which tells no numbers of objects.
fn profiled(folder: &Path, program: &Path, options: &[&str]) -> Sums {
    let file = folder.join("profile.folded").display().to_string();
    let words = ["profile", "alloc", "--exact", "--format=folded", "-o", &file];
    let outcome = saki(program, &[&words, options].concat());
    assert!(!outcome.stderr.contains("lost"), "{}", outcome.stderr);
    let mut sums = Sums::new();
    for line in std::fs::read_to_string(&file).expect("a profile").lines() {
        let (stack, bytes) = line.rsplit_once(' ').expect("a number");
        let own: Vec<&str> = stack.split(';').filter(|frame| frame.starts_with("Counts:")).collect();
        if let (Some(thread), Some(method), Some(ty)) = (own.first(), own.last(), stack.split(';').next_back()) {
            add(&mut sums, ty, thread, method, 0, bytes.parse().expect("a number"));
        }
    }
    sums
}

/// What the program allocates: type, method, and how many objects a thread of this number allocates in a round.
type Expected = (&'static str, &'static str, fn(u64) -> u64);

fn expected() -> [Expected; 9] {
    [
        ("Small", "Smalls", |thread| 1000 * thread),
        ("Pair", "Boxes", |_| 100),
        ("Pair[]", "Arrays", |_| 70),
        ("Pair[]", "Larges", |_| 2),
        ("Small[,]", "Tables", |_| 30),
        // Of eleven one is the empty string.
        ("System.String", "Strings", |_| 100),
        ("Copied", "Copies", |_| 50),
        ("Finalized", "Finals", |_| 20),
        ("Small", "Deep", |_| 200),
    ]
}

fn check(what: &str, logged: &Sums, profiled: &Sums) {
    for (ty, method, count) in expected() {
        let mut sums: HashMap<String, u64> = HashMap::new();
        for thread in 1..=THREADS {
            let name = if method == "Deep" { String::new() } else { format!("Thread{thread}") };
            *sums.entry(name).or_default() += ROUNDS * count(thread);
        }
        for (thread, expect) in sums {
            let key = (ty.to_owned(), thread, method.to_owned());
            let (count, bytes) = logged.get(&key).copied().unwrap_or_default();
            let found_bytes = profiled.get(&key).copied().unwrap_or_default().1;
            // The class library may make a few strings of its own when a method runs for the first time.
            let others = if ty == "System.String" { OTHER_STRINGS } else { 0 };
            assert!((expect..=expect + others).contains(&count), "{what}: {key:?} in the log: {count}, not {expect}");
            assert!(bytes >= 16 * count && bytes.is_multiple_of(8), "{what}: {key:?} has {bytes} bytes");
            let difference_bytes = found_bytes.abs_diff(bytes);
            assert!(
                difference_bytes <= others * OTHER_STRING_BYTES,
                "{what}: {key:?} has {bytes} bytes in the log and {found_bytes} in the profile"
            );
        }
    }
}

#[test]
fn each_allocation_is_told_once() {
    let folder = support::folder("exact-allocations");
    let (program, reader): (PathBuf, PathBuf) = (folder.join("counts.exe"), folder.join("reader.exe"));
    if !support::compile_with(&["-optimize+"], "exact_allocations/counts.cs", &program) {
        return;
    }
    let library = Path::new("/usr/lib/mono/4.5/Mono.Profiler.Log.dll");
    if !library.exists() {
        return eprintln!("skipped: no {}", library.display());
    }
    assert!(support::compile_with(&[LIBRARY, "-r:System.Core.dll"], "exact_allocations/reader.cs", &reader));
    for options in
        [&["--threads=native"][..], &["--threads=green"], &["--threads=mn:2"], &["--threads=mn:2", "--gc-stress=2000"]]
    {
        let what = options.join(" ");
        check(&what, &logged(&folder, &program, &reader, options), &profiled(&folder, &program, options));
    }
}
