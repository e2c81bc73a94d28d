//! What the addresses of roots in heap shots are: events `gcroot`.
//!
//! Mono tells of each region of roots when it is registered. Here roots are in tables that are not registered one by one, so a region is told before the first heap
//! shot that has a root in it, and its end before the first one that has none any more. A thread's stack is one region, any other root its own word.
//!
//! Invariant: as heap shots: on a collector thread, with the world stopped; locks are held between two safepoints only.

use super::{COLLECTOR_THREAD, Log, LogEvents, log_of, now_ns};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use saki_gc::{Root, RootKind};
use saki_profile::mlpd::event::{self, root_source};
use saki_types::Type;
use std::ops::Range;

/// Regions that were told: the heap shot that had the last root in them, by their first address.
#[derive(Default)]
pub(super) struct RootRegions {
    last_seen: Mutex<FxHashMap<usize, u64>>,
}

/// Where a root of the heap shot lies.
fn region_of(root: &Root) -> Range<usize> {
    let word = root.address..root.address + size_of::<usize>();
    let Some(thread) = root.thread.filter(|_| root.kind == RootKind::Stack) else { return word };
    // SAFETY: a managed thread's structure is never freed, and the thread is stopped.
    let stack = unsafe { (*thread.abi()).stack_limit..(*thread.abi()).stack_base };
    // Registers are saved elsewhere.
    if stack.contains(&root.address) { stack } else { word }
}

fn source_of(kind: RootKind) -> u8 {
    match kind {
        RootKind::Static { .. } => root_source::STATIC,
        RootKind::ThreadStatic { .. } => root_source::THREAD_STATIC,
        RootKind::Handle | RootKind::PinnedHandle => root_source::GC_HANDLE,
        RootKind::Stack => root_source::STACK,
        RootKind::Thread => root_source::THREADING,
        RootKind::Finalizer => root_source::FINALIZER_QUEUE,
        RootKind::Cell | RootKind::Registered => root_source::EXTERNAL,
    }
}

impl Log {
    /// Tells of the root's region, if it is new. Roots in tables without addresses have none.
    pub(super) fn add_root_region(&self, root: &Root, shot: u64) {
        if root.address == 0 || log_of(LogEvents::ROOT).is_none() {
            return;
        }
        let region = region_of(root);
        let known = self.root_regions.last_seen.lock().insert(region.start, shot);
        if known.is_some() {
            return;
        }
        let name = match root.kind {
            // SAFETY: a root's type, which lives while the world is stopped.
            RootKind::Static { ty, .. } => unsafe { &*(ty as *const Type) }.full_name(),
            _ => String::new(),
        };
        self.writer.write(COLLECTOR_THREAD, |log| {
            let buffer = log.buffer.event(event::ROOT_REGISTER, now_ns());
            buffer.pointer(region.start as u64).number(region.len() as u64).byte(source_of(root.kind));
            // Without what Mono keeps of it.
            buffer.pointer(0).text(&name);
        });
    }

    /// The heap shot has had all its roots: regions that it has not met are gone.
    pub(super) fn end_root_regions(&self, shot: u64) {
        let mut gone = Vec::new();
        self.root_regions.last_seen.lock().retain(|&start, last| {
            let is_there = *last == shot;
            gone.extend((!is_there).then_some(start));
            is_there
        });
        self.writer.write(COLLECTOR_THREAD, |log| {
            for start in gone {
                log.buffer.event(event::ROOT_UNREGISTER, now_ns()).pointer(start as u64);
            }
        });
    }
}
