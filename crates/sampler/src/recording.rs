//! What a profile is made of: timers' samples, samples by wall-clock time, events.

use crate::events::Kinds;
use saki_profile::Profile;

/// The quantity that a profile measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Samples of timers.
    Cpu,
    /// Samples by wall-clock time.
    Wall,
    /// Events with their values.
    Events(Kinds),
    /// Methods' code in bytes, of `EventKind::Compilation`.
    CodeBytes,
}

/// A profile that is to be made.
pub struct Recording {
    pub what: What,
    /// An empty profile with its name and unit; its period is the value of a sample.
    pub profile: Profile,
}
