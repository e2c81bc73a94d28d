//! `cargo xtask realworld`: programs nobody here wrote, under Saki and under Mono or .NET, with their behaviour
//! compared.
//!
//! `tests/realworld/programs.list` names the programs (`list` says how). Each one's script runs in an empty folder
//! per runtime; standard output, exit code and every file it leaves must be equal, assemblies apart from what differs
//! between two runs of one compiler (`pe`). Lines `NAME VALUE` that a script appends to `$FIGURES` (requests per
//! second) are reported, not compared.
//! Invariant: a program counts as the same only if both ran its whole script to exit code 0; what is missing, or fails
//! under the peer too, is skipped with its reason.
//! `namespaces` compares programs of `tests/realworld/namespaces` check by check in the same run.
//! Left out: standard error, whose wording is the runtime's own.

mod list;
mod namespaces;
mod pe;
mod report;
mod running;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process::{self, Finished, Job, ProgramEnd};
use crate::programs::diff::diff;
use crate::tool::Outcome;
use list::{Peer, ProgramEntry};
use report::{Row, Verdict};
use running::{ENVIRONMENT, last_words};

/// For a script that names no limit of its own.
const DEFAULT_TIMEOUT_SECONDS: u64 = 180;

/// Lines of a difference that are shown.
const MAX_DIFF_LINES: usize = 20;

#[derive(clap::Args)]
pub struct Options {
    /// Runtime command (default: target/release/saki).
    #[arg(long, value_name = "COMMAND")]
    saki: Option<String>,
    /// Only programs and namespaces with this name, or whose name begins with it and a hyphen; may be given several
    /// times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Print the Debian packages that the programs need, and run nothing.
    #[arg(long)]
    packages: bool,
    /// Run Debian's launchers instead, scripts that execute /usr/bin/mono, with Saki in its place (in a mount
    /// namespace).
    #[arg(long)]
    launchers: bool,
    /// Write docs/compatibility.md from this run, which then is of everything.
    #[arg(long)]
    markdown: bool,
}

/// Runs the list and prints the table. Errors: an unreadable list, no Mono.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let folder = root.join("tests/realworld");
    let path = folder.join(if options.launchers { "launchers.list" } else { "programs.list" });
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut entries = list::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let sources = folder.join("namespaces");
    let mut namespaces = if options.launchers { Vec::new() } else { namespaces::names(&sources)? };
    let is_known = |only: &String| entries.iter().map(|e| &e.name).chain(&namespaces).any(|name| is_named(name, only));
    if let Some(unknown) = options.only.iter().find(|only| !is_known(only)) {
        return Err(format!("no program is called {unknown}"));
    }
    if options.markdown && (!options.only.is_empty() || options.launchers) {
        return Err("--markdown is for a run of everything, without --only and --launchers".to_owned());
    }
    let is_wanted = |name: &String| options.only.is_empty() || options.only.iter().any(|only| is_named(name, only));
    entries.retain(|e| is_wanted(&e.name));
    namespaces.retain(is_wanted);
    if options.packages {
        let mut packages: Vec<String> = entries.into_iter().flat_map(|e| e.packages).collect();
        packages.sort();
        packages.dedup();
        println!("{}", packages.join(" "));
        return Ok(true);
    }
    let suite = Suite {
        saki: crate::tool::runtime_command(root, options.saki.as_deref())?.join(" "),
        data: folder,
        output: root.join("target/realworld"),
        net: root.join("target/net/9"),
        in_place_of_mono: options.launchers,
    };
    if suite.in_place_of_mono {
        suite.check_place()?;
    }
    let mut rows = Vec::new();
    for entry in entries {
        let row = suite.check(&entry);
        println!("{}", row.line());
        rows.push(row);
    }
    let namespaces: Vec<_> = namespaces
        .iter()
        .map(|name| {
            let output = suite.output.join("namespaces").join(name);
            let namespace = namespaces::check(&sources, &output, &suite.saki, name);
            println!("{}", namespace.line());
            namespace
        })
        .collect();
    let differing = namespaces.iter().filter(|n| !n.differs.is_empty()).count();
    let count = |wanted: fn(&Verdict) -> bool| rows.iter().filter(|r| wanted(&r.verdict)).count();
    let failed = count(|v| matches!(v, Verdict::Differs(_)));
    if options.markdown {
        report::write(root, &rows, &namespaces)?;
    }
    println!("{}", report::table(&rows));
    let (checks, same) = namespaces.iter().fold((0, 0), |(c, s), n| (c + n.checks, s + n.same()));
    println!("{} namespaces: {same} of {checks} checks as under Mono", namespaces.len());
    println!(
        "realworld: {} passed, {} failed, {} pending",
        count(|v| matches!(v, Verdict::Same)) + namespaces.len() - differing,
        failed + differing,
        count(|v| matches!(v, Verdict::Waits(_) | Verdict::Skipped(_)))
    );
    Ok(failed + differing == 0)
}

/// Whether `--only WORD` means the program.
fn is_named(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

struct Suite {
    /// The command as the scripts' `$VM`.
    saki: String,
    data: PathBuf,
    output: PathBuf,
    /// A `dotnet` root, if it is there.
    net: PathBuf,
    /// The scripts execute /usr/bin/mono, not `$VM`.
    in_place_of_mono: bool,
}

/// Where launchers find Mono.
const MONO: &str = "/usr/bin/mono";

/// Runs its argument, a script, where the file `$SAKI` lies over Mono's program. Nobody else sees that.
const IN_PLACE_OF_MONO: &str =
    "mount --bind \"$SAKI\" \"$(readlink -f /usr/bin/mono)\" && exec bash -euo pipefail -c \"$1\"";

/// The command line for a script; `saki` lies over Mono if there is one.
fn script_words(script: &str, saki: Option<&str>) -> Vec<String> {
    let words = match saki {
        None => vec!["bash", "-euo", "pipefail", "-c", script],
        Some(_) => vec!["unshare", "--map-root-user", "--mount", "bash", "-c", IN_PLACE_OF_MONO, "bash", script],
    };
    words.into_iter().map(str::to_owned).collect()
}

/// What one runtime made of a program.
struct Observed {
    finished: Finished,
    /// By name, run-dependent parts cleared.
    files: BTreeMap<String, Vec<u8>>,
    figures: BTreeMap<String, String>,
}

impl Suite {
    /// Errors: Saki cannot be put in Mono's place, so that launchers would show nothing.
    fn check_place(&self) -> Result<(), String> {
        let finished = process::run(&Job {
            argv: &script_words(&format!("{MONO} --version"), Some(&self.saki)),
            directory: &self.data,
            environment: &[("SAKI".to_owned(), self.saki.clone())],
            stdin: &[],
            timeout: Duration::from_secs(DEFAULT_TIMEOUT_SECONDS),
        })?;
        if finished.end == ProgramEnd::Exit(0) && String::from_utf8_lossy(&finished.stdout).contains("Saki") {
            return Ok(());
        }
        Err(format!("{} cannot take the place of {MONO} in a mount namespace: {}", self.saki, last_words(&finished)))
    }

    /// What programs for .NET find it by. Those for an older one run on this one, as a user's would.
    fn net_environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("DOTNET_ROOT", self.net.display().to_string()),
            ("DOTNET_ROLL_FORWARD", "Major".to_owned()),
            ("DOTNET_CLI_TELEMETRY_OPTOUT", "1".to_owned()),
            // Results are the same where there is no ICU.
            ("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1".to_owned()),
            ("NET", self.net.join("shared/Microsoft.NETCore.App").display().to_string()),
        ]
    }

    /// The runtime's library of Mono's embedding API; a folder of the environment has Saki's.
    fn mono_library(&self, vm: &str) -> String {
        let folder = match std::env::var("MONO_COMPAT") {
            Ok(folder) if vm == self.saki => folder + "/lib",
            _ => "/usr/lib".to_owned(),
        };
        folder + "/libmonosgen-2.0.so.1"
    }

    fn check(&self, entry: &ProgramEntry) -> Row {
        let mut row = Row::new(entry);
        row.verdict = match self.try_check(entry, &mut row) {
            Ok(verdict) => verdict,
            Err(reason) => Verdict::Differs(reason),
        };
        if let (Verdict::Differs(_), Some(reason)) = (&row.verdict, &entry.waits) {
            row.verdict = Verdict::Waits(reason.clone());
        } else if let (Verdict::Same, Some(reason)) = (&row.verdict, &entry.waits) {
            row.verdict = Verdict::Differs(format!("is as under {} now; remove `waits: {reason}`", entry.peer.name()));
        }
        row
    }

    fn try_check(&self, entry: &ProgramEntry, row: &mut Row) -> Result<Verdict, String> {
        if let Some(missing) = entry.needs.iter().find(|need| !is_there(need)) {
            let packages = match entry.packages.as_slice() {
                [] => String::new(),
                names => format!(" (package {})", names.join(" ")),
            };
            return Ok(Verdict::Skipped(format!("{missing} is not there{packages}")));
        }
        if entry.peer == Peer::Net && !self.net.join("dotnet").exists() {
            return Ok(Verdict::Skipped("target/net/9 is not there (tools/net/setup)".to_owned()));
        }
        let peer = match entry.peer {
            Peer::Mono => "mono".to_owned(),
            Peer::Net => self.net.join("dotnet").display().to_string(),
        };
        let folder = self.output.join(&entry.name);
        let setup = folder.join("setup");
        if !entry.setup.is_empty() {
            let done = self.run_script(entry, &entry.setup, &peer, &setup, &folder.join("setup-figures"))?;
            if done.finished.end != ProgramEnd::Exit(0) {
                return Ok(Verdict::Skipped(format!("set-up: {}: {}", done.finished.end, last_words(&done.finished))));
            }
        }
        let theirs = self.run_script(entry, &entry.run, &peer, &folder.join("peer"), &folder.join("peer-figures"))?;
        if theirs.finished.end != ProgramEnd::Exit(0) {
            let why = last_words(&theirs.finished);
            return Ok(Verdict::Skipped(format!("{} under {}: {why}", theirs.finished.end, entry.peer.name())));
        }
        let saki =
            self.run_script(entry, &entry.run, &self.saki, &folder.join("saki"), &folder.join("saki-figures"))?;
        row.theirs = Some((&theirs.finished).into());
        row.saki = Some((&saki.finished).into());
        row.figures =
            theirs.figures.iter().map(|(k, v)| (k.clone(), v.clone(), saki.figures.get(k).cloned())).collect();
        compare(entry, &theirs, &saki).map(|()| Verdict::Same)
    }

    /// Runs a script in an empty folder, the same for both runtimes because programs print paths, and renames that
    /// folder to `directory`.
    fn run_script(
        &self,
        entry: &ProgramEntry,
        script: &str,
        vm: &str,
        directory: &Path,
        figures: &Path,
    ) -> Result<Observed, String> {
        let folder = self.output.join(&entry.name);
        let setup = folder.join("setup");
        // The set-up stays where it is: it is referred to by its path.
        let place = if directory == setup { setup.clone() } else { folder.join("run") };
        // Absent when this is the first run.
        let _ = fs::remove_dir_all(directory);
        let _ = fs::remove_dir_all(&place);
        let _ = fs::remove_file(figures);
        fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
        let environment: Vec<(String, String)> = [
            ("VM", vm.to_owned()),
            ("SETUP", setup.display().to_string()),
            ("DATA", self.data.display().to_string()),
            ("FIGURES", figures.display().to_string()),
            ("SAKI", self.saki.clone()),
            ("MONO_LIBRARY", self.mono_library(vm)),
        ]
        .into_iter()
        .chain(ENVIRONMENT.map(|(k, v)| (k, v.to_owned())))
        .chain(if entry.peer == Peer::Net { self.net_environment() } else { Vec::new() })
        .map(|(k, v)| (k.to_owned(), v))
        .collect();
        let argv = script_words(script, (self.in_place_of_mono && vm == self.saki).then_some(vm));
        let finished = process::run(&Job {
            argv: &argv,
            directory: &place,
            environment: &environment,
            stdin: &[],
            timeout: Duration::from_secs(entry.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS)),
        })?;
        if place != directory {
            fs::rename(&place, directory).map_err(|e| format!("{}: {e}", place.display()))?;
        }
        let mut files = BTreeMap::new();
        collect_files(directory, directory, &entry.ignored_files, &mut files)?;
        let figures = fs::read_to_string(figures).unwrap_or_default();
        let figures =
            figures.lines().filter_map(|l| l.split_once(' ')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        Ok(Observed { finished, files, figures })
    }
}

/// Errors: the first difference.
fn compare(entry: &ProgramEntry, peer: &Observed, saki: &Observed) -> Result<(), String> {
    let name_of_peer = entry.peer.name();
    if peer.finished.end != saki.finished.end {
        let (ours, theirs) = (saki.finished.end, peer.finished.end);
        return Err(format!("{ours}, under {name_of_peer} {theirs}; {}", last_words(&saki.finished)));
    }
    if peer.finished.stdout != saki.finished.stdout {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let shown = diff(&text(&peer.finished.stdout), &text(&saki.finished.stdout), MAX_DIFF_LINES);
        return Err(format!("standard output (-{name_of_peer} +Saki):\n{shown}"));
    }
    if let Some(name) = peer.files.keys().find(|k| !saki.files.contains_key(*k)) {
        return Err(format!("writes no {name}"));
    }
    if let Some(name) = saki.files.keys().find(|k| !peer.files.contains_key(*k)) {
        return Err(format!("writes {name}, which it does not under {name_of_peer}"));
    }
    for (name, theirs) in &peer.files {
        let ours = &saki.files[name];
        if ours != theirs {
            let place = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
            let kind = if std::str::from_utf8(theirs).is_ok() { "text" } else { "binary" };
            return Err(format!("{}: the {kind} file {name} differs from byte {place} on", entry.name));
        }
    }
    Ok(())
}

/// The files below `directory` by their name relative to `root`.
fn collect_files(
    root: &Path,
    directory: &Path,
    ignored: &[String],
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), String> {
    let error = |e: std::io::Error| format!("{}: {e}", directory.display());
    for item in fs::read_dir(directory).map_err(error)? {
        let path = item.map_err(error)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if ignored.contains(&name) {
            continue;
        }
        if path.is_dir() {
            collect_files(root, &path, ignored, files)?;
            continue;
        }
        let mut content = fs::read(&path).map_err(error)?;
        pe::clear_run_dependent(&mut content);
        let relative = path.strip_prefix(root).unwrap_or(&path);
        files.insert(relative.display().to_string(), content);
    }
    Ok(())
}

/// Whether a path or a command is there.
fn is_there(need: &str) -> bool {
    if let Some(rest) = need.strip_prefix('$') {
        let (variable, path) = rest.split_once('/').unwrap_or((rest, ""));
        return std::env::var_os(variable).is_some_and(|base| Path::new(&base).join(path).exists());
    }
    if need.starts_with('/') {
        return Path::new(need).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(need).exists())
}
