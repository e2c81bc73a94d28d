//! Pages for those who change Saki name symbols as `` `crate::Symbol` ``; each must still exist in that crate.
//!
//! A plain search for the last part of the name as a word in the crate's sources: enough to notice a
//! rename. A name whose first part is not a folder of crates/ (`std::fmt`) is none of ours and is left alone.
//!
//! They name files as `` `crates/…/name.rs` `` (or `xtask/…`, `tests/…`), which must be there, with the items that are
//! to be read in them behind, in parentheses or after a comma; the file must define those.

use std::path::Path;

use regex::Regex;

use super::documents::Page;
use super::findings::{Findings, SourceFile};

/// ARCHITECTURE.md, CONTRIBUTING.md, the glossary, and all pages in these folders.
const PAGES: [&str; 5] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md", "docs/design", "docs/how-to"];

/// Errors: a malformed expression.
pub fn check(root: &Path, pages: &[Page], files: &[SourceFile], findings: &mut Findings) -> Result<(), String> {
    for page in pages.iter().filter(|page| PAGES.iter().any(|ours| page.path.starts_with(ours))) {
        check_files(root, &page.text, &page.path, files, findings)?;
        check_names(&page.text, &page.path, files, findings)?;
    }
    Ok(())
}

fn check_names(text: &str, page: &Path, files: &[SourceFile], findings: &mut Findings) -> Result<(), String> {
    let name = Regex::new(r"`(?:saki_)?([a-z0-9_]+)::([A-Za-z0-9_:]+)[^`]*`").map_err(|e| e.to_string())?;
    for (index, line) in text.lines().enumerate() {
        for found in name.captures_iter(line) {
            let folder = format!("crates/{}/", &found[1]);
            let Some(symbol) = found[2].rsplit("::").find(|part| !part.is_empty()) else { continue };
            let word = Regex::new(&format!(r"\b{symbol}\b")).map_err(|e| e.to_string())?;
            let mut ours = files.iter().filter(|f| f.path.starts_with(&folder)).peekable();
            if ours.peek().is_none() {
                continue;
            }
            let module = format!("{symbol}.rs");
            if !ours.any(|f| word.is_match(&f.text) || f.path.ends_with(&module)) {
                findings.error(page, index + 1, format!("{}::{} is not in {folder}", &found[1], &found[2]));
            }
        }
    }
    Ok(())
}

/// The page's files and folders, and the items behind their names.
fn check_files(
    root: &Path,
    text: &str,
    page: &Path,
    files: &[SourceFile],
    findings: &mut Findings,
) -> Result<(), String> {
    let file_and_items = Regex::new(
        r"`((?:crates|xtask|tests|docs|bench|fuzz|examples|packaging)/[\w./-]*)`(?:(?: \(|, )((?:`\w+`(?:, )?)+))?",
    )
    .map_err(|e| e.to_string())?;
    let item = Regex::new(r"`(\w+)`").map_err(|e| e.to_string())?;
    for (index, line) in text.lines().enumerate() {
        for found in file_and_items.captures_iter(line).filter(|found| !has_placeholder(&found[1])) {
            let path = Path::new(&found[1]);
            let Some(file) = files.iter().find(|file| file.path == path) else {
                if path.extension().is_some_and(|e| e == "rs") || !root.join(path).exists() {
                    findings.error(page, index + 1, format!("{} is not there", &found[1]));
                }
                continue;
            };
            let items = found.get(2).map_or("", |items| items.as_str());
            for item in item.captures_iter(items) {
                let name = &item[1];
                let definition =
                    Regex::new(&format!(r"\b(fn|struct|enum|trait|type|static|const|mod|macro_rules!) {name}\b"))
                        .map_err(|e| e.to_string())?;
                if !definition.is_match(&file.text) {
                    findings.error(page, index + 1, format!("{} does not define {name}", &found[1]));
                }
            }
        }
    }
    Ok(())
}

/// Whether a part of the path stands for any name, as in `tests/programs/AREA/NAME.cs`.
fn has_placeholder(path: &str) -> bool {
    let stem = |part: &str| part.split_once('.').map_or(part, |(stem, _)| stem).to_owned();
    path.split('/')
        .any(|part| !part.ends_with(".md") && stem(part).len() > 1 && stem(part).chars().all(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A walk that names a file or an item of before a rename leads its reader nowhere.
    #[test]
    fn files_and_items_that_are_gone_are_found() {
        let file = SourceFile {
            path: Path::new("crates/a/src/b.rs").to_owned(),
            text: "pub fn open() {}\nstruct Part;".into(),
        };
        let page = "1. `crates/a/src/b.rs` (`open`, `Part`): there.\n2. `crates/a/src/c.rs`: gone.\n\
                    3. `crates/a/src/b.rs`, `close`: gone. `other` is not one of its items. `tests/NAME.cs`: any. `tests/gone.cs`";
        let mut findings = Findings::default();
        check_files(Path::new("."), page, Path::new("page.md"), &[file], &mut findings).expect("an expression");
        let expected = [
            "page.md:2: crates/a/src/c.rs is not there",
            "page.md:3: crates/a/src/b.rs does not define close",
            "page.md:3: tests/gone.cs is not there",
        ];
        assert_eq!(findings.errors, expected);
    }
}
