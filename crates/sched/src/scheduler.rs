//! The state that workers share (slots for running carriers, idle workers, threads that no worker has, timers), and the scheduler's entry points.
//!
//! At most as many workers are ACTIVE as the mode has carriers: each holds a *slot*. A worker without work gives its slot back and sleeps
//! (`IdleCarriers`); a caller that makes a thread runnable while a slot is free wakes a worker, or starts another. A worker whose thread
//! stays in native code is *taken*: it loses its slot, which another worker gets. When the thread leaves native code it takes a free slot, or
//! moves to the queue of threads that no worker has; its worker then sleeps like the others.
//!
//! Invariant: a worker gives its slot back before it is counted as idle, and looks at all queues after that; a caller that makes a thread runnable looks for a free slot
//! and an idle worker after the thread is in a queue. The barriers between (`IdleCarriers`) ensure that one of the two sees the other.

use crate::cold::{self, ColdCounts};
use crate::dispatch::{self, Dispatch};
use crate::green::Green;
use crate::idle::{self, IdleCarriers, SleepEnd};
use crate::injector::Injector;
use crate::mode::ThreadMode;
use crate::native_exit;
use crate::poller;
use crate::slots::{Reclaimed, SlotHolder, Slots};
use crate::timers::{TimerKey, Timers};
use crate::watcher;
use crate::worker::{self, After, Worker};
use parking_lot::{Mutex, RwLock};
use saki_fiber::{StackCounts, StackPool, StackPoolOptions};
use saki_os::signal::{AlternateStackMemory, SignalMask};
use saki_thread::scheduler_hooks::{SchedulerHooks, install_scheduler};
use saki_thread::scheduling;
use saki_thread::{ManagedThread, POLL_TAKEN, SpawnedThread, ThreadKind};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Stack of a worker's OS thread, on which only the scheduler runs.
const WORKER_STACK_BYTES: usize = 256 << 10;
/// Stack of the main worker's base context.
const BASE_STACK_BYTES: usize = 256 << 10;
const MIN_STACK_BYTES: usize = 64 << 10;
/// The maximum number of workers: each worker that is blocked in native code costs an OS thread.
const MAX_WORKERS: usize = 1024;

static WORKERS: RwLock<Vec<&'static Worker>> = RwLock::new(Vec::new());
/// Numbers of workers, which begin before they are in the list.
static WORKER_COUNT: AtomicUsize = AtomicUsize::new(0);
/// Records of workers whose OS threads have ended.
static FREE_WORKERS: Mutex<Vec<&'static Worker>> = Mutex::new(Vec::new());
/// The scheduler's state, which exists from `start` on in modes with green threads.
struct Parts {
    stacks: StackPool,
    slots: Slots,
    idle: IdleCarriers,
    injector: Injector<&'static Green>,
    /// Threads whose quantum was over: they run after all others, except that one of them runs first now and then.
    preempted: Injector<&'static Green>,
    timers: Timers<&'static Green>,
}

static PARTS: OnceLock<Parts> = OnceLock::new();
static MODE: OnceLock<ThreadMode> = OnceLock::new();
/// Signals that carriers let in: those of the main thread. A carrier may be started by a thread that lets none in.
static MASK: OnceLock<SignalMask> = OnceLock::new();

/// Carriers taken from threads in native code, threads stolen, and turns that ended because others waited. Relaxed: numbers for reports.
static TAKEN_COUNT: AtomicU64 = AtomicU64::new(0);
static STOLEN_COUNT: AtomicU64 = AtomicU64::new(0);
static YIELD_COUNT: AtomicU64 = AtomicU64::new(0);

static HOOKS: SchedulerHooks =
    SchedulerHooks { reclaim, yield_now, about_to_block, restore_cold_stacks: cold::restore_all };

/// The mode in force.
pub fn mode() -> ThreadMode {
    MODE.get().copied().unwrap_or_default()
}

/// How many managed threads can run at the same time: the number of processors that programs see. A class library that sees one
/// processor does not spin for a change that only another thread could make.
pub fn parallelism() -> usize {
    let processors = saki_os::cpu::count();
    mode().carriers().map_or(processors, |carriers| carriers.min(processors))
}

/// Begins to schedule threads in this mode; once, on the main thread, which is attached, before there are others. When there are more than
/// `hot_stacks` stacks, unused ones are moved to compact memory.
///
/// # Errors
/// The system's, when it has no room for the first stack or for the watcher's thread.
pub fn start(mode: ThreadMode, hot_stacks: usize) -> io::Result<()> {
    let _ = MODE.set(mode);
    let Some(carriers) = mode.carriers() else { return Ok(()) };
    let main = saki_thread::current()
        .unwrap_or_else(|| saki_base::bug!("the scheduler starts on a thread that is not attached"));
    let parts = PARTS.get_or_init(|| Parts {
        stacks: StackPool::new(StackPoolOptions::default()),
        slots: Slots::new(carriers, 1),
        idle: IdleCarriers::new(MAX_WORKERS, poller::interrupt),
        injector: Injector::new(),
        preempted: Injector::new(),
        timers: Timers::new(),
    });
    let _ = MASK.set(SignalMask::current());
    let base_stack = parts.stacks.take(BASE_STACK_BYTES)?;
    WORKER_COUNT.store(1, Ordering::Relaxed);
    let worker = Worker::leak(0);
    // SAFETY: the worker's own stack, which is never given back.
    worker.set_base(unsafe { saki_fiber::prepare(base_stack.top(), worker::begin_base, worker.as_pointer().cast()) });
    native_exit::install()?;
    native_exit::watch(worker);
    if let Some(carrier) = main.carrier() {
        worker.set_carrier(Some(carrier));
        carrier.set_scheduler(worker.as_pointer());
    }
    WORKERS.write().push(worker);
    worker::set_here(worker);
    install_scheduler(&HOOKS);
    let green = Green::of_new(main);
    main.set_scheduler_data(green.as_pointer());
    cold::start(hot_stacks);
    watcher::start()
}

/// Starts a managed thread, as an OS thread or a green one as the mode says. `stack_size_bytes` 0 = default.
///
/// # Errors
/// The system's, when it has no room for another thread.
pub fn spawn(
    kind: ThreadKind,
    name: Option<&str>,
    stack_size_bytes: usize,
    f: impl FnOnce(&'static ManagedThread) + Send + 'static,
) -> io::Result<SpawnedThread> {
    // The runtime's own threads wait in the kernel; they need carriers of their own.
    let stacks = match PARTS.get() {
        Some(parts) if kind != ThreadKind::Internal => &parts.stacks,
        _ => return saki_thread::spawn(kind, name, stack_size_bytes, f),
    };
    let stack = stacks.take(saki_thread::stack_bytes(stack_size_bytes, MIN_STACK_BYTES))?;
    let thread = scheduling::create_green(kind, name, |thread| Green::of_new(thread).as_pointer());
    let Some(green) = Green::of(&thread) else { saki_base::bug!("a green thread without a record") };
    // The structure stays the thread's until it begins, which takes a reference of its own.
    let own = thread.clone();
    let body: crate::green::Body = Box::new(move |thread| {
        drop(own);
        f(thread);
    });
    // SAFETY: the thread has not begun, and nobody else has its record; the stack is fresh and stays with the thread until it ends.
    unsafe {
        *green.context.get() = saki_fiber::prepare(stack.top(), worker::begin, green.as_pointer().cast());
        *green.stack.get() = Some(stack);
        *green.body.get() = Some(body);
    }
    cold::note_hot(green);
    make_runnable(green);
    Ok(thread)
}

/// A thread has ended and left its stack.
pub(crate) fn end(green: &'static Green) {
    // SAFETY: the thread runs no more, and its record is used again only after `end_green`.
    let stack = unsafe { (*green.stack.get()).take() };
    if let (Some(stack), Some(parts)) = (stack, PARTS.get()) {
        parts.stacks.give(stack);
        cold::note_end();
    }
    scheduling::end_green(green.thread);
}

/// Lets a thread run as soon as there is a carrier: next on the caller's, if the caller has one.
pub(crate) fn make_runnable(green: &'static Green) {
    match worker::here() {
        Some(worker) if worker.is_active() && worker.is_collecting() => worker.push_last(green),
        Some(worker) if worker.is_active() => {
            if worker.push_next(green) {
                wake_for_work();
            }
            watcher::note_work();
            // The slot may be taken while a thread in a safe region wakes another one; the barriers are here and in `take`.
            saki_os::membarrier::light();
            if !worker.is_active() {
                spill(worker);
            }
        }
        _ => inject(green),
    }
}

fn parts() -> &'static Parts {
    PARTS.get().unwrap_or_else(|| saki_base::bug!("a green thread without a scheduler"))
}

fn slots() -> &'static Slots {
    &parts().slots
}

pub(crate) fn stacks() -> &'static StackPool {
    &parts().stacks
}

pub(crate) fn injector() -> &'static Injector<&'static Green> {
    &parts().injector
}

/// Lets a thread run when it is its turn, on any carrier.
pub(crate) fn inject(green: &'static Green) {
    injector().push(green);
    wake_for_work();
    watcher::note_work();
}

/// The worker has lost its slot: the threads in its queues go to the shared one. For any thread.
fn spill(worker: &'static Worker) {
    if worker.has_next() || worker.has_queued() {
        injector().push_batch(worker.take_all());
        wake_for_work();
        watcher::note_work();
    }
}

/// Threads that have had their turn.
pub(crate) fn preempted() -> &'static Injector<&'static Green> {
    &parts().preempted
}

/// Lets a thread run after those that have not had their turn.
pub(crate) fn put_behind(green: &'static Green) {
    preempted().push(green);
    wake_for_work();
    watcher::note_work();
}

/// After something was put where any worker may take it: wakes an idle worker, or makes one, if there is a slot.
#[inline]
fn wake_for_work() {
    saki_os::membarrier::light();
    // Relaxed: ordered by the barriers; see the module header.
    if slots().free() != 0 {
        wake_one();
    }
}

/// Wakes a worker for a free slot, which it then takes, or starts one if there is none that sleeps or searches.
#[cold]
pub(crate) fn wake_one() {
    let idle = &parts().idle;
    if idle.wake_one() || idle.counts() != (0, 0) {
        return;
    }
    if slots().take_free() && !start_worker() {
        slots().give_free();
    }
}

/// Starts an ACTIVE worker on a new OS thread. False when the system has no resources for it.
fn start_worker() -> bool {
    let Some(worker) = take_worker() else { return false };
    let start = || {
        let alternate_stack = AlternateStackMemory::map()?;
        saki_os::thread::start(Some(&os_thread_name(worker.number)), WORKER_STACK_BYTES, move |_| {
            worker::set_here(worker);
            native_exit::watch(worker);
            let carrier = scheduling::attach_scheduler_carrier(alternate_stack, worker.as_pointer());
            worker.set_carrier(Some(carrier));
            WORKERS.write().push(worker);
            if let Some(mask) = MASK.get() {
                mask.set();
            }
            worker.run()
        })
    };
    let is_started = start().is_ok();
    if !is_started {
        FREE_WORKERS.lock().push(worker);
    }
    is_started
}

/// The name of a carrier in debuggers and `ps`, whichever thread it runs: the kernel keeps 15 bytes.
fn os_thread_name(number: usize) -> String {
    match number {
        0..100 => format!("saki-carrier-{number}"),
        _ => format!("carrier-{number}"),
    }
}

/// The record of a worker whose OS thread has ended, or a new one, ACTIVE. None when there are as many as there can be.
fn take_worker() -> Option<&'static Worker> {
    if let Some(worker) = FREE_WORKERS.lock().pop() {
        worker.slot.begin();
        return Some(worker);
    }
    let number = WORKER_COUNT.fetch_add(1, Ordering::Relaxed);
    if number >= MAX_WORKERS {
        WORKER_COUNT.fetch_sub(1, Ordering::Relaxed);
        return None;
    }
    Some(Worker::leak(number))
}

/// The calling OS thread, which is the worker's, ends; it runs no thread. The threads in its queues go to others, and its slot to a new worker:
/// a sleeping worker may have to be woken for timers, which workers without a slot ignore.
pub(crate) fn forget_worker(worker: &'static Worker) {
    let has_slot = slots().leave(&worker.slot);
    spill(worker);
    WORKERS.write().retain(|other| !std::ptr::eq(*other, worker));
    if let Some(carrier) = worker.carrier() {
        worker.set_carrier(None);
        scheduling::detach_scheduler_carrier(carrier);
    }
    FREE_WORKERS.lock().push(worker);
    if has_slot && !start_worker() {
        slots().give_free();
        wake_one();
    }
}

/// Whether the present thread must not choose the next one itself: the worker has no slot, or has to give it away, or is to look for events.
#[inline]
pub(crate) fn must_go_to_base(worker: &Worker) -> bool {
    slots().has_returning() || !worker.is_active() || worker.is_look_due()
}

/// For a worker's base context: the next thread to run; sleeps until there is one.
pub(crate) fn find_work(worker: &'static Worker) -> &'static Green {
    let idle = &parts().idle;
    let mut is_searching = false;
    loop {
        if slots().keep(&worker.slot) {
            expire_timers();
            let has_looked = worker.is_look_due();
            if has_looked {
                poller::look(worker, idle);
            }
            let found = worker.pick();
            let found = found.or_else(|| if !has_looked && poller::look(worker, idle) { worker.pick() } else { None });
            let found = found.or_else(|| {
                is_searching = is_searching || idle.start_searching();
                if is_searching { search_for_long(worker) } else { None }
            });
            if let Some(green) = found {
                return found_work(green, is_searching);
            }
            slots().give_back(&worker.slot);
        } else {
            spill(worker);
        }
        // Without a slot for it a worker cannot look after timers; then the watcher does. It searches after every sleep.
        let deadline_ns = || if slots().free() == 0 { None } else { next_deadline_ns() };
        let poller = poller::get();
        let mut poll = |timeout: Option<Duration>, before: &mut dyn FnMut()| {
            if let Some(poller) = poller {
                poller::wait(worker, poller, timeout, before);
            }
        };
        let poll: Option<idle::Poll> = if poller.is_some() { Some(&mut poll) } else { None };
        match idle.sleep_or_poll(worker.number, is_searching, deadline_ns, || look_again(worker), poll) {
            SleepEnd::Found(green) => return found_work(green, true),
            SleepEnd::Woken | SleepEnd::TimedOut => is_searching = true,
            SleepEnd::Polled => is_searching = false,
        }
        watcher::note_work();
    }
}

/// For a worker without a slot: whether it gets one.
pub(crate) fn take_slot(worker: &'static Worker) -> bool {
    slots().keep(&worker.slot)
}

/// If no thread waits for events, wakes an idle worker, with or without a slot, which then waits for them. Returns whether a thread does.
pub(crate) fn is_polled() -> bool {
    let idle = &parts().idle;
    idle.is_polled() || idle.wake_one()
}

pub(crate) fn idle() -> &'static IdleCarriers {
    &parts().idle
}

fn found_work(green: &'static Green, is_searching: bool) -> &'static Green {
    if is_searching {
        parts().idle.stop_searching(has_waiting_work);
    }
    // There is a worker without a slot for it, too, if more is queued.
    if slots().free() != 0 && has_waiting_work() {
        wake_one();
    }
    green
}

/// Before a worker sleeps: a thread that has come meanwhile, with a slot for it.
fn look_again(worker: &'static Worker) -> Option<&'static Green> {
    if !has_stealable_work() || !slots().keep(&worker.slot) {
        return None;
    }
    let found = worker.pick().or_else(|| steal(worker, false));
    if found.is_none() {
        slots().give_back(&worker.slot);
    }
    found
}

/// Looks for threads in other workers' queues; `with_next`: also in their `run_next` slots.
fn steal(worker: &'static Worker, with_next: bool) -> Option<&'static Green> {
    let workers = WORKERS.read();
    let own = workers.iter().position(|w| std::ptr::eq(*w, worker)).unwrap_or(0);
    let others = workers[own..].iter().skip(1).chain(&workers[..own]);
    let stolen = others.copied().find_map(|victim| {
        let may_take_next = with_next || !victim.is_active();
        worker.steal_from(victim).or_else(|| if may_take_next { worker.steal_next_from(victim) } else { None })
    });
    if stolen.is_some() {
        STOLEN_COUNT.fetch_add(1, Ordering::Relaxed);
    }
    stolen
}

/// The next thread from the queue of those that no worker has.
pub(crate) fn pop_shared() -> Option<&'static Green> {
    injector().pop().or_else(|| preempted().pop())
}

/// Spins for some microseconds, unless it can wait for events instead; at the end also takes threads from other workers' `run_next` slots that those have not come to.
fn search_for_long(worker: &'static Worker) -> Option<&'static Green> {
    const LOOKS: u32 = 20;
    const SPINS: u32 = 40;
    let looks = if poller::get().is_some() { 0 } else { LOOKS };
    for _ in 0..looks {
        for _ in 0..SPINS {
            saki_os::cpu::spin_hint();
        }
        if let Some(green) = pop_shared().or_else(|| steal(worker, false)) {
            return Some(green);
        }
    }
    pop_shared().or_else(|| steal(worker, true))
}

/// Whether threads wait that any worker's slot would do for: in the shared queues, or back from native code.
fn has_injected() -> bool {
    !injector().is_empty() || !preempted().is_empty() || slots().has_returning()
}

/// Whether a worker without work would find a thread without taking one from another worker's `run_next` slot.
pub(crate) fn has_stealable_work() -> bool {
    has_injected() || WORKERS.read().iter().any(|w| w.has_queued() || w.has_next() && !w.is_active())
}

/// Whether any thread waits for a carrier, where a worker without work would find it.
pub(crate) fn has_waiting_work() -> bool {
    has_injected() || WORKERS.read().iter().any(|w| w.has_next() || w.has_queued())
}

/// Makes a thread's token come after `timeout`.
pub(crate) fn start_timer(timeout: Duration, green: &'static Green) -> TimerKey {
    let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    let deadline_ns = saki_os::clock::monotonic_ns().saturating_add(timeout_ns);
    let timers = &parts().timers;
    let key = timers.insert(deadline_ns, green);
    if timers.next_deadline_ns().is_some_and(|first_ns| first_ns >= deadline_ns) {
        // A worker that sleeps beyond this deadline has to look again; the watcher, if no worker is idle.
        saki_os::membarrier::light();
        if has_idle() {
            parts().idle.wake_one();
        }
        watcher::note_work();
    }
    key
}

pub(crate) fn cancel_timer(key: TimerKey) {
    parts().timers.cancel(key);
}

/// When timers have to be checked next; None without timers.
pub(crate) fn next_deadline_ns() -> Option<u64> {
    parts().timers.next_deadline_ns()
}

/// Wakes the threads whose time has come.
pub(crate) fn expire_timers() {
    if next_deadline_ns().is_some() {
        parts().timers.expire(saki_os::clock::monotonic_ns(), Green::unpark);
    }
}

/// A thread on a worker, whose slot can be taken while it is in native code.
struct OnWorker {
    worker: &'static Worker,
    thread: &'static ManagedThread,
}

impl SlotHolder for OnWorker {
    fn is_safe(&self) -> bool {
        let present = self.worker.carrier().and_then(|carrier| carrier.current());
        present.is_some_and(|present| std::ptr::eq(present, self.thread)) && self.thread.is_safe()
    }

    fn ask(&self) {
        self.thread.set_poll(POLL_TAKEN);
    }

    fn withdraw(&self) {
        self.thread.clear_poll(POLL_TAKEN);
    }
}

/// Gives the slot of a worker whose thread is in native code to another worker. Returns whether it did.
pub(crate) fn take(worker: &'static Worker) -> bool {
    let present = worker.carrier().and_then(|carrier| carrier.current());
    let Some(thread) = present.filter(|thread| thread.is_green()) else { return false };
    let taken = slots().take_from(&worker.slot, &OnWorker { worker, thread });
    note_taken(worker, taken);
    taken.is_some()
}

/// See `Slots::take_from`.
fn note_taken(worker: &'static Worker, taken: Option<bool>) {
    let Some(is_free) = taken else { return };
    TAKEN_COUNT.fetch_add(1, Ordering::Relaxed);
    spill(worker);
    if is_free {
        wake_one();
    }
}

/// See `SchedulerHooks`.
fn about_to_block(thread: &'static ManagedThread) {
    let Some(worker) = worker::here() else { return };
    if worker.is_active() && (worker.has_next() || worker.has_queued() || has_injected()) {
        note_taken(worker, slots().give_own(&worker.slot, &OnWorker { worker, thread }));
    }
}

/// See `SchedulerHooks`.
fn reclaim(thread: &'static ManagedThread) {
    let (Some(worker), Some(green)) = (worker::here(), Green::of(thread)) else { return };
    let ready_ns = dispatch::ready_now();
    match slots().reclaim(&worker.slot, &OnWorker { worker, thread }, thread.is_pinned()) {
        Reclaimed::Slot => watcher::note_work(),
        Reclaimed::Wait(seen) => {
            watcher::note_work();
            worker.slot.wait_for_activation(seen);
        }
        Reclaimed::Nothing => {
            thread.become_waiting();
            worker::leave(green, After::Requeue);
            thread.end_waiting();
        }
    }
    dispatch::tell(thread, Dispatch::CarrierTaken, ready_ns);
}

/// See `SchedulerHooks`.
fn yield_now(thread: &'static ManagedThread) {
    let (Some(worker), Some(green)) = (worker::here(), Green::of(thread)) else { return };
    if worker.has_next() || worker.has_queued() || has_injected() {
        YIELD_COUNT.fetch_add(1, Ordering::Relaxed);
        let ready_ns = dispatch::ready_now();
        if thread.is_pinned() {
            thread.blocking_in_place(|| wait_for_next_slot(worker));
        } else {
            thread.waiting(|| worker::leave(green, After::Yield));
        }
        dispatch::tell(thread, Dispatch::Yielded, ready_ns);
    }
}

/// For a pinned thread: its worker's slot goes to another one, and it waits until there is one for it again.
fn wait_for_next_slot(worker: &'static Worker) {
    spill(worker);
    // Threads in the queues and pinned ones take turns: otherwise pinned threads that compute would hand slots to each other for ever.
    let is_for_queues = !injector().is_empty() || !preempted().is_empty();
    let (seen, is_free) = slots().wait_for_turn(&worker.slot, is_for_queues);
    if is_free {
        wake_one();
    }
    worker.slot.wait_for_activation(seen);
}

/// Calls `visit` with each worker.
pub(crate) fn for_each_worker(mut visit: impl FnMut(usize, &'static Worker)) {
    WORKERS.read().iter().enumerate().for_each(|(index, worker)| visit(index, worker));
}

/// Whether a worker sleeps that there is a slot for.
pub(crate) fn has_idle() -> bool {
    slots().free() != 0 && parts().idle.counts().0 != 0
}

/// Counts of the scheduler's actions so far.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// OS threads that were carriers.
    pub carriers: usize,
    /// Threads chosen to run, by all carriers.
    pub switches: u64,
    /// Times that a carrier took threads from another one.
    pub thefts: u64,
    /// Turns that ended because others waited, and calls of `Thread.Yield`.
    pub yields: u64,
    /// Carriers taken from threads in native code.
    pub taken: u64,
    pub stacks: StackCounts,
    pub cold: ColdCounts,
}

/// Counts of the scheduler's actions so far; None with native threads.
pub fn statistics() -> Option<Statistics> {
    let parts = PARTS.get()?;
    let workers = WORKERS.read();
    Some(Statistics {
        carriers: workers.len(),
        switches: workers.iter().map(|worker| worker.ticks.load(Ordering::Relaxed)).sum(),
        thefts: STOLEN_COUNT.load(Ordering::Relaxed),
        yields: YIELD_COUNT.load(Ordering::Relaxed),
        taken: TAKEN_COUNT.load(Ordering::Relaxed),
        stacks: parts.stacks.counts(),
        cold: cold::counts(),
    })
}
