//! The table of waitable objects: slots, handles, names, owners; and what a signal does.
//!
//! A handle is an opaque word above 2^40: a slot of the table and the slot's generation, so a closed handle is unknown
//! and no handle is taken for a file descriptor. Invariants: all state is guarded by the table's lock, which is held
//! for a few instructions and never at a safepoint; the thread that signals an object satisfies its waiters in the
//! order they came (a wait for all takes all objects at once or none), so a waiter that wakes has what it waited for.

use super::object::{ABANDONED, Kind, KindName, Object, Wait};
use saki_base::locks::rank;
use saki_sync::word_locks::Mutex;
use saki_thread::ManagedThread;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// Set in every handle; above all file descriptors and below all invalid values.
const HANDLE_BIT: usize = 1 << 40;
const INDEX_BITS: u32 = 24;
pub(super) const INDEX_MASK: usize = (1 << INDEX_BITS) - 1;

pub(super) struct Slot {
    pub(super) generation: u16,
    pub(super) object: Option<Object>,
}

#[derive(Default)]
pub(super) struct Table {
    pub(super) slots: Vec<Slot>,
    pub(super) free: Vec<usize>,
    pub(super) names: HashMap<String, usize>,
    /// Mutexes owned, by managed thread id.
    pub(super) owned: HashMap<u32, Vec<usize>>,
    pub(super) next_ticket: u64,
}

pub(super) static TABLE: LazyLock<Mutex<rank::Waitables, Table>> = LazyLock::new(Mutex::default);

/// The number of mutexes in `Table::owned`: a thread that ends and reads 0 owns none. It changes under the table's
/// lock. Relaxed: a thread has acquired its mutexes itself, or has learned under the lock that it owns them.
pub(super) static OWNED_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Threads to wake once the lock is released. Mostly there is one, which takes no separate memory.
#[derive(Default)]
pub(super) struct Woken {
    first: Option<&'static ManagedThread>,
    more: Vec<&'static ManagedThread>,
}

impl Woken {
    fn push(&mut self, thread: &'static ManagedThread) {
        match self.first {
            None => self.first = Some(thread),
            Some(_) => self.more.push(thread),
        }
    }
}

pub(super) fn wake(woken: Woken) {
    for thread in woken.first.into_iter().chain(woken.more) {
        thread.unpark();
    }
}

impl Table {
    pub(super) fn insert(&mut self, kind: Kind, name: Option<String>) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, object: None });
            self.slots.len() - 1
        });
        assert!(slot <= INDEX_MASK, "more than 2^24 waitable objects");
        if let Some(name) = &name {
            self.names.insert(name.clone(), slot);
        }
        self.slots[slot].object = Some(Object { kind, references: 1, name, waits: BTreeMap::new() });
        self.handle_of(slot)
    }

    pub(super) fn handle_of(&self, slot: usize) -> usize {
        HANDLE_BIT | usize::from(self.slots[slot].generation) << INDEX_BITS | slot
    }

    pub(super) fn slot_of(&self, handle: usize) -> Option<usize> {
        let slot = handle & INDEX_MASK;
        let found = self.slots.get(slot)?;
        (found.object.is_some() && self.handle_of(slot) == handle).then_some(slot)
    }

    pub(super) fn object(&mut self, slot: usize) -> Option<&mut Object> {
        self.slots.get_mut(slot)?.object.as_mut()
    }

    pub(super) fn release(&mut self, slot: usize) {
        let Some(object) = self.object(slot) else { return };
        object.references -= 1;
        if object.references > 0 {
            return;
        }
        if let Some(object) = self.slots[slot].object.take() {
            if let Some(name) = object.name {
                self.names.remove(&name);
            }
            if let Kind::Mutex { owner, .. } = object.kind {
                self.disown(owner, slot);
            }
        }
        self.slots[slot].generation = self.slots[slot].generation.wrapping_add(1);
        self.free.push(slot);
    }

    pub(super) fn own(&mut self, owner: u32, slot: usize) {
        self.owned.entry(owner).or_default().push(slot);
        OWNED_COUNT.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn disown(&mut self, owner: u32, slot: usize) {
        if let Some(owned) = self.owned.get_mut(&owner) {
            let before = owned.len();
            owned.retain(|other| *other != slot);
            OWNED_COUNT.fetch_sub(before - owned.len(), Ordering::Relaxed);
            if owned.is_empty() {
                self.owned.remove(&owner);
            }
        }
    }

    pub(super) fn is_signalled(&self, slot: usize, thread_id: u32) -> bool {
        self.slots[slot].object.as_ref().is_some_and(|object| object.kind.is_signalled(thread_id))
    }

    /// Acquires a signalled object and returns whether it was abandoned.
    pub(super) fn acquire(&mut self, slot: usize, thread_id: u32) -> bool {
        let Some(object) = self.object(slot) else { return false };
        match &mut object.kind {
            Kind::Event { is_manual, is_set } => {
                *is_set = *is_manual;
                false
            }
            Kind::Semaphore { count, .. } => {
                *count -= 1;
                false
            }
            Kind::Ending { .. } => false,
            Kind::Mutex { owner, depth, is_abandoned } => {
                let was_abandoned = std::mem::take(is_abandoned);
                *depth += 1;
                let is_new = *owner == 0;
                *owner = thread_id;
                if is_new {
                    self.own(thread_id, slot);
                }
                was_abandoned
            }
        }
    }

    /// Acquires the objects of a wait if they are signalled, and returns the index of the first, perhaps plus
    /// `ABANDONED`.
    pub(super) fn satisfy(&mut self, slots: &[usize], for_all: bool, thread_id: u32) -> Option<u32> {
        if for_all {
            if !slots.iter().all(|&slot| self.is_signalled(slot, thread_id)) {
                return None;
            }
            let abandoned = slots.iter().fold(false, |any, &slot| self.acquire(slot, thread_id) | any);
            return Some(if abandoned { ABANDONED } else { 0 });
        }
        let index = slots.iter().position(|&slot| self.is_signalled(slot, thread_id))?;
        let abandoned = self.acquire(slots[index], thread_id);
        Some(index as u32 + if abandoned { ABANDONED } else { 0 })
    }

    /// Satisfies waiters of an object that has become signalled.
    pub(super) fn serve(&mut self, slot: usize, woken: &mut Woken) {
        let mut from = 0;
        loop {
            let next =
                self.object(slot).and_then(|object| object.waits.range(from..).next().map(|(_, wait)| wait.clone()));
            let Some(wait) = next else { return };
            from = wait.ticket + 1;
            let thread_id = wait.thread.managed_id();
            if let Some(outcome) = self.satisfy(wait.slots.as_slice(), wait.for_all, thread_id) {
                self.remove(&wait);
                // Release: pairs with the waiter's look without the lock.
                wait.outcome.store(outcome, Ordering::Release);
                woken.push(wait.thread);
            }
            // No signal is left for later waits.
            if !self.slots[slot].object.as_ref().is_some_and(|object| object.kind.is_signalled(0)) {
                return;
            }
        }
    }

    pub(super) fn remove(&mut self, wait: &Arc<Wait>) {
        for &slot in wait.slots.as_slice() {
            if let Some(object) = self.object(slot) {
                object.waits.remove(&wait.ticket);
            }
            self.release(slot);
        }
    }

    pub(super) fn signal(&mut self, slot: usize, thread_id: u32, woken: &mut Woken) -> Result<(), SignalError> {
        let Some(object) = self.object(slot) else { return Err(SignalError::UnknownHandle) };
        match &mut object.kind {
            Kind::Event { is_set, .. } => *is_set = true,
            Kind::Ending { has_ended } => *has_ended = true,
            Kind::Semaphore { count, max } if *count < *max => *count += 1,
            Kind::Semaphore { .. } => return Err(SignalError::TooManyPosts),
            Kind::Mutex { is_abandoned: true, .. } => return Ok(()),
            Kind::Mutex { owner, .. } if *owner != thread_id => return Err(SignalError::NotOwner),
            Kind::Mutex { owner, depth, .. } => {
                *depth -= 1;
                if *depth > 0 {
                    return Ok(());
                }
                *owner = 0;
                self.disown(thread_id, slot);
            }
        }
        self.serve(slot, woken);
        Ok(())
    }

    pub(super) fn open(&mut self, name: &str, kind: KindName) -> Result<usize, OpenError> {
        let slot = *self.names.get(name).ok_or(OpenError::UnknownName)?;
        match self.object(slot) {
            Some(object) if object.kind.name() == kind => object.references += 1,
            _ => return Err(OpenError::NameTaken),
        }
        Ok(self.handle_of(slot))
    }
}

/// Why an object could not be signalled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalError {
    UnknownHandle,
    /// The semaphore is full.
    TooManyPosts,
    /// The mutex belongs to another thread, or to none.
    NotOwner,
}

/// Why a name could not be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenError {
    UnknownName,
    NameTaken,
}
