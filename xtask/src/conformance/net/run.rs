//! Runs a program of a suite, by .NET and by Saki, and compares what happens.
//!
//! The end and standard output count, and the type of an exception that nothing catches. What .NET does is kept beside
//! the program. Invariant: it ran there twice, and standard output that was not the same both times (times, addresses,
//! an order of threads) is not compared.
//! A program of `mini` has many test methods: its driver names each before it runs, and after one that ends the program
//! it is started again for the rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::plan::Unit;
use crate::process::{self, Finished, Job, ProgramEnd};
use crate::programs::diff::diff;
use crate::programs::net::Net;
use crate::programs::net_suite::{Judgement, reason};

/// What a shell shows of a process that SIGABRT killed.
pub const ABORTED: i32 = 128 + libc::SIGABRT;

/// Starts of one program of `mini` after methods that ended it.
const MAX_RESTARTS: usize = 250;

/// More runs of a program that writes something else: threads that race may write in another order, and one of the runs
/// must be as .NET's.
const RACE_RETRIES: usize = 2;

/// Lines of a difference that are shown.
const MAX_DIFF_LINES: usize = 12;

/// What came of one test.
pub enum Verdict {
    Same,
    /// A short reason, which tests with one cause share, and the report.
    Differs(String, String),
    /// .NET does not pass it, or not in time; with how it ends there.
    NotInBaseline(String),
}

/// A test's name and what came of it.
pub type Row = (String, Verdict);

/// How programs are run.
pub struct Runner<'a> {
    pub net: &'a Net,
    pub saki: &'a [String],
    pub threads: Option<&'a str>,
    pub code_cache: Option<PathBuf>,
    /// The folder with libtest.so.
    pub native: PathBuf,
    pub timeout: Duration,
}

impl Runner<'_> {
    /// The program's one row.
    pub fn program(&self, unit: &Unit, assembly: &Path) -> Vec<Row> {
        vec![(unit.name.clone(), self.compare(unit, assembly))]
    }

    fn compare(&self, unit: &Unit, assembly: &Path) -> Verdict {
        let kept = assembly.with_file_name("judgement");
        let (is_stable, judge) = match read_judgement(&kept) {
            Some(both) => both,
            None => match self.judge(assembly, &kept) {
                Ok(both) => both,
                Err(report) => return Verdict::NotInBaseline(report),
            },
        };
        if !unit.exits.iter().any(|code| judge.end == ProgramEnd::Exit(*code).to_string()) {
            return Verdict::NotInBaseline(format!("{} {}", judge.end, judge.exception));
        }
        let finished = match self.run(assembly, &[], false) {
            Ok(finished) => finished,
            Err(report) => return Verdict::Differs("does not start".to_owned(), report),
        };
        let mut own = judgement_of(&finished);
        for _ in 0..RACE_RETRIES {
            if !is_stable || own.stdout == judge.stdout || own.end != judge.end {
                break;
            }
            own = self.run(assembly, &[], false).map_or(own, |finished| judgement_of(&finished));
        }
        let mut report = String::new();
        if (&own.end, &own.exception) != (&judge.end, &judge.exception) {
            report.push_str(&format!("{} {}, on .NET {} {}\n", own.end, own.exception, judge.end, judge.exception));
        }
        if is_stable && own.stdout != judge.stdout {
            report.push_str("standard output differs (- .NET, + Saki)\n");
            report.push_str(&diff(&judge.stdout, &own.stdout, MAX_DIFF_LINES));
        }
        if report.is_empty() {
            return Verdict::Same;
        }
        Verdict::Differs(reason(&finished), report + &last_words(&finished))
    }

    /// What .NET does, kept in the file. Errors: it does not start.
    fn judge(&self, assembly: &Path, kept: &Path) -> Result<(bool, Judgement), String> {
        let first = self.run(assembly, &[], true)?;
        let (is_late, first) = (first.end == ProgramEnd::TimedOut, judgement_of(&first));
        // One that does not end in time is not in the baseline, whatever it writes.
        let is_stable = is_late || judgement_of(&self.run(assembly, &[], true)?).stdout == first.stdout;
        // Without it the next run asks .NET again.
        let _ = fs::write(kept, format!("{}\n{}", if is_stable { "stable" } else { "varies" }, first.text()));
        Ok((is_stable, first))
    }

    /// A row for each test method of a program of `mini`.
    pub fn methods(&self, unit: &Unit, assembly: &Path) -> Vec<Row> {
        let kept = assembly.with_file_name("judgement");
        let judge = match fs::read_to_string(&kept).ok() {
            Some(text) => text
                .lines()
                .filter_map(|line| line.split_once('\t'))
                .map(|(name, end)| (name.to_owned(), end.to_owned()))
                .collect(),
            None => {
                let ends = self.method_ends(assembly, true);
                let lines: String =
                    ends.iter().map(|(name, end)| format!("{name}\t{}\n", end.replace('\n', " "))).collect();
                let _ = fs::write(&kept, lines);
                ends
            }
        };
        if judge.is_empty() {
            // Its driver takes no options.
            return self.program(unit, assembly);
        }
        let own = self.method_ends(assembly, false);
        let row = |(name, end): (&String, &String)| {
            let verdict = match own.get(name).map(String::as_str) {
                _ if end != PASSED => Verdict::NotInBaseline(end.clone()),
                Some(PASSED) => Verdict::Same,
                Some(end) => Verdict::Differs(end.lines().next().unwrap_or_default().to_owned(), end.to_owned()),
                None => Verdict::Differs("was not run".to_owned(), String::new()),
            };
            (format!("{}:{name}", unit.name), verdict)
        };
        judge.iter().map(row).collect()
    }

    /// How each method ended: `PASSED`, or in words.
    fn method_ends(&self, assembly: &Path, is_peer: bool) -> BTreeMap<String, String> {
        let mut ends = BTreeMap::new();
        let mut all: Vec<String> = Vec::new();
        let mut words: Vec<String> = vec!["-v".to_owned()];
        for restart in 0..MAX_RESTARTS {
            let Ok(finished) = self.run(assembly, &words, is_peer) else { break };
            let stdout = String::from_utf8_lossy(&finished.stdout);
            let started: Vec<&str> = stdout
                .lines()
                .filter_map(|line| line.strip_prefix("Running '")?.split_once('\''))
                .map(|(name, _)| name)
                .collect();
            let failed: BTreeMap<&str, &str> = stdout.lines().filter_map(|line| line.split_once(" failed: ")).collect();
            let is_whole = stdout.contains("Regression tests: ");
            for (index, name) in started.iter().enumerate() {
                let end = match failed.get(name) {
                    Some(words) => (*words).to_owned(),
                    None if is_whole || index + 1 < started.len() => PASSED.to_owned(),
                    None => reason(&finished) + "\n" + &last_words(&finished),
                };
                ends.insert((*name).to_owned(), end);
            }
            if is_whole || started.is_empty() {
                break;
            }
            if restart == 0 {
                all = self.method_names(assembly);
            }
            let rest: Vec<&String> = all.iter().filter(|name| !ends.contains_key(*name)).collect();
            if rest.is_empty() {
                break;
            }
            words.truncate(1);
            words.extend(rest.into_iter().flat_map(|name| ["--run-only".to_owned(), name.clone()]));
        }
        ends
    }

    /// The names of the driver's methods: it skips, and names, all of those that it is told to exclude.
    fn method_names(&self, assembly: &Path) -> Vec<String> {
        // Every name ends with the empty string.
        let words = ["-v", "--exclude-test", ""].map(str::to_owned);
        let Ok(finished) = self.run(assembly, &words, true) else { return Vec::new() };
        let stdout = String::from_utf8_lossy(&finished.stdout);
        let skipped = stdout.lines().filter_map(|line| line.strip_prefix("Skipping '")?.split_once('\''));
        skipped.map(|(name, _)| name.to_owned()).collect()
    }

    /// Runs the assembly in its folder.
    fn run(&self, assembly: &Path, arguments: &[String], is_peer: bool) -> Result<Finished, String> {
        let mut argv = self.net.command(self.saki, is_peer);
        argv.push(assembly.display().to_string());
        argv.extend_from_slice(arguments);
        let mut environment: Vec<(String, String)> =
            [("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("TERM", "dumb"), crate::programs::INVARIANT]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec();
        environment.push(("LD_LIBRARY_PATH".to_owned(), self.native.display().to_string()));
        environment.push(match &self.code_cache {
            Some(folder) => ("XDG_CACHE_HOME".to_owned(), folder.display().to_string()),
            None => ("SAKI_NO_CACHE".to_owned(), "true".to_owned()),
        });
        if let Some(mode) = self.threads {
            environment.push(("SAKI_THREADS".to_owned(), mode.to_owned()));
        }
        process::run(&Job {
            argv: &argv,
            directory: assembly.parent().unwrap_or(Path::new(".")),
            environment: &environment,
            stdin: b"",
            timeout: self.timeout,
        })
    }
}

/// How a method that returns what its name says ends.
const PASSED: &str = "pass";

/// An abort is the same whether a shell or the system says so.
fn judgement_of(finished: &Finished) -> Judgement {
    let mut judgement = Judgement::of(finished);
    if finished.end == ProgramEnd::Signal(libc::SIGABRT) {
        judgement.end = ProgramEnd::Exit(ABORTED).to_string();
    }
    judgement
}

fn read_judgement(path: &Path) -> Option<(bool, Judgement)> {
    let text = fs::read_to_string(path).ok()?;
    let (first, rest) = text.split_once('\n')?;
    Some((first == "stable", Judgement::parse(rest)?))
}

fn last_words(finished: &Finished) -> String {
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let lines = stderr.lines().filter(|line| !line.trim().is_empty()).take(6);
    lines.map(|line| format!("    | {line}\n")).collect()
}
