//! Lists that may only shrink: what the house rules ask for and older code does not give everywhere.
//!
//! Each list has a ceiling in `LISTS`, a count over all crates. More is an error; less is a warning that asks for a
//! lower ceiling, so that what was won is kept. `cargo xtask tidy --counts` prints each crate's counts, `--places LIST`
//! the places. Only programs count: tests, models, benchmarks and examples do not, but their comment lines are measured
//! where they stand in a file of the program.
//!
//! Left out: whether a reason is true. A reader of the code judges that.

mod comments;
mod orderings;
mod runs;
mod type_names;

use super::findings::{Findings, SourceFile};
use super::rust_lines::{RustLine, lines};
use std::collections::BTreeMap;
use std::path::Path;

/// Name, ceiling, and what stands in the list. A merge of two branches takes the lower figures, or counts again.
#[rustfmt::skip]
const LISTS: [(&str, usize, &str); 7] = [
    ("trust", 59, "SAFETY comments that point to another comment or name only the caller"),
    ("orderings", 0, "orderings of atomics without a reason nearby or a table of states"),
    ("docs", 259, "pub items without documentation"),
    ("wide", 260, "comment lines over 120 columns"),
    ("runs", 18, "runs of six lines or more that stand elsewhere, too, to the letter"),
    ("as", 0, "comments that begin with \"As `y`\""),
    ("names", 3, "public types whose name three crates or more define"),
];

/// A file of a crate's program.
struct Program<'a> {
    krate: &'a str,
    path: &'a Path,
    lines: Vec<RustLine<'a>>,
}

/// Something that a list counts.
struct Place<'a> {
    krate: &'a str,
    path: &'a Path,
    /// From 1.
    line: usize,
    /// What is there, in a few words.
    what: String,
}

/// Checks each list's length.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    let programs = programs(files);
    for (name, ceiling, meaning) in LISTS {
        compare(name, ceiling, meaning, places(name, &programs).len(), findings);
    }
}

fn compare(name: &str, ceiling: usize, meaning: &str, count: usize, findings: &mut Findings) {
    let this = Path::new("xtask/src/tidy/lists.rs");
    if count > ceiling {
        let advice = format!("the list may only shrink (cargo xtask tidy --places {name})");
        findings.error(this, 1, format!("{count} {meaning}, {ceiling} are allowed: {advice}"));
    } else if count < ceiling {
        findings.warning(
            this,
            1,
            format!("{count} {meaning}: lower the ceiling of \"{name}\" from {ceiling} to {count}"),
        );
    }
}

/// Prints how long each list is, by crate.
pub fn print_counts(files: &[SourceFile]) {
    let programs = programs(files);
    let mut rows: BTreeMap<&str, [usize; LISTS.len()]> = BTreeMap::new();
    for (column, (name, _, _)) in LISTS.iter().enumerate() {
        for place in places(name, &programs) {
            rows.entry(place.krate).or_default()[column] += 1;
        }
    }
    let row = |name: &str, cells: [String; LISTS.len()]| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>10}")).collect();
        println!("{name:<10}{cells}");
    };
    row("crate", LISTS.map(|(name, _, _)| name.to_owned()));
    let mut total = [0; LISTS.len()];
    for (name, counts) in rows {
        row(name, counts.map(|count| count.to_string()));
        total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    row("all", total.map(|count| count.to_string()));
    row("ceiling", LISTS.map(|(_, ceiling, _)| ceiling.to_string()));
    println!();
    for (name, _, meaning) in LISTS {
        println!("{name:<10}{meaning}");
    }
}

/// Prints the places of one list. Errors: there is no such list.
pub fn print_places(files: &[SourceFile], list: &str) -> Result<(), String> {
    if !LISTS.iter().any(|(name, _, _)| *name == list) {
        let names = LISTS.map(|(name, _, _)| name).join(", ");
        return Err(format!("there is no list {list}; there are {names}"));
    }
    for place in places(list, &programs(files)) {
        println!("{}:{}: {}", place.path.display(), place.line, place.what);
    }
    Ok(())
}

fn places<'a>(list: &str, programs: &'a [Program<'a>]) -> Vec<Place<'a>> {
    match list {
        "trust" => by_line(programs, comments::trust),
        "orderings" => orderings::places(programs),
        "docs" => by_line(programs, comments::without_docs),
        "wide" => by_line(programs, comments::wide),
        "runs" => runs::places(programs),
        "as" => by_line(programs, comments::as_another),
        _ => type_names::places(programs),
    }
}

/// What `find` finds in one line of a file: it gets all lines and the index of one.
fn by_line<'a>(programs: &'a [Program<'a>], find: fn(&[RustLine<'_>], usize) -> Option<String>) -> Vec<Place<'a>> {
    let mut found = Vec::new();
    for program in programs {
        for index in 0..program.lines.len() {
            if let Some(what) = find(&program.lines, index) {
                found.push(program.place(index, what));
            }
        }
    }
    found
}

impl<'a> Program<'a> {
    fn place(&self, index: usize, what: String) -> Place<'a> {
        Place { krate: self.krate, path: self.path, line: index + 1, what }
    }
}

/// The files that count.
fn programs(files: &[SourceFile]) -> Vec<Program<'_>> {
    files
        .iter()
        .filter_map(|file| {
            let krate = crate_of(&file.path)?;
            let is_test =
                file.text.lines().any(|line| line.starts_with("#![cfg(test") || line.starts_with("#![cfg(loom"));
            (!is_test).then(|| Program { krate, path: &file.path, lines: lines(&file.text) })
        })
        .collect()
}

/// The crate to whose program the file belongs; None for tests and what is not in a `src` folder.
fn crate_of(path: &Path) -> Option<&str> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let (krate, rest) = match parts[..] {
        ["crates", krate, "src", ref rest @ ..] => (krate, rest),
        ["xtask", "src", ref rest @ ..] => ("xtask", rest),
        _ => return None,
    };
    const FOLDERS: [&str; 4] = ["test", "tests", "benches", "examples"];
    const FILES: [&str; 4] = ["test.rs", "tests.rs", "model.rs", "fixture.rs"];
    let is_test = rest.iter().any(|part| FOLDERS.contains(part) || FILES.contains(part) || part.ends_with("_tests.rs"));
    (!is_test).then_some(krate)
}

#[cfg(test)]
fn places_in(list: &str, sources: &[(&str, &str)]) -> Vec<String> {
    let file = |(path, text): &(&str, &str)| SourceFile { path: path.into(), text: (*text).to_owned() };
    let files: Vec<SourceFile> = sources.iter().map(file).collect();
    let programs = programs(&files);
    places(list, &programs).iter().map(|at| format!("{}:{} {}", at.path.display(), at.line, at.what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_may_only_shrink() {
        let check = |count, errors: &[&str], warnings: &[&str]| {
            let mut findings = Findings::default();
            compare("wide", 5, "long lines", count, &mut findings);
            let agrees = |found: &[String], wanted: &[&str]| {
                found.len() == wanted.len() && found.iter().zip(wanted).all(|(found, wanted)| found.contains(wanted))
            };
            assert!(agrees(&findings.errors, errors), "{:?}", findings.errors);
            assert!(agrees(&findings.warnings, warnings), "{:?}", findings.warnings);
        };
        check(6, &["6 long lines, 5 are allowed"], &[]);
        check(5, &[], &[]);
        check(4, &[], &["lower the ceiling of \"wide\" from 5 to 4"]);
    }

    #[test]
    fn programs_count_and_tests_do_not() {
        let check = |path: &str, expected: Option<&str>| assert_eq!(crate_of(Path::new(path)), expected, "{path}");
        check("crates/a/src/b/c.rs", Some("a"));
        check("xtask/src/main.rs", Some("xtask"));
        check("crates/a/src/b/model.rs", None);
        check("crates/a/src/tests/b.rs", None);
        check("crates/a/tests/b.rs", None);
        check("fuzz/src/b.rs", None);
    }
}
