//! `--suite profile`: what profiling costs, beside Mono's log profiler, Go's pprof and Java's JFR on the same work.
//!
//! Each program runs with and without a profiler in turn, at two lengths. So what a profiler costs has two parts: the slope, time for each second of the program, and the
//! constant, which a run pays once however long it is. Both come from the shortest of a few runs, which a busy machine disturbs least; with `--cpu` they are of processor
//! time, the threads that read samples included. Further tables: the C# compiler, each allocation told, bytes of files for each sample, snapshots of a large heap. The whole
//! takes some five minutes.
//!
//! Invariant: a run counts only if it prints what the others print that have as many rounds. Left out: `--markdown` and `--json`.

mod extras;
mod work;

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use super::{Options, Runtime};
use crate::process::{self, End, Finished, Job};
use crate::tool::Outcome;

/// Repetitions of each run.
const DEFAULT_RUNS: usize = 3;
const TIMEOUT: Duration = Duration::from_secs(120);

/// A command line that is measured beside others.
#[derive(Clone)]
struct Column {
    name: &'static str,
    argv: Vec<String>,
    environment: Vec<(String, String)>,
    /// Without a profiler: what the columns behind it are compared with.
    is_off: bool,
    /// It gets this part of the rounds.
    divisor: u32,
}

impl Column {
    fn new(name: &'static str, argv: Vec<String>) -> Column {
        let is_off = name == "off" || name.ends_with(", off");
        Column { name, argv, environment: Vec::new(), is_off, divisor: 1 }
    }
}

/// The words one after the other.
fn words(parts: &[&[String]]) -> Vec<String> {
    parts.concat()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The runtime of this name.
fn named<'a>(runtimes: &'a [Runtime], name: &str) -> Option<&'a Runtime> {
    runtimes.iter().find(|runtime| runtime.name == name)
}

/// Runs it to its good end. Errors: it ends otherwise.
fn run_once(argv: &[String], environment: &[(String, String)], folder: &Path) -> Result<Finished, String> {
    let finished = process::run(&Job { argv, directory: folder, environment, stdin: b"", timeout: TIMEOUT })?;
    if finished.end == End::Exit(0) {
        return Ok(finished);
    }
    let stderr = String::from_utf8_lossy(&finished.stderr);
    Err(format!("{}: {} {}", argv.join(" "), finished.end, stderr.lines().last().unwrap_or("")))
}

/// The least seconds of each column, whose runs take turns, each with the words that `arguments` makes for it behind its own. Errors: a run fails, or prints something
/// else than the first one with the same arguments.
fn shortest(
    columns: &[Column],
    arguments: &dyn Fn(&Column) -> Vec<String>,
    folder: &Path,
    options: &Options,
) -> Result<Vec<f64>, String> {
    let mut seconds = vec![f64::INFINITY; columns.len()];
    let mut printed: HashMap<Vec<String>, Vec<u8>> = HashMap::new();
    for _ in 0..options.runs.unwrap_or(DEFAULT_RUNS).max(1) {
        for (column, seconds) in columns.iter().zip(&mut seconds) {
            let arguments = arguments(column);
            let finished = run_once(&words(&[&column.argv, &arguments]), &column.environment, folder)?;
            let time = if options.cpu { finished.cpu } else { finished.wall };
            *seconds = seconds.min(time.as_secs_f64());
            if *printed.entry(arguments).or_insert_with(|| finished.stdout.clone()) != finished.stdout {
                return Err(format!("{} prints something else than the others", column.argv.join(" ")));
            }
        }
    }
    Ok(seconds)
}

/// What a profiler costs, by times of a short and a long run without and with it: time for each second of the program, and seconds once.
fn slope_and_constant(off: [f64; 2], on: [f64; 2]) -> (f64, f64) {
    let slope = (on[1] - on[0]) / (off[1] - off[0]);
    (slope, on[0] - slope * off[0])
}

/// Prints a row of cells.
fn print_row(name: &str, cells: impl IntoIterator<Item = String>) {
    print!("{name:14}");
    cells.into_iter().for_each(|cell| print!(" {cell:>19}"));
    println!();
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_and_constant_are_told_apart() {
        let (slope, constant) = slope_and_constant([1.0, 4.0], [1.0 * 1.02 + 0.04, 4.0 * 1.02 + 0.04]);
        assert!((slope - 1.02).abs() < 1e-9 && (constant - 0.04).abs() < 1e-9, "{slope} {constant}");
    }
}
