//! ARCHITECTURE.md: its length, its table of crates, and its table of invariants.
//!
//! Invariants: the table of crates has the rows of `dependencies`, floor by floor, so that the page cannot tell another
//! house than the one that is checked; the table of invariants has as many rows for a page of `docs/design` as that
//! page states invariants ("Invariant: …"), each with the file that keeps it.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;

use super::dependencies;
use super::documents::Page;
use super::findings::Findings;

const PAGE: &str = "ARCHITECTURE.md";

/// One sitting; designs have pages of their own.
const MAX_BYTES: usize = 22_000;

/// Errors: a malformed expression.
pub fn check(root: &Path, pages: &[Page], findings: &mut Findings) -> Result<(), String> {
    let path = Path::new(PAGE);
    let Some(page) = pages.iter().find(|page| page.path == path) else {
        findings.error(path, 1, "there is no such page");
        return Ok(());
    };
    if page.text.len() > MAX_BYTES {
        findings.error(path, 1, format!("{} bytes; {MAX_BYTES} are the limit", page.text.len()));
    }
    check_crates(&page.text, &dependencies::rows(), findings);
    check_invariants(root, &page.text, pages, findings)
}

/// A row of the table of crates, as the page writes it, without what the crate is about.
fn row_of(floor: usize, name: &str, uses: &[&str]) -> (String, String) {
    let uses = if uses.is_empty() { "–".to_owned() } else { uses.join(", ") };
    (format!("| {floor} | `{name}` | "), format!(" | {uses} |"))
}

fn check_crates(text: &str, rows: &[(usize, &str, &[&str])], findings: &mut Findings) {
    let path = Path::new(PAGE);
    let lines = table(text, "| floor | crate |");
    for (index, (floor, name, uses)) in rows.iter().enumerate() {
        let (begin, end) = row_of(*floor, name, uses);
        let (number, line) = lines.get(index).copied().unwrap_or((1, ""));
        if !line.starts_with(&begin) || !line.ends_with(&end) {
            findings.error(path, number, format!("the table of crates should have here: {begin}…{end}"));
            return;
        }
    }
    if let Some((number, _)) = lines.get(rows.len()) {
        findings.error(path, *number, "there is no such crate in xtask/src/tidy/dependencies.rs");
    }
}

fn check_invariants(root: &Path, text: &str, pages: &[Page], findings: &mut Findings) -> Result<(), String> {
    let path = Path::new(PAGE);
    let row = Regex::new(r"^\| [^|]+ \| `([\w./-]+)` \| \[([\w-]+)\] \|$").map_err(|e| e.to_string())?;
    let stated = Regex::new(r"(?m)^ *(?:- )?Invariant: ").map_err(|e| e.to_string())?;
    let mut listed: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in table(text, "| invariant | kept by | page |") {
        let Some(found) = row.captures(line) else {
            findings.error(path, number, "a row is: | sentence | `file` | [page] |");
            continue;
        };
        if !root.join(&found[1]).is_file() {
            findings.error(path, number, format!("{} is not there", &found[1]));
        }
        *listed.entry(format!("docs/design/{}.md", &found[2])).or_default() += 1;
    }
    for page in pages.iter().filter(|page| page.path.starts_with("docs/design")) {
        let stated = stated.find_iter(&page.text).count();
        let listed = listed.get(&*page.path.to_string_lossy()).copied().unwrap_or(0);
        if stated != listed {
            findings.error(&page.path, 1, format!("{stated} invariants here, {listed} in the table of {PAGE}"));
        }
    }
    Ok(())
}

/// Number and text of the rows of the table that begins with `heading`.
fn table<'t>(text: &'t str, heading: &str) -> Vec<(usize, &'t str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let rows = lines.skip_while(|(_, line)| !line.starts_with(heading)).skip(2);
    rows.take_while(|(_, line)| line.starts_with('|')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate that moved, or gained a dependency, must not stay in the page as it was.
    #[test]
    fn a_table_of_another_house_is_found() {
        let rows: [(usize, &str, &[&str]); 2] = [(0, "base", &[]), (1, "os", &["base"])];
        let check = |text: &str| {
            let mut findings = Findings::default();
            check_crates(text, &rows, &mut findings);
            findings.errors
        };
        let heading = "| floor | crate | what | uses |\n|---|---|---|---|\n";
        let base = "| 0 | `base` | shared | – |\n";
        let os = "| 1 | `os` | the system | base |\n";
        assert!(check(&format!("{heading}{base}{os}")).is_empty());
        assert_eq!(check(&format!("{heading}{os}{base}")).len(), 1);
        assert_eq!(check(&format!("{heading}{base}")).len(), 1);
        assert_eq!(check(&format!("{heading}{base}{os}{os}")).len(), 1);
        assert_eq!(check(&format!("{heading}{base}| 1 | `os` | the system | – |\n")).len(), 1);
    }

    #[test]
    fn invariants_without_a_row_or_a_file_are_found() {
        let design = Page {
            path: "docs/design/a.md".into(),
            text: "Invariant: one.\n\n  Invariant: two.\nNo Invariant: here.".into(),
        };
        let check = |rows: &str| {
            let mut findings = Findings::default();
            let text = format!("| invariant | kept by | page |\n|---|---|---|\n{rows}");
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            check_invariants(root, &text, std::slice::from_ref(&design), &mut findings).expect("expressions");
            findings.errors
        };
        let row = "| One. | `src/main.rs` | [a] |\n";
        assert!(check(&row.repeat(2)).is_empty());
        assert_eq!(check(row), ["docs/design/a.md:1: 2 invariants here, 1 in the table of ARCHITECTURE.md"]);
        assert_eq!(
            check(&format!("{row}| Two. | `src/gone.rs` | [a] |")),
            ["ARCHITECTURE.md:4: src/gone.rs is not there"]
        );
        assert_eq!(check(&format!("{row}{row}| Three. | nothing | [a] |")).len(), 1);
    }
}
