//! Programs that measure themselves and print their figures, a figure a line.

use std::path::Path;
use std::time::Duration;

use regex::Regex;

use super::peers::Runtime;
use crate::process::{self, Job, ProgramEnd};

const TIMEOUT: Duration = Duration::from_secs(300);

/// Runs the program; None if it ends badly, which is printed. Errors: it cannot be started.
pub(super) fn run_once(
    executable: &Path,
    arguments: &[&str],
    runtime: &Runtime,
) -> Result<Option<process::Finished>, String> {
    let mut argv = runtime.argv.clone();
    argv.push(executable.display().to_string());
    argv.extend(arguments.iter().map(|&a| a.to_owned()));
    let finished = process::run(&Job {
        argv: &argv,
        directory: executable.parent().unwrap_or(Path::new(".")),
        environment: &runtime.environment,
        stdin: b"",
        timeout: TIMEOUT,
    })?;
    if finished.end == ProgramEnd::Exit(0) {
        return Ok(Some(finished));
    }
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let reason = stderr.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
    eprintln!("{}: {} {reason}", runtime.name, finished.end);
    Ok(None)
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
