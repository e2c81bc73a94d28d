//! `cargo xtask`: the project's own tools, in Rust so that a fresh machine needs nothing but cargo.
//!
//! Each subcommand lives in a module of its own; this file only parses the command line and turns
//! results into the exit status (0 = all well, 1 = a check failed or the tool could not run).
//! `tool`, `process` and `elf` are for all of them; `programs` compiles and runs what other subcommands look at, too.
//! Left out on purpose: building and installing Saki, which the `x` script does.

mod bench;
mod conformance;
mod contract;
mod elf;
mod filetests;
mod models;
mod mutate;
mod process;
mod programs;
mod realworld;
mod release;
mod start_order;
mod tidy;
mod tool;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tool::repository_root;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Saki's project tools")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the source tree against the project's rules.
    Tidy(tidy::Options),
    /// Compile and run the C#/IL programs of tests/programs and compare their output.
    Programs(programs::Options),
    /// Compile the methods of tests/filetests and compare their IR and machine code.
    Filetests(filetests::Options),
    /// Run real programs under Saki and under Mono and compare what they do.
    Realworld(realworld::Options),
    /// Run Mono's own test suites through the harness named by SAKI_CONFORMANCE.
    Conformance(conformance::Options),
    /// Compare class libraries with what Saki relies on in them.
    Contract(contract::Options),
    /// Show that the loom models fail when what they model is weakened.
    Models(models::Options),
    /// Load, compile and run changed copies of the programs, and demand that none brings Saki down.
    Mutate(mutate::Options),
    /// Run a command on a fresh machine of another Debian release, a chroot in target/debian.
    Release(release::Options),
    /// List the functions that starts run, for the linker to lay them together.
    StartOrder(start_order::Options),
    /// Measure Saki against Mono and CoreCLR.
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let root = repository_root();
    let outcome = match Cli::parse().command {
        Command::Tidy(options) => tidy::run(&root, &options),
        Command::Programs(options) => programs::run(&root, &options),
        Command::Filetests(options) => filetests::run(&root, &options),
        Command::Realworld(options) => realworld::run(&root, &options),
        Command::Conformance(options) => conformance::run(&root, &options),
        Command::Contract(options) => contract::run(&root, &options),
        Command::Models(options) => models::run(&root, &options),
        Command::Mutate(options) => mutate::run(&root, &options),
        Command::Release(options) => release::run(&root, &options),
        Command::StartOrder(options) => start_order::run(&root, &options),
        Command::Bench(options) => bench::run(&root, &options),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
