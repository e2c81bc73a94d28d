//! `cargo xtask bench`: Saki beside Mono and CoreCLR on the programs of bench/.
//!
//! Every program is compiled once with `mcs -optimize+` and run whole, start-up included, under each
//! runtime in turn; repetitions are interleaved (A B C, A B C, …), so that a change in the machine's load
//! hits all of them. Figures are wall seconds, minimum and median, and peak resident memory.
//! Invariant: a run counts only if it exits with 0 and prints what the other runtimes print.
//! Left out: micro-benchmarks inside one process, which belong to the crates.

mod green;
mod io;
mod pauses;
mod peers;
mod profile;
mod report;
mod simd;
mod svg;
mod threads;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use regex::Regex;

use crate::process::{self, End, Job};
use crate::tool::Outcome;
use peers::Runtime;

/// The eight programs whose geometric mean is reported.
const KERNELS: [&str; 8] =
    ["fib", "nbody", "spectral-norm", "fannkuch", "mandelbrot", "sieve", "matmul", "binary-trees"];

/// All programs, in the order in which they run and are shown.
const PROGRAMS: [&str; 10] =
    ["hello", "alloc", "fib", "nbody", "spectral-norm", "fannkuch", "mandelbrot", "sieve", "matmul", "binary-trees"];

/// Programs that live by the class library; all of them count in their geometric mean.
const LIBRARY: [&str; 6] = ["file-copy", "line-reading", "formatting", "collections", "regex", "json"];

/// What to measure.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Suite {
    /// Start-up, allocation and the eight kernels.
    Kernels,
    /// Handles, weak references, locks, allocation by several threads.
    Threads,
    /// Methods made at run time.
    Dynamic,
    /// Files, text, collections, regular expressions, JSON.
    Library,
    /// What threads cost in the three modes, beside Go and Java as well.
    Green,
    /// Servers and other I/O in Saki's thread modes and I/O models, beside Go and Java as well. Needs wrk.
    Io,
    /// What profiling costs.
    Profile,
    /// Vectors, and the class library's loops over memory and text; beside .NET 9 ($DOTNET9) as well.
    Simd,
}

impl Suite {
    fn programs(self) -> &'static [&'static str] {
        if self == Suite::Library { &LIBRARY } else { &PROGRAMS }
    }

    /// The programs of the geometric mean, and what the table calls it.
    fn averaged(self) -> (&'static [&'static str], &'static str) {
        if self == Suite::Library {
            (&LIBRARY, "geometric mean of the library programs")
        } else {
            (&KERNELS, "geometric mean of the eight")
        }
    }
}

const DEFAULT_RUNS: usize = 5;

/// No program takes a tenth of this on a machine of this decade.
const TIMEOUT: Duration = Duration::from_secs(120);

#[derive(clap::Args)]
pub struct Options {
    /// What to measure.
    #[arg(long, value_enum, default_value = "kernels")]
    suite: Suite,
    /// Runtime command of Saki (default: target/release/saki).
    #[arg(long, value_name = "COMMAND")]
    saki: Option<String>,
    /// Repetitions of each program under each runtime [default: 5, of the suites green, io and profile 3].
    #[arg(long)]
    runs: Option<usize>,
    /// Only programs whose name matches this regular expression.
    #[arg(long, value_name = "RE")]
    filter: Option<Regex>,
    /// Do not run this runtime (saki, mono, coreclr; in the suites green and io the columns that they print); may be
    /// repeated.
    #[arg(long, value_name = "NAME")]
    without: Vec<String>,
    /// Measure processor seconds instead of wall seconds: for a machine that does other work, too.
    #[arg(long)]
    cpu: bool,
    /// Also write docs/benchmarks.md.
    #[arg(long)]
    markdown: bool,
    /// Also store the figures in bench/results/.
    #[arg(long)]
    json: bool,
}

impl Options {
    fn runs(&self) -> usize {
        self.runs.unwrap_or(DEFAULT_RUNS).max(1)
    }
}

/// Measurements of one program under one runtime.
pub struct Cell {
    /// Wall or processor seconds of the good runs, sorted.
    seconds: Vec<f64>,
    /// Largest peak resident memory of the good runs, KiB.
    max_rss_kib: u64,
    /// Why the runtime has no figure here.
    failure: Option<String>,
    stdout: Option<Vec<u8>>,
}

impl Cell {
    fn min(&self) -> Option<f64> {
        if self.failure.is_some() { None } else { self.seconds.first().copied() }
    }

    fn median(&self) -> Option<f64> {
        let n = self.seconds.len();
        if self.failure.is_some() || n == 0 {
            return None;
        }
        Some((self.seconds[(n - 1) / 2] + self.seconds[n / 2]) / 2.0)
    }
}

/// Measurements of one program under all runtimes, in the runtimes' order.
pub struct Row {
    program: &'static str,
    cells: Vec<Cell>,
}

/// Runs the comparison and prints it. Errors: no runtime, or a program that does not compile.
/// The verdict is false when a runtime failed a program or a required figure was missed.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let output = root.join("target/bench");
    fs::create_dir_all(&output).map_err(|e| format!("{}: {e}", output.display()))?;
    let mut runtimes = peers::available(crate::tool::runtime_command(root, options.saki.as_deref())?, &output)?;
    if options.suite == Suite::Green {
        return green::run(root, options, runtimes, &output);
    }
    if options.suite == Suite::Io {
        return io::run(root, options, runtimes, &output);
    }
    runtimes.retain(|r| !options.without.iter().any(|name| *name == r.name));
    if runtimes.is_empty() {
        return Err("no runtime to measure".to_owned());
    }
    for runtime in &runtimes {
        println!("{:8} {}", runtime.name, runtime.version);
    }
    if matches!(options.suite, Suite::Threads | Suite::Dynamic) {
        return threads::run(root, options, &runtimes, &output);
    }
    if options.suite == Suite::Profile {
        return profile::run(root, options, &runtimes, &output);
    }
    if options.suite == Suite::Simd {
        return simd::run(root, options, runtimes, &output);
    }
    let mut rows = Vec::new();
    for &program in options.suite.programs() {
        if options.filter.as_ref().is_some_and(|filter| !filter.is_match(program)) {
            continue;
        }
        let executable = compile(root, program, &output)?;
        let row = measure(program, |_| &executable, &runtimes, options)?;
        println!("{}", report::progress(&row, &runtimes));
        rows.push(row);
    }
    let verdicts = report::verdicts(&rows, &runtimes, options.suite);
    print!("\n{}", report::text(&rows, &runtimes, &verdicts, options));
    if options.markdown {
        let text = report::markdown(&rows, &runtimes, &verdicts, options);
        write_section(&root.join("docs/benchmarks.md"), options.suite, &text)?;
    }
    if options.json {
        let name = report::utc_now().replace(':', "");
        write(&root.join(format!("bench/results/{name}.json")), &report::json(&rows, &runtimes, options.runs()))?;
    }
    let all_ran = rows.iter().all(|row| row.cells.iter().all(|cell| cell.failure.is_none()));
    Ok(all_ran && verdicts.iter().all(|v| v.is_met != Some(false)))
}

/// What begins a part of docs/benchmarks.md, in their order there. The kernels come first, without a mark.
const MARKS: [(Suite, &str); 6] = [
    (Suite::Threads, "<!-- suite: threads -->\n"),
    (Suite::Dynamic, "<!-- suite: dynamic -->\n"),
    (Suite::Library, "<!-- suite: library -->\n"),
    (Suite::Green, "<!-- suite: green -->\n"),
    (Suite::Io, "<!-- suite: io -->\n"),
    (Suite::Simd, "<!-- suite: simd -->\n"),
];

/// Writes one suite's part of the page and leaves the others'.
fn write_section(path: &Path, suite: Suite, text: &str) -> Result<(), String> {
    let before = fs::read_to_string(path).unwrap_or_default();
    write(path, &with_section(&before, suite, text))
}

/// The page with this suite's part replaced.
fn with_section(page: &str, suite: Suite, text: &str) -> String {
    let mut parts = vec![(Suite::Kernels, "")];
    let mut rest = page;
    for (of, mark) in MARKS {
        if let Some((before, after)) = rest.split_once(mark) {
            parts.last_mut().expect("there is a first").1 = before;
            parts.push((of, ""));
            rest = after;
        }
    }
    parts.last_mut().expect("there is a first").1 = rest;
    let part = |of: Suite| match parts.iter().find(|(suite, _)| *suite == of) {
        _ if of == suite => text.trim(),
        Some((_, old)) => old.trim(),
        None => "",
    };
    let mut out = part(Suite::Kernels).to_owned();
    for (of, mark) in MARKS {
        if !part(of).is_empty() {
            out.push_str(&format!("\n\n{mark}{}", part(of)));
        }
    }
    out.push('\n');
    out.trim_start().to_owned()
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
    }
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Compiles bench/PROGRAM.cs when the executable is older than the source.
fn compile(root: &Path, program: &str, output: &Path) -> Result<PathBuf, String> {
    let source = root.join(format!("bench/{program}.cs"));
    let executable = output.join(format!("{program}.exe"));
    compile_file(&source, &executable, &["-r:System.Core".to_owned()])?;
    Ok(executable)
}

/// Compiles a source with further arguments when the executable is older.
fn compile_file(source: &Path, executable: &Path, arguments: &[String]) -> Result<(), String> {
    let modified = |path: &Path| fs::metadata(path).and_then(|m| m.modified());
    if let (Ok(built), Ok(written)) = (modified(executable), modified(source))
        && built > written
    {
        return Ok(());
    }
    let done = Command::new("mcs")
        .args(["-nologo", "-optimize+", "-debug-", "-unsafe"])
        .args(arguments)
        .arg(format!("-out:{}", executable.display()))
        .arg(source)
        .output()
        .map_err(|e| format!("cannot start mcs: {e}"))?;
    if done.status.success() {
        Ok(())
    } else {
        let messages = [done.stdout, done.stderr].concat();
        Err(format!("{}:\n{}", source.display(), String::from_utf8_lossy(&messages)))
    }
}

/// Runs the program's executable for each runtime as often as asked.
fn measure<'a>(
    program: &'static str,
    executable: impl Fn(&Runtime) -> &'a Path,
    runtimes: &[Runtime],
    options: &Options,
) -> Result<Row, String> {
    let empty = || Cell { seconds: Vec::new(), max_rss_kib: 0, failure: None, stdout: None };
    let mut cells: Vec<Cell> = runtimes.iter().map(|_| empty()).collect();
    for _ in 0..options.runs() {
        for (runtime, cell) in runtimes.iter().zip(&mut cells) {
            if cell.failure.is_none() {
                measure_once(executable(runtime), runtime, options.cpu, cell)?;
            }
        }
    }
    // The first runtime after Saki that ran the program is the reference; a program's output has no timings in it.
    let reference = cells.iter().rev().find(|c| c.failure.is_none()).and_then(|c| c.stdout.clone());
    for cell in &mut cells {
        if cell.failure.is_none() && cell.stdout != reference {
            cell.failure = Some("prints something else than its peers".to_owned());
        }
        cell.seconds.sort_by(f64::total_cmp);
    }
    Ok(Row { program, cells })
}

fn measure_once(executable: &Path, runtime: &Runtime, cpu: bool, cell: &mut Cell) -> Result<(), String> {
    let mut argv = runtime.argv.clone();
    argv.push(executable.display().to_string());
    let finished = process::run(&Job {
        argv: &argv,
        directory: executable.parent().unwrap_or(Path::new(".")),
        environment: &runtime.environment,
        stdin: b"",
        timeout: TIMEOUT,
    })?;
    if finished.end != End::Exit(0) {
        let stderr = String::from_utf8_lossy(&finished.stderr);
        let reason = stderr.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
        cell.failure = Some(format!("{} {reason}", finished.end));
        return Ok(());
    }
    let time = if cpu { finished.cpu } else { finished.wall };
    cell.seconds.push(time.as_secs_f64());
    cell.max_rss_kib = cell.max_rss_kib.max(finished.max_rss_kib);
    match &cell.stdout {
        Some(before) if *before != finished.stdout => {
            cell.failure = Some("prints something else from run to run".to_owned());
        }
        _ => cell.stdout = Some(finished.stdout),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_where_it_belongs() {
        let page = with_section("", Suite::Library, "L");
        let page = with_section(&page, Suite::Kernels, "K\n");
        let page = with_section(&page, Suite::Threads, "T");
        let page = with_section(&page, Suite::Dynamic, "old");
        let page = with_section(&page, Suite::Dynamic, "D");
        let page = with_section(&page, Suite::Green, "G");
        let marks: Vec<&str> = MARKS.iter().map(|(_, mark)| *mark).collect();
        let page = with_section(&page, Suite::Simd, "S");
        let page = with_section(&page, Suite::Io, "I");
        assert_eq!(
            page,
            format!(
                "K\n\n{}T\n\n{}D\n\n{}L\n\n{}G\n\n{}I\n\n{}S\n",
                marks[0], marks[1], marks[2], marks[3], marks[4], marks[5]
            )
        );
    }
}
