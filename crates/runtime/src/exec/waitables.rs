//! Waitable objects, which WaitHandle waits for: events, mutexes, semaphores, and objects that end once (processes).
//!
//! A handle is an opaque word above 2^40: a slot of one table and the slot's generation, so a closed handle is unknown and
//! no handle is taken for a file descriptor. Invariants: all state is guarded by the table's lock, which is held for a few
//! instructions and never at a safepoint; the thread that signals an object satisfies its waiters in the order they came
//! (a wait for all takes all objects at once or none), so a waiter that wakes has what it waited for. Named objects are
//! known in this process only, as in Mono.

use saki_sync::word_locks::Mutex;
use saki_thread::{ManagedThread, child_locks};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Set in every handle; above all file descriptors and below all invalid values.
const HANDLE_BIT: usize = 1 << 40;
const INDEX_BITS: u32 = 24;
const INDEX_MASK: usize = (1 << INDEX_BITS) - 1;

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
    fn name(&self) -> KindName {
        match self {
            Kind::Event { .. } => KindName::Event,
            Kind::Mutex { .. } => KindName::Mutex,
            Kind::Semaphore { .. } => KindName::Semaphore,
            Kind::Ending { .. } => KindName::Ending,
        }
    }

    fn is_signalled(&self, thread_id: u32) -> bool {
        match *self {
            Kind::Event { is_set, .. } => is_set,
            Kind::Mutex { owner, .. } => owner == 0 || owner == thread_id,
            Kind::Semaphore { count, .. } => count > 0,
            Kind::Ending { has_ended } => has_ended,
        }
    }
}

struct Object {
    kind: Kind,
    /// The number of handles and waits that refer to the object.
    references: usize,
    name: Option<String>,
    /// The waits by ticket, hence in the order in which they came. A million threads may wait for one object, and any of them may leave.
    waits: BTreeMap<u64, Arc<Wait>>,
}

struct Slot {
    generation: u16,
    object: Option<Object>,
}

/// A thread that waits.
struct Wait {
    /// The wait's number, from the table's `next_ticket`.
    ticket: u64,
    thread: &'static ManagedThread,
    slots: SlotList,
    for_all: bool,
    /// `PENDING`, `LEFT`, or the result of `satisfy`.
    outcome: AtomicU32,
}

/// Slots of a wait, in the order of the caller's handles. Most waits have one slot, which takes no separate memory.
enum SlotList {
    One([usize; 1]),
    Many(Vec<usize>),
}

impl SlotList {
    fn as_slice(&self) -> &[usize] {
        match self {
            SlotList::One(slot) => slot,
            SlotList::Many(slots) => slots,
        }
    }
}

const PENDING: u32 = u32::MAX;
/// The outcome of a wait whose thread has left.
const LEFT: u32 = PENDING - 1;
/// Added to the index of a mutex whose owner ended without releasing it.
pub const ABANDONED: u32 = 0x80;

#[derive(Default)]
struct Table {
    slots: Vec<Slot>,
    free: Vec<usize>,
    names: HashMap<String, usize>,
    /// Mutexes owned, by managed thread id.
    owned: HashMap<u32, Vec<usize>>,
    next_ticket: u64,
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// The number of mutexes in `Table::owned`: a thread that ends and reads 0 owns none. It changes under the table's lock. Relaxed: a thread has
/// acquired its mutexes itself, or has learned under the lock that it owns them.
static OWNED_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Threads to wake once the lock is released. Mostly there is one, which takes no separate memory.
#[derive(Default)]
struct Woken {
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

fn wake(woken: Woken) {
    for thread in woken.first.into_iter().chain(woken.more) {
        thread.unpark();
    }
}

impl Table {
    fn insert(&mut self, kind: Kind, name: Option<String>) -> usize {
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

    fn handle_of(&self, slot: usize) -> usize {
        HANDLE_BIT | usize::from(self.slots[slot].generation) << INDEX_BITS | slot
    }

    fn slot_of(&self, handle: usize) -> Option<usize> {
        let slot = handle & INDEX_MASK;
        let found = self.slots.get(slot)?;
        (found.object.is_some() && self.handle_of(slot) == handle).then_some(slot)
    }

    fn object(&mut self, slot: usize) -> Option<&mut Object> {
        self.slots.get_mut(slot)?.object.as_mut()
    }

    fn release(&mut self, slot: usize) {
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

    fn own(&mut self, owner: u32, slot: usize) {
        self.owned.entry(owner).or_default().push(slot);
        OWNED_COUNT.fetch_add(1, Ordering::Relaxed);
    }

    fn disown(&mut self, owner: u32, slot: usize) {
        if let Some(owned) = self.owned.get_mut(&owner) {
            let before = owned.len();
            owned.retain(|other| *other != slot);
            OWNED_COUNT.fetch_sub(before - owned.len(), Ordering::Relaxed);
            if owned.is_empty() {
                self.owned.remove(&owner);
            }
        }
    }

    fn is_signalled(&self, slot: usize, thread_id: u32) -> bool {
        self.slots[slot].object.as_ref().is_some_and(|object| object.kind.is_signalled(thread_id))
    }

    /// Acquires a signalled object and returns whether it was abandoned.
    fn acquire(&mut self, slot: usize, thread_id: u32) -> bool {
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

    /// Acquires the objects of a wait if they are signalled, and returns the index of the first, perhaps plus `ABANDONED`.
    fn satisfy(&mut self, slots: &[usize], for_all: bool, thread_id: u32) -> Option<u32> {
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
    fn serve(&mut self, slot: usize, woken: &mut Woken) {
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

    fn remove(&mut self, wait: &Arc<Wait>) {
        for &slot in wait.slots.as_slice() {
            if let Some(object) = self.object(slot) {
                object.waits.remove(&wait.ticket);
            }
            self.release(slot);
        }
    }

    fn signal(&mut self, slot: usize, thread_id: u32, woken: &mut Woken) -> Result<(), SignalError> {
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

/// The result of `create`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Created {
    New(usize),
    /// Another reference to the object that has the name already.
    Existing(usize),
    /// The name belongs to an object of another kind.
    NameTaken,
}

/// Before a fork: threads that are not stopped, such as the watcher of processes, change nothing.
pub fn hold_for_fork() {
    child_locks::hold(&TABLE);
}

/// In the parent.
pub fn release_after_fork() {
    child_locks::release(&TABLE);
}

/// In a forked child, which does not have the threads that wait. Mutexes that they own stay theirs.
pub fn begin_child() {
    child_locks::revive(&TABLE);
    for slot in &mut TABLE.lock().slots {
        if let Some(object) = &mut slot.object {
            object.waits.clear();
        }
    }
}

/// Makes an object, or opens the one with this name. A new mutex with an owner is owned once.
pub fn create(kind: Kind, name: Option<String>) -> Created {
    let mut table = TABLE.lock();
    if let Some(name) = &name {
        match table.open(name, kind.name()) {
            Ok(handle) => return Created::Existing(handle),
            Err(OpenError::NameTaken) => return Created::NameTaken,
            Err(OpenError::UnknownName) => {}
        }
    }
    let owner = match kind {
        Kind::Mutex { owner, .. } => owner,
        _ => 0,
    };
    let handle = table.insert(kind, name);
    if owner != 0 {
        table.own(owner, handle & INDEX_MASK);
    }
    Created::New(handle)
}

/// A new object without a name.
pub fn create_unnamed(kind: Kind) -> usize {
    TABLE.lock().insert(kind, None)
}

/// Why a name could not be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenError {
    UnknownName,
    NameTaken,
}

impl Table {
    fn open(&mut self, name: &str, kind: KindName) -> Result<usize, OpenError> {
        let slot = *self.names.get(name).ok_or(OpenError::UnknownName)?;
        match self.object(slot) {
            Some(object) if object.kind.name() == kind => object.references += 1,
            _ => return Err(OpenError::NameTaken),
        }
        Ok(self.handle_of(slot))
    }
}

/// Opens another reference to the object with this name.
///
/// # Errors
/// No object has the name, or the object has another kind.
pub fn open(name: &str, kind: KindName) -> Result<usize, OpenError> {
    TABLE.lock().open(name, kind)
}

/// Counts another handle. False when `handle` is not a waitable object's.
pub fn add_reference(handle: usize) -> bool {
    let mut table = TABLE.lock();
    let slot = table.slot_of(handle);
    match slot.and_then(|slot| table.object(slot)) {
        Some(object) => {
            object.references += 1;
            true
        }
        None => false,
    }
}

/// Whether `handle` is a waitable object's and not closed.
pub fn is_open(handle: usize) -> bool {
    TABLE.lock().slot_of(handle).is_some()
}

/// Gives a handle back. False when it is unknown.
pub fn close(handle: usize) -> bool {
    let mut table = TABLE.lock();
    match table.slot_of(handle) {
        Some(slot) => {
            table.release(slot);
            true
        }
        None => false,
    }
}

/// Sets an event, releases a semaphore or mutex once, or marks an object as ended.
///
/// # Errors
/// See `SignalError`.
pub fn signal(handle: usize, thread_id: u32) -> Result<(), SignalError> {
    let mut woken = Woken::default();
    let result = {
        let mut table = TABLE.lock();
        match table.slot_of(handle) {
            Some(slot) => table.signal(slot, thread_id, &mut woken),
            None => Err(SignalError::UnknownHandle),
        }
    };
    wake(woken);
    result
}

/// Sets or resets an event. False when the handle is no event's.
pub fn set_event(handle: usize, signalled: bool) -> bool {
    let mut woken = Woken::default();
    let known = {
        let mut table = TABLE.lock();
        let slot = table.slot_of(handle);
        match slot.and_then(|slot| table.object(slot)).map(|object| &mut object.kind) {
            Some(Kind::Event { is_set, .. }) => {
                *is_set = signalled;
                if signalled && let Some(slot) = slot {
                    table.serve(slot, &mut woken);
                }
                true
            }
            _ => false,
        }
    };
    wake(woken);
    known
}

/// Adds to a semaphore, and returns the count before.
///
/// # Errors
/// `TooManyPosts` (with the count) when it would exceed its maximum, `UnknownHandle`.
pub fn release_semaphore(handle: usize, add: i32) -> Result<i32, (SignalError, i32)> {
    let mut woken = Woken::default();
    let result = {
        let mut table = TABLE.lock();
        let slot = table.slot_of(handle);
        match slot.and_then(|slot| table.object(slot)).map(|object| &mut object.kind) {
            Some(Kind::Semaphore { count, max }) => {
                let before = *count;
                match before.checked_add(add).filter(|sum| add >= 0 && sum <= max) {
                    Some(sum) => {
                        *count = sum;
                        if let Some(slot) = slot {
                            table.serve(slot, &mut woken);
                        }
                        Ok(before)
                    }
                    None => Err((SignalError::TooManyPosts, before)),
                }
            }
            _ => Err((SignalError::UnknownHandle, 0)),
        }
    };
    wake(woken);
    result
}

/// Releases a mutex once.
///
/// # Errors
/// `NotOwner`, `UnknownHandle`.
pub fn release_mutex(handle: usize, thread_id: u32) -> Result<(), SignalError> {
    let is_mutex = {
        let mut table = TABLE.lock();
        let slot = table.slot_of(handle);
        slot.and_then(|slot| table.object(slot)).is_some_and(|object| object.kind.name() == KindName::Mutex)
    };
    if is_mutex { signal(handle, thread_id) } else { Err(SignalError::UnknownHandle) }
}

/// Abandons the mutexes of a thread that ends; a thread that acquires one learns that it was abandoned.
pub fn abandon_mutexes(thread_id: u32) {
    if OWNED_COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut woken = Woken::default();
    {
        let mut table = TABLE.lock();
        let owned = table.owned.remove(&thread_id).unwrap_or_default();
        OWNED_COUNT.fetch_sub(owned.len(), Ordering::Relaxed);
        for slot in owned {
            if let Some(Kind::Mutex { owner, depth, is_abandoned }) = table.object(slot).map(|object| &mut object.kind)
            {
                (*owner, *depth, *is_abandoned) = (0, 0, true);
                table.serve(slot, &mut woken);
            }
        }
    }
    wake(woken);
}

/// The outcome of beginning a wait.
pub enum Begin {
    /// The index of the object, perhaps plus `ABANDONED`.
    Satisfied(u32),
    UnknownHandle,
    /// Two handles of a wait for all are the same.
    Duplicate,
    /// Not satisfied yet: wait until `is_satisfied`, then call `end`.
    Waiting(Waiting),
}

/// A wait in the queues of its objects; dropping it removes it from them.
pub struct Waiting(Arc<Wait>);

impl Waiting {
    /// The address of the wait's record, for `awaited`.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether the wait was satisfied.
    pub fn is_satisfied(&self) -> bool {
        // Acquire: pairs with `serve`.
        self.0.outcome.load(Ordering::Acquire) != PENDING
    }

    /// Leaves the queues, and returns the outcome if the wait was satisfied.
    pub fn end(self) -> Option<u32> {
        self.leave()
    }

    fn leave(&self) -> Option<u32> {
        // Acquire: pairs with `serve`, which has taken a satisfied wait out of the queues.
        match self.0.outcome.load(Ordering::Acquire) {
            PENDING => self.leave_queues(),
            LEFT => None,
            outcome => Some(outcome),
        }
    }

    #[cold]
    fn leave_queues(&self) -> Option<u32> {
        let mut table = TABLE.lock();
        // Relaxed: the lock orders it.
        match self.0.outcome.load(Ordering::Relaxed) {
            PENDING => {
                // The wait is in no queue any more, so no other thread sets the outcome after this.
                self.0.outcome.store(LEFT, Ordering::Relaxed);
                table.remove(&self.0);
                None
            }
            outcome => Some(outcome),
        }
    }
}

/// The time that a dump waits for the table, with the world stopped. The table is held for some instructions; a dump does without it rather
/// than let the program wait.
const REPORT_PATIENCE: Duration = Duration::from_millis(100);

/// What a stopped thread waits for, by `Waiting::address`: see `AwaitedHandles`.
///
/// # Safety
/// The thread that waits is stopped, and its `Waiting` lives.
pub unsafe fn awaited(address: usize) -> Option<(String, Vec<u32>)> {
    // SAFETY: null, or the record of a `Waiting` that lives, by the caller's promise.
    let wait = unsafe { (address as *const Wait).as_ref() }?;
    let mut table = TABLE.try_lock_for(REPORT_PATIENCE)?;
    let slots = wait.slots.as_slice();
    let (mut holders, mut names, mut mutex_count) = (Vec::new(), Vec::new(), 0);
    for &slot in slots {
        let object = table.object(slot)?;
        let kind = match object.kind {
            Kind::Event { .. } => "event",
            Kind::Semaphore { .. } => "semaphore",
            Kind::Ending { .. } => "the end of process",
            Kind::Mutex { owner, .. } => {
                mutex_count += 1;
                if owner != 0 && !holders.contains(&owner) {
                    holders.push(owner);
                }
                "mutex"
            }
        };
        let name = object.name.as_ref().map_or(String::new(), |name| format!(" {name:?}"));
        names.push(format!("{kind} {slot}{name}"));
    }
    let is_any = !wait.for_all && slots.len() > 1;
    if is_any && (mutex_count < slots.len() || holders.len() != 1) {
        // Several threads can end the wait.
        holders.clear();
    }
    let what = if is_any { "any of " } else { "" };
    Some((format!("{what}{}", names.join(", ")), holders))
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Begins a wait of the current thread. `signal_first`: an object to signal in the same step. `is_poll`: do not wait.
///
/// # Errors
/// What signalling `signal_first` gave.
pub fn begin(
    thread: &'static ManagedThread,
    handles: &[usize],
    for_all: bool,
    is_poll: bool,
    signal_first: Option<usize>,
) -> Result<Begin, SignalError> {
    let thread_id = thread.managed_id();
    let mut woken = Woken::default();
    let mut table = TABLE.lock();
    let slots = match *handles {
        [handle] => table.slot_of(handle).map(|slot| SlotList::One([slot])),
        _ => handles.iter().map(|&handle| table.slot_of(handle)).collect::<Option<_>>().map(SlotList::Many),
    };
    let Some(slots) = slots else { return Ok(Begin::UnknownHandle) };
    let has_duplicates = |slots: &[usize]| (1..slots.len()).any(|end| slots[..end].contains(&slots[end]));
    if for_all && has_duplicates(slots.as_slice()) {
        return Ok(Begin::Duplicate);
    }
    if let Some(handle) = signal_first {
        let slot = table.slot_of(handle).ok_or(SignalError::UnknownHandle)?;
        table.signal(slot, thread_id, &mut woken)?;
    }
    let begun = match table.satisfy(slots.as_slice(), for_all, thread_id) {
        Some(outcome) => Begin::Satisfied(outcome),
        None => {
            let ticket = table.next_ticket;
            table.next_ticket += 1;
            let wait = Arc::new(Wait { ticket, thread, slots, for_all, outcome: AtomicU32::new(PENDING) });
            if !is_poll {
                for &slot in wait.slots.as_slice() {
                    if let Some(object) = table.object(slot) {
                        object.references += 1;
                        object.waits.insert(ticket, wait.clone());
                    }
                }
            } else {
                wait.outcome.store(LEFT, Ordering::Relaxed);
            }
            Begin::Waiting(Waiting(wait))
        }
    };
    drop(table);
    wake(woken);
    Ok(begun)
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_thread::{ThreadKind, WaitState};

    fn event(is_manual: bool) -> usize {
        create_unnamed(Kind::Event { is_manual, is_set: false })
    }

    fn wait(handles: &[usize], for_all: bool, milliseconds: u64) -> Option<u32> {
        let thread = saki_thread::attach_current(ThreadKind::Background);
        match begin(thread, handles, for_all, milliseconds == 0, None) {
            Ok(Begin::Satisfied(outcome)) => Some(outcome),
            Ok(Begin::Waiting(waiting)) => {
                let time = Some(Duration::from_millis(milliseconds));
                thread.wait_until(WaitState::Handle, time, false, || waiting.is_satisfied());
                waiting.end()
            }
            _ => None,
        }
    }

    #[test]
    fn events_reset_themselves_unless_manual() {
        let (auto, manual) = (event(false), event(true));
        assert_eq!(wait(&[auto, manual], false, 0), None);
        assert!(set_event(manual, true) && set_event(auto, true));
        assert_eq!(wait(&[auto, manual], true, 0), Some(0));
        assert_eq!(wait(&[auto, manual], false, 0), Some(1));
        assert!(set_event(manual, false));
        assert_eq!(wait(&[auto, manual], false, 1), None);
        assert!(close(auto) && !close(auto) && !set_event(auto, true));
        let reused = event(false);
        assert_ne!(reused, auto, "a new generation");
    }

    #[test]
    fn a_waiter_gets_what_another_thread_signals() {
        let (a, b) = (event(false), event(false));
        let waiter = std::thread::spawn(move || wait(&[a, b], true, 20_000));
        std::thread::sleep(Duration::from_millis(10));
        set_event(a, true);
        std::thread::sleep(Duration::from_millis(10));
        set_event(b, true);
        assert_eq!(waiter.join().unwrap(), Some(0));
        assert_eq!(wait(&[a, b], false, 0), None, "both were taken");
    }

    #[test]
    fn mutexes_are_recursive_and_can_be_abandoned() {
        let mutex = create_unnamed(Kind::Mutex { owner: 0, depth: 0, is_abandoned: false });
        let own = saki_thread::attach_current(ThreadKind::Background).managed_id();
        assert_eq!(wait(&[mutex], false, 0), Some(0));
        assert_eq!(wait(&[mutex], false, 0), Some(0));
        let other = std::thread::spawn(move || (wait(&[mutex], false, 1), release_mutex(mutex, u32::MAX)));
        assert_eq!(other.join().unwrap(), (None, Err(SignalError::NotOwner)));
        assert_eq!(release_mutex(mutex, own), Ok(()));
        let waiter = std::thread::spawn(move || wait(&[mutex], false, 20_000));
        std::thread::sleep(Duration::from_millis(10));
        abandon_mutexes(own);
        assert_eq!(waiter.join().unwrap(), Some(ABANDONED));
    }

    #[test]
    fn two_hundred_thousand_waits_for_one_object_leave_and_end() {
        // Took half a minute when each wait searched all others.
        const WAITS: usize = 200_000;
        const LIMIT: Duration = Duration::from_secs(10);
        let (gate, never) = (event(true), event(true));
        let thread = saki_thread::attach_current(ThreadKind::Background);
        let begun = std::time::Instant::now();
        let waits: Vec<Waiting> = (0..WAITS)
            .filter_map(|_| match begin(thread, &[never, gate, gate], false, false, None) {
                Ok(Begin::Waiting(waiting)) => Some(waiting),
                _ => None,
            })
            .collect();
        assert_eq!(waits.len(), WAITS);
        let (leave, stay): (Vec<_>, Vec<_>) = waits.into_iter().enumerate().partition(|(i, _)| i % 2 == 0);
        assert!(leave.into_iter().rev().all(|(_, waiting)| waiting.end().is_none()));
        assert!(set_event(gate, true));
        assert!(stay.into_iter().all(|(_, waiting)| waiting.end() == Some(1)));
        assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
        assert!(close(gate) && close(never));
        assert!(!is_open(gate) && !is_open(never), "the waits have given their references back");
    }

    #[test]
    fn semaphores_count_and_names_are_shared() {
        let kind = || Kind::Semaphore { count: 1, max: 3 };
        let name = Some("waitables-test".to_string());
        let Created::New(first) = create(kind(), name.clone()) else { panic!("the name is new") };
        assert_eq!(create(kind(), name.clone()), Created::Existing(first));
        assert_eq!(create(Kind::Event { is_manual: true, is_set: false }, name), Created::NameTaken);
        assert_eq!(release_semaphore(first, 3), Err((SignalError::TooManyPosts, 1)));
        assert_eq!(release_semaphore(first, 2), Ok(1));
        assert_eq!((0..4).filter(|_| wait(&[first], false, 0).is_some()).count(), 3);
        assert!(close(first) && close(first));
        assert_eq!(open("waitables-test", KindName::Semaphore), Err(OpenError::UnknownName));
    }
}
