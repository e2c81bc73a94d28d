//! The scheduler's entry points: its start, new threads, and counts.
//!
//! At most as many workers are ACTIVE as the mode has carriers: each holds a *slot*. A worker without work gives its
//! slot back and sleeps (`search`); a caller that makes a thread runnable while a slot is free wakes a worker, or
//! starts another (`runnable`, `carriers`). A worker whose thread stays in native code loses its slot (`handover`).
//!
//! Invariant: nothing below names this file; what threads ask of the scheduler are its hooks (`SchedulerHooks`,
//! `ParkHooks`).

use crate::carriers::make_first;
use crate::cold::{self, ColdCounts};
use crate::green::{Body, Green};
use crate::growth::{self, SmallStacks};
use crate::handover::{self, about_to_block, reclaim, yield_now};
use crate::mode::{self, ThreadMode};
use crate::park::PARK_HOOKS;
use crate::runnable::make_runnable;
use crate::worker::{Worker, set_here};
use crate::workers::{enlist, for_each_worker, stolen_count};
use crate::{native_exit, parts, switch, watcher};

use saki_fiber::{Context, StackCounts};
use saki_thread::scheduler_hooks::{SchedulerHooks, install_scheduler};
use saki_thread::scheduling;
use saki_thread::{ManagedThread, SpawnedThread, ThreadKind};
use std::io;
use std::sync::atomic::Ordering;

/// Stack of the main worker's base context.
const BASE_STACK_BYTES: usize = 256 << 10;
const MIN_STACK_BYTES: usize = 64 << 10;

static HOOKS: SchedulerHooks = SchedulerHooks {
    reclaim,
    yield_now,
    about_to_block,
    take_inner_stack: growth::take_inner,
    restore_cold_stacks: cold::restore_all,
};

/// Begins to schedule threads in this mode; once, on the main thread, which is attached, before there are others. When
/// there are more than `hot_stacks` stacks, unused ones are moved to compact memory; `small_stacks` says which begin
/// small.
///
/// # Errors
/// The system's, when it has no room for the first stack or for the watcher's thread.
pub fn start(mode: ThreadMode, hot_stacks: usize, small_stacks: SmallStacks) -> io::Result<()> {
    mode::set(mode);
    growth::start(small_stacks);
    let Some(carriers) = mode.carriers() else { return Ok(()) };
    let main = saki_thread::current()
        .unwrap_or_else(|| saki_base::bug!("the scheduler starts on a thread that is not attached"));
    parts::make(carriers, true);
    take_up(make_first(native_exit::notice()?), main)?;
    install_scheduler(&HOOKS);
    let green = Green::of_new(main, &PARK_HOOKS);
    main.set_scheduler_data(green.as_pointer());
    cold::start(hot_stacks, make_runnable);
    watcher::start()
}

/// Makes `worker` that of the calling OS thread, on which `thread` runs; its base context gets a stack of its own.
pub(crate) fn take_up(worker: &'static Worker, thread: &'static ManagedThread) -> io::Result<()> {
    let base_stack = parts::stacks().take(BASE_STACK_BYTES)?;
    // SAFETY: the worker's own stack, which is never given back.
    worker.set_base(unsafe { saki_fiber::prepare(base_stack.top(), switch::begin_base, worker.as_pointer().cast()) });
    if let Some(carrier) = thread.carrier() {
        worker.set_carrier(Some(carrier));
    }
    enlist(worker);
    set_here(worker);
    Ok(())
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
    let stacks = match parts::get() {
        Some(parts) if kind != ThreadKind::Internal => &parts.stacks,
        _ => return saki_thread::spawn(kind, name, stack_size_bytes, f),
    };
    let wanted_bytes = saki_thread::stack_bytes(stack_size_bytes, MIN_STACK_BYTES);
    let first_bytes = growth::first_bytes(wanted_bytes);
    let stack = stacks.take(first_bytes)?;
    let thread = scheduling::create_green(kind, name, |thread| Green::of_new(thread, &PARK_HOOKS).as_pointer());
    let Some(green) = Green::of(&thread) else { saki_base::bug!("a green thread without a record") };
    // The structure stays the thread's until it begins, which takes a reference of its own.
    let own = thread.clone();
    let body: Body = Box::new(move |thread| {
        drop(own);
        f(thread);
    });
    // SAFETY: the thread has not begun, and nobody else has its record; the stack is fresh and stays with the thread
    // until it ends.
    unsafe {
        *green.context.get() = Context::default();
        *green.stack.get() = Some(stack);
        *green.body.get() = Some(body);
        *green.inner_bytes.get() = if first_bytes < wanted_bytes { wanted_bytes } else { 0 };
    }
    cold::note_hot(green);
    make_runnable(green);
    Ok(thread)
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
    let parts = parts::get()?;
    let (mut carriers, mut switches) = (0, 0);
    for_each_worker(|_, worker| {
        carriers += 1;
        // Relaxed: a number for reports.
        switches += worker.ticks.load(Ordering::Relaxed);
    });
    let (taken, yields) = handover::counts();
    let (thefts, stacks, cold) = (stolen_count(), parts.stacks.counts(), cold::counts());
    Some(Statistics { carriers, switches, thefts, yields, taken, stacks, cold })
}
