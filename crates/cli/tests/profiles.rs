//! `saki profile`: its numbers are correct, other projects' tools read its files, and it works whatever the program
//! does.
//!
//! Needs `mcs`; without it the tests say so and pass. `SAKI_PROFILE_SECONDS` is how long programs with known shares run
//! (default 3): kernels look at timers of processor time some 250 times a second, so shares are known to a few points
//! after seconds, to one after half a minute.

mod support;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// None without the compiler.
fn compile(name: &str, source: &str) -> Option<PathBuf> {
    let program = support::folder(&format!("profiles/{name}")).join("program.exe");
    support::compile_with(&["-optimize+", "-unsafe", "-r:System.Core"], source, &program).then_some(program)
}

fn saki(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_saki")).args(arguments).output().expect("saki starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Profiles a program's processor time with these options; the base of its files' names.
fn profile(program: &Path, options: &[&str], arguments: &[&str]) -> PathBuf {
    profile_of("cpu", program, options, arguments)
}

fn profile_of(kind: &str, program: &Path, options: &[&str], arguments: &[&str]) -> PathBuf {
    let base = program.with_extension(format!("{}.p", std::process::id()));
    let mut words = vec!["profile", kind, "--format", "folded,pprof,speedscope,html,svg,firefox,mlpd", "--output"];
    let (output, program) = (base.display().to_string(), program.display().to_string());
    words.push(&output);
    words.extend(options);
    words.push(&program);
    words.extend(arguments);
    let run = saki(&words);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{}", text(&run.stderr));
    let stderr = text(&run.stderr);
    assert!(stderr.starts_with(&format!("{kind} profile: ")) && stderr.contains("with callees"), "{stderr}");
    base
}

fn with_ending(base: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", base.display()))
}

fn read(base: &Path, ending: &str) -> String {
    std::fs::read_to_string(with_ending(base, ending)).expect(ending)
}

/// Outermost frame first, and their values.
type Stacks = Vec<(Vec<String>, f64)>;

fn stacks(base: &Path) -> Stacks {
    let lines = read(base, "folded");
    let stacks = lines.lines().map(|line| {
        let (stack, value) = line.rsplit_once(' ').expect("a number");
        (stack.split(';').map(str::to_owned).collect(), value.parse().expect("a number"))
    });
    stacks.collect()
}

/// Sum of the stacks with a frame whose name begins so.
fn below(stacks: &[(Vec<String>, f64)], name: &str) -> f64 {
    stacks.iter().filter(|(frames, _)| frames.iter().any(|f| f.starts_with(name))).map(|(_, value)| value).sum()
}

fn seconds() -> u64 {
    std::env::var("SAKI_PROFILE_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(3)
}

fn check_shares(test: &str, options: &[&str]) {
    let Some(program) = compile(test, "profiles/shares.cs") else { return };
    let base = profile(&program, options, &[&(3 * seconds()).to_string(), "2"]);
    let stacks = stacks(&base);
    let names = [("Shares:Ten", 10.0), ("Shares:Twenty", 20.0), ("Shares:Thirty", 30.0), ("Shares:Forty", 40.0)];
    let found: Vec<f64> = names.iter().map(|(name, _)| below(&stacks, name)).collect();
    let whole: f64 = found.iter().sum();
    // Three standard deviations at 250 independent samples a second of two threads, of which other programs may take
    // one's time.
    let tolerance = if seconds() >= 30 { 2.0 } else { 6.0 };
    for ((name, expect), value) in names.iter().zip(&found) {
        let share = 100.0 * value / whole;
        assert!((share - expect).abs() <= tolerance, "{name}: {share:.1} instead of {expect} ± {tolerance}");
    }
    assert!(whole > 0.8 * below(&stacks, "Shares"), "time went elsewhere");
    // Step, which is inlined, is below Forty and nowhere else.
    assert!(below(&stacks, "Shares:Step") > 0.0);
    assert!(stacks.iter().all(
        |(f, _)| !f.iter().any(|f| f.starts_with("Shares:Step")) || f.iter().any(|f| f.starts_with("Shares:Forty"))
    ));
    let speedscope = read(&base, "speedscope.json");
    // Name, and sum in ns.
    let threads: Vec<(&str, f64)> = speedscope
        .split("\"type\":\"sampled\",\"name\":\"")
        .skip(1)
        .filter_map(|t| {
            let sum = t.split_once("\"endValue\":")?.1.split(',').next()?;
            Some((t.split('"').next()?, sum.parse().ok()?))
        })
        .collect();
    let of = |name: &str| {
        threads.iter().filter(|(n, _)| n.strip_prefix("cpu: ") == Some(name)).map(|(_, sum)| sum).sum::<f64>()
    };
    assert!(of("Busy 0") > 0.2 * whole && of("Busy 1") > 0.2 * whole, "{threads:?}");
    assert!(of("Idle") < 0.05 * whole, "a thread that only waits has no samples but of its start: {threads:?}");
}

#[test]
fn shares_are_true_on_native_threads() {
    check_shares("shares-native", &["--threads=native"]);
}

#[test]
fn shares_are_true_on_green_threads() {
    check_shares("shares-green", &["--threads=green"]);
}

#[test]
fn shares_are_true_on_several_carriers() {
    check_shares("shares-mn", &["--threads=mn:2"]);
}

/// Percent by which a share may miss the truth: `points`, or else four standard deviations of what timers can tell that
/// are looked at 250 times a second. Beside other programs the samples stand for unequal times, so that they are worth
/// half as many equal ones. Half a minute tells shares to some two points.
fn tolerance(points: f64, share: f64, cpu_seconds: f64) -> f64 {
    const SAMPLES_A_SECOND: f64 = 125.0;
    points.max(400.0 * (share * (1.0 - share) / (SAMPLES_A_SECOND * cpu_seconds)).sqrt())
}

/// Shares of the whole of what the program itself has measured, and the stacks of its profile.
fn truth(test: &str, threads: u64, options: &[&str]) -> Option<(Vec<(String, f64)>, Stacks)> {
    let program = compile(test, "profiles/truth.cs")?;
    let base = program.with_extension("truth.folded");
    let (output, program) = (base.display().to_string(), program.display().to_string());
    let (seconds, threads) = (seconds().to_string(), threads.to_string());
    let words = ["profile", "cpu", "--format=folded", "--output", &output];
    let run = saki(&[&words[..], options, &[&program, &seconds, &threads]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let measured = text(&run.stdout);
    let measured: Vec<(&str, f64)> =
        measured.lines().filter_map(|line| line.rsplit_once(' ').map(|(n, ns)| (n, ns.parse().expect("ns")))).collect();
    let whole: f64 = measured.iter().map(|(_, ns)| ns).sum();
    let folded = std::fs::read_to_string(base).expect("a profile");
    let stacks = folded
        .lines()
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(stack, value)| (stack.split(';').map(str::to_owned).collect(), value.parse().expect("a number")));
    Some((measured.into_iter().map(|(name, ns)| (name.to_owned(), ns / whole)).collect(), stacks.collect()))
}

/// Loops, inlined callees, native code without safepoints, the slow path of allocations and collections have the shares
/// that the program's own clocks tell.
#[test]
fn every_sort_of_work_has_its_share() {
    for (mode, threads) in [("native", 2), ("green", 1)] {
        let mode = format!("--threads={mode}");
        let Some((truth, stacks)) = truth("truth", threads, &[&mode]) else { return };
        assert_eq!(truth.len(), 5, "{truth:?}");
        let whole: f64 = truth.iter().map(|(name, _)| below(&stacks, name)).sum();
        for (name, expect) in &truth {
            let share = below(&stacks, name) / whole;
            let tolerance = tolerance(2.0, *expect, (seconds() * threads) as f64);
            let off = 100.0 * (share - expect);
            assert!(
                off.abs() <= tolerance,
                "{mode} {name}: {share:.3} instead of {expect:.3}, off by {off:.1} > {tolerance:.1}"
            );
        }
        assert!(below(&stacks, "Truth:Step") > 0.0, "inlined");
    }
}

/// Both see the same run. perf knows no managed callers, so functions are compared by their own time, without callees.
#[test]
fn perf_tells_the_same() {
    let Some(program) = compile("perf", "profiles/truth.cs") else { return };
    let folder = program.with_extension("perf");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).display().to_string();
    let (data, injected, folded) = (path("perf.data"), path("injected.data"), path("folded"));
    // perf's cache of files belongs to the test, too.
    let kept = format!("--buildid-dir={}", path("perf-files"));
    let mut record = Command::new("perf");
    record.args([&kept, "record", "-q", "-k", "mono", "-e", "cpu-clock", "-F", "999", "-o", &data]);
    record.args([env!("CARGO_BIN_EXE_saki"), "profile", "cpu", "--format=folded", "--output", &folded]);
    record.args(["--perf", &format!("jitdump:{}", folder.display())]).arg(&program).args([&seconds().to_string(), "2"]);
    match record.output() {
        Ok(done) if done.status.success() => {}
        Ok(done) => return eprintln!("skipped: perf may not record here: {}", text(&done.stderr)),
        Err(error) => return eprintln!("skipped: perf: {error}"),
    }
    let inject =
        Command::new("perf").args([&kept, "inject", "--jit", "-i", &data, "-o", &injected]).output().expect("perf");
    assert!(inject.status.success(), "{}", text(&inject.stderr));
    let report = Command::new("perf").args([&kept, "report", "--stdio", "--sort", "symbol", "-i", &injected]).output();
    let report = text(&report.expect("perf").stdout);
    let stacks = std::fs::read_to_string(&folded).expect("a profile");
    let stacks: Vec<(&str, f64)> = stacks
        .lines()
        .filter_map(|line| line.rsplit_once(' ').map(|(s, n)| (s, n.parse().expect("a number"))))
        .collect();
    let whole: f64 = stacks.iter().map(|(_, value)| value).sum();
    for (method, inlined) in [("Truth:Loops", "Truth:Loops"), ("Truth:Inlines", "Truth:Step")] {
        let row =
            report.lines().find(|line| line.contains(&format!("{method} "))).unwrap_or_else(|| panic!("{report}"));
        let theirs: f64 = row.trim().split('%').next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{row}"));
        let is_own = |stack: &str| stack.rsplit(';').next().is_some_and(|leaf| leaf == method || leaf == inlined);
        let ours = 100.0 * stacks.iter().filter(|(s, _)| is_own(s)).map(|(_, value)| value).sum::<f64>() / whole;
        let tolerance = tolerance(3.0, theirs / 100.0, (2 * seconds()) as f64);
        assert!((ours - theirs).abs() <= tolerance, "{method}: {ours:.1} %, and {theirs:.1} % by perf");
    }
}

#[test]
fn native_code_is_below_the_method_that_called_it() {
    let Some(program) = compile("native", "profiles/native.cs") else { return };
    let stacks = stacks(&profile(&program, &[], &[]));
    let is_native = |frame: &str| frame.ends_with("_[n]");
    let mut under: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let mut whole = 0.0;
    let mut without_method = 0.0;
    for (frames, value) in &stacks {
        whole += value;
        let method = frames.iter().rev().find(|frame| !is_native(frame));
        // The innermost method of the program's own.
        let own = frames.iter().rev().find_map(|frame| frame.strip_prefix("Native:"));
        let leaf_is_native = frames.last().is_some_and(|frame| is_native(frame));
        match own {
            Some(own) => {
                let sums = under.entry(own).or_default();
                sums.0 += value;
                sums.1 += if leaf_is_native { *value } else { 0.0 };
            }
            None if method.is_none() => without_method += value,
            None => {}
        }
    }
    let native = |name: &str| under.get(name).map_or(0.0, |sums| sums.1);
    for name in ["CopiesStructs", "AllocatesLarge", "Throws"] {
        assert!(native(name) > 0.005 * whole, "native code below {name}: {under:?}");
    }
    // The callers of a method that native code calls back are on the other side of the native code.
    let compare = stacks.iter().filter(|(f, _)| f.iter().any(|f| f.starts_with("Native:Compare")));
    for (frames, _) in compare.clone() {
        assert!(frames[0].starts_with("Native:Main") && frames[1].starts_with("Native:CalledBack"), "{frames:?}");
    }
    assert!(compare.count() > 0);
    // Start and end of the process, and the machine's own work before and after managed code.
    assert!(without_method < 0.25 * whole, "{without_method} of {whole} without a method: {stacks:#?}");
}

#[test]
fn files_are_the_users_and_others_read_them() {
    let Some(program) = compile("files", "profiles/shares.cs") else { return };
    let base = profile(&program, &[], &["3", "1"]);
    for ending in ["folded", "pb.gz", "speedscope.json", "html", "svg", "firefox.json", "mlpd"] {
        let found = std::fs::metadata(with_ending(&base, ending)).expect(ending);
        assert_eq!((found.permissions().mode() & 0o777, found.len() > 500), (0o600, true), "{ending}");
    }
    let pb = with_ending(&base, "pb.gz").display().to_string();
    for ending in ["pb.gz", "html", "mlpd", "folded", "speedscope.json", "firefox.json"] {
        let view = saki(&["profile", "view", &with_ending(&base, ending).display().to_string()]);
        let stdout = text(&view.stdout);
        assert!(stdout.contains("Shares:Forty"), "{ending}: {stdout} {}", text(&view.stderr));
        // Nothing in the file's name or in its lines says so.
        assert!(stdout.starts_with("cpu profile: ") || ending == "folded", "{ending}: {stdout}");
    }
    let page = with_ending(&base, "changes.html").display().to_string();
    let diff = saki(&["profile", "diff", "-o", &page, &pb, &with_ending(&base, "html").display().to_string()]);
    assert!(text(&diff.stdout).contains("+0.0%"), "{}", text(&diff.stdout));
    let page = std::fs::read_to_string(&page).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("\"before\":{\"stacks\":["), "no page of changes");
    let diff = saki(&["profile", "diff", &pb, &with_ending(&base, "folded").display().to_string()]);
    assert!(text(&diff.stdout).contains("+0.0%"), "{}", text(&diff.stdout));
    match Command::new("go").args(["tool", "pprof", "-top", &pb]).output() {
        Ok(top) => assert!(text(&top.stdout).contains("Shares:Forty"), "{}", text(&[top.stdout, top.stderr].concat())),
        Err(error) => eprintln!("skipped: go tool pprof: {error}"),
    }
}

/// The collector's thread has no samples; its clock tells when it ran.
#[test]
fn the_collectors_thread_runs_when_it_collects() {
    let Some(program) = compile("collects", "profiles/events.cs") else { return };
    let output = program.with_extension("html").display().to_string();
    let run = saki(&["profile", "cpu", "-o", &output, &program.display().to_string(), "collects, then computes"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let profile = &saki_profile::read(&std::fs::read(&output).expect("a page")).expect("a profile")[0];
    let collector = profile.threads.iter().position(|thread| thread.name.starts_with("gc-")).expect("a thread");
    let (mut early_ns, mut late_ns) = (0, 0);
    let computes_from_ns = profile
        .samples
        .iter()
        .filter(|sample| is_in(profile, sample.stack, "Events:Computes"))
        .map(|sample| sample.time_ns)
        .min();
    let computes_from_ns = computes_from_ns.expect("samples");
    for sample in profile.samples.iter().filter(|sample| sample.thread as usize == collector) {
        *if sample.time_ns <= computes_from_ns + 200_000_000 { &mut early_ns } else { &mut late_ns } += sample.value;
    }
    assert!(early_ns > 20_000_000, "{early_ns} of the collector's time while the program collected");
    assert!(late_ns < early_ns / 5, "{late_ns} of the collector's time afterwards, {early_ns} before");
}

fn is_in(profile: &saki_profile::Profile, stack: u32, name: &str) -> bool {
    profile.frames_of(stack).any(|frame| profile.function(frame).name.starts_with(name))
}

#[test]
fn a_profile_of_a_source_is_titled_by_the_source() {
    let folder = support::folder("profiles/title");
    let (source, output) = (folder.join("titled.cs"), folder.join("title.html").display().to_string());
    std::fs::write(&source, "class P { static void Main () { } }").expect("a source");
    let source = source.display().to_string();
    let option = format!("--profile=cpu,format=html,output={output}");
    let run = saki(&["run", &option, &source, "argument"]);
    if text(&run.stderr).contains("the C# compiler") {
        return eprintln!("skipped: no mcs");
    }
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let profile = &saki_profile::read(&std::fs::read(&output).expect("a page")).expect("a profile")[0];
    assert_eq!(profile.title, format!("{source} argument"));
}

#[test]
fn a_minus_is_standard_output() {
    let Some(program) = compile("minus", "profiles/shares.cs") else { return };
    let program = program.display().to_string();
    let run = saki(&["profile", "cpu", "--format=folded", "-o", "-", &program, "0.3", "1"]);
    // The thread that starts the others may be too quick for a sample.
    assert!(text(&run.stdout).lines().any(|line| line.contains("Shares:Work;")), "{}", text(&run.stdout));
    let run = saki(&["profile", "cpu", "--format=folded,html", "-o", "-", &program, "0.3", "1"]);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(2), String::new()), "{}", text(&run.stderr));
}

#[test]
fn a_jitdump_is_written_beside_the_profile() {
    let Some(program) = compile("jitdump", "profiles/shares.cs") else { return };
    let (folder, program) = (program.parent().expect("a folder").display().to_string(), program.display().to_string());
    let output = format!("{folder}/jitdump");
    let run = saki(&["profile", "--format=jitdump,folded", "--output", &output, &program, "0.3", "1"]);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{}", text(&run.stderr));
    let said = text(&run.stderr);
    let line = said.lines().find_map(|line| line.strip_prefix("jitdump: ")).unwrap_or_else(|| panic!("{said}"));
    let (path, how) = line.split_once("; ").expect("how it is used");
    assert!(path.starts_with(&format!("{folder}/jit-")) && how.contains("perf inject --jit"), "{line}");
    let dump = std::fs::read(path).expect("the dump");
    std::fs::remove_file(path).expect("the dump");
    assert!(dump.starts_with(b"DTiJ") && dump.windows(12).any(|name| name == b"Shares:Forty"));
    assert!(std::fs::read_to_string(&output).is_ok_and(|text| text.contains("Shares:Forty")));
    let refused = saki(&["profile", "--format=jitdump", "--pid", "1"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("does not go with --pid"), "{}", text(&refused.stderr));
}

#[test]
fn a_profile_that_cannot_be_written_does_not_fail_the_program() {
    let Some(program) = compile("unwritable", "profiles/shares.cs") else { return };
    let program = program.display().to_string();
    let run = saki(&["profile", "cpu", "--format=folded", "--output", "/nowhere/x", &program, "0.3", "1"]);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()));
    assert!(text(&run.stderr).contains("the profile was not written: /nowhere/x"), "{}", text(&run.stderr));
    let refused = saki(&["profile", "cpu", "--hz", "0", &program]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_profile_ends_before_its_program_when_asked() {
    let Some(program) = compile("duration", "profiles/shares.cs") else { return };
    let (base, program) = (program.with_extension("short"), program.display().to_string());
    let output = base.display().to_string();
    let options = ["profile", "cpu", "--duration", "0.3", "--format=pprof", "--output", &output, &program, "5", "1"];
    let run = saki(&options);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()));
    let line = text(&run.stderr);
    let sampled = line.strip_prefix("cpu profile: ").and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    let sampled_ms: f64 = sampled.and_then(|n| n.parse().ok()).expect("a sum in ms");
    assert!(sampled_ms < 900.0, "{line}");
}

/// The handler runs under the loader lock, and the end of the process takes the session's.
#[test]
fn a_handler_of_assembly_resolve_ends_the_process_and_the_profile() {
    let folder = support::folder("profiles/resolver");
    let (library, program) = (folder.join("elsewhere.dll"), folder.join("program.exe"));
    let reference = format!("-r:{}", library.display());
    if !support::compile_with(&["-target:library"], "profiles/elsewhere.cs", &library)
        || !support::compile_with(&[&reference], "profiles/resolver.cs", &program)
    {
        return;
    }
    std::fs::remove_file(&library).expect("the library");
    for mode in ["native", "green", "mn"] {
        let output = folder.join(format!("{mode}.folded"));
        let (threads, path) = (format!("--threads={mode}"), output.display().to_string());
        let program = program.display().to_string();
        let run = saki(&["profile", "cpu", &threads, "--format=folded", "--output", &path, &program]);
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{}", text(&run.stderr));
        assert!(output.exists(), "{mode}: {}", text(&run.stderr));
    }
}

/// A program that computes in `Main` while other threads wait, until its input ends.
struct Busy {
    process: Child,
    id: String,
}

impl Busy {
    /// Returns when all threads do their work.
    fn start(program: &Path, options: &[&str]) -> Busy {
        let mut process = Command::new(env!("CARGO_BIN_EXE_saki"))
            .args(options)
            .args([&program.display().to_string(), "busy"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("saki starts");
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        let id = process.id().to_string();
        Busy { process, id }
    }

    fn end(self) {
        let ended = self.process.wait_with_output().expect("it ends");
        let stdout = text(&ended.stdout);
        assert_eq!((ended.status.code(), &*stdout), (Some(0), "ok\n"), "no dump, and the program went on");
    }
}

#[test]
fn a_process_that_runs_is_profiled_and_goes_on() {
    let Some(program) = compile("attached", "profiles/events.cs") else { return };
    let busy = Busy::start(&program, &[]);
    for kind in ["cpu", "wall", "cpu,wall", "cpu"] {
        let output = program.with_extension(format!("{kind}.folded"));
        let path = output.display().to_string();
        let options = ["profile", kind, "--pid", &busy.id, "--duration", "1", "--format=folded", "--output", &path];
        let run = saki(&options);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        assert!(text(&run.stderr).contains(&format!("profile: {path}")), "{}", text(&run.stderr));
        let folded = std::fs::read_to_string(&output).expect("a profile");
        assert!(folded.contains("Events:Computes"), "{folded}");
        std::fs::remove_file(&output).expect("the file");
    }
    let refused =
        saki(&["profile", "cpu", "--pid", &busy.id, "--format=folded", "--output", "/nowhere/x", "--duration=0.2"]);
    assert!(text(&refused.stderr).contains("the profile was not written"), "{}", text(&refused.stderr));
    busy.end();
    let own = std::process::id().to_string();
    let refused = saki(&["profile", "cpu", "--pid", &own]);
    assert!(text(&refused.stderr).contains("is no program that Saki runs"), "{}", text(&refused.stderr));
}

/// Threads that wait from before the profile begins until it has ended: not one sample.
#[test]
fn idle_threads_get_no_samples_of_processor_time() {
    let Some(program) = compile("idle", "profiles/events.cs") else { return };
    for mode in ["--threads=native", "--threads=mn:2"] {
        let busy = Busy::start(&program, &[mode]);
        let output = program.with_extension("speedscope").display().to_string();
        let options = ["profile", "cpu,wall", "--pid", &busy.id, "--duration=2", "--hz=1000", "--format=speedscope"];
        let run = saki(&[&options[..], &["--output", &output]].concat());
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        busy.end();
        let speedscope = std::fs::read_to_string(&output).expect("a profile");
        let threads: Vec<&str> = speedscope
            .split("\"type\":\"sampled\",\"name\":\"")
            .skip(1)
            .filter_map(|thread| thread.split('"').next())
            .collect();
        let of = |kind: &str| threads.iter().filter_map(|name| name.strip_prefix(kind)).collect::<Vec<_>>();
        let idle = of("cpu: Idle");
        assert!(of("cpu: ").contains(&"Main") && idle.is_empty(), "{mode}: {threads:?}");
        // The threads exist, and wall-clock sampling sees them.
        assert_eq!(of("wall: Idle").len(), 5, "{mode}: {threads:?}");
    }
}

#[test]
fn mprof_report_reads_monos_format() {
    let Some(program) = compile("mlpd", "profiles/events.cs") else { return };
    let output = program.with_extension("mlpd");
    let report = |options: &str, argument: &str| {
        let profile = format!("--profile=log:{options},output={}", output.display());
        let run = saki(&[&profile, &program.display().to_string(), argument]);
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{}", text(&run.stderr));
        let report = Command::new("mprof-report").arg("--traces").arg(&output).output();
        let report = report.inspect_err(|error| eprintln!("skipped: mprof-report: {error}")).ok()?;
        let report = text(&[report.stdout, report.stderr].concat());
        assert!(!report.contains("unknown") && !report.contains("Incorrect"), "{report}");
        Some(report)
    };
    let Some(samples) = report("sample=1000", "wall") else { return };
    let row = samples.lines().find(|line| line.contains("Events:Computes")).unwrap_or_else(|| panic!("{samples}"));
    let share: f64 = row.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{row}"));
    // It computes for two seconds of the clock: where other programs leave it little time, compilers have taken much of
    // that.
    assert!(share > 25.0, "{samples}");
    assert!(samples.contains("Worker"), "{samples}");
    let exceptions = report("", "exceptions").unwrap_or_default();
    assert!(exceptions.contains("Throws: 501") || exceptions.contains("Throws: 500"), "{exceptions}");
    assert!(exceptions.contains("Events:Throws"), "{exceptions}");
    let allocations = report("nodefaults,alloc", "alloc").unwrap_or_default();
    let row =
        allocations.lines().find(|line| line.ends_with("System.Int16[]")).unwrap_or_else(|| panic!("{allocations}"));
    let numbers: Vec<f64> = row.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    assert_eq!(numbers[..2], [200_000.0 * 136.0, 200_000.0], "{allocations}");
}

#[test]
fn several_kinds_are_recorded_in_one_run() {
    let Some(program) = compile("several", "profiles/events.cs") else { return };
    let base = program.with_extension("several");
    let (output, program) = (base.display().to_string(), program.display().to_string());
    let options = ["profile", "cpu,exceptions,gc,wall,alloc", "--format=folded", "--output", &output, &program];
    for (argument, expect) in [("exceptions", "[exceptions]"), ("gc", "[gc]"), ("wall", "[wall]")] {
        let run = saki(&[&options[..], &[argument]].concat());
        let stderr = text(&run.stderr);
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{stderr}");
        for kind in ["cpu", "exceptions", "gc", "wall", "alloc"] {
            assert_eq!(stderr.matches(&format!("{kind} profile: ")).count(), 1, "{stderr}");
        }
        let folded = std::fs::read_to_string(&base).expect("a profile");
        let of = |kind: &str, what: &str| {
            let lines = folded.lines().filter(|line| line.starts_with(kind) && line.contains(what));
            lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum::<f64>()
        };
        // The others take less time than it is between two samples.
        let is_long = argument == "wall";
        assert!(of(expect, "") > 0.0 && (!is_long || of("[cpu]", "") > 0.0), "{argument}: {folded}");
        match argument {
            "exceptions" => assert_eq!(of("[exceptions]", "Events:Throws"), 300.0, "{folded}"),
            "gc" => assert!(of("[gc]", "[full collection]") > 0.0 && of("[gc]", "Events:") == 0.0, "{folded}"),
            // One thread sleeps for as long as the other computes; samples of timers know nothing of it.
            _ => {
                assert!(of("[wall]", "Events:Sleeps") > 1.5e9 && of("[wall]", "Events:Computes") > 1.5e9, "{folded}");
                assert!(of("[cpu]", "Events:Sleeps") < 0.05e9 && of("[cpu]", "Events:Computes") > 0.2e9, "{folded}");
            }
        }
    }
    let refused = saki(&["profile", "cpu,x", &program]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

#[test]
fn allocations_are_sampled_by_bytes() {
    let Some(program) = compile("alloc", "profiles/events.cs") else { return };
    for mode in ["--threads=native", "--threads=mn:2"] {
        let stacks = stacks(&profile_of("alloc", &program, &["--bytes", "16k", mode], &["alloc"]));
        // Two rounds; an array has 32 bytes beside its elements, and all are multiples of 8.
        let check = |method: &str, ty: &str, expect: f64, tolerance: f64| {
            let all = stacks.iter().filter(|(f, _)| f.iter().any(|f| f == method));
            let typed = all.filter(|(f, _)| f.last().is_some_and(|f| f == ty));
            let found: f64 = typed.map(|(_, value)| value).sum();
            assert!((found / expect - 1.0).abs() < tolerance, "{mode} {method} {ty}: {found} instead of {expect}");
        };
        let array_bytes = |elements: f64| 32.0 + (elements / 8.0).ceil() * 8.0;
        check("Events:AllocatesThrice", "System.Byte[]", 600_000.0 * array_bytes(100.0), 0.06);
        check("Events:AllocatesOnce", "System.Int16[]", 200_000.0 * array_bytes(100.0), 0.1);
        check("Events:AllocatesLarge", "System.Int32[]", 200.0 * array_bytes(100_000.0), 0.05);
    }
}

#[test]
fn exceptions_are_counted_exactly() {
    let Some(program) = compile("exceptions", "profiles/events.cs") else { return };
    let stacks = stacks(&profile_of("exceptions", &program, &[], &["exceptions"]));
    assert_eq!(below(&stacks, "Events:Throws"), 300.0);
    assert_eq!(below(&stacks, "Events:Faults"), 200.0);
    assert_eq!(below(&stacks, "System.NullReferenceException"), 200.0);
}

#[test]
fn waits_for_locks_have_their_length() {
    let Some(program) = compile("lock", "profiles/events.cs") else { return };
    for mode in ["--threads=native", "--threads=green"] {
        let base = profile_of("lock", &program, &[mode], &["lock"]);
        let waited_ms = below(&stacks(&base), "Events:WaitsForLock") / 1e6;
        assert!((300.0..3000.0).contains(&waited_ms), "{mode}: {waited_ms} of some 1000 ms");
        // The file's data on the lock's owner, and how many threads waited.
        let view = saki(&["profile", "view", &with_ending(&base, "pb.gz").display().to_string()]);
        let view = text(&view.stdout);
        let holder =
            view.lines().find(|line| line.contains(" while Main held the lock")).unwrap_or_else(|| panic!("{view}"));
        let share: f64 =
            holder.split_whitespace().find_map(|word| word.strip_suffix('%')?.parse().ok()).expect("a share");
        assert!(share > 90.0 && holder.ends_with("; at most 3 waited"), "{mode}: {view}");
        let page = read(&base, "html");
        assert!(page.contains("\"waits\":[") && page.contains("\"held\":["), "{mode}");
    }
}

#[test]
fn collections_have_their_pauses() {
    let Some(program) = compile("gc", "profiles/events.cs") else { return };
    let stacks = stacks(&profile_of("gc", &program, &[], &["gc"]));
    assert!(below(&stacks, "[full collection]") > 0.0, "{stacks:?}");
    for phase in ["[stopping threads]", "[marking]", "[weak references]", "[freeing memory]"] {
        assert!(ending(&stacks, "[full collection]", phase) > 0.0, "{phase}: {stacks:?}");
    }
}

/// Sum of the stacks with this method and this innermost frame.
fn ending(stacks: &[(Vec<String>, f64)], method: &str, innermost: &str) -> f64 {
    let found =
        stacks.iter().filter(|(f, _)| f.iter().any(|f| f.starts_with(method)) && f.last().unwrap() == innermost);
    found.map(|(_, value)| value).sum()
}

#[test]
fn waits_for_sockets_and_files_have_their_length() {
    let Some(program) = compile("io", "profiles/events.cs") else { return };
    for mode in
        [["--threads=native", "--io=blocking"], ["--threads=native", "--io=epoll"], ["--threads=green", "--io=poll"]]
    {
        let stacks = stacks(&profile_of("io", &program, &mode, &["io"]));
        let waited_ms = ending(&stacks, "Events:Receives", "[socket receive]") / 1e6;
        assert!((300.0..3000.0).contains(&waited_ms), "{mode:?}: {waited_ms} of some 500 ms");
        let is_there = |method, innermost| ending(&stacks, method, innermost) > 0.0;
        assert!(
            is_there("Events:Accepts", "[socket accept]") && is_there("Events:Accepts", "[socket send]"),
            "{stacks:?}"
        );
        assert!(
            is_there("Events:ReadsFile", "[file read]") && is_there("Events:Main", "[socket connect]"),
            "{stacks:?}"
        );
    }
}

#[test]
fn what_a_program_makes_is_counted() {
    let Some(program) = compile("made", "profiles/events.cs") else { return };
    for mode in ["--threads=native", "--threads=green"] {
        let of = |kind: &str| stacks(&profile_of(kind, &program, &[mode], &["made"]));
        let threads = of("threads");
        assert_eq!(ending(&threads, "Events:StartsThreads", "[thread started]"), 20.0, "{threads:?}");
        assert!(below(&threads, "[thread ended]") >= 20.0, "{threads:?}");
        let handles = of("handles");
        for (what, count) in [("normal", 100.0), ("pinned", 50.0)] {
            for did in ["created", "freed"] {
                let found = ending(&handles, "Events:MakesHandles", &format!("[{what} handle {did}]"));
                assert_eq!(found, count, "{what} {did}: {handles:?}");
            }
        }
        let types = of("load");
        for ty in ["Events+Rare`1[System.String]", "Events+Rare`1[System.Int64]"] {
            assert_eq!(ending(&types, "Events:", ty), 1.0, "{types:?}");
        }
    }
}

/// The first run compiles, the second has the code from the cache.
#[test]
fn compilations_have_their_time_and_size() {
    let Some(program) = compile("jit", "profiles/events.cs") else { return };
    let cache = program.with_extension("cache");
    let _ = std::fs::remove_dir_all(&cache);
    std::fs::create_dir_all(&cache).expect("a folder");
    let output = program.with_extension("jit.folded");
    let mut sizes = Vec::new();
    for by in ["baseline", "from the cache"] {
        let run = Command::new(env!("CARGO_BIN_EXE_saki"))
            .args(["profile", "jit,code", "--format=folded", "--output", &output.display().to_string()])
            .args([&program.display().to_string(), "exceptions"])
            .env("XDG_CACHE_HOME", &cache)
            .output()
            .expect("saki starts");
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{}", text(&run.stderr));
        let folded = std::fs::read_to_string(&output).expect("a profile");
        let of = |kind: &str| -> f64 {
            let lines = folded.lines().filter(|l| l.starts_with(kind) && l.contains(&format!("Events:Throws [{by}]")));
            lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
        };
        assert!(of("[jit]") > 0.0, "{by}: {folded}");
        sizes.push(of("[code]"));
    }
    assert!(sizes[0] > 50.0 && sizes[0] == sizes[1], "the same code: {sizes:?}");
}

#[test]
fn threads_that_wait_for_their_turn_are_seen() {
    let Some(program) = compile("turns", "profiles/events.cs") else { return };
    // One carrier for two threads that compute for a second of the clock each: each waits while the other has its turn.
    let stacks = stacks(&profile_of("sched", &program, &["--threads=green"], &["turns"]));
    let waited_ms = ending(&stacks, "Events:Computes", "[gave way]") / 1e6;
    assert!((500.0..4000.0).contains(&waited_ms), "{waited_ms} of some 1000 ms: {stacks:?}");
    assert!(ending(&stacks, "Events:Sleeps", "[woken]") > 0.0, "{stacks:?}");
}

#[test]
fn overloads_are_functions_of_their_own() {
    let Some(program) = compile("overloads", "profiles/events.cs") else { return };
    let stacks = stacks(&profile(&program, &[], &["overloads"]));
    let whole = below(&stacks, "Events:OverloadedNot");
    for name in ["Events:Overloaded (int)", "Events:Overloaded (string,int[])"] {
        let share = 100.0 * below(&stacks, name) / whole;
        assert!((share - 50.0).abs() < 12.0, "{name}: {share:.1} %");
    }
    assert!(stacks.iter().any(|(f, _)| f.iter().any(|f| f == "Events:OverloadedNot")), "{stacks:?}");
}

#[test]
fn threads_that_wait_are_seen_by_the_clock_on_the_wall() {
    let Some(program) = compile("wall", "profiles/events.cs") else { return };
    for mode in ["--threads=native", "--threads=green", "--threads=mn:2"] {
        let stacks = stacks(&profile_of("wall", &program, &[mode], &["wall"]));
        for (method, innermost) in [("Events:Sleeps", "[sleeping]"), ("Events:Computes", "")] {
            let of_method = stacks.iter().filter(|(f, _)| f.iter().any(|f| f == method));
            let ms = of_method.clone().map(|(_, value)| value).sum::<f64>() / 1e6;
            assert!((1500.0..2700.0).contains(&ms), "{mode} {method}: {ms} of 2000 ms");
            let is_shown = |f: &Vec<String>| innermost.is_empty() || f.last().is_some_and(|f| f == innermost);
            assert!(of_method.clone().any(|(f, _)| is_shown(f)), "{mode}: {stacks:?}");
        }
        assert!(below(&stacks, "[joining a thread]") > 1e9, "{mode}: Main waits for both");
    }
}

/// Each signal interrupts the system call, which begins its timeout anew.
#[test]
fn timeouts_of_sockets_end_in_a_storm_of_signals() {
    let Some(program) = compile("timeouts", "profiles/events.cs") else { return };
    for io in ["blocking", "epoll"] {
        let run = Command::new(env!("CARGO_BIN_EXE_saki"))
            .args([&format!("--io={io}"), &program.display().to_string(), "timeout"])
            .env("SAKI_PROFILE", "cpu,hz=1000,storm,format=folded,output=/dev/null")
            .output()
            .expect("saki starts");
        assert_eq!(
            (run.status.code(), text(&run.stdout)),
            (Some(0), "TimedOut\nok\n".into()),
            "{io}: {}",
            text(&run.stderr)
        );
    }
}

/// Signals at 10 kHz by wall time, to threads that wait as well, while dynamic methods are made, run and collected.
#[test]
fn a_storm_of_samples_meets_methods_that_come_and_go() {
    let methods = std::env::var("SAKI_WALK_METHODS").unwrap_or_else(|_| "20000".into());
    let Some(program) = compile("storm", "walks/lambdas.cs") else { return };
    for threads in ["native", "mn:2"] {
        let folded = program.with_extension(format!("{threads}.folded"));
        let request = format!("cpu,hz=10000,storm,format=folded,output={}", folded.display());
        let run = Command::new(env!("CARGO_BIN_EXE_saki"))
            .args([&format!("--threads={threads}"), &program.display().to_string(), &methods, "2"])
            .env("SAKI_PROFILE", request)
            .output()
            .expect("saki starts");
        let stderr = text(&run.stderr);
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "ok\n".into()), "{stderr}");
        let folded = std::fs::read_to_string(folded).expect("a profile");
        let mut found = 0;
        for stack in folded.lines().filter_map(|line| Some(line.rsplit_once(' ')?.0)) {
            let frames: Vec<&str> = stack.split(';').collect();
            let Some(at) = frames.iter().position(|frame| frame.starts_with("method_")) else { continue };
            found += 1;
            assert_eq!(frames[at - 1], "Lambdas:Work", "{stack}");
            let below: Vec<&str> = frames[at + 1..].iter().copied().filter(|f| !f.ends_with("_[n]")).collect();
            assert!(below.is_empty() || below == ["Lambdas:Spin"], "{stack}");
        }
        assert!(found > 100, "methods that were collected keep their names, but {found} were found");
        let dropped = stderr.lines().find_map(|line| line.split_once(" samples lost")).map_or("0", |(n, _)| n);
        let samples = stderr.split(" in ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
        let number = |text: &str| text.parse::<u64>().expect("a number");
        assert!(number(dropped) * 50 <= number(samples), "{stderr}");
    }
}

/// A signal cuts a write to a pipe short that had to wait, and Mono's class library would send the same bytes again.
#[test]
fn samples_do_not_repeat_bytes_of_pipes() {
    let Some(program) = compile("pipes", "../../../tests/programs/io/anonymous-pipes.cs") else { return };
    for threads in ["native", "mn:2"] {
        let request = format!("cpu,hz=2000,storm,format=folded,output={}", program.with_extension("folded").display());
        let run = Command::new(env!("CARGO_BIN_EXE_saki"))
            .args([&format!("--threads={threads}"), &program.display().to_string()])
            .env("SAKI_PROFILE", request)
            .output()
            .expect("saki starts");
        assert_eq!(
            (run.status.code(), text(&run.stdout).matches("large write: True").count()),
            (Some(0), 5),
            "{run:?}"
        );
    }
}
