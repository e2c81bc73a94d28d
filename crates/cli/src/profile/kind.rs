//! The kinds of measurements of `saki profile`: their names, units, and what the sampler records for them.

use saki_profile::Unit;
use saki_sampler::{EventKind, Kinds, What};

/// The kinds of measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProfileKind {
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

impl ProfileKind {
    /// All kinds, in the order in which help texts name them.
    pub const ALL: [ProfileKind; 13] = [
        ProfileKind::Cpu,
        ProfileKind::Wall,
        ProfileKind::Alloc,
        ProfileKind::Lock,
        ProfileKind::Exceptions,
        ProfileKind::Gc,
        ProfileKind::Io,
        ProfileKind::Sched,
        ProfileKind::Jit,
        ProfileKind::Code,
        ProfileKind::Load,
        ProfileKind::Threads,
        ProfileKind::Handles,
    ];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            ProfileKind::Cpu => "cpu",
            ProfileKind::Wall => "wall",
            ProfileKind::Alloc => "alloc",
            ProfileKind::Lock => "lock",
            ProfileKind::Exceptions => "exceptions",
            ProfileKind::Gc => "gc",
            ProfileKind::Io => "io",
            ProfileKind::Sched => "sched",
            ProfileKind::Jit => "jit",
            ProfileKind::Code => "code",
            ProfileKind::Load => "load",
            ProfileKind::Threads => "threads",
            ProfileKind::Handles => "handles",
        }
    }

    /// For the help.
    pub fn about(self) -> &'static str {
        match self {
            ProfileKind::Cpu => "processor time of each thread, sampled",
            ProfileKind::Wall => "what every thread does at each moment, whether it runs or waits, sampled",
            ProfileKind::Alloc => "allocated bytes, sampled",
            ProfileKind::Lock => "time that threads waited for locks",
            ProfileKind::Exceptions => "exceptions that were thrown",
            ProfileKind::Gc => "time that collections stopped the program",
            ProfileKind::Io => "time that calls to files, pipes, terminals and sockets took",
            ProfileKind::Sched => "time that green threads could have run and waited for their turn",
            ProfileKind::Jit => "time until methods had their code, by compiler",
            ProfileKind::Code => "bytes of compiled code, by method and compiler",
            ProfileKind::Load => "types that were used for the first time",
            ProfileKind::Threads => "threads that were started or ended",
            ProfileKind::Handles => "GC handles that were created or freed",
        }
    }

    /// What the values of such a profile count.
    pub fn unit(self) -> Unit {
        match self {
            ProfileKind::Cpu
            | ProfileKind::Wall
            | ProfileKind::Lock
            | ProfileKind::Gc
            | ProfileKind::Io
            | ProfileKind::Sched
            | ProfileKind::Jit => Unit::Nanoseconds,
            ProfileKind::Alloc | ProfileKind::Code => Unit::Bytes,
            ProfileKind::Exceptions | ProfileKind::Load | ProfileKind::Threads | ProfileKind::Handles => Unit::Count,
        }
    }

    /// What the sampler has to record for it.
    pub fn what(self) -> What {
        What::Events(match self {
            ProfileKind::Cpu => return What::Cpu,
            ProfileKind::Wall => return What::Wall,
            ProfileKind::Code => return What::CodeBytes,
            ProfileKind::Alloc => Kinds::of(&[EventKind::Allocation]),
            ProfileKind::Lock => Kinds::of(&[EventKind::LockWait]),
            ProfileKind::Exceptions => Kinds::of(&[EventKind::Exception]),
            ProfileKind::Gc => Kinds::of(&[EventKind::Collection]),
            ProfileKind::Io => Kinds::of(&[EventKind::IoWait]),
            ProfileKind::Sched => Kinds::of(&[EventKind::Dispatch]),
            ProfileKind::Jit => Kinds::of(&[EventKind::Compilation]),
            ProfileKind::Load => Kinds::of(&[EventKind::TypeLoad]),
            ProfileKind::Threads => Kinds::of(&[EventKind::ThreadStart, EventKind::ThreadEnd]),
            ProfileKind::Handles => Kinds::of(&[EventKind::HandleCreated, EventKind::HandleFreed]),
        })
    }
}

impl std::str::FromStr for ProfileKind {
    type Err = String;

    fn from_str(name: &str) -> Result<ProfileKind, String> {
        ProfileKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<&str> = ProfileKind::ALL.iter().map(|kind| kind.name()).collect();
            format!("'{name}' is not one of {}", names.join(", "))
        })
    }
}

/// A word of the list of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KindWord {
    Profile(ProfileKind),
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
        ProfileKind::ALL
            .iter()
            .for_each(|kind| assert_eq!(Unit::of_kind(kind.name()), Some(kind.unit()), "{}", kind.name()));
        assert_eq!(Unit::of_kind(HEAP), None);
    }

    #[test]
    fn words_are_kinds_or_the_heap() {
        assert_eq!(parse_kinds("cpu,heap"), Ok(vec![KindWord::Profile(ProfileKind::Cpu), KindWord::Heap]));
        let refused = parse_kinds("cpu,x").unwrap_err();
        assert!(
            refused.starts_with("'x' is not one of cpu, wall") && refused.ends_with(", handles, heap"),
            "{refused}"
        );
    }
}
