//! `cargo xtask models`: shows that no model of an atomic protocol is vacuous.
//!
//! `tests/models/weakened.txt` lists changes to the sources after which a named model must fail: orderings weakened,
//! read-modify-writes torn apart, steps swapped. Each is made in a copy of the sources, where the one model then runs.
//!
//! Invariant: the sources themselves are never written. A change that no longer fits the sources is a failure, so that
//! the list follows them. Left out: the models as they are, which `./x models` runs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use regex::Regex;

use crate::process::{self, Job, ProgramEnd};
use crate::tool::Outcome;

const LIST: &str = "tests/models/weakened.txt";
/// Compiling and exploring. A weakened model usually fails at once; one that explores for longer than this is not seen
/// to fail.
const TIMEOUT: Duration = Duration::from_secs(300);
/// What the copy needs to build.
const COPIED: &[&str] = &["Cargo.toml", "Cargo.lock", ".cargo", "crates", "third_party", "xtask"];

#[derive(clap::Args)]
pub struct Options {
    /// Try only what matches this regular expression: a description, a file or a model.
    #[arg(long, value_name = "RE")]
    filter: Option<Regex>,
}

/// One entry of the list.
#[derive(Debug, Default, PartialEq)]
struct Weakening {
    what: String,
    file: String,
    model: String,
    /// Lines to find and what replaces them.
    changes: Vec<(Vec<String>, Vec<String>)>,
}

/// Tries the list and prints a line for each entry. Errors: an unreadable list, a copy that cannot be made.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let text = fs::read_to_string(root.join(LIST)).map_err(|e| format!("{LIST}: {e}"))?;
    let copy = root.join("target/models/source");
    copy_sources(root, &copy)?;
    let (mut passed, mut failed) = (0, 0);
    for weakening in parse(&text)? {
        let is_wanted =
            |re: &Regex| [&weakening.what, &weakening.file, &weakening.model].iter().any(|text| re.is_match(text));
        if options.filter.as_ref().is_some_and(|re| !is_wanted(re)) {
            continue;
        }
        match try_weakening(root, &copy, &weakening) {
            Ok(()) => passed += 1,
            Err(reason) => {
                failed += 1;
                println!("FAILED {}: {} ({})\n  {reason}", weakening.model, weakening.what, weakening.file);
            }
        }
    }
    println!("weakenings: {passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// Makes the change in the copy, runs the model, takes the change back. Errors: the reason why the model is not seen to
/// fail.
fn try_weakening(root: &Path, copy: &Path, weakening: &Weakening) -> Result<(), String> {
    let (original, changed) = weaken(root, weakening)?;
    let target = copy.join(&weakening.file);
    fs::write(&target, changed).map_err(|e| e.to_string())?;
    let outcome = run_model(root, copy, weakening);
    fs::write(&target, original).map_err(|e| e.to_string())?;
    outcome
}

/// The file's text, and the weakened text. Errors: the file or the lines are not there.
fn weaken(root: &Path, weakening: &Weakening) -> Result<(String, String), String> {
    let original = fs::read_to_string(root.join(&weakening.file)).map_err(|e| e.to_string())?;
    let changed =
        weakening.changes.iter().try_fold(original.clone(), |text, (from, to)| replace_lines(&text, from, to))?;
    Ok((original, changed))
}

fn run_model(root: &Path, copy: &Path, weakening: &Weakening) -> Result<(), String> {
    let package = weakening.file.split('/').nth(1).ok_or("the file is not in crates/")?;
    let package = format!("saki-{package}");
    let argv = ["cargo", "test", "--quiet", "--release", "--lib", "--package", &package, "--", &weakening.model];
    let build = root.join("target/models/build").display().to_string();
    let environment = [
        ("RUSTFLAGS", "--cfg loom -Awarnings"),
        ("CARGO_TARGET_DIR", &build),
        // Linking takes longer than most models.
        ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let job = Job {
        argv: &argv.map(str::to_owned),
        directory: copy,
        environment: &environment,
        stdin: b"",
        timeout: TIMEOUT,
    };
    let done = process::run(&job)?;
    let output = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    let failing = output.lines().find(|l| l.starts_with("test ") && l.ends_with("FAILED") || l.contains("panicked at"));
    match (done.end, failing) {
        (ProgramEnd::Exit(0), _) if !output.contains("1 passed") => Err("there is no such model".to_owned()),
        (ProgramEnd::Exit(0), _) => Err("the model passes".to_owned()),
        (ProgramEnd::TimedOut, _) => Err(format!("no failure within {} s", TIMEOUT.as_secs())),
        (_, Some(_)) => {
            println!("ok {}: {}", weakening.model, weakening.what);
            Ok(())
        }
        // A panic while panicking ends the process without a report: the model has failed.
        (ProgramEnd::Signal(_), None) if output.contains("running 1 test") => {
            println!("ok {}: {} (aborted)", weakening.model, weakening.what);
            Ok(())
        }
        (end, None) => Err(format!("{end}: {}", output.lines().take(12).collect::<Vec<_>>().join("\n  "))),
    }
}

/// Replaces the one run of lines that equals `from`, leading white space aside. Errors: there is none, or more than
/// one.
fn replace_lines(text: &str, from: &[String], to: &[String]) -> Result<String, String> {
    let lines: Vec<&str> = text.lines().collect();
    let places: Vec<usize> = (0..(lines.len() + 1).saturating_sub(from.len()))
        .filter(|&at| from.iter().zip(&lines[at..]).all(|(wanted, line)| line.trim() == wanted.trim()))
        .collect();
    let [at] = places[..] else {
        return Err(format!("found {} times instead of once: {}", places.len(), from.join(" / ")));
    };
    let to = to.iter().map(String::as_str);
    let changed: Vec<&str> =
        lines[..at].iter().copied().chain(to).chain(lines[at + from.len()..].iter().copied()).collect();
    Ok(changed.join("\n") + "\n")
}

/// Entries are separated by blank lines. Errors: an entry without a description, file, model or change.
fn parse(text: &str) -> Result<Vec<Weakening>, String> {
    let mut all = Vec::new();
    // The first paragraph describes the format.
    for paragraph in text.split("\n\n").skip(1) {
        let mut entry = Weakening::default();
        for line in paragraph.lines() {
            match (line.get(..1), line.get(1..)) {
                (Some("#"), Some(what)) => entry.what = what.trim().to_owned(),
                (Some("-"), Some(line)) => match entry.changes.last_mut() {
                    Some((from, to)) if to.is_empty() => from.push(line.to_owned()),
                    _ => entry.changes.push((vec![line.to_owned()], Vec::new())),
                },
                (Some("+"), Some(line)) => {
                    entry.changes.last_mut().ok_or(format!("{LIST}: + without -: {line}"))?.1.push(line.to_owned());
                }
                _ if entry.file.is_empty() => entry.file = line.to_owned(),
                _ => entry.model = line.to_owned(),
            }
        }
        if entry.what.is_empty() || entry.model.is_empty() || entry.changes.is_empty() {
            return Err(format!("{LIST}: incomplete entry:\n{paragraph}"));
        }
        all.push(entry);
    }
    Ok(all)
}

/// Brings the copy up to date. Files that are the same stay untouched, so that only what changed is compiled again.
fn copy_sources(root: &Path, copy: &Path) -> Result<(), String> {
    fs::create_dir_all(copy).map_err(|e| format!("{}: {e}", copy.display()))?;
    for name in COPIED {
        let from = root.join(name);
        if from.exists() {
            copy_tree(&from, &copy.join(name)).map_err(|e| format!("copying {name}: {e}"))?;
        }
    }
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        let new = fs::read(from)?;
        return if fs::read(to).is_ok_and(|old| old == new) { Ok(()) } else { fs::write(to, new) };
    }
    fs::create_dir_all(to)?;
    let names = |folder: &Path| -> std::io::Result<Vec<_>> {
        fs::read_dir(folder)?.map(|entry| entry.map(|e| e.file_name())).collect()
    };
    let wanted = names(from)?;
    for stale in names(to)?.into_iter().filter(|name| !wanted.contains(name)) {
        let stale = to.join(stale);
        if stale.is_dir() { fs::remove_dir_all(stale)? } else { fs::remove_file(stale)? }
    }
    wanted.iter().try_for_each(|name| copy_tree(&from.join(name), &to.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry whose lines have changed in the sources would be noticed by nobody until the weakened models are next
    /// tried.
    #[test]
    fn the_lines_of_every_entry_are_in_the_sources() {
        let root = crate::tool::repository_root();
        let list = parse(&fs::read_to_string(root.join(LIST)).unwrap()).unwrap();
        let stale: Vec<String> = list
            .iter()
            .filter_map(|entry| Some(format!("{}: {}: {}", entry.file, entry.what, weaken(&root, entry).err()?)))
            .collect();
        assert!(stale.is_empty(), "{}", stale.join("\n"));
    }

    #[test]
    fn entries_and_replacement() {
        let text = "# format\n\n# torn\ncrates/x/src/y.rs\nmodel_y\n-a\n-b\n+c\n-d\n+e\n";
        let [entry] = &parse(text).unwrap()[..] else { panic!("one entry") };
        assert_eq!((&*entry.what, &*entry.file, &*entry.model), ("torn", "crates/x/src/y.rs", "model_y"));
        assert_eq!(entry.changes.len(), 2);
        let (from, to) = &entry.changes[0];
        assert_eq!(replace_lines("x\n  a\n\tb\ny\n", from, to).unwrap(), "x\nc\ny\n");
        assert!(replace_lines("a\nb\na\nb\n", from, to).unwrap_err().contains("2 times"));
        assert!(parse("x\n\n# what\nfile\n").is_err());
    }
}
