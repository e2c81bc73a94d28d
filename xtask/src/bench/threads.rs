//! `cargo xtask bench --suite threads`, `--suite dynamic` and `--suite operations`: handles, weak references, locks,
//! allocation by several threads; methods made at run time; what the machine does for single operations, beside .NET 9
//! (`$DOTNET9`) as well.
//!
//! Two sorts of figures, all times, so that less is better: the wall time of whole processes, and nanoseconds that a
//! program measures itself and prints, a figure a line ("NAME 12.3 ns"; throughput as "NAME 4.5 M/s" becomes its
//! inverse). The best of all runs counts for the latter, the median for the former. Runs of the runtimes are
//! interleaved. Left out: judging the programs' other output.

use std::fmt::Write as _;
use std::path::Path;

use super::compiling::compile;
use super::figures::{figures_of, run_once};
use super::options::{Options, Suite};
use super::pages::{write, write_section};
use super::peers::Runtime;
use super::svg::{Bar, Group, NEAR, bar_chart};
use super::{pauses, peers, report};
use crate::tool::Outcome;

/// Name in the table (for programs that print figures, its beginning), program, arguments.
type Program = (&'static str, &'static str, &'static [&'static str]);

/// A suite of such figures.
struct Spec {
    suite: Suite,
    title: &'static str,
    option: &'static str,
    /// Measured as a whole.
    whole: &'static [Program],
    /// Print figures.
    inner: &'static [Program],
    /// Required of figures whose name contains the text: at most this share of the peer's time.
    required: &'static [(&'static str, &'static str, f64)],
    /// Where the plot goes, in docs/.
    plot: &'static str,
    with_pauses: bool,
}

const THREADS: Spec = Spec {
    suite: Suite::Threads,
    title: "Threads, handles, locks",
    option: "threads",
    whole: &[
        ("weak references, 10 × 5,000", "weak-refs", &["5000", "5"]),
        ("weak references, 10 × 500,000", "weak-refs", &["500000", "1"]),
        ("monitor stress", "monitor-stress", &[]),
        ("allocation, 1 thread", "alloc-threads", &["1"]),
        ("allocation, 2 threads", "alloc-threads", &["2"]),
        ("allocation, 4 threads", "alloc-threads", &["4"]),
        ("binary trees, depth 20", "binary-trees", &["20"]),
    ],
    inner: &[
        ("GCHandle", "handles", &[]),
        ("lock", "monitor-uncontended", &[]),
        ("contended lock", "monitor-contended", &["300"]),
    ],
    required: &[
        ("weak references", "mono", 0.5),
        ("weak references", "coreclr", 0.5),
        ("GCHandle cycle", "mono", 0.5),
        ("GCHandle cycle", "coreclr", 1.0),
        ("monitor stress", "mono", 1.0),
        ("monitor stress", "coreclr", 1.0),
        ("lock lock", "mono", 1.0),
        ("lock lock", "coreclr", 1.0),
        ("binary trees", "coreclr", 1.0),
    ],
    plot: "threads.svg",
    with_pauses: true,
};

const DYNAMIC: Spec = Spec {
    suite: Suite::Dynamic,
    title: "Lambdas compiled, run once and dropped",
    option: "dynamic",
    whole: &[],
    inner: &[
        ("lambdas", "lambdas", &["1", "30000"]),
        ("lambdas", "lambdas", &["1", "300000"]),
        ("lambdas", "lambdas", &["2", "300000"]),
        ("lambdas", "lambdas", &["8", "300000"]),
    ],
    required: &[("lambdas", "coreclr", 0.5), ("lambdas", "mono", 0.25)],
    plot: "dynamic.svg",
    with_pauses: false,
};

const OPERATIONS: Spec = Spec {
    suite: Suite::Operations,
    title: "Single operations",
    option: "operations",
    whole: &[],
    inner: &[
        ("P/Invoke", "pinvoke", &[]),
        ("thread static", "thread-statics", &[]),
        ("reflection", "reflection-invoke", &[]),
        ("checked", "checked-arithmetic", &[]),
        ("decimal", "decimals", &[]),
        ("async", "async-methods", &[]),
    ],
    required: &[],
    plot: "operations.svg",
    with_pauses: false,
};

/// Nanoseconds (inner) or seconds (whole) of each runtime; `None`: it failed.
struct Figure {
    name: String,
    unit: &'static str,
    samples: Vec<Vec<f64>>,
    max_rss_kib: Vec<u64>,
}

impl Figure {
    fn new(name: String, unit: &'static str, runtimes: usize) -> Figure {
        Figure { name, unit, samples: vec![Vec::new(); runtimes], max_rss_kib: vec![0; runtimes] }
    }

    /// Median of whole processes, minimum of what programs measured.
    fn value(&self, runtime: usize) -> Option<f64> {
        let mut samples = self.samples[runtime].clone();
        samples.sort_by(f64::total_cmp);
        let place = if self.unit == "s" { samples.len() / 2 } else { 0 };
        samples.get(place).copied()
    }

    fn text(&self, runtime: usize) -> String {
        match self.value(runtime) {
            Some(value) if self.unit == "s" => format!("{value:.3} s, {} MiB", self.max_rss_kib[runtime] / 1024),
            Some(value) => format!("{value:.1} ns"),
            None => "-".to_owned(),
        }
    }
}

fn position(runtimes: &[Runtime], name: &str) -> Option<usize> {
    runtimes.iter().position(|r| r.name == name)
}

/// Saki's value over the peer's.
fn ratio(figure: &Figure, runtimes: &[Runtime], peer: &str) -> Option<f64> {
    Some(figure.value(position(runtimes, "saki")?)? / figure.value(position(runtimes, peer)?)?)
}

fn measure(
    spec: &Spec,
    root: &Path,
    options: &Options,
    runtimes: &[Runtime],
    output: &Path,
) -> Result<Vec<Figure>, String> {
    let mut figures: Vec<Figure> = Vec::new();
    let wanted = |name: &str| options.filter.as_ref().is_none_or(|filter| filter.is_match(name));
    for (name, program, arguments) in spec.whole.iter().filter(|(name, ..)| wanted(name)) {
        let executable = compile(root, program, output)?;
        let mut figure = Figure::new((*name).to_owned(), "s", runtimes.len());
        for _ in 0..options.runs() {
            for (index, runtime) in runtimes.iter().enumerate() {
                if let Some(finished) = run_once(&executable, arguments, runtime)? {
                    figure.samples[index].push(finished.wall.as_secs_f64());
                    figure.max_rss_kib[index] = figure.max_rss_kib[index].max(finished.max_rss_kib);
                }
            }
        }
        println!("  {name}: {}", (0..runtimes.len()).map(|i| figure.text(i)).collect::<Vec<_>>().join("; "));
        figures.push(figure);
    }
    for (prefix, program, arguments) in spec.inner.iter().filter(|(name, ..)| wanted(name)) {
        let executable = compile(root, program, output)?;
        for _ in 0..options.runs() {
            for (index, runtime) in runtimes.iter().enumerate() {
                let Some(finished) = run_once(&executable, arguments, runtime)? else { continue };
                for (name, value) in figures_of(&String::from_utf8_lossy(&finished.stdout)) {
                    let name = format!("{prefix} {name}");
                    let place = figures.iter().position(|f| f.name == name).unwrap_or_else(|| {
                        figures.push(Figure::new(name, "ns", runtimes.len()));
                        figures.len() - 1
                    });
                    figures[place].samples[index].push(value);
                }
            }
        }
        println!("  {prefix}: done");
    }
    Ok(figures)
}

const NET9: &str = "net9";

/// The peers in columns of their own, by name and title; .NET 9 where it was measured.
const PEERS: [(&str, &str); 3] = [("mono", "Mono"), ("coreclr", "CoreCLR"), (NET9, ".NET 9")];

fn table(figures: &[Figure], runtimes: &[Runtime]) -> String {
    let names: Vec<&str> = runtimes.iter().map(|r| r.name).collect();
    let peers: Vec<(&str, &str)> =
        PEERS.into_iter().filter(|(name, _)| *name != NET9 || names.contains(name)).collect();
    let titles: Vec<String> = peers.iter().map(|(_, title)| format!("Saki/{title}")).collect();
    let mut out = format!("| figure | {} | {} |\n", names.join(" | "), titles.join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(names.len() + peers.len() + 1));
    for figure in figures {
        let cells: Vec<String> = (0..runtimes.len()).map(|i| figure.text(i)).collect();
        let text = |peer| ratio(figure, runtimes, peer).map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        let ratios: Vec<String> = peers.iter().map(|(peer, _)| text(peer)).collect();
        let _ = writeln!(out, "| {} | {} | {} |", figure.name, cells.join(" | "), ratios.join(" | "));
    }
    out
}

/// Lines about the required figures, and whether all that were measured are met.
fn verdicts(spec: &Spec, figures: &[Figure], runtimes: &[Runtime]) -> (String, bool) {
    let (mut out, mut all_met) = (String::new(), true);
    for (pattern, peer, limit) in spec.required {
        let measured: Vec<(&str, f64)> = figures
            .iter()
            .filter(|f| f.name.contains(pattern))
            .filter_map(|f| Some((f.name.as_str(), ratio(f, runtimes, peer)?)))
            .collect();
        let missed: Vec<String> =
            measured.iter().filter(|(_, r)| r > limit).map(|(name, r)| format!("{name} {r:.2}")).collect();
        all_met &= missed.is_empty();
        let state = match (measured.is_empty(), missed.is_empty()) {
            (true, _) => "not measured".to_owned(),
            (false, true) => "met".to_owned(),
            (false, false) => format!("**missed**: {}", missed.join(", ")),
        };
        let _ = writeln!(out, "- {pattern}: at most {limit} × {peer}: {state}");
    }
    (out, all_met)
}

fn chart(figures: &[Figure], runtimes: &[Runtime]) -> Option<String> {
    let reference = position(runtimes, "mono")?;
    let groups: Vec<Group> = figures
        .iter()
        .filter_map(|figure| {
            let base = figure.value(reference)?;
            let bars = (0..runtimes.len())
                .filter_map(|series| Some(Bar { series, ratio: figure.value(series)? / base }))
                .collect();
            Some(Group { label: figure.name.clone(), bars })
        })
        .collect();
    let names: Vec<&str> = runtimes.iter().map(|r| r.name).collect();
    Some(bar_chart("Time relative to Mono (logarithmic; shorter is faster)", &NEAR, &names, &groups))
}

/// Measures and prints; with `--markdown` writes the suite's part of docs/benchmarks.md and its plots.
/// Errors: a program does not compile. The verdict is false when a required figure was missed.
pub fn run(root: &Path, options: &Options, runtimes: &[Runtime], output: &Path) -> Outcome {
    let spec = match options.suite {
        Suite::Dynamic => &DYNAMIC,
        Suite::Operations => &OPERATIONS,
        _ => &THREADS,
    };
    let mut runtimes = runtimes.to_vec();
    if options.suite == Suite::Operations
        && !options.without.iter().any(|name| name == NET9)
        && let Some(net9) = peers::net9(NET9, output)?
    {
        println!("{:8} {}", net9.name, net9.version);
        runtimes.push(net9);
    }
    let runtimes = &runtimes[..];
    let figures = measure(spec, root, options, runtimes, output)?;
    let (verdicts, all_met) = verdicts(spec, &figures, runtimes);
    let table = table(&figures, runtimes);
    print!("\n{table}\n{verdicts}");
    let pauses = match position(runtimes, "saki") {
        Some(saki) if spec.with_pauses => pauses::measure(root, options, &runtimes[saki], output)?,
        _ => None,
    };
    if let Some((table, _)) = &pauses {
        print!("\n{table}");
    }
    if options.markdown {
        let mut page = format!(
            "## {}\n\nWritten by `./x bench --suite {} --markdown` on {}: {}.\n\nWhole programs: \
             median wall seconds of {} interleaved runs and peak resident memory. Nanoseconds: measured inside the \
             program, best of all runs; contended locks as time per turn. Ratios below 1: Saki is faster.\n\n",
            spec.title,
            spec.option,
            report::utc_now(),
            report::machine(),
            options.runs()
        );
        for runtime in runtimes {
            let _ = writeln!(page, "- {}: {}", runtime.name, runtime.version);
        }
        if let Some(chart) = chart(&figures, runtimes) {
            write(&root.join("docs").join(spec.plot), &chart)?;
            let _ = write!(page, "\n![times relative to Mono]({})\n", spec.plot);
        }
        let _ = write!(page, "\n{table}");
        if let Some((table, chart)) = pauses {
            write(&root.join("docs/pauses.svg"), &chart)?;
            let _ = write!(
                page,
                "\nPauses of Saki's collections, and the times from the request until the last thread had stopped (`saki \
                 --stats`):\n\n![histograms](pauses.svg)\n\n{table}"
            );
        }
        write_section(&root.join("docs/benchmarks.md"), spec.suite, &page)?;
    }
    Ok(all_met)
}
