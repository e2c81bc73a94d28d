//! Starting and ending managed threads, interrupting and joining them, and keeping them on an OS thread.
//!
//! Invariant: a thread that has ended is Stopped before `Join` sees its end. Left out: the objects of threads
//! (`thread_objects`), aborts (`abort_requests`), and the internal calls (`icall::threading`).

use crate::abort_requests::thread_state_error;
pub use crate::abort_requests::{abort, end_abort, end_abort_by_unload, request_abort_again, reset_abort};
use crate::domains::{self, Domain};
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::handles::RootedHandle;
use crate::host_profiler;
use crate::invoke::{self, Slot};
use crate::profile_events;
use crate::references::Obj;
use crate::suspension;
use crate::thread::{CurrentThread, Managed};
use crate::thread_objects::{
    APARTMENT_MTA, APARTMENT_UNKNOWN, adopt, current_bits, drop_released, link, own_state_bits, set_stopped,
    state_bits, stop,
};
pub use crate::thread_objects::{
    APARTMENT_STATE, INTERNAL_THREAD, INTERRUPT_WANTED, IS_POOL_THREAD, MANAGED_ID, PRIORITY, STACK_SIZE,
    START_ARGUMENT, clear_state, construct_internal, counted_thread_of, create_main, current_internal, current_object,
    internal_in, internal_of, object_here, set_main_apartment, set_state, state, state_of, thread_of, unlink,
};
use crate::waitables;
use saki_sync::handle_table::HandleKind;
use saki_thread::{ManagedThread, REQUEST_INTERRUPT, ThreadKind, root};
use std::sync::atomic::Ordering;

/// GC handles that carry objects to a new thread.
struct ThreadStartHandles {
    domain: &'static Domain,
    /// The Thread object, the delegate, its argument.
    handles: [RootedHandle; 3],
}

impl ThreadStartHandles {
    /// # Errors
    /// OutOfMemoryException when there are no handles left.
    fn allocate(t: CurrentThread, thread: Obj, delegate: Option<Obj>) -> Managed<ThreadStartHandles> {
        let handle = |object| RootedHandle::new(t, HandleKind::Normal, object);
        let argument = if START_ARGUMENT.is_there() { START_ARGUMENT.obj(thread) } else { None };
        let handles = [handle(Some(thread))?, handle(delegate)?, handle(argument)?];
        Ok(ThreadStartHandles { domain: domains::current(), handles })
    }

    /// The objects; the handles are free after this.
    fn take<'t>(self, t: CurrentThread<'t>) -> [Option<Obj<'t>>; 3] {
        self.handles.map(|handle| handle.target(t))
    }
}

/// Starts the thread of a Thread object, which calls `delegate` with the object's start argument; without a delegate,
/// in .NET, the object's own callback.
///
/// # Errors
/// ThreadStateException when the thread was started before, or there is no delegate; OutOfMemoryException when the
/// system has no room for a thread.
pub fn start<'t>(t: CurrentThread<'t>, thread: Obj<'t>, delegate: Option<Obj<'t>>) -> Managed<()> {
    if delegate.is_none() && INTERNAL_THREAD.is_there() {
        // A Thread object whose constructor has not run.
        return Err(thread_state_error(t, "The thread has nothing to run."));
    }
    let internal = internal_of(t, thread)?;
    let bits = own_state_bits(internal);
    // AcqRel: one starter wins; it sees what was set before.
    let claimed = bits.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| match bits {
        _ if bits & state::UNSTARTED == 0 || bits & state::ABORTED != 0 => None,
        _ => Some(bits & !state::UNSTARTED),
    });
    match claimed {
        Err(now) if now & state::UNSTARTED == 0 => {
            return Err(thread_state_error(t, "Thread has already been started."));
        }
        // Aborted before it started: it never runs.
        Err(_) => return Ok(()),
        Ok(_) => {}
    }
    // Set before the thread starts: a thread that sees this one alive sees its apartment state.
    let apartment = APARTMENT_STATE.get::<u8>(internal);
    if apartment == APARTMENT_UNKNOWN {
        APARTMENT_STATE.set(internal, APARTMENT_MTA);
    }
    let not_started = || {
        APARTMENT_STATE.set(internal, apartment);
        // Release: a later starter, after this failed start, sees the values set before.
        bits.fetch_or(state::UNSTARTED, Ordering::Release);
    };
    let start = match ThreadStartHandles::allocate(t, thread, delegate) {
        Ok(start) => start,
        Err(thrown) => {
            not_started();
            return Err(thrown);
        }
    };
    // Relaxed: `link` finds what the program changes after this, and changes the kind.
    let is_background = bits.load(Ordering::Relaxed) & state::BACKGROUND != 0;
    let kind = if is_background { ThreadKind::Background } else { ThreadKind::Foreground };
    let stack_bytes = usize::try_from(STACK_SIZE.get::<i32>(internal)).unwrap_or(0);
    drop_released();
    let spawned = saki_sched::spawn(kind, None, stack_bytes, move |managed| {
        // SAFETY: the thread just attached.
        run(unsafe { CurrentThread::from_abi(managed.abi()) }, start);
    });
    match spawned {
        Ok(spawned) => {
            link(internal, spawned.as_static());
            profile_events::thread_started(t, spawned.managed_id());
            Ok(())
        }
        Err(_) => {
            not_started();
            Err(exceptions::throw(t, ExceptionType::OutOfMemory, "The system cannot make another thread."))
        }
    }
}

/// The body of a started thread.
fn run(t: CurrentThread, start: ThreadStartHandles) {
    if start.domain.add_thread(t).is_err() {
        // The domain has been unloaded, with its handles: none of its objects may be touched.
        t.take_pending();
        return;
    }
    domains::switch(t, start.domain);
    let domain = start.domain;
    let [thread, delegate, argument] = start.take(t);
    let Some((thread, internal)) = thread.and_then(|thread| Some((thread, internal_in(thread)?))) else {
        saki_base::bug!("a thread that starts has no object");
    };
    adopt(t, thread, internal);
    crate::thread_names::adopt(t.managed(), internal);
    host_profiler::thread_started(t);
    suspension::stop_at_exit(t);
    let end = match delegate {
        Some(delegate) => call_start(t, delegate, argument),
        None => call_start_callback(t, thread),
    };
    if end.is_err() {
        end_by_exception(t);
    }
    finish(t);
    domain.forget_thread(t.id());
}

/// Calls the method by which a Thread object of .NET's runs its delegate.
fn call_start_callback(t: CurrentThread, thread: Obj) -> Managed<()> {
    match thread.ty().find_method_sig("StartCallback", &[]).to_managed(t)? {
        Some(start) => invoke::invoke(t, start, &[Slot::from_ref(thread)]).map(|_| ()),
        None => Err(exceptions::throw_default(t, ExceptionType::NullReference)),
    }
}

fn call_start(t: CurrentThread, delegate: Obj, argument: Option<Obj>) -> Managed<()> {
    let invoke = saki_il::synth::delegate::invoke_method(delegate.ty()).to_managed(t)?;
    let words = [Slot::from_ref(delegate), Slot::from_ref(argument)];
    let count = 1 + invoke.sig().to_managed(t)?.params.len().min(1);
    invoke::invoke(t, invoke, &words[..count])?;
    Ok(())
}

/// Handles an exception that reaches the end of a thread's stack: an abort ends the thread, any other exception the
/// process.
pub fn end_by_exception(t: CurrentThread) {
    end_by_exception_with(t, crate::unhandled::UNHANDLED_EXIT_CODE);
}

/// Handles an exception that reaches the end of a thread's stack: an abort, or the end of the thread's domain, ends the
/// thread, any other exception the process, with this exit code.
pub fn end_by_exception_with(t: CurrentThread, exit_code: i32) {
    // This also holds if a catch clause has replaced the abort, for example that
    // of `List.Sort`, which wraps it in InvalidOperationException.
    if end_abort_by_unload(t, domains::current()) {
        return;
    }
    let Some(exception) = t.pending().map(Obj::ty) else { saki_base::bug!("a thread ends by no exception") };
    if ExceptionType::AppDomainUnloaded.is(exception) {
        // The thread's domain is gone, so there is nothing to report.
        t.take_pending();
        return;
    }
    if ExceptionType::ThreadAbort.is(exception) {
        t.take_pending();
        crate::thread_aborts::forget_abort(t);
        return;
    }
    if crate::exit::is_over_for(t) {
        // The program has ended with another exit code, and objects that the thread used may be finalized.
        t.take_pending();
        crate::thread_aborts::forget_abort(t);
        return;
    }
    crate::unhandled::report_and_exit_with(t, exit_code);
}

/// To be called for a thread that has ended without returning to this module: native code ended it, or had attached it.
/// It is in a safe region.
pub fn ended_in_native_code(thread: &'static ManagedThread) {
    // SAFETY: the thread does not run any more, and the caller acts for it. No managed object is touched.
    let t = unsafe { CurrentThread::from_abi(thread.abi()) };
    host_profiler::thread_stops();
    waitables::abandon_mutexes(t.id());
    domains::forget_thread(t.id());
    if let Some(bits) = current_bits(t) {
        set_stopped(bits);
    }
    host_profiler::thread_stopped();
}

/// Marks the current thread as ended. It runs no managed code after this.
pub fn finish(t: CurrentThread) {
    host_profiler::thread_stops();
    waitables::abandon_mutexes(t.id());
    profile_events::thread_ends(t);
    if let Some(internal) = t.root(root::THREAD_OBJECT).and_then(internal_in) {
        stop(internal);
    }
    host_profiler::thread_stopped();
}

/// `Thread.BeginThreadAffinity`: the thread stays on its OS thread.
pub fn begin_affinity(t: CurrentThread) {
    let depth = crate::thread_data::of(t).affinity_depth();
    if depth.get() == 0 {
        t.managed().pin();
    }
    depth.set(depth.get() + 1);
}

/// `Thread.EndThreadAffinity`. A call without `begin_affinity` does nothing.
pub fn end_affinity(t: CurrentThread) {
    let depth = crate::thread_data::of(t).affinity_depth();
    if depth.get() == 1 {
        t.managed().unpin();
    }
    depth.set(depth.get().saturating_sub(1));
}

/// Ends every affinity that the program has left open on a thread of the thread pool.
pub fn forget_affinity(t: CurrentThread) {
    if crate::thread_data::of(t).affinity_depth().replace(0) != 0 {
        t.managed().unpin();
    }
}

/// `Thread.Interrupt`.
pub fn interrupt(internal: Obj) {
    match thread_of(internal) {
        Some(thread) => thread.request(REQUEST_INTERRUPT),
        None => INTERRUPT_WANTED.set(internal, 1u8),
    }
}

/// `Thread.Join`: whether the thread has ended. Negative `milliseconds` = for ever.
///
/// # Errors
/// ThreadStateException when the thread was not started; ThreadInterruptedException, ThreadAbortException.
pub fn join(t: CurrentThread, internal: Obj, milliseconds: i32) -> Managed<bool> {
    // Acquire: pairs with the starter's AcqRel: who sees the thread started sees what was done before the start.
    if state_bits(internal).load(Ordering::Acquire) & state::UNSTARTED != 0 {
        return Err(thread_state_error(t, "Thread has not been started."));
    }
    let thread = loop {
        match counted_thread_of(internal) {
            Some(thread) => break thread,
            // The thread has ended, and its object was released: the caller is a finalizer.
            None if own_state_bits(internal).load(Ordering::Acquire) & state::STOPPED != 0 => return Ok(true),
            // The starter is between claiming and linking for a few microseconds.
            None => t.managed().yield_now(),
        }
    };
    let timeout = crate::waits::timeout(milliseconds);
    match crate::waits::wait(t, timeout, |rest, interruptible| thread.join_with_end(rest, interruptible)) {
        crate::waits::WaitEnd::Woken => Ok(true),
        crate::waits::WaitEnd::TimedOut => Ok(false),
        crate::waits::WaitEnd::Interrupted => Err(crate::thread_aborts::throw_requested(t)),
    }
}
