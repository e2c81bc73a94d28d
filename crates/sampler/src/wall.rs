//! Wall-clock sampling: records at each tick what every managed thread is doing, waiting threads included.
//!
//! - A thread that runs gets a signal, and its handler takes the sample where it is, as for processor time.
//! - A thread that does not run (blocked, in native code, parked, waiting for its turn) is not woken: its frames are
//!   read while the world is stopped for a moment. Its innermost frame names what it waits for.
//!
//! A late tick or signal counts for all the ticks since the one before. Rounds take a tenth of a processor at most:
//! with very many threads there are fewer rounds, and each counts for more.
//!
//! | `ThreadRecord::ticks` | change | who | ordering |
//! |---|---|---|---|
//! | + n | the ticks that the next signal is to count for | this thread, before it sends the signal | Relaxed: a sum; the kernel orders the signal behind it |
//! | → 0 | taken by a sample | the handler | Relaxed |
//!
//! Invariant: no stopped thread allocates or takes a lock for this; the sampling thread is not a managed thread. Left
//! out: the machine's own threads that are not managed.

use crate::carriers::{SIGNAL, record_of};
use crate::handler::{FLAGS_SHIFT, MANAGED, MAX_FRAMES, TRUNCATED};
use crate::reader_thread::READER;
use saki_os::clock::Moment;
use saki_os::services;
use saki_thread::{ManagedThread, StopReason, WaitState};
use saki_unwind::Frames;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Rounds take at most this part (one in so many) of a processor's time.
const MAX_SHARE: u32 = 10;

/// Rounds until `is_over`.
pub fn run(interval: Duration, is_over: impl Fn() -> bool) {
    let mut last = Moment::now();
    while !is_over() {
        services::machine().pause(interval.saturating_sub(last.elapsed()));
        let begun = Moment::now();
        let ticks = ((begun - last).as_nanos() / interval.as_nanos().max(1)).max(1) as u32;
        last = last + interval * ticks;
        let cpu_before_ns = saki_os::clock::thread_cpu_ns();
        round(ticks);
        let rest = Duration::from_nanos(saki_os::clock::thread_cpu_ns() - cpu_before_ns) * (MAX_SHARE - 1);
        if rest > interval {
            services::machine().pause(rest);
        }
    }
}

fn round(ticks: u32) {
    // The running threads, by managed id.
    let mut signalled = Vec::new();
    saki_thread::for_each_carrier(|carrier| {
        let Some(thread) = carrier.current().filter(|thread| !thread.is_in_safe_region()) else { return };
        if let Some(record) = record_of(carrier.native_id()) {
            // Relaxed: see the table.
            record.ticks.fetch_add(ticks, Ordering::Relaxed);
            // A thread that has ended meanwhile is none to be sampled.
            let _ = saki_os::thread::queue_signal(carrier.native_id(), SIGNAL, record.value());
            signalled.push(thread.managed_id());
        }
    });
    signalled.sort_unstable();
    let time_ns = saki_os::clock::monotonic_ns();
    // Keeps the code that frames name until the reader has read the sample.
    let _walk = saki_code::walks().enter();
    let mut samples: Vec<u64> = Vec::new();
    let mut ends = Vec::new();
    saki_thread::with_world_stopped(StopReason::Inspection, |_| {
        saki_thread::for_each_thread(|thread| {
            if signalled.binary_search(&thread.managed_id()).is_err() {
                note(thread, ticks, time_ns, &mut samples);
                ends.push(samples.len());
            }
        });
    });
    let mut reader = READER.lock();
    let Some(running) = reader.as_mut() else { return };
    let mut start = 0;
    for end in ends {
        running.reader.add_sample(&samples[start..end], 0, true);
        start = end;
    }
}

/// Appends a sample in the handler's format, whose innermost frame may be a note (`stack::NOTES`). The world is
/// stopped.
fn note(thread: &'static ManagedThread, ticks: u32, time_ns: u64, samples: &mut Vec<u64>) {
    samples.push(u64::from(ticks) | u64::from(thread.managed_id()) << 32);
    let time_at = samples.len();
    samples.push(time_ns);
    samples.push(match thread.wait_state() {
        // The thread was about to run.
        _ if !thread.is_in_safe_region() => 0,
        WaitState::Sleep => 1,
        WaitState::Join => 2,
        WaitState::Monitor => 3,
        WaitState::Handle => 4,
        WaitState::Running | WaitState::Native if thread.is_safe() => 5,
        WaitState::Running | WaitState::Native => 6,
    });
    // SAFETY: the thread is stopped, and its stack is in its place (`StopReason::Inspection`).
    let frames = unsafe { Frames::of_thread(thread.abi()) };
    for (index, frame) in frames.enumerate() {
        if index == MAX_FRAMES {
            samples[time_at] |= TRUNCATED << FLAGS_SHIFT;
            break;
        }
        if let (Some(info), Some(offset)) = (frame.code(), frame.native_offset()) {
            samples.extend([std::ptr::from_ref(info).addr() as u64 | MANAGED, offset.into()]);
        }
    }
}
