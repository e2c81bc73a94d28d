//! `cargo xtask conformance`: runs Mono's own test suites.
//!
//! Mono's tests are not part of this repository. On Mono's class libraries they run through an outside harness: the
//! folder named by the environment variable `SAKI_CONFORMANCE` holds the programs `setup`, `compile SUITE` and
//! `run COMMAND SUITE`, and this wrapper only picks the suites, the runtime and the test list, and passes the verdict
//! on. The suites `*-net` are the same tests compiled for modern .NET; `net` fetches, compiles, runs and judges them.

mod net;

use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use crate::tool::Outcome;

const SUITES: [&str; 3] = ["mini", "tests", "mcs"];

#[derive(clap::Args)]
pub struct Options {
    /// Suites to run: mini, tests, mcs (default: these three), mini-net, tests-net, mcs-net (compared with .NET 9).
    suites: Vec<String>,
    /// Runtime command; the program's path is appended (default: target/release/saki).
    #[arg(long)]
    saki: Option<String>,
    /// Fetch the sources and compile the suites first.
    #[arg(long)]
    setup: bool,
    /// Run every test of a suite, not only those of its open list (the suites for .NET have none).
    #[arg(long)]
    all: bool,
    /// How Saki executes threads: SAKI_THREADS=MODE in the environment.
    #[arg(long, value_name = "MODE")]
    threads: Option<String>,
    /// Suites for .NET: seconds that a program may run.
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Suites for .NET: programs run at once (default: the number of processors).
    #[arg(long)]
    jobs: Option<usize>,
    /// Suites for .NET: run with the code cache in this directory; otherwise without one.
    #[arg(long, value_name = "DIR")]
    code_cache: Option<PathBuf>,
    /// Run only the tests whose name matches this regular expression.
    #[arg(long, value_name = "RE")]
    filter: Option<Regex>,
    /// Name of this run in the harness's result files.
    #[arg(long)]
    label: Option<String>,
}

/// Runs the chosen suites. Errors: no harness, an unknown suite, or the harness could not complete a run;
/// failing tests are the harness's report, not an error.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let suites: Vec<&str> =
        if options.suites.is_empty() { SUITES.to_vec() } else { options.suites.iter().map(String::as_str).collect() };
    if let Some(unknown) = suites.iter().find(|s| !SUITES.contains(s) && !net::SUITES.contains(s)) {
        return Err(format!("unknown suite {unknown}; there are {}, {}", SUITES.join(", "), net::SUITES.join(", ")));
    }
    let saki = crate::tool::runtime_command(root, options.saki.as_deref())?;
    let (for_net, suites): (Vec<&str>, Vec<&str>) = suites.into_iter().partition(|s| net::SUITES.contains(s));
    let mut is_well = true;
    for suite in for_net {
        is_well &= net::run(root, suite, &saki, options)?;
    }
    if !suites.is_empty() {
        run_harness(&saki.join(" "), &suites, options)?;
    }
    Ok(is_well)
}

/// Runs the suites on Mono's class libraries.
fn run_harness(saki: &str, suites: &[&str], options: &Options) -> Result<(), String> {
    let harness = std::env::var_os("SAKI_CONFORMANCE")
        .map(PathBuf::from)
        .ok_or("SAKI_CONFORMANCE does not name the conformance harness's folder")?;
    if options.setup {
        step(&harness, "setup", &[], None)?;
        for suite in suites {
            step(&harness, "compile", &[suite], None)?;
        }
    }
    for suite in suites {
        let mut arguments = vec![saki, suite];
        let list = harness.join(format!("open-{suite}.txt")).display().to_string();
        if !options.all && Path::new(&list).exists() {
            arguments.extend(["--list", &list]);
        }
        if let Some(filter) = &options.filter {
            arguments.extend(["--match", filter.as_str()]);
        }
        if let Some(label) = &options.label {
            arguments.extend(["--label", label]);
        }
        step(&harness, "run", &arguments, options.threads.as_deref())?;
    }
    Ok(())
}

fn step(harness: &Path, tool: &str, arguments: &[&str], threads: Option<&str>) -> Result<(), String> {
    let path = harness.join(tool);
    eprintln!("{tool} {}", arguments.join(" "));
    // Tests start from nothing, each by itself.
    let mut command = Command::new(&path);
    if let Some(mode) = threads {
        command.env("SAKI_THREADS", mode);
    }
    let status = command
        .args(arguments)
        .env("SAKI_NO_CACHE", "true")
        .status()
        .map_err(|e| format!("cannot start {}: {e}", path.display()))?;
    if status.success() { Ok(()) } else { Err(format!("{tool}: {status}")) }
}
