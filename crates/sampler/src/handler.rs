//! The signal handler: writes the stack of the interrupted thread into the ring of its OS thread.
//!
//! ```text
//! word 0    weight, managed id << 32 (0: no managed thread)
//! word 1    CLOCK_MONOTONIC in ns, flags << 60
//! then, innermost first, of a native frame one word, the instruction's address; of a managed one two,
//!           the address of its `CodeInfo` with the highest bit set, and the instruction's offset in bytes
//! ```
//!
//! Invariant: async-signal-safe: no lock, no allocation, no system call but `gettid`; bounded by `MAX_FRAMES` and
//! `MAX_NATIVE_FRAMES`; `saki_os::signal` preserves `errno`. The handler cannot be interrupted by itself. While it runs
//! it is in a walk of the code map and says so (`ThreadRecord::busy`), which keeps the bodies that it found from being
//! freed until the reader has read the record (`reader`).

use crate::native_walk::{self, End};
use crate::threads::{self, ThreadRecord};
use saki_os::FaultContext;
use saki_os::signal::Disposition;
use saki_sync::sample_ring::SampleRecord;
use saki_unwind::Frame;
use std::sync::atomic::{Ordering, fence};

/// Managed frames kept: the innermost ones.
pub const MAX_FRAMES: usize = 512;

/// In the first word of a managed frame.
pub const MANAGED: u64 = 1 << 63;

pub const FLAGS_SHIFT: u32 = 60;
pub const TIME_MASK: u64 = (1 << FLAGS_SHIFT) - 1;
/// There are more frames than were kept.
pub const TRUNCATED: u64 = 1;
/// The callers could not be found.
pub const LOST: u64 = 2;
/// A signal of `wall`, not of a timer.
pub const WALL: u64 = 4;

pub fn handle(context: &mut FaultContext) -> Disposition {
    let Some(signal) = context.value().filter(|signal| threads::is_ours(signal.value)) else {
        return Disposition::PassOn;
    };
    // A signal of a timer that is gone may come late.
    let Some(record) = threads::of_signal_value(signal.value) else { return Disposition::Handled };
    let (weight, flags) = match signal.overruns {
        Some(overruns) => (1 + u64::from(overruns), 0),
        // Relaxed: see `wall`. No ticks are counted for a signal that the sampler did not send.
        None => (u64::from(record.ticks.swap(0, Ordering::Relaxed)), WALL),
    };
    if weight == 0 {
        return Disposition::Handled;
    }
    // Relaxed, with the fence: see `reader`. A count, since a handler that came too late may meet one of the record's
    // next thread.
    record.busy.fetch_add(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    // Once more: until the mark the record might have been given to another thread.
    if record.is_of_this_thread() && write(record, context, weight, flags).is_none() {
        record.dropped.fetch_add(weight, Ordering::Relaxed);
    }
    // Release: the reader that sees it sees the sample.
    record.busy.fetch_sub(1, Ordering::Release);
    Disposition::Handled
}

/// Returns `None` if the ring is full.
fn write(record: &ThreadRecord, context: &FaultContext, weight: u64, mut flags: u64) -> Option<()> {
    const FLAGS_AT: usize = 1;
    let thread = saki_thread::current();
    let time_ns = saki_os::clock::monotonic_ns();
    let mut sample = record.ring.begin();
    let managed_id = thread.map_or(0, |thread| thread.managed_id());
    let mut has_room = sample.push(weight.min(u32::MAX.into()) | u64::from(managed_id) << 32) && sample.push(time_ns);
    let walk = saki_code::walks().enter();
    match thread {
        None => has_room &= sample.push(context.pc() as u64),
        Some(thread) => {
            // SAFETY: the current thread, in the handler that got `context`.
            let (end, managed) =
                unsafe { native_walk::walk(thread.abi(), context, |pc| has_room &= sample.push(pc as u64)) };
            let mut frames = managed;
            let (mut kept, mut outermost) = (0, None);
            loop {
                let Some(frame) = frames.as_mut().and_then(Iterator::next) else {
                    // Code that native code called back ends the walk without an entry; what called the native code is
                    // behind the last exit.
                    // SAFETY: the current thread; the walk in this handler has just found the frame.
                    frames = unsafe { native_walk::behind_callback(thread.abi(), outermost.take()) }.map(Into::into);
                    if frames.is_none() {
                        break;
                    }
                    continue;
                };
                if kept == MAX_FRAMES {
                    flags |= TRUNCATED;
                    break;
                }
                has_room &= push_managed(&mut sample, &frame);
                kept += 1;
                outermost = Some(frame);
            }
            if end == End::Lost || end == End::Managed && kept == 0 {
                flags |= LOST;
            }
        }
    }
    if has_room {
        sample.set(FLAGS_AT, time_ns | flags << FLAGS_SHIFT);
    }
    let is_written = has_room && sample.finish();
    drop(walk);
    is_written.then_some(())
}

fn push_managed(sample: &mut SampleRecord<'_>, frame: &Frame) -> bool {
    let (Some(info), Some(offset)) = (frame.code(), frame.native_offset()) else { return true };
    sample.push(std::ptr::from_ref(info).addr() as u64 | MANAGED) && sample.push(offset.into())
}
