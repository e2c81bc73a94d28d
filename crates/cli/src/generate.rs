//! `saki generate`: man pages and shell completions, from the definitions that parse the command line.
//!
//! Files go to folders below a prefix: `share/man/man1`, `share/bash-completion/completions`, `share/zsh/site-functions`,
//! `share/fish/vendor_completions.d`. Hidden commands get no page. The texts depend on the definitions only, so that
//! packages are the same wherever they are built.

use crate::command_line;
use crate::options::VERSION;
use clap_complete::Shell;
use std::path::Path;

const MAN_PAGES: &str = "share/man/man1";

/// Folder, file name and shell of each completion script.
const COMPLETIONS: [(&str, &str, Shell); 3] = [
    ("share/bash-completion/completions", "saki", Shell::Bash),
    ("share/zsh/site-functions", "_saki", Shell::Zsh),
    ("share/fish/vendor_completions.d", "saki.fish", Shell::Fish),
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
    let mut files = Vec::new();
    let mut command = command_line::definition();
    // Names "saki-cache-stat" for the pages of subcommands.
    command.build();
    add_man_pages(&command, &mut files);
    for (folder, name, shell) in COMPLETIONS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut without_hidden(&command_line::definition()), "saki", &mut text);
        files.push((format!("{folder}/{name}"), text));
    }
    files
}

/// The generators for shells would list hidden options and commands, too.
fn without_hidden(command: &clap::Command) -> clap::Command {
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned();
    let subcommands = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).map(without_hidden);
    // A name lives as long as the process, which ends when the files are written.
    let name: &'static str = command.get_name().to_owned().leak();
    let about = command.get_about().cloned().unwrap_or_default();
    let visible = clap::Command::new(name).about(about).args(arguments).subcommands(subcommands);
    visible.version(VERSION)
}

fn add_man_pages(command: &clap::Command, files: &mut Vec<(String, Vec<u8>)>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    // No date: pages of the same sources are the same.
    let manual = format!("Saki {}", env!("CARGO_PKG_VERSION"));
    let page = clap_mangen::Man::new(command.clone())
        .title(name.to_uppercase())
        .source(manual)
        .manual("User Commands")
        .date("");
    let mut text = Vec::new();
    page.render(&mut text).expect("writing to memory does not fail");
    files.push((format!("{MAN_PAGES}/{name}.1"), text));
    for subcommand in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        add_man_pages(subcommand, files);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_and_every_shell_a_script() {
        let files: Vec<String> = texts().into_iter().map(|(path, _)| path).collect();
        let page = |name: &str| format!("{MAN_PAGES}/{name}.1");
        let pages = ["saki", "saki-run", "saki-repl", "saki-info", "saki-doctor", "saki-cache", "saki-cache-stat"];
        for path in pages.iter().map(|name| page(name)) {
            assert!(files.contains(&path), "{path} is not among {files:?}");
        }
        assert!(!files.contains(&page("saki-generate")));
        assert_eq!(files.iter().filter(|path| !path.starts_with(MAN_PAGES)).count(), COMPLETIONS.len());
    }

    #[test]
    fn pages_and_scripts_know_the_options() {
        for (path, text) in texts() {
            let text = String::from_utf8(text).expect("UTF-8").replace("\\-", "-");
            if path.ends_with("/saki.1") || !path.starts_with(MAN_PAGES) {
                assert!(text.contains("max-heap") && text.contains("doctor"), "{path}");
                assert!(!text.contains("--compile-only"), "{path} shows a hidden option");
            }
        }
    }
}
