//! `cargo xtask mutate`: changed copies of the program suite, none of which may bring the virtual machine down.
//!
//! Each mutant is a program of tests/programs with something changed in its tables, blobs, code or headers (`mutator`).
//! `check` loads and compiles everything in it without running it, a hundred in a second; `reflect` asks reflection for
//! all that it tells of it; `run` runs it. A mutant is named by seed, program and index, and is the same wherever it is
//! made. Faults are kept with `--keep`.
//! Left out: comparing what mutants do with what they do elsewhere.

mod bodies;
mod check;
mod fault;
mod mutator;
mod reflect;
mod run;
mod settings;

use crate::programs;
use crate::tool::Outcome;
use fault::Fault;
use mutator::Original;
use regex::Regex;
use saki_mutation::Random;
use settings::Settings;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Mutants of a program that one checker takes at a time.
const SLICE: u64 = 500;

#[derive(clap::Args)]
pub struct Options {
    /// Command of the runtime (default: target/release/saki).
    #[arg(long, value_name = "COMMAND")]
    saki: Option<String>,
    /// Other seeds give other mutants.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Mutants that are loaded and compiled, of all programs together.
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// Mutants that are run.
    #[arg(long, default_value_t = 0)]
    run_count: u64,
    /// Mutants that reflection is asked about.
    #[arg(long, default_value_t = 0)]
    reflect_count: u64,
    /// Index of each program's first mutant: to go on where an earlier run ended, or with `--count 1` to make one
    /// again.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Processes at once (default: the number of processors).
    #[arg(long)]
    jobs: Option<usize>,
    /// Only programs whose AREA/NAME matches this regular expression.
    #[arg(long, value_name = "RE")]
    filter: Option<Regex>,
    /// Keep mutants that show faults in this folder, each with a text that says what was changed and what happened.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Mutants of one program, and what is done with them.
struct Work {
    program: usize,
    indices: std::ops::Range<u64>,
    mode: Mode,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Check,
    Run,
    Reflect,
}

#[derive(Default)]
struct Totals {
    checked: u64,
    ran: u64,
    reflected: u64,
    bad_pointers: u64,
    busy: u64,
    faults: Vec<Fault>,
}

/// Makes the mutants and reports faults. Errors: programs that do not compile, a runtime that does not start.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let mut programs = programs::compiled(root, options.filter.as_ref())?;
    programs.retain(|p| p.source.len() < 200_000);
    let originals = programs
        .iter()
        .map(|p| {
            Original::new(&p.name, fs::read(&p.executable).map_err(|e| format!("{}: {e}", p.executable.display()))?)
        })
        .collect::<Result<Vec<_>, String>>()?;
    if originals.is_empty() {
        return Err("no program matches".to_owned());
    }
    let settings = Settings {
        saki: crate::tool::runtime_command(root, options.saki.as_deref())?,
        seed: options.seed,
        scratch: std::env::temp_dir().join(format!("saki-mutate-{}", std::process::id())),
    };
    // In an order of the seed's, so that a run that is broken off has seen all areas.
    let mut all: Vec<usize> = (0..originals.len()).collect();
    all.sort_by_key(|&p| Random::new(settings.seed, &originals[p].name, u64::MAX).number());
    let harmless: Vec<usize> = all.iter().copied().filter(|&p| run::is_harmless(&programs[p].source)).collect();
    let mut queue = VecDeque::new();
    add_work(&mut queue, &all, options.first, options.count, Mode::Check);
    add_work(&mut queue, &harmless, options.first, options.run_count, Mode::Run);
    add_work(&mut queue, &harmless, options.first, options.reflect_count, Mode::Reflect);
    let driver = match options.reflect_count {
        0 => PathBuf::new(),
        _ => reflect::compile_driver(&settings.scratch)?,
    };
    let queue = Mutex::new(queue);
    let totals = Mutex::new(Totals::default());
    let failed: Mutex<Option<String>> = Mutex::new(None);
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from)).max(1);
    let started = Instant::now();
    let last_line = Mutex::new(Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(work) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
                    let (original, executable) = (&originals[work.program], &programs[work.program].executable);
                    let done = do_work(&settings, &driver, original, executable, &work);
                    match (done, totals.lock()) {
                        (Ok(done), Ok(mut totals)) => add(&mut totals, done, options),
                        (Err(message), _) => {
                            if let Ok(mut failed) = failed.lock() {
                                *failed = Some(message);
                            }
                            return;
                        }
                        _ => return,
                    }
                    say_progress(&last_line, &totals, started);
                }
            });
        }
    });
    let _ = fs::remove_dir_all(&settings.scratch);
    if let Ok(Some(message)) = failed.into_inner() {
        return Err(message);
    }
    let totals = totals.into_inner().map_err(|_| "a worker panicked")?;
    report(&totals, started.elapsed());
    Ok(totals.faults.is_empty())
}

/// Shares `count` mutants among programs.
fn add_work(queue: &mut VecDeque<Work>, programs: &[usize], first: u64, count: u64, mode: Mode) {
    let total = programs.len() as u64;
    for (position, &program) in programs.iter().enumerate() {
        let own = count / total + u64::from((position as u64) < count % total);
        let mut start = first;
        while start < first + own {
            let end = (start + SLICE).min(first + own);
            queue.push_back(Work { program, indices: start..end, mode });
            start = end;
        }
    }
}

fn do_work(
    settings: &Settings,
    driver: &Path,
    original: &Original,
    executable: &Path,
    work: &Work,
) -> Result<Totals, String> {
    let mut totals = Totals::default();
    if work.mode == Mode::Reflect {
        let reflected = reflect::reflect(settings, driver, original, executable, work.indices.clone())?;
        totals.reflected = reflected.mutant_count;
        totals.bad_pointers = reflected.bad_pointers;
        totals.faults = reflected.faults;
        return Ok(totals);
    }
    if work.mode == Mode::Check {
        let checked = check::check(settings, original, executable, work.indices.clone())?;
        totals.checked = checked.mutant_count;
        totals.faults = checked.faults;
        return Ok(totals);
    }
    for index in work.indices.clone() {
        totals.ran += 1;
        match run::run(settings, original, executable, index)? {
            run::Ran::Well => {}
            run::Ran::BadPointer => totals.bad_pointers += 1,
            run::Ran::Busy => totals.busy += 1,
            run::Ran::Fault(fault) => totals.faults.push(*fault),
        }
    }
    Ok(totals)
}

fn add(totals: &mut Totals, done: Totals, options: &Options) {
    totals.checked += done.checked;
    totals.ran += done.ran;
    totals.reflected += done.reflected;
    totals.bad_pointers += done.bad_pointers;
    totals.busy += done.busy;
    for fault in done.faults {
        println!("FAULT {} {} index {}: {}", fault.mode, fault.program, fault.index, fault.class);
        for change in &fault.mutant.changes {
            println!("    {change}");
        }
        if let Some(Err(message)) = options.keep.as_ref().map(|folder| fault.keep(folder, options.seed)) {
            println!("    not kept: {message}");
        }
        totals.faults.push(fault);
    }
}

fn say_progress(last_line: &Mutex<Instant>, totals: &Mutex<Totals>, started: Instant) {
    if let (Ok(mut last), Ok(totals)) = (last_line.lock(), totals.lock())
        && last.elapsed() > Duration::from_secs(5)
    {
        *last = Instant::now();
        let (seconds, faults) = (started.elapsed().as_secs(), totals.faults.len());
        println!(
            "  {} checked, {} run, {} reflected over, {faults} faults, {seconds} s",
            totals.checked, totals.ran, totals.reflected
        );
    }
}

fn report(totals: &Totals, elapsed: Duration) {
    let mut classes: BTreeMap<&str, u64> = BTreeMap::new();
    for fault in &totals.faults {
        *classes.entry(&fault.class).or_default() += 1;
    }
    for (class, count) in classes {
        println!("{count:6}  {class}");
    }
    println!(
        "mutants: {} checked, {} run, {} reflected over ({} ended by a bad pointer in compiled code, {} still busy), {} faults, {:.0} s",
        totals.checked,
        totals.ran,
        totals.reflected,
        totals.bad_pointers,
        totals.busy,
        totals.faults.len(),
        elapsed.as_secs_f64()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_shared_out_whole() {
        let mut queue = VecDeque::new();
        add_work(&mut queue, &[3, 5, 7], 10, 1601, Mode::Check);
        let sum: u64 = queue.iter().map(|w| w.indices.end - w.indices.start).sum();
        assert_eq!(sum, 1601);
        assert!(queue.iter().all(|w| w.indices.start >= 10 && w.indices.end - w.indices.start <= SLICE));
    }
}
