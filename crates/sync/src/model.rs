//! What the loom models of the atomic protocols share (`--cfg loom` only).
//!
//! Invariant: a model shows the orderings only if it looks at plain data: a read-modify-write sees the latest value
//! whatever its ordering. So every model touches a [`Section`], on which loom reports two accesses that no
//! happens-before orders.
//! Each model's header lists weakenings under which it fails, which `cargo xtask models` tries. Left out: time.
//! A wait with a timeout may end at once in a model, which covers every moment at which it could.

use crate::facade::atomic::{AtomicU32, Ordering};
use crate::monitor::{BlockEnd, Blocker, MonitorNode};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

/// Far enough away that a model never meets the end of a timed wait by the clock.
pub const TIMED: Option<Duration> = Some(Duration::from_secs(1 << 20));

/// Explores the interleavings of `run`: all of them, or those with at most `preemption_bound` forced switches. Prints
/// how many there were.
pub fn explore(preemption_bound: Option<usize>, run: impl Fn() + Sync + Send + 'static) {
    let total = Arc::new(AtomicUsize::new(0));
    let mut builder = loom::model::Builder::new();
    // LOOM_MAX_PREEMPTIONS wins, to look further by hand.
    builder.preemption_bound = builder.preemption_bound.or(preemption_bound);
    let bound = builder.preemption_bound;
    let counter = total.clone();
    builder.check(move || {
        // Relaxed: a model runs on one thread at a time.
        counter.fetch_add(1, Ordering::Relaxed);
        run();
    });
    let count = total.load(Ordering::Relaxed);
    let bound = bound.map_or("all".to_string(), |b| format!("at most {b} preemptions"));
    let name = std::thread::current().name().unwrap_or("?").to_string();
    println!("model {name}: {count} interleavings ({bound})");
}

/// Plain data that a protocol must protect.
#[derive(Default)]
pub struct Section(loom::cell::UnsafeCell<u32>);

// SAFETY: loom checks the accesses, which is the point.
unsafe impl Sync for Section {}
// SAFETY: as above.
unsafe impl Send for Section {}

impl Section {
    /// Writes; a race with any other access is reported.
    pub fn touch(&self) {
        // SAFETY: checked by loom.
        self.0.with_mut(|p| unsafe { *p += 1 });
    }

    /// Reads; a race with a write is reported.
    pub fn get(&self) -> u32 {
        // SAFETY: checked by loom.
        self.0.with(|p| unsafe { *p })
    }
}

/// Lets loom try the threads' steps in either order: a call before and after a step.
///
/// loom swaps two accesses only if the later one depends on the last access to the location, so a thread that reads a
/// word before it changes it hides another thread's read of it. Here every access depends on every other, and none
/// synchronises.
#[derive(Default)]
pub struct Turns(crate::facade::atomic::AtomicUsize);

impl Turns {
    pub fn pass(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A thread that can block, as `saki-thread` has them.
pub struct ModelThread {
    id: u32,
    node: &'static MonitorNode,
    /// 1 = `Thread.Interrupt` was called.
    pub interrupt: AtomicU32,
}

impl ModelThread {
    pub fn new(id: u32) -> ModelThread {
        // Nodes are never freed.
        ModelThread { id, node: Box::leak(Box::default()), interrupt: AtomicU32::new(0) }
    }

    /// As `ManagedThread::request`: the request first, then the token.
    pub fn interrupt(&self) {
        self.interrupt.store(1, Ordering::Release);
        self.node.parker.unpark();
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Acquire) != 0
    }
}

impl Blocker for ModelThread {
    fn managed_id(&self) -> u32 {
        self.id
    }

    fn node(&self) -> &'static MonitorNode {
        self.node
    }

    fn block(&self, timeout: Option<Duration>, interruptible: bool) -> BlockEnd {
        if interruptible && self.is_interrupted() {
            return BlockEnd::Interrupted;
        }
        let woken = self.node.parker.park(timeout);
        if interruptible && self.is_interrupted() {
            BlockEnd::Interrupted
        } else if woken {
            BlockEnd::Woken
        } else {
            BlockEnd::TimedOut
        }
    }
}
