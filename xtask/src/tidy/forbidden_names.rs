//! Files that must not name certain items, since an invariant of their subject forbids what these items stand for.
//!
//! Left out: tests in such a file, and what a file reaches through the functions that it calls.

use super::findings::{Findings, SourceFile};
use super::rust_text::tokens;
use std::path::Path;

/// A file, the names that it must not contain, and why.
struct Rule {
    file: &'static str,
    names: &'static [&'static str],
    reason: &'static str,
}

const RULES: [Rule; 2] = [
    Rule {
        file: "crates/runtime/src/exec/compile/job.rs",
        names: &["CurrentThread", "Managed", "Thrown", "exceptions"],
        reason: "a compilation is executed on any thread and throws no managed exception",
    },
    Rule {
        file: "crates/runtime/src/exec/compile/facts.rs",
        names: &["CurrentThread", "Managed", "Thrown", "exceptions"],
        reason: "facts are asked for on any thread",
    },
];

/// Checks each file that `RULES` names.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    for rule in &RULES {
        let Some(file) = files.iter().find(|file| file.path == Path::new(rule.file)) else {
            findings.error(Path::new(rule.file), 1, "a rule of tidy names this file, which is not there".to_owned());
            continue;
        };
        for (line, name) in uses(&file.text, rule.names) {
            findings.error(&file.path, line, format!("{name} is named here: {}", rule.reason));
        }
    }
}

/// Line and name of each use before the file's tests.
fn uses<'a>(text: &'a str, names: &[&str]) -> Vec<(usize, &'a str)> {
    let program = text.find("#[cfg(test)]").map_or(text, |tests| &text[..tests]);
    let found = tokens(program).into_iter().filter(|token| names.contains(&token.text));
    found.map(|token| (token.line, token.text)).collect()
}

#[cfg(test)]
mod tests {
    use super::uses;

    #[test]
    fn names_count_in_the_program_alone() {
        let text = "use crate::thread::CurrentThread;\n// Managed\nfn f() -> Managed<()> {}\n#[cfg(test)]\nmod tests { use Thrown; }";
        assert_eq!(uses(text, &["CurrentThread", "Managed", "Thrown"]), [(1, "CurrentThread"), (3, "Managed")]);
        assert_eq!(uses("struct ManagedThread;", &["Managed"]), []);
    }
}
