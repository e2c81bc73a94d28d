//! `cargo xtask bench`: Saki beside Mono and CoreCLR on the programs of bench/.
//!
//! Every program is compiled once with `mcs -optimize+` and run whole, start-up included, under each runtime in turn;
//! repetitions are interleaved (A B C, A B C, …), so that a change in the machine's load hits all of them. Figures are
//! wall seconds, minimum and median, and peak resident memory. Invariant: a run counts only if it exits with 0 and
//! prints what the other runtimes print. From the bottom up: `options`, `compiling`, `peers` (the runtimes), `svg`;
//! `measurement` and `figures` (of processes, and of programs that measure themselves), `pages`; `report`; the suites
//! `pauses`, `threads`, `simd`, `net`, `green`, `io`, `embedding` and `profile`; this file, which has the others.
//! Left out: micro-benchmarks inside one process, which belong to the crates.

mod compiling;
mod embedding;
mod figures;
mod green;
mod io;
mod measurement;
mod net;
mod options;
mod pages;
mod pauses;
mod peers;
mod profile;
mod report;
mod simd;
mod svg;
mod threads;
mod web;

pub use options::Options;

use std::fs;
use std::path::Path;

use crate::tool::Outcome;
use compiling::compile;
use measurement::measure;
use options::Suite;
use pages::{write, write_section};

/// Runs the comparison and prints it. Errors: no runtime, or a program that does not compile.
/// The verdict is false when a runtime failed a program or a required figure was missed.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let output = root.join("target/bench");
    fs::create_dir_all(&output).map_err(|e| format!("{}: {e}", output.display()))?;
    let mut runtimes = peers::available(crate::tool::runtime_command(root, options.saki.as_deref())?, &output)?;
    if options.suite == Suite::Green {
        return green::run(root, options, runtimes, &output);
    }
    if options.suite == Suite::Io {
        return io::run(root, options, runtimes, &output);
    }
    if options.suite == Suite::Net {
        return net::run(root, options, &runtimes[0], &output);
    }
    if options.suite == Suite::Embedding {
        return embedding::run(root, options, &output);
    }
    if options.suite == Suite::Web {
        return web::run(root, options, &runtimes[0], &output);
    }
    runtimes.retain(|r| !options.without.iter().any(|name| *name == r.name));
    if runtimes.is_empty() {
        return Err("no runtime to measure".to_owned());
    }
    for runtime in &runtimes {
        println!("{:8} {}", runtime.name, runtime.version);
    }
    if matches!(options.suite, Suite::Threads | Suite::Dynamic | Suite::Operations) {
        return threads::run(root, options, &runtimes, &output);
    }
    if options.suite == Suite::Profile {
        return profile::run(root, options, &runtimes, &output);
    }
    if options.suite == Suite::Simd {
        return simd::run(root, options, runtimes, &output);
    }
    let mut rows = Vec::new();
    for &program in options.suite.programs() {
        if options.filter.as_ref().is_some_and(|filter| !filter.is_match(program)) {
            continue;
        }
        let executable = compile(root, program, &output)?;
        let row = measure(program, |_| &executable, &runtimes, options)?;
        println!("{}", report::progress(&row, &runtimes));
        rows.push(row);
    }
    let verdicts = report::verdicts(&rows, &runtimes, options.suite);
    print!("\n{}", report::text(&rows, &runtimes, &verdicts, options));
    if options.markdown {
        let text = report::markdown(&rows, &runtimes, options);
        write_section(&root.join("docs/benchmarks.md"), options.suite, &text)?;
    }
    if options.json {
        let name = report::utc_now().replace(':', "");
        write(&root.join(format!("bench/results/{name}.json")), &report::json(&rows, &runtimes, options.runs()))?;
    }
    let all_ran = rows.iter().all(|row| row.cells.iter().all(|cell| cell.failure.is_none()));
    Ok(all_ran && verdicts.iter().all(|v| v.is_met != Some(false)))
}
