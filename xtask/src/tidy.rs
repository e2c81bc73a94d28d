//! `cargo xtask tidy`: the rules that rustfmt and clippy do not know.
//!
//! `source` checks each Rust file by itself, `dependencies` the direction between crates, `cycles` and `layers` that
//! between the files of a crate, `start_and_end` that no crate gains a hook, `messages` that Saki's own words take one
//! door, `locks` that each lock has a rank, `processors` that the processor is asked for in few places, `surroundings`
//! that time, threads and variables have one door each, `forbidden_names` that files do not name what their invariants
//! forbid, `library_names` that names of the class library lie in its profile, `twins` that no type is defined twice,
//! `lists` that lists of older faults only shrink, `outside_crates` what comes into the build from outside, `documents`
//! that the pages' links lead somewhere, `symbols` that they speak of things that exist, `architecture` that
//! ARCHITECTURE.md is short and its tables are true. Every finding is one line `path:line: what is wrong`; warnings do
//! not fail the run.

mod architecture;
mod cycles;
mod dependencies;
mod documents;
mod findings;
mod forbidden_names;
mod layers;
mod library_names;
mod lists;
mod locks;
mod messages;
mod method_calls;
mod modules;
mod outside_crates;
mod processors;
mod rust_lines;
mod rust_text;
mod source;
mod start_and_end;
mod surroundings;
mod symbols;
mod twins;

use std::fs;
use std::path::Path;

use crate::tool::Outcome;
use findings::{Findings, SourceFile};

/// Folders with Rust sources of ours.
const SOURCE_FOLDERS: [&str; 5] = ["crates", "xtask", "tests", "fuzz", "examples"];

#[derive(clap::Args)]
pub struct Options {
    /// Show the largest cycle between the files of this crate (`crates/types`), or the sizes for `all`, and check nothing.
    #[arg(long, value_name = "CRATE")]
    cycle: Option<String>,

    /// Show how long the lists are that may only shrink, by crate, and check nothing.
    #[arg(long)]
    counts: bool,

    /// Show the places of one of these lists, and check nothing.
    #[arg(long, value_name = "LIST")]
    places: Option<String>,
}

/// Runs all checks and prints the findings. Errors: unreadable files.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let mut files = Vec::new();
    for folder in SOURCE_FOLDERS {
        collect(root, &root.join(folder), &mut files)?;
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if let Some(folder) = &options.cycle {
        return cycles::show(&files, folder).map(|()| true);
    }
    if options.counts {
        lists::print_counts(&files);
        return Ok(true);
    }
    if let Some(list) = &options.places {
        return lists::print_places(&files, list).map(|()| true);
    }
    let mut findings = Findings::default();
    let rules = source::Rules::new()?;
    for file in &files {
        rules.check(file, &mut findings);
    }
    dependencies::check(root, &files, &mut findings)?;
    cycles::check(&files, &mut findings);
    layers::check(&files, &mut findings);
    library_names::check(&files, &mut findings);
    messages::check(&files, &mut findings);
    forbidden_names::check(&files, &mut findings);
    lists::check(&files, &mut findings);
    locks::check(&files, &mut findings);
    processors::check(&files, &mut findings);
    start_and_end::check(&files, &mut findings);
    surroundings::check(&files, &mut findings);
    twins::check(&files, &mut findings);
    outside_crates::check(root, &mut findings)?;
    let pages = documents::collect(root)?;
    documents::check(root, &pages, &mut findings)?;
    architecture::check(root, &pages, &mut findings)?;
    symbols::check(root, &pages, &files, &mut findings)?;
    for warning in &findings.warnings {
        println!("warning: {warning}");
    }
    for error in &findings.errors {
        println!("error: {error}");
    }
    println!("tidy: {} files, {} errors, {} warnings", files.len(), findings.errors.len(), findings.warnings.len());
    Ok(findings.errors.is_empty())
}

/// Adds the `.rs` files below `folder`, build output excepted.
fn collect(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) -> Result<(), String> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                collect(root, &path, files)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let path = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
            files.push(SourceFile { path, text });
        }
    }
    Ok(())
}
