//! `cargo xtask programs --net`: the programs of the other areas, compiled for modern .NET and run by Saki and by .NET
//! 9, whose standard output and end decide.
//!
//! What expected files say does not count, for they hold for Mono's class libraries. Programs that do not compile
//! against .NET are named by `LIST`, with the class of the
//! first reason: each must still fail to compile, and one that is not listed must compile, so the list may only shrink.
//! Invariant: when both runs end by an exception that nothing catches, it is one of the same type, so a call that Saki
//! lacks never counts as what .NET does not support.
//! A header `net: skip REASON` leaves a program out. Programs that are known to differ are named by `DIFFERENCES`, each
//! with the modes in which it does and the cause: each must still differ there, and no other may, so the list may only
//! shrink. What .NET does is kept beside a program's assembly; compiling it anew removes that.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{MAX_DIFF_LINES, Options, Program, Suite, diff, each};
use crate::process::{Finished, ProgramEnd};
use crate::tool::Outcome;

/// The programs that do not compile against .NET: `AREA/NAME CLASS`.
const LIST: &str = "tests/programs/left-out-of-net.list";

/// The programs that do the same on Saki as on .NET only in some modes, or never: `AREA/NAME MODES CAUSE`.
const DIFFERENCES: &str = "tests/programs/net-differences.list";

/// The words of MODES: `all`, or some of the others with commas between them. `stress` is GC stress with any threads.
const MODES: [&str; 5] = ["all", "native", "green", "mn", "stress"];

/// Of a cause `varies: ...`: the program may do the same, too.
const VARIES: &str = "varies";

/// What came of one program.
enum Verdict {
    /// With the seconds it ran on Saki.
    Same(f64),
    /// The same, and that is an exception that nothing catches.
    SameException,
    /// A short reason, which programs with one cause share, and the report.
    Differs(String, String),
    /// .NET itself does not end in time, or cannot be started.
    Unjudged(String),
}

/// Compiles, runs and compares, and prints the report. Errors: an unreadable list, or a compiler that does not start.
pub(super) fn run(root: &Path, mut programs: Vec<Program>, suite: &Suite<'_>) -> Outcome {
    let net = suite.net.as_ref().ok_or("there is no .NET")?;
    programs.retain(|p| p.source.extension().is_some_and(|e| e == "cs"));
    let all = programs.len();
    programs.retain(|p| p.header.net_skip.is_none());
    let skipped = all - programs.len();
    let output_root = root.join("target/programs-net");
    fs::create_dir_all(&output_root).map_err(|e| format!("{}: {e}", output_root.display()))?;
    let made = net.compile(&programs.iter().collect::<Vec<_>>(), &suite.compilers, &output_root)?;
    let listed = read_list(&root.join(LIST))?;
    let known = known_differences(&root.join(DIFFERENCES), suite.options)?;
    let (mut failed, mut left_out) = (Vec::new(), BTreeMap::<&str, usize>::new());
    programs.retain(|program| match (&made[&program.name], listed.get(&program.name)) {
        (Ok(_), None) => true,
        (Ok(_), Some(_)) => {
            println!("FAIL {}: compiles now; remove it from {LIST}", program.name);
            failed.push(program.name.clone());
            true
        }
        (Err(_), Some(class)) => {
            *left_out.entry(class).or_default() += 1;
            false
        }
        (Err(report), None) => {
            println!("FAIL {}: {report}\n{} {}", program.name, program.name, class_of(report));
            failed.push(program.name.clone());
            false
        }
    });
    let mut reasons = BTreeMap::<String, Vec<String>>::new();
    let (mut passed, mut exceptions, mut unjudged, mut differing) = (0, 0, Vec::new(), Vec::new());
    // A program that is known to differ and does not is not kept on the list.
    let check_same = |name: &String, failed: &mut Vec<String>| {
        if let Some(cause) = known.get(name).filter(|cause| !cause.starts_with(VARIES)) {
            println!("FAIL {name}: does the same as on .NET now; remove it from {DIFFERENCES} ({cause})");
            failed.push(name.clone());
        }
    };
    if !suite.options.compile_only {
        each(
            programs,
            suite.options,
            |program| compare(suite, program, made[&program.name].as_ref().map_or(Path::new(""), |path| path)),
            |name, verdict| match verdict {
                Verdict::Same(seconds) => {
                    passed += 1;
                    check_same(&name, &mut failed);
                    if suite.options.verbose {
                        println!("ok   {name} ({seconds:.2} s)");
                    }
                }
                Verdict::SameException => {
                    passed += 1;
                    exceptions += 1;
                    check_same(&name, &mut failed);
                }
                Verdict::Differs(..) if known.contains_key(&name) => differing.push(name),
                Verdict::Differs(reason, report) => {
                    println!("FAIL {name}: {report}");
                    reasons.entry(reason).or_default().push(name.clone());
                    failed.push(name);
                }
                Verdict::Unjudged(reason) => unjudged.push(format!("{name} ({reason})")),
            },
        );
    }
    failed.sort();
    failed.dedup();
    report_reasons(&reasons);
    let classes: Vec<String> = left_out.iter().map(|(class, count)| format!("{class} {count}")).collect();
    println!(
        "left out, since they do not compile for .NET: {} ({})",
        left_out.values().sum::<usize>(),
        classes.join(", ")
    );
    if skipped > 0 {
        println!("left out by their headers: {skipped}");
    }
    if !unjudged.is_empty() {
        unjudged.sort();
        println!("not judged, since .NET does not end well: {}", unjudged.join(" "));
    }
    if !differing.is_empty() {
        differing.sort();
        println!("known to differ ({DIFFERENCES}): {}", differing.join(" "));
    }
    println!("{exceptions} of those that pass end by the same exception as on .NET");
    if !failed.is_empty() {
        println!("failed: {}", failed.join(" "));
    }
    println!("net: {passed} passed, {} known to differ, {} failed", differing.len(), failed.len());
    Ok(failed.is_empty() && passed > 0)
}

/// The causes of the differences that are known for this run's modes, by program. Errors: an unreadable list, a line
/// that is not `AREA/NAME MODES CAUSE`, or a program that is not there.
fn known_differences(path: &Path, options: &Options) -> Result<HashMap<String, String>, String> {
    let threads = options.threads.as_deref().unwrap_or("native");
    let mut known = HashMap::new();
    for (name, rest) in read_list(path)? {
        let (modes, cause) = modes_and_cause(&rest).ok_or_else(|| format!("{}: {name} {rest}", path.display()))?;
        if !path.with_file_name(&name).with_extension("cs").exists() {
            return Err(format!("{}: there is no program {name}", path.display()));
        }
        if modes.iter().any(|&mode| mode == "all" || mode == threads || mode == "stress" && options.stress.is_some()) {
            known.insert(name, cause.to_owned());
        }
    }
    Ok(known)
}

/// What a line of `DIFFERENCES` says behind the name. None: an unknown mode, or no cause.
fn modes_and_cause(text: &str) -> Option<(Vec<&str>, &str)> {
    let (modes, cause) = text.split_once(' ')?;
    let modes: Vec<&str> = modes.split(',').collect();
    modes.iter().all(|mode| MODES.contains(mode)).then_some((modes, cause.trim()))
}

/// Prints the causes with their programs, those with the most first.
pub fn report_reasons(reasons: &BTreeMap<String, Vec<String>>) {
    let mut rows: Vec<_> = reasons.iter().collect();
    rows.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    for (reason, names) in rows {
        println!("{:4} {reason}: {}", names.len(), names.join(" "));
    }
}

/// Runs the program on both and compares.
fn compare(suite: &Suite<'_>, program: &Program, assembly: &Path) -> Verdict {
    let run = |is_peer| {
        let command = suite.net.as_ref().map(|net| net.command(&suite.saki, is_peer)).unwrap_or_default();
        suite.execute(command, program, assembly, None)
    };
    let kept = assembly.with_file_name("judgement");
    let judge = match Judgement::read(&kept) {
        Some(judge) => judge,
        None => match run(true) {
            Ok(finished) if finished.end == ProgramEnd::TimedOut => return Verdict::Unjudged("timed out".to_owned()),
            Ok(finished) => {
                let judge = Judgement::of(&finished);
                // Without it the next run asks .NET again.
                let _ = fs::write(&kept, judge.text());
                judge
            }
            Err(report) => return Verdict::Unjudged(report),
        },
    };
    let finished = match run(false) {
        Ok(finished) => finished,
        Err(report) => return Verdict::Differs("does not start".to_owned(), report),
    };
    let own = Judgement::of(&finished);
    if own == judge {
        return if judge.exception.is_empty() { Verdict::Same(seconds(finished.wall)) } else { Verdict::SameException };
    }
    let mut report = String::new();
    if (&own.end, &own.exception) != (&judge.end, &judge.exception) {
        report.push_str(&format!("{} {}, on .NET {} {}\n", own.end, own.exception, judge.end, judge.exception));
    }
    if own.stdout != judge.stdout {
        report.push_str("standard output differs (- .NET, + Saki)\n");
        report.push_str(&diff::diff(&judge.stdout, &own.stdout, MAX_DIFF_LINES));
    }
    let stderr = String::from_utf8_lossy(&finished.stderr);
    for line in stderr.lines().filter(|line| !line.trim().is_empty()).take(4) {
        report.push_str(&format!("    | {line}\n"));
    }
    Verdict::Differs(reason(&finished), report.trim_end().to_owned())
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

/// What is compared of a run.
#[derive(PartialEq, Eq)]
pub struct Judgement {
    pub end: String,
    /// The type of the exception that ended the program; otherwise empty.
    pub exception: String,
    pub stdout: String,
}

impl Judgement {
    /// What the run shows.
    pub fn of(finished: &Finished) -> Judgement {
        let stderr = String::from_utf8_lossy(&finished.stderr);
        let exception = unhandled(&stderr).and_then(|text| text.split([':', ' ', '\n']).next()).unwrap_or_default();
        // The file of a run has one line for each of the first two.
        Judgement {
            end: finished.end.to_string(),
            exception: exception.to_owned(),
            stdout: String::from_utf8_lossy(&finished.stdout).into_owned(),
        }
    }

    /// The lines that `read` takes apart.
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}", self.end, self.exception, self.stdout)
    }

    /// None: there is no such file.
    pub fn read(path: &Path) -> Option<Judgement> {
        Judgement::parse(&fs::read_to_string(path).ok()?)
    }

    /// None: it is not what `text` gives.
    pub fn parse(text: &str) -> Option<Judgement> {
        let (end, rest) = text.split_once('\n')?;
        let (exception, stdout) = rest.split_once('\n')?;
        Some(Judgement { end: end.to_owned(), exception: exception.to_owned(), stdout: stdout.to_owned() })
    }
}

/// What standard error says of the exception that nothing caught, from its type on.
fn unhandled(stderr: &str) -> Option<&str> {
    let (_, text) =
        stderr.split_once("Unhandled exception. ").or_else(|| stderr.split_once("Unhandled Exception:\n"))?;
    Some(text)
}

/// Why Saki's run ended otherwise, in words that programs with one cause share: the call that is missing, else where it
/// crashed or failed, else the exception,
/// else the end.
pub fn reason(finished: &Finished) -> String {
    let (stdout, stderr) = (String::from_utf8_lossy(&finished.stdout), String::from_utf8_lossy(&finished.stderr));
    for text in [&stderr, &stdout] {
        if let Some((_, rest)) = text.split_once("NotImplementedException: ") {
            return rest.lines().next().unwrap_or_default().chars().take(120).collect();
        }
    }
    let crash = stderr.lines().skip_while(|line| !line.starts_with("saki: ")).collect::<Vec<_>>();
    match (unhandled(&stderr), finished.end) {
        (_, ProgramEnd::TimedOut) => "timed out".to_owned(),
        // Addresses differ from run to run; the innermost frame that has a name says where it is.
        (None, ProgramEnd::Signal(number)) if !crash.is_empty() => {
            let frame = crash.iter().find_map(|line| line.trim_start().strip_prefix("at ")).unwrap_or(crash[0]);
            format!("signal {number} in {}", frame.split(" [").next().unwrap_or(frame))
        }
        (Some(text), _) => {
            // What reflection, a class initialiser or a task wraps is the cause.
            let innermost = text.lines().filter_map(|line| line.trim_start().strip_prefix("---> ")).next_back();
            innermost.or_else(|| text.lines().next()).unwrap_or_default().chars().take(120).collect()
        }
        (None, ProgramEnd::Signal(number)) => format!("killed by signal {number}"),
        (None, _) => "another result".to_owned(),
    }
}

/// The class of a program that does not compile, by the first error: what .NET or the language no longer has.
pub fn class_of(report: &str) -> &'static str {
    let code = report.split("error ").nth(1).and_then(|text| text.split(':').next()).unwrap_or_default();
    match code {
        "CS0246" | "CS0234" | "CS0103" | "CS1069" | "CS0400" => "absent-type",
        "CS1061" | "CS0117" | "CS1501" | "CS1729" | "CS0115" | "CS7036" | "CS1503" | "CS0534" => "absent-member",
        "CS0619" => "obsolete",
        "CS0012" => "il-library",
        _ => "language",
    }
}

/// `NAME CLASS` of each line, by name. Errors: an unreadable file, or a line without a class.
pub fn read_list(path: &Path) -> Result<HashMap<String, String>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, class) = line.split_once(' ').ok_or_else(|| format!("{}: no class: {line}", path.display()))?;
            Ok((name.to_owned(), class.trim().to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_modes_and_a_cause() {
        assert_eq!(modes_and_cause("green,mn reads hold"), Some((vec!["green", "mn"], "reads hold")));
        assert_eq!(modes_and_cause("all varies: it races"), Some((vec!["all"], "varies: it races")));
        assert_eq!(modes_and_cause("sometimes it races"), None);
        assert_eq!(modes_and_cause("all"), None);
    }
}
