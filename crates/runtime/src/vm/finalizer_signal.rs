//! Waking the finalizer thread, and waiting for it.
//!
//! Left out: the thread's work (`finalizer`).

use crate::thread::CurrentThread;
use saki_base::locks::rank;
use saki_os::clock::Moment;
use saki_sync::WaitWord;
use saki_sync::word_locks::{Mutex, MutexGuard};
use saki_thread::{WaitState, child_locks};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Default)]
struct State {
    /// Whether objects may be ready.
    wanted: bool,
    /// Whether the thread is running finalizers.
    busy: bool,
    started: bool,
    /// Id of the finalizer thread, once it runs.
    thread: Option<u32>,
}

static STATE: Mutex<rank::FinalizerState, State> =
    Mutex::new(State { wanted: false, busy: false, started: false, thread: None });
/// Counts changes of `STATE`; threads that wait for one sleep on it. Changes under the lock. (A condition variable
/// would keep a list of them, whose entries a forked child lacks.)
static CHANGED: WaitWord = WaitWord::new(0);

/// The time between two looks of `wait_while_others_are_stopped` at the finalizer thread, and (below) how many times in
/// a row it may find the thread waiting: together a tenth of a second, in which a lock that no stopped thread holds
/// becomes free.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
const MAX_WAITING_LOOKS: u32 = 5;

/// Called by the collector when objects or dynamic methods are ready, and by hosts; must not block.
pub fn wake() {
    STATE.lock().wanted = true;
    tell_change();
}

/// Whether the thread is woken after each collection. Relaxed: the next collection may miss it, not the one after.
static FOLLOWS_COLLECTIONS: AtomicBool = AtomicBool::new(false);

/// Has the finalizer thread woken after each collection from now on, for the host
/// (`HostEvents::after_collection`).
pub fn follow_collections() {
    FOLLOWS_COLLECTIONS.store(true, Ordering::Relaxed);
}

/// Whether [`follow_collections`] was called.
pub(crate) fn follows_collections() -> bool {
    FOLLOWS_COLLECTIONS.load(Ordering::Relaxed)
}

fn tell_change() {
    // Release: pairs with the Acquire in `wait`.
    CHANGED.atomic().fetch_add(1, Ordering::Release);
    CHANGED.wake_all();
}

/// Waits for a change of the state, with the lock given back meanwhile. False: the deadline came first.
fn wait(state: &mut MutexGuard<'_, rank::FinalizerState, State>, deadline: Option<Moment>) -> bool {
    // Acquire: a later change ends the wait.
    let seen = CHANGED.load(Ordering::Acquire);
    let rest = deadline.map(|deadline| deadline.saturating_duration_since(Moment::now()));
    MutexGuard::unlocked(state, || CHANGED.wait(seen, rest)) && rest.is_none_or(|rest| !rest.is_zero())
}

/// Before a fork: the state does not change.
pub(crate) fn hold() {
    child_locks::hold(&STATE);
}

/// In the parent.
pub(crate) fn release() {
    child_locks::release(&STATE);
}

/// In a forked child: the finalizer thread is `me`, or there is none.
pub(crate) fn forget_thread(me: Option<u32>) {
    child_locks::revive(&STATE);
    let mut state = STATE.lock();
    if state.thread != me || me.is_none() {
        *state = State { wanted: true, ..State::default() };
    }
}

/// Whether there is such a thread, or will be.
pub(crate) fn is_started() -> bool {
    STATE.lock().started
}

/// To be called when the thread is about to be made.
pub(crate) fn note_started() {
    STATE.lock().started = true;
}

/// To be called by the thread when it begins.
pub(crate) fn note_thread(t: CurrentThread) {
    STATE.lock().thread = Some(t.id());
}

/// On the finalizer thread: returns when it is wanted, or at `deadline`.
pub(crate) fn wait_for_work(deadline: Option<Moment>) {
    let mut state = STATE.lock();
    state.busy = false;
    tell_change();
    while !state.wanted {
        if !wait(&mut state, deadline) {
            break;
        }
    }
    state.wanted = false;
    state.busy = true;
}

/// Whether this is the thread that runs finalizers.
pub fn is_finalizer_thread(t: CurrentThread) -> bool {
    STATE.lock().thread == Some(t.id())
}

/// `GC.WaitForPendingFinalizers`. Returns at once in a finalizer, which would wait for itself.
pub fn wait_for_pending(t: CurrentThread) {
    wait_for_pending_until(t, None);
}

/// Waits until the finalizers of all objects that are ready have run, but at most until `deadline`; false when the
/// deadline came first. Returns true at once in a finalizer, which would wait for itself.
pub(crate) fn wait_for_pending_until(t: CurrentThread, deadline: Option<Moment>) -> bool {
    let me = t.id();
    saki_thread::blocking(|| {
        let mut state = STATE.lock();
        if !state.started || state.thread == Some(me) {
            return true;
        }
        if saki_gc::finalizable_count() > 0 {
            state.wanted = true;
            tell_change();
        }
        wait_until_idle(&mut state, deadline)
    })
}

/// Waits for the finalizers of all objects that are ready while the other threads are stopped. False: the deadline came
/// first, or the finalizer thread has waited a while for one of the stopped threads.
pub(crate) fn wait_while_others_are_stopped(t: CurrentThread, deadline: Moment) -> bool {
    let mut looks = 0;
    while looks < MAX_WAITING_LOOKS {
        let now = Moment::now();
        if wait_for_pending_until(t, Some(deadline.min(now + LOOK_INTERVAL))) {
            return true;
        }
        if now >= deadline {
            return false;
        }
        looks = if waits_for_another_thread() { looks + 1 } else { 0 };
    }
    false
}

/// How long an allocation that found no memory waits for one finalizer to end: the finalizer thread may wait for a lock
/// that this thread holds.
const MAX_WAIT_FOR_FINALIZER: Duration = Duration::from_secs(2);
/// How long it waits for all of them. On a busy machine, hundreds of finalizers that give up the processor take longer
/// than the time for one.
const MAX_WAIT_FOR_MEMORY: Duration = Duration::from_secs(30);

/// Waits until the objects that are ready have been finalized, so that the next collection frees them. False: there
/// were none, this is the finalizer thread, or it waits for another thread.
pub(crate) fn wait_for_memory(t: CurrentThread) -> bool {
    let is_any = {
        let state = STATE.lock();
        let is_at_work = state.wanted || state.busy || saki_gc::finalizable_count() > 0;
        is_at_work && state.started && state.thread != Some(t.id())
    };
    is_any && wait_while_finalizers_end(t)
}

/// Waits until the finalizer thread has nothing to do. False: it has ended no finalizer for a while, or waits for
/// another thread.
fn wait_while_finalizers_end(t: CurrentThread) -> bool {
    let start = Moment::now();
    let (mut left, mut last_end, mut looks) = (saki_gc::finalizable_count(), start, 0);
    while looks < MAX_WAITING_LOOKS {
        let now = Moment::now();
        if wait_for_pending_until(t, Some(now + LOOK_INTERVAL)) {
            return true;
        }
        let count = saki_gc::finalizable_count();
        if count != left {
            (left, last_end) = (count, now);
        } else if now - last_end >= MAX_WAIT_FOR_FINALIZER {
            return false;
        }
        if now - start >= MAX_WAIT_FOR_MEMORY {
            return false;
        }
        looks = if waits_for_another_thread() { looks + 1 } else { 0 };
    }
    false
}

/// Whether the finalizer thread waits for a lock, a handle or the end of a thread.
fn waits_for_another_thread() -> bool {
    let id = STATE.lock().thread;
    let thread = id.and_then(saki_thread::find_thread);
    thread.is_some_and(|thread| matches!(thread.wait_state(), WaitState::Monitor | WaitState::Handle | WaitState::Join))
}

/// False: the deadline came first.
fn wait_until_idle(state: &mut MutexGuard<rank::FinalizerState, State>, deadline: Option<Moment>) -> bool {
    while state.wanted || state.busy {
        if !wait(state, deadline) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finalizer_that_never_returns_does_not_keep_the_process() {
        let mut state = STATE.lock();
        assert!(wait_until_idle(&mut state, Some(Moment::now())));
        state.busy = true;
        assert!(!wait_until_idle(&mut state, Some(Moment::now() + Duration::from_millis(5))));
        state.busy = false;
        assert!(wait_until_idle(&mut state, None));
    }
}
