//! The structure of a managed thread.
//!
//! Invariant: the structure is heap-allocated at a stable address and never freed, only reused after its last reference
//! is gone, so `&'static` is sound and a late wake through an old reference leaves a stale token at worst. `abi` is the
//! first field, so the pinned register is also the address of the structure.
//!
//! | field | written by | read by |
//! |---|---|---|
//! | `abi` except `poll` | owner | owner; collector while stopped |
//! | `abi.poll`, `requests` | anyone, atomically | anyone |
//! | `state`, `published_sp`, `*registers*` | owner | stopper (see `protocol` for orderings) |
//! | `carrier` | the carrier's OS thread, when it takes the thread | owner; other threads may read a carrier that has changed since |
//! | `roots` | owner; collector while stopped; `abort` slots by the requester before the request bit | anyone |
//! | `scheduler_data` | creator, before the thread begins; Relaxed, published by the run queue | anyone that has a reference to the thread |
//! | `pins`, `wait_observer`, `computation` | owner; Relaxed | owner |
//! | `is_in_ran_list` | see `Carrier::note_ran` | the same |
//! | `registry_index` | the thread that holds the registry's lock; Relaxed | the same |
//! | `cold_stack` | see `cold_stack` | the same |
//! | `hold` | see `hold` | the same |
//! | `stack_reserve`, `inner_reserve` | owner and its fault handler | the same |
//! | `is_ready` | owner; Relaxed | owner |
//! | `is_in_runtime` | owner before it becomes SAFE, and after | stopper, after the Acquire of SAFE |
//! | `grow_below` | owner; Relaxed | owner |
//! | `statics` | owner | collector while stopped |
//! | `wait_state` | owner | anyone |
//! | `wait_target` | owner; Relaxed | anyone while the thread is stopped |
//! | `name`, `kind`, `lifecycle` | anyone, atomically or under its mutex | anyone |

use crate::carrier::Carrier;
use crate::cold_stack::ColdStack;
use crate::hold::HoldWord;
use crate::process_number::process_number;
use crate::protocol::{RUNNING, SAFE, STOP, TAKEN, WAITING};
use crate::spill::CALLEE_SAVED_COUNT;
use crate::stack_reserve::StackReserve;
use crate::statics::{BlockScan, StaticBlock, StaticBlocks};
use saki_abi::{ObjRef, ThreadAbi, thread as abi};
use saki_base::locks::rank;
use saki_sync::monitor::MonitorNode;
use saki_sync::word_locks::Mutex;
use saki_sync::{CancelWord, SlotCache, facade};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// `ManagedThread::state_bits` before the runtime sets them.
pub const NO_STATE: u32 = u32::MAX;

/// Names of root slots.
pub mod root {
    /// The `System.Threading.Thread` (or its internal thread) object.
    pub const THREAD_OBJECT: usize = 0;
    /// The ThreadAbortException in flight.
    pub const ABORT_EXCEPTION: usize = 1;
    /// The state object given to `Thread.Abort`.
    pub const ABORT_STATE: usize = 2;
    /// The current culture or execution context cached by the runtime.
    pub const CONTEXT: usize = 3;
    /// First slot without a fixed meaning.
    pub const FIRST_FREE: usize = 4;
    /// The number of root slots of a thread.
    pub const COUNT: usize = 8;
}

/// A reference that the collector scans and may update.
#[derive(Default)]
pub struct RootSlot(AtomicPtr<saki_abi::Object>);

impl RootSlot {
    /// The object in the slot; null if there is none.
    pub fn get(&self) -> ObjRef {
        // Acquire pairs with `set`: the object's content is visible.
        ObjRef(self.0.load(Ordering::Acquire))
    }

    /// Puts an object into the slot; roots need no barrier.
    pub fn set(&self, object: ObjRef) {
        self.0.store(object.0, Ordering::Release);
    }

    /// Address of the slot, for the collector.
    pub fn address(&self) -> *mut ObjRef {
        self.0.as_ptr().cast()
    }
}

/// Whether and how a thread keeps the process alive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ThreadKind {
    /// Runs `Main`; its return starts the exit protocol.
    Main = 0,
    /// The process waits for it.
    Foreground = 1,
    /// Ends with the process.
    Background = 2,
    /// The runtime's own: finalizer, timers; background, not shown to programs.
    Internal = 3,
}

impl ThreadKind {
    pub(crate) fn from_number(number: u32) -> ThreadKind {
        match number {
            0 => ThreadKind::Main,
            1 => ThreadKind::Foreground,
            2 => ThreadKind::Background,
            _ => ThreadKind::Internal,
        }
    }
}

/// What a blocked thread waits for (`ThreadState.WaitSleepJoin` unless `Running`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum WaitState {
    Running = 0,
    Sleep = 1,
    Join = 2,
    Monitor = 3,
    Handle = 4,
    Native = 5,
}

impl WaitState {
    fn from_number(number: u32) -> WaitState {
        use WaitState::{Handle, Join, Monitor, Native, Running, Sleep};
        [Running, Sleep, Join, Monitor, Handle, Native].get(number as usize).copied().unwrap_or(Running)
    }
}

/// The thing that a thread waits for, and whether the wait ends by itself.
///
/// | state | address of |
/// |---|---|
/// | `Monitor` | the object |
/// | `Join` | the other thread's `ManagedThread` |
/// | `Handle` | the waiter's own record of the wait |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTarget(usize);

impl WaitTarget {
    /// Set for a wait with a time-out: targets are aligned to more than a byte.
    const TIMED_BIT: usize = 1;

    /// What a thread waits for, by its address, and whether there is a time limit.
    pub fn new(address: usize, timeout: Option<Duration>) -> WaitTarget {
        WaitTarget(address | if timeout.is_some() { WaitTarget::TIMED_BIT } else { 0 })
    }

    /// The address of what the thread waits for; 0 for nothing.
    pub fn address(self) -> usize {
        self.0 & !WaitTarget::TIMED_BIT
    }

    /// Whether the wait has a time limit.
    pub fn is_timed(self) -> bool {
        self.0 & WaitTarget::TIMED_BIT != 0
    }
}

/// Callbacks for a thread's waits. They are called on the thread itself, not in a safe region, and may neither block
/// nor reach a safepoint.
pub struct WaitObserver {
    /// Called on the thread before it waits.
    pub begins: fn(&'static ManagedThread),
    /// Called on the thread after it has waited.
    pub ends: fn(&'static ManagedThread),
}

pub(crate) const CREATED: u32 = 0;
pub(crate) const ATTACHED: u32 = 1;
pub(crate) const DETACHED: u32 = 2;

/// See the module header.
#[repr(C, align(16))]
pub struct ManagedThread {
    abi: UnsafeCell<ThreadAbi>,
    pub(crate) state: facade::atomic::AtomicU32,
    /// Whether `saved_registers` are the caller's now; otherwise they are stale. In one aligned word with the state:
    /// the stub that calls native code stores both as 0.
    pub(crate) registers_are_saved: AtomicBool,
    /// Whether the safe region is one of the runtime's own code (`blocking`), which may hold locks that a collection
    /// needs, and has no references: it is not held (`hold`).
    pub(crate) is_in_runtime: AtomicBool,
    pub(crate) published_sp: AtomicUsize,
    pub(crate) saved_registers: [AtomicUsize; CALLEE_SAVED_COUNT],
    /// References scanned by the collector; see [`root`].
    pub roots: [RootSlot; root::COUNT],
    pub(crate) node: MonitorNode,
    pub(crate) requests: AtomicU32,
    wait_state: AtomicU32,
    wait_target: AtomicUsize,
    pub(crate) kind: AtomicU32,
    pub(crate) lifecycle: AtomicU32,
    /// The number of the process (`process_number`) in which the structure was made or taken from the pool, or of a
    /// child that goes on with the thread.
    process_number: AtomicU32,
    pub(crate) references: AtomicU32,
    name: Mutex<rank::ThreadName, Option<String>>,
    pub(crate) joiners: Mutex<rank::Joiners, Vec<&'static ManagedThread>>,
    pub(crate) statics: StaticBlocks,
    carrier: AtomicPtr<Carrier>,
    /// Null for a native thread; else the scheduler's part, which stays with the structure.
    scheduler_data: AtomicPtr<()>,
    /// The observer of the thread's waits, or null.
    wait_observer: AtomicPtr<WaitObserver>,
    /// How many reasons there are to stay on the OS thread.
    pub(crate) pins: AtomicU32,
    /// Whether the thread is on a carrier's list of threads that ran.
    pub(crate) is_in_ran_list: AtomicBool,
    /// Whether the OS thread was there before, and the machine found it.
    pub(crate) is_foreign: AtomicBool,
    /// Place in the registry's list; changes under its lock.
    pub(crate) registry_index: AtomicUsize,
    /// Free for the runtime: the address of its own per-thread data.
    pub runtime_data: AtomicUsize,
    /// Free for the runtime, for anyone to change: state bits that outlive the thread's run. `NO_STATE` until it sets
    /// them.
    pub state_bits: AtomicU32,
    /// Free for the thread pool. For the thread itself.
    pub is_in_work_item: AtomicBool,
    /// Free for the loader, for the thread itself: the computation that it is in, or null.
    pub computation: AtomicPtr<()>,
    /// For calls that other threads may end: one at a time, and over before the thread ends.
    pub cancel_word: CancelWord,
    /// Whether the OS thread has its alternate signal stack and the reserve of its stack, which managed code needs.
    pub(crate) is_ready: AtomicBool,
    pub(crate) stack_reserve: StackReserve,
    /// That of the inner part of a stack in two parts (`growth`).
    pub(crate) inner_reserve: StackReserve,
    pub(crate) grow_below: AtomicUsize,
    pub(crate) cold_stack: ColdStack,
    pub(crate) hold: HoldWord,
}

// SAFETY: fields without atomics or mutexes are written by the owner only and read by others only while it is stopped;
// the table in the module header says which.
unsafe impl Sync for ManagedThread {}
// SAFETY: nothing in it is tied to the OS thread that allocated it.
unsafe impl Send for ManagedThread {}

pub(crate) const SAVED_REGISTERS_OFFSET: usize = std::mem::offset_of!(ManagedThread, saved_registers);

const _: () = assert!(std::mem::offset_of!(ManagedThread, abi) == 0);
const _: () = {
    let [state, published_sp] = [abi::THREAD_STATE_OFFSET as usize, abi::THREAD_PUBLISHED_SP_OFFSET as usize];
    assert!(std::mem::offset_of!(ManagedThread, state) == state && state.is_multiple_of(8));
    assert!(std::mem::offset_of!(ManagedThread, registers_are_saved) < state + 8);
    assert!(std::mem::offset_of!(ManagedThread, published_sp) == published_sp);
    assert!(RUNNING == abi::THREAD_RUNNING && SAFE == abi::THREAD_SAFE);
};

/// Bytes of the poll word, which other threads change at any time, and of the id, which they read; and those behind.
const ATOMICS_BYTES: usize = 8;
const OTHER_BYTES: usize = size_of::<ThreadAbi>() - ATOMICS_BYTES;
const _: () = assert!(std::mem::offset_of!(ThreadAbi, poll) == 0 && std::mem::offset_of!(ThreadAbi, managed_id) == 4);
const _: () = assert!(std::mem::offset_of!(ThreadAbi, pending_exception) == ATOMICS_BYTES);

fn empty_abi(managed_id: u32) -> ThreadAbi {
    ThreadAbi {
        poll: AtomicU32::new(0),
        managed_id,
        pending_exception: ObjRef::NULL,
        exit_frame: 0,
        imt_method: std::ptr::null(),
        stub_result: 0,
        stub_arg: [0; 3],
        thread_statics: std::ptr::null_mut(),
        thread_statics_len: 0,
        alloc_cursor: 0,
        alloc_limit: 0,
        vo_bit_base: 0,
        log_bit_base: 0,
        stack_limit: 0,
        stack_base: 0,
        outer_sp: 0,
        outer_limit: 0,
        inner_top: 0,
        eh_exception: ObjRef::NULL,
        handle_slots: 0,
        monitor_entries: 0,
        eh_target_clause: 0,
        last_error: 0,
        reserved: 0,
        universe: std::ptr::null(),
        tail_args: [0; saki_abi::thread::TAIL_ARGS_BYTES / 8],
    }
}

impl ManagedThread {
    /// A new structure, never freed.
    pub(crate) fn leak(managed_id: u32) -> &'static ManagedThread {
        saki_os::records::keep(ManagedThread {
            abi: UnsafeCell::new(empty_abi(managed_id)),
            state: facade::atomic::AtomicU32::new(SAFE),
            registers_are_saved: AtomicBool::new(false),
            is_in_runtime: AtomicBool::new(false),
            published_sp: AtomicUsize::new(0),
            saved_registers: Default::default(),
            roots: Default::default(),
            node: MonitorNode::default(),
            requests: AtomicU32::new(0),
            wait_state: AtomicU32::new(0),
            wait_target: AtomicUsize::new(0),
            kind: AtomicU32::new(ThreadKind::Background as u32),
            lifecycle: AtomicU32::new(CREATED),
            process_number: AtomicU32::new(process_number()),
            references: AtomicU32::new(1),
            name: Mutex::new(None),
            joiners: Mutex::new(Vec::new()),
            statics: StaticBlocks::default(),
            carrier: AtomicPtr::new(std::ptr::null_mut()),
            scheduler_data: AtomicPtr::new(std::ptr::null_mut()),
            wait_observer: AtomicPtr::new(std::ptr::null_mut()),
            pins: AtomicU32::new(0),
            is_in_ran_list: AtomicBool::new(false),
            is_foreign: AtomicBool::new(false),
            registry_index: AtomicUsize::new(0),
            runtime_data: AtomicUsize::new(0),
            state_bits: AtomicU32::new(NO_STATE),
            is_in_work_item: AtomicBool::new(false),
            computation: AtomicPtr::new(std::ptr::null_mut()),
            cancel_word: CancelWord::new(),
            is_ready: AtomicBool::new(true),
            stack_reserve: StackReserve::default(),
            inner_reserve: StackReserve::default(),
            grow_below: AtomicUsize::new(0),
            cold_stack: ColdStack::default(),
            hold: HoldWord::new(),
        })
    }

    /// Makes an unreferenced structure ready for another thread, except for its name.
    pub(crate) fn reset(&self, managed_id: u32) {
        let fresh = empty_abi(managed_id);
        let (from, to) = (std::ptr::from_ref(&fresh).cast::<u8>(), self.abi.get().cast::<u8>());
        // SAFETY: no thread owns the structure (its reference count was 0), so nobody reads or writes `abi` behind the
        // words of its atomics; nothing in it is dropped.
        unsafe { std::ptr::copy_nonoverlapping(from.add(ATOMICS_BYTES), to.add(ATOMICS_BYTES), OTHER_BYTES) };
        self.managed_id_word().store(managed_id, Ordering::Relaxed);
        // A stopper that found the thread on its carrier needs no reference to it, and may be about to set or clear its
        // bit; so may a taker of the carrier. AcqRel: as in `clear_poll`.
        self.poll_word().fetch_and(STOP | TAKEN, Ordering::AcqRel);
        for slot in &self.roots {
            slot.set(ObjRef::NULL);
        }
        self.published_sp.store(0, Ordering::Relaxed);
        self.requests.store(0, Ordering::Relaxed);
        self.wait_state.store(0, Ordering::Relaxed);
        self.wait_target.store(0, Ordering::Relaxed);
        self.carrier.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.wait_observer.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.pins.store(0, Ordering::Relaxed);
        self.is_foreign.store(false, Ordering::Relaxed);
        self.grow_below.store(0, Ordering::Relaxed);
        self.runtime_data.store(0, Ordering::Relaxed);
        self.state_bits.store(NO_STATE, Ordering::Relaxed);
        self.process_number.store(process_number(), Ordering::Relaxed);
        // Release, as at every change of the lifecycle; nothing depends on it: no thread refers to the structure.
        self.lifecycle.store(CREATED, Ordering::Release);
        // Release: pairs with the AcqRel of the drop of the last reference: the new life's fields are set.
        self.references.store(1, Ordering::Release);
    }

    /// The part that compiled code sees; its address is in the pinned register.
    #[inline(always)]
    pub fn abi(&self) -> *mut ThreadAbi {
        self.abi.get()
    }

    /// The thread that a helper received in its first argument.
    ///
    /// # Safety
    /// `abi` came from [`ManagedThread::abi`].
    #[inline(always)]
    pub unsafe fn from_abi(abi: *mut ThreadAbi) -> &'static ManagedThread {
        // SAFETY: `abi` is the first field of a structure that is never freed.
        unsafe { &*abi.cast::<ManagedThread>() }
    }

    /// The poll word.
    #[inline(always)]
    pub fn poll_word(&self) -> &AtomicU32 {
        // SAFETY: `poll` is atomic and the structure is never freed; the reference covers only that field.
        unsafe { &(*self.abi.get()).poll }
    }

    /// Relaxed: it changes only while no thread has a counted reference to the structure; one that has found it on a
    /// carrier may see the id of the structure's next thread.
    #[inline(always)]
    fn managed_id_word(&self) -> &AtomicU32 {
        // SAFETY: an aligned word of a structure that is never freed, which compiled code and `reset` access besides.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.abi.get()).managed_id) }
    }

    /// 1..=2^23-1; the owner in locks.
    #[inline(always)]
    pub fn managed_id(&self) -> u32 {
        self.managed_id_word().load(Ordering::Relaxed)
    }

    /// The carrier that runs the thread, or ran it last; None before it has run.
    #[inline(always)]
    pub fn carrier(&self) -> Option<&'static Carrier> {
        // Acquire: pairs with the Release in `set_carrier`: the record is set up.
        // SAFETY: null, or a record that is never freed.
        unsafe { self.carrier.load(Ordering::Acquire).as_ref() }
    }

    /// Release: the carrier's record is visible with it.
    #[inline(always)]
    pub(crate) fn set_carrier(&self, carrier: &'static Carrier) {
        self.carrier.store(std::ptr::from_ref(carrier).cast_mut(), Ordering::Release);
    }

    /// The thread runs on no carrier any more. For the code that detaches the thread in its place.
    pub(crate) fn forget_carrier(&self) {
        // Release, as in `set_carrier`; null has no record to show.
        self.carrier.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// The scheduler's data of the thread; null for a native one.
    #[inline(always)]
    pub fn scheduler_data(&self) -> *mut () {
        // Relaxed: set before the thread begins.
        self.scheduler_data.load(Ordering::Relaxed)
    }

    /// Makes the thread one of a scheduler. For the thread itself, or before it begins.
    pub fn set_scheduler_data(&self, data: *mut ()) {
        self.scheduler_data.store(data, Ordering::Relaxed);
    }

    /// The carrier that runs the thread, or the native code that it called.
    fn present_carrier(&self) -> Option<&'static Carrier> {
        self.carrier().filter(|carrier| carrier.current().is_some_and(|t| std::ptr::eq(t, self)))
    }

    /// The kernel's id of the OS thread that the thread is on now; 0 before it runs, and while it waits for its turn on
    /// a carrier.
    pub fn native_id(&self) -> u32 {
        self.present_carrier().map_or(0, Carrier::native_id)
    }

    /// What the end of the process makes of the thread.
    pub fn kind(&self) -> ThreadKind {
        // Acquire: pairs with the Release half of the exchanges that change the kind (`exit`).
        ThreadKind::from_number(self.kind.load(Ordering::Acquire))
    }

    /// The thread's name, as the program or the machine has set it.
    pub fn name(&self) -> Option<String> {
        self.name.lock().clone()
    }

    /// Whether the OS thread was there before, and the machine found it: the main thread, those of a host.
    pub fn is_foreign(&self) -> bool {
        // Relaxed: set before others get a reference to the thread.
        self.is_foreign.load(Ordering::Relaxed)
    }

    /// Names the thread; None takes the name away. The name of the OS thread is not touched.
    pub fn set_name(&self, name: Option<&str>) {
        *self.name.lock() = name.map(str::to_owned);
    }

    /// Started and not yet ended.
    pub fn is_attached(&self) -> bool {
        // Acquire: pairs with the Release with which the registry lists the thread: it is set up.
        self.lifecycle.load(Ordering::Acquire) == ATTACHED
    }

    /// Whether the thread has ended. In a forked child that also holds for threads that were about to begin in the
    /// parent, and for those that had left the list of threads and not told their end.
    pub fn is_detached(&self) -> bool {
        // Acquire: pairs with the store in `tell_end`, which releases: what the ended thread wrote is visible.
        self.lifecycle.load(Ordering::Acquire) == DETACHED || !self.is_of_this_process()
    }

    /// The thread is the one that a forked child has.
    pub(crate) fn join_this_process(&self) {
        // Relaxed: there is no other thread.
        self.process_number.store(process_number(), Ordering::Relaxed);
    }

    /// Whether the thread is one of this process, and not one that its parent had before a fork.
    pub(crate) fn is_of_this_process(&self) -> bool {
        // Relaxed: the numbers differ only if a fork lies between, after which there was one thread.
        self.process_number.load(Ordering::Relaxed) == process_number()
    }

    /// What the thread waits for, as it has told.
    pub fn wait_state(&self) -> WaitState {
        // Acquire: pairs with the Release in `set_wait_state`: what the thread did before it told is visible.
        WaitState::from_number(self.wait_state.load(Ordering::Acquire))
    }

    /// Sets what the thread is about to wait for; returns what it was. Called by the thread itself.
    pub fn set_wait_state(&self, state: WaitState) -> WaitState {
        // Relaxed, and no exchange: only the thread itself writes it. Release: as for the other states.
        let before = self.wait_state.load(Ordering::Relaxed);
        self.wait_state.store(state as u32, Ordering::Release);
        WaitState::from_number(before)
    }

    /// What the thread waits for. It means something only while the thread is stopped in a wait of a kind that
    /// `WaitTarget` lists.
    pub fn wait_target(&self) -> WaitTarget {
        // Relaxed: stopping the thread makes its stores visible.
        WaitTarget(self.wait_target.load(Ordering::Relaxed))
    }

    /// Sets what `wait_target` gives; returns what it was. Called by the thread itself, around a wait during which the
    /// thread's stack keeps the target where it is.
    pub fn set_wait_target(&self, target: WaitTarget) -> WaitTarget {
        // Relaxed, and no exchange: only the thread itself writes it.
        let before = self.wait_target();
        self.wait_target.store(target.0, Ordering::Relaxed);
        before
    }

    /// The slots of the handle table that are reserved for threads on the thread's carrier. None for a thread that
    /// native code ended. For the thread itself, which must not keep the reference across a safepoint.
    #[inline(always)]
    pub fn handle_cache(&self) -> Option<&'static SlotCache> {
        self.carrier().map(Carrier::handle_cache)
    }

    /// Whether the thread is in managed or runtime code (may be stale unless the world is stopped).
    pub fn is_running(&self) -> bool {
        // Acquire, as in `is_safe`; a thread that asks about itself needs none.
        self.state.load(Ordering::Acquire) == RUNNING
    }

    /// Whether the thread is in a safe region that its carrier can be taken from. For the scheduler, after its heavy
    /// fence.
    pub fn is_safe(&self) -> bool {
        // Acquire: pairs with the Release in `StopWords::enter`: the frozen stack and its SP are visible.
        self.state.load(Ordering::Acquire) == SAFE
    }

    /// Whether the thread is in a safe region.
    pub fn is_in_safe_region(&self) -> bool {
        // Acquire, as in `is_safe`.
        matches!(self.state.load(Ordering::Acquire), SAFE | WAITING)
    }

    /// Leaves a token for the thread's `block`.
    pub fn unpark(&self) {
        self.node.parker.unpark();
    }

    /// The thread's place in monitor queues.
    pub fn monitor_node(&self) -> &'static MonitorNode {
        let node: *const MonitorNode = &self.node;
        // SAFETY: structures are leaked and never freed.
        unsafe { &*node }
    }

    /// The thread-static block at `index`, null if the thread has none yet. For the thread itself.
    pub fn static_block(&self, index: usize) -> *mut u8 {
        self.statics.get(index)
    }

    /// The block at `index`, made (zeroed, 16-byte aligned) and put into the table if there is none. For the thread
    /// itself.
    pub fn ensure_static_block(&self, index: usize, size_bytes: usize, scan: BlockScan) -> *mut u8 {
        let present = self.statics.get(index);
        if !present.is_null() {
            return present;
        }
        let data = self.statics.add(index, size_bytes, scan);
        self.set_static_table(self.statics.table());
        data
    }

    /// Tells compiled code where the table of blocks is.
    fn set_static_table(&self, (start, len): (*mut *mut u8, usize)) {
        let abi = self.abi();
        // SAFETY: the owner writes its own ABI part.
        unsafe { (*abi).thread_statics = start };
        // SAFETY: the owner writes its own ABI part, which compiled code of the same thread reads.
        unsafe { (*abi).thread_statics_len = len };
    }

    /// Zeroes the block at `index`, if there is one. For the thread that has stopped the world; no code may be using
    /// the block's contents.
    pub fn clear_static_block(&self, index: usize) {
        self.statics.clear(index);
    }

    /// Frees the block at `index`, if there is one. For the thread that has stopped the world; no code may have the
    /// block's address any more.
    pub fn free_static_block(&self, index: usize) {
        self.statics.free(index);
    }

    /// Calls `visit` for every block. For the owner, or for the collector while the thread is stopped.
    pub fn for_each_static_block(&self, visit: impl FnMut(&StaticBlock)) {
        self.statics.for_each(visit);
    }

    /// Frees every block, when the thread ends.
    pub(crate) fn free_static_blocks(&self) {
        self.set_static_table((std::ptr::null_mut(), 0));
        self.statics.free_all();
    }

    /// Sets or removes the observer that is called when the thread begins and ends a wait; called by the thread itself.
    pub fn observe_waits(&self, observer: Option<&'static WaitObserver>) {
        let observer = observer.map_or(std::ptr::null(), std::ptr::from_ref).cast_mut();
        self.wait_observer.store(observer, Ordering::Relaxed);
    }

    pub(crate) fn wait_observer(&self) -> Option<&'static WaitObserver> {
        // Relaxed: set by the thread itself.
        // SAFETY: null, or from a static reference.
        unsafe { self.wait_observer.load(Ordering::Relaxed).as_ref() }
    }

    /// Whether a scheduler gives the thread its carriers.
    #[inline(always)]
    pub fn is_green(&self) -> bool {
        !self.scheduler_data().is_null()
    }

    /// The same thread for ever: structures are never freed.
    pub(crate) fn as_static(&self) -> &'static ManagedThread {
        // SAFETY: structures are leaked.
        unsafe { &*std::ptr::from_ref(self) }
    }

    /// Keeps the thread on its OS thread until `unpin`: native code below, or the program, counts on it. Counted;
    /// called by the thread itself.
    pub fn pin(&self) {
        self.pins.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back one `pin`.
    pub fn unpin(&self) {
        self.pins.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether the thread must stay on its OS thread.
    pub fn is_pinned(&self) -> bool {
        // Relaxed: only the thread itself changes it.
        self.pins.load(Ordering::Relaxed) != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::request::{POLL_INTERRUPT, POLL_YIELD};

    #[test]
    fn a_reused_structure_keeps_the_bits_of_those_that_still_have_it_on_their_lists() {
        let thread = ManagedThread::leak(1);
        thread.set_poll(STOP | TAKEN | POLL_INTERRUPT | POLL_YIELD);
        // SAFETY: no thread has the structure.
        unsafe { (*thread.abi()).last_error = 7 };
        thread.reset(2);
        assert_eq!(thread.poll_word().load(Ordering::Relaxed), STOP | TAKEN);
        // SAFETY: no thread has the structure.
        assert_eq!((thread.managed_id(), unsafe { (*thread.abi()).last_error }), (2, 0));
    }
}
