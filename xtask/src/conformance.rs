//! `cargo xtask conformance`: runs Mono's own test suites through an outside harness.
//!
//! Mono's tests are not part of this repository. The folder named by the environment variable
//! `SAKI_CONFORMANCE` holds the harness: the programs `setup`, `compile SUITE` and `run COMMAND SUITE`.
//! This wrapper only picks the suites, the runtime and the test list, and passes the verdict on.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tool::Outcome;

const SUITES: [&str; 3] = ["mini", "tests", "mcs"];

#[derive(clap::Args)]
pub struct Options {
    /// Suites to run: mini, tests, mcs (default: all three).
    suites: Vec<String>,
    /// Runtime command; the program's path is appended (default: target/release/saki).
    #[arg(long)]
    saki: Option<String>,
    /// Fetch the sources and compile the suites first.
    #[arg(long)]
    setup: bool,
    /// Run every test of a suite, not only those of its open list.
    #[arg(long)]
    all: bool,
    /// Run only the tests whose name matches this regular expression.
    #[arg(long, value_name = "RE")]
    filter: Option<String>,
    /// Name of this run in the harness's result files.
    #[arg(long)]
    label: Option<String>,
}

/// Runs the chosen suites. Errors: no harness, an unknown suite, or the harness could not complete a run;
/// failing tests are the harness's report, not an error.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let harness = std::env::var_os("SAKI_CONFORMANCE")
        .map(PathBuf::from)
        .ok_or("SAKI_CONFORMANCE does not name the conformance harness's folder")?;
    let suites: Vec<&str> =
        if options.suites.is_empty() { SUITES.to_vec() } else { options.suites.iter().map(String::as_str).collect() };
    if let Some(unknown) = suites.iter().find(|s| !SUITES.contains(s)) {
        return Err(format!("unknown suite {unknown}; there are {}", SUITES.join(", ")));
    }
    let saki = crate::tool::runtime_command(root, options.saki.as_deref())?.join(" ");
    if options.setup {
        step(&harness, "setup", &[])?;
        for suite in &suites {
            step(&harness, "compile", &[suite])?;
        }
    }
    for suite in &suites {
        let mut arguments = vec![saki.as_str(), suite];
        let list = harness.join(format!("open-{suite}.txt")).display().to_string();
        if !options.all && Path::new(&list).exists() {
            arguments.extend(["--list", &list]);
        }
        if let Some(filter) = &options.filter {
            arguments.extend(["--match", filter]);
        }
        if let Some(label) = &options.label {
            arguments.extend(["--label", label]);
        }
        step(&harness, "run", &arguments)?;
    }
    Ok(true)
}

fn step(harness: &Path, tool: &str, arguments: &[&str]) -> Result<(), String> {
    let path = harness.join(tool);
    eprintln!("{tool} {}", arguments.join(" "));
    // Tests start from nothing, each by itself.
    let mut command = Command::new(&path);
    let status = command
        .args(arguments)
        .env("SAKI_NO_CACHE", "true")
        .status()
        .map_err(|e| format!("cannot start {}: {e}", path.display()))?;
    if status.success() { Ok(()) } else { Err(format!("{tool}: {status}")) }
}
