//! The state of the pool: its workers, the requests that wait for one, limits and the goal.
//!
//! Lock: `POOL`, never held at a safepoint or while blocking. What is to be done about other threads is noted
//! (`Actions`) and done after the lock is released.

use super::demand::Demand;
use crate::domains::Domain;
use crate::thread_aborts;
use saki_base::locks::rank;
use saki_sync::word_locks::Mutex;
use saki_thread::{ManagedThread, WaitState};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

const MAX_THREADS_PER_CPU: i32 = 100;

/// Work items queued and begun.
pub(super) static DEMAND: Demand = Demand::new();
/// Work items that have ended.
pub(super) static COMPLETED: AtomicU64 = AtomicU64::new(0);
/// Requests taken and progress that long work items reported.
pub(super) static PROGRESSED: AtomicU64 = AtomicU64::new(0);
/// Whether more workers are active than the goal allows; a worker asks between two work items. A hint only:
/// `take_request` decides.
pub(super) static IS_OVER_GOAL: AtomicBool = AtomicBool::new(false);

/// The most threads that a program can ask for; larger numbers count as this one, as in Mono and .NET.
const MAX_THREADS: i32 = 0x7fff;

/// The largest value of MONO_THREADS_PER_CPU, as under Mono.
const MAX_INITIAL_THREADS_PER_CPU: i32 = 50;

pub(super) struct Idle {
    pub(super) thread: &'static ManagedThread,
    pub(super) woken: Arc<AtomicBool>,
}

pub(super) struct Pool {
    /// Limits of workers and of I/O completion threads.
    pub(super) min: (i32, i32),
    pub(super) max: (i32, i32),
    /// Domains whose work waits for a thread, first come, first served.
    pub(super) requests: VecDeque<&'static Domain>,
    pub(super) workers: Vec<&'static ManagedThread>,
    /// The number of workers that were spawned and are not yet in `workers`.
    pub(super) starting: usize,
    pub(super) idle: Vec<Idle>,
    /// The number of workers that wait inside a work item, if the thread mode replaces them
    /// (`ThreadMode::waiting_threads_to_replace`).
    pub(super) waiting: usize,
    /// The number of workers that may be active, that is, neither idle nor waiting.
    pub(super) goal: usize,
    pub(super) has_monitor: bool,
}

impl Pool {
    pub(super) fn worker_count(&self) -> usize {
        self.workers.len() + self.starting
    }

    pub(super) fn active_count(&self) -> usize {
        (self.worker_count() - self.idle.len()).saturating_sub(self.waiting)
    }

    /// Workers that count against the largest number of threads.
    pub(super) fn counted(&self) -> usize {
        self.worker_count().saturating_sub(self.waiting)
    }

    pub(super) fn limits(&self) -> std::ops::RangeInclusive<usize> {
        self.min.0 as usize..=self.max.0 as usize
    }

    /// The number of workers that do not wait; idle workers wait.
    pub(super) fn runnable_count(&self) -> usize {
        let is_runnable = |w: &&&ManagedThread| w.wait_state() == WaitState::Running && !w.is_in_safe_region();
        self.starting + self.workers.iter().filter(is_runnable).count()
    }

    /// Whether a request waits and should be answered now.
    pub(super) fn has_request(&self) -> bool {
        // An asynchronous exception may have kept an item that is in the queue from being counted.
        let is_counted = !thread_aborts::has_thrown_asynchronously();
        !self.requests.is_empty() && (DEMAND.is_worth_a_thread() || !is_counted)
    }

    /// If requests wait, lets a worker in if the goal allows it, or else has the monitor look after the requests.
    pub(super) fn answer(&mut self, actions: &mut Actions) {
        if self.has_request() {
            self.let_in(actions);
            if actions.wake.is_none() {
                actions.add_monitor = !self.has_monitor;
                self.has_monitor = true;
            }
        }
    }

    /// Lets one more worker take a request, if the goal allows it.
    pub(super) fn let_in(&mut self, actions: &mut Actions) {
        if self.active_count() < self.goal {
            actions.wake = self.idle.pop();
            if actions.wake.is_none() && self.counted() < self.max.0 as usize {
                actions.add_worker = true;
                self.starting += 1;
            }
        }
        self.note_goal();
    }

    pub(super) fn note_goal(&self) {
        // Relaxed: the value is only a hint.
        IS_OVER_GOAL.store(self.active_count() > self.goal, Ordering::Relaxed);
    }
}

pub(super) static POOL: LazyLock<Mutex<rank::ThreadPool, Pool>> = LazyLock::new(|| {
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

/// Workers for each processor that the pool begins with.
fn threads_per_cpu() -> i32 {
    i32::from(crate::vm::options().pool_threads_per_cpu).clamp(1, MAX_INITIAL_THREADS_PER_CPU)
}

pub(super) fn cpu_count() -> i32 {
    saki_sched::parallelism() as i32
}

/// Actions to perform once the lock is released.
#[derive(Default)]
pub(super) struct Actions {
    pub(super) wake: Option<Idle>,
    pub(super) add_worker: bool,
    pub(super) add_monitor: bool,
}

impl Pool {
    /// Whether the limits are possible ones; then they hold.
    pub(super) fn set_min(&mut self, workers: i32, io: i32) -> bool {
        if workers <= 0 || workers > self.max.0 || io <= 0 || io > self.max.1 {
            return false;
        }
        self.min = (workers, io);
        self.goal = self.goal.max(workers as usize);
        self.note_goal();
        true
    }

    /// Whether the upper limits are possible ones, which are at least the lower limits and the number of processors;
    /// then they hold.
    pub(super) fn set_max(&mut self, workers: i32, io: i32) -> bool {
        let cpus = cpu_count();
        if workers < self.min.0.max(cpus) || io < self.min.1.max(cpus) {
            return false;
        }
        self.max = (workers.min(MAX_THREADS), io.min(MAX_THREADS));
        self.goal = self.goal.min(self.max.0 as usize);
        self.note_goal();
        true
    }
}
