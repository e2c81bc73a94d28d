//! The list of real programs: `tests/realworld/programs.list`.
//!
//! A line `program NAME` begins an entry; `key: value` lines follow. A key without a value on its line (`setup:`,
//! `run:`) takes the indented lines below it, a shell script. Lines that begin with `#` are comments.
//! Invariant: an unknown key or an entry without `about` and `run` is an error, so that a misspelt key cannot switch
//! off a comparison.

/// The runtime that a program is compared with.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    #[default]
    Mono,
    /// The .NET of `target/net/9`, with roll-forward to it from any older one.
    Net,
}

impl Peer {
    /// As users call it.
    pub fn name(self) -> &'static str {
        match self {
            Peer::Mono => "Mono",
            Peer::Net => ".NET 9",
        }
    }
}

/// One program of the list.
#[derive(Default, Debug, PartialEq)]
pub struct ProgramEntry {
    pub name: String,
    /// `peer: net`; Mono without it.
    pub peer: Peer,
    /// What is run, one line for the table.
    pub about: String,
    /// Files and commands that must be there; otherwise the program is skipped. `$VARIABLE` at the beginning of a
    /// path is taken from the environment.
    pub needs: Vec<String>,
    /// Debian packages that bring what is needed.
    pub packages: Vec<String>,
    /// Why the program is not expected to behave as under its peer yet.
    pub waits: Option<String>,
    pub timeout_seconds: Option<u64>,
    /// Output files (by name) that are not compared.
    pub ignored_files: Vec<String>,
    /// Run once, natively or by the peer, in the folder `$SETUP`.
    pub setup: String,
    /// Run under each runtime in an empty folder; `$VM` is the runtime's command.
    pub run: String,
}

/// Reads a list. Errors: the number of the line and what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<ProgramEntry>, String> {
    let mut entries: Vec<ProgramEntry> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let error = |what: &str| format!("line {}: {what}", index + 1);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("program ") {
            let name = name.trim().to_owned();
            if entries.iter().any(|e| e.name == name) {
                return Err(error("this name is used twice"));
            }
            entries.push(ProgramEntry { name, ..ProgramEntry::default() });
            continue;
        }
        let entry = entries.last_mut().ok_or_else(|| error("`program NAME` must come first"))?;
        let (key, value) = line.split_once(':').ok_or_else(|| error("not `key: value`"))?;
        let value = value.trim();
        let words = || value.split_whitespace().map(str::to_owned);
        match key {
            "about" => entry.about = value.to_owned(),
            "peer" if value == "net" => entry.peer = Peer::Net,
            "peer" => return Err(error("`peer` takes `net`")),
            "needs" => entry.needs.extend(words()),
            "packages" => entry.packages.extend(words()),
            "waits" => entry.waits = Some(value.to_owned()),
            "timeout" => {
                entry.timeout_seconds = Some(value.parse().map_err(|_| error("`timeout` takes whole seconds"))?);
            }
            "ignore" => entry.ignored_files.extend(words()),
            "setup" | "run" => {
                let mut script = String::new();
                while let Some((_, line)) = lines.next_if(|(_, l)| l.starts_with("    ") || l.trim().is_empty()) {
                    script.push_str(line.strip_prefix("    ").unwrap_or(""));
                    script.push('\n');
                }
                if !value.is_empty() || script.trim().is_empty() {
                    return Err(error("the script goes below, indented by four spaces"));
                }
                *(if key == "run" { &mut entry.run } else { &mut entry.setup }) = script;
            }
            _ => return Err(error("unknown key")),
        }
    }
    match entries.iter().find(|e| e.about.is_empty() || e.run.is_empty()) {
        Some(entry) => Err(format!("{} lacks `about` or `run`", entry.name)),
        None => Ok(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::{Peer, parse};

    #[test]
    fn entries_with_scripts() {
        let list = parse("# list\nprogram a\nabout: A\nneeds: x y\nrun:\n    one\n      two\n\nprogram b\nabout: B\nrun:\n    three\n")
            .expect("well formed");
        assert_eq!(list.len(), 2);
        assert_eq!(list[0].needs, ["x", "y"]);
        assert_eq!(list[0].run, "one\n  two\n\n");
        assert_eq!(list[1].run, "three\n");
        assert_eq!(list[1].peer, Peer::Mono);
        let net = parse("program a\npeer: net\nabout: A\nrun:\n    one\n").expect("well formed");
        assert_eq!(net[0].peer, Peer::Net);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("about: A\n", "line 1: `program NAME` must come first"),
            ("program a\nabout: A\nrnu:\n    x\n", "line 3: unknown key"),
            ("program a\nabout: A\n", "a lacks `about` or `run`"),
            ("program a\npeer: mono\n", "line 2: `peer` takes `net`"),
            ("program a\nprogram a\n", "line 2: this name is used twice"),
        ] {
            assert_eq!(parse(text).expect_err(text), expected);
        }
    }
}
