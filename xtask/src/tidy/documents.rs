//! The pages of documentation: which there are, that their links lead somewhere, and that their lines can be read
//! beside each other.
//!
//! Checked are `[text](target)`, `[text]: target` and, on pages that define such targets, `[text]` alone. A target is a
//! file or folder relative to the page, with the anchor of a heading behind `#` if it is a page. Left out: addresses on
//! the web, and what code spans and code blocks show.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

use super::findings::Findings;

/// Folders whose pages are ours; the pages at the root are, too.
const FOLDERS: [&str; 6] = ["docs", "tests", "crates", "bench", "examples", "packaging"];

/// Longer lines are broken, except rows of tables and headings, which cannot be.
const MAX_COLUMNS: usize = 200;

/// The history, whose entries are a line each, and pages that programs write.
const OF_ANY_WIDTH: [&str; 5] =
    ["CHANGELOG.md", "docs/benchmarks.md", "docs/compatibility.md", "docs/mono-options.md", "docs/simd.md"];

/// Around the parts of other pages that programs write.
const WRITTEN_PART: [&str; 2] = ["<!-- figures: begin -->", "<!-- figures: end -->"];

/// A page, with its path relative to the repository.
pub struct Page {
    pub path: PathBuf,
    pub text: String,
}

/// All pages, in the order of their paths. Errors: unreadable files.
pub fn collect(root: &Path) -> Result<Vec<Page>, String> {
    let mut pages = Vec::new();
    add(root, root, false, &mut pages)?;
    for folder in FOLDERS {
        add(root, &root.join(folder), true, &mut pages)?;
    }
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(pages)
}

fn add(root: &Path, folder: &Path, is_deep: bool, pages: &mut Vec<Page>) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        if path.is_dir() {
            if is_deep && path.file_name().is_some_and(|name| name != "target") {
                add(root, &path, true, pages)?;
            }
        } else if path.extension().is_some_and(|e| e == "md") {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            pages.push(Page { path: path.strip_prefix(root).unwrap_or(&path).to_path_buf(), text });
        }
    }
    Ok(())
}

/// Errors: a malformed expression.
pub fn check(root: &Path, pages: &[Page], findings: &mut Findings) -> Result<(), String> {
    let inline = Regex::new(r"\]\(([^)\s]+)\)").map_err(|e| e.to_string())?;
    let definition = Regex::new(r"^\[([^\]]+)\]: (\S+)").map_err(|e| e.to_string())?;
    let short = Regex::new(r"\[([^\]\[]+)\](?:[^(:\[]|$)").map_err(|e| e.to_string())?;
    for page in pages {
        let lines = prose(&page.text);
        let is_written = OF_ANY_WIDTH.iter().any(|any| page.path == Path::new(any));
        let mut is_in_written_part = false;
        let defined: BTreeSet<&str> =
            lines.iter().filter_map(|(_, line)| Some(definition.captures(line)?.get(1)?.as_str())).collect();
        for (number, line) in &lines {
            let targets = inline.captures_iter(line).chain(definition.captures(line));
            for target in targets.filter_map(|found| found.get(found.len() - 1)) {
                if let Some(fault) = fault_of(root, page, pages, target.as_str()) {
                    findings.error(&page.path, *number, fault);
                }
            }
            if !defined.is_empty() && !definition.is_match(line) {
                for name in short.captures_iter(line).filter(|name| !defined.contains(&name[1])) {
                    findings.error(&page.path, *number, format!("[{}] is not defined", &name[1]));
                }
            }
            is_in_written_part = line == WRITTEN_PART[0] || is_in_written_part && line != WRITTEN_PART[1];
            let columns = line.chars().count();
            let is_whole = line.starts_with(['|', '#']) || is_written || is_in_written_part;
            if columns > MAX_COLUMNS && !is_whole {
                findings.error(&page.path, *number, format!("{columns} columns; {MAX_COLUMNS} are the limit"));
            }
        }
    }
    Ok(())
}

/// Number and text of the lines outside of code blocks, without the code spans.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") {
            lines.push((index + 1, without_code(line)));
        }
    }
    lines
}

/// The line with blanks in place of code spans, so that columns stay what they are.
fn without_code(line: &str) -> String {
    let mut is_code = false;
    let blank = |c: char| {
        let was_code = is_code;
        is_code ^= c == '`';
        if was_code || is_code { '_' } else { c }
    };
    line.chars().map(blank).collect()
}

/// What is wrong with a link.
fn fault_of(root: &Path, page: &Page, pages: &[Page], target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let folder = page.path.parent().unwrap_or(Path::new(""));
    let path = if file.is_empty() { page.path.clone() } else { plain(&folder.join(file)) };
    if !root.join(&path).exists() {
        return Some(format!("the link {target} leads nowhere"));
    }
    let anchor = anchor?;
    let there = pages.iter().find(|page| page.path == path)?;
    let headings = anchors(&there.text);
    (!headings.contains(anchor)).then(|| format!("{} has no heading #{anchor}", path.display()))
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The anchors of a page's headings, as GitHub makes them: lower case, without punctuation, with `-` for blanks.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let anchor = |line: &str| line.trim_start_matches('#').trim().chars().filter(|c| kept(*c)).collect::<String>();
    headings.map(|line| anchor(line).to_lowercase().replace(' ', "-")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let text = "[a](b.md#the-end-of-it), [c](gone.md), [web](https://example.org), `[x](code.md)`\n\
                    [d](b.md#lost) and [e], [f]\n\n    [x](block.md)\n\n[e]: b.md\n";
        let page = |path: &str, text: &str| Page { path: path.into(), text: text.into() };
        let pages = [page("docs/a.md", text), page("docs/b.md", "# B\n## The `end` of it\n")];
        let root = std::env::temp_dir().join(format!("tidy-links-{}", std::process::id()));
        fs::create_dir_all(root.join("docs")).expect("a folder");
        fs::write(root.join("docs/b.md"), "").expect("a file");
        let mut findings = Findings::default();
        check(&root, &pages, &mut findings).expect("expressions");
        fs::remove_dir_all(&root).expect("the folder");
        let expected = [
            "docs/a.md:1: the link gone.md leads nowhere",
            "docs/a.md:2: docs/b.md has no heading #lost",
            "docs/a.md:2: [f] is not defined",
        ];
        assert_eq!(findings.errors, expected);
    }

    #[test]
    fn long_lines_of_prose_are_found() {
        let long = "word ".repeat(41);
        let text = format!("{long}\n| {long} |\n");
        let pages = [Page { path: "a.md".into(), text }];
        let mut findings = Findings::default();
        check(Path::new("."), &pages, &mut findings).expect("expressions");
        assert_eq!(findings.errors, ["a.md:1: 205 columns; 200 are the limit"]);
    }
}
