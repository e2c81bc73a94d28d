//! `--profile=log`, Mono's log profiler: its logs are correct and Mono's own readers read them, and failures of the log
//! do not disturb the program.
//!
//! Needs `mcs` and Mono's library of logs (Mono.Profiler.Log.dll); without them the tests say so and pass. The output
//! of `mprof-report` (mono-utils) is checked where it is installed.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const LIBRARY: &str = "Mono.Profiler.Log.dll";

struct Programs {
    program: PathBuf,
    reader: PathBuf,
    folder: PathBuf,
}

/// None without the compiler or the library.
fn compile(test: &str) -> Option<Programs> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mono_log").join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mono_log");
    let build = |name: &str| {
        let program = folder.join(name).with_extension("exe");
        let mut mcs = Command::new("mcs");
        mcs.args(["-nologo", "-nowarn:414", "-optimize+", "-r:System.Core.dll", &format!("-r:{LIBRARY}")]);
        mcs.arg(format!("-out:{}", program.display())).arg(sources.join(name).with_extension("cs"));
        let done = mcs.output().inspect_err(|error| eprintln!("skipped: mcs: {error}")).ok()?;
        let text = text(&[done.stdout, done.stderr].concat());
        if text.contains(LIBRARY) && !done.status.success() {
            eprintln!("skipped: {text}");
            return None;
        }
        assert!(done.status.success(), "{text}");
        Some(program)
    };
    let (program, reader) = (build("program")?, build("reader")?);
    Some(Programs { program, reader, folder })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Lines of the reader: how often what is in the log.
struct Counts(HashMap<String, u32>);

impl Counts {
    fn of(&self, what: &str) -> u32 {
        self.0.get(what).copied().unwrap_or(0)
    }
}

impl Programs {
    fn run(&self, option: &str, argument: &str) -> Output {
        let program = self.program.display().to_string();
        let mut saki = Command::new(env!("CARGO_BIN_EXE_saki"));
        saki.args([&format!("--profile=log:{option}"), &program, argument]).current_dir(&self.folder);
        saki.output().expect("saki starts")
    }

    /// Runs the program to its good end.
    fn profile(&self, option: &str, argument: &str) -> Counts {
        let run = self.run(&format!("{option},output=log.mlpd"), argument);
        let ended = (run.status.code(), text(&run.stdout).ends_with("ok\n"));
        assert_eq!(ended, (Some(0), true), "{}{}", text(&run.stdout), text(&run.stderr));
        assert_eq!(text(&run.stderr), "", "nothing is said of a log");
        self.read("log.mlpd", &[])
    }

    fn read(&self, file: &str, options: &[&str]) -> Counts {
        let file = self.folder.join(file);
        let mut saki = Command::new(env!("CARGO_BIN_EXE_saki"));
        let read = saki.arg(&self.reader).arg(&file).args(options).output().expect("saki starts");
        assert!(read.status.success(), "{}{}", text(&read.stdout), text(&read.stderr));
        let lines = text(&read.stdout);
        let counts = lines.lines().filter_map(|line| {
            let (count, what) = line.split_once(' ')?;
            Some((what.to_owned(), count.parse().ok()?))
        });
        Counts(counts.collect())
    }

    /// What `mprof-report` says of the log; None without it.
    fn report(&self, options: &[&str]) -> Option<String> {
        let report = Command::new("mprof-report").args(options).arg(self.folder.join("log.mlpd")).output();
        let report = report.inspect_err(|error| eprintln!("without mprof-report: {error}")).ok()?;
        let report = text(&[report.stdout, report.stderr].concat());
        assert!(!report.contains("unknown") && !report.contains("Incorrect"), "{report}");
        Some(report)
    }
}

#[test]
fn every_call_is_written_once() {
    let Some(programs) = compile("calls") else { return };
    let counts = programs.profile("nodefaults,calls,exception", "calls");
    let check = |method: &str, calls: u32, thrown: u32| {
        let method = format!("Log:{method}");
        let found = ["enter", "leave", "thrown out of"].map(|what| counts.of(&format!("{what} {method}")));
        assert_eq!(found, [calls, calls - thrown, thrown], "{method}");
    };
    check("Main (string[])", 1, 0);
    check("Middle (int)", 100, 0);
    check("Leaf (int)", 200, 0);
    check("Deep (int)", 21, 0);
    check("Throws ()", 15, 15);
    check("Passes ()", 10, 10);
    check("Catches ()", 10, 0);
    check("Filter (System.Exception)", 5, 0);
    // The class library throws some of its own.
    assert!((15..20).contains(&counts.of("ThrowEvent")), "{}", counts.of("ThrowEvent"));
    assert_eq!(counts.of("clause Finally of Log:Passes ()"), 10);
    assert_eq!(counts.of("clause Catch of Log:Catches ()"), 10);
    assert_eq!(counts.of("clause Filter of Log:Filters ()"), 5);
    assert_eq!(counts.of("clause Catch of Log:Filters ()"), 5);
    if let Some(report) = programs.report(&["--reports=call", "--method-sort=calls"]) {
        assert!(report.contains("Log:Deep (int)") || report.contains("Total calls"), "{report}");
    }
}

#[test]
fn calls_are_limited_by_depth_and_specification() {
    let Some(programs) = compile("depth") else { return };
    let counts = programs.profile("nodefaults,calls,calldepth=5", "calls");
    assert!((1..=4).contains(&counts.of("enter Log:Deep (int)")), "{}", counts.of("enter Log:Deep (int)"));
    assert_eq!(counts.of("enter Log:Deep (int)"), counts.of("leave Log:Deep (int)"));
    let counts = programs.profile("nodefaults,calls,callspec=\"M:Log:Leaf,M:Log:Deep\"", "calls");
    assert_eq!((counts.of("EnterEvent"), counts.of("enter Log:Leaf (int)")), (221, 200));
}

#[test]
fn allocations_handles_locks_and_finalizers_are_written() {
    let Some(programs) = compile("objects") else { return };
    let counts = programs.profile("alloc,legacy,jit", "objects");
    assert_eq!(counts.of("new Node in Log:Allocates (int)"), 1000);
    assert!(counts.of("handle Pinned") >= 50 && counts.of("handle Weak") >= 10);
    assert!(counts.of("GCHandleDeletionEvent") >= 60);
    assert!(counts.of("GCFinalizeObjectBeginEvent") >= 990);
    assert_eq!(counts.of("GCFinalizeObjectBeginEvent"), counts.of("GCFinalizeObjectEndEvent"));
    assert!(counts.of("monitor Contention") >= 2, "{}", counts.of("monitor Contention"));
    assert_eq!(counts.of("monitor Contention"), counts.of("monitor Done") + counts.of("monitor Fail"));
    for thread in ["Main", "Finalizer", "Second", "Tries"] {
        assert_eq!(counts.of(&format!("thread {thread}")), 1, "{thread}");
    }
    assert_eq!(counts.of("domain program.exe"), 1);
    assert!(counts.of("GCEvent") >= 8 && counts.of("CounterSamplesEvent") > 0 && counts.of("ImageLoadEvent") >= 2);
    assert!((10..15).contains(&counts.of("ThrowEvent")), "{}", counts.of("ThrowEvent"));
    if let Some(report) = programs.report(&["--traces"]) {
        assert!(report.contains("Log:Throws ()") && report.contains("Compiled methods:"), "{report}");
        assert!(report.contains("name: \"Second\""), "{report}");
    }
}

#[test]
fn heap_shots_hold_what_lives() {
    let Some(programs) = compile("heap") else { return };
    let counts = programs.profile("heapshot,nocounter", "heap");
    assert_eq!((counts.of("HeapBeginEvent"), counts.of("HeapEndEvent")), (2, 2));
    assert!((10_000..10_010).contains(&counts.of("live Node")), "{}", counts.of("live Node"));
    assert!(counts.of("reference of Node") >= 9_998);
    let counts = programs.profile("nodefaults,heapshot-on-shutdown", "calls");
    assert_eq!(counts.of("HeapBeginEvent"), 1);
    let counts = programs.profile("nodefaults,heapshot=2gc", "heap");
    assert_eq!(counts.of("HeapBeginEvent"), 1);
}

/// A region is told once, before the first heap shot that has a root there, and gone when none has.
#[test]
fn heap_shots_say_what_their_roots_are() {
    let Some(programs) = compile("roots") else { return };
    let counts = programs.profile("nodefaults,heapshot", "roots");
    // `kept`, and the table that the compiler made of Main's switch.
    assert_eq!((counts.of("HeapBeginEvent"), counts.of("root Static Log")), (3, 2));
    assert!((1..20).contains(&counts.of("root Stack ")), "{}", counts.of("root Stack "));
    assert!(counts.of("root GCHandle ") + counts.of("root External ") > 0);
    assert!(counts.of("HeapRootUnregisterEvent") >= 1);
    let counts = programs.profile("nodefaults,heapshot,nogcroot", "roots");
    assert_eq!((counts.of("HeapBeginEvent"), counts.of("HeapRootRegisterEvent")), (3, 0));
    if let Some(report) = programs.report(&["--reports=heapshot"]) {
        assert!(report.contains("Heap shot"), "{report}");
    }
}

#[test]
fn a_program_changes_its_own_log() {
    let Some(programs) = compile("api") else { return };
    let run = programs.run("nodefaults,exception,output=log.mlpd", "api");
    let expect = "attached True\n32 32\nFalse True\nNone\nok\n";
    assert_eq!(text(&run.stdout), expect, "{}", text(&run.stderr));
    let counts = programs.read("log.mlpd", &[]);
    assert_eq!((counts.of("new Node in Log:Allocates (int)"), counts.of("HeapBeginEvent")), (7, 1));
    let mut saki = Command::new(env!("CARGO_BIN_EXE_saki"));
    let run = saki.arg(&programs.program).arg("api").output().expect("saki starts");
    assert_eq!(text(&run.stdout), "attached False\nok\n", "{}", text(&run.stderr));
}

#[test]
fn dynamic_methods_and_domains_come_and_go() {
    let Some(programs) = compile("dynamic") else { return };
    let counts = programs.profile("nodefaults,alloc,calls", "dynamic");
    assert!(counts.of("enter lambda_method") >= 100, "{}", counts.of("enter lambda_method"));
    let counts = programs.profile("nodefaults,alloc", "domain");
    assert_eq!(counts.of("new Node in Log:Allocates (int)"), 100);
    assert_eq!((counts.of("domain Other"), counts.of("AppDomainUnloadEvent")), (1, 1));
}

#[test]
fn the_end_of_a_log_is_not_the_programs() {
    let Some(programs) = compile("ends") else { return };
    // (option, argument, exit code, what is said)
    let ends = [
        ("alloc,output=log.mlpd", "exit", 3, ""),
        ("alloc,output=log.mlpd", "unhandled", 1, "InvalidOperationException"),
        ("alloc,output=/dev/full", "objects", 0, "the profile was not written: "),
        ("alloc,output=|true", "objects", 0, ""),
        ("alloc,output=|exit 5", "heap", 0, "the profile was not written: "),
        ("alloc,output=|cat >piped.mlpd", "exit", 3, ""),
        ("alloc,what,output=log.mlpd", "heap", 0, "Could not parse argument 'what'\n"),
    ];
    for (option, argument, exit_code, said) in ends {
        let run = programs.run(option, argument);
        let stderr = text(&run.stderr);
        assert_eq!(run.status.code(), Some(exit_code), "{option}: {stderr}");
        assert!(text(&run.stdout).contains("ok\n") && stderr.contains(said), "{option}: {stderr}");
    }
    assert_eq!(programs.read("piped.mlpd", &[]).of("new Node in Log:Allocates (int)"), 10);
    let refused = programs.run("alloc,output=/nowhere/log", "heap");
    assert!(!refused.status.success() && text(&refused.stderr).contains("/nowhere/log"), "{}", text(&refused.stderr));
}

#[test]
fn logs_are_the_users_alone_and_may_be_zipped() {
    let Some(programs) = compile("files") else { return };
    let (file, other) = (programs.folder.join("zip.mlpd"), programs.folder.join("other"));
    std::fs::write(&other, "theirs").expect("a file");
    std::os::unix::fs::symlink(&other, &file).expect("a link");
    let run = programs.run("alloc,zip,output=zip.mlpd", "heap");
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(std::fs::read(&other).expect("the other"), b"theirs");
    let found = std::fs::symlink_metadata(&file).expect("the log");
    assert_eq!((found.is_file(), found.permissions().mode() & 0o777), (true, 0o600));
    assert!(programs.read("zip.mlpd", &["zipped"]).of("new Node in Log:List (int)") >= 5000);
}

#[test]
fn samples_go_into_the_log() {
    let Some(programs) = compile("samples") else { return };
    let counts = programs.profile("nodefaults,sample-real=500", "objects");
    assert!(counts.of("SampleHitEvent") > 50, "{}", counts.of("SampleHitEvent"));
    assert!(counts.of("UnmanagedSymbolEvent") > 0);
    if let Some(report) = programs.report(&["--reports=sample"]) {
        assert!(report.contains("[waiting for a lock]"), "{report}");
    }
}

#[test]
fn a_program_changes_how_it_is_sampled() {
    let Some(programs) = compile("sampling") else { return };
    let run = programs.run("nodefaults,sample=1000,output=log.mlpd", "sampling");
    assert_eq!(text(&run.stdout), "True\nNone\nTrue\nReal 200\nok\n", "{}", text(&run.stderr));
    let counts = programs.read("log.mlpd", &[]);
    let of = |method: &str| counts.of(&format!("sample below Log:{method} ()"));
    assert!(of("ByProcessor") > 30, "{}", of("ByProcessor"));
    assert_eq!(of("Unseen"), 0);
    assert!(of("ByTheClock") > 30, "{}", of("ByTheClock"));
    let run = programs.run("nodefaults,exception,output=log.mlpd", "sampling");
    assert_eq!(text(&run.stdout), "False\nNone\nFalse\nNone 0\nok\n", "as under Mono: {}", text(&run.stderr));
}

/// The header says at which port.
#[test]
fn commands_take_heap_shots() {
    let Some(programs) = compile("port") else { return };
    let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
        .args(["--profile=log:nodefaults,heapshot=ondemand,port=0,output=log.mlpd"])
        .arg(&programs.program)
        .arg("wait")
        .current_dir(&programs.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("saki starts");
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let log = programs.folder.join("log.mlpd");
    let header = std::fs::read(&log).expect("a log");
    let port = u16::from_le_bytes([header[36], header[37]]);
    let size = || std::fs::metadata(&log).expect("a log").len();
    let deadline = Instant::now() + Duration::from_secs(60);
    for _ in 0..2 {
        let before = size();
        let mut commands = TcpStream::connect(("127.0.0.1", port)).expect("a command server");
        commands.write_all(b"what\nheapshot\n").expect("a command");
        // 5,000 objects take more than that.
        while size() < before + 10_000 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    drop(child.stdin.take());
    assert!(child.wait().expect("an end").success());
    let counts = programs.read("log.mlpd", &[]);
    assert_eq!((counts.of("HeapBeginEvent"), counts.of("HeapEndEvent")), (2, 2));
    assert!((10_000..10_020).contains(&counts.of("live Node")), "{}", counts.of("live Node"));
    let taken = programs.run(&format!("port={port},output=log.mlpd"), "calls");
    assert!(taken.status.success(), "nobody has the port any more: {}", text(&taken.stderr));
}

#[test]
fn a_killed_program_leaves_what_was_sent() {
    let Some(programs) = compile("killed") else { return };
    let descriptions_after = |seconds| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_saki"))
            .args([
                "--profile=log:nodefaults,counter,output=log.mlpd",
                &programs.reader.display().to_string(),
                "/dev/stdin",
            ])
            .current_dir(&programs.folder)
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("saki starts");
        std::thread::sleep(Duration::from_secs(seconds));
        child.kill().expect("it runs");
        child.wait().expect("it has ended");
        // Without a header there is nothing to be read.
        let has_header = std::fs::metadata(programs.folder.join("log.mlpd")).is_ok_and(|file| file.len() > 0);
        if has_header { programs.read("log.mlpd", &[]).of("CounterDescriptionsEvent") } else { 0 }
    };
    // The counters come a second after the start, which takes some seconds itself on a busy machine.
    assert!([4, 12, 36].into_iter().any(|seconds| descriptions_after(seconds) == 1));
}
