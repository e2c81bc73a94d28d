//! Decides which stacks are moved to compact memory (`thread::cold_stack`): when there are many threads, the stacks of
//! those that have been parked for long.
//!
//! Up to a certain number of *hot* stacks (those in their places) nothing happens. Beyond it a separate OS thread, the
//! mover, repeatedly goes over the list of threads with hot stacks: the stack of a thread that is parked and has not
//! run since the last round is moved away. Stacks that were moved too early, because their threads needed them soon,
//! lengthen the time between two rounds, so that a ring of 100,000 threads keeps its stacks. When a round finds that no
//! thread has run, it is the last one until a stack becomes hot. The mover is patient, so that a crowd that waits for a
//! moment keeps its stacks, until the hot ones take more than a quarter of memory, or than the user allows.
//!
//! The same thread gives back the memory of free stacks: when many threads have ended it finds, every `TRIM_INTERVAL`,
//! how many stacks were in use at most since the last look, and trims the pool once that number is hardly more than are
//! in use now, and hardly more are in use now than at the last look.
//!
//! | word | written by | read by |
//! |---|---|---|
//! | `IS_ASLEEP` | the mover; Relaxed | a thread that makes a stack hot: a hint |
//! | `MOST_HOT` | a thread that makes a stack hot raises it, the mover sets it to `HOT`; Relaxed | the mover, threads that end: a hint |
//! | `HOT`, `MOVED_AWAY`, `COPIED_BYTES`, `RESTORED` | anyone, added to; Relaxed | reports, the mover: hints |
//! | `Green::is_listed` | the thread whose swap changes it to true puts the thread on the list; the mover clears it as it takes the thread off; Relaxed | the same: a thread that is missed stays hot |
//! | `Green::has_run` | the carrier that takes the thread; the mover clears it; Relaxed | the mover: a hint |
//!
//! Invariant: a stack moves only while its thread is in state MOVING (`ParkWord`), or, on the way back, on the carrier
//! that has taken the thread out of a queue, or with the world stopped. Nothing outside of a suspended thread's own
//! frames may refer to its stack: waiting threads are found by their structures, never by nodes on stacks. Left out:
//! programs that pass raw pointers into their stacks to other threads (`--hot-stacks` keeps all stacks in their
//! places).

use crate::green::Green;
use crate::parts::stacks;
use saki_base::locks::rank;
use saki_fiber::PooledStack;
use saki_os::services::{self, Service};
use saki_sync::WaitWord;
use saki_sync::word_locks::Mutex;
use saki_thread::child_locks;
use saki_thread::cold_stack::while_moving;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Stacks that stay in their places however long their threads are parked: some 200 MiB.
pub const DEFAULT_HOT_STACKS: usize = 1 << 14;

/// Stacks that move together: their threads can be resumed only when all have moved, some 100 µs later.
const MOVED_AT_ONCE: usize = 64;
/// Time between two rounds.
const LEAST_INTERVAL: Duration = Duration::from_millis(10);
/// The same while there is memory.
const PATIENT_INTERVAL: Duration = Duration::from_secs(1);
/// What a hot stack of a crowd takes, with page tables, for the choice between the two.
const HOT_STACK_BYTES: usize = 5 << 10;
/// The mover leaves a crowd alone that has changed by more than one of so many of its threads during an interval.
const CHANGED_SHARE: usize = 16;
const MOST_INTERVAL: Duration = Duration::from_secs(5);

/// Memory of free stacks that was not needed for this long is given back.
const TRIM_INTERVAL: Duration = Duration::from_secs(1);
/// Free stacks that are left as they are.
const TRIM_SLACK: usize = 512;

/// More hot stacks than this wake the mover. Relaxed: changes at the start only.
static LIMIT: AtomicUsize = AtomicUsize::new(DEFAULT_HOT_STACKS);
/// More hot stacks than this must move soon. Relaxed: changes at the start only.
static URGENT: AtomicUsize = AtomicUsize::new(DEFAULT_HOT_STACKS);
static HOT: AtomicUsize = AtomicUsize::new(0);
static MOST_HOT: AtomicUsize = AtomicUsize::new(0);
static MOVED_AWAY: AtomicU64 = AtomicU64::new(0);
static RESTORED: AtomicU64 = AtomicU64::new(0);
static COPIED_BYTES: AtomicU64 = AtomicU64::new(0);
/// Threads with hot stacks, except those that have ended.
static LISTED: Mutex<rank::ColdThreads, Vec<&'static Green>> = Mutex::new(Vec::new());
/// Counts reasons for the mover to run again; the mover sleeps on this word.
static REASONS: WaitWord = WaitWord::new(0);
static IS_ASLEEP: AtomicBool = AtomicBool::new(false);

/// Begins to move stacks in a forked child when there are more than the parent's limit. `resume` makes a thread
/// runnable that was woken while its stack moved.
pub(crate) fn start_again(resume: impl Fn(&'static Green) + Send + 'static) {
    start(LIMIT.load(Ordering::Relaxed), resume);
}

/// Begins to move stacks when there are more than `hot_stacks`. Without a thread for it stacks stay where they are.
/// `resume` makes a thread runnable that was woken while its stack moved.
pub(crate) fn start(hot_stacks: usize, resume: impl Fn(&'static Green) + Send + 'static) {
    LIMIT.store(hot_stacks, Ordering::Relaxed);
    let urgent = match hot_stacks {
        DEFAULT_HOT_STACKS => (saki_os::memory::physical_bytes() / 4 / HOT_STACK_BYTES).max(hot_stacks),
        _ => hot_stacks,
    };
    URGENT.store(urgent, Ordering::Relaxed);
    if hot_stacks < usize::MAX {
        let _ = services::machine().start(Service::Stacks, move || move_for_ever(&resume));
    }
}

/// Before a fork: the list does not change.
pub(crate) fn hold_list() {
    child_locks::hold(&LISTED);
}

/// In the parent.
pub(crate) fn release_list() {
    child_locks::release(&LISTED);
}

/// In a forked child, which has no thread but one, whose stack stays where it is. The stacks of the parent's threads
/// stay mapped.
pub(crate) fn forget_all() {
    child_locks::revive(&LISTED);
    LISTED.lock().clear();
    for count in [&HOT, &MOST_HOT] {
        count.store(0, Ordering::Relaxed);
    }
    IS_ASLEEP.store(false, Ordering::Relaxed);
}

/// Counts of the stacks moved so far.
#[derive(Clone, Copy, Debug)]
pub struct ColdCounts {
    /// Stacks in their places now.
    pub hot: usize,
    /// Stacks moved to compact memory, and the bytes in use of them.
    pub moved_away: u64,
    /// Bytes of stacks that were copied away.
    pub copied_bytes: u64,
    /// Stacks moved back.
    pub restored: u64,
}

/// Threads with stacks, wherever these lie. A hint.
pub(crate) fn present() -> usize {
    let away = MOVED_AWAY.load(Ordering::Relaxed).saturating_sub(RESTORED.load(Ordering::Relaxed));
    HOT.load(Ordering::Relaxed) + usize::try_from(away).unwrap_or(usize::MAX)
}

pub(crate) fn counts() -> ColdCounts {
    ColdCounts {
        hot: HOT.load(Ordering::Relaxed),
        moved_away: MOVED_AWAY.load(Ordering::Relaxed),
        copied_bytes: COPIED_BYTES.load(Ordering::Relaxed),
        restored: RESTORED.load(Ordering::Relaxed),
    }
}

/// The thread has a stack in its place from now on.
pub(crate) fn note_hot(green: &'static Green) {
    if !green.is_listed.swap(true, Ordering::Relaxed) {
        LISTED.lock().push(green);
    }
    let hot = HOT.fetch_add(1, Ordering::Relaxed) + 1;
    if hot > MOST_HOT.load(Ordering::Relaxed) {
        MOST_HOT.fetch_max(hot, Ordering::Relaxed);
    }
    if hot > LIMIT.load(Ordering::Relaxed) {
        wake_mover();
    }
}

fn wake_mover() {
    if IS_ASLEEP.load(Ordering::Relaxed) {
        wake_mover_surely();
    }
}

fn wake_mover_surely() {
    // Release: pairs with the Acquire of the mover, which sees the threads that were listed before, or that the machine
    // ends.
    REASONS.atomic().fetch_add(1, Ordering::Release);
    REASONS.wake(1);
}

/// The mover looks whether the machine ends (`os::services`).
pub(crate) fn wake_for_end() {
    wake_mover_surely();
}

/// The thread has ended and given its stack back.
pub(crate) fn note_end() {
    let hot = HOT.fetch_sub(1, Ordering::Relaxed) - 1;
    // Only who comes by: between two looks at most a few do.
    if hot + TRIM_SLACK + 1 == MOST_HOT.load(Ordering::Relaxed) {
        wake_mover();
    }
}

/// For a carrier that has taken a thread: puts its stack back in its place.
#[cold]
pub(crate) fn restore(green: &'static Green) {
    if move_when_there_is_memory(|| restore_now(green)) {
        note_restored(green);
    }
}

fn note_restored(green: &'static Green) {
    RESTORED.fetch_add(1, Ordering::Relaxed);
    note_hot(green);
}

/// Runs `attempt`, which moves a stack, again and again until there is memory for it. No stack moves between two
/// attempts, so the world may be stopped, and a collection may give memory back.
fn move_when_there_is_memory<R>(mut attempt: impl FnMut() -> io::Result<R>) -> R {
    loop {
        match while_moving(&mut attempt) {
            Ok(moved) => return moved,
            Err(error) => wait_for_memory(&error),
        }
    }
}

/// Waits a little: a thread whose stack has no memory cannot run, and the system may find some.
fn wait_for_memory(error: &io::Error) {
    if error.kind() != io::ErrorKind::OutOfMemory {
        saki_base::bug!("a stack cannot be guarded again: {error}");
    }
    std::thread::sleep(LEAST_INTERVAL);
}

/// Puts a stack back in its place. False: a thread that stopped the world has done so since the caller looked.
///
/// # Errors
/// The system's; nothing has changed then.
fn restore_now(green: &'static Green) -> io::Result<bool> {
    // SAFETY: the thread is suspended: this carrier has taken it (`restore`), or the world is stopped (`restore_all`).
    let Some(stack) = (unsafe { (*green.stack.get()).as_ref() }) else { return Ok(false) };
    if !green.thread.is_cold() {
        return Ok(false);
    }
    stacks().equip(stack)?;
    // SAFETY: the thread is suspended, by the same, so nobody else moves its stack; `equip` has just made the pages of
    // the stack writable again.
    unsafe { green.thread.restore_stack() };
    Ok(true)
}

/// See `SchedulerHooks`.
pub(crate) fn restore_all() {
    if MOVED_AWAY.load(Ordering::Relaxed) == 0 {
        return;
    }
    // The list of threads is locked while it is visited, and what follows takes other locks.
    let mut cold = Vec::new();
    saki_thread::for_each_thread(|thread| cold.extend(Green::of(thread).filter(|_| thread.is_cold())));
    for green in cold {
        // The world is stopped, and stays so: who stopped it is about to walk the stack.
        while let Err(error) = restore_now(green) {
            wait_for_memory(&error);
        }
        note_restored(green);
    }
}

fn move_for_ever(resume: &impl Fn(&'static Green)) {
    let mut interval = least_interval();
    // Whether there are free stacks that keep their memory, perhaps.
    let mut has_surplus = false;
    loop {
        // Acquire: pairs with `note_hot`.
        let reasons = REASONS.load(Ordering::Acquire);
        if services::machine().is_ending() {
            return;
        }
        if HOT.load(Ordering::Relaxed) <= LIMIT.load(Ordering::Relaxed) {
            has_surplus |= HOT.load(Ordering::Relaxed) + TRIM_SLACK < MOST_HOT.load(Ordering::Relaxed);
            let before = HOT.load(Ordering::Relaxed);
            let was_woken = sleep_until_hot(reasons, has_surplus.then_some(TRIM_INTERVAL));
            let now = HOT.load(Ordering::Relaxed);
            // A crowd that grows again needs the free stacks soon.
            let is_steady = now <= before + TRIM_SLACK && most_hot_since_last_look() <= now + TRIM_SLACK;
            if !was_woken && is_steady {
                stacks().trim();
                has_surplus = false;
            }
            continue;
        }
        let before = HOT.load(Ordering::Relaxed);
        services::machine().pause(interval);
        // A crowd that gathers or ends is about to run, while there is memory for its stacks.
        if !is_urgent() && HOT.load(Ordering::Relaxed).abs_diff(before) > before / CHANGED_SHARE {
            continue;
        }
        let restored = RESTORED.load(Ordering::Relaxed);
        let round = go_round(resume);
        let in_vain = RESTORED.load(Ordering::Relaxed) - restored;
        let was_vain = round.moved_away > 0 && in_vain * 2 > round.moved_away;
        interval = if was_vain { interval * 2 } else { interval / 2 }.clamp(least_interval(), MOST_INTERVAL);
        if round.moved_away == 0 && !round.has_any_run {
            sleep_until_hot(reasons, None);
        }
    }
}

/// Whether stacks are to move soon, since they take much of memory.
fn is_urgent() -> bool {
    HOT.load(Ordering::Relaxed) > URGENT.load(Ordering::Relaxed)
}

fn least_interval() -> Duration {
    if is_urgent() { LEAST_INTERVAL } else { PATIENT_INTERVAL }
}

/// Sleeps until a stack becomes hot and there are too many, or many have become free. One that becomes so at the same
/// time may be missed, and stays in its place until the next. False: the timeout has passed.
fn sleep_until_hot(reasons: u32, timeout: Option<Duration>) -> bool {
    IS_ASLEEP.store(true, Ordering::Relaxed);
    let was_woken = REASONS.wait(reasons, timeout);
    IS_ASLEEP.store(false, Ordering::Relaxed);
    was_woken
}

/// The most stacks that were in use at one time since the last call.
fn most_hot_since_last_look() -> usize {
    MOST_HOT.swap(HOT.load(Ordering::Relaxed), Ordering::Relaxed)
}

struct Round {
    moved_away: u64,
    has_any_run: bool,
}

/// Looks at every listed thread once.
fn go_round(resume: &impl Fn(&'static Green)) -> Round {
    let mut round = Round { moved_away: 0, has_any_run: false };
    let listed = std::mem::take(&mut *LISTED.lock());
    let mut kept = Vec::with_capacity(listed.len());
    let mut batch: Vec<&'static Green> = Vec::with_capacity(MOVED_AT_ONCE);
    for green in listed {
        if green.thread.is_detached() {
            green.is_listed.store(false, Ordering::Relaxed);
            continue;
        }
        let has_run = green.has_run.swap(false, Ordering::Relaxed);
        round.has_any_run |= has_run;
        if has_run || !green.word.is_parked() {
            kept.push(green);
            continue;
        }
        batch.push(green);
        if batch.len() == MOVED_AT_ONCE {
            round.moved_away += move_away(&mut batch, &mut kept, resume);
        }
    }
    round.moved_away += move_away(&mut batch, &mut kept, resume);
    LISTED.lock().append(&mut kept);
    round
}

/// Copies the stacks of those of the batch that are parked, and gives their memory back. The others are kept. Leaves
/// the batch empty.
fn move_away(batch: &mut Vec<&'static Green>, kept: &mut Vec<&'static Green>, resume: &impl Fn(&'static Green)) -> u64 {
    let mut moving: Vec<&'static Green> = Vec::with_capacity(batch.len());
    for green in batch.drain(..) {
        if !green.word.begin_move() {
            kept.push(green);
        } else if green.thread.may_put_stack_by() && stack_of(green).is_some() {
            green.is_listed.store(false, Ordering::Relaxed);
            moving.push(green);
        } else {
            kept.push(green);
            end_move(green, resume);
        }
    }
    moving.sort_unstable_by_key(|green| stack_of(green).map(PooledStack::low));
    while_moving(|| {
        for green in &moving {
            // SAFETY: state MOVING: the thread is suspended, and this thread has it.
            let bytes = unsafe { green.thread.put_stack_by((*green.context.get()).stack_pointer()) };
            COPIED_BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        // SAFETY: state MOVING: the threads are suspended, this thread has them, and what their stacks held was copied
        // just now.
        unsafe { stacks().strip(moving.iter().filter_map(|green| stack_of(green))) };
    });
    HOT.fetch_sub(moving.len(), Ordering::Relaxed);
    MOVED_AWAY.fetch_add(moving.len() as u64, Ordering::Relaxed);
    moving.iter().for_each(|green| end_move(green, resume));
    moving.len() as u64
}

fn end_move(green: &'static Green, resume: &impl Fn(&'static Green)) {
    if !green.word.end_move() {
        resume(green);
    }
}

/// The stack of a thread that the caller has.
fn stack_of(green: &'static Green) -> Option<&'static PooledStack> {
    // SAFETY: in state MOVING the thread is suspended, and no other thread touches its record; it keeps its stack until
    // it has run again.
    unsafe { (*green.stack.get()).as_ref() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_thread::StopReason;

    /// It waited with the lock that a stop waits for, so no collection could give the memory back.
    #[test]
    fn the_world_stops_while_a_stack_waits_for_memory() {
        let has_stopped = AtomicBool::new(false);
        let mut attempts = 0;
        std::thread::scope(|scope| {
            move_when_there_is_memory(|| {
                attempts += 1;
                if attempts == 1 {
                    let stop = |_: &_| has_stopped.store(true, Ordering::Relaxed);
                    scope.spawn(move || saki_thread::with_world_stopped(StopReason::Inspection, stop));
                }
                match has_stopped.load(Ordering::Relaxed) {
                    true => Ok(()),
                    false => Err(io::ErrorKind::OutOfMemory.into()),
                }
            });
        });
        assert!(attempts > 1);
    }
}
