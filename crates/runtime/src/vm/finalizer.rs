//! The finalizer thread: runs `Finalize` of objects that the collector found unreachable, in the order they became
//! ready, and frees dynamic methods.

use crate::exception_types::ExceptionType;
pub use crate::finalizer_signal::{follow_collections, wait_for_pending, wake};
use crate::host_events::{self, HostEvent, tell_if_wanted};
use crate::invoke::{self, PreparedCall, Slot};
use crate::profile_log::{self, LogEvents};
use crate::references::Obj;
use crate::thread::CurrentThread;
use crate::upper_layers::upper_layers;
use crate::{abort_requests, collectible, domains, dynamic_methods, finalizer_signal, host_profiler};
use saki_os::clock::Moment;
use saki_thread::ThreadKind;
use saki_types::Ty;
use std::time::Duration;

/// The time for which this thread leaves dead dynamic methods to the threads that make new ones: those reuse the memory
/// that they free, which is in their processors' caches (lambdas compiled and dropped took 3 % longer when this thread
/// helped at once).
const RECLAIM_DELAY: Duration = Duration::from_millis(20);

/// Starts the thread.
///
/// # Errors
/// The system's error when no thread can be made.
pub(crate) fn start() -> std::io::Result<()> {
    finalizer_signal::note_started();
    saki_thread::spawn(ThreadKind::Internal, Some("Finalizer"), 0, |thread| {
        // SAFETY: the thread just attached.
        let t = unsafe { CurrentThread::from_abi(thread.abi()) };
        finalizer_signal::note_thread(t);
        host_profiler::thread_started(t);
        let mut reclaim_at = None;
        loop {
            saki_thread::blocking(|| finalizer_signal::wait_for_work(reclaim_at));
            if !dynamic_methods::are_dead() {
                reclaim_at = None;
            } else if collectible::are_dead() {
                dynamic_methods::reclaim_dead(true);
                reclaim_at = None;
            } else if reclaim_at.is_some_and(|due| due <= Moment::now()) {
                dynamic_methods::reclaim_dead(false);
                reclaim_at = dynamic_methods::are_dead().then(|| Moment::now() + RECLAIM_DELAY);
            } else if reclaim_at.is_none() {
                reclaim_at = Some(Moment::now() + RECLAIM_DELAY);
            }
            collectible::reclaim_dead();
            drain(t);
            if finalizer_signal::follows_collections() {
                (upper_layers().host.after_collection)(t);
            }
        }
    })?;
    Ok(())
}

/// The finalizers of the latest types: most queues hold many objects of few types in turn, and looking a finalizer up
/// takes a search by name.
#[derive(Default)]
struct RecentFinalizers {
    calls: [Option<(Ty, Option<PreparedCall>)>; 8],
    next: usize,
}

impl RecentFinalizers {
    fn find(&self, ty: Ty) -> Option<Option<PreparedCall>> {
        self.calls.iter().flatten().find(|(known, _)| std::ptr::eq(*known, ty)).map(|(_, call)| *call)
    }

    /// Adds a type in place of the one that was added first.
    fn add(&mut self, ty: Ty, call: Option<PreparedCall>) {
        self.calls[self.next] = Some((ty, call));
        self.next = (self.next + 1) % self.calls.len();
    }
}

/// Runs the finalizers of all objects that are ready, on the calling thread.
pub fn drain(t: CurrentThread) {
    let mut recent = RecentFinalizers::default();
    let before = domains::current();
    let (mut is_any, mut is_told) = (false, false);
    while let Some(object) = saki_gc::next_finalizable() {
        // SAFETY: the list kept the object until now.
        let object = unsafe { Obj::known(object) };
        if host_events::are_any_wanted() && !std::mem::replace(&mut is_told, true) {
            tell_if_wanted(HostEvent::FinalizersBegin);
        }
        if profile_log::is_on(LogEvents::FINALIZATION) {
            if !std::mem::replace(&mut is_any, true) {
                profile_log::events::finalizers(t, false);
            }
            profile_log::events::finalizer(t, object, false);
            finalize(t, object, &mut recent);
            profile_log::events::finalizer(t, object, true);
        } else {
            finalize(t, object, &mut recent);
        }
    }
    if is_any {
        profile_log::events::finalizers(t, true);
    }
    if is_told {
        tell_if_wanted(HostEvent::FinalizersEnd);
    }
    domains::switch(t, before);
}

fn finalize(t: CurrentThread, object: Obj, recent: &mut RecentFinalizers) {
    let ty = object.ty();
    let domain = domains::of_universe(ty.universe());
    if domain.is_unloaded() {
        return;
    }
    domains::switch(t, domain);
    let call = recent.find(ty).unwrap_or_else(|| {
        let finalizer = ty.finalizer().ok().flatten();
        let call = finalizer.map(|finalizer| match invoke::prepare(t, finalizer) {
            Ok(call) => call,
            Err(_) => crate::unhandled::report_and_exit(t),
        });
        recent.add(ty, call);
        call
    });
    let Some(call) = call else { return };
    tell_if_wanted(HostEvent::FinalizerBegins(object));
    let finalized = invoke::invoke_prepared(t, &call, &[Slot::from_ref(object)]);
    if finalized.is_ok() {
        tell_if_wanted(HostEvent::FinalizerEnds(object));
    } else {
        let exception = t.take_exception();
        if ExceptionType::ThreadAbort.is(exception.ty()) {
            // An abort ends one finalizer only.
            crate::thread_aborts::forget_abort(t);
            abort_requests::end_abort(t);
            return;
        }
        // As .NET 2.0 and later: an exception out of a finalizer ends the process.
        t.set_pending(exception);
        crate::unhandled::report_and_exit_with(t, crate::unhandled::OTHER_EXIT_CODE);
    }
}
