//! The check of the order of locks: in debug builds each thread knows which ranks it holds.
//!
//! A thread that takes a lock which the table (`rank`) does not allow under one that it holds may wait for a thread
//! that waits for it. That is a `bug!`, which names both locks, at the first such locking, whether or not another
//! thread is in the way. Waiting for the end of a stop of the world is waiting for a lock (`rank::World`), so the same
//! check says which locks may be held at a safepoint. A lock that may be held while the world is stopped, one before
//! `World`, is waited for in a safe region, whether or not it is free: else a stop waits for a thread that waits for
//! one that has stopped.
//!
//! | who | which locks it holds |
//! |---|---|
//! | an OS thread | those in its thread-local list |
//! | a green thread that switches away | those in a `Carried` on its stack, all before `World` |
//! | a thread that stopped the world | those of the stop, until another thread or it ends that |
//! | the only thread of a forked child | as in the parent; no order matters until all parts know (`alone`) |
//! | a signal handler | those of the thread that it interrupted; it takes none |
//!
//! Invariant: nothing here allocates or waits, and nothing of it is there in release builds. Left out: `OnceLock`,
//! `LazyLock` and `Once`; locks of the C library and of outside crates; locks that are only tried, which do not wait
//! for ever.

use super::rank::{self, Rank, World};
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};

/// More than a thread holds at once: before a fork some twenty.
const MAX_HELD: usize = 48;

/// Locks that a green thread may keep when it switches away.
#[cfg(debug_assertions)]
const MAX_CARRIED: usize = 4;

/// A lock that a thread holds.
#[derive(Clone, Copy)]
struct Entry {
    rank: u16,
    /// The stop of the world to which it belongs, or `ALWAYS`.
    stop: u32,
    /// Of the lock; 0 in places that are free.
    address: usize,
    /// Of the locks that a fork holds the table says the order alone: all that the forking thread does meanwhile
    /// happens under them.
    is_for_fork: bool,
}

const FREE: Entry = Entry { rank: 0, stop: ALWAYS, address: 0, is_for_fork: false };

/// The locks of a thread, in the order in which it took them, and what else the check knows of it.
struct List {
    len: Cell<usize>,
    entries: [Cell<Entry>; MAX_HELD],
    /// There is no other thread.
    is_alone: Cell<bool>,
    /// The state of the managed thread that runs here, and its value outside of safe regions.
    state: Cell<Option<(&'static AtomicU32, u32)>>,
}

thread_local! {
    // Without a destructor, so that it is there until the thread has ended.
    static HELD: List = const {
        List {
            len: Cell::new(0),
            entries: [const { Cell::new(FREE) }; MAX_HELD],
            is_alone: Cell::new(false),
            state: Cell::new(None),
        }
    };
}

/// A lock that belongs to no stop.
const ALWAYS: u32 = 0;

/// The number of the present stop of the world, or of the next one. Relaxed: it changes under the lock of the world,
/// and a thread that reads another number than that of its entries has given that lock back, or knows that another
/// thread has.
static STOP: AtomicU32 = AtomicU32::new(ALWAYS + 1);

impl Entry {
    fn is_held(self) -> bool {
        self.stop == ALWAYS || self.stop == STOP.load(Ordering::Relaxed)
    }

    fn allows(self, taken: u16) -> bool {
        match self.is_for_fork {
            true => self.rank < taken || rank::may_be_taken_anywhere(self.rank),
            false => rank::may_be_taken_under(self.rank, taken),
        }
    }
}

impl List {
    fn iter(&self) -> impl Iterator<Item = Entry> {
        self.entries[..self.len.get()].iter().map(Cell::get).filter(|entry| entry.is_held())
    }

    fn push(&self, entry: Entry) {
        while self.remove(|entry| !entry.is_held()) {}
        let len = self.len.get();
        let Some(place) = self.entries.get(len) else {
            crate::bug!("a thread holds {MAX_HELD} locks and takes {}", rank::row(entry.rank));
        };
        place.set(entry);
        self.len.set(len + 1);
    }

    /// Takes out the last entry that `is_it` accepts. False: there is none.
    fn remove(&self, is_it: impl Fn(Entry) -> bool) -> bool {
        let len = self.len.get();
        let Some(at) = self.entries[..len].iter().rposition(|entry| is_it(entry.get())) else { return false };
        for next in at + 1..len {
            self.entries[next - 1].set(self.entries[next].get());
        }
        self.len.set(len - 1);
        true
    }
}

// What reads the list is not inlined: a green thread may be on another OS thread after any call that switches, and a
// function that has been inlined around such a call may keep the address of a thread-local variable from before it.

/// To be called before a thread waits for a lock.
#[inline]
#[track_caller]
pub fn check<R: Rank>() {
    if cfg!(debug_assertions) {
        check_rank(R::INDEX, false, Location::caller());
        if R::INDEX < World::INDEX {
            check_region(R::INDEX, Location::caller());
        }
    }
}

/// The same for a lock before `rank::World` that the thread tries to take and, if it is not free, waits for in a safe
/// region.
#[inline]
#[track_caller]
pub fn check_before_region<R: Rank>() {
    if cfg!(debug_assertions) {
        check_rank(R::INDEX, false, Location::caller());
    }
}

/// The calling OS thread runs a managed thread from now on, or none: it keeps a stop of the world waiting while
/// `state` has the value `running`.
#[inline]
pub fn runs_by(state: Option<&'static AtomicU32>, running: u32) {
    if cfg!(debug_assertions) {
        set_state(state.map(|state| (state, running)));
    }
}

#[inline(never)]
fn set_state(state: Option<(&'static AtomicU32, u32)>) {
    HELD.with(|held| held.state.set(state));
}

#[inline(never)]
fn check_region(taken: u16, place: &Location) {
    HELD.with(|held| {
        // Relaxed: the thread's own state.
        let keeps_stops_waiting = |(state, running): (&AtomicU32, u32)| state.load(Ordering::Relaxed) == running;
        if !held.is_alone.get() && held.state.get().is_some_and(keeps_stops_waiting) {
            // The report writes, and writing may take locks.
            held.is_alone.set(true);
            crate::bug!("the lock {} must be waited for in a safe region, at {place}", rank::row(taken));
        }
    });
}

/// To be called before a thread may wait until the world runs again. A thread that has stopped it does not wait.
#[inline]
#[track_caller]
pub fn check_safepoint() {
    if cfg!(debug_assertions) {
        check_rank(World::INDEX, true, Location::caller());
    }
}

#[inline(never)]
fn check_rank(taken: u16, is_safepoint: bool, place: &Location) {
    HELD.with(|held| {
        if held.is_alone.get() || is_safepoint && held.iter().any(|entry| entry.rank == World::INDEX) {
            return;
        }
        if let Some(entry) = held.iter().find(|entry| !entry.allows(taken)) {
            // The report writes, and writing may take locks.
            held.is_alone.set(true);
            let (outer, inner) = (rank::row(entry.rank), rank::row(taken));
            crate::bug!("the lock {inner} must not be taken while {outer} is held, at {place}");
        }
    });
}

/// Whether the thread holds this very lock. In release builds, false.
#[inline]
pub fn holds<L>(lock: &L) -> bool {
    cfg!(debug_assertions) && holds_at(std::ptr::from_ref(lock).addr())
}

#[inline(never)]
fn holds_at(address: usize) -> bool {
    HELD.with(|held| held.iter().any(|entry| entry.address == address))
}

/// To be called when a thread has taken a lock.
#[inline]
pub fn took<R: Rank, L>(lock: &L) {
    if cfg!(debug_assertions) {
        add(R::INDEX, R::IS_OF_STOP, std::ptr::from_ref(lock).addr());
    }
}

#[inline(never)]
fn add(rank: u16, is_of_stop: bool, address: usize) {
    let stop = if is_of_stop { STOP.load(Ordering::Relaxed) } else { ALWAYS };
    HELD.with(|held| held.push(Entry { rank, stop, address, is_for_fork: false }));
}

/// To be called when a thread has tried to take a lock, with whether it has it now, which it returns.
#[inline]
pub fn took_if<R: Rank, L>(is_taken: bool, lock: &L) -> bool {
    if is_taken {
        took::<R, L>(lock);
    }
    is_taken
}

/// To be called before a lock becomes free. A forked child frees locks that this thread does not hold.
#[inline]
pub fn gave_back<L>(lock: &L) {
    if cfg!(debug_assertions) {
        remove(std::ptr::from_ref(lock).addr());
    }
}

#[inline(never)]
fn remove(address: usize) {
    HELD.with(|held| held.remove(|entry| entry.address == address));
}

/// The lock that the thread took last is held until a fork is over.
pub fn keep_for_fork() {
    HELD.with(|held| {
        if let Some(last) = held.len.get().checked_sub(1) {
            let entry = &held.entries[last];
            entry.set(Entry { is_for_fork: true, ..entry.get() });
        }
    });
}

/// To be called before the world runs again: the locks of this stop are held no more, whichever thread took them.
#[inline]
pub fn end_stop() {
    if cfg!(debug_assertions) {
        STOP.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs `f` on the only thread of the process, for which no order matters: a forked child frees the locks of its
/// parent.
pub fn alone<T>(f: impl FnOnce() -> T) -> T {
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            HELD.with(|held| held.is_alone.set(self.0));
        }
    }
    let _back = Back(HELD.with(|held| held.is_alone.replace(true)));
    f()
}

/// A lock counts as held until this is dropped.
pub struct Held<R: Rank> {
    address: usize,
    // Not `Send`: the list is the thread's.
    rank: PhantomData<(R, *const ())>,
}

impl<R: Rank> Held<R> {
    /// Notes that the calling thread holds `lock`, until the value is dropped.
    #[inline]
    pub fn new<L>(lock: &L) -> Held<R> {
        took::<R, L>(lock);
        Held { address: std::ptr::from_ref(lock).addr(), rank: PhantomData }
    }
}

impl<R: Rank> Drop for Held<R> {
    #[inline]
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            remove(self.address);
        }
    }
}

/// The locks of a green thread that has switched away.
#[must_use = "the thread's locks are held again by `restore`"]
pub struct Carried {
    #[cfg(debug_assertions)]
    entries: [Entry; MAX_CARRIED],
}

/// To be called before a green thread switches away, since it may go on on another OS thread: takes its locks off the
/// list of this one.
#[inline]
#[track_caller]
pub fn carry() -> Carried {
    #[cfg(debug_assertions)]
    {
        check_rank(World::INDEX, false, Location::caller());
        Carried { entries: take_all() }
    }
    #[cfg(not(debug_assertions))]
    Carried {}
}

#[cfg(debug_assertions)]
#[inline(never)]
fn take_all() -> [Entry; MAX_CARRIED] {
    HELD.with(|held| {
        let mut entries = [FREE; MAX_CARRIED];
        for (index, entry) in held.iter().enumerate() {
            let Some(place) = entries.get_mut(index) else {
                crate::bug!("a green thread keeps {MAX_CARRIED} locks and {}", rank::row(entry.rank));
            };
            *place = entry;
        }
        held.len.set(0);
        entries
    })
}

impl Carried {
    /// To be called when the thread runs again.
    #[inline]
    pub fn restore(self) {
        #[cfg(debug_assertions)]
        for entry in self.entries.iter().filter(|entry| entry.address != 0) {
            add(entry.rank, false, entry.address);
        }
    }
}
