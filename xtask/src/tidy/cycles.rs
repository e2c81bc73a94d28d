//! A crate can be read from the bottom up: within it, no more than four files name each other in a cycle.
//!
//! A few files that make one thing together may (a type, its methods, its fields); with more of them there is no place to begin, and no part that can be
//! understood, tested or replaced by itself. Files name each other in two ways: by paths (`modules`), and besides by
//! calls of methods (`method_calls`). The bound holds for both. Crates that are still knots by calls of methods stand in
//! a list with the size of their largest cycle, which may only shrink: a smaller knot than the list says is a finding
//! as well.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::findings::{Findings, SourceFile};
use super::method_calls::Methods;
use super::modules::{self, Edge};

/// More files than that must not form a cycle.
const MAX_CYCLE_FILES: usize = 4;

/// Folder of the crate → files in its largest cycle, calls of methods counted.
const KNOTS: &[(&str, usize)] = &[("crates/runtime", 6), ("crates/types", 5)];

/// Checks every crate.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    check_knots(files, KNOTS, findings);
}

fn check_knots(files: &[SourceFile], knots: &[(&str, usize)], findings: &mut Findings) {
    let this_file = Path::new(file!());
    let methods = Methods::of(files);
    let mut unused: BTreeMap<&str, usize> = knots.iter().copied().collect();
    for root in roots(files) {
        let Some(folder) = folder_of(root) else { continue };
        let listed = unused.remove(folder.as_str());
        let mut edges = modules::edges(root, files);
        let by_paths = largest_cycle(&edges);
        edges.extend(methods.edges(root, files));
        let by_calls = largest_cycle(&edges);
        let allowed = listed.unwrap_or(MAX_CYCLE_FILES);
        let (cycle, allowed, how) = if by_paths.len() > MAX_CYCLE_FILES {
            (by_paths, MAX_CYCLE_FILES, "by paths")
        } else {
            (by_calls, allowed, "by paths or calls of methods")
        };
        if cycle.len() > allowed {
            let names: Vec<String> = cycle.iter().map(|file| file.display().to_string()).collect();
            let message = format!(
                "{} files name each other in a cycle {how}, {allowed} may (`cargo xtask tidy --cycle {folder}` shows where): {}",
                cycle.len(),
                names.join(", ")
            );
            findings.error(root, 1, message);
        } else if let Some(listed) = listed
            && cycle.len() < listed
        {
            let now = if cycle.len() > MAX_CYCLE_FILES { format!("{}", cycle.len()) } else { "none".to_owned() };
            findings.error(this_file, 1, format!("KNOTS says {listed} for {folder}, which has {now}: shrink the list"));
        }
    }
    for folder in unused.keys() {
        findings.error(this_file, 1, format!("KNOTS names {folder}, which is not there"));
    }
}

/// Prints the largest cycle of a crate, or of every crate for `all`: each line a file that names another, and where.
///
/// Errors: there is no such crate.
pub fn show(files: &[SourceFile], folder: &str) -> Result<(), String> {
    let methods = Methods::of(files);
    let mut is_found = false;
    for root in roots(files) {
        let Some(own) = folder_of(root).filter(|own| folder == "all" || own == folder) else { continue };
        is_found = true;
        let mut edges = modules::edges(root, files);
        let by_paths = largest_cycle(&edges).len();
        edges.extend(methods.edges(root, files));
        let cycle = largest_cycle(&edges);
        println!("{own}: {by_paths} files by paths, {} by paths or calls of methods", cycle.len());
        if folder == "all" {
            continue;
        }
        let name = |file: &Path| file.strip_prefix(Path::new(folder).join("src")).unwrap_or(file).display().to_string();
        for edge in edges.iter().filter(|edge| cycle.contains(&edge.from) && cycle.contains(&edge.to)) {
            println!("{}:{} -> {} ({})", name(&edge.from), edge.line, name(&edge.to), edge.names);
        }
    }
    if is_found { Ok(()) } else { Err(format!("{folder} is not a crate")) }
}

/// The folder of the crate whose root file is `root`.
fn folder_of(root: &Path) -> Option<String> {
    root.parent().and_then(Path::parent).map(|folder| folder.display().to_string())
}

fn roots(files: &[SourceFile]) -> impl Iterator<Item = &Path> {
    files.iter().map(|file| file.path.as_path()).filter(|path| {
        path.parent().is_some_and(|folder| folder.ends_with("src"))
            && (path.ends_with("lib.rs") || path.ends_with("main.rs"))
    })
}

/// The largest set of files each of which leads to every other; empty without a cycle.
fn largest_cycle(edges: &[Edge]) -> BTreeSet<PathBuf> {
    let mut forward: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    let mut backward: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for edge in edges {
        forward.entry(&edge.from).or_default().push(&edge.to);
        backward.entry(&edge.to).or_default().push(&edge.from);
    }
    let mut largest = BTreeSet::new();
    let mut placed: BTreeSet<&Path> = BTreeSet::new();
    // Some hundred files at most: the simplest way will do.
    for &file in forward.keys() {
        if placed.contains(file) {
            continue;
        }
        let reached = reachable(file, &forward);
        let cycle: BTreeSet<&Path> = reachable(file, &backward).intersection(&reached).copied().collect();
        placed.extend(&cycle);
        if cycle.len() > largest.len() {
            largest = cycle;
        }
    }
    largest.into_iter().map(Path::to_path_buf).collect()
}

/// What `start` leads to over one edge or more.
fn reachable<'a>(start: &'a Path, edges: &BTreeMap<&'a Path, Vec<&'a Path>>) -> BTreeSet<&'a Path> {
    let mut found = BTreeSet::new();
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        for &next in edges.get(file).into_iter().flatten() {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of a crate `crates/a`, each a name and a text.
    fn crate_of(texts: &[(&str, &str)]) -> Vec<SourceFile> {
        let file = |(name, text): &(&str, &str)| SourceFile {
            path: Path::new("crates/a/src").join(name),
            text: (*text).to_owned(),
        };
        texts.iter().map(file).collect()
    }

    /// The edges as "a -> b", and the size of the largest cycle.
    fn check(texts: &[(&str, &str)], expected: &[&str], cycle_files: usize) {
        let edges = modules::edges(Path::new("crates/a/src/lib.rs"), &crate_of(texts));
        let name =
            |path: &Path| path.with_extension("").strip_prefix("crates/a/src").expect("a file").display().to_string();
        let found: Vec<String> =
            edges.iter().map(|edge| format!("{} -> {}", name(&edge.from), name(&edge.to))).collect();
        assert_eq!(found, expected);
        assert_eq!(largest_cycle(&edges).len(), cycle_files);
    }

    #[test]
    fn every_form_of_a_path_is_an_edge() {
        check(
            &[
                ("lib.rs", "mod a; mod b; mod c; mod d;"),
                ("a.rs", "use crate::b::{B, inner::{self, X as Y}};"),
                ("b.rs", "pub mod inner { use super::super::c; } fn f() { crate::d::g() }"),
                ("c.rs", "use super::d; use std::fmt;"),
                ("d.rs", "pub(in crate::a) fn f() { <T as std::fmt::Debug>::fmt(a::b) }"),
            ],
            &["a -> b", "b -> c", "b -> d", "c -> d"],
            0,
        );
    }

    #[test]
    fn children_are_named_without_a_prefix() {
        check(
            &[
                ("lib.rs", "mod a;"),
                ("a.rs", "mod b; mod c; fn f() { b::g() }"),
                ("a/b.rs", "use super::c::C; fn g() { super::h() }"),
                ("a/c/mod.rs", "#[path = \"other.rs\"] mod d; use d::D;"),
                ("a/c/other.rs", "use std::fmt;"),
            ],
            &["a/b -> a/c/mod", "a/b -> a", "a/c/mod -> a/c/other", "a -> a/b"],
            2,
        );
    }

    #[test]
    fn a_call_names_a_function_and_no_module_of_its_name() {
        check(
            &[
                ("lib.rs", "mod a; mod c; mod d;"),
                ("a.rs", "mod run; pub fn run() {} use run::X; pub use crate::d::made;"),
                ("a/run.rs", "struct X;"),
                ("c.rs", "fn f() { crate::a::run(); crate::a::made(); }"),
                ("d.rs", "pub fn made() { crate::a::run::X }"),
            ],
            &["a -> a/run", "c -> a", "c -> d", "d -> a/run"],
            0,
        );
    }

    #[test]
    fn what_is_handed_on_belongs_to_where_it_is_defined() {
        check(
            &[
                ("lib.rs", "mod a; mod b; mod c; pub use a::A; pub(crate) use b::{B, f}; fn g() { f() }"),
                ("a.rs", "use crate::B;"),
                ("b.rs", "pub use crate::c::C as D;"),
                ("c.rs", "use crate::A; use crate::b::D;"),
            ],
            &["a -> b", "c -> a", "lib -> b"],
            0,
        );
    }

    #[test]
    fn tests_are_no_edges() {
        check(
            &[
                ("lib.rs", "mod a; mod b;"),
                (
                    "a.rs",
                    "// crate::b::f\n#[cfg(test)] mod tests { use crate::b; }\n#[cfg(all(test, loom))] mod model;",
                ),
                ("a/model.rs", "use crate::b;"),
                ("b.rs", "fn f() -> impl Iterator + use<'static> { crate::a::g(\"crate::b\") }"),
            ],
            &["b -> a"],
            0,
        );
    }

    /// Files in a ring, each of which names the next one by what `names` makes of the two numbers.
    fn check_ring(size: usize, names: fn(usize, usize) -> String, knots: &[(&str, usize)], expected: &[&str]) {
        let declared: String = (0..size).map(|n| format!("mod m{n};")).collect();
        let mut texts = vec![("lib.rs".to_owned(), declared)];
        texts.extend((0..size).map(|n| (format!("m{n}.rs"), names(n, (n + 1) % size))));
        let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let mut findings = Findings::default();
        check_knots(&crate_of(&texts), knots, &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    fn by_path(_own: usize, next: usize) -> String {
        format!("use crate::m{next};")
    }

    fn by_call(own: usize, next: usize) -> String {
        format!("impl A {{ fn step_{own} (&self) {{ self.step_{next} () }} }}")
    }

    #[test]
    fn paths_have_no_list() {
        check_ring(4, by_path, &[], &[]);
        check_ring(5, by_path, &[], &["5 files name each other in a cycle by paths, 4 may"]);
        check_ring(5, by_path, &[("crates/a", 5)], &["5 files name each other in a cycle by paths, 4 may"]);
    }

    #[test]
    fn the_list_may_only_shrink() {
        check_ring(4, by_call, &[], &[]);
        check_ring(5, by_call, &[], &["5 files name each other"]);
        check_ring(5, by_call, &[("crates/a", 5)], &[]);
        check_ring(
            6,
            by_call,
            &[("crates/a", 5)],
            &["6 files name each other in a cycle by paths or calls of methods, 5 may"],
        );
        check_ring(5, by_call, &[("crates/a", 6)], &["says 6 for crates/a, which has 5"]);
        check_ring(4, by_call, &[("crates/a", 6)], &["says 6 for crates/a, which has none"]);
        check_ring(2, by_call, &[("crates/gone", 6)], &["crates/gone, which is not there"]);
    }
}
