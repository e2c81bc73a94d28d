//! Faults that mutants showed: how they are classed and kept.

use super::mutator::{Mutant, Original};
use std::fs;
use std::path::Path;

/// A mutant that showed a fault of the virtual machine.
pub struct Fault {
    pub(super) program: String,
    pub(super) index: u64,
    /// `check`, `run` or `reflect`.
    pub(super) mode: &'static str,
    /// How it ended, and where, as far as the messages say.
    pub(super) class: String,
    pub(super) messages: String,
    pub(super) mutant: Mutant,
}

impl Fault {
    pub(super) fn new(
        original: &Original,
        index: u64,
        mode: &'static str,
        end: &str,
        messages: &str,
        mutant: Mutant,
    ) -> Fault {
        let class = match place_of_fault(messages) {
            Some(place) => format!("{end}: {place}"),
            None => end.to_owned(),
        };
        Fault { program: original.name.clone(), index, mode, class, messages: messages.to_owned(), mutant }
    }

    pub(super) fn keep(&self, folder: &Path, seed: u64) -> Result<(), String> {
        let name = format!("{}-{}-{seed}-{}", self.program.replace('/', "+"), self.mode, self.index);
        let text = format!(
            "{} {} seed {seed} index {}\n{}\n{}\n\n{}",
            self.mode,
            self.program,
            self.index,
            self.class,
            self.mutant.changes.join("\n"),
            self.messages
        );
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(folder.join(format!("{name}.exe")), &self.mutant.bytes))
            .and_then(|()| fs::write(folder.join(format!("{name}.txt")), text))
            .map_err(|e| format!("{}: {e}", folder.display()))
    }
}

/// The line of a message that says where the fault is: of a panic the place, of an internal error the first line.
fn place_of_fault(messages: &str) -> Option<String> {
    let line = messages
        .lines()
        .find(|l| l.contains("panicked at") || l.contains("internal error at") || l.contains("Stack overflow"))
        .or_else(|| messages.lines().find(|l| l.starts_with("saki: signal")))?;
    // Of a panic in someone else's code: who called it.
    let own = line.find("crates/").map(|at| &line[at..]);
    let caller = || {
        messages
            .lines()
            .filter(|l| l.trim_start().starts_with("at "))
            .find_map(|l| l.find("crates/").map(|at| &l[at..]))
    };
    Some(own.or_else(caller).unwrap_or(line).chars().take(160).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_by_their_place() {
        let panic = "\nthread 'main' (7) panicked at crates/types/src/vtable.rs:60:5:\nindex out of bounds";
        assert_eq!(place_of_fault(panic).as_deref(), Some("crates/types/src/vtable.rs:60:5:"));
        let elsewhere = "thread 'main' panicked at out/isle.rs:1:1:\n   0: core::panic\n  at library/core\n   1: finish\n   at \
                         /home/saki/crates/jit/src/compiler.rs:2:3";
        assert_eq!(place_of_fault(elsewhere).as_deref(), Some("crates/jit/src/compiler.rs:2:3"));
        assert_eq!(place_of_fault("Unhandled Exception"), None);
    }
}
