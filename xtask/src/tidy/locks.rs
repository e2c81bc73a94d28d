//! Each lock of the machine has a rank: its type comes from `saki_base::locks`, and the table of ranks has a row for
//! it.
//!
//! Locks of the standard library and of outside crates, and locks without data, are for the files of `UNRANKED`, each
//! with the reason; the list may only shrink. A row of the table that names another file than that of its lock, or a
//! rank that two files give to their locks, is a finding. Left out: tests, models, benchmarks, examples and xtask;
//! cells that are filled once (`OnceLock`), whose waiting `order` does not see either.

use super::findings::{Findings, SourceFile};
use super::modules::machine_files;
use super::rust_text::{Token, tokens};
use std::collections::BTreeMap;
use std::path::Path;

/// The table of ranks.
const TABLE: &str = "crates/base/src/locks/rank.rs";

/// Files with locks that have no rank in their type, and why.
const UNRANKED: [(&str, &str); 12] = [
    ("crates/base/src/locks.rs", "makes ranked locks of them"),
    ("crates/spin/src/lib.rs", "the locks of MMTk, an outside crate, which are taken in its own order"),
    ("crates/sync/src/facade.rs", "loom's mutex, for models"),
    ("crates/sync/src/lib.rs", "exports the locks without data"),
    ("crates/sync/src/raw_lock.rs", "the lock without data itself"),
    ("crates/sync/src/raw_shared_lock.rs", "the shared lock without data itself"),
    ("crates/sync/src/short_mutex.rs", "makes a ranked mutex of it"),
    ("crates/sync/src/wait_word.rs", "loom's locks, for models"),
    ("crates/sync/src/word_locks.rs", "makes ranked locks of those without data"),
    ("crates/thread/src/blocking.rs", "waits for one that its owner ranks"),
    ("crates/thread/src/stop.rs", "the lock of the world, which tells its rank itself"),
    ("crates/types/src/lazy.rs", "the loader lock, which belongs to managed threads and tells its rank itself"),
];

/// Types of locks, and what waits with them.
const LOCKS: [&str; 10] = [
    "Barrier",
    "Condvar",
    "FairMutex",
    "Mutex",
    "RawMutex",
    "RawRwLock",
    "ReentrantLock",
    "ReentrantMutex",
    "RwLock",
    "ShardedLock",
];

/// Crates whose locks have no rank.
const OUTSIDE: [&str; 4] = ["crossbeam_utils", "loom", "parking_lot", "std"];

/// Checks that each lock has a rank, and that `UNRANKED` is true.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    check_with(files, &UNRANKED, findings);
}

fn check_with(files: &[SourceFile], unranked: &[(&str, &str)], findings: &mut Findings) {
    let this = Path::new("xtask/src/tidy/locks.rs");
    let mut owners: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    let mut rows = Vec::new();
    let mut unused: Vec<&str> = unranked.iter().map(|(file, _)| *file).collect();
    for file in machine_files(files) {
        let path = file.path.to_string_lossy().into_owned();
        let tokens = tokens(&file.text);
        if path == TABLE {
            rows = rows_of(&tokens);
            continue;
        }
        let found = foreign_locks(&tokens);
        if unranked.iter().any(|(file, _)| *file == path) {
            unused.retain(|file| *file != path || found.is_empty());
        } else {
            for (line, what) in found {
                findings.error(&file.path, line, format!("{what} has no rank: take it from saki_base::locks"));
            }
        }
        for (line, rank) in declared_ranks(&tokens) {
            owners.entry(rank.to_owned()).or_default().push((path.clone(), line));
        }
    }
    for file in unused {
        findings.error(this, 1, format!("{file} is listed, but has no lock without a rank (any more)"));
    }
    for (line, rank, file) in rows {
        match owners.remove(&rank).as_deref() {
            None => findings.error(Path::new(TABLE), line, format!("no lock has the rank {rank}")),
            Some(places) => {
                let wanted = format!("crates/{file}");
                for (path, line) in places.iter().filter(|(path, _)| *path != wanted) {
                    let message = format!("the table of ranks says that {rank} is a lock of {wanted}");
                    findings.error(Path::new(path), *line, message);
                }
            }
        }
    }
}

/// Line, rank and file of each row: `Name in "file", ...`.
fn rows_of(tokens: &[Token<'_>]) -> Vec<(usize, String, String)> {
    let row = |three: &[Token<'_>]| {
        let is_row = three[0].is_word() && three[1].text == "in" && three[2].text.starts_with('"');
        is_row.then(|| (three[0].line, three[0].text.to_owned(), three[2].text.trim_matches('"').to_owned()))
    };
    tokens.windows(3).filter_map(row).collect()
}

/// Line and name of each lock of an outside crate that is named by a path or imported, and of each lock without data.
fn foreign_locks(tokens: &[Token<'_>]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if matches!(token.text, "RawLock" | "RawSharedLock") {
            found.push((token.line, token.text.to_owned()));
        }
        if LOCKS.contains(&token.text)
            && let Some(outside) = first_of_path(tokens, index)
            && OUTSIDE.contains(&outside)
        {
            found.push((token.line, format!("{outside}'s {}", token.text)));
        }
    }
    found
}

/// The first word of the path that ends at `index`, perhaps in braces of a `use`.
fn first_of_path<'a>(tokens: &[Token<'a>], index: usize) -> Option<&'a str> {
    let mut at = index;
    let mut depth = 0;
    let mut first = None;
    while let Some(before) = at.checked_sub(1).map(|before| tokens[before]) {
        match before.text {
            "}" => depth += 1,
            "{" if depth > 0 => depth -= 1,
            // Siblings in the same braces, or in braces that are closed already.
            _ if depth > 0 => {}
            "::" | "{" | "," => {}
            _ if before.is_word() && tokens.get(at).is_some_and(|next| next.text == "::") => first = Some(before.text),
            // A sibling: `{OnceLock, Mutex}`.
            _ if before.is_word() && tokens.get(at).is_some_and(|next| next.text == ",") => {}
            _ => break,
        }
        at -= 1;
    }
    first
}

/// Line and name of each rank that a lock is declared with (`Mutex<rank::Name, ...>`), or that is told to `order`
/// (`check::<rank::Name>`). Types of guards have a lifetime before the rank.
fn declared_ranks<'a>(tokens: &[Token<'a>]) -> Vec<(usize, &'a str)> {
    let is_declared = |four: &&[Token<'a>]| four[0].text == "<" && four[1].text == "rank" && four[2].text == "::";
    tokens.windows(4).filter(is_declared).map(|four| (four[3].line, four[3].text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: (&str, &str) = (TABLE, "ranks! { /// What.\n A in \"a/src/b.rs\", over []; }");

    fn check_files(sources: &[(&str, &str)], unranked: &[(&str, &str)], expected: &[&str]) {
        let file = |(path, text): &(&str, &str)| SourceFile { path: path.into(), text: (*text).to_owned() };
        let roots = [("crates/a/src/lib.rs", "mod b; mod c;"), ("crates/base/src/lib.rs", "mod locks;")];
        let table = [("crates/base/src/locks.rs", "mod rank;"), ROW];
        let files: Vec<SourceFile> = roots.iter().chain(&table).chain(sources).map(file).collect();
        let mut findings = Findings::default();
        check_with(&files, unranked, &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{sources:?}: {:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    const LOCK: &str = "static X: Mutex<rank::A, u8> = Mutex::new(0);";

    #[test]
    fn locks_without_a_rank_are_found() {
        for (text, name) in [
            ("use std::sync::Mutex;", "std's Mutex"),
            ("use std::sync::{LazyLock, RwLock};", "std's RwLock"),
            ("use std::{cell::Cell, sync::{OnceLock, Condvar}};", "std's Condvar"),
            ("fn f() -> parking_lot::ReentrantMutex<()> { loop {} }", "parking_lot's ReentrantMutex"),
            ("use crossbeam_utils::sync::ShardedLock as S;", "crossbeam_utils's ShardedLock"),
            ("use saki_sync::RawLock;", "RawLock"),
            ("use saki_sync::RawSharedLock;", "RawSharedLock"),
        ] {
            check_files(&[("crates/a/src/b.rs", LOCK), ("crates/a/src/c.rs", text)], &[], &[name]);
            let listed = ("crates/a/src/c.rs", "a reason");
            check_files(&[("crates/a/src/b.rs", LOCK), ("crates/a/src/c.rs", text)], &[listed], &[]);
        }
    }

    #[test]
    fn what_has_a_rank_or_is_no_lock_is_free() {
        for text in [
            "use saki_base::locks::{Mutex, RwLock, rank};",
            "use std::sync::{Arc, OnceLock}; use saki_sync::facade::{Mutex, lock};",
            "use std::sync::atomic::Ordering; struct Mutex;",
            "#[cfg(test)] mod tests { use std::sync::Mutex; }",
        ] {
            check_files(&[("crates/a/src/b.rs", LOCK), ("crates/a/src/c.rs", text)], &[], &[]);
        }
    }

    #[test]
    fn the_table_and_the_locks_agree() {
        check_files(&[("crates/a/src/b.rs", "")], &[], &["no lock has the rank A"]);
        check_files(&[("crates/a/src/b.rs", ""), ("crates/a/src/c.rs", LOCK)], &[], &["a lock of crates/a/src/b.rs"]);
        check_files(&[("crates/a/src/b.rs", LOCK), ("crates/a/src/c.rs", LOCK)], &[], &["a lock of crates/a/src/b.rs"]);
        let listed = ("crates/a/src/c.rs", "a reason");
        check_files(&[("crates/a/src/b.rs", LOCK), ("crates/a/src/c.rs", "")], &[listed], &["is listed"]);
    }
}
