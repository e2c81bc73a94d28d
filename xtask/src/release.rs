//! `cargo xtask release NAME -- COMMAND`: runs a command of the checkout on a fresh machine of another Debian release.
//!
//! The machine is a chroot in `target/debian/NAME` (`chroot`) with the packages that every installation has and those
//! that commands installed there, all of that release, so that `./x` does its own setup there. The checkout appears at
//! its own path, read-only, with a `target` folder of its own. `isolation` has the namespaces around it, `host` and
//! `crates` say what is taken over from this machine: mirrors, proxies, downloaded crates.
//!
//! Invariants: mounts and processes are in namespaces that end with this process, even if it is killed; one run uses a
//! chroot at a time; what is written lies below `target/debian`. Where namespaces may not be made or packages cannot be
//! reached, the command is skipped with a line `skipped: REASON`, and that is no failure. A failing command is one.

mod chroot;
mod crates;
mod host;
mod isolation;

use std::fs;
use std::path::{Path, PathBuf};

use crate::tool::Outcome;
use chroot::Chroot;
use host::Host;
use isolation::Rights;

/// The releases of Debian that Saki is tested on, older ones first.
const RELEASES: [&str; 2] = ["bookworm", "trixie"];

/// The suites that will be a release, which have the class libraries of Mono 6.14: testing and unstable. They change
/// every day and have no suites of updates beside them.
const UNRELEASED: [&str; 2] = ["forky", "sid"];

/// Set for commands in the chroot: the folder, from the checkout, with the programs that `--reuse` brought.
const BUILT_VARIABLE: &str = "SAKI_BUILT";
const BUILT_FOLDER: &str = "host";
const REUSED_PROGRAMS: [&str; 2] = ["saki", "xtask"];

#[derive(clap::Args)]
pub struct Options {
    /// Codename of the release, or `other`: one that this machine is not.
    name: String,
    /// Test the saki and xtask of this folder there, if they run there; else they are built there.
    #[arg(long, value_name = "DIR")]
    reuse: Option<PathBuf>,
    /// Make the chroot anew, without what earlier runs installed and built.
    #[arg(long)]
    fresh: bool,
    /// What to run in the checkout.
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Why the command does not run.
#[derive(Debug)]
enum Stop {
    /// This machine cannot do it.
    Skip(String),
    /// It should have been possible.
    Fail(String),
}

/// An error message says that something should have been possible.
impl From<String> for Stop {
    fn from(message: String) -> Stop {
        Stop::Fail(message)
    }
}

/// Runs the command. Errors: an unknown release, a chroot that cannot be made, files that cannot be written.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let host = Host::read();
    let name = resolve(&options.name, host.codename())?;
    match run_in(root, name, &host, options) {
        Ok(is_well) => Ok(is_well),
        Err(Stop::Skip(reason)) => {
            println!("skipped: {name}: {reason}");
            Ok(true)
        }
        Err(Stop::Fail(message)) => Err(format!("{name}: {message}")),
    }
}

fn run_in(root: &Path, name: &str, host: &Host, options: &Options) -> Result<bool, Stop> {
    let rights = Rights::probe().map_err(Stop::Skip)?;
    let chroot = Chroot::lock(root, name, rights)?;
    chroot.make_ready(host, options.fresh)?;
    let mut environment = host.environment();
    let is_reused = options.reuse.as_ref().is_some_and(|folder| match reuse(&chroot, folder) {
        Ok(()) => true,
        Err(reason) => {
            println!("{name}: building there: {reason}");
            false
        }
    });
    if is_reused {
        environment.push((BUILT_VARIABLE.to_owned(), format!("target/{BUILT_FOLDER}")));
    } else {
        crates::hand_over(root, &chroot.root())?;
    }
    println!("{name}: {}", options.command.join(" "));
    let is_well = chroot.enter(&options.command, &environment).status().map_err(|e| format!("unshare: {e}"))?.success();
    if is_well {
        chroot.note_success()?;
    }
    Ok(is_well)
}

/// The release that `name` stands for on a machine of the release `codename`. Errors: an unknown one.
fn resolve<'a>(name: &'a str, codename: &str) -> Result<&'a str, String> {
    if name == "other" {
        return Ok(RELEASES.into_iter().rev().find(|release| *release != codename).unwrap_or(RELEASES[0]));
    }
    let known = [RELEASES, UNRELEASED].concat();
    match known.contains(&name) {
        true => Ok(name),
        false => Err(format!("unknown release {name}; there are {}, and `other`", known.join(", "))),
    }
}

/// Copies the programs of `folder` to where commands in the chroot find them. Errors: why they do not run there.
fn reuse(chroot: &Chroot, folder: &Path) -> Result<(), String> {
    let copies = chroot.target().join(BUILT_FOLDER);
    fs::create_dir_all(&copies).map_err(|e| format!("{}: {e}", copies.display()))?;
    for program in REUSED_PROGRAMS {
        let from = folder.join(program);
        let to = copies.join(program);
        // A program in use cannot be written to. Absent in the first run.
        let _ = fs::remove_file(&to);
        fs::copy(&from, &to).map_err(|e| format!("{}: {e}", from.display()))?;
        let argv = [format!("target/{BUILT_FOLDER}/{program}"), "--help".to_owned()];
        let tried = chroot.enter(&argv, &[]).output().map_err(|e| format!("unshare: {e}"))?;
        if !tried.status.success() {
            let messages = String::from_utf8_lossy(&tried.stderr);
            // The dynamic linker names the version of the C library that it misses.
            return Err(messages.lines().next().unwrap_or("they do not run there").to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_is_a_release_that_the_machine_is_not() {
        assert_eq!(resolve("other", "bookworm"), Ok("trixie"));
        assert_eq!(resolve("other", "trixie"), Ok("bookworm"));
        assert_eq!(resolve("other", "noble"), Ok("trixie"));
        assert_eq!(resolve("trixie", "trixie"), Ok("trixie"));
        assert_eq!(resolve("forky", "bookworm"), Ok("forky"));
        assert!(resolve("warty", "trixie").is_err());
    }
}
