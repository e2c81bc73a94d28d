//! The results of a run: one line a program on the terminal, a table at the end, and `docs/compatibility.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::list::{Peer, ProgramEntry};
use super::namespaces::Namespace;
use crate::process::Finished;

/// How a program's run under Saki compares with that under its peer.
pub enum Verdict {
    /// As under the peer.
    Same,
    /// With the first difference.
    Differs(String),
    /// Differs, for this known reason.
    Waits(String),
    /// Could not be run here, for this reason.
    Skipped(String),
}

/// What a program cost under one runtime.
pub struct Cost {
    cpu_seconds: f64,
    max_rss_mib: u64,
}

impl From<&Finished> for Cost {
    fn from(finished: &Finished) -> Cost {
        Cost { cpu_seconds: finished.cpu.as_secs_f64(), max_rss_mib: finished.max_rss_kib / 1024 }
    }
}

/// A program's row in the table.
pub struct Row {
    name: String,
    about: String,
    pub verdict: Verdict,
    peer: Peer,
    pub theirs: Option<Cost>,
    pub saki: Option<Cost>,
    /// Name, the peer's value, Saki's value.
    pub figures: Vec<(String, String, Option<String>)>,
}

impl Row {
    /// The row of a program that has not been run.
    pub fn new(entry: &ProgramEntry) -> Row {
        Row {
            name: entry.name.clone(),
            about: entry.about.clone(),
            verdict: Verdict::Skipped("not run".to_owned()),
            peer: entry.peer,
            theirs: None,
            saki: None,
            figures: Vec::new(),
        }
    }

    /// The result as one line, or more for a difference.
    pub fn line(&self) -> String {
        match &self.verdict {
            Verdict::Same => format!("ok   {}", self.name),
            Verdict::Differs(what) => format!("FAIL {}: {what}", self.name),
            Verdict::Waits(why) => format!("wait {}: {why}", self.name),
            Verdict::Skipped(why) => format!("skip {}: {why}", self.name),
        }
    }

    fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Same => "works",
            Verdict::Differs(_) => "differs",
            Verdict::Waits(_) => "waits",
            Verdict::Skipped(_) => "not run",
        }
    }

    fn remark(&self) -> String {
        let mut parts: Vec<String> = match &self.verdict {
            Verdict::Same => Vec::new(),
            Verdict::Differs(why) | Verdict::Waits(why) | Verdict::Skipped(why) => {
                vec![why.lines().next().unwrap_or("").to_owned()]
            }
        };
        for (name, theirs, saki) in &self.figures {
            parts.push(format!("{name}: {} ({} {theirs})", saki.as_deref().unwrap_or("-"), self.peer.name()));
        }
        parts.join("; ")
    }
}

/// Seconds of processor time and peak memory, empty where the program was not run.
fn costs(cost: Option<&Cost>) -> (String, String) {
    cost.map_or_else(Default::default, |c| (format!("{:.2}", c.cpu_seconds), c.max_rss_mib.to_string()))
}

pub fn table(rows: &[Row]) -> String {
    let mut out = String::from("program          result    CPU s  (peer)   MiB (peer)  remark\n");
    for row in rows {
        let ((saki, saki_mib), (theirs, their_mib)) = (costs(row.saki.as_ref()), costs(row.theirs.as_ref()));
        let _ = writeln!(
            out,
            "{:16} {:8} {saki:>6} {theirs:>8} {saki_mib:>5} {their_mib:>6}  {}",
            row.name,
            row.word(),
            row.remark()
        );
    }
    out
}

/// The table of the programs with this peer.
fn write_programs(out: &mut String, rows: &[Row], peer: Peer) {
    let name = peer.name();
    let _ = writeln!(
        out,
        "| program | what is run | result | CPU s | {name} | MiB | {name} | remark |\n|---|---|---|---|---|---|---|---|"
    );
    for row in rows.iter().filter(|row| row.peer == peer) {
        let ((saki, saki_mib), (theirs, their_mib)) = (costs(row.saki.as_ref()), costs(row.theirs.as_ref()));
        let _ = writeln!(
            out,
            "| {} | {} | {} | {saki} | {theirs} | {saki_mib} | {their_mib} | {} |",
            row.name,
            row.about,
            row.word(),
            row.remark().replace('|', "\\|")
        );
    }
}

/// Which releases were tested, written by hand.
const RELEASES: &str = "tests/realworld/releases.md";

/// What programs see differently from Mono and .NET, written by hand.
const DIFFERENCES: &str = "tests/realworld/differences.md";

/// Writes docs/compatibility.md. Errors: `RELEASES` or `DIFFERENCES` cannot be read; the file cannot be written.
pub fn write(root: &Path, rows: &[Row], namespaces: &[Namespace]) -> Result<(), String> {
    let by_hand = |file: &str| fs::read_to_string(root.join(file)).map_err(|e| format!("{file}: {e}"));
    let mut out = format!(
        "# Compatibility\n\nWritten by `cargo xtask realworld --markdown` (Releases: `{RELEASES}`; what programs see differently: `{DIFFERENCES}`); do not edit.\n\n{}\n{}",
        by_hand(RELEASES)?,
        by_hand(DIFFERENCES)?
    );
    out.push_str(
        "\n## Programs\n\n\
         Unchanged programs, run by Saki and by Mono 6.8: *works* means equal standard output, exit code and files \
         (assemblies apart from MVID and time stamp).\nCPU seconds include start-up and compiling; memory is the peak of the \
         largest process.\n\n",
    );
    write_programs(&mut out, rows, Peer::Mono);
    out.push_str(
        "\n## Programs for .NET\n\nUnchanged programs, run by Saki and by .NET 9.0.5 on its class libraries, without a code cache. \
         `./x realworld --only net` fetches those\nof npm and PyPI, which were built for .NET 8 to 10. Programs in a single file are compared with the .NET \
         that they have inside (8.0.30, 10.0.13); Saki\nruns them on 9.0.5 and 10.0.13. In Python and Node.js, the .NET that pythonnet and node-api-dotnet load.\n\n",
    );
    write_programs(&mut out, rows, Peer::Net);
    out.push_str(
        "\n## Namespaces\n\nPrograms of `tests/realworld/namespaces`, each with many checks (a group of calls and what they print, \
         exceptions included), run by both. *Works*: every check prints the same; *partly*: some differ.\n\n\
         | namespace | result | checks | the same | remark |\n|---|---|---|---|---|\n",
    );
    for n in namespaces {
        let remark = n.remark().replace('|', "\\|");
        let _ = writeln!(out, "| {} | {} | {} | {} | {remark} |", n.name, n.word(), n.checks, n.same());
    }
    let path = root.join("docs/compatibility.md");
    fs::write(&path, out).map_err(|e| format!("{}: {e}", path.display()))
}
