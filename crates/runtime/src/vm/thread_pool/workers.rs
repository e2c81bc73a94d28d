//! The workers: threads that take requests and run the managed queue.

use super::monitor::monitor;
use super::pool::{Actions, DEMAND, Idle, POOL, PROGRESSED};
use crate::domains::{self, Domain};
use crate::host_profiler;
use crate::managed_methods::ManagedMethod;
use crate::thread::{CurrentThread, Managed};
use crate::threads::{self, state};
use crate::{invoke, profile_events, suspension, thread_aborts, thread_names, unhandled};
use saki_os::message_log::{self, Level, LogSubject};
use saki_thread::{ManagedThread, ThreadKind, WaitObserver, WaitState};
use saki_types::LibraryType;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The name of a worker that the program sees.
const WORKER_NAME: &str = "Thread Pool Worker";
/// Runs the work items of the managed queue.
static CALLBACK: ManagedMethod = ManagedMethod::new(LibraryType::ThreadPoolWaitCallback, "PerformWaitCallback", 0);
/// A worker without work ends after a time in this range, so that not all end at once.
const MIN_IDLE: Duration = Duration::from_secs(5);
const IDLE_SPREAD_SECONDS: u64 = 55;

impl Actions {
    /// False when the system refused a worker and there is no other.
    pub(super) fn perform(self) -> bool {
        let mut is_hopeless = false;
        if let Some(idle) = self.wake {
            // Release: pairs with the idle worker's look.
            idle.woken.store(true, Ordering::Release);
            idle.thread.unpark();
        }
        if self.add_worker {
            let spawned = saki_sched::spawn(ThreadKind::Background, Some(WORKER_NAME), 0, |thread| {
                // SAFETY: the thread just attached.
                let t = unsafe { CurrentThread::from_abi(thread.abi()) };
                host_profiler::thread_started(t);
                run_worker(t);
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
    // Relaxed: only the worker itself uses the flag.
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

fn perform(t: CurrentThread) -> Managed<()> {
    reset_for_pool(t, WORKER_NAME)?;
    invoke::invoke(t, CALLBACK.method(t)?, &[])?;
    Ok(())
}

fn prepare(t: CurrentThread) -> Managed<()> {
    let internal = threads::current_internal(t)?;
    threads::IS_POOL_THREAD.set(internal, 1u8);
    suspension::stop_at_exit(t);
    Ok(())
}

/// Called when a worker has returned from the queue. If it has waited and no item has ended since, it may have waited
/// for the queue itself.
fn end_turn(thread: &ManagedThread) {
    // Relaxed: only the worker itself uses the flag.
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
        message_log::message(Level::Debug, LogSubject::ThreadPool, format_args!("[thread {}] worker {text}", t.id()));
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
