//! How long Saki's collections pause the program, and how long its threads take to stop: tables and a plot of the
//! histograms that `saki --stats` prints.
//!
//! Left out: the peers, which print no such thing.

use std::fmt::Write as _;
use std::path::Path;

use super::compiling::compile;
use super::figures::run_once;
use super::options::Options;
use super::peers::Runtime;
use super::svg::{Histogram, histogram_chart};

/// Name in the table, program, arguments.
const PROGRAMS: &[(&str, &str, &[&str])] = &[
    ("allocation, 1 thread", "alloc-threads", &["1"]),
    ("allocation, 4 threads", "alloc-threads", &["4"]),
    ("weak references, 10 × 5,000", "weak-refs", &["5000", "5"]),
    ("binary trees, depth 20", "binary-trees", &["20"]),
];

/// What is read of the statistics: the label there and the words here.
const KINDS: [(&str, &str); 2] = [("pause", "pause"), ("stop latency", "time to stop")];

/// Durations of one sort in one run.
struct Durations {
    name: String,
    /// Median, 99th percentile, longest; µs.
    quantiles_us: [String; 3],
    histogram: Vec<(u64, u64)>,
}

/// Runs the programs under Saki; the Markdown section and the plot. Errors: a program does not compile.
pub fn measure(
    root: &Path,
    options: &Options,
    saki: &Runtime,
    output: &Path,
) -> Result<Option<(String, String)>, String> {
    let mut all = Vec::new();
    for (name, program, arguments) in PROGRAMS {
        if options.filter.as_ref().is_some_and(|filter| !filter.is_match(name)) {
            continue;
        }
        let executable = compile(root, program, output)?;
        let mut argv = saki.argv.clone();
        argv.insert(1, "--stats".to_owned());
        let runtime = Runtime { name: saki.name, version: String::new(), argv, environment: saki.environment.clone() };
        let Some(finished) = run_once(&executable, arguments, &runtime)? else { continue };
        let statistics = String::from_utf8_lossy(&finished.stderr);
        all.extend(
            KINDS.iter().filter_map(|(label, words)| durations(&statistics, label, &format!("{name}: {words}"))),
        );
    }
    if all.is_empty() {
        return Ok(None);
    }
    let histograms: Vec<Histogram> =
        all.iter().map(|d| Histogram { label: d.name.clone(), buckets: d.histogram.clone() }).collect();
    let chart = histogram_chart("Pauses of collections and times to stop, µs (columns: share of all)", &histograms);
    Ok(Some((table(&all), chart)))
}

/// Reads "LABEL p50 1.5 µs" and so on, and "LABEL in µs <2:7 <4:1".
fn durations(statistics: &str, label: &str, name: &str) -> Option<Durations> {
    let value = |suffix: &str| {
        let start = format!("{label} {suffix}");
        statistics.lines().find_map(|line| Some(line.strip_prefix(&start)?.trim().to_owned()))
    };
    let quantile = |suffix: &str| Some(value(suffix)?.trim_end_matches("µs").trim().to_owned());
    let histogram = value("in µs")?
        .split_whitespace()
        .filter_map(|bucket| bucket.strip_prefix('<')?.split_once(':'))
        .filter_map(|(bound, count)| Some((bound.parse().ok()?, count.parse().ok()?)))
        .collect();
    let quantiles_us = [quantile("p50")?, quantile("p99")?, quantile("max")?];
    Some(Durations { name: name.to_owned(), quantiles_us, histogram })
}

fn table(all: &[Durations]) -> String {
    let mut out = "| durations, µs | how many | p50 | p99 | max |\n|---|---|---|---|---|\n".to_owned();
    for durations in all {
        let count: u64 = durations.histogram.iter().map(|(_, count)| count).sum();
        let _ = writeln!(out, "| {} | {count} | {} |", durations.name, durations.quantiles_us.join(" | "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_read() {
        let text = "pause p50               2048.0 µs\npause p99              47224.1 µs\npause max              47224.1 µs\n\
                    pause in µs         <2048:13 <8192:2\nstop latency p50          32.8 µs\n";
        let read = durations(text, "pause", "x").expect("all lines are there");
        assert_eq!(read.quantiles_us, ["2048.0", "47224.1", "47224.1"]);
        assert_eq!(read.histogram, [(2048, 13), (8192, 2)]);
        assert!(durations(text, "stop latency", "y").is_none());
        assert!(table(&[read]).contains("| x | 15 | 2048.0 |"));
    }
}
