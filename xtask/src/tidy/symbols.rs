//! ARCHITECTURE.md names symbols as `` `crate::Symbol` ``; each must still exist in that crate.
//!
//! A plain search for the last part of the name as a word in the crate's sources: enough to notice a
//! rename. A name whose first part is no folder of crates/ (`std::fmt`) is none of ours and is left alone.
//!
//! It names files as `` `crates/…/name.rs` ``, which must be there, with the items that are to be read in them behind, in parentheses or after a comma; the file must
//! define those.

use std::fs;
use std::path::Path;

use regex::Regex;

use super::findings::{Findings, SourceFile};

/// Errors: a malformed expression. A missing ARCHITECTURE.md is a finding.
pub fn check(root: &Path, files: &[SourceFile], findings: &mut Findings) -> Result<(), String> {
    let page = Path::new("ARCHITECTURE.md");
    let Ok(text) = fs::read_to_string(root.join(page)) else {
        findings.warning(page, 1, "there is no such page");
        return Ok(());
    };
    check_files(&text, page, files, findings)?;
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

/// The page's files and the items behind their names.
fn check_files(text: &str, page: &Path, files: &[SourceFile], findings: &mut Findings) -> Result<(), String> {
    let file_and_items =
        Regex::new(r"`(crates/[\w/]+\.rs)`(?:(?: \(|, )((?:`\w+`(?:, )?)+))?").map_err(|e| e.to_string())?;
    let item = Regex::new(r"`(\w+)`").map_err(|e| e.to_string())?;
    for (index, line) in text.lines().enumerate() {
        for found in file_and_items.captures_iter(line) {
            let Some(file) = files.iter().find(|file| file.path == Path::new(&found[1])) else {
                findings.error(page, index + 1, format!("{} is not there", &found[1]));
                continue;
            };
            let items = found.get(2).map_or("", |items| items.as_str());
            for item in item.captures_iter(items) {
                let name = &item[1];
                let definition = Regex::new(&format!(r"\b(fn|struct|enum|trait|static|const) {name}\b"))
                    .map_err(|e| e.to_string())?;
                if !definition.is_match(&file.text) {
                    findings.error(page, index + 1, format!("{} does not define {name}", &found[1]));
                }
            }
        }
    }
    Ok(())
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
                    3. `crates/a/src/b.rs`, `close`: gone. `other` is none of its.";
        let mut findings = Findings::default();
        check_files(page, Path::new("page.md"), &[file], &mut findings).expect("an expression");
        let expected =
            ["page.md:2: crates/a/src/c.rs is not there", "page.md:3: crates/a/src/b.rs does not define close"];
        assert_eq!(findings.errors, expected);
    }
}
