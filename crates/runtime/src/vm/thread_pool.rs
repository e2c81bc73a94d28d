//! System.Threading.ThreadPool: the threads that run the managed work queue.
//!
//! Managed code keeps the queue and asks for at most one thread per processor at a time; each request is answered by one
//! call of `_ThreadPoolWaitCallback.PerformWaitCallback`, which drains the queue for about 30 ms. Invariants: a request is
//! never lost: as soon as the queue may hold an item that no worker has begun (`demand`), the request is taken by an idle worker, a new
//! one, one that becomes free, or one that the monitor lets in; at most `goal` workers are active, except that after the goal has sunk
//! workers finish their present work items; the pool's lock is never held at a safepoint or while blocking.
//!
//! | who changes the goal | when | to |
//! |---|---|---|
//! | the monitor | a request waits and all workers have been blocked for two looks, or nothing was taken for 500 ms | active workers + 1 |
//! | hill climbing (`climb`) | every fourth look at which requests wait | as throughput tells |
//! | the monitor | nothing has waited for 5 s | the minimum |
//!
//! Left out: I/O completion threads (only their limits are kept).

mod climb;
mod demand;

use crate::crossings::Place;
use crate::domains::{self, Domain};
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::internal_calls::InternalCall;
use crate::thread::{CurrentThread, Managed};
use crate::threads::{self, state};
use crate::{invoke, profile_events, suspension, thread_aborts, thread_names, unhandled};
use climb::{Climb, Sample};
use demand::Demand;
use saki_os::message_log::{self, Level, Subject};
use saki_sync::word_locks::Mutex;
use saki_thread::{ManagedThread, ThreadKind, WaitObserver, WaitState};
use saki_types::{Method, universe};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The name of a worker that the program sees.
const WORKER_NAME: &str = "Thread Pool Worker";
const MAX_THREADS_PER_CPU: i32 = 100;

/// A worker without work ends after a time in this range, so that not all end at once.
const MIN_IDLE: Duration = Duration::from_secs(5);
const IDLE_SPREAD_SECONDS: u64 = 55;

/// The time between two looks of the monitor while requests wait.
const MONITOR_INTERVAL: Duration = Duration::from_millis(50);
/// The pool is starved when requests wait and no work was taken for so many looks: 500 ms.
const STARVED_LOOKS: u32 = 10;
/// A worker is added when all workers were blocked at so many looks.
const BLOCKED_LOOKS: u32 = 2;
/// Looks for each sample of the hill climbing: 200 ms.
const SAMPLE_LOOKS: u32 = 4;
/// The monitor ends after so many looks without requests: 5 s.
const MONITOR_IDLE_LOOKS: u32 = 100;

/// Work items queued and begun.
static DEMAND: Demand = Demand::new();
/// Work items that have ended.
static COMPLETED: AtomicU64 = AtomicU64::new(0);
/// Requests taken and progress that long work items reported.
static PROGRESSED: AtomicU64 = AtomicU64::new(0);
/// Whether more workers are active than the goal allows; a worker asks between two work items. A hint only: `take_request` decides.
static IS_OVER_GOAL: AtomicBool = AtomicBool::new(false);

/// The largest value of MONO_THREADS_PER_CPU, as under Mono.
const MAX_INITIAL_THREADS_PER_CPU: i32 = 50;

struct Idle {
    thread: &'static ManagedThread,
    woken: Arc<AtomicBool>,
}

struct Pool {
    /// Limits of workers and of I/O completion threads.
    min: (i32, i32),
    max: (i32, i32),
    /// Domains whose work waits for a thread, first come, first served.
    requests: VecDeque<&'static Domain>,
    workers: Vec<&'static ManagedThread>,
    /// The number of workers that were spawned and are not yet in `workers`.
    starting: usize,
    idle: Vec<Idle>,
    /// The number of workers that wait inside a work item, if the thread mode replaces them (`ThreadMode::waiting_threads_to_replace`).
    waiting: usize,
    /// The number of workers that may be active, that is, neither idle nor waiting.
    goal: usize,
    has_monitor: bool,
}

impl Pool {
    fn worker_count(&self) -> usize {
        self.workers.len() + self.starting
    }

    fn active_count(&self) -> usize {
        (self.worker_count() - self.idle.len()).saturating_sub(self.waiting)
    }

    /// Workers that count against the largest number of threads.
    fn counted(&self) -> usize {
        self.worker_count().saturating_sub(self.waiting)
    }

    fn limits(&self) -> std::ops::RangeInclusive<usize> {
        self.min.0 as usize..=self.max.0 as usize
    }

    /// The number of workers that do not wait; idle workers wait.
    fn runnable_count(&self) -> usize {
        let is_runnable = |w: &&&ManagedThread| w.wait_state() == WaitState::Running && !w.is_in_safe_region();
        self.starting + self.workers.iter().filter(is_runnable).count()
    }

    /// Whether a request waits and should be answered now.
    fn has_request(&self) -> bool {
        // An asynchronous exception may have kept an item that is in the queue from being counted.
        let is_counted = !thread_aborts::has_thrown_asynchronously();
        !self.requests.is_empty() && (DEMAND.is_worth_a_thread() || !is_counted)
    }

    /// If requests wait, lets a worker in if the goal allows it, or else has the monitor look after the requests.
    fn answer(&mut self, actions: &mut Actions) {
        if self.has_request() {
            self.let_in(actions);
            if actions.wake.is_none() {
                actions.add_monitor = !self.has_monitor;
                self.has_monitor = true;
            }
        }
    }

    /// Lets one more worker take a request, if the goal allows it.
    fn let_in(&mut self, actions: &mut Actions) {
        if self.active_count() < self.goal {
            actions.wake = self.idle.pop();
            if actions.wake.is_none() && self.counted() < self.max.0 as usize {
                actions.add_worker = true;
                self.starting += 1;
            }
        }
        self.note_goal();
    }

    fn note_goal(&self) {
        // Relaxed: the value is only a hint.
        IS_OVER_GOAL.store(self.active_count() > self.goal, Ordering::Relaxed);
    }
}

static POOL: LazyLock<Mutex<Pool>> = LazyLock::new(|| {
    let least = cpu_count() * threads_per_cpu();
    let most = least * MAX_THREADS_PER_CPU;
    Mutex::new(Pool {
        min: (least, least),
        max: (most, most),
        requests: VecDeque::new(),
        workers: Vec::new(),
        starting: 0,
        idle: Vec::new(),
        waiting: 0,
        goal: least as usize,
        has_monitor: false,
    })
});

/// MONO_THREADS_PER_CPU: workers for each processor that the pool begins with.
fn threads_per_cpu() -> i32 {
    let variable = std::env::var("MONO_THREADS_PER_CPU").ok();
    variable.and_then(|number| number.trim().parse::<i32>().ok()).unwrap_or(1).clamp(1, MAX_INITIAL_THREADS_PER_CPU)
}

fn cpu_count() -> i32 {
    saki_sched::parallelism() as i32
}

/// Actions to perform once the lock is released.
#[derive(Default)]
struct Actions {
    wake: Option<Idle>,
    add_worker: bool,
    add_monitor: bool,
}

impl Actions {
    /// False when the system refused a worker and there is no other.
    fn perform(self) -> bool {
        let mut is_hopeless = false;
        if let Some(idle) = self.wake {
            // Release: pairs with the idle worker's look.
            idle.woken.store(true, Ordering::Release);
            idle.thread.unpark();
        }
        if self.add_worker {
            let spawned = saki_sched::spawn(ThreadKind::Background, Some(WORKER_NAME), 0, |thread| {
                // SAFETY: the thread just attached.
                run_worker(unsafe { CurrentThread::from_abi(thread.abi()) });
            });
            if spawned.is_err() {
                // The request stays; the monitor tries again, or an existing worker takes it.
                let mut pool = POOL.lock();
                pool.starting -= 1;
                is_hopeless = pool.worker_count() == 0;
            }
        }
        if self.add_monitor {
            let spawned = saki_thread::spawn(ThreadKind::Internal, Some("Pool Monitor"), 0, monitor);
            if spawned.is_err() {
                POOL.lock().has_monitor = false;
            }
        }
        !is_hopeless
    }
}

static WAITS: WaitObserver = WaitObserver { begins: begin_to_wait, ends: end_to_wait };

/// Called when a worker begins to wait inside its work item: another worker may take its place.
fn begin_to_wait(thread: &'static ManagedThread) {
    if !thread.is_in_work_item.swap(true, Ordering::Relaxed) {
        DEMAND.note_begun();
    }
    let mut actions = Actions::default();
    {
        let mut pool = POOL.lock();
        pool.waiting += 1;
        if pool.has_request() {
            pool.let_in(&mut actions);
        }
    }
    actions.perform();
}

/// Called when a worker goes on with its work item: there may be one worker too many for a while.
fn end_to_wait(_thread: &'static ManagedThread) {
    let mut pool = POOL.lock();
    pool.waiting -= 1;
    pool.note_goal();
}

/// Adds a request. False when there is no worker and the system refuses one; then the request is withdrawn.
fn request_worker(domain: &'static Domain) -> bool {
    let mut actions = Actions::default();
    {
        let mut pool = POOL.lock();
        pool.requests.push_back(domain);
        pool.answer(&mut actions);
    }
    let is_served = actions.perform();
    if !is_served {
        let mut pool = POOL.lock();
        if let Some(place) = pool.requests.iter().rposition(|other| std::ptr::eq(*other, domain)) {
            pool.requests.remove(place);
        }
    }
    is_served
}

/// The monitor's state between looks.
struct Watch {
    climb: Climb,
    looks: u32,
    idle_looks: u32,
    blocked_looks: u32,
    unchanged_looks: u32,
    progressed: u64,
    completed: u64,
}

impl Watch {
    /// Changes the goal while requests wait.
    fn look(&mut self, pool: &mut Pool) {
        // Relaxed: statistics.
        let progressed = PROGRESSED.load(Ordering::Relaxed).wrapping_add(COMPLETED.load(Ordering::Relaxed));
        self.unchanged_looks = if progressed == self.progressed { self.unchanged_looks + 1 } else { 0 };
        self.progressed = progressed;
        let runnable = pool.runnable_count();
        self.blocked_looks = if runnable == 0 { self.blocked_looks + 1 } else { 0 };
        if self.blocked_looks >= BLOCKED_LOOKS || self.unchanged_looks >= STARVED_LOOKS {
            self.unchanged_looks = 0;
            pool.goal = (pool.active_count() + 1).clamp(*pool.limits().start(), *pool.limits().end());
            self.climb.reset();
        }
        if self.looks.is_multiple_of(SAMPLE_LOOKS) {
            let before = std::mem::replace(&mut self.completed, COMPLETED.load(Ordering::Relaxed));
            let completed = self.completed.wrapping_sub(before);
            let sample = Sample { completed, runnable, processors: cpu_count() as usize };
            pool.goal = self.climb.next(pool.goal, pool.limits(), sample);
        }
    }
}

/// The monitor thread: adds workers while requests wait that the present workers do not take.
fn monitor(thread: &'static ManagedThread) {
    let mut watch = Watch {
        climb: Climb::new(),
        looks: 0,
        idle_looks: 0,
        blocked_looks: 0,
        unchanged_looks: 0,
        progressed: 0,
        completed: COMPLETED.load(Ordering::Relaxed),
    };
    loop {
        thread.sleep(Some(MONITOR_INTERVAL), false);
        let mut actions = Actions::default();
        {
            let mut pool = POOL.lock();
            watch.looks += 1;
            if !pool.has_request() {
                watch.idle_looks += 1;
                watch.climb.reset();
                if watch.idle_looks >= MONITOR_IDLE_LOOKS {
                    pool.goal = *pool.limits().start();
                    pool.note_goal();
                    pool.has_monitor = false;
                    return;
                }
                continue;
            }
            watch.idle_looks = 0;
            watch.look(&mut pool);
            pool.let_in(&mut actions);
        }
        actions.perform();
    }
}

/// Waits for a request and takes it. None when the worker is to end.
fn take_request(thread: &'static ManagedThread) -> Option<&'static Domain> {
    loop {
        let woken = {
            let mut pool = POOL.lock();
            if pool.active_count() <= pool.goal
                && pool.has_request()
                && let Some(domain) = pool.requests.pop_front()
            {
                pool.note_goal();
                // Relaxed: a statistic.
                PROGRESSED.fetch_add(1, Ordering::Relaxed);
                return Some(domain);
            }
            if pool.counted() > pool.max.0 as usize {
                pool.workers.retain(|w| !std::ptr::eq(*w, thread));
                pool.note_goal();
                return None;
            }
            let woken = Arc::new(AtomicBool::new(false));
            pool.idle.push(Idle { thread, woken: woken.clone() });
            pool.note_goal();
            woken
        };
        let spread = saki_os::clock::monotonic_ns() / 1000 % IDLE_SPREAD_SECONDS;
        let idle = MIN_IDLE + Duration::from_secs(spread);
        // Acquire: pairs with the waker's Release.
        thread.wait_until(WaitState::Native, Some(idle), false, || woken.load(Ordering::Acquire));
        let mut pool = POOL.lock();
        // The worker is still in the list, so it was not woken: its time has passed.
        if let Some(position) = pool.idle.iter().position(|idle| Arc::ptr_eq(&idle.woken, &woken)) {
            pool.idle.swap_remove(position);
            if !pool.has_request() || pool.active_count() > pool.goal {
                pool.workers.retain(|w| !std::ptr::eq(*w, thread));
                pool.note_goal();
                return None;
            }
        }
    }
}

/// Brings the current thread's object back to the state of a fresh pool thread.
///
/// # Errors
/// OutOfMemoryException.
fn reset_for_pool(t: CurrentThread, name: &str) -> Managed<()> {
    let internal = threads::current_internal(t)?;
    threads::forget_affinity(t);
    // The name is set only if the program changed it, because setting it takes a system call.
    if thread_names::name_of(internal).as_deref() != Some(name) {
        thread_names::replace(internal, Some(name), false);
    }
    if threads::state_of(internal) & state::BACKGROUND == 0 {
        threads::set_state(internal, state::BACKGROUND);
    }
    const NORMAL_PRIORITY: i32 = 2;
    threads::PRIORITY.set(internal, NORMAL_PRIORITY);
    Ok(())
}

fn callback(t: CurrentThread) -> Managed<&'static Method> {
    let ty = universe().corlib_type("System.Threading", "_ThreadPoolWaitCallback").to_managed(t)?;
    let method = ty.find_method("PerformWaitCallback", 0).to_managed(t)?;
    match method {
        Some(method) => Ok(method),
        None => Err(exceptions::throw_not_implemented(t, "_ThreadPoolWaitCallback.PerformWaitCallback")),
    }
}

fn perform(t: CurrentThread) -> Managed<()> {
    reset_for_pool(t, WORKER_NAME)?;
    let callback = callback(t)?;
    invoke::invoke(t, callback, &[])?;
    Ok(())
}

fn prepare(t: CurrentThread) -> Managed<()> {
    let internal = threads::current_internal(t)?;
    threads::IS_POOL_THREAD.set(internal, 1u8);
    suspension::stop_at_exit(t);
    Ok(())
}

/// Called when a worker has returned from the queue. If it has waited and no item has ended since, it may have waited for the queue itself.
fn end_turn(thread: &ManagedThread) {
    if thread.is_in_work_item.swap(false, Ordering::Relaxed) {
        DEMAND.forget_begun();
        let mut actions = Actions::default();
        POOL.lock().answer(&mut actions);
        actions.perform();
    }
}

fn run_worker(t: CurrentThread) {
    {
        let mut pool = POOL.lock();
        pool.starting -= 1;
        pool.workers.push(t.managed());
    }
    profile_events::thread_started(t, t.id());
    let log = |text: &str| {
        message_log::message(Level::Debug, Subject::ThreadPool, format_args!("[thread {}] worker {text}", t.id()));
    };
    log("starting");
    while let Some(domain) = take_request(t.managed()) {
        log("executing");
        if domain.add_thread(t).is_err() {
            // The domain was unloaded meanwhile, with its work.
            t.take_pending();
            continue;
        }
        let before = domains::switch(t, domain);
        let replaces_waiting = saki_sched::mode().waiting_threads_to_replace() != 0;
        if replaces_waiting {
            t.managed().observe_waits(Some(&WAITS));
        }
        let outcome = prepare(t).and_then(|()| perform(t));
        t.managed().observe_waits(None);
        end_turn(t.managed());
        let is_aborted = thread_aborts::abort_in_flight(t).is_some();
        if outcome.is_err() {
            // An abort ends the work item, not the worker; anything else ends the process.
            threads::end_by_exception_with(t, unhandled::OTHER_EXIT_CODE);
        }
        if is_aborted {
            thread_aborts::forget_abort(t);
            threads::end_abort(t);
        }
        domains::switch(t, before);
        domain.leave(t);
        log("waits for work");
    }
    log("finishing");
    threads::finish(t);
}

fn initialize(_t: CurrentThread, enable_worker_tracking: Place<u8>) {
    enable_worker_tracking.set(0);
}

fn request_worker_thread(t: CurrentThread) -> Managed<bool> {
    if request_worker(domains::current()) {
        return Ok(true);
    }
    let message = "The system refuses the thread pool its first thread.";
    Err(exceptions::throw(t, ExceptionType::OutOfMemory, message))
}

/// Whether the worker may take another work item.
fn notify_complete(t: CurrentThread) -> bool {
    if !t.managed().is_in_work_item.swap(false, Ordering::Relaxed) {
        DEMAND.note_begun();
    }
    // Relaxed: both values are statistics or hints.
    COMPLETED.fetch_add(1, Ordering::Relaxed);
    !IS_OVER_GOAL.load(Ordering::Relaxed)
}

fn notify_progress(_t: CurrentThread) {
    // Relaxed: a statistic.
    PROGRESSED.fetch_add(1, Ordering::Relaxed);
}

/// Called when work was queued. Managed code requests a thread afterwards, unless enough requests wait already.
fn notify_queued(_t: CurrentThread) {
    if DEMAND.note_queued() {
        let mut actions = Actions::default();
        POOL.lock().answer(&mut actions);
        actions.perform();
    }
}

/// In a forked child, which has no worker, unless one forked. Requests stay: managed code counts them, and makes no more when there are many.
pub fn begin_child() {
    saki_thread::child_locks::revive(&POOL);
    let mut pool = POOL.lock();
    let me = saki_thread::current();
    pool.workers.retain(|worker| me.is_some_and(|me| me == *worker));
    (pool.starting, pool.waiting, pool.has_monitor) = (0, 0, false);
    pool.idle.clear();
    pool.note_goal();
    DEMAND.ask_for_answers();
}

/// Work items queued since the start, for performance counters.
pub fn queued_count() -> u64 {
    DEMAND.queued_count()
}

/// The present number of workers, for performance counters.
pub fn worker_count() -> usize {
    POOL.lock().worker_count()
}

/// Only called when `InitializeVMTp` asks for it.
fn report_status(_t: CurrentThread, _is_working: bool) {}

fn get_min(_t: CurrentThread, workers: Place<i32>, io: Place<i32>) {
    let min = POOL.lock().min;
    workers.set(min.0);
    io.set(min.1);
}

fn get_max(_t: CurrentThread, workers: Place<i32>, io: Place<i32>) {
    let max = POOL.lock().max;
    workers.set(max.0);
    io.set(max.1);
}

fn get_available(_t: CurrentThread, workers: Place<i32>, io: Place<i32>) {
    let pool = POOL.lock();
    let busy = pool.worker_count().saturating_sub(pool.idle.len()) as i32;
    workers.set((pool.max.0 - busy).max(0));
    io.set(pool.max.1);
}

fn set_min(_t: CurrentThread, workers: i32, io: i32) -> bool {
    let mut pool = POOL.lock();
    if workers <= 0 || workers > pool.max.0 || io <= 0 || io > pool.max.1 {
        return false;
    }
    pool.min = (workers, io);
    pool.goal = pool.goal.max(workers as usize);
    pool.note_goal();
    true
}

/// The most threads that a program can ask for; larger numbers count as this one, as in Mono and .NET.
const MAX_THREADS: i32 = 0x7fff;

fn set_max(_t: CurrentThread, workers: i32, io: i32) -> bool {
    let mut pool = POOL.lock();
    let cpus = cpu_count();
    if workers < pool.min.0.max(cpus) || io < pool.min.1.max(cpus) {
        return false;
    }
    pool.max = (workers.min(MAX_THREADS), io.min(MAX_THREADS));
    pool.goal = pool.goal.min(pool.max.0 as usize);
    pool.note_goal();
    true
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.ThreadPool::GetAvailableThreadsNative", &get_available),
    InternalCall::new("System.Threading.ThreadPool::GetMaxThreadsNative", &get_max),
    InternalCall::new("System.Threading.ThreadPool::GetMinThreadsNative", &get_min),
    InternalCall::new("System.Threading.ThreadPool::InitializeVMTp", &initialize),
    InternalCall::new("System.Threading.ThreadPool::NotifyWorkItemComplete", &notify_complete),
    InternalCall::new("System.Threading.ThreadPool::NotifyWorkItemProgressNative", &notify_progress),
    InternalCall::new("System.Threading.ThreadPool::NotifyWorkItemQueued", &notify_queued),
    InternalCall::new("System.Threading.ThreadPool::ReportThreadStatus", &report_status),
    InternalCall::new("System.Threading.ThreadPool::RequestWorkerThread", &request_worker_thread),
    InternalCall::new("System.Threading.ThreadPool::SetMaxThreadsNative", &set_max),
    InternalCall::new("System.Threading.ThreadPool::SetMinThreadsNative", &set_min),
];
