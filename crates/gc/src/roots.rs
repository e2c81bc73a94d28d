//! Where references outside the heap are: statics, tables of the runtime, threads.
//!
//! Precise slots may be updated (objects move in full collections); words of conservative ranges and objects reported
//! as pinned keep their targets in place for the collection. Stacks and registers are conservative and need no
//! registration. Left out: weak references (`weak`), finalization queues (`finalize`).

use crate::client::{RootKind, client};
use saki_abi::{ObjRef, RefMap};
use saki_base::locks::{Mutex, rank};
use saki_thread::ManagedThread;
use saki_thread::statics::BlockScan;
use std::ops::Range;

/// Registered memory: `words` words from `base` on.
#[derive(Clone, Copy)]
pub(crate) struct RootRange {
    base: usize,
    words: usize,
    /// Whether words of the range may be something else than references.
    pub conservative: bool,
}

impl RootRange {
    /// The addresses of the range.
    pub fn addresses(self) -> Range<usize> {
        self.base..self.base + self.words * 8
    }
}

/// Held for registration and, with the world stopped, for scanning; never across a safepoint.
static RANGES: Mutex<rank::RootRanges, Vec<RootRange>> = Mutex::new(Vec::new());

/// `count` slots from `base` on, each of which holds an object or null: the references among the statics of a type.
///
/// # Safety
/// The memory stays valid until [`unregister_roots`] with the same `base`, and holds nothing but references.
pub unsafe fn register_root_slots(base: *mut ObjRef, count: usize) {
    RANGES.lock().push(RootRange { base: base as usize, words: count, conservative: false });
}

/// Registers `words` words from `base` on that may hold anything; a word that points into the heap, also to an
/// object's interior, keeps its object alive and in place. For static areas with value types, native memory that hides
/// references.
///
/// # Safety
/// The memory stays valid and word-aligned until [`unregister_roots`] with the same `base`.
pub unsafe fn register_root_range(base: *const usize, words: usize) {
    RANGES.lock().push(RootRange { base: base as usize, words, conservative: true });
}

/// Ends the registration of the slots or range that begins at `base`. Returns whether there was one.
pub fn unregister_roots(base: *const usize) -> bool {
    let mut ranges = RANGES.lock();
    let position = ranges.iter().position(|range| range.base == base as usize);
    position.map(|index| ranges.swap_remove(index)).is_some()
}

/// Receives roots by kind.
pub(crate) trait RootVisitor {
    fn slot(&mut self, slot: *mut ObjRef);
    fn pinned(&mut self, object: ObjRef);
    fn conservative_range(&mut self, range: Range<usize>);
}

/// Everything that belongs to no thread. The world is stopped.
pub(crate) fn visit_global_roots(visitor: &mut dyn RootVisitor) {
    for range in &*RANGES.lock() {
        if range.conservative {
            visitor.conservative_range(range.addresses());
        } else {
            for index in 0..range.words {
                visitor.slot((range.base + index * 8) as *mut ObjRef);
            }
        }
    }
    for provider in client().roots() {
        provider.for_each_slot(&mut |slot| visitor.slot(slot));
        provider.for_each_pinned(&mut |object| visitor.pinned(object));
    }
    crate::finalize::for_each_root(&mut |slot| visitor.slot(slot));
    if let Some(slot) = crate::ephemeron::tombstone_root() {
        visitor.slot(slot);
    }
}

/// Everything that belongs to `thread` except its stack. The world is stopped.
pub(crate) fn visit_thread_roots(thread: &ManagedThread, visitor: &mut dyn RootVisitor) {
    visit_slots_of_thread(thread, &mut |slot, _| visitor.slot(slot));
    visit_conservative_blocks(thread, &mut |range| visitor.conservative_range(range));
}

/// Visits the slots that belong to `thread`, with their kinds. The world is stopped.
pub(crate) fn visit_slots_of_thread(thread: &ManagedThread, visit: &mut dyn FnMut(*mut ObjRef, RootKind)) {
    for root in &thread.roots {
        visit(root.address(), RootKind::Thread);
    }
    let abi = thread.abi();
    // SAFETY: `thread` is alive and stopped; only the address of the field is taken.
    visit(unsafe { &raw mut (*abi).pending_exception }, RootKind::Thread);
    // SAFETY: `thread` is alive and stopped; only the address of the field is taken, nothing is read.
    visit(unsafe { &raw mut (*abi).eh_exception }, RootKind::Thread);
    thread.for_each_static_block(|block| {
        let map = match block.scan {
            BlockScan::Precise(map) => map,
            BlockScan::Conditional { map, owner } if !holds_back(owner) => map,
            BlockScan::Conditional { .. } | BlockScan::Conservative => return,
        };
        // SAFETY: a block's map is null or made by `RefMap::leak`, and not freed before the block.
        for &offset_bytes in unsafe { RefMap::offsets(map) } {
            let slot = block.data.wrapping_add(offset_bytes as usize).cast();
            visit(slot, RootKind::ThreadStatic { block: block.number, offset_bytes });
        }
    });
    for provider in client().roots() {
        provider.for_each_thread_slot(thread, &mut |slot| visit(slot, RootKind::Thread));
    }
}

fn holds_back(owner: usize) -> bool {
    client().conditional_roots().is_some_and(|provider| provider.holds_back(owner))
}

/// The thread-static blocks of `thread` that are scanned conservatively. The world is stopped.
pub(crate) fn visit_conservative_blocks(thread: &ManagedThread, visit: &mut dyn FnMut(Range<usize>)) {
    thread.for_each_static_block(|block| {
        if let BlockScan::Conservative = block.scan {
            let start = block.data as usize;
            visit(start..start + block.size_bytes);
        }
    });
}

/// The ranges that have been registered.
pub(crate) fn registered_ranges() -> Vec<RootRange> {
    RANGES.lock().clone()
}
