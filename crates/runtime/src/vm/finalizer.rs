//! The finalizer thread: runs `Finalize` of objects that the collector found unreachable, in the order they became ready, and
//! frees dynamic methods.

use crate::invoke::{self, PreparedCall, Slot};
use crate::object::type_of;
use crate::profile_log::{self, LogEvents};
use crate::thread::CurrentThread;
use crate::{collectible, domains, dynamic_methods};
use parking_lot::{Condvar, Mutex, MutexGuard};
use saki_abi::ObjRef;
use saki_thread::{ThreadKind, WaitState};
use saki_types::Ty;
use std::time::{Duration, Instant};

#[derive(Default)]
struct State {
    /// Objects may be ready.
    wanted: bool,
    /// The thread is running finalizers.
    busy: bool,
    started: bool,
    /// Id of the finalizer thread, once it runs.
    thread: Option<u32>,
}

static STATE: Mutex<State> = Mutex::new(State { wanted: false, busy: false, started: false, thread: None });
static CHANGED: Condvar = Condvar::new();

/// How long this thread leaves dead dynamic methods to the threads that make new ones: those reuse the memory that they free,
/// which is in their caches (lambdas compiled and dropped took 3 % longer when this thread helped at once).
const RECLAIM_DELAY: Duration = Duration::from_millis(20);

/// How often `wait_while_others_are_stopped` looks at the finalizer thread, and how many times in a row it may find it
/// waiting: a tenth of a second, in which a lock that no stopped thread holds becomes free.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
const MAX_WAITING_LOOKS: u32 = 5;

/// Called by the collector when objects or dynamic methods are ready; must not block.
pub(crate) fn wake() {
    STATE.lock().wanted = true;
    CHANGED.notify_all();
}

/// Starts the thread.
///
/// # Errors
/// The system's when no thread can be made.
pub fn start() -> std::io::Result<()> {
    STATE.lock().started = true;
    saki_thread::spawn(ThreadKind::Internal, Some("Finalizer"), 0, |thread| {
        // SAFETY: the thread just attached.
        let t = unsafe { CurrentThread::from_abi(thread.abi()) };
        STATE.lock().thread = Some(t.id());
        let mut reclaim_at = None;
        loop {
            saki_thread::blocking(|| wait_for_work(reclaim_at));
            if !dynamic_methods::are_dead() {
                reclaim_at = None;
            } else if collectible::are_dead() {
                dynamic_methods::reclaim_dead(true);
                reclaim_at = None;
            } else if reclaim_at.is_some_and(|due| due <= Instant::now()) {
                dynamic_methods::reclaim_dead(false);
                reclaim_at = dynamic_methods::are_dead().then(|| Instant::now() + RECLAIM_DELAY);
            } else if reclaim_at.is_none() {
                reclaim_at = Some(Instant::now() + RECLAIM_DELAY);
            }
            collectible::reclaim_dead();
            drain(t);
        }
    })?;
    Ok(())
}

/// Returns when the thread is wanted, or at `deadline`.
fn wait_for_work(deadline: Option<Instant>) {
    let mut state = STATE.lock();
    state.busy = false;
    CHANGED.notify_all();
    while !state.wanted {
        match deadline {
            None => CHANGED.wait(&mut state),
            Some(deadline) if CHANGED.wait_until(&mut state, deadline).timed_out() => break,
            Some(_) => {}
        }
    }
    state.wanted = false;
    state.busy = true;
}

/// The finalizers of the types met last, where they have one: most queues hold many objects of few types in turn, and looking one up takes a
/// search by name.
#[derive(Default)]
struct Met {
    calls: [Option<(Ty, Option<PreparedCall>)>; 8],
    next: usize,
}

impl Met {
    fn find(&self, ty: Ty) -> Option<Option<PreparedCall>> {
        self.calls.iter().flatten().find(|(known, _)| std::ptr::eq(*known, ty)).map(|(_, call)| *call)
    }

    /// In the place of the one that came first.
    fn note(&mut self, ty: Ty, call: Option<PreparedCall>) {
        self.calls[self.next] = Some((ty, call));
        self.next = (self.next + 1) % self.calls.len();
    }
}

/// Runs everything that is ready now, on the calling thread.
pub fn drain(t: CurrentThread) {
    let mut met = Met::default();
    let before = domains::current();
    let mut is_any = false;
    while let Some(object) = saki_gc::next_finalizable() {
        if profile_log::is_on(LogEvents::FINALIZATION) {
            if !std::mem::replace(&mut is_any, true) {
                profile_log::events::finalizers(t, false);
            }
            profile_log::events::finalizer(t, object, false);
            finalize(t, object, &mut met);
            profile_log::events::finalizer(t, object, true);
        } else {
            finalize(t, object, &mut met);
        }
    }
    if is_any {
        profile_log::events::finalizers(t, true);
    }
    domains::switch(t, before);
}

fn finalize(t: CurrentThread, object: ObjRef, met: &mut Met) {
    let ty = type_of(object);
    let domain = domains::of_universe(ty.universe());
    if domain.is_unloaded() {
        return;
    }
    domains::switch(t, domain);
    let call = met.find(ty).unwrap_or_else(|| {
        let finalizer = ty.finalizer().ok().flatten();
        let call = finalizer.map(|finalizer| match invoke::prepare(t, finalizer) {
            Ok(call) => call,
            Err(_) => crate::unhandled::report_and_exit(t),
        });
        met.note(ty, call);
        call
    });
    let Some(call) = call else { return };
    if invoke::invoke_prepared(t, &call, &[Slot::from_ref(object)]).is_err() {
        let exception = t.take_pending();
        if type_of(exception).is_corlib("System.Threading", "ThreadAbortException") {
            // An abort ends one finalizer only.
            crate::pending::forget_abort(t);
            crate::threads::end_abort(t);
            return;
        }
        // As .NET 2.0 and later: an exception out of a finalizer ends the process.
        t.set_pending(exception);
        crate::unhandled::report_and_exit_with(t, crate::unhandled::OTHER_EXIT_CODE);
    }
}

/// Whether this is the thread that runs finalizers.
pub fn is_finalizer_thread(t: CurrentThread) -> bool {
    STATE.lock().thread == Some(t.id())
}

/// `GC.WaitForPendingFinalizers`. A finalizer that asks for it would wait for itself: it goes on at once.
pub fn wait_for_pending(t: CurrentThread) {
    wait_for_pending_until(t, None);
}

/// As `wait_for_pending`, but at most until `deadline`; false when the deadline came first.
pub(crate) fn wait_for_pending_until(t: CurrentThread, deadline: Option<Instant>) -> bool {
    let me = t.id();
    saki_thread::blocking(|| {
        let mut state = STATE.lock();
        if !state.started || state.thread == Some(me) {
            return true;
        }
        if saki_gc::finalizable_count() > 0 {
            state.wanted = true;
            CHANGED.notify_all();
        }
        wait_until_idle(&mut state, deadline)
    })
}

/// As `wait_for_pending_until` while the other threads are stopped: false also when the finalizer thread has waited a while for
/// one of the stopped threads.
pub(crate) fn wait_while_others_are_stopped(t: CurrentThread, deadline: Instant) -> bool {
    let mut looks = 0;
    while looks < MAX_WAITING_LOOKS {
        let now = Instant::now();
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

/// Whether the finalizer thread waits for a lock, a handle or the end of a thread.
fn waits_for_another_thread() -> bool {
    let id = STATE.lock().thread;
    let thread = id.and_then(saki_thread::find_thread);
    thread.is_some_and(|thread| matches!(thread.wait_state(), WaitState::Monitor | WaitState::Handle | WaitState::Join))
}

/// False: the deadline came first.
fn wait_until_idle(state: &mut MutexGuard<State>, deadline: Option<Instant>) -> bool {
    while state.wanted || state.busy {
        match deadline {
            None => CHANGED.wait(state),
            Some(deadline) if CHANGED.wait_until(state, deadline).timed_out() => return false,
            Some(_) => {}
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
        assert!(wait_until_idle(&mut state, Some(Instant::now())));
        state.busy = true;
        assert!(!wait_until_idle(&mut state, Some(Instant::now() + Duration::from_millis(5))));
        state.busy = false;
        assert!(wait_until_idle(&mut state, None));
    }
}
