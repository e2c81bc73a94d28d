//! `saki generate`: man pages and shell completions.
//!
//! Files go to folders below a prefix: `share/man/man1`, `share/bash-completion/completions`,
//! `share/zsh/site-functions`, `share/fish/vendor_completions.d`. Hidden commands get no page. The texts depend on the
//! definitions only, so that packages are the same wherever they are built. Completions ask the command what to offer
//! (`complete`).

use crate::command_line;
use crate::manual;
use clap::Command;
use std::path::Path;

const MAN_PAGES: &str = "share/man/man1";

/// Path and text of each shell's completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("share/bash-completion/completions/saki", include_str!("completion/saki.bash")),
    ("share/zsh/site-functions/_saki", include_str!("completion/_saki")),
    ("share/fish/vendor_completions.d/saki.fish", include_str!("completion/saki.fish")),
];

/// Writes all of them below `prefix`.
///
/// # Errors
/// One line naming the file that cannot be written.
pub fn write(prefix: &Path) -> Result<(), String> {
    for (path, text) in texts() {
        let path = prefix.join(path);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        written.map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Each file's path below the prefix, and its text.
fn texts() -> Vec<(String, Vec<u8>)> {
    let mut command = command_line::definition();
    // Names "saki-cache-stat" for the pages of subcommands.
    command.build();
    let mut commands = Vec::new();
    collect(&command, &mut commands);
    let family: Vec<String> = commands.iter().map(|command| manual::page_name(command).to_owned()).collect();
    let page =
        |command: &Command| (format!("{MAN_PAGES}/{}.1", manual::page_name(command)), manual::page(command, &family));
    let pages = commands.into_iter().map(page);
    pages.chain(COMPLETIONS.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))).collect()
}

fn collect<'a>(command: &'a Command, commands: &mut Vec<&'a Command>) {
    commands.push(command);
    manual::shown_below(command).for_each(|below| collect(below, commands));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages() -> Vec<(String, String)> {
        let name = |path: &str| Some(path.strip_prefix(MAN_PAGES)?.strip_prefix('/')?.strip_suffix(".1")?.to_owned());
        let page = |(path, text): (String, Vec<u8>)| Some((name(&path)?, String::from_utf8(text).expect("UTF-8")));
        texts().into_iter().filter_map(page).collect()
    }

    #[test]
    fn every_command_has_a_page_and_every_shell_a_script() {
        let pages: Vec<String> = pages().into_iter().map(|(name, _)| name).collect();
        let expected = ["saki", "saki-run", "saki-repl", "saki-info", "saki-doctor", "saki-cache", "saki-cache-stat"];
        for name in expected.iter().chain(&["saki-profile", "saki-profile-heap"]) {
            assert!(pages.iter().any(|page| page == name), "{name} is not among {pages:?}");
        }
        assert!(!pages.iter().any(|page| page.ends_with("generate") || page.ends_with("help")));
        assert_eq!(texts().len() - pages.len(), COMPLETIONS.len());
    }

    /// Six options stood there without a word.
    #[test]
    fn every_option_on_a_page_has_a_text() {
        for (name, text) in pages() {
            let lines: Vec<&str> = text.lines().collect();
            for (number, line) in lines.iter().enumerate().filter(|(_, line)| **line == ".TP") {
                let (term, body) = (lines.get(number + 1).copied().unwrap_or_default(), lines.get(number + 2).copied());
                let has_text = body.is_some_and(|body| !body.starts_with('.') && !body.trim().is_empty());
                assert!(!line.is_empty() && has_text, "{name}: {term} has no text");
            }
            assert!(!text.contains("compile\\-only"), "{name} shows a hidden option");
        }
        let (_, saki) = pages().into_iter().find(|(name, _)| name == "saki").expect("saki(1)");
        for option in
            ["check\\-walks", "verify", "trace\\-compile", "dump\\-ir", "dump\\-clif", "profile", "max\\-heap"]
        {
            assert!(saki.contains(&format!("\\-\\-{option}")), "{option}");
        }
    }

    /// `saki-help(1)` and others were named, and not there.
    #[test]
    fn pages_name_only_pages_that_exist() {
        let pages = pages();
        for (name, text) in &pages {
            let plain = text.replace("\\fB", "").replace("\\fR", "").replace("\\fI", "").replace("\\-", "-");
            for (end, _) in plain.match_indices("(1)") {
                let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
                let start = plain[..end].rfind(|c| !is_letter(c)).map_or(0, |at| at + 1);
                let named = &plain[start..end];
                let is_ours = named.starts_with("saki");
                assert!(!is_ours || pages.iter().any(|(page, _)| page == named), "{name} names {named}(1)");
            }
        }
    }

    #[test]
    fn pages_have_the_sections_that_readers_look_for() {
        let pages = pages();
        let page = |wanted: &str| &pages.iter().find(|(name, _)| name == wanted).expect(wanted).1;
        for heading in ["EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"] {
            for name in ["saki", "saki-run", "saki-profile"] {
                let has = page(name).lines().any(|line| line.trim_start_matches(".SH ").trim_matches('"') == heading);
                assert!(has, "{name} has no {heading}");
            }
        }
        for kind in ["cpu", "exceptions", "heap"] {
            assert!(page("saki-profile").lines().any(|line| line == format!("\\fB{kind}\\fR")), "{kind}");
        }
        for (name, text) in &pages {
            assert!(text.contains("EXIT STATUS") && text.contains("SEE ALSO") && !text.contains("EXTRA"), "{name}");
        }
    }
}
