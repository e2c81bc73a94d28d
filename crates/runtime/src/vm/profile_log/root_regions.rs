//! Regions that contain the roots of heap shots: events `gcroot`.
//!
//! Mono writes a region of roots when it is registered. Here roots are in tables that are not registered one by one, so
//! a region is written before the first heap shot that has a root in it, and its end before the first heap shot that
//! has none any more. A thread's stack is one region; any other root is a region of one word.
//!
//! Invariant: as for heap shots, this runs on a collector thread with the world stopped; locks are held between two
//! safepoints only.

use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_gc::{Root, RootKind};
use saki_profile::mlpd::event::root_source;
use saki_types::Type;
use std::ops::Range;

/// The regions that the log has, by first address, with the number of the last heap shot that had a root in them.
#[derive(Default)]
pub(super) struct RootRegions {
    last_seen: Mutex<rank::LogRootRegions, FxHashMap<usize, u64>>,
}

/// Where a root of the heap shot lies.
fn region_of(root: &Root) -> Range<usize> {
    let word = root.address..root.address + size_of::<usize>();
    let Some(thread) = root.thread.filter(|_| root.kind == RootKind::Stack) else { return word };
    // SAFETY: a managed thread's structure is never freed, and the thread is stopped.
    let stack = unsafe { (*thread.abi()).stack_limit..(*thread.abi()).stack_base };
    // Saved registers lie outside of the stack.
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

/// A region as it is written to the log.
pub(super) struct NewRegion {
    pub range: Range<usize>,
    pub source: u8,
    /// The name of the type, for a region of a static field; otherwise empty.
    pub name: String,
}

impl RootRegions {
    /// Notes that the heap shot has the root, and returns the root's region if it is new. Roots in tables without
    /// addresses have no region.
    pub(super) fn meet(&self, root: &Root, shot: u64) -> Option<NewRegion> {
        if root.address == 0 {
            return None;
        }
        let range = region_of(root);
        if self.last_seen.lock().insert(range.start, shot).is_some() {
            return None;
        }
        let name = match root.kind {
            // SAFETY: a root's type, which lives while the world is stopped.
            RootKind::Static { ty, .. } => unsafe { &*(ty as *const Type) }.full_name(),
            _ => String::new(),
        };
        Some(NewRegion { range, source: source_of(root.kind), name })
    }

    /// To be called when all roots of the heap shot were noted: removes and returns the regions without root, by first
    /// address.
    pub(super) fn take_gone(&self, shot: u64) -> Vec<usize> {
        let mut gone = Vec::new();
        self.last_seen.lock().retain(|&start, last| {
            let is_there = *last == shot;
            gone.extend((!is_there).then_some(start));
            is_there
        });
        gone
    }
}
