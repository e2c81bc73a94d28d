//! The suite's tables, goals and plots.
//!
//! Ratios are of medians, Saki's over the peer's: below 1 Saki is better, but for scaling, where more is better. The
//! goals stand in `benchmarks` and nowhere else.

use std::fmt::Write as _;

use super::benchmarks::{GO, GREEN, Goal, JAVA, MN, NATIVE, NET9, OF_THE_MODES};
use super::peers::Peer;
use super::rows::{Cell, Row};
use crate::bench::report::{machine, utc_now};
use crate::bench::svg::{Bar, Group, Scale, bar_chart};

/// A goal and what became of it.
pub struct Verdict {
    label: &'static str,
    text: String,
    /// `None`: not measured in this run.
    pub is_met: Option<bool>,
}

/// What the ratios are of.
const RATIOS: [(&str, &str); 5] = [(NATIVE, NET9), (MN, NET9), (MN, GO), (MN, JAVA), (MN, NATIVE)];

/// Between native threads and the best of the others lie four orders of magnitude.
const FAR: Scale = Scale { min: 0.01, max: 1000.0, ticks: &[0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0, 1000.0] };
const BELOW_NATIVE: Scale = Scale { min: 0.0001, max: 10.0, ticks: &[0.0001, 0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 10.0] };

const BEGIN: &str = "<!-- figures: begin -->\n";
const END: &str = "<!-- figures: end -->\n";

fn cell<'a>(row: &'a Row, columns: &[Peer], name: &str) -> Option<&'a Cell> {
    row.cells.get(columns.iter().position(|peer| peer.runtime.name == name)?)
}

fn value(row: &Row, columns: &[Peer], name: &str) -> Option<f64> {
    cell(row, columns, name)?.value()
}

fn number(value: f64) -> String {
    match value {
        v if v.abs() >= 1000.0 => {
            let digits = format!("{v:.0}");
            let mut out = String::new();
            for (index, digit) in digits.chars().enumerate() {
                if index > 0 && (digits.len() - index).is_multiple_of(3) {
                    out.push(',');
                }
                out.push(digit);
            }
            out
        }
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v < 0.01 => format!("{v:.4}"),
        v => format!("{v:.2}"),
    }
}

fn cell_text(row: &Row, cell: &Cell) -> String {
    match (cell.value(), cell.at, &cell.failure) {
        (Some(value), None, _) => format!("{} {}", number(value), row.figure.unit),
        (Some(value), Some(at), _) => format!("{} {} (at {})", number(value), row.figure.unit, number(at as f64)),
        (None, _, Some(reason)) if reason.starts_with("not done") => reason.clone(),
        (None, _, Some(_)) => "fails".to_owned(),
        (None, _, None) => "-".to_owned(),
    }
}

/// One line while the run goes on.
pub fn progress(row: &Row, columns: &[Peer]) -> String {
    let cells =
        columns.iter().zip(&row.cells).map(|(peer, cell)| format!("{} {}", peer.runtime.name, cell_text(row, cell)));
    format!("{}: {}", row.figure.label, cells.collect::<Vec<_>>().join("; "))
}

fn table(header: &[&str], lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = format!("| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len()));
    for line in lines {
        let _ = writeln!(out, "| {} |", line.join(" | "));
    }
    out
}

/// All figures of all runtimes.
pub fn figures(rows: &[Row], columns: &[Peer]) -> String {
    let header: Vec<&str> = std::iter::once("figure").chain(columns.iter().map(|peer| peer.runtime.name)).collect();
    let lines = rows.iter().map(|row| {
        std::iter::once(row.figure.label.to_owned()).chain(row.cells.iter().map(|cell| cell_text(row, cell))).collect()
    });
    table(&header, lines)
}

/// What became of each goal, in the rows' order.
pub fn goals(rows: &[Row], columns: &[Peer]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for row in rows {
        let unit = row.figure.unit;
        for goal in row.figure.goals {
            let (of, what, is_met) = match goal {
                Goal::AtMost(of, limit) => {
                    let is_met = value(row, columns, of).map(|value| value <= *limit);
                    (of, format!("{of} ≤ {} {unit}", number(*limit)), is_met)
                }
                Goal::AtLeast(of, limit) => {
                    let is_met = value(row, columns, of).map(|value| value >= *limit);
                    (of, format!("{of} ≥ {} {unit}", number(*limit)), is_met)
                }
                Goal::NoMoreThan(of, than, label) => {
                    let other = match *label {
                        "" => Some(row),
                        label => rows.iter().find(|row| row.figure.label == label),
                    };
                    let limit = other.and_then(|other| value(other, columns, than));
                    let is_met = value(row, columns, of).zip(limit).map(|(value, limit)| value <= limit);
                    let other = if label.is_empty() { String::new() } else { format!(" at {label}") };
                    (of, format!("{of} ≤ {than}'s{other}"), is_met)
                }
            };
            let has_full_count = cell(row, columns, of).is_some_and(|cell| cell.at.is_none());
            // A goal at a count that was not reached is not met.
            verdicts.push(Verdict {
                label: row.figure.label,
                text: what,
                is_met: is_met.map(|met| met && has_full_count),
            });
        }
    }
    verdicts
}

/// Ratios, and beside them the goals, if there are some.
pub fn ratios(rows: &[Row], columns: &[Peer], goals: &[Verdict]) -> String {
    let names: Vec<String> = RATIOS.iter().map(|(of, to)| format!("{of}/{to}")).collect();
    let goal_head = (!goals.is_empty()).then_some("goal");
    let header: Vec<&str> = std::iter::once("ratio").chain(names.iter().map(String::as_str)).chain(goal_head).collect();
    let lines = rows.iter().map(|row| {
        let ratio = |(of, to): &(&str, &str)| {
            let (of, to) = (cell(row, columns, of)?, cell(row, columns, to)?);
            Some((of.value()? / to.value()?, of.at == to.at))
        };
        let mut line = vec![row.figure.label.to_owned()];
        line.extend(RATIOS.iter().map(|pair| match ratio(pair) {
            Some((ratio, true)) => number(ratio),
            // Of different counts.
            Some((ratio, false)) => format!("({})", number(ratio)),
            None => "-".to_owned(),
        }));
        let of_row = goals.iter().filter(|goal| goal.label == row.figure.label);
        let texts: Vec<String> = of_row
            .map(|goal| match goal.is_met {
                Some(true) => format!("{}: met", goal.text),
                Some(false) => format!("{}: **missed**", goal.text),
                None => format!("{}: not measured", goal.text),
            })
            .collect();
        if goal_head.is_some() {
            line.push(texts.join("; "));
        }
        line
    });
    table(&header, lines)
}

fn rows_of_the_modes(rows: &[Row]) -> impl Iterator<Item = &Row> {
    OF_THE_MODES.iter().filter_map(|label| rows.iter().find(|row| row.figure.label == *label))
}

/// The three modes side by side, and what is nearest to them elsewhere.
pub fn of_the_modes(rows: &[Row], columns: &[Peer]) -> String {
    let names: Vec<&str> = [NATIVE, GREEN, MN, NET9, GO, JAVA]
        .into_iter()
        .filter(|name| columns.iter().any(|p| p.runtime.name == *name))
        .collect();
    let header: Vec<&str> = std::iter::once("").chain(names.iter().copied()).collect();
    let lines = rows_of_the_modes(rows).map(|row| {
        let mut line = vec![row.figure.label.to_owned()];
        line.extend(
            names.iter().map(|name| cell(row, columns, name).map_or("-".to_owned(), |cell| cell_text(row, cell))),
        );
        line
    });
    table(&header, lines)
}

fn chart<'a>(
    title: &str,
    scale: &Scale,
    rows: impl Iterator<Item = &'a Row>,
    columns: &[Peer],
    names: &[&str],
    reference: &str,
) -> Option<String> {
    let groups: Vec<Group> = rows
        .filter_map(|row| {
            let base = value(row, columns, reference)?;
            let bars = names.iter().enumerate().filter_map(|(series, name)| {
                let ratio = value(row, columns, name)? / base;
                // Longer is worse, for scaling too.
                Some(Bar { series, ratio: if row.figure.unit == "×" { ratio.recip() } else { ratio } })
            });
            Some(Group { label: row.figure.label.to_owned(), bars: bars.collect() })
        })
        .collect();
    (!groups.is_empty()).then(|| bar_chart(title, scale, names, &groups))
}

/// All runtimes, relative to Go where there is one.
pub fn chart_of_all(rows: &[Row], columns: &[Peer]) -> Option<String> {
    let names: Vec<&str> = columns.iter().map(|peer| peer.runtime.name).collect();
    chart("Relative to Go (logarithmic; shorter is better)", &FAR, rows.iter(), columns, &names, GO)
}

/// The three modes relative to native threads.
pub fn chart_of_the_modes(rows: &[Row], columns: &[Peer]) -> Option<String> {
    let title = "Threads in Saki's modes, relative to native ones (logarithmic; shorter is better)";
    chart(title, &BELOW_NATIVE, rows_of_the_modes(rows), columns, &[NATIVE, GREEN, MN], NATIVE)
}

/// The suite's part of docs/benchmarks.md.
pub fn page(rows: &[Row], columns: &[Peer], runs: usize) -> String {
    let mut out = format!(
        "## Green threads\n\nWritten by `./x bench --suite green --markdown` on {}: {}.\n\nThe same programs in C# \
         (`bench/green`, compiled by `mcs`), Go and Java (virtual threads). Medians of {runs} interleaved runs (or the only run); each run's \
         figure is the best of some rounds. \"at N\": the count that the runtime managed, or that was given to it. Resident memory does \
         not include page tables.\n\n",
        utc_now(),
        machine()
    );
    for peer in columns {
        let _ = writeln!(out, "- {}: {}", peer.runtime.name, peer.runtime.version);
    }
    let _ = write!(
        out,
        "\n![relative to Go](green.svg)\n\n{}\nRatios below 1: Saki is better (for scaling: above 1); in brackets: of different \
         counts.\n\n{}",
        figures(rows, columns),
        ratios(rows, columns, &[])
    );
    out
}

/// The figures in docs/threads.md.
pub fn section_of_the_modes(rows: &[Row], columns: &[Peer]) -> String {
    format!(
        "Measured on {} ({}) by `./x bench --suite green --markdown`; [benchmarks.md](benchmarks.md) has all figures.\n\n\
         ![the three modes, relative to native threads](thread-modes.svg)\n\n{}",
        utc_now().split('T').next().unwrap_or_default(),
        machine(),
        of_the_modes(rows, columns)
    )
}

/// The page with what stands between its marks replaced. Errors: it has no marks.
pub fn with_modes(page: &str, section: &str) -> Result<String, String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or("docs/threads.md has no marks for the figures")?;
    Ok(format!("{before}{BEGIN}\n{}\n\n{END}{after}", section.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let check = |value: f64, text: &str| assert_eq!(number(value), text);
        check(0.0012, "0.0012");
        check(0.3, "0.30");
        check(12.34, "12.3");
        check(999.4, "999");
        check(1000.0, "1,000");
        check(50e6, "50,000,000");
    }

    #[test]
    fn the_figures_go_between_the_marks() {
        let page = format!("a\n{BEGIN}old\n{END}b\n");
        assert_eq!(with_modes(&page, "new\n"), Ok(format!("a\n{BEGIN}\nnew\n\n{END}b\n")));
        assert!(with_modes("a\n", "new").is_err());
    }
}
