//! `--check-walks HZ`: checks stack walks from signal handlers while code is compiled and freed.
//!
//! A timer interrupts every thread HZ times a second at arbitrary points; the handler walks the thread's managed frames
//! and checks the code map's description of each program counter: the description covers the program counter and names
//! a method, and the method's code is that code. A separate thread looks up program counters that handlers have stored,
//! most of which are stale by then, and checks the same. All look-ups happen in walks (`saki_code::walks`), as a
//! profiler's would.
//!
//! All accesses to atomics are Relaxed: counters, and program counters that may be of any age. Invariant: the handler
//! is async-signal-safe. Left out: keeping samples, which is the profiler's work.

use crate::object::entries::existing_entry;
use crate::object::versions;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_code::{CodeInfo, CodeKind, lookup, walks};
use saki_os::services::{self, Service};
use saki_os::signal::{self, Disposition};
use saki_os::{FaultContext, ThreadTimer};
use saki_thread::{ManagedThread, ThreadHooks};
use saki_types::Method;
use saki_unwind::Frames;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Counts of checks since the start.
#[derive(Default)]
pub struct WalkCheckStatistics {
    /// Signals that have met a managed thread.
    pub signals: AtomicU64,
    /// Frames with compiled code that were checked.
    pub frames: AtomicU64,
    /// Of these, frames of dynamic methods.
    pub dynamic_frames: AtomicU64,
    /// Look-ups of stored program counters, and (below) the number of them that found code.
    pub stale_lookups: AtomicU64,
    pub stale_hits: AtomicU64,
    /// Frames and look-ups that were wrong.
    pub wrong: AtomicU64,
}

/// The counts of this process.
pub static STATISTICS: WalkCheckStatistics = WalkCheckStatistics {
    signals: AtomicU64::new(0),
    frames: AtomicU64::new(0),
    dynamic_frames: AtomicU64::new(0),
    stale_lookups: AtomicU64::new(0),
    stale_hits: AtomicU64::new(0),
    wrong: AtomicU64::new(0),
};

static INTERVAL: OnceLock<Duration> = OnceLock::new();
/// The threads' timers, by managed id.
static TIMERS: Mutex<rank::WalkCheckTimers, Option<FxHashMap<u32, ThreadTimer>>> = Mutex::new(None);

const LEFT: usize = 1024;
/// Program counters that handlers have stored for the thread that looks them up.
static LEFT_COUNTERS: [AtomicUsize; LEFT] = [const { AtomicUsize::new(0) }; LEFT];
static NEXT_LEFT: AtomicUsize = AtomicUsize::new(0);

/// Frames beyond this depth are not checked.
const MAX_FRAMES: usize = 256;

/// Starts the checks; `times_a_second` is at least 1. To be called before managed code runs.
///
/// # Errors
/// The system's, for the handler and the thread.
pub fn start(times_a_second: u32) -> io::Result<()> {
    let interval = Duration::from_secs(1) / times_a_second.max(1);
    let _ = INTERVAL.set(interval);
    signal::install(check_signal(), handle)?;
    saki_thread::add_hooks(&ThreadHooks { attached, detaching, ended_in_native_code: |_| () });
    services::machine().start(Service::CheckWalks, move || {
        while services::machine().pause(interval) {
            look_up_left_counters();
        }
    })
}

fn check_signal() -> i32 {
    libc::SIGRTMIN() + 7
}

fn attached(thread: &'static ManagedThread) {
    let Some(&interval) = INTERVAL.get() else { return };
    match ThreadTimer::new(thread.native_id(), check_signal(), interval) {
        Ok(timer) => {
            TIMERS.lock().get_or_insert_default().insert(thread.managed_id(), timer);
        }
        Err(error) => saki_base::tell!("saki: no timer for thread {}: {error}", thread.managed_id()),
    }
}

fn detaching(thread: &'static ManagedThread) {
    let timer = TIMERS.lock().as_mut().and_then(|timers| timers.remove(&thread.managed_id()));
    drop(timer);
}

fn handle(context: &mut FaultContext) -> Disposition {
    // A signal of a timer that is gone may come when the thread has detached.
    let Some(thread) = saki_thread::current() else { return Disposition::Handled };
    STATISTICS.signals.fetch_add(1, Ordering::Relaxed);
    let _walk = walks().enter();
    // SAFETY: the interrupted thread's own state; its stack does not change while its handler runs.
    let frames = unsafe { Frames::of_context(thread.abi(), (&*context).into()) };
    for frame in frames.take(MAX_FRAMES) {
        let Some(info) = frame.code() else { continue };
        STATISTICS.frames.fetch_add(1, Ordering::Relaxed);
        match check(info, frame.pc - 1) {
            Some(Checked { is_dynamic }) => {
                STATISTICS.dynamic_frames.fetch_add(u64::from(is_dynamic), Ordering::Relaxed);
                if is_dynamic {
                    let place = NEXT_LEFT.fetch_add(1, Ordering::Relaxed) % LEFT;
                    LEFT_COUNTERS[place].store(frame.pc - 1, Ordering::Relaxed);
                }
            }
            None => {
                STATISTICS.wrong.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    Disposition::Handled
}

fn look_up_left_counters() {
    for place in &LEFT_COUNTERS {
        let pc = place.load(Ordering::Relaxed);
        if pc == 0 {
            continue;
        }
        STATISTICS.stale_lookups.fetch_add(1, Ordering::Relaxed);
        let _walk = walks().enter();
        let Some(info) = lookup(pc) else { continue };
        STATISTICS.stale_hits.fetch_add(1, Ordering::Relaxed);
        if check(info, pc).is_none() {
            STATISTICS.wrong.fetch_add(1, Ordering::Relaxed);
        }
    }
}

struct Checked {
    is_dynamic: bool,
}

/// Checks the description of the code at `pc`; None when it is wrong. Called in a walk.
fn check(info: &CodeInfo, pc: usize) -> Option<Checked> {
    if !info.covers(pc) {
        return None;
    }
    if info.kind != CodeKind::Method || info.method.is_null() {
        return Some(Checked { is_dynamic: false });
    }
    // SAFETY: code of methods is placed with the method's address; code that a walk finds outlives it, and methods
    // outlive their code.
    let method = unsafe { &*info.method.cast::<Method>() };
    // The version is stored after the body was placed, so it may still be missing. If two threads compile a method that
    // is compiled once, the body that was placed second is never called.
    let version = versions::current(method).filter(|_| !versions::are_replaced());
    let is_called = version.is_none_or(|version| version.code() == info.start);
    // The entry of a dynamic method that has ended may be another one's by now.
    let entry = existing_entry(method).filter(|_| !method.is_dynamic());
    let is_own = entry.is_none_or(|entry| entry.argument() == info.method);
    let is_true = is_called && is_own;
    is_true.then_some(Checked { is_dynamic: method.is_dynamic() })
}
