//! ARCHITECTURE.md names symbols as `` `crate::Symbol` ``; each must still exist in that crate.
//!
//! A plain search for the last part of the name as a word in the crate's sources: enough to notice a
//! rename. A name whose first part is no folder of crates/ (`std::fmt`) is none of ours and is left alone.

use std::fs;
use std::path::Path;

use regex::Regex;

use super::{Findings, SourceFile};

/// Errors: a malformed expression. A missing ARCHITECTURE.md is a finding.
pub fn check(root: &Path, files: &[SourceFile], findings: &mut Findings) -> Result<(), String> {
    let page = Path::new("ARCHITECTURE.md");
    let Ok(text) = fs::read_to_string(root.join(page)) else {
        findings.warning(page, 1, "there is no such page");
        return Ok(());
    };
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
