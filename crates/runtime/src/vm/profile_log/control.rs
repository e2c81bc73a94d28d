//! The settings of its own log that a program may change, by `Mono.Profiler.Log.LogProfiler`.
//!
//! The numbers are stored and read Relaxed: a thread that sees a change late writes a little more or less.

use super::settings::{HeapShots, SampleClock};
use super::{LOG, Log, LogEvents, heap_shots};
use crate::events;
use saki_gc::Sampler;
use std::sync::atomic::Ordering;

/// Whether there is a log.
pub fn is_attached() -> bool {
    LOG.get().is_some()
}

/// Whether events of a kind are written.
pub fn are_events_on(kind: LogEvents) -> bool {
    super::is_on(kind)
}

/// Switches the writing of a kind of events on or off.
pub fn set_events(kind: LogEvents, are_wanted: bool) {
    let Some(log) = LOG.get().filter(|log| !log.is_over()) else { return };
    if are_wanted {
        events::change_logged(kind, true);
        log.tell_heap();
    } else {
        log.end_events(kind);
    }
}

/// The most methods of a stack that are written.
pub fn max_frames() -> usize {
    LOG.get().map_or(0, |log| log.max_frames.load(Ordering::Relaxed))
}

pub fn set_max_frames(count: usize) {
    if let Some(log) = LOG.get() {
        log.max_frames.store(count, Ordering::Relaxed);
    }
}

pub fn max_call_depth() -> u32 {
    LOG.get().map_or(0, |log| log.max_call_depth.load(Ordering::Relaxed))
}

pub fn set_max_call_depth(depth: u32) {
    if let Some(log) = LOG.get() {
        log.max_call_depth.store(depth, Ordering::Relaxed);
    }
}

pub fn heap_shots() -> HeapShots {
    LOG.get().map_or(HeapShots::Never, |log| *log.heap_shots.lock())
}

pub fn set_heap_shots(mode: HeapShots) {
    if let Some(log) = LOG.get() {
        *log.heap_shots.lock() = mode;
        heap_shots::begin(mode);
    }
}

/// Runs a full collection and writes the live objects. The current thread waits as at a safepoint.
pub fn take_heap_shot() {
    if let Some(log) = LOG.get().filter(|log| !log.is_over()) {
        heap_shots::take(log);
    }
}

/// The clock of samples, and the number of samples per second.
pub fn samples() -> Option<(SampleClock, u32)> {
    let log = LOG.get()?;
    // The thread that holds the lock may wait for a stop of the world, so this one counts as stopped.
    saki_thread::blocking(|| *log.samples.lock())
}

/// Sets the clock and rate of samples from now on, or ends them. False: the setting was refused. As under Mono, only a
/// log that was started with samples can change this.
pub fn set_samples(wanted: Option<(SampleClock, u32)>) -> bool {
    let Some(log) = LOG.get().filter(|log| !log.is_over() && log.settings.samples.is_some()) else { return false };
    // While the thread waits for the lock or for the last samples, it counts as stopped.
    saki_thread::blocking(|| {
        let mut samples = log.samples.lock();
        if *samples == wanted {
            return true;
        }
        if samples.take().is_some() {
            let _ = saki_sampler::stop();
        }
        let is_begun = wanted.is_none_or(|(clock, hz)| super::samples::start(clock, hz).is_ok());
        *samples = wanted.filter(|_| is_begun);
        is_begun
    })
}

impl Log {
    /// Makes the heap report the events that are listened to.
    pub(super) fn tell_heap(&self) {
        saki_gc::note_moves(Sampler::Log, super::is_on(LogEvents::MOVE));
        let is_wanted = super::is_on(LogEvents::ALLOCATION);
        saki_gc::sample_allocations(Sampler::Log, if is_wanted { saki_gc::EACH } else { 0 });
    }
}
