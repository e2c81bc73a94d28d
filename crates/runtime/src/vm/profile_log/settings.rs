//! The settings of a log: which events it holds and where it is written.

use super::callspec::CallSpec;
use saki_profile::mlpd::output::Output;

/// A set of kinds of events, under the names that Mono's option has for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogEvents(u32);

impl LogEvents {
    pub const NONE: LogEvents = LogEvents(0);
    pub const EXCEPTION: LogEvents = LogEvents(1 << 0);
    pub const MONITOR: LogEvents = LogEvents(1 << 1);
    pub const GC: LogEvents = LogEvents(1 << 2);
    pub const ALLOCATION: LogEvents = LogEvents(1 << 3);
    pub const MOVE: LogEvents = LogEvents(1 << 4);
    pub const ROOT: LogEvents = LogEvents(1 << 5);
    pub const HANDLE: LogEvents = LogEvents(1 << 6);
    pub const FINALIZATION: LogEvents = LogEvents(1 << 7);
    pub const COUNTER: LogEvents = LogEvents(1 << 8);
    pub const JIT: LogEvents = LogEvents(1 << 9);
    /// Methods' begin and end; `LogSettings::calls`.
    pub(crate) const CALLS: LogEvents = LogEvents(1 << 16);
    /// Threads, and whatever descriptions need.
    pub(crate) const ALWAYS: LogEvents = LogEvents(1 << 17);

    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether it has any of these.
    pub const fn has(self, other: LogEvents) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub const fn with(self, other: LogEvents) -> LogEvents {
        LogEvents(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, other: LogEvents) -> LogEvents {
        LogEvents(self.0 & !other.0)
    }
}

impl std::ops::BitOr for LogEvents {
    type Output = LogEvents;

    fn bitor(self, other: LogEvents) -> LogEvents {
        self.with(other)
    }
}

/// The maximum frames of a stack, as in Mono.
pub const MAX_FRAMES: usize = 32;

/// More than that the sampler itself would take most of the time.
pub const MAX_SAMPLES_A_SECOND: u32 = 100_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SampleClock {
    /// Processor time of each thread.
    Processor,
    /// Time by the clock on the wall.
    Wall,
}

/// When all objects of the heap are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HeapShots {
    #[default]
    Never,
    /// At full collections.
    Full,
    /// At the first full collection after so many milliseconds, and again.
    EveryMilliseconds(u32),
    /// At every so many full collections.
    EveryCollections(u32),
    /// When a client of the command server asks for it.
    OnDemand,
}

/// The settings of `--profile=log:`.
#[derive(Clone, PartialEq, Debug)]
pub struct LogSettings {
    /// The whole option, which the file's header repeats.
    pub arguments: String,
    pub events: LogEvents,
    pub samples: Option<(SampleClock, u32)>,
    pub calls: bool,
    pub callspec: CallSpec,
    /// Calls that are nested deeper are not written.
    pub max_call_depth: u32,
    /// How many innermost frames of a stack are written. 0 = events without stacks.
    pub max_frames: usize,
    pub heap_shots: HeapShots,
    pub shot_at_end: bool,
    /// Where commands are listened for; 0 = on any port.
    pub port: Option<u16>,
    pub output: Output,
    pub is_zipped: bool,
}

impl LogSettings {
    pub(crate) fn effective_events(&self) -> LogEvents {
        let calls = if self.calls { LogEvents::CALLS } else { LogEvents::NONE };
        self.events | calls | LogEvents::ALWAYS
    }
}
