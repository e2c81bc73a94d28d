//! `--suite profile`: what profiling costs, beside Mono's log profiler, Go's pprof and Java's JFR on the same work.
//!
//! Each program runs with and without a profiler in turn, at two lengths. So what a profiler costs has two parts: the
//! slope, time for each second of the program, and the constant, which a run pays once however long it is. Both come
//! from the shortest of a few runs, which a busy machine disturbs least; with `--cpu` they are of processor time, the
//! threads that read samples included. Further tables: the C# compiler, each allocation told, bytes of files for each
//! sample, snapshots of a large heap. The whole takes some five minutes.
//!
//! Invariant: a run counts only if it prints what the others print that have as many rounds. Left out: `--markdown` and
//! `--json`.

mod columns;
mod extras;
mod work;

use std::path::Path;

use super::options::Options;
use super::peers::Runtime;
use crate::tool::Outcome;
use columns::{Column, print_row, shortest, slope_and_constant};

/// Runs the suite on `runtimes`, of which Saki and Mono count. Errors: a program does not compile, or fails.
pub fn run(root: &Path, options: &Options, runtimes: &[Runtime], output: &Path) -> Outcome {
    let folder = output.join("profile");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let is_wanted = |name: &str| options.filter.as_ref().is_none_or(|filter| filter.is_match(name));
    let columns = work::columns(root, runtimes, &folder)?;
    println!("\nseconds of the long run without a profiler; with one: time for each second, and milliseconds once");
    print_row("", columns.iter().map(|column| column.name.to_owned()));
    for mode in work::MODES.iter().filter(|mode| is_wanted(mode.name)) {
        let times = |rounds: u32| {
            let arguments = |column: &Column| vec![mode.name.to_owned(), (rounds / column.divisor).to_string()];
            shortest(&columns, &arguments, &folder, options)
        };
        let (short, long) = (times(mode.short)?, times(mode.long)?);
        let mut off = [0.0; 2];
        print_row(
            mode.name,
            columns.iter().zip(short.iter().zip(&long)).map(|(column, (&short, &long))| {
                if column.is_off {
                    off = [short, long];
                    return format!("{long:.2} s");
                }
                let (slope, constant) = slope_and_constant(off, [short, long]);
                format!("{slope:.3} × {:+.0} ms", 1e3 * constant)
            }),
        );
    }
    extras::run(options, runtimes, &folder, root, &is_wanted)?;
    Ok(true)
}
