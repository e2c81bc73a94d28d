//! The kinds of measurements of `saki profile`: their names, units, and what the sampler records for them.

use saki_profile::Unit;
use saki_sampler::{EventKind, Kinds, What};

/// The kinds of measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Processor time of each thread.
    Cpu,
    /// Wall-clock time of every thread, waiting included.
    Wall,
    /// Allocated bytes.
    Alloc,
    /// Waits for locks.
    Lock,
    Exceptions,
    /// Pauses of collections.
    Gc,
    /// Calls that wait for files, pipes and sockets.
    Io,
    /// Green threads that could run and did not.
    Sched,
    /// Time of compilations.
    Jit,
    /// Compiled code.
    Code,
    /// Types used for the first time.
    Load,
    /// Starts and ends of threads.
    Threads,
    /// GC handles.
    Handles,
}

impl Kind {
    /// All kinds, in the order in which help texts name them.
    pub const ALL: [Kind; 13] = [
        Kind::Cpu,
        Kind::Wall,
        Kind::Alloc,
        Kind::Lock,
        Kind::Exceptions,
        Kind::Gc,
        Kind::Io,
        Kind::Sched,
        Kind::Jit,
        Kind::Code,
        Kind::Load,
        Kind::Threads,
        Kind::Handles,
    ];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cpu => "cpu",
            Kind::Wall => "wall",
            Kind::Alloc => "alloc",
            Kind::Lock => "lock",
            Kind::Exceptions => "exceptions",
            Kind::Gc => "gc",
            Kind::Io => "io",
            Kind::Sched => "sched",
            Kind::Jit => "jit",
            Kind::Code => "code",
            Kind::Load => "load",
            Kind::Threads => "threads",
            Kind::Handles => "handles",
        }
    }

    /// For the help.
    pub fn about(self) -> &'static str {
        match self {
            Kind::Cpu => "processor time of each thread, sampled",
            Kind::Wall => "what every thread does at each moment, whether it runs or waits, sampled",
            Kind::Alloc => "allocated bytes, sampled",
            Kind::Lock => "time that threads waited for locks",
            Kind::Exceptions => "exceptions that were thrown",
            Kind::Gc => "time that collections stopped the program",
            Kind::Io => "time that calls to files, pipes, terminals and sockets took",
            Kind::Sched => "time that green threads could have run and waited for their turn",
            Kind::Jit => "time until methods had their code, by compiler",
            Kind::Code => "bytes of compiled code, by method and compiler",
            Kind::Load => "types that were used for the first time",
            Kind::Threads => "threads that were started or ended",
            Kind::Handles => "GC handles that were created or freed",
        }
    }

    /// What the values of such a profile count.
    pub fn unit(self) -> Unit {
        match self {
            Kind::Cpu | Kind::Wall | Kind::Lock | Kind::Gc | Kind::Io | Kind::Sched | Kind::Jit => Unit::Nanoseconds,
            Kind::Alloc | Kind::Code => Unit::Bytes,
            Kind::Exceptions | Kind::Load | Kind::Threads | Kind::Handles => Unit::Count,
        }
    }

    /// What the sampler has to record for it.
    pub fn what(self) -> What {
        What::Events(match self {
            Kind::Cpu => return What::Cpu,
            Kind::Wall => return What::Wall,
            Kind::Code => return What::CodeBytes,
            Kind::Alloc => Kinds::of(&[EventKind::Allocation]),
            Kind::Lock => Kinds::of(&[EventKind::LockWait]),
            Kind::Exceptions => Kinds::of(&[EventKind::Exception]),
            Kind::Gc => Kinds::of(&[EventKind::Collection]),
            Kind::Io => Kinds::of(&[EventKind::IoWait]),
            Kind::Sched => Kinds::of(&[EventKind::Dispatch]),
            Kind::Jit => Kinds::of(&[EventKind::Compilation]),
            Kind::Load => Kinds::of(&[EventKind::TypeLoad]),
            Kind::Threads => Kinds::of(&[EventKind::ThreadStart, EventKind::ThreadEnd]),
            Kind::Handles => Kinds::of(&[EventKind::HandleCreated, EventKind::HandleFreed]),
        })
    }
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Kind, String> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            format!("'{name}' is not one of {}", names.join(", "))
        })
    }
}

/// A word of the list of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KindWord {
    Profile(Kind),
    /// A heap snapshot, which is not a profile but goes with them.
    Heap,
}

/// The word for a snapshot.
pub const HEAP: &str = "heap";
/// For the help.
pub const ABOUT_HEAP: &str = "what is alive at the end, and what keeps it alive; alone it has options of its own";

impl std::str::FromStr for KindWord {
    type Err = String;

    fn from_str(name: &str) -> Result<KindWord, String> {
        if name == HEAP {
            return Ok(KindWord::Heap);
        }
        name.parse().map(KindWord::Profile).map_err(|error| format!("{error}, {HEAP}"))
    }
}

/// Reads a list of kinds with commas between them.
///
/// # Errors
/// What is wrong with it.
pub fn parse_kinds(text: &str) -> Result<Vec<KindWord>, String> {
    text.split(',').map(str::parse).collect()
}

/// Whether the word is a list of kinds.
pub fn is_kinds(word: &str) -> bool {
    parse_kinds(word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_name_a_kind_have_its_unit() {
        Kind::ALL.iter().for_each(|kind| assert_eq!(Unit::of_kind(kind.name()), Some(kind.unit()), "{}", kind.name()));
        assert_eq!(Unit::of_kind(HEAP), None);
    }

    #[test]
    fn words_are_kinds_or_the_heap() {
        assert_eq!(parse_kinds("cpu,heap"), Ok(vec![KindWord::Profile(Kind::Cpu), KindWord::Heap]));
        let refused = parse_kinds("cpu,x").unwrap_err();
        assert!(
            refused.starts_with("'x' is not one of cpu, wall") && refused.ends_with(", handles, heap"),
            "{refused}"
        );
    }
}
