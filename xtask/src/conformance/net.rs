//! `cargo xtask conformance mini-net tests-net mcs-net`: Mono's test suites compiled by a C# 12 compiler for modern
//! .NET, run by Saki and by .NET 9, which decides what is right.
//!
//! Sources come out of Debian's source package (`source`), what is compiled of them is a `plan`, `build` compiles it
//! below `target/conformance-net` and `run` compares. What does not compile for .NET, or does not pass there, does not
//! count. Tests that are known to differ are named by `LIST`, each with its cause: each must still differ, and no other
//! may, so the list may only shrink.
//! Left out: tests that need Mono's own flags, of its collector's bridges and of its global assembly cache.

mod automake;
mod build;
mod plan;
mod run;
mod source;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use super::Options;
use crate::programs::net::{Net, RuntimeVersion};
use crate::programs::net_suite::{read_list, report_reasons};
use crate::tool::Outcome;
use build::{Build, NotCompiled};
use plan::Unit;
use run::{Row, Runner, Verdict};

/// The suites' names.
pub const SUITES: [&str; 3] = ["mini-net", "tests-net", "mcs-net"];

/// The tests that are known to differ: `SUITE:NAME CAUSE`.
const LIST: &str = "tests/conformance-net.list";

/// Of a cause `varies: ...`: the test may pass, too.
const VARIES: &str = "varies";

/// Fetches, compiles, runs and compares a suite, and prints the report. Errors: what the suite is made from cannot be
/// had, or a file cannot be read or written.
pub fn run(root: &Path, suite: &str, saki: &[String], options: &Options) -> Outcome {
    let Some(net) = Net::find(root, RuntimeVersion::Nine) else {
        println!("skipped: {suite}: target/net has no .NET 9 and C# 12 compiler (tools/net/setup fetches them)");
        return Ok(true);
    };
    let source = source::find_or_fetch(root)?;
    let folder = root.join("target/conformance-net");
    let (generated, native) = (folder.join("generated"), folder.join("native"));
    let units = match suite {
        "mini-net" => plan::mini(&source),
        "tests-net" => {
            plan::generate(&source, &generated)?;
            build::native_library(&source, &native)?;
            plan::tests(&source, &generated)?
        }
        _ => plan::mcs(&source)?,
    };
    let build = Build::new(folder.join(suite), &net, &units);
    let not_compiled = build.make()?;
    report_not_compiled(suite, &units, &not_compiled);
    let programs: Vec<&Unit> = units
        .iter()
        .filter(|unit| !unit.is_library && !not_compiled.contains_key(&unit.name))
        .filter(|unit| options.filter.as_ref().is_none_or(|filter| filter.is_match(&unit.name)))
        .collect();
    let absolute = |path| std::path::absolute(path).map_err(|e| format!("{}: {e}", Path::display(path)));
    let runner = Runner {
        net: &net,
        saki,
        threads: options.threads.as_deref(),
        code_cache: options.code_cache.as_deref().map(absolute).transpose()?,
        native,
        timeout: Duration::from_secs(options.timeout),
    };
    let rows = run_all(programs, options.jobs, |unit| {
        let assembly = build.output(unit);
        if suite == "mini-net" { runner.methods(unit, &assembly) } else { runner.program(unit, &assembly) }
    });
    report(root, suite, rows, &not_compiled, options)
}

/// The rows of all programs, several at a time.
fn run_all(units: Vec<&Unit>, jobs: Option<usize>, work: impl Fn(&Unit) -> Vec<Row> + Sync) -> Vec<Row> {
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from)).max(1);
    let (started, total) = (Instant::now(), units.len());
    let queue = Mutex::new(VecDeque::from(units));
    let (sender, receiver) = mpsc::channel();
    let mut rows = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, queue, work) = (sender.clone(), &queue, &work);
            scope.spawn(move || {
                while let Some(unit) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
                    if sender.send(work(unit)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut last_line = Instant::now();
        for (count, some) in receiver.into_iter().enumerate() {
            rows.extend(some);
            if last_line.elapsed() > Duration::from_secs(10) {
                last_line = Instant::now();
                println!("  {} of {total} programs, {:.0} s", count + 1, started.elapsed().as_secs_f64());
            }
        }
    });
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

/// Says how many units compile, and why the others do not.
fn report_not_compiled(suite: &str, units: &[Unit], not_compiled: &NotCompiled) {
    let mut causes = BTreeMap::<&str, usize>::new();
    for (cause, _) in not_compiled.values() {
        *causes.entry(cause).or_default() += 1;
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let causes: Vec<String> = causes.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
    println!(
        "{suite}: {} of {} units compile for .NET; not: {} (target/conformance-net/{suite}/not-compiled.tsv)",
        units.len() - not_compiled.len(),
        units.len(),
        causes.join(", ")
    );
}

/// Prints what differs, grouped by cause, and the counts; writes the result file.
fn report(root: &Path, suite: &str, rows: Vec<Row>, not_compiled: &NotCompiled, options: &Options) -> Outcome {
    let listed = read_list(&root.join(LIST))?;
    let (mut results, mut reasons) = (String::new(), BTreeMap::<String, Vec<String>>::new());
    let (mut baseline, mut passed, mut known, mut failed) = (0, 0, HashMap::<&str, usize>::new(), Vec::new());
    for (name, verdict) in &rows {
        let cause = listed.get(&format!("{suite}:{name}")).map(String::as_str);
        let (word, note) = match verdict {
            Verdict::NotInBaseline(end) => ("not-on-net", end.as_str()),
            Verdict::Same => {
                passed += 1;
                if let Some(cause) = cause.filter(|cause| !cause.starts_with(VARIES)) {
                    println!("FAIL {name}: passes now; remove it from {LIST} ({cause})");
                    failed.push(name.clone());
                }
                ("same", "")
            }
            Verdict::Differs(reason, report) => {
                match cause {
                    Some(cause) => *known.entry(cause).or_default() += 1,
                    None => {
                        println!("FAIL {name}: {}", report.trim_end());
                        reasons.entry(reason.clone()).or_default().push(name.clone());
                        failed.push(name.clone());
                    }
                }
                ("differs", reason.as_str())
            }
        };
        baseline += usize::from(word != "not-on-net");
        results.push_str(&format!("{name}\t{word}\t{}\t{}\n", note.replace(['\t', '\n'], " "), cause.unwrap_or("")));
    }
    for (name, (cause, message)) in not_compiled {
        results.push_str(&format!("{name}\tnot-compiled\t{cause}\t{message}\n"));
    }
    let mode = options.threads.as_deref().unwrap_or("native");
    let path = root.join(format!("target/conformance-net/{suite}-{mode}.tsv"));
    fs::write(&path, results).map_err(|e| format!("{}: {e}", path.display()))?;
    report_reasons(&reasons);
    for (cause, count) in &known {
        println!("{count:4} known to differ: {cause}");
    }
    println!("{suite}: .NET does not pass {} of {}; results: {}", rows.len() - baseline, rows.len(), path.display());
    println!(
        "{suite} on {mode} threads: {passed} of {baseline} that pass on .NET are the same ({:.2} %)",
        100.0 * passed as f64 / baseline.max(1) as f64
    );
    println!("{suite}: {passed} passed, {} failed", failed.len());
    Ok(failed.is_empty() && passed > 0)
}
