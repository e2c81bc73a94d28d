//! A waitable object and a thread that waits for it: what they are made of.

use saki_thread::ManagedThread;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// The kind and state of a waitable object. Owners are managed thread ids, 0 = none.
#[derive(Debug)]
pub enum Kind {
    Event {
        is_manual: bool,
        is_set: bool,
    },
    Mutex {
        owner: u32,
        depth: u32,
        is_abandoned: bool,
    },
    Semaphore {
        count: i32,
        max: i32,
    },
    /// Becomes signalled once and stays so.
    Ending {
        has_ended: bool,
    },
}

/// Kinds have separate handle operations but one name space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KindName {
    Event,
    Mutex,
    Semaphore,
    Ending,
}

impl Kind {
    pub(super) fn name(&self) -> KindName {
        match self {
            Kind::Event { .. } => KindName::Event,
            Kind::Mutex { .. } => KindName::Mutex,
            Kind::Semaphore { .. } => KindName::Semaphore,
            Kind::Ending { .. } => KindName::Ending,
        }
    }

    pub(super) fn is_signalled(&self, thread_id: u32) -> bool {
        match *self {
            Kind::Event { is_set, .. } => is_set,
            Kind::Mutex { owner, .. } => owner == 0 || owner == thread_id,
            Kind::Semaphore { count, .. } => count > 0,
            Kind::Ending { has_ended } => has_ended,
        }
    }
}

pub(super) struct Object {
    pub(super) kind: Kind,
    /// The number of handles and waits that refer to the object.
    pub(super) references: usize,
    pub(super) name: Option<String>,
    /// The waits by ticket, hence in the order in which they came. A million threads may wait for one object, and any
    /// of them may leave.
    pub(super) waits: BTreeMap<u64, Arc<Wait>>,
}

/// A thread that waits.
pub(super) struct Wait {
    /// The wait's number, from the table's `next_ticket`.
    pub(super) ticket: u64,
    pub(super) thread: &'static ManagedThread,
    pub(super) slots: SlotList,
    pub(super) for_all: bool,
    /// `PENDING`, `LEFT`, or the result of `satisfy`.
    pub(super) outcome: AtomicU32,
}

/// Slots of a wait, in the order of the caller's handles. Most waits have one slot, which takes no separate memory.
pub(super) enum SlotList {
    One([usize; 1]),
    Many(Vec<usize>),
}

impl SlotList {
    pub(super) fn as_slice(&self) -> &[usize] {
        match self {
            SlotList::One(slot) => slot,
            SlotList::Many(slots) => slots,
        }
    }
}

pub(super) const PENDING: u32 = u32::MAX;
/// The outcome of a wait whose thread has left.
pub(super) const LEFT: u32 = PENDING - 1;
/// Added to the index of a mutex whose owner ended without releasing it.
pub const ABANDONED: u32 = 0x80;
