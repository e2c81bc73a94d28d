//! Records of every single allocation, for the two consumers that want all of them (`Listener`): Mono's log and a
//! session.
//!
//! ```text
//!   heap → record: type → number, stack → number, push ┐       on the allocating thread
//!                                     the thread's list ┴→ flush → Listener::tell    by the thread, or with the world stopped
//! ```
//!
//! Recording an allocation costs some tens of nanoseconds: types and stacks have numbers, which a thread finds again in
//! its own tables (`StackMemo`), and work that can be done for many objects at once (locks, the clock, the listener's
//! work) is done when the thread's list is full. The list is also flushed before a collection, which may move objects
//! to other addresses; when the thread ends; before other events of the thread, which keeps their order; and when the
//! listener asks (`flush_all`).
//!
//! The tables' keys are addresses of vtables and of code, which may be used again when their owner has been freed:
//! `forget` begins a new epoch, at which all threads drop their tables. A thread that sees memory used again sees the
//! new epoch, too, since the epoch was changed first.
//!
//! | `EPOCH` | change | who | ordering |
//! |---|---|---|---|
//! | + 1 | types or code were freed, or a session begins | any thread, before the memory is used again | Relaxed: the publication of the memory's new use orders it |
//!
//! Invariant: a list is used by its own thread between two safepoints, or while the world is stopped. New numbers are
//! not made in such a section, because looking names up takes locks: so neither the list nor a thread's tables are
//! borrowed while a number is made.

use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::VTable;
use saki_thread::{ManagedThread, StopReason};
use saki_unwind::{NO_FRAMES, StackIds, StackMemo};
use std::cell::{OnceCell, RefCell, UnsafeCell};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::thread::LocalKey;

static EPOCH: AtomicU64 = AtomicU64::new(1);

/// Begins a new epoch, because code or types were freed, or numbers change their meaning.
pub fn forget() {
    EPOCH.fetch_add(1, Ordering::Relaxed);
}

/// The epoch, for tables that a listener shares between threads.
pub fn epoch() -> u64 {
    EPOCH.load(Ordering::Relaxed)
}

/// An object that was allocated.
#[derive(Clone, Copy)]
pub struct AllocationRecord {
    pub address: usize,
    pub size_bytes: u64,
    pub ty: u32,
    pub stack: u32,
}

/// A consumer of the records of all allocations.
pub trait Listener: 'static {
    /// The most records in a thread's list.
    const MAX_UNSENT: usize;
    /// The longest time for which a list of more than one record is filled: all records get the time at which the list
    /// is flushed.
    const MAX_AGE_NS: u64;

    /// The OS thread's tables.
    fn tables() -> &'static LocalKey<RefCell<Tables>>;

    /// The place of the thread's list; the thread is the current one or stopped. None for a thread that has not
    /// attached yet or has detached.
    fn recorder(thread: &ManagedThread) -> Option<&OnceCell<Box<Recorder>>>;

    /// Whether stacks are recorded; if not, their numbers are `NO_FRAMES`.
    fn wants_stacks() -> bool;

    /// The number of a type. May wait for a lock.
    fn type_number(vtable: &VTable) -> u32;

    /// The number of the stack that consists of `outer` and a frame with the return address `pc`, which lies in
    /// compiled code. May wait for a lock.
    fn stack_number(outer: u32, pc: usize) -> u32;

    /// Takes the records of a thread's list. Called between two safepoints of the thread, or with the world stopped.
    fn tell(thread: &ManagedThread, records: &[AllocationRecord], time_ns: u64);
}

/// An OS thread's numbers, by addresses.
#[derive(Default)]
pub struct Tables {
    epoch: u64,
    /// Numbers of types, by vtable.
    types: FxHashMap<usize, u32>,
    /// Return addresses that are known to lie in compiled code.
    codes: FxHashSet<usize>,
    /// Numbers of stacks, by outer stack and return address.
    stacks: FxHashMap<(u32, usize), u32>,
}

/// The most stacks in a table, some 2 MB: the number of stacks is unbounded in recursion that branches.
const MAX_STACKS: usize = 1 << 16;

impl Tables {
    /// Runs `f` on this OS thread's tables, without entries of earlier epochs.
    fn with<L: Listener, R>(f: impl FnOnce(&mut Tables) -> R) -> R {
        L::tables().with_borrow_mut(|tables| {
            let epoch = EPOCH.load(Ordering::Relaxed);
            if tables.epoch != epoch {
                *tables = Tables { epoch, ..Tables::default() };
            }
            f(tables)
        })
    }
}

/// Bits of the hash of a vtable's address by which a thread finds the numbers of types that it has used lately.
const RECENT_TYPE_BITS: u32 = 3;

/// The numbers that a thread has used lately.
#[derive(Default)]
struct Memo {
    epoch: u64,
    types: [(usize, u32); 1 << RECENT_TYPE_BITS],
    stack: StackMemo,
}

/// The first length of a list.
const FIRST_UNSENT: usize = 32;

struct UnsentRecords {
    records: Vec<AllocationRecord>,
    /// Records at which the list is flushed: doubled when the list was full before `MAX_AGE_NS` was over, halved when
    /// it was full later.
    max_len: usize,
    /// When the records were last given to the listener.
    sent_ns: u64,
}

/// A thread's data for one listener.
pub struct Recorder {
    /// Used by the thread itself only.
    memo: RefCell<Memo>,
    /// See the module's invariant.
    unsent: UnsafeCell<UnsentRecords>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        let unsent = UnsentRecords { records: Vec::new(), max_len: FIRST_UNSENT, sent_ns: 0 };
        Recorder { memo: RefCell::default(), unsent: UnsafeCell::new(unsent) }
    }
}

/// Records an allocation of the current thread, in the runtime.
///
/// # Safety
/// `vtable` is the object's; `thread` is the current thread.
pub unsafe fn record<L: Listener>(thread: &ManagedThread, vtable: *const VTable, address: usize, size_bytes: usize) {
    let Some(recorder) = L::recorder(thread) else { return };
    let recorder = recorder.get_or_init(Box::default);
    // Only this thread uses the memo. It is borrowed already if looking a name up has allocated.
    let (ty, stack) = if let Ok(mut memo) = recorder.memo.try_borrow_mut() {
        let memo = &mut *memo;
        // Acquire: compiled code may have the vtable by an address dependency alone, which does not order the load of
        // the epoch behind that of the vtable.
        fence(Ordering::Acquire);
        let epoch = EPOCH.load(Ordering::Relaxed);
        if memo.epoch != epoch {
            memo.stack.forget();
            *memo = Memo { epoch, stack: std::mem::take(&mut memo.stack), ..Memo::default() };
        }
        let recent = &mut memo.types[recent_index(vtable)];
        if recent.0 != vtable.addr() {
            // SAFETY: the vtable of an object.
            *recent = (vtable.addr(), type_number::<L>(unsafe { &*vtable }));
        }
        let mut numbers = Numbers::<L>(PhantomData);
        let mut stack = NO_FRAMES;
        if L::wants_stacks() {
            // SAFETY: the current thread, whose data this is.
            stack = unsafe { memo.stack.current(thread.abi(), &mut numbers) };
        }
        (recent.1, stack)
    } else {
        // SAFETY: the vtable of an object.
        (type_number::<L>(unsafe { &*vtable }), NO_FRAMES)
    };
    // SAFETY: this thread's own list, between two safepoints: nothing from here on waits for the world.
    let unsent = unsafe { &mut *recorder.unsent.get() };
    unsent.records.push(AllocationRecord { address, size_bytes: size_bytes as u64, ty, stack });
    if unsent.records.len() >= unsent.max_len {
        unsent.send_all::<L>(thread);
    }
}

impl UnsentRecords {
    fn send_all<L: Listener>(&mut self, thread: &ManagedThread) {
        if self.records.is_empty() {
            return;
        }
        let now_ns = saki_os::clock::monotonic_ns();
        L::tell(thread, &self.records, now_ns);
        let is_soon = now_ns.saturating_sub(self.sent_ns) < L::MAX_AGE_NS;
        if self.records.len() >= self.max_len {
            self.max_len = if is_soon { (2 * self.max_len).min(L::MAX_UNSENT) } else { (self.max_len / 2).max(1) };
        }
        self.sent_ns = now_ns;
        self.records.clear();
        self.records.shrink_to(2 * self.max_len);
    }
}

/// Fibonacci hashing.
#[inline]
fn recent_index(vtable: *const VTable) -> usize {
    (vtable.addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (u64::BITS - RECENT_TYPE_BITS)
}

#[cold]
fn type_number<L: Listener>(vtable: &VTable) -> u32 {
    let address = std::ptr::from_ref(vtable).addr();
    if let Some(number) = Tables::with::<L, _>(|tables| tables.types.get(&address).copied()) {
        return number;
    }
    let number = L::type_number(vtable);
    Tables::with::<L, _>(|tables| tables.types.insert(address, number));
    number
}

/// The numbers of stacks, by the tables of the OS thread.
struct Numbers<L>(PhantomData<L>);

impl<L: Listener> StackIds for Numbers<L> {
    fn is_code(&mut self, pc: usize) -> bool {
        Tables::with::<L, _>(|tables| {
            tables.codes.contains(&pc) || saki_code::lookup(pc - 1).is_some() && tables.codes.insert(pc)
        })
    }

    fn stack(&mut self, outer: u32, pc: usize) -> u32 {
        if let Some(number) = Tables::with::<L, _>(|tables| tables.stacks.get(&(outer, pc)).copied()) {
            return number;
        }
        let number = L::stack_number(outer, pc);
        Tables::with::<L, _>(|tables| {
            if tables.stacks.len() >= MAX_STACKS {
                tables.stacks.clear();
            }
            tables.stacks.insert((outer, pc), number);
        });
        number
    }
}

/// Passes a thread's records to a listener. Called by the thread itself between two safepoints, or with the world
/// stopped.
pub fn flush<L: Listener>(thread: &ManagedThread) {
    if let Some(recorder) = L::recorder(thread).and_then(OnceCell::get) {
        // SAFETY: only the thread itself uses its recorder, between two safepoints, unless the world is stopped: one of
        // the two is the caller.
        unsafe { &mut *recorder.unsent.get() }.send_all::<L>(thread);
    }
}

/// Stops the world, passes all threads' records to a listener, and runs `f`.
pub fn flush_all<L: Listener>(f: impl FnOnce()) {
    saki_thread::with_world_stopped(StopReason::Inspection, |_| {
        saki_thread::for_each_thread(flush::<L>);
        f();
    });
}
