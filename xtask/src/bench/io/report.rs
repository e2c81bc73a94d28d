//! The suite's tables, goals and plot.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::columns::{BuiltFor, CORECLR, Column, GO, MN, MONO, Program};
use super::rows::{CONNECTIONS, Row};
use crate::bench::pages::write;
use crate::bench::report::{machine, utc_now};
use crate::bench::svg::{Bar, Group, NEAR, bar_chart};

/// Label of the memory of a connection that does nothing.
pub const IDLE_LABEL: &str = "memory of an idle connection";
/// Label of the throughput of the runtime's own server.
pub const LIBRARY_LABEL: &str = "HttpListener or net/http, 64 connections: requests";
/// Label of the processor time of the runtime's own server.
pub const LIBRARY_CPU_LABEL: &str = "HttpListener or net/http, 64 connections: CPU a request";

/// Program, label, unit, whether more is better.
pub const OTHERS: [(Program, &str, &str, bool); 3] = [
    (Program::Pipe, "a byte through a pipe to another thread", "µs", false),
    (Program::Copy, "copying a file of 256 MiB", "ms", false),
    (Program::Tls, "TLS handshakes", "/s", true),
];

const BEGIN: &str = "<!-- figures: begin -->\n";
const END: &str = "<!-- figures: end -->\n";

/// Label of the processor time of a request.
pub fn cpu_label(connections: u64) -> String {
    format!("{connections} connections: CPU a request")
}

/// Label of the time within which 99 of 100 requests are answered.
pub fn p99_label(connections: u64) -> String {
    format!("{connections} connections: p99")
}

/// Label of the requests a second.
pub fn rate_label(connections: u64) -> String {
    format!("{connections} connections: requests")
}

/// A goal and what became of it.
pub struct Verdict {
    label: String,
    text: String,
    /// `None`: not measured in this run.
    pub is_met: Option<bool>,
}

fn value(rows: &[Row], columns: &[Column], label: &str, name: &str) -> Option<f64> {
    let column = columns.iter().position(|column| column.runtime.name == name)?;
    rows.iter().find(|row| row.label == label)?.cells[column].value()
}

/// What Saki's M:N threads are to reach.
pub fn goals(rows: &[Row], columns: &[Column]) -> Vec<Verdict> {
    let get = |label: &str, name: &str| value(rows, columns, label, name);
    let both = |label: &str, name: &str, factor: f64, is_least: bool| {
        let (ours, limit) = get(label, MN).zip(get(label, name).map(|theirs| theirs * factor))?;
        Some(if is_least { ours >= limit } else { ours <= limit })
    };
    let mut verdicts = Vec::new();
    let mut add = |label: &str, text: &str, is_met| {
        verdicts.push(Verdict { label: label.to_owned(), text: text.to_owned(), is_met });
    };
    for connections in CONNECTIONS {
        for label in [cpu_label(connections), p99_label(connections)] {
            add(&label, "mn ≤ go", both(&label, GO, 1.0, false));
        }
    }
    add(IDLE_LABEL, "mn ≤ 10 KiB", get(IDLE_LABEL, MN).map(|kib| kib <= 10.0));
    add(LIBRARY_LABEL, "mn ≥ 2 × mono", both(LIBRARY_LABEL, MONO, 2.0, true));
    add(LIBRARY_LABEL, "mn ≥ coreclr", both(LIBRARY_LABEL, CORECLR, 1.0, true));
    verdicts
}

fn number(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

fn cell_text(row: &Row, column: usize) -> String {
    let cell = &row.cells[column];
    match (cell.value(), &cell.failure) {
        (Some(value), None) => format!("{} {}", number(value), row.unit),
        (Some(value), Some(reason)) => format!("{} {} ({reason})", number(value), row.unit),
        (None, Some(reason)) => format!("fails: {}", reason.replace('|', " ")),
        (None, None) => "-".to_owned(),
    }
}

/// All figures of the columns that `is_shown` picks, with the goals.
fn table(rows: &[Row], columns: &[Column], goals: &[Verdict], is_shown: impl Fn(&Column) -> bool) -> String {
    let shown: Vec<usize> = (0..columns.len()).filter(|&place| is_shown(&columns[place])).collect();
    let names: Vec<&str> = shown.iter().map(|&place| columns[place].runtime.name).collect();
    let goal_head = if goals.is_empty() { "" } else { " goal |" };
    let mut out = format!("| | {} |{goal_head}\n", names.join(" | "));
    out += &format!("|---|{}\n", "---|".repeat(names.len() + usize::from(!goals.is_empty())));
    for row in rows {
        let cells: Vec<String> = shown.iter().map(|&place| cell_text(row, place)).collect();
        let _ = write!(out, "| {} | {} |", row.label, cells.join(" | "));
        if !goals.is_empty() {
            let of_row = goals.iter().filter(|goal| goal.label == row.label).map(|goal| match goal.is_met {
                Some(true) => format!("{}: met", goal.text),
                Some(false) => format!("{}: **missed**", goal.text),
                None => format!("{}: not measured", goal.text),
            });
            let _ = write!(out, " {} |", of_row.collect::<Vec<_>>().join("; "));
        }
        out.push('\n');
    }
    out
}

pub fn figures(rows: &[Row], columns: &[Column], goals: &[Verdict]) -> String {
    table(rows, columns, goals, |_| true)
}

/// Saki's models, Go and Java relative to Go; times, and rates as times.
pub fn chart(rows: &[Row], columns: &[Column]) -> Option<String> {
    let shown: Vec<usize> = (0..columns.len()).filter(|&place| columns[place].kind != BuiltFor::DotNet).collect();
    let names: Vec<&str> = shown.iter().map(|&place| columns[place].runtime.name).collect();
    let groups: Vec<Group> = rows
        .iter()
        .filter_map(|row| {
            let base = value(rows, columns, &row.label, GO)?;
            let bars = shown.iter().enumerate().filter_map(|(series, &place)| {
                let ratio = row.cells[place].value()? / base;
                Some(Bar { series, ratio: if row.is_rate { ratio.recip() } else { ratio } })
            });
            Some(Group { label: row.label.clone(), bars: bars.collect() })
        })
        .collect();
    let title = "I/O relative to Go (logarithmic; shorter is better)";
    (!groups.is_empty()).then(|| bar_chart(title, &NEAR, &names, &groups))
}

/// The suite's part of docs/benchmarks.md.
pub fn page(rows: &[Row], columns: &[Column], runs: usize) -> String {
    let mut out = format!(
        "## I/O\n\nWritten by `./x bench --suite io --markdown` on {}: {}.\n\nServers (`bench/io`: plain sockets with a thread, goroutine or virtual \
         thread for each connection that stays open) asked by wrk on the same machine; CPU is the server's. Medians of {runs} interleaved runs.\n\n",
        utc_now(),
        machine()
    );
    for column in columns {
        let _ = writeln!(out, "- {}: {}", column.runtime.name, column.runtime.version);
    }
    let _ = write!(out, "\n![relative to Go](io.svg)\n\n{}", figures(rows, columns, &[]));
    out
}

/// Writes Saki's models side by side between the marks of docs/io.md. Errors: it has none.
pub fn update_io_page(path: &Path, rows: &[Row], columns: &[Column]) -> Result<(), String> {
    let page = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let section = format!(
        "Measured on {} ({}) by `./x bench --suite io --markdown`; [benchmarks.md](benchmarks.md) has all figures.\n\n![relative to Go](io.svg)\n\n{}",
        utc_now().split('T').next().unwrap_or_default(),
        machine(),
        table(rows, columns, &[], |column| column.kind == BuiltFor::Saki || column.runtime.name == GO)
    );
    write(path, &with_figures(&page, &section)?)
}

fn with_figures(page: &str, section: &str) -> Result<String, String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or("docs/io.md has no marks for the figures")?;
    Ok(format!("{before}{BEGIN}\n{}\n\n{END}{after}", section.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::rows::Cell;
    use super::*;
    use crate::bench::peers::Runtime;

    fn column(name: &'static str) -> Column {
        let runtime = Runtime { name, version: String::new(), argv: Vec::new(), environment: Vec::new() };
        Column { runtime, kind: BuiltFor::Go }
    }

    fn row(label: String, values: [f64; 2]) -> Row {
        let cells = values.iter().map(|&value| Cell { samples: vec![value], ..Cell::default() }).collect();
        Row { label, unit: "µs", is_rate: false, cells }
    }

    #[test]
    fn a_goal_compares_two_columns() {
        let columns = [column(MN), column(GO)];
        let rows = [row(cpu_label(64), [7.0, 6.0]), row(cpu_label(512), [5.0, 6.0])];
        let goals = goals(&rows, &columns);
        let verdict = |label: String| goals.iter().find(|goal| goal.label == label).expect("a goal").is_met;
        assert_eq!(verdict(cpu_label(64)), Some(false));
        assert_eq!(verdict(cpu_label(512)), Some(true));
        assert_eq!(verdict(p99_label(64)), None);
        assert!(
            figures(&rows, &columns, &goals)
                .contains("| 64 connections: CPU a request | 7.00 µs | 6.00 µs | mn ≤ go: **missed** |")
        );
    }

    #[test]
    fn the_figures_go_between_the_marks() {
        let page = format!("a\n{BEGIN}old\n{END}b\n");
        assert_eq!(with_figures(&page, "new\n"), Ok(format!("a\n{BEGIN}\nnew\n\n{END}b\n")));
        assert!(with_figures("a\n", "new").is_err());
    }
}
