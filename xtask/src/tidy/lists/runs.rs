//! Runs of six lines or more that stand in two places, the same to the letter but for indentation.
//!
//! Comments and blank lines do not count, nor do imports and attributes. A run must have some weight: six closing
//! braces, or six short rows of a table, are alike by chance. Files of two processor architectures
//! with the same path but for that implement one interface, and may be alike.

use super::{Place, Program};
use std::collections::HashMap;
use std::path::Path;

/// A shorter run is alike by chance.
const MIN_LINES: usize = 6;
/// Letters and digits in the first `MIN_LINES` lines: fewer are closing braces with a call between them.
const MIN_LETTERS: usize = 60;
/// A line with fewer letters and digits says little.
const TELLING_LETTERS: usize = 8;
/// So many of the first `MIN_LINES` lines must say something.
const MIN_TELLING_LINES: usize = 4;

/// A line that counts: its index in the file and its text.
type Row<'a> = (usize, &'a str);

/// The second place of each run, the third of those that have three, and so on.
pub fn places<'a>(programs: &'a [Program<'a>]) -> Vec<Place<'a>> {
    let rows: Vec<Vec<Row<'_>>> = programs.iter().map(rows).collect();
    let mut firsts: HashMap<Vec<&str>, (usize, usize)> = HashMap::new();
    let mut found = Vec::new();
    for (file, program) in programs.iter().enumerate() {
        // Where the window above was found before, and where its run began.
        let mut run: Option<(usize, usize)> = None;
        let mut end_of_run = 0;
        for start in 0..(rows[file].len() + 1).saturating_sub(MIN_LINES) {
            let window: Vec<&str> = rows[file][start..start + MIN_LINES].iter().map(|(_, text)| *text).collect();
            let earlier = firsts.get(&window).copied();
            let is_apart = earlier.is_some_and(|(other, at)| match other == file {
                true => at + MIN_LINES <= start,
                false => !are_counterparts(program.path, programs[other].path),
            });
            let Some(earlier) = earlier.filter(|_| is_apart) else {
                firsts.entry(window).or_insert((file, start));
                run = None;
                continue;
            };
            let continues = run.is_some_and(|(other, at)| earlier == (other, at + 1));
            run = Some(earlier);
            if continues || start < end_of_run {
                end_of_run = start + MIN_LINES;
            } else if is_heavy(&window) {
                end_of_run = start + MIN_LINES;
                let (other, at) = earlier;
                let place = format!("as {}:{}", programs[other].path.display(), rows[other][at].0 + 1);
                found.push(program.place(rows[file][start].0, place));
            } else {
                run = None;
            }
        }
    }
    found
}

/// Whether the two are files of two processor architectures, and implement one interface.
fn are_counterparts(one: &Path, other: &Path) -> bool {
    let neutral = |path: &Path| path.to_string_lossy().replace("aarch64", "x86_64");
    neutral(one) == neutral(other)
}

/// The lines that count.
fn rows<'a>(program: &'a Program<'_>) -> Vec<Row<'a>> {
    let mut in_use = false;
    let mut found = Vec::new();
    for (index, line) in program.lines.iter().enumerate() {
        let code = line.code.trim();
        in_use |= code.starts_with("use ") || code.starts_with("pub use ") || code.starts_with("pub(crate) use ");
        if !in_use && !line.is_test && line.is_statement() {
            let text = line.text.trim();
            found.push((index, text.strip_suffix(line.comment.trim()).unwrap_or(text).trim_end()));
        }
        in_use &= !code.ends_with(';');
    }
    found
}

fn is_heavy(window: &[&str]) -> bool {
    let letters: Vec<usize> = window.iter().map(|line| line.chars().filter(|c| c.is_alphanumeric()).count()).collect();
    letters.iter().sum::<usize>() >= MIN_LETTERS
        && letters.iter().filter(|count| **count >= TELLING_LETTERS).count() >= MIN_TELLING_LINES
}

#[cfg(test)]
mod tests {
    use super::super::places_in;

    const RUN: &str = "let first_number = compute(one);\nlet second_number = compute(two);\nif first_number > second_number {\n    \
                       report(first_number);\n}\nlet third_number = compute(three);\nlet fourth_number = compute(four);\n";

    fn check(a: &str, b: &str, expected: &[&str]) {
        let found = places_in("runs", &[("crates/a/src/x.rs", a), ("crates/b/src/y.rs", b)]);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_run_is_found_once() {
        let indented = format!("fn f() {{\n    {}}}", RUN.replace('\n', " // why\n\n    "));
        check(RUN, &indented, &["crates/b/src/y.rs:2 as crates/a/src/x.rs:1"]);
        check(
            RUN,
            &format!("{RUN}other();\n{RUN}"),
            &["crates/b/src/y.rs:1 as crates/a/src/x.rs:1", "crates/b/src/y.rs:9 as crates/a/src/x.rs:1"],
        );
        check(&format!("{RUN}other();\n{RUN}"), "", &["crates/a/src/x.rs:9 as crates/a/src/x.rs:1"]);
    }

    #[test]
    fn architectures_have_one_interface() {
        let found = |path| places_in("runs", &[("crates/a/src/aarch64/x.rs", RUN), (path, RUN)]);
        assert!(found("crates/a/src/x86_64/x.rs").is_empty());
        assert_eq!(found("crates/a/src/x86_64/y.rs").len(), 1);
    }

    #[test]
    fn what_is_alike_by_chance() {
        let shorter: String = RUN.lines().take(5).map(|line| format!("{line}\n")).collect();
        check(RUN, &shorter, &[]);
        check(RUN, &format!("#[cfg(test)]\nmod tests {{\n{RUN}}}\n"), &[]);
        check(RUN, &RUN.replace("three", "zero"), &[]);
        let braces = "a(1);\n}\n}\n}\n}\n}\n}\n}\n";
        check(braces, braces, &[]);
        let uses: String = (0..9).map(|n| format!("use saki_somewhere::module_{n}::function;\n")).collect();
        check(&uses, &uses, &[]);
        let same = "push_something_long(value, to_there);\n".repeat(9);
        check(&same, "", &[]);
    }
}
