//! Programs that measure themselves and print their figures, a figure a line.

use std::path::Path;
use std::time::Duration;

use regex::Regex;

use super::peers::Runtime;
use crate::process::{self, Finished, Job, ProgramEnd};

const TIMEOUT: Duration = Duration::from_secs(300);

/// Runs the program; None if it ends badly, which is printed. Errors: it cannot be started.
pub(super) fn run_once(executable: &Path, arguments: &[&str], runtime: &Runtime) -> Result<Option<Finished>, String> {
    let finished = run_within(TIMEOUT, executable, arguments, runtime)?;
    match failure(&finished) {
        None => Ok(Some(finished)),
        Some(reason) => {
            eprintln!("{}: {reason}", runtime.name);
            Ok(None)
        }
    }
}

/// Runs the program in its folder. Errors: it cannot be started.
pub(super) fn run_within(
    timeout: Duration,
    executable: &Path,
    arguments: &[&str],
    runtime: &Runtime,
) -> Result<Finished, String> {
    let mut argv = runtime.argv.clone();
    argv.push(executable.display().to_string());
    argv.extend(arguments.iter().map(|&a| a.to_owned()));
    process::run(&Job {
        argv: &argv,
        directory: executable.parent().unwrap_or(Path::new(".")),
        environment: &runtime.environment,
        stdin: b"",
        timeout,
    })
}

/// How the program ended and the first line that it complained with; None for a good end.
pub(super) fn failure(finished: &Finished) -> Option<String> {
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let reason = stderr.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
    (finished.end != ProgramEnd::Exit(0)).then(|| format!("{} {reason}", finished.end))
}

/// One figure under one runtime.
#[derive(Default, Clone)]
pub struct Cell {
    pub(super) samples: Vec<f64>,
    /// The count, where it is not the first one of the benchmark.
    pub(super) at: Option<u64>,
    /// Why there is no figure, or what was wrong in a run.
    pub(super) failure: Option<String>,
}

impl Cell {
    pub(super) fn value(&self) -> Option<f64> {
        median(&self.samples)
    }
}

/// The median; the mean of the two in the middle for an even number. None: there are no samples.
pub(super) fn median(samples: &[f64]) -> Option<f64> {
    let mut samples = samples.to_vec();
    samples.sort_by(f64::total_cmp);
    let n = samples.len();
    if n == 0 { None } else { Some((samples[(n - 1) / 2] + samples[n / 2]) / 2.0) }
}

/// The figures in a program's output: (name, nanoseconds).
pub(super) fn figures_of(stdout: &str) -> Vec<(String, f64)> {
    let time = Regex::new(r"^(.*?)\s+([0-9.]+)(?: ns)?\s*$").expect("a valid pattern");
    let rate = Regex::new(r"^(.*?)\s+([0-9.]+) M/s").expect("a valid pattern");
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| *n > 0.0);
    stdout
        .lines()
        .filter_map(|line| match (rate.captures(line), time.captures(line)) {
            (Some(found), _) => Some((found[1].trim().to_owned(), 1000.0 / number(&found[2])?)),
            (None, Some(found)) => Some((found[1].trim().to_owned(), number(&found[2])?)),
            (None, None) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_both_forms() {
        let check = |line: &str, name: &str, value: f64| assert_eq!(figures_of(line), [(name.to_owned(), value)]);
        check("cycle-weak-8 23.5", "cycle-weak-8", 23.5);
        check("lock statement            7.25 ns", "lock statement", 7.25);
        check("plain     4 threads      4.00 M/s   share 0.93", "plain     4 threads", 250.0);
        assert!(figures_of("ok\n").is_empty());
    }
}
