//! Command lines that are measured beside others, with and without a profiler.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use crate::bench::options::Options;
use crate::bench::peers::Runtime;
use crate::process::{self, Finished, Job, ProgramEnd};

/// Repetitions of each run.
const DEFAULT_RUNS: usize = 3;
const TIMEOUT: Duration = Duration::from_secs(120);

/// A command line that is measured beside others.
#[derive(Clone)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) argv: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    /// Without a profiler: what the columns behind it are compared with.
    pub(super) is_off: bool,
    /// It gets this part of the rounds.
    pub(super) divisor: u32,
}

impl Column {
    pub(super) fn new(name: &'static str, argv: Vec<String>) -> Column {
        let is_off = name == "off" || name.ends_with(", off");
        Column { name, argv, environment: Vec::new(), is_off, divisor: 1 }
    }
}

/// The words one after the other.
pub(super) fn words(parts: &[&[String]]) -> Vec<String> {
    parts.concat()
}

pub(super) fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The runtime of this name.
pub(super) fn named<'a>(runtimes: &'a [Runtime], name: &str) -> Option<&'a Runtime> {
    runtimes.iter().find(|runtime| runtime.name == name)
}

/// Runs it to its good end. Errors: it ends otherwise.
pub(super) fn run_once(argv: &[String], environment: &[(String, String)], folder: &Path) -> Result<Finished, String> {
    let finished = process::run(&Job { argv, directory: folder, environment, stdin: b"", timeout: TIMEOUT })?;
    if finished.end == ProgramEnd::Exit(0) {
        return Ok(finished);
    }
    let stderr = String::from_utf8_lossy(&finished.stderr);
    Err(format!("{}: {} {}", argv.join(" "), finished.end, stderr.lines().last().unwrap_or("")))
}

/// The least seconds of each column, whose runs take turns, each with the words that `arguments` makes for it behind
/// its own. Errors: a run fails, or prints something else than the first one with the same arguments.
pub(super) fn shortest(
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

/// What a profiler costs, by times of a short and a long run without and with it: time for each second of the program,
/// and seconds once.
pub(super) fn slope_and_constant(off: [f64; 2], on: [f64; 2]) -> (f64, f64) {
    let slope = (on[1] - on[0]) / (off[1] - off[0]);
    (slope, on[0] - slope * off[0])
}

/// Prints a row of cells.
pub(super) fn print_row(name: &str, cells: impl IntoIterator<Item = String>) {
    print!("{name:14}");
    cells.into_iter().for_each(|cell| print!(" {cell:>19}"));
    println!();
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
