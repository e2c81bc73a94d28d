//! Names of public types that three crates or more define: a reader who knows one of them takes another for it.

use super::{Place, Program};
use std::collections::{BTreeMap, BTreeSet};

/// The crate for hosts in Rust: its names are those that its users expect, and no other crate names them.
const FACE: &str = "saki";

/// So many crates make a name count.
const CRATES: usize = 3;

/// Each definition of a type whose name several crates define; one for each crate.
pub fn places<'a>(programs: &'a [Program<'a>]) -> Vec<Place<'a>> {
    let mut by_name: BTreeMap<&str, Vec<Place<'a>>> = BTreeMap::new();
    for program in programs.iter().filter(|program| program.krate != FACE) {
        for (index, line) in program.lines.iter().enumerate().filter(|(_, line)| !line.is_test) {
            if let Some(name) = defined(&line.code) {
                by_name.entry(name).or_default().push(program.place(index, name.to_owned()));
            }
        }
    }
    let mut found = Vec::new();
    for places in by_name.into_values() {
        let mut crates = BTreeSet::new();
        let firsts: Vec<Place<'a>> = places.into_iter().filter(|place| crates.insert(place.krate)).collect();
        if firsts.len() >= CRATES {
            found.extend(firsts);
        }
    }
    found
}

/// The name of the type that the line defines for others than its file.
fn defined(code: &str) -> Option<&str> {
    let rest = code.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(inner) => inner.split_once(')')?.1,
        None => rest,
    };
    let mut words = rest.split_whitespace();
    matches!(words.next()?, "struct" | "enum" | "trait" | "type").then_some(())?;
    words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[cfg(test)]
mod tests {
    use super::super::places_in;

    #[test]
    fn names_of_three_crates_count() {
        let found = places_in(
            "names",
            &[
                ("crates/a/src/x.rs", "pub struct Entry<T> { a: T }\npub enum Kind {}"),
                ("crates/b/src/x.rs", "pub(crate) enum Entry {}\npub trait Kind {}"),
                ("crates/b/src/y.rs", "pub type Entry = u8;"),
                (
                    "crates/c/src/x.rs",
                    "    pub(super) type Entry = u8;\nstruct Kind;\n#[cfg(test)]\nmod t {\npub struct Kind;\n}",
                ),
            ],
        );
        assert_eq!(found, ["crates/a/src/x.rs:1 Entry", "crates/b/src/x.rs:1 Entry", "crates/c/src/x.rs:1 Entry"]);
    }
}
