//! Unloading a domain: its DomainUnload handlers run, the threads that are in it are aborted, its finalizers run, and
//! the roots of its objects are dropped: handles, statics, literals.
//!
//! `Thread.ResetAbort` does not end these aborts: they end, as AppDomainUnloadedException, where the thread leaves the
//! domain.
//! A thread that is itself in the domain cannot unload it, because it would wait for its own abort; another thread does
//! the work, and this one waits to be aborted. Left out: giving back the memory of the domain's types and code, which
//! later collections do (`collectible`).

use crate::domains::{self, Domain};
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, Thrown, ToManaged};
use crate::host_events::{HostEvent, HostEventKind, is_wanted, tell, tell_if_wanted};
use crate::invoke::{self, Slot};
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use crate::{cells, collectible, finalizer_signal, handles, interruption, statics, thread_aborts, waits};
use saki_os::clock::Moment;
use saki_thread::{ThreadKind, WaitState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The longest time to wait for the domain's threads to leave it.
const ABORT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between two checks whether the threads have left the domain.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// Outcome of `tear_down` on another thread, in an atomic.
const RUNNING: u32 = 0;
const DONE: u32 = 1;
const TIMED_OUT: u32 = 2;

fn cannot_unload(t: CurrentThread, message: &str) -> Thrown {
    exceptions::throw(t, ExceptionType::CannotUnloadAppDomain, message)
}

/// `AppDomain.Unload`.
///
/// # Errors
/// CannotUnloadAppDomainException; the exception of a DomainUnload handler, as an exception of the current domain.
pub fn unload(t: CurrentThread, domain: &'static Domain) -> Managed<()> {
    if std::ptr::eq(domain, domains::root_domain()) {
        return Err(cannot_unload(t, "The default appdomain can not be unloaded."));
    }
    if !domain.begin_unload() {
        let message = if domain.is_unloaded() { "unloaded" } else { "being unloaded" };
        return Err(cannot_unload(t, &format!("Appdomain is already {message}.")));
    }
    let home = domains::current();
    if domains::run_in(t, domain, || raise_unload_event(t, domain)).is_err() {
        domain.cancel_unload();
        return Err(crate::domain_copy::copy_pending(t, home.universe));
    }
    domain.close();
    let outcome = if domain.has_thread(t.id()) { tear_down_elsewhere(t, domain)? } else { tear_down(t, domain) };
    if outcome == TIMED_OUT {
        domain.cancel_unload();
        let message = format!("Aborting of threads in domain {} timed out.", domain.friendly_name());
        return Err(cannot_unload(t, &message));
    }
    Ok(())
}

fn raise_unload_event(t: CurrentThread, domain: &'static Domain) -> Managed<()> {
    let Some(object) = domain.object(t) else { saki_base::bug!("a domain without an AppDomain object") };
    match object.ty().find_method("DoDomainUnload", 0).to_managed(t)? {
        Some(raise) => invoke::invoke(t, raise, &[Slot::from_ref(object)]).map(|_| ()),
        None => Ok(()),
    }
}

fn tear_down_elsewhere(t: CurrentThread, domain: &'static Domain) -> Managed<u32> {
    let outcome = Arc::new(AtomicU32::new(RUNNING));
    let (waiter, theirs) = (t.managed(), outcome.clone());
    let spawned = saki_thread::spawn(ThreadKind::Internal, Some("Domain unloader"), 0, move |thread| {
        // SAFETY: the thread just attached.
        let end = tear_down(unsafe { CurrentThread::from_abi(thread.abi()) }, domain);
        // Release: pairs with the waiter's look.
        theirs.store(end, Ordering::Release);
        waiter.unpark();
    });
    if spawned.is_err() {
        return Err(exceptions::throw(t, ExceptionType::OutOfMemory, "The system cannot make another thread."));
    }
    let end = waits::wait(t, None, |rest, interruptible| {
        // Acquire, here and below: pairs with the Release with which the unloading thread stores its outcome.
        waiter.wait_until(WaitState::Native, rest, interruptible, || outcome.load(Ordering::Acquire) != RUNNING)
    });
    match end {
        waits::WaitEnd::Interrupted => Err(thread_aborts::throw_requested(t)),
        _ => Ok(outcome.load(Ordering::Acquire)),
    }
}

fn tear_down(t: CurrentThread, domain: &'static Domain) -> u32 {
    if !abort_threads(t, domain) {
        return TIMED_OUT;
    }
    saki_gc::make_all_finalizable(&mut |object| {
        // SAFETY: an object that may have to be finalized, which the collector keeps.
        let ty = unsafe { Obj::known(object) }.ty();
        *ty.universe() == *domain.universe
    });
    finalizer_signal::wait_for_pending(t);
    tell_if_wanted(HostEvent::DomainUnloading(domain));
    domain.finish_unload();
    crate::profile_log::domain_unloaded(domain);
    if is_wanted(HostEventKind::AssemblyUnloaded) {
        for &assembly in domain.universe.binder().loaded().iter().rev() {
            tell(HostEvent::AssemblyUnloaded(assembly));
        }
    }
    tell_if_wanted(HostEvent::DomainUnloaded(domain));
    handles::free_domain(domain.universe);
    cells::release_domain(domain.universe);
    statics::release(domain.universe);
    collectible::release_domain(t, domain.universe);
    DONE
}

/// Aborts the threads that are in the domain until no thread is in it.
fn abort_threads(t: CurrentThread, domain: &'static Domain) -> bool {
    let deadline = Moment::now() + ABORT_TIMEOUT;
    loop {
        let inside = domain.threads();
        if inside.is_empty() {
            return true;
        }
        for id in inside {
            let Some(thread) = saki_thread::find_thread(id) else {
                domain.forget_thread(id);
                continue;
            };
            if domain.abort_inside(thread.as_static()) {
                interruption::end_system_call(thread);
            }
        }
        if Moment::now() > deadline {
            return false;
        }
        t.managed().sleep(Some(LOOK_INTERVAL), false);
    }
}
