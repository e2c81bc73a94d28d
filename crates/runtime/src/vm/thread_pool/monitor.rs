//! The monitor, a thread that lives while requests wait: it adds workers that the present workers' progress calls for,
//! and changes the goal.

use super::climb::{Climb, Sample};
use super::pool::{Actions, COMPLETED, POOL, PROGRESSED, Pool, cpu_count};
use saki_thread::ManagedThread;
use std::sync::atomic::Ordering;
use std::time::Duration;

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
            // Relaxed: a statistic.
            let before = std::mem::replace(&mut self.completed, COMPLETED.load(Ordering::Relaxed));
            let completed = self.completed.wrapping_sub(before);
            let sample = Sample { completed, runnable, processors: cpu_count() as usize };
            pool.goal = self.climb.next(pool.goal, pool.limits(), sample);
        }
    }
}

/// The monitor thread: adds workers while requests wait that the present workers do not take.
pub(super) fn monitor(thread: &'static ManagedThread) {
    let mut watch = Watch {
        climb: Climb::new(),
        looks: 0,
        idle_looks: 0,
        blocked_looks: 0,
        unchanged_looks: 0,
        progressed: 0,
        // Relaxed: a statistic.
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
