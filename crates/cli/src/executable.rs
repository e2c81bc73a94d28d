//! Which executable .NET would have started for a program, and the options that a start of it inherits.
//!
//! `corelib::own_executable` says what it is for. Invariant: it is a file that is there; where there is none, the
//! program sees Saki's command.

use crate::options::Options;
use saki_hosting::net::OwnExecutable;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The options of .NET's host and of profiles, which are for one run.
const OF_ONE_RUN: [&str; 8] = [
    "--runtimeconfig",
    "--depsfile",
    "--additional-deps",
    "--additionalprobingpath",
    "--fx-version",
    "--roll-forward",
    "--roll-forward-on-no-candidate-fx",
    "--profile",
];

/// Saki's options before a program that is the first of the last `count` words.
pub fn options_before(words: &[OsString], count: usize) -> Vec<String> {
    let before = words.get(..words.len().saturating_sub(count)).unwrap_or_default();
    let before = before.split_first().filter(|(first, _)| *first == "exec").map_or(before, |(_, rest)| rest);
    let mut before = before.iter().map(|word| word.to_string_lossy().into_owned());
    let mut kept = Vec::new();
    while let Some(word) = before.next() {
        let is_of_one_run = |name: &str| word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        if OF_ONE_RUN.contains(&&*word) {
            before.next();
        } else if word != "--" && !OF_ONE_RUN.into_iter().any(is_of_one_run) {
            kept.push(word);
        }
    }
    kept
}

fn own(options: &Options, path: PathBuf, is_muxer: bool) -> Option<OwnExecutable> {
    let saki = std::env::current_exe().ok()?;
    let path = std::fs::canonicalize(path).ok().filter(|path| path.is_file())?;
    let command = std::iter::once(saki.display().to_string()).chain(options.words.iter().cloned()).collect();
    Some(OwnExecutable { path, is_muxer, command })
}

/// The executable that the command line names, else the `dotnet` of an installation.
pub fn of_root(options: &Options, root: &Path) -> Option<OwnExecutable> {
    match &options.executable {
        Some(named) => own(options, named.clone(), false),
        None => own(options, root.join("dotnet"), true),
    }
}

/// `of_root`, of the installation that has this folder of class libraries (`ROOT/shared/NAME/VERSION`).
pub fn of_framework(options: &Options, framework: &Path) -> Option<OwnExecutable> {
    let framework = std::fs::canonicalize(framework).ok()?;
    of_root(options, framework.ancestors().nth(3)?)
}

/// The executable of a program that brings its runtime along in its folder.
pub fn beside(options: &Options, assembly: &Path) -> Option<OwnExecutable> {
    let named = options.executable.clone().unwrap_or_else(|| assembly.with_extension(""));
    own(options, named, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_one_run_are_not_inherited() {
        let before = |text: &str| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            options_before(&words, 2).join(" ")
        };
        assert_eq!(before("app.dll x"), "");
        assert_eq!(before("--threads mn --stats app.dll x"), "--threads mn --stats");
        assert_eq!(before("exec --fx-version 9 --threads=mn --depsfile=a -- app.dll x"), "--threads=mn");
    }
}
