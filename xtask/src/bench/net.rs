//! `--suite net`: programs for .NET on its class libraries, beside .NET 9 and .NET 10 (`target/net`, which
//! `tools/net/setup` fills).
//!
//! Programs of `bench/net` are compiled by the C# 12 compiler of `target/net/compiler`, and that compiler is a program
//! of the suite itself. Saki runs on the class libraries of .NET 9, with a code cache of the suite's own: `saki` with
//! what earlier runs left there (a run that is not counted comes first), `saki first` with an empty one.
//! Invariant: what a program prints does not depend on the runtime.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measurement::{Cell, Row, measure_with};
use super::options::Options;
use super::pages::publish;
use super::peers::Runtime;
use super::report::{self, ratio_of};
use crate::tool::Outcome;

/// A column of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Saki,
    /// With an empty code cache.
    First,
    Net9,
    Net10,
}

const SAKI: &str = "saki";
const FIRST: &str = "saki first";
const NET9: &str = "net9";
const NET10: &str = "net10";

impl Column {
    fn name(self) -> &'static str {
        match self {
            Column::Saki => SAKI,
            Column::First => FIRST,
            Column::Net9 => NET9,
            Column::Net10 => NET10,
        }
    }
}

struct Program {
    name: &'static str,
    /// Saki's options.
    saki: &'static [&'static str],
    /// Whether the first run is measured, too: it is another figure only where compiling takes much of the time.
    has_first_run: bool,
    /// Of Saki's seconds to those of a peer.
    greatest_ratio: (&'static str, f64),
    /// Of all of Saki's runs, the first too.
    greatest_seconds: Option<f64>,
}

/// The compiler, which has arguments and is compiled by nobody here.
const COMPILER: &str = "roslyn";

const PROGRAMS: [Program; 5] = [
    Program {
        name: "hello",
        saki: &[],
        has_first_run: true,
        greatest_ratio: (NET10, 1.0),
        greatest_seconds: Some(1.5),
    },
    Program { name: COMPILER, saki: &[], has_first_run: true, greatest_ratio: (NET9, 1.0), greatest_seconds: None },
    Program {
        name: "exceptions",
        saki: &[],
        has_first_run: false,
        greatest_ratio: (NET9, 0.3),
        greatest_seconds: None,
    },
    Program { name: "lambdas", saki: &[], has_first_run: false, greatest_ratio: (NET9, 0.35), greatest_seconds: None },
    Program {
        name: "sleeping-tasks",
        saki: &["--threads=mn"],
        has_first_run: false,
        greatest_ratio: (NET9, 1.0),
        greatest_seconds: Some(0.3),
    },
];

/// Lines of the program that the compiler compiles, about.
const COMPILED_LINES: usize = 10_000;

/// A program of many classes whose methods use generics, lambdas and queries.
fn long_source() -> String {
    const LINES_OF_A_CLASS: usize = 53;
    let mut text = "using System; using System.Collections.Generic; using System.Linq;\n".to_owned();
    for class in 0..COMPILED_LINES.div_ceil(LINES_OF_A_CLASS) {
        let _ =
            writeln!(text, "class C{class}\n{{\n    int total{class};\n    readonly List<int> list{class} = new();");
        for method in 0..6 {
            let _ = writeln!(
                text,
                "    public int M{method}(int a, string s)\n    {{\n        int total = a * {method};\n        foreach (var x in list{class}.Where(v => v > a).Select(v => v * {method}))\n            total += x + s.Length;\n        total{class} += total;\n        return total;\n    }}"
            );
        }
        text.push_str("}\n");
    }
    text.push_str("static class Program { static void Main() => Console.WriteLine(new C0().M1(1, \"x\")); }\n");
    text
}

/// Where things are.
struct Places {
    net: PathBuf,
    output: PathBuf,
}

/// Compiles `bench/net/NAME.cs` with these options of `target/net/compiler/csc`. Errors: there is no compiler, or the
/// program's.
pub(super) fn compile_program(
    root: &Path,
    net: &Path,
    output: &Path,
    name: &str,
    options: &[&str],
) -> Result<PathBuf, String> {
    Places::of(net.to_owned(), output)?.compile(root, name, options)
}

impl Places {
    fn of(net: PathBuf, output: &Path) -> Result<Places, String> {
        if !net.join("compiler/csc").exists() {
            return Err(format!("{} has no C# 12 compiler: tools/net/setup fetches it", net.display()));
        }
        let output = output.join("net");
        fs::create_dir_all(&output).map_err(|e| format!("{}: {e}", output.display()))?;
        Ok(Places { net, output })
    }

    fn framework(&self) -> Result<PathBuf, String> {
        let folder = self.net.join("9/shared/Microsoft.NETCore.App");
        let first = fs::read_dir(&folder).ok().and_then(|mut entries| entries.next()?.ok());
        first.map(|entry| entry.path()).ok_or_else(|| format!("{} is empty", folder.display()))
    }

    /// Compiles `bench/net/NAME.cs`.
    fn compile(&self, root: &Path, name: &str, options: &[&str]) -> Result<PathBuf, String> {
        let program = self.output.join(format!("{name}.dll"));
        let compiler = self.net.join("compiler/csc");
        let done = Command::new(&compiler)
            .args(options)
            .arg(format!("-fw:{}", self.framework()?.display()))
            .arg(format!("-out:{}", program.display()))
            .arg(root.join(format!("bench/net/{name}.cs")))
            .output()
            .map_err(|e| format!("{}: {e}", compiler.display()))?;
        match done.status.success() {
            true => Ok(program),
            false => Err(format!("bench/net/{name}.cs: {}", String::from_utf8_lossy(&done.stdout))),
        }
    }

    fn runtime(&self, column: Column, program: &Program, saki: &Runtime) -> Runtime {
        let dotnet = |version: &str, command: &str| vec![self.net.join(version).join(command).display().to_string()];
        let cache = self.output.join(if column == Column::First { "cache-first" } else { "cache" });
        let mut own = saki.argv.clone();
        own.extend(program.saki.iter().map(|&option| option.to_owned()));
        let argv = match column {
            Column::Saki => own,
            Column::First => {
                let script = format!("rm -rf '{}'; exec \"$@\"", cache.display());
                ["sh", "-c", &script, "sh"].map(str::to_owned).into_iter().chain(own).collect()
            }
            Column::Net9 => dotnet("9", "dotnet"),
            Column::Net10 => dotnet("10", "dotnet10"),
        };
        let environment = [
            ("DOTNET_ROOT", self.net.join("9").display().to_string()),
            ("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1".to_owned()),
            ("XDG_CACHE_HOME", cache.display().to_string()),
        ];
        Runtime {
            name: column.name(),
            version: String::new(),
            argv,
            environment: environment.map(|(name, value)| (name.to_owned(), value)).into(),
        }
    }
}

/// Runs the suite. Errors: no .NET 9 or compiler in `target/net`; a program does not compile. The verdict is false when
/// a runtime failed a program or a required figure was missed.
pub fn run(root: &Path, options: &Options, saki: &Runtime, output: &Path) -> Outcome {
    let places = Places::of(root.join("target/net"), output)?;
    let is_wanted = |column: &Column| !options.without.iter().any(|name| name == column.name());
    let mut columns = vec![Column::Saki, Column::First, Column::Net9];
    match places.net.join("10/dotnet10").exists() {
        true => columns.push(Column::Net10),
        false => println!("skipped: .NET 10: {} is not there (tools/net/setup 10)", places.net.join("10").display()),
    }
    columns.retain(is_wanted);
    let source = places.output.join("long.cs");
    fs::write(&source, long_source()).map_err(|e| format!("{}: {e}", source.display()))?;
    let framework = format!("-fw:{}", places.framework()?.display());
    let result = format!("-out:{}", places.output.join("long.dll").display());
    let mut rows = Vec::new();
    for program in &PROGRAMS {
        if options.filter.as_ref().is_some_and(|filter| !filter.is_match(program.name)) {
            continue;
        }
        let is_compiler = program.name == COMPILER;
        let executable = match is_compiler {
            true => places.net.join("compiler/csc.dll"),
            false => places.compile(root, program.name, &[])?,
        };
        let source = source.display().to_string();
        let arguments: &[&str] = if is_compiler { &[&framework, &result, &source] } else { &[] };
        let measured = |column: &Column| program.has_first_run || *column != Column::First;
        let runtimes: Vec<Runtime> =
            columns.iter().filter(|c| measured(c)).map(|&c| places.runtime(c, program, saki)).collect();
        // What an earlier run leaves in the cache. A failure shows below.
        if let Some(own) = runtimes.iter().find(|runtime| runtime.name == SAKI) {
            let _ = super::figures::run_within(super::measurement::TIMEOUT, &executable, arguments, own)?;
        }
        let mut row = measure_with(program.name, |_| &executable, arguments, &runtimes, options)?;
        for (index, _) in columns.iter().enumerate().filter(|(_, column)| !measured(column)) {
            row.cells.insert(index, Cell { seconds: Vec::new(), max_rss_kib: 0, failure: None, stdout: None });
        }
        let all: Vec<Runtime> = columns.iter().map(|&c| places.runtime(c, program, saki)).collect();
        println!("{}", report::progress(&row, &all));
        rows.push(row);
    }
    let runtimes: Vec<Runtime> = columns.iter().map(|&c| places.runtime(c, &PROGRAMS[0], saki)).collect();
    let verdicts = verdicts(&rows, &runtimes);
    let mut text = report::aligned(&table(&rows, &runtimes), options);
    for (line, is_met) in &verdicts {
        let _ = writeln!(text, "{}{line}", report::verdict_mark(*is_met));
    }
    print!("\n{text}");
    publish(root, options, &rows, &runtimes, || markdown(&rows, &runtimes, options))?;
    let all_ran = rows.iter().all(|row| row.cells.iter().all(|cell| cell.failure.is_none()));
    Ok(all_ran && verdicts.iter().all(|(_, is_met)| *is_met != Some(false)))
}

/// Each required figure in words, and whether it is met (`None`: not measured).
fn verdicts(rows: &[Row], runtimes: &[Runtime]) -> Vec<(String, Option<bool>)> {
    let mut all = Vec::new();
    for program in &PROGRAMS {
        let Some(row) = rows.iter().find(|row| row.program == program.name) else { continue };
        let (peer, limit) = program.greatest_ratio;
        let ratio = ratio_of(row, runtimes, peer);
        all.push((
            format!("{}, saki/{peer}: {} (required: at most {limit:.2}×)", program.name, report::ratio_text(ratio)),
            ratio.map(|ratio| ratio <= limit),
        ));
        let of_saki = [SAKI, FIRST].iter().filter_map(|name| runtimes.iter().position(|r| r.name == *name));
        let slowest = of_saki.filter_map(|index| row.cells[index].median()).max_by(f64::total_cmp);
        if let Some(limit) = program.greatest_seconds {
            let seconds = slowest.map_or("not measured".to_owned(), |seconds| format!("{seconds:.2} s"));
            all.push((
                format!("{}, slowest median: {seconds} (required: at most {limit:.1} s)", program.name),
                slowest.map(|seconds| seconds <= limit),
            ));
        }
    }
    all
}

/// Header and body of the table, as cells.
fn table(rows: &[Row], runtimes: &[Runtime]) -> Vec<Vec<String>> {
    let peers = [NET9, NET10];
    let mut header = vec!["program".to_owned()];
    header.extend(runtimes.iter().map(|runtime| runtime.name.to_owned()));
    header.extend(["Saki/.NET 9", "Saki/.NET 10"].map(str::to_owned));
    let mut lines = vec![header];
    for row in rows {
        let mut line = vec![row.program.to_owned()];
        line.extend(row.cells.iter().map(report::cell_text));
        line.extend(peers.iter().map(|peer| report::ratio_text(ratio_of(row, runtimes, peer))));
        lines.push(line);
    }
    lines
}

fn markdown(rows: &[Row], runtimes: &[Runtime], options: &Options) -> String {
    let mut out = format!(
        "## Programs for .NET\n\nWritten by `./x bench --suite net --markdown` on {}: {}.\n\nSeconds of {} time of whole processes, start-up \
         included, minimum/median of {} interleaved runs, and peak resident memory. Saki runs on the class libraries of .NET 9.0.5; `saki first` with an empty code cache. \
         Programs: `bench/net/*.cs`; `roslyn` is the C# 12 compiler on {COMPILED_LINES} lines; `sleeping-tasks` runs with `--threads=mn`. Ratios are of medians; below 1, Saki is faster.\n\n",
        report::utc_now(),
        report::machine(),
        report::time_measured(options),
        options.runs(),
    );
    let lines = table(rows, runtimes);
    report::add_table(&mut out, runtimes, &lines);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_its_source() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/net");
        for program in PROGRAMS.iter().filter(|program| program.name != COMPILER) {
            assert!(folder.join(format!("{}.cs", program.name)).exists(), "{}", program.name);
        }
        let lines = long_source().lines().count();
        assert!((COMPILED_LINES..COMPILED_LINES * 11 / 10).contains(&lines), "{lines}");
    }

    #[test]
    fn a_slow_first_run_misses_the_figure() {
        let runtimes: Vec<Runtime> = [SAKI, FIRST, NET9, NET10]
            .map(|name| Runtime { name, version: String::new(), argv: Vec::new(), environment: Vec::new() })
            .into();
        let cell = |s| Cell { seconds: vec![s], max_rss_kib: 0, failure: None, stdout: None };
        let row = |first| Row { program: "hello", cells: vec![cell(0.02), cell(first), cell(0.05), cell(0.04)] };
        let is_met = |row| verdicts(&[row], &runtimes).iter().map(|(_, is_met)| *is_met).collect::<Vec<_>>();
        assert_eq!(is_met(row(0.2)), [Some(true), Some(true)]);
        assert_eq!(is_met(row(2.0)), [Some(true), Some(false)]);
    }
}
