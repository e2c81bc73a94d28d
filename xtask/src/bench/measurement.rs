//! Measuring a program under all runtimes in turn: seconds and memory of whole processes.
//!
//! Invariant: a run counts only if it exits with 0 and prints what the other runtimes print.

use std::path::Path;
use std::time::Duration;

use super::figures::{failure, run_within};
use super::options::Options;
use super::peers::Runtime;

/// No program takes a tenth of this on a machine of this decade.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);

/// Measurements of one program under one runtime.
pub struct Cell {
    /// Wall or processor seconds of the good runs, sorted.
    pub(super) seconds: Vec<f64>,
    /// Largest peak resident memory of the good runs, KiB.
    pub(super) max_rss_kib: u64,
    /// Why the runtime has no figure here.
    pub(super) failure: Option<String>,
    pub(super) stdout: Option<Vec<u8>>,
}

impl Cell {
    pub(super) fn min(&self) -> Option<f64> {
        if self.failure.is_some() { None } else { self.seconds.first().copied() }
    }

    pub(super) fn median(&self) -> Option<f64> {
        let n = self.seconds.len();
        if self.failure.is_some() || n == 0 {
            return None;
        }
        Some((self.seconds[(n - 1) / 2] + self.seconds[n / 2]) / 2.0)
    }
}

/// Measurements of one program under all runtimes, in the runtimes' order.
pub struct Row {
    pub(super) program: &'static str,
    pub(super) cells: Vec<Cell>,
}

/// Runs the program's executable for each runtime as often as asked.
pub(super) fn measure<'a>(
    program: &'static str,
    executable: impl Fn(&Runtime) -> &'a Path,
    runtimes: &[Runtime],
    options: &Options,
) -> Result<Row, String> {
    measure_with(program, executable, &[], runtimes, options)
}

/// Runs the program's executable with arguments for each runtime as often as asked.
pub(super) fn measure_with<'a>(
    program: &'static str,
    executable: impl Fn(&Runtime) -> &'a Path,
    arguments: &[&str],
    runtimes: &[Runtime],
    options: &Options,
) -> Result<Row, String> {
    let empty = || Cell { seconds: Vec::new(), max_rss_kib: 0, failure: None, stdout: None };
    let mut cells: Vec<Cell> = runtimes.iter().map(|_| empty()).collect();
    for _ in 0..options.runs() {
        for (runtime, cell) in runtimes.iter().zip(&mut cells) {
            if cell.failure.is_none() {
                measure_once(executable(runtime), arguments, runtime, options.cpu, cell)?;
            }
        }
    }
    // The first runtime after Saki that ran the program is the reference; a program's output has no timings in it.
    let reference = cells.iter().rev().find(|c| c.failure.is_none()).and_then(|c| c.stdout.clone());
    for cell in &mut cells {
        if cell.failure.is_none() && cell.stdout != reference {
            cell.failure = Some("prints something else than its peers".to_owned());
        }
        cell.seconds.sort_by(f64::total_cmp);
    }
    Ok(Row { program, cells })
}

fn measure_once(
    executable: &Path,
    arguments: &[&str],
    runtime: &Runtime,
    cpu: bool,
    cell: &mut Cell,
) -> Result<(), String> {
    let finished = run_within(TIMEOUT, executable, arguments, runtime)?;
    cell.failure = failure(&finished);
    if cell.failure.is_some() {
        return Ok(());
    }
    let time = if cpu { finished.cpu } else { finished.wall };
    cell.seconds.push(time.as_secs_f64());
    cell.max_rss_kib = cell.max_rss_kib.max(finished.max_rss_kib);
    match &cell.stdout {
        Some(before) if *before != finished.stdout => {
            cell.failure = Some("prints something else from run to run".to_owned());
        }
        _ => cell.stdout = Some(finished.stdout),
    }
    Ok(())
}
