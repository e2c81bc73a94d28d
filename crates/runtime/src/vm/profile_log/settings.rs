//! The settings of a log: which events it holds and where it is written.

use super::callspec::CallSpec;
pub use crate::events::LogEvents;
use saki_profile::mlpd::output::Output;

/// The maximum frames of a stack, as in Mono.
pub const MAX_FRAMES: usize = 32;

/// At a higher rate the sampler itself would take most of the time.
pub const MAX_SAMPLES_A_SECOND: u32 = 100_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SampleClock {
    /// Processor time of each thread.
    Processor,
    /// Wall-clock time.
    Wall,
}

/// The times at which all objects of the heap are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HeapShots {
    #[default]
    Never,
    /// At full collections.
    Full,
    /// At the first full collection after so many milliseconds, and again.
    EveryMilliseconds(u32),
    /// At every n-th full collection.
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
    /// The number of innermost frames of a stack that are written. 0 = events without stacks.
    pub max_frames: usize,
    pub heap_shots: HeapShots,
    pub shot_at_end: bool,
    /// The port of the command server; 0 = any free port.
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
