//! Heap shots: all live objects with their references, and the roots.
//!
//! They are written at the end of full collections, on a collector thread with the world stopped (`saki_gc::snapshot`).
//! Looking up a type's name takes no lock that a stopped thread may hold: threads lock the tables of `names` only
//! between two safepoints.

use super::settings::HeapShots;
use super::{COLLECTOR_THREAD, LOG, Log, LogEvents, log_of, now_ns};
use crate::vtables::type_of_vtable;
use saki_gc::{Root, StoppedHeap};
use saki_profile::mlpd::event;
use std::sync::atomic::{AtomicU64, Ordering};

/// Roots of one event.
const ROOTS_OF_EVENT: usize = 256;

/// Full collections since the log began, and the time of the last shot. Relaxed: collections use them, one after the
/// other; `begin` sets the time, too.
static COLLECTIONS: AtomicU64 = AtomicU64::new(0);
static LAST_NS: AtomicU64 = AtomicU64::new(0);
/// Shots that were begun.
static SHOTS: AtomicU64 = AtomicU64::new(0);

pub(super) fn begin(mode: HeapShots) {
    if !matches!(mode, HeapShots::Never | HeapShots::OnDemand) {
        // Relaxed: the number publishes no other memory.
        LAST_NS.store(now_ns(), Ordering::Relaxed);
    }
}

/// To be called when a full collection is over: takes a shot if one is due.
pub(crate) fn at_full_collection(heap: &StoppedHeap) {
    let Some(log) = LOG.get().filter(|log| !log.is_over()) else { return };
    let number = COLLECTIONS.fetch_add(1, Ordering::Relaxed) + 1;
    let is_due = match *log.heap_shots.lock() {
        HeapShots::Full => true,
        HeapShots::EveryCollections(count) => number.is_multiple_of(u64::from(count).max(1)),
        HeapShots::EveryMilliseconds(count) => {
            // Relaxed: the number alone counts.
            let passed_ns = now_ns() - LAST_NS.load(Ordering::Relaxed);
            passed_ns >= u64::from(count) * 1_000_000
        }
        HeapShots::Never | HeapShots::OnDemand => false,
    };
    if is_due {
        log.add_heap(heap);
        // Relaxed: read by the next collection, which comes after this one.
        LAST_NS.store(now_ns(), Ordering::Relaxed);
    }
}

/// Takes a shot now.
pub(super) fn take(log: &Log) {
    saki_gc::take_snapshot(&mut |heap| log.add_heap(heap));
}

impl Log {
    fn add_heap(&self, heap: &StoppedHeap) {
        self.writer.flush();
        self.writer.write(COLLECTOR_THREAD, |log| _ = log.buffer.event(event::HEAPSHOT_START, now_ns()));
        let mut references: Vec<(u64, u64)> = Vec::new();
        heap.for_each_object(|object| {
            let vtable = object.vtable();
            let vtable = self.names.vtable(&self.writer, std::ptr::from_ref(vtable).addr(), type_of_vtable(vtable));
            references.clear();
            object.for_each_reference(|offset_bytes, target| {
                if !target.is_null() {
                    references.push((offset_bytes as u64, target.address() as u64));
                }
            });
            references.sort_unstable();
            let generation = object.generation().min(1) as u8;
            self.writer.write(COLLECTOR_THREAD, |log| {
                let buffer = log.buffer.event(event::HEAP_OBJECT, now_ns());
                buffer.object(object.address() as u64).pointer(vtable).number(object.size_bytes() as u64);
                buffer.byte(generation).number(references.len() as u64);
                let mut last = 0;
                for &(offset_bytes, target) in &references {
                    buffer.number(offset_bytes - last).object(target);
                    last = offset_bytes;
                }
            });
        });
        let mut roots = Vec::new();
        // Relaxed: one shot at a time.
        let shot = SHOTS.fetch_add(1, Ordering::Relaxed) + 1;
        heap.for_each_root(&mut |root| {
            self.add_root_region(root, shot);
            roots.push((root.address as u64, root.object.address() as u64));
            if roots.len() == ROOTS_OF_EVENT {
                self.add_roots(&mut roots);
            }
        });
        self.add_roots(&mut roots);
        self.end_root_regions(shot);
        self.writer.write(COLLECTOR_THREAD, |log| _ = log.buffer.event(event::HEAPSHOT_END, now_ns()));
    }

    fn add_roots(&self, roots: &mut Vec<(u64, u64)>) {
        self.writer.write(COLLECTOR_THREAD, |log| {
            let buffer = log.buffer.event(event::HEAP_ROOTS, now_ns()).number(roots.len() as u64);
            for (address, object) in roots.drain(..) {
                buffer.pointer(address).object(object);
            }
        });
    }

    /// Writes the root's region, if it is new.
    fn add_root_region(&self, root: &Root, shot: u64) {
        if log_of(LogEvents::ROOT).is_none() {
            return;
        }
        let Some(region) = self.root_regions.meet(root, shot) else { return };
        self.writer.write(COLLECTOR_THREAD, |log| {
            let buffer = log.buffer.event(event::ROOT_REGISTER, now_ns());
            buffer.pointer(region.range.start as u64).number(region.range.len() as u64).byte(region.source);
            // The fields for data that only Mono has are empty.
            buffer.pointer(0).text(&region.name);
        });
    }

    /// Writes the end of the regions in which the heap shot had no root any more.
    fn end_root_regions(&self, shot: u64) {
        let gone = self.root_regions.take_gone(shot);
        self.writer.write(COLLECTOR_THREAD, |log| {
            for start in gone {
                log.buffer.event(event::ROOT_UNREGISTER, now_ns()).pointer(start as u64);
            }
        });
    }
}
