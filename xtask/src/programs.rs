//! `cargo xtask programs`: the C#/IL program suite of tests/programs.
//!
//! A test is `AREA/NAME.cs` or `AREA/NAME.il` with the expected standard output in `AREA/NAME.expected`; the
//! source's header (see `header`) says what else is expected. Programs are compiled once per content
//! (`compile`), then run by Saki, or by any other runtime given with `--saki`. Those of the area `net` are for modern
//! .NET (`net`), and run on its class libraries
//! as far as `tools/net/setup` could fetch them; `--net` compiles the other areas for it, too, and compares Saki with
//! it (`net_suite`).
//! Invariant: a program without an `.expected` file fails, so a test cannot pass by having no expectation.
//! A program with a `pending` header is expected to fail; when it passes, the suite fails until the header is removed.
//! Left out: judging standard error beyond `stderr-contains`, since its wording is the VM's own.

mod compile;
pub mod diff;
mod header;
pub mod net;
pub mod net_suite;

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use regex::Regex;
use saki_contract::{Version, claimed_version};
use saki_metadata::Image;

use crate::process::{self, Finished, Job, ProgramEnd};
use crate::tool::Outcome;
use compile::Compilers;
use header::{ExpectedExit, Header};
use net::{Net, RuntimeVersion, expected_file, is_net, is_of_ten_alone};

/// GC stress makes a program many times slower; its time limit grows by this factor.
const STRESS_TIMEOUT_FACTOR: u32 = 10;

/// What `--io` takes: programs whose header says `io: each` run with all of them that the system has.
const IO_MODELS: [&str; 4] = ["blocking", "poll", "epoll", "uring"];

/// Lines of a diff that a failing program may print.
const MAX_DIFF_LINES: usize = 30;

#[derive(clap::Args)]
pub struct Options {
    /// Runtime command; the program's path is appended (default: target/release/saki).
    #[arg(long, value_name = "COMMAND")]
    saki: Option<String>,
    /// Run on the class libraries in this directory (Saki only; by default those that are installed).
    #[arg(long, value_name = "DIR")]
    framework: Option<PathBuf>,
    /// Run under GC stress: SAKI_GC_STRESS=N in the environment.
    #[arg(long, value_name = "N")]
    stress: Option<u32>,
    /// How Saki executes threads: SAKI_THREADS=MODE in the environment.
    #[arg(long, value_name = "MODE")]
    threads: Option<String>,
    /// The compilers that make the code: SAKI_TIERS=TIERS in the environment.
    #[arg(long, value_name = "TIERS")]
    tiers: Option<String>,
    /// With both tiers: calls and rounds after which a method is hot: SAKI_HOT_AFTER=COUNT in the environment.
    #[arg(long, value_name = "COUNT")]
    hot_after: Option<u32>,
    /// With both tiers: random thresholds and wrong guesses, as NUMBER decides: SAKI_HOT_SEED=NUMBER in the environment.
    #[arg(long, value_name = "NUMBER")]
    hot_seed: Option<u32>,
    /// How threads wait for descriptors: SAKI_IO=MODEL in the environment, for all programs.
    #[arg(long, value_name = "MODEL")]
    io: Option<String>,
    /// Run with the code cache in this directory; otherwise without one.
    #[arg(long, value_name = "DIR")]
    code_cache: Option<PathBuf>,
    /// Compile the programs of the other areas for modern .NET, as far as they compile, run each on Saki and on .NET 9,
    /// and compare.
    #[arg(long)]
    net: bool,
    /// What runs the programs of the area net; the peer is .NET 9 itself, which decides what is expected (and runs no
    /// other programs).
    #[arg(long, value_enum, default_value_t = Runtime::Saki)]
    runtime: Runtime,
    /// The release of .NET that runs the programs of the area net; with 10 no others are run, and what it prints
    /// otherwise than 9 is expected by `NAME.expected10`.
    #[arg(long, value_enum, default_value_t = RuntimeVersion::Nine, conflicts_with = "net")]
    runtime_version: RuntimeVersion,
    /// Only programs whose AREA/NAME matches this regular expression.
    #[arg(long, value_name = "RE")]
    filter: Option<Regex>,
    /// Programs compiled and run at once (default: the number of processors).
    #[arg(long)]
    jobs: Option<usize>,
    /// Wait N times as long as usual for a program's end: for a runtime that is emulated.
    #[arg(long, value_name = "N", default_value_t = 1)]
    patience: u32,
    /// C# compiler command.
    #[arg(long, default_value = "mcs")]
    mcs: String,
    /// IL assembler command.
    #[arg(long, default_value = "ilasm")]
    ilasm: String,
    /// Compile only.
    #[arg(long)]
    compile_only: bool,
    /// Write the .expected files from this run's output. Read them before you keep them.
    #[arg(long)]
    bless: bool,
    /// Name every program as it passes, with its seconds.
    #[arg(long, short)]
    verbose: bool,
}

/// What runs the programs for modern .NET.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Runtime {
    Saki,
    Peer,
}

/// One test program.
pub struct Program {
    /// `AREA/NAME`.
    name: String,
    source: PathBuf,
    header: Header,
}

/// What came of one program.
enum Verdict {
    /// With the seconds it ran.
    Passed(f64),
    /// Failed as its `pending` header says it would.
    Pending,
    /// With the report.
    Failed(String),
}

/// Where the class libraries lie that are installed.
const INSTALLED: &str = "/usr/lib/mono";

/// The version of class libraries; None: of no known one.
fn version_of(framework: &Path) -> Option<Version> {
    claimed_version(&Image::open(&framework.join("4.5/mscorlib.dll")).ok()?)
}

/// Compiles and runs the suite and prints the report. Errors: an unreadable tree or a bad header.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let mut programs = discover(&root.join("tests/programs"))?;
    if let Some(filter) = &options.filter {
        programs.retain(|p| filter.is_match(&p.name));
    }
    if options.threads.as_deref().is_some_and(|mode| mode != "native") {
        programs.retain(|p| p.header.green_skip.is_none());
    }
    if options.tiers.as_deref().is_some_and(|tiers| tiers != "2") {
        programs.retain(|p| p.header.first_tier_skip.is_none());
    }
    if options.stress.is_some() {
        // Without stress it is shown that the pending ones still fail.
        programs.retain(|p| p.header.stress_skip.is_none() && p.header.pending.is_none());
    }
    let framework = options.framework.as_deref().unwrap_or(Path::new(INSTALLED));
    if let Some(version) = version_of(framework) {
        programs.retain(|p| is_net(p) || p.header.libraries.contains(version));
    }
    if options.runtime == Runtime::Peer || options.runtime_version == RuntimeVersion::Ten {
        programs.retain(is_net);
    }
    match options.runtime_version {
        RuntimeVersion::Nine => programs.retain(|p| !is_of_ten_alone(&p.source)),
        // The host of the .NET 10 that is fetched starts that one program alone.
        RuntimeVersion::Ten => programs.retain(|p| !p.header.is_hosted),
    }
    let mut saki = crate::tool::runtime_command(root, options.saki.as_deref())?;
    if let Some(framework) = &options.framework {
        let absolute = std::path::absolute(framework).map_err(|e| format!("{}: {e}", framework.display()))?;
        saki.extend(["--framework".to_owned(), absolute.display().to_string()]);
    }
    let net = usable_net(root, options, &saki);
    if net.is_none() {
        let before = programs.len();
        programs.retain(|p| !is_net(p));
        let count = before - programs.len();
        if count > 0 {
            println!("skipped: {count} programs for modern .NET: {}", no_net(options));
        }
        if options.net || count > 0 && programs.is_empty() {
            if options.net {
                println!("skipped: the comparison with .NET: {}", no_net(options));
            }
            return Ok(true);
        }
    }
    let available_io_models = available_io_models(&saki);
    let mut suite = Suite {
        saki,
        compilers: Compilers {
            mcs: options.mcs.split_whitespace().map(str::to_owned).collect(),
            ilasm: options.ilasm.split_whitespace().map(str::to_owned).collect(),
        },
        output_root: root.join("target/programs"),
        available_io_models,
        net,
        net_executables: HashMap::new(),
        options,
    };
    if options.net {
        programs.retain(|p| !is_net(p));
        return net_suite::run(root, programs, &suite);
    }
    if let Some(net) = &suite.net {
        let all: Vec<&Program> = programs.iter().filter(|p| is_net(p)).collect();
        suite.net_executables = net.compile(&all, &suite.compilers, &suite.output_root)?;
    }
    let total = programs.len();
    let (mut passed, mut pending, mut failed) = (0, Vec::new(), Vec::new());
    each(
        programs,
        options,
        |program| suite.check(program),
        |name, verdict| match verdict {
            Verdict::Passed(seconds) => {
                passed += 1;
                if options.verbose {
                    println!("ok   {name} ({seconds:.2} s)");
                }
            }
            Verdict::Pending => pending.push(name),
            Verdict::Failed(report) => {
                println!("FAIL {name}: {report}");
                failed.push(name);
            }
        },
    );
    pending.sort();
    failed.sort();
    if !pending.is_empty() {
        println!("pending: {}", pending.join(" "));
    }
    if !failed.is_empty() {
        println!("failed: {}", failed.join(" "));
    }
    println!("programs: {passed} passed, {} failed, {} pending", failed.len(), pending.len());
    Ok(failed.is_empty() && total > 0)
}

/// Why programs for modern .NET are not run.
fn no_net(options: &Options) -> &'static str {
    match options.runtime_version {
        RuntimeVersion::Nine => {
            "target/net has no .NET 9 and C# 12 compiler for this runtime (tools/net/setup fetches them)"
        }
        RuntimeVersion::Ten => {
            "target/net has no .NET 10, .NET 9 and C# 12 compiler for this runtime (tools/net/setup 9 compiler 10 fetches them)"
        }
    }
}

/// Modern .NET, where it is fetched and the runtime that is tested can load it.
fn usable_net(root: &Path, options: &Options, saki: &[String]) -> Option<Net> {
    let is_saki = Path::new(&saki[0]).file_name().is_some_and(|name| name == "saki");
    Net::find(root, options.runtime_version)
        .filter(|_| options.runtime == Runtime::Peer || is_saki && options.framework.is_none())
}

/// Calls `work` for each program, several at a time, and `done` with each result as it comes.
fn each<T: Send>(
    programs: Vec<Program>,
    options: &Options,
    work: impl Fn(&Program) -> T + Sync,
    mut done: impl FnMut(String, T),
) {
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from)).max(1);
    let started = Instant::now();
    let total = programs.len();
    let queue = Mutex::new(VecDeque::from(programs));
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, queue, work) = (sender.clone(), &queue, &work);
            scope.spawn(move || {
                while let Some(program) = queue.lock().ok().and_then(|mut q| q.pop_front()) {
                    let result = work(&program);
                    if sender.send((program.name, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut last_line = Instant::now();
        for (count, (name, result)) in receiver.into_iter().enumerate() {
            done(name, result);
            // A heartbeat, so that a first run, which compiles everything, is never silent for long.
            if last_line.elapsed() > Duration::from_secs(5) {
                last_line = Instant::now();
                println!("  {} of {total} done, {:.0} s", count + 1, started.elapsed().as_secs_f64());
            }
        }
    });
}

/// A program as it is for tools that do something else with it than to run it.
pub struct CompiledProgram {
    /// `AREA/NAME`.
    pub name: String,
    pub source: String,
    pub executable: PathBuf,
}

/// The programs of the suite whose names match, compiled. Errors: an unreadable tree, or a program that does not
/// compile.
pub fn compiled(root: &Path, filter: Option<&Regex>) -> Result<Vec<CompiledProgram>, String> {
    let compilers = Compilers { mcs: vec!["mcs".to_owned()], ilasm: vec!["ilasm".to_owned()] };
    let mut programs = discover(&root.join("tests/programs"))?;
    // What those tools ask of the programs is asked with Mono's class libraries.
    programs
        .retain(|p| filter.is_none_or(|filter| filter.is_match(&p.name)) && p.header.pending.is_none() && !is_net(p));
    programs
        .into_iter()
        .map(|program| {
            let executable = compile::compile(&program, &compilers, &root.join("target/programs"))?;
            let source = fs::read_to_string(&program.source).map_err(|e| e.to_string())?;
            Ok(CompiledProgram { name: program.name, source, executable })
        })
        .collect()
}

/// The I/O models that `saki doctor` does not deny: old kernels and sandboxes lack some. Other runtimes have no such
/// command, and take no notice of the model.
fn available_io_models(saki: &[String]) -> Vec<&'static str> {
    let doctor = std::process::Command::new(&saki[0]).arg("doctor").output();
    let report = doctor.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default();
    let line = report.lines().find(|line| line.contains("I/O models")).unwrap_or_default();
    IO_MODELS.into_iter().filter(|model| !line.contains(&format!("not {model} ("))).collect()
}

/// Finds the programs below `root`, sorted by name. `*.lib.*` files belong to the program they are named after.
fn discover(root: &Path) -> Result<Vec<Program>, String> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        for entry in entries {
            let path = entry.map_err(|e| format!("{}: {e}", directory.display()))?.path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let is_source = path.extension().is_some_and(|e| e == "cs" || e == "il");
            let stem = path.with_extension("");
            if !is_source || stem.extension().is_some_and(|e| e == "lib") {
                continue;
            }
            let relative = stem.strip_prefix(root).map_err(|e| e.to_string())?;
            let source = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let header = header::parse(&source).map_err(|e| format!("{}: {e}", path.display()))?;
            found.push(Program { name: relative.display().to_string(), source: path, header });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

struct Suite<'a> {
    saki: Vec<String>,
    compilers: Compilers,
    output_root: PathBuf,
    available_io_models: Vec<&'static str>,
    /// None: the programs of the area net are not run.
    net: Option<Net>,
    /// What came of compiling those, by name.
    net_executables: HashMap<String, Result<PathBuf, String>>,
    options: &'a Options,
}

impl Suite<'_> {
    fn check(&self, program: &Program) -> Verdict {
        // What Saki lacks .NET has.
        let pending = program.header.pending.as_ref().filter(|_| self.options.runtime == Runtime::Saki);
        match (self.try_program(program), pending) {
            (Ok(seconds), None) => Verdict::Passed(seconds),
            (Ok(_), Some(_)) if self.options.compile_only => Verdict::Pending,
            (Ok(_), Some(reason)) => Verdict::Failed(format!("passes now; remove its header `pending: {reason}`")),
            (Err(_), Some(_)) => Verdict::Pending,
            (Err(report), None) => Verdict::Failed(report),
        }
    }

    /// The seconds the program ran. Errors: the report of its failure.
    fn try_program(&self, program: &Program) -> Result<f64, String> {
        let executable = match self.net_executables.get(&program.name) {
            Some(result) => result.clone()?,
            None => compile::compile(program, &self.compilers, &self.output_root)?,
        };
        if self.options.compile_only {
            return Ok(0.0);
        }
        let mut seconds = 0.0;
        // Absent when this is the first run.
        let _ = fs::remove_dir_all(cache_of(&executable));
        for io_model in self.io_models(program) {
            let at = |report: String| match io_model {
                Some(model) => format!("with SAKI_IO={model}: {report}"),
                None => report,
            };
            let command = match &self.net {
                Some(net) if is_net(program) => {
                    let is_peer = self.options.runtime == Runtime::Peer;
                    match program.header.is_hosted {
                        true => net.hosted_command(&self.saki, is_peer),
                        false => net.command(&self.saki, is_peer),
                    }
                }
                _ => self.saki.clone(),
            };
            let finished = self.execute(command, program, &executable, io_model).map_err(at)?;
            if self.options.bless {
                let expected = self.file_to_bless(program, &finished);
                fs::write(&expected, &finished.stdout).map_err(|e| format!("{}: {e}", expected.display()))?;
            }
            judge(program, self.options.runtime_version, &finished).map_err(at)?;
            seconds += finished.wall.as_secs_f64();
        }
        Ok(seconds)
    }

    /// Where `--bless` writes to. What .NET 10 prints as 9 does needs no file of its own.
    fn file_to_bless(&self, program: &Program, finished: &Finished) -> PathBuf {
        let shared = program.source.with_extension("expected");
        match self.options.runtime_version {
            RuntimeVersion::Ten if is_of_ten_alone(&program.source) => program.source.with_extension("expected10"),
            RuntimeVersion::Ten if fs::read(&shared).is_ok_and(|expected| expected != finished.stdout) => {
                program.source.with_extension("expected10")
            }
            _ => shared,
        }
    }

    /// The I/O models to run the program with, one after the other; None: what goes with the threads.
    fn io_models<'s>(&'s self, program: &Program) -> Vec<Option<&'s str>> {
        match &self.options.io {
            Some(model) => vec![Some(model)],
            None if program.header.each_io_model && self.options.stress.is_none() => {
                self.available_io_models.iter().copied().map(Some).collect()
            }
            None => vec![None],
        }
    }

    /// Runs the program by the command in an empty folder of its own.
    fn execute(
        &self,
        command: Vec<String>,
        program: &Program,
        executable: &Path,
        io_model: Option<&str>,
    ) -> Result<Finished, String> {
        let directory = executable.with_file_name("run");
        // Absent when this is the first run.
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let mut argv = command;
        argv.push(executable.display().to_string());
        argv.extend(program.header.arguments.iter().cloned());
        // The same culture and time zone on every machine.
        let mut environment: Vec<(String, String)> =
            [("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("TERM", "dumb"), INVARIANT]
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .to_vec();
        let code_cache = match &self.options.code_cache {
            Some(directory) => Some(directory.clone()),
            // What one run compiles the next one need not.
            None => io_model.map(|_| cache_of(executable)),
        };
        environment.push(match code_cache {
            // The programs run in folders of their own.
            Some(directory) => {
                let absolute = std::path::absolute(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
                ("XDG_CACHE_HOME".to_owned(), absolute.display().to_string())
            }
            None => ("SAKI_NO_CACHE".to_owned(), "true".to_owned()),
        });
        if let Some(net) = &self.net {
            environment.push(("DOTNET_ROOT".to_owned(), net.dotnet_root().display().to_string()));
        }
        environment.extend(program.header.environment.iter().cloned());
        if let Some(mode) = &self.options.threads {
            environment.push(("SAKI_THREADS".to_owned(), mode.clone()));
        }
        if let Some(tiers) = &self.options.tiers {
            environment.push(("SAKI_TIERS".to_owned(), tiers.clone()));
        }
        if let Some(count) = self.options.hot_after {
            environment.push(("SAKI_HOT_AFTER".to_owned(), count.to_string()));
        }
        if let Some(seed) = self.options.hot_seed {
            environment.push(("SAKI_HOT_SEED".to_owned(), seed.to_string()));
        }
        if let Some(model) = io_model {
            environment.push(("SAKI_IO".to_owned(), model.to_owned()));
        }
        let mut timeout = Duration::from_secs(program.header.timeout_seconds) * self.options.patience;
        if let Some(level) = self.options.stress {
            environment.push(("SAKI_GC_STRESS".to_owned(), level.to_string()));
            timeout *= STRESS_TIMEOUT_FACTOR;
        }
        process::run(&Job {
            argv: &argv,
            directory: &directory,
            environment: &environment,
            stdin: program.header.stdin.as_bytes(),
            timeout,
        })
    }
}

/// Modern .NET does without ICU, whose data differs from machine to machine.
pub const INVARIANT: (&str, &str) = ("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");

/// The code cache of a program that is run several times.
fn cache_of(executable: &Path) -> PathBuf {
    executable.with_file_name("cache")
}

/// What a shell shows of a process that SIGABRT killed: 128 and the signal's number.
const ABORTED: i32 = 128 + libc::SIGABRT;

/// Compares what happened with what the program's files ask for.
fn judge(program: &Program, version: RuntimeVersion, finished: &Finished) -> Result<(), String> {
    let stdout = String::from_utf8_lossy(&finished.stdout);
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let mut report = String::new();
    let end_is_right = match program.header.exit {
        ExpectedExit::Code(ABORTED) => {
            matches!(finished.end, ProgramEnd::Exit(ABORTED) | ProgramEnd::Signal(libc::SIGABRT))
        }
        ExpectedExit::Code(code) => finished.end == ProgramEnd::Exit(code),
        ExpectedExit::NonZero => !matches!(finished.end, ProgramEnd::Exit(0) | ProgramEnd::TimedOut),
    };
    if !end_is_right {
        report.push_str(&format!("{}, expected {:?}\n", finished.end, program.header.exit));
    }
    match fs::read_to_string(expected_file(&program.source, version)) {
        Ok(expected) if expected == stdout => {}
        Ok(expected) => {
            report.push_str("standard output differs (- expected, + actual)\n");
            report.push_str(&diff::diff(&expected, &stdout, MAX_DIFF_LINES));
        }
        Err(error) => report.push_str(&format!("no readable .expected file: {error}\n")),
    }
    for text in &program.header.stderr_contains {
        if !stderr.contains(text.as_str()) {
            report.push_str(&format!("standard error does not contain: {text}\n"));
        }
    }
    if report.is_empty() {
        return Ok(());
    }
    if is_net(program) {
        // What its `pending` header would say.
        report.insert_str(0, &format!("{}\n", net_suite::reason(finished)));
    }
    if !stderr.trim().is_empty() {
        report.push_str("standard error ends:\n");
        let lines: Vec<&str> = stderr.trim_end().lines().collect();
        for line in &lines[lines.len().saturating_sub(12)..] {
            report.push_str(&format!("    | {line}\n"));
        }
    }
    Err(report.trim_end().to_owned())
}
