//! `cargo xtask bench --suite green`: what threads cost in Saki's three modes, and under Mono, CoreCLR, .NET 9, Go and
//! Java.
//!
//! Each benchmark is a program that measures itself and prints its figures; runs of the runtimes are interleaved, and
//! the median of all runs counts. A runtime that does not manage a count of threads, for whatever reason, gets the next
//! smaller one, and the figure says so. Nothing hangs the suite: each run has a time limit. Left out: judging anything
//! but the figures (the programs check their own sums).

mod benchmarks;
mod peers;
mod report;
mod rows;

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::figures::figures_of;
use super::options::Options;
use super::pages::{write, write_section};
use super::peers::Runtime;
use crate::process::{self, Job, ProgramEnd};
use crate::tool::Outcome;
use benchmarks::{BENCHMARKS, Benchmark, Figure, MAX_BYTES_A_THREAD, SCALE_ONE, SCALE_TWO, SCALING_FIGURE};
use peers::{Command, Executables, Peer};
use rows::{Cell, Row};

/// Fewer than for other suites: there are eight columns, and programs repeat their measurements themselves.
const DEFAULT_RUNS: usize = 3;

/// What a run must leave to the other processes.
const SPARE_BYTES: u64 = 3 << 30;

/// Measures and prints; with `--markdown` writes the suite's parts of docs/benchmarks.md and docs/threads.md and their
/// plots. Errors: a program does not compile. The verdict is false when a goal was missed.
pub fn run(root: &Path, options: &Options, base: Vec<Runtime>, output: &Path) -> Outcome {
    let (mut columns, executables) = peers::available(root, base, output)?;
    columns.retain(|peer| !options.without.iter().any(|name| *name == peer.runtime.name));
    for peer in &columns {
        println!("{:8} {}", peer.runtime.name, peer.runtime.version);
    }
    let runs = options.runs.unwrap_or(DEFAULT_RUNS).max(1);
    let mut rows = Vec::new();
    for benchmark in BENCHMARKS {
        let is_wanted = |figure: &Figure| options.filter.as_ref().is_none_or(|filter| filter.is_match(figure.label));
        if benchmark.figures.iter().any(is_wanted) {
            let measured = measure(benchmark, &columns, &executables, runs)?;
            for row in &measured {
                println!("  {}", report::progress(row, &columns));
            }
            rows.extend(measured);
        }
    }
    add_scaling(&mut rows);
    let goals = report::goals(&rows, &columns);
    print!("\n{}\n{}", report::figures(&rows, &columns), report::ratios(&rows, &columns, &goals));
    println!("\n{}", report::of_the_modes(&rows, &columns));
    if options.markdown {
        let docs = root.join("docs");
        if let Some(chart) = report::chart_of_all(&rows, &columns) {
            write(&docs.join("green.svg"), &chart)?;
        }
        write_section(&docs.join("benchmarks.md"), options.suite, &report::page(&rows, &columns, runs))?;
        if let Some(chart) = report::chart_of_the_modes(&rows, &columns) {
            write(&docs.join("thread-modes.svg"), &chart)?;
        }
        let path = docs.join("threads.md");
        let page = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        write(&path, &report::with_modes(&page, &report::section_of_the_modes(&rows, &columns))?)?;
    }
    Ok(goals.iter().all(|goal| goal.is_met != Some(false)))
}

fn measure(
    benchmark: &'static Benchmark,
    columns: &[Peer],
    executables: &Executables,
    runs: usize,
) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> =
        benchmark.figures.iter().map(|figure| Row { figure, cells: vec![Cell::default(); columns.len()] }).collect();
    // Where each runtime is in its list of counts.
    let mut places = vec![0; columns.len()];
    for _ in 0..runs {
        for (column, peer) in columns.iter().enumerate() {
            let counts = if peer.has_native_threads() { benchmark.native_counts } else { benchmark.counts };
            if !peer.runs(benchmark) {
                continue;
            }
            while let Some(&count) = counts.get(places[column]) {
                match run_once(benchmark, peer, executables, count)? {
                    Ok(figures) => {
                        for row in &mut rows {
                            let Some((_, value)) = figures.iter().find(|(key, _)| key == row.figure.key) else {
                                continue;
                            };
                            let cell = &mut row.cells[column];
                            cell.samples.push(*value);
                            cell.at = (count != benchmark.counts[0]).then_some(count);
                        }
                        break;
                    }
                    Err(reason) => {
                        places[column] += 1;
                        // Figures of a larger count, which failed just now, are not mixed with those of the next.
                        for row in &mut rows {
                            row.cells[column] = Cell { failure: Some(reason.clone()), ..Cell::default() };
                        }
                        eprintln!("    {}: {} {count}: {reason}", peer.runtime.name, benchmark.arguments[0]);
                    }
                }
            }
        }
    }
    Ok(rows)
}

/// The figures of one run, or why there are none.
fn run_once(
    benchmark: &Benchmark,
    peer: &Peer,
    executables: &Executables,
    count: u64,
) -> Result<Result<Vec<(String, f64)>, String>, String> {
    let Some(Command { mut argv, environment }) = peer.command(benchmark.program, executables, benchmark.processors)
    else {
        return Ok(Err("too few processors".to_owned()));
    };
    let counts_threads = matches!(benchmark.arguments, ["park" | "pause" | "ring", ..]);
    if counts_threads && count * MAX_BYTES_A_THREAD + SPARE_BYTES > available_bytes() {
        return Ok(Err("too little memory".to_owned()));
    }
    argv.extend(benchmark.arguments.iter().map(|&a| if a == "N" { count.to_string() } else { a.to_owned() }));
    let finished = process::run(&Job {
        argv: &argv,
        directory: executables.green.parent().unwrap_or(Path::new(".")),
        environment: &environment,
        stdin: b"",
        timeout: Duration::from_secs(benchmark.time_limit_s),
    })?;
    let figures = figures_of(&String::from_utf8_lossy(&finished.stdout));
    if finished.end == ProgramEnd::Exit(0) && !figures.is_empty() {
        return Ok(Ok(figures));
    }
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let reason: String = stderr.lines().find(|l| !l.trim().is_empty()).unwrap_or("").chars().take(120).collect();
    Ok(Err(match finished.end {
        ProgramEnd::TimedOut => format!("not done in {} s", benchmark.time_limit_s),
        end => format!("{end} {reason}"),
    }))
}

/// Memory that processes can have without others' losing theirs.
fn available_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok())
        .map_or(u64::MAX, |kib| kib << 10)
}

/// Works out how much faster two processors are than one.
fn add_scaling(rows: &mut Vec<Row>) {
    let find = |label: &str| rows.iter().position(|row| row.figure.label == label);
    let (Some(one), Some(two)) = (find(SCALE_ONE), find(SCALE_TWO)) else { return };
    let cells = rows[one].cells.iter().zip(&rows[two].cells).map(|(one, two)| Cell {
        samples: one.value().zip(two.value()).map(|(one, two)| one / two).into_iter().collect(),
        ..Cell::default()
    });
    let row = Row { figure: &SCALING_FIGURE, cells: cells.collect() };
    rows.insert(two + 1, row);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_is_worked_out_where_both_were_measured() {
        let figure = |label: &str| {
            BENCHMARKS.iter().flat_map(|b| b.figures).find(|f| f.label == label).expect("a figure of the suite")
        };
        let cell = |value: Option<f64>| Cell { samples: value.into_iter().collect(), ..Cell::default() };
        let mut rows = vec![
            Row { figure: figure(SCALE_ONE), cells: vec![cell(Some(4.0)), cell(None)] },
            Row { figure: figure(SCALE_TWO), cells: vec![cell(Some(2.0)), cell(Some(1.0))] },
        ];
        add_scaling(&mut rows);
        assert_eq!(rows[2].cells.iter().map(Cell::value).collect::<Vec<_>>(), [Some(2.0), None]);
    }

    #[test]
    fn counts_stand_in_the_arguments_where_there_are_several() {
        for benchmark in BENCHMARKS {
            let has_place = benchmark.arguments.contains(&"N");
            assert!(has_place || (benchmark.counts == [1] && benchmark.native_counts == [1]));
            assert!(benchmark.counts.is_sorted_by(|a, b| a > b) && benchmark.native_counts.is_sorted_by(|a, b| a > b));
        }
    }
}
