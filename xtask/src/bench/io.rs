//! `cargo xtask bench --suite io`: servers, pipes, files and TLS under Saki's I/O models, and under Mono, CoreCLR, .NET
//! 9, Go and Java.
//!
//! Servers run in a process of their own and are asked by wrk over the loopback interface; counted is their own
//! processor time, so that the load generator's, which shares the processors, does not matter, and the slowest
//! hundredth of the answers. The other programs measure themselves. Runs are interleaved; medians count. Left out:
//! networks.

mod columns;
pub(super) mod load;
mod report;
pub(super) mod rows;

use std::path::Path;
use std::time::Duration;

use super::figures::figures_of;
use super::options::Options;
use super::pages::{write, write_section};
use super::peers::Runtime;
use crate::process::{self, Job, ProgramEnd};
use crate::tool::Outcome;
use columns::{Column, Program, Programs};
use load::{Load, Server};
use rows::{CONNECTIONS, Table};

const DEFAULT_RUNS: usize = 3;

/// Of a runtime's own HTTP server.
const LIBRARY_CONNECTIONS: u64 = 64;
const IDLE_CONNECTIONS: u64 = 10_000;
/// Descriptors that a server needs beside its connections.
const OTHER_DESCRIPTORS: u64 = 200;

/// What a runtime compiles late is compiled after this.
const WARM_UP: Duration = Duration::from_secs(2);
const LOAD_TIME: Duration = Duration::from_secs(4);
const PROGRAM_LIMIT: Duration = Duration::from_secs(120);

/// Measures and prints; with `--markdown` writes the suite's parts of docs/benchmarks.md and docs/io.md, and their
/// plot. Errors: a program does not compile, or wrk or openssl is not there. The verdict is false when a goal was
/// missed.
pub fn run(root: &Path, options: &Options, base: Vec<Runtime>, output: &Path) -> Outcome {
    let (mut columns, programs) = columns::available(root, base, output)?;
    columns.retain(|column| !options.without.iter().any(|name| *name == column.runtime.name));
    for column in &columns {
        println!("{:12} {}", column.runtime.name, column.runtime.version);
    }
    let descriptors = load::raise_descriptor_limit();
    let runs = options.runs.unwrap_or(DEFAULT_RUNS).max(1);
    let mut table = Table { rows: Vec::new(), columns: columns.len() };
    for run in 1..=runs {
        for (place, column) in columns.iter().enumerate() {
            let mut bench =
                Bench { table: &mut table, place, column, programs: &programs, options, output, descriptors };
            bench.servers()?;
            bench.others()?;
            println!("run {run} of {runs}: {}", column.runtime.name);
        }
    }
    let rows = table.rows;
    let goals = report::goals(&rows, &columns);
    print!("\n{}", report::figures(&rows, &columns, &goals));
    if options.markdown {
        let docs = root.join("docs");
        if let Some(chart) = report::chart(&rows, &columns) {
            write(&docs.join("io.svg"), &chart)?;
        }
        write_section(&docs.join("benchmarks.md"), options.suite, &report::page(&rows, &columns, runs))?;
        report::update_io_page(&docs.join("io.md"), &rows, &columns)?;
    }
    Ok(goals.iter().all(|goal| goal.is_met != Some(false)))
}

/// One run of one column.
struct Bench<'a> {
    table: &'a mut Table,
    place: usize,
    column: &'a Column,
    programs: &'a Programs,
    options: &'a Options,
    output: &'a Path,
    descriptors: u64,
}

impl Bench<'_> {
    fn is_wanted(&self, label: &str) -> bool {
        self.options.filter.as_ref().is_none_or(|filter| filter.is_match(label))
    }

    fn start(&self, program: Program) -> Option<Result<Server, String>> {
        let argv = self.column.command(program, self.programs)?;
        Some(Server::start(&argv, &self.column.runtime.environment, &self.output.join("io-server.log")))
    }

    fn servers(&mut self) -> Result<(), String> {
        for connections in CONNECTIONS {
            if self.is_wanted(&report::cpu_label(connections)) {
                self.raw(connections)?;
            }
        }
        if self.is_wanted(report::IDLE_LABEL) {
            self.idle();
        }
        if self.is_wanted(report::LIBRARY_LABEL) {
            self.library()?;
        }
        Ok(())
    }

    fn raw(&mut self, connections: u64) -> Result<(), String> {
        let Some(server) = self.start(Program::Raw) else { return Ok(()) };
        let measured = match server {
            _ if self.descriptors < connections + OTHER_DESCRIPTORS => Err("too few descriptors".to_owned()),
            Ok(server) => {
                server.load(CONNECTIONS[0], WARM_UP)?;
                Ok(server.load(connections, LOAD_TIME)?)
            }
            Err(reason) => Err(reason),
        };
        let labels = [
            (report::cpu_label(connections), "µs", false),
            (report::p99_label(connections), "ms", false),
            (report::rate_label(connections), "/s", true),
        ];
        match measured {
            Ok(Load { requests, requests_per_second, p99_ms, errors, cpu_us }) if requests > 0 => {
                for ((label, unit, is_rate), value) in labels.iter().zip([cpu_us, p99_ms, requests_per_second]) {
                    self.table.add(self.place, label, unit, *is_rate, value);
                    if errors > 0 {
                        self.table.fail(self.place, label, unit, *is_rate, &format!("{errors} errors"));
                    }
                }
            }
            other => {
                let reason = other.err().unwrap_or_else(|| "no answers".to_owned());
                for (label, unit, is_rate) in &labels {
                    self.table.fail(self.place, label, unit, *is_rate, &reason);
                }
            }
        }
        Ok(())
    }

    fn idle(&mut self) {
        let Some(server) = self.start(Program::Raw) else { return };
        let measure = |server: &Server| {
            if self.descriptors < IDLE_CONNECTIONS + OTHER_DESCRIPTORS {
                return Err("too few descriptors");
            }
            // Memory that the first connections bring is not counted.
            let first: Vec<_> = (0..CONNECTIONS[0]).filter_map(|_| server.ask()).collect();
            let before = server.resident_bytes();
            let connections: Vec<_> = (0..IDLE_CONNECTIONS).map_while(|_| server.ask()).collect();
            std::thread::sleep(Duration::from_secs(1));
            let after = server.resident_bytes();
            drop(first);
            if connections.len() as u64 != IDLE_CONNECTIONS {
                return Err("connections are refused");
            }
            Ok(after.saturating_sub(before) as f64 / IDLE_CONNECTIONS as f64 / 1024.0)
        };
        match server.as_ref().map_err(String::as_str).and_then(measure) {
            Ok(kib) => self.table.add(self.place, report::IDLE_LABEL, "KiB", false, kib),
            Err(reason) => self.table.fail(self.place, report::IDLE_LABEL, "KiB", false, reason),
        }
    }

    fn library(&mut self) -> Result<(), String> {
        let Some(server) = self.start(Program::Library) else { return Ok(()) };
        match server {
            Ok(server) => {
                server.load(LIBRARY_CONNECTIONS, WARM_UP)?;
                let load = server.load(LIBRARY_CONNECTIONS, LOAD_TIME)?;
                self.table.add(self.place, report::LIBRARY_LABEL, "/s", true, load.requests_per_second);
                self.table.add(self.place, report::LIBRARY_CPU_LABEL, "µs", false, load.cpu_us);
            }
            Err(reason) => self.table.fail(self.place, report::LIBRARY_LABEL, "/s", true, &reason),
        }
        Ok(())
    }

    /// The programs that measure themselves.
    fn others(&mut self) -> Result<(), String> {
        for (program, label, unit, is_rate) in report::OTHERS {
            if !self.is_wanted(label) {
                continue;
            }
            let Some(argv) = self.column.command(program, self.programs) else { continue };
            let finished = process::run(&Job {
                argv: &argv,
                directory: self.output,
                environment: &self.column.runtime.environment,
                stdin: b"",
                timeout: PROGRAM_LIMIT,
            })?;
            let figures = figures_of(&String::from_utf8_lossy(&finished.stdout));
            match figures.first() {
                Some((_, value)) if finished.end == ProgramEnd::Exit(0) => {
                    self.table.add(self.place, label, unit, is_rate, *value);
                }
                _ => {
                    let stderr = String::from_utf8_lossy(&finished.stderr);
                    let reason = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("no figure");
                    self.table.fail(self.place, label, unit, is_rate, reason);
                }
            }
        }
        Ok(())
    }
}
