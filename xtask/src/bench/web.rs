//! `--suite web`: a server of ASP.NET Core whose handlers answer at once, wait for 10 ms, or block for 10 ms, under
//! Saki on native and M:N threads and under .NET 9 and .NET 10 (`target/net`).
//!
//! Servers run in processes of their own and are asked by wrk, which shares the processors with them: the processor
//! time of a request is the server's alone, its rate is not. Runs are interleaved; medians count. Left out: networks,
//! TLS.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::io::load::{self, Server};
use super::io::rows::{Row, Table};
use super::net::compile_program;
use super::options::Options;
use super::pages::write_section;
use super::peers::Runtime;
use super::report::{machine, utc_now};
use crate::tool::Outcome;

const DEFAULT_RUNS: usize = 3;
/// .NET's second tier has compiled the path of a request after this.
const WARM_UP: Duration = Duration::from_secs(4);
const WARM_UP_CONNECTIONS: u64 = 64;
const LOAD_TIME: Duration = Duration::from_secs(6);
/// Descriptors that a server needs beside its connections.
const OTHER_DESCRIPTORS: u64 = 500;

const NATIVE: &str = "saki";
const MN: &str = "saki mn";
const NET9: &str = "net9";
const NET10: &str = "net10";

/// A handler of `bench/net/web.cs`.
struct Handler {
    name: &'static str,
    connections: u64,
}

const HANDLERS: [Handler; 4] = [
    Handler { name: "plaintext", connections: 64 },
    Handler { name: "json", connections: 64 },
    Handler { name: ASYNC, connections: 4_000 },
    Handler { name: BLOCKING, connections: 4_000 },
];

const ASYNC: &str = "async";
const BLOCKING: &str = "blocking";

const START: &str = "time to the first answer";

impl Handler {
    fn label(&self, figure: &str) -> String {
        format!("{}, {} connections: {figure}", self.name, self.connections)
    }
}

const RATE: &str = "requests";
const CPU: &str = "CPU a request";
const P99: &str = "p99";
const RESIDENT: &str = "resident memory";

/// Runs the suite. Errors: nothing to run the server with, or it does not compile; wrk is not there. The verdict is
/// false when a server failed or a goal was missed.
pub(super) fn run(root: &Path, options: &Options, saki: &Runtime, output: &Path) -> Outcome {
    let net = root.join("target/net");
    let program = compile_program(root, &net, output, "web", &["-aspnet"])?;
    let mut columns = columns(&net, saki);
    columns.retain(|column| !options.without.iter().any(|name| *name == column.name));
    let descriptors = load::raise_descriptor_limit();
    let runs = options.runs.unwrap_or(DEFAULT_RUNS).max(1);
    let mut table = Table { rows: Vec::new(), columns: columns.len() };
    for run in 1..=runs {
        for (place, column) in columns.iter().enumerate() {
            for handler in &HANDLERS {
                let is_wanted = options.filter.as_ref().is_none_or(|filter| filter.is_match(handler.name));
                if is_wanted && descriptors >= handler.connections + OTHER_DESCRIPTORS {
                    measure(&mut table, place, column, handler, &program, output)?;
                }
            }
            println!("run {run} of {runs}: {}", column.name);
        }
    }
    let rows = table.rows;
    let goals = goals(&rows, &columns);
    print!("\n{}", page_table(&rows, &columns));
    for (text, is_met) in &goals {
        println!("{}{text}", super::report::verdict_mark(*is_met));
    }
    if options.markdown {
        write_section(&root.join("docs/benchmarks.md"), options.suite, &markdown(&rows, &columns, runs))?;
    }
    let all_ran = rows.iter().all(|row| row.cells.iter().all(|cell| cell.failure.is_none()));
    Ok(all_ran && goals.iter().all(|(_, is_met)| *is_met != Some(false)))
}

fn columns(net: &Path, saki: &Runtime) -> Vec<Runtime> {
    let column = |name, argv, variables: &[(&str, &str)]| {
        let root = ("DOTNET_ROOT".to_owned(), net.join("9").display().to_string());
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment = variables.chain([root]).collect();
        Runtime { name, version: String::new(), argv, environment }
    };
    let dotnet = |path: &str| vec![net.join(path).display().to_string()];
    let mut columns = vec![
        column(NATIVE, saki.argv.clone(), &[]),
        column(MN, saki.argv.clone(), &[("SAKI_THREADS", "mn")]),
        column(NET9, dotnet("9/dotnet"), &[]),
    ];
    match net.join("10/dotnet10").exists() {
        true => columns.push(column(NET10, dotnet("10/dotnet10"), &[])),
        false => println!("skipped: .NET 10: {} is not there (tools/net/setup 10)", net.join("10").display()),
    }
    columns
}

fn measure(
    table: &mut Table,
    place: usize,
    column: &Runtime,
    handler: &Handler,
    program: &Path,
    output: &Path,
) -> Result<(), String> {
    let mut argv = column.argv.clone();
    argv.extend([program.display().to_string(), handler.name.to_owned()]);
    let server = match Server::start(&argv, &column.environment, &output.join("web-server.log")) {
        Ok(server) => server,
        Err(reason) => {
            table.fail(place, &handler.label(RATE), "/s", true, &reason);
            return Ok(());
        }
    };
    table.add(place, START, "ms", false, server.started_in.as_secs_f64() * 1e3);
    server.load(WARM_UP_CONNECTIONS, WARM_UP)?;
    let load = server.load(handler.connections, LOAD_TIME)?;
    table.add(place, &handler.label(RATE), "/s", true, load.requests_per_second);
    table.add(place, &handler.label(CPU), "µs", false, load.cpu_us);
    table.add(place, &handler.label(P99), "ms", false, load.p99_ms);
    table.add(place, &handler.label(RESIDENT), "MiB", false, server.resident_bytes() as f64 / f64::from(1 << 20));
    if load.errors > 0 {
        table.fail(place, &handler.label(RATE), "/s", true, &format!("{} errors", load.errors));
    }
    Ok(())
}

fn value(rows: &[Row], columns: &[Runtime], label: &str, name: &str) -> Option<f64> {
    let column = columns.iter().position(|column| column.name == name)?;
    rows.iter().find(|row| row.label == label)?.cells[column].value()
}

/// Each goal in words with its figure, and whether it is met (None: not measured).
fn goals(rows: &[Row], columns: &[Runtime]) -> Vec<(String, Option<bool>)> {
    let [plaintext, json, of_async, of_blocking] = &HANDLERS;
    let ratio = |(label, name): (String, &str), (other, than): (String, &str)| {
        value(rows, columns, &label, name).zip(value(rows, columns, &other, than)).map(|(ours, theirs)| ours / theirs)
    };
    let mut goals = Vec::new();
    for handler in [plaintext, json] {
        let found = ratio((handler.label(CPU), NATIVE), (handler.label(CPU), NET10));
        let text = found.map_or("-".to_owned(), |ratio| format!("{ratio:.2}×"));
        let text = format!("{}: CPU a request, saki/net10: {text} (goal: at most 1.00×)", handler.name);
        goals.push((text, found.map(|ratio| ratio <= 1.0)));
    }
    let found = ratio((of_blocking.label(RATE), MN), (of_async.label(RATE), MN));
    let text = found.map_or("-".to_owned(), |ratio| format!("{ratio:.2}×"));
    let text = format!("requests on mn, {BLOCKING}/{ASYNC}: {text} (goal: at least 0.90×)");
    goals.push((text, found.map(|ratio| ratio >= 0.9)));
    goals
}

fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn page_table(rows: &[Row], columns: &[Runtime]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let mut out = format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for row in rows {
        let cells: Vec<String> = row
            .cells
            .iter()
            .map(|cell| match (cell.value(), &cell.failure) {
                (Some(value), None) => format!("{} {}", number(value), row.unit),
                (Some(value), Some(reason)) => format!("{} {} ({reason})", number(value), row.unit),
                (None, Some(reason)) => format!("fails: {}", reason.replace('|', " ")),
                (None, None) => "-".to_owned(),
            })
            .collect();
        let _ = writeln!(out, "| {} | {} |", row.label, cells.join(" | "));
    }
    out
}

fn markdown(rows: &[Row], columns: &[Runtime], runs: usize) -> String {
    format!(
        "## Servers of ASP.NET Core\n\nWritten by `./x bench --suite web --markdown` on {}: {}.\n\nMedians of {runs} runs of `bench/net/web.cs` on the class libraries of \
         .NET 9.0.5 (`net10`: its own), asked by wrk on the same two processors for {} s after a warm-up of {} s with {WARM_UP_CONNECTIONS} connections. `async` awaits \
         `Task.Delay (10)`, `blocking` calls `Thread.Sleep (10)`. CPU is the server's.\n\n{}",
        utc_now(),
        machine(),
        LOAD_TIME.as_secs(),
        WARM_UP.as_secs(),
        page_table(rows, columns)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::io::rows::Cell;

    #[test]
    fn goals_compare_the_columns_that_they_name() {
        let runtime = |name| Runtime { name, version: String::new(), argv: Vec::new(), environment: Vec::new() };
        let columns = [NATIVE, MN, NET9, NET10].map(runtime);
        let cell = |value: f64| Cell { samples: vec![value], ..Cell::default() };
        let row =
            |label: String, values: [f64; 4]| Row { label, unit: "", is_rate: false, cells: values.map(cell).into() };
        let rows = [
            row(HANDLERS[0].label(CPU), [8.0, 9.0, 10.0, 9.0]),
            row(HANDLERS[1].label(CPU), [11.0, 9.0, 10.0, 10.0]),
            row(HANDLERS[2].label(RATE), [1.0, 100.0, 1.0, 1.0]),
            row(HANDLERS[3].label(RATE), [1.0, 91.0, 1.0, 1.0]),
        ];
        let verdicts: Vec<_> = goals(&rows, &columns).into_iter().map(|(_, is_met)| is_met).collect();
        assert_eq!(verdicts, [Some(true), Some(false), Some(true)]);
        assert!(goals(&rows[1..], &columns[..3]).iter().all(|(_, is_met)| *is_met != Some(false)));
    }
}
