//! Turns measurements into text for the terminal, Markdown for docs/ and JSON for bench/results/.
//!
//! Ratios are of medians, Saki's over the peer's: below 1 Saki is faster. The required figures stand in
//! `verdicts` and nowhere else.

use std::process::Command;

use super::measurement::{Cell, Row};
use super::options::{Options, Suite};
use super::peers::Runtime;

/// Required: 100,000,000 small allocations no slower than under Mono.
const MAX_ALLOC_RATIO: f64 = 1.0;
/// Required: geometric mean of the kernels against Mono.
const MAX_KERNEL_RATIO: f64 = 0.7;
/// Required of the library programs: geometric means against Mono and CoreCLR.
const MAX_LIBRARY_RATIO: f64 = 0.7;
const MAX_LIBRARY_RATIO_CORECLR: f64 = 1.2;
/// Required: hello world from start to exit, seconds.
const MAX_HELLO_SECONDS: f64 = 0.150;

/// One required figure.
pub struct Verdict {
    text: String,
    /// `None`: not measured in this run.
    pub is_met: Option<bool>,
}

/// Saki's median over the peer's.
pub fn ratio_of(row: &Row, runtimes: &[Runtime], peer: &str) -> Option<f64> {
    Some(cell(row, runtimes, "saki")?.median()? / cell(row, runtimes, peer)?.median()?)
}

fn cell<'a>(row: &'a Row, runtimes: &[Runtime], name: &str) -> Option<&'a Cell> {
    row.cells.get(runtimes.iter().position(|r| r.name == name)?)
}

/// Geometric mean over a suite's programs; `None` unless all of them have a figure.
fn mean(rows: &[Row], runtimes: &[Runtime], peer: &str, suite: Suite) -> Option<f64> {
    let programs = suite.averaged().0;
    let ratios: Option<Vec<f64>> = programs
        .iter()
        .map(|name| rows.iter().find(|r| r.program == *name).and_then(|r| ratio_of(r, runtimes, peer)))
        .collect();
    let logarithms: f64 = ratios?.iter().map(|r| r.ln()).sum();
    Some((logarithms / programs.len() as f64).exp())
}

/// The required figures, met or not.
pub fn verdicts(rows: &[Row], runtimes: &[Runtime], suite: Suite) -> Vec<Verdict> {
    let find = |name: &str| rows.iter().find(|r| r.program == name);
    let verdict = |what: &str, value: Option<f64>, limit: f64, unit: &str| Verdict {
        text: match value {
            Some(value) => format!("{what}: {value:.2}{unit} (required: at most {limit:.2}{unit})"),
            None => format!("{what}: not measured (required: at most {limit:.2}{unit})"),
        },
        is_met: value.map(|v| v <= limit),
    };
    if suite == Suite::Library {
        let (mono, coreclr) = (mean(rows, runtimes, "mono", suite), mean(rows, runtimes, "coreclr", suite));
        return vec![
            verdict("geometric mean, Saki/Mono", mono, MAX_LIBRARY_RATIO, "×"),
            verdict("geometric mean, Saki/CoreCLR", coreclr, MAX_LIBRARY_RATIO_CORECLR, "×"),
        ];
    }
    let alloc = find("alloc").and_then(|r| ratio_of(r, runtimes, "mono"));
    let hello = find("hello").and_then(|r| cell(r, runtimes, "saki")).and_then(Cell::median);
    vec![
        verdict("alloc, Saki/Mono", alloc, MAX_ALLOC_RATIO, "×"),
        verdict("geometric mean of the eight, Saki/Mono", mean(rows, runtimes, "mono", suite), MAX_KERNEL_RATIO, "×"),
        verdict("hello, wall time", hello, MAX_HELLO_SECONDS, " s"),
    ]
}

/// One line while the run goes on.
pub fn progress(row: &Row, runtimes: &[Runtime]) -> String {
    let cells: Vec<String> =
        runtimes.iter().zip(&row.cells).map(|(r, c)| format!("{} {}", r.name, cell_text(c))).collect();
    format!("  {:14} {}", row.program, cells.join(", "))
}

/// Shortest and median time and peak memory, or why there are none.
pub fn cell_text(cell: &Cell) -> String {
    match (cell.min(), cell.median(), &cell.failure) {
        (Some(min), Some(median), _) => {
            format!("{min:.3}/{median:.3} s {} MiB", cell.max_rss_kib / 1024)
        }
        (_, _, Some(reason)) => format!("failed: {reason}"),
        _ => "-".to_owned(),
    }
}

/// The ratio with two digits.
pub fn ratio_text(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |v| format!("{v:.2}"))
}

const PEERS: [(&str, &str); 2] = [("mono", "Saki/Mono"), ("coreclr", "Saki/CoreCLR")];

/// Header and body of the table, as cells.
fn table(rows: &[Row], runtimes: &[Runtime], suite: Suite) -> Vec<Vec<String>> {
    let mut header = vec!["program".to_owned()];
    header.extend(runtimes.iter().map(|r| r.name.to_owned()));
    header.extend(PEERS.iter().map(|(_, title)| (*title).to_owned()));
    let mut lines = vec![header];
    for row in rows {
        let mut line = vec![row.program.to_owned()];
        line.extend(row.cells.iter().map(cell_text));
        line.extend(PEERS.iter().map(|(peer, _)| ratio_text(ratio_of(row, runtimes, peer))));
        lines.push(line);
    }
    let mut last = vec![suite.averaged().1.to_owned()];
    last.extend(runtimes.iter().map(|_| String::new()));
    last.extend(PEERS.iter().map(|(peer, _)| ratio_text(mean(rows, runtimes, peer, suite))));
    lines.push(last);
    lines
}

/// The report for a terminal.
pub fn text(rows: &[Row], runtimes: &[Runtime], verdicts: &[Verdict], options: &Options) -> String {
    let mut out = aligned(&table(rows, runtimes, options.suite), options);
    for verdict in verdicts {
        out.push_str(&format!("{}{}\n", verdict_mark(verdict.is_met), verdict.text));
    }
    out
}

/// A verdict's first word on a terminal.
pub fn verdict_mark(is_met: Option<bool>) -> &'static str {
    match is_met {
        Some(true) => "ok     ",
        Some(false) => "MISSED ",
        None => "-      ",
    }
}

/// A table for a terminal, with a line that says what is measured.
pub fn aligned(lines: &[Vec<String>], options: &Options) -> String {
    let width = |column: usize| lines.iter().map(|l| l[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut out = format!("{} seconds min/median, peak resident memory\n", time_measured(options));
    for line in lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(c, w)| format!("{c:w$}")).collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// Which time the options measure.
pub fn time_measured(options: &Options) -> &'static str {
    if options.cpu { "processor" } else { "wall" }
}

/// A suite's part of docs/benchmarks.md.
pub fn markdown(rows: &[Row], runtimes: &[Runtime], options: &Options) -> String {
    let (title, argument) = match options.suite {
        Suite::Library => ("## The class library at work", " --suite library"),
        _ => ("# Benchmarks", ""),
    };
    let mut out = format!(
        "{title}\n\nWritten by `./x bench{argument} --markdown` on {}: {}.\n\nSeconds of {} time of whole processes, start-up \
         included, minimum/median of {} interleaved runs, and peak resident memory. Programs: `bench/*.cs`, compiled \
         with `mcs -optimize+`. Ratios are of medians; below 1, Saki is faster.\n\n",
        utc_now(),
        machine(),
        time_measured(options),
        options.runs()
    );
    add_table(&mut out, runtimes, &table(rows, runtimes, options.suite));
    out
}

/// Appends the runtimes' versions and a table whose first line is its head.
pub fn add_table(out: &mut String, runtimes: &[Runtime], lines: &[Vec<String>]) {
    for runtime in runtimes {
        if !runtime.version.is_empty() {
            out.push_str(&format!("- {}: {}\n", runtime.name, runtime.version));
        }
    }
    out.push('\n');
    for (index, line) in lines.iter().enumerate() {
        out.push_str(&format!("| {} |\n", line.join(" | ")));
        if index == 0 {
            out.push_str(&format!("|{}\n", "---|".repeat(line.len())));
        }
    }
}

/// Every single measurement, for later comparison.
pub fn json(rows: &[Row], runtimes: &[Runtime], runs: usize) -> String {
    let list = |items: Vec<String>| items.join(",\n");
    let runtime_items = runtimes
        .iter()
        .map(|r| format!("    {{\"name\": {}, \"version\": {}}}", quoted(r.name), quoted(&r.version)))
        .collect();
    let mut items = Vec::new();
    for row in rows {
        for (runtime, cell) in runtimes.iter().zip(&row.cells) {
            let seconds: Vec<String> = cell.seconds.iter().map(|s| format!("{s:.4}")).collect();
            items.push(format!(
                "    {{\"program\": {}, \"runtime\": {}, \"seconds\": [{}], \"max_rss_kib\": {}, \"failure\": {}}}",
                quoted(row.program),
                quoted(runtime.name),
                seconds.join(", "),
                cell.max_rss_kib,
                cell.failure.as_deref().map_or("null".to_owned(), quoted),
            ));
        }
    }
    format!(
        "{{\n  \"date\": {},\n  \"machine\": {},\n  \"runs\": {runs},\n  \"runtimes\": [\n{}\n  ],\n  \"results\": [\n{}\n  \
         ]\n}}\n",
        quoted(&utc_now()),
        quoted(&machine()),
        list(runtime_items),
        list(items)
    )
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Now, as `2026-01-31T12:00:00Z`; "unknown" without a `date` command.
pub fn utc_now() -> String {
    first_line(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))
}

/// Processor model, number of processors and kernel.
pub fn machine() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split_once(": "));
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = first_line(Command::new("uname").arg("-sr"));
    format!("{}, {processors} processors, {kernel}", model.map_or("unknown processor", |(_, name)| name))
}

fn first_line(command: &mut Command) -> String {
    let output = command.output().map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default();
    output.lines().next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::options::KERNELS;
    use super::*;

    fn runtime(name: &'static str) -> Runtime {
        Runtime { name, version: String::new(), argv: Vec::new(), environment: Vec::new() }
    }

    fn row(program: &'static str, medians: [f64; 2]) -> Row {
        let cell = |s| Cell { seconds: vec![s], max_rss_kib: 0, failure: None, stdout: None };
        Row { program, cells: medians.map(cell).into() }
    }

    #[test]
    fn mean_needs_every_kernel() {
        let runtimes = [runtime("saki"), runtime("mono")];
        let mut rows: Vec<Row> = KERNELS.iter().map(|name| row(name, [1.0, 2.0])).collect();
        assert_eq!(mean(&rows, &runtimes, "mono", Suite::Kernels).map(|m| format!("{m:.3}")), Some("0.500".to_owned()));
        rows.pop();
        assert_eq!(mean(&rows, &runtimes, "mono", Suite::Kernels), None);
    }

    #[test]
    fn a_missed_figure_is_marked() {
        let runtimes = [runtime("saki"), runtime("mono")];
        let met: Vec<Option<bool>> =
            verdicts(&[row("alloc", [2.0, 1.0]), row("hello", [0.1, 0.1])], &runtimes, Suite::Kernels)
                .iter()
                .map(|v| v.is_met)
                .collect();
        assert_eq!(met, [Some(false), None, Some(true)]);
    }

    #[test]
    fn json_text_is_escaped() {
        assert_eq!(quoted("a\"b\\\n"), "\"a\\\"b\\\\\\u000a\"");
    }
}
