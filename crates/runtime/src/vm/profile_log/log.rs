//! The log that is being written.

use super::counters::Counters;
use super::names::Names;
use super::root_regions::RootRegions;
use super::settings::{HeapShots, LogEvents, LogSettings, SampleClock};
use crate::events::is_logged;
use saki_base::locks::{Mutex, rank};
use saki_profile::mlpd::log::LogWriter;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

/// The id for the thread that collections run on; no managed thread has it.
pub(super) const COLLECTOR_THREAD: u64 = 0x1000_0000;
/// The id for the profiler's own threads.
pub(super) const OWN_THREAD: u64 = 0x1000_0001;

pub(super) static LOG: OnceLock<Log> = OnceLock::new();

pub(crate) struct Log {
    pub(super) writer: LogWriter,
    pub(super) names: Names,
    pub(super) settings: LogSettings,
    /// Settings that a program may change (`control`). Relaxed: a thread that sees a change late writes a little more
    /// or less.
    pub(super) max_frames: AtomicUsize,
    pub(super) max_call_depth: AtomicU32,
    pub(super) heap_shots: Mutex<rank::HeapShots, HeapShots>,
    pub(super) samples: Mutex<rank::LogSamples, Option<(SampleClock, u32)>>,
    pub(super) root_regions: RootRegions,
    pub(super) counters: Mutex<rank::LogCounters, Counters>,
    pub(super) has_ended: AtomicBool,
}

/// The log, if it is being written and has a kind of event.
#[inline]
pub(super) fn log_of(kind: LogEvents) -> Option<&'static Log> {
    if is_logged(kind) { LOG.get() } else { None }
}
