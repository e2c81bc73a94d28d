//! System.Threading.Thread and InternalThread, over `saki_runtime::vm::threads`.
//!
//! Left out: the volatile accesses and barriers (`volatile`).

use crate::arguments::{non_null, non_null_this, units_at};
use crate::diagnostics::stack_trace::frame_array;
use saki_abi::ObjRef;
use saki_reflect::cross_domain;
use saki_runtime::ExceptionType;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::exec::thread_aborts;
use saki_runtime::exec::thread_statics;
use saki_runtime::exec::waits::{self, WaitEnd};
use saki_runtime::object::exceptions;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::threads;
use saki_runtime::vm::{domains, suspension, thread_dump, thread_names};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, RefPlace, Str, Word};
use saki_thread::root;
use saki_types::{LibraryType, universe};

static CURRENT_THREAD: ManagedField = ManagedField::new(LibraryType::Thread, "current_thread");

fn construct_internal_thread(t: CurrentThread, thread: Option<Obj>) -> Managed<()> {
    threads::construct_internal(t, non_null_this(t, thread)?).map(|_| ())
}

fn thread_internal(t: CurrentThread, thread: Option<Obj>, start: Option<Obj>) -> Managed<bool> {
    threads::start(t, non_null_this(t, thread)?, start).map(|()| true)
}

fn free_internal(t: CurrentThread, internal: Option<Obj>) -> Managed<()> {
    let internal = non_null_this(t, internal)?;
    threads::unlink(internal);
    thread_names::free(internal);
    Ok(())
}

/// Stores the current thread's object in the [ThreadStatic] that `CurrentThread` reads first.
fn get_current_thread<'t>(t: CurrentThread<'t>) -> Managed<Option<Obj<'t>>> {
    let thread = threads::current_object(t)?;
    if let Ok(address) = thread_statics::thread_static_address(t, CURRENT_THREAD.field()) {
        // SAFETY: the field's slot in this thread's block, which is a root: no barrier.
        unsafe { address.cast::<ObjRef>().write(thread.word()) };
    }
    Ok(Some(thread))
}

/// Stores the current thread's object into a variable.
fn store_current_thread(t: CurrentThread, thread: RefPlace) -> Managed<()> {
    let current = get_current_thread(t)?;
    thread.set(t, current);
    Ok(())
}

/// `Thread.Sleep`.
pub fn sleep(t: CurrentThread, milliseconds: i32) -> Managed<()> {
    let thread = t.managed();
    if milliseconds == 0 && thread.pending_requests() == 0 {
        thread.yield_now();
        return Ok(());
    }
    match waits::wait(t, waits::timeout(milliseconds), |rest, interruptible| thread.sleep(rest, interruptible)) {
        WaitEnd::Interrupted => Err(thread_aborts::throw_requested(t)),
        WaitEnd::Woken | WaitEnd::TimedOut => Ok(()),
    }
}

fn yield_internal(t: CurrentThread) -> bool {
    t.managed().yield_now();
    true
}

fn join(t: CurrentThread, thread: Option<Obj>, milliseconds: i32) -> Managed<bool> {
    let internal = threads::internal_of(t, non_null_this(t, thread)?)?;
    threads::join(t, internal, milliseconds)
}

fn interrupt(t: CurrentThread, thread: Option<Obj>) -> Managed<()> {
    threads::interrupt(threads::internal_of(t, non_null_this(t, thread)?)?);
    Ok(())
}

fn suspend(t: CurrentThread, thread: Option<Obj>) -> Managed<()> {
    suspension::suspend(t, threads::internal_of(t, non_null_this(t, thread)?)?)
}

fn resume(t: CurrentThread, thread: Option<Obj>) -> Managed<()> {
    suspension::resume(t, threads::internal_of(t, non_null_this(t, thread)?)?)
}

fn abort(t: CurrentThread, internal: Option<Obj>, state_object: Option<Obj>) -> Managed<()> {
    let internal = non_null(t, internal, "thread")?;
    threads::abort(t, internal, state_object)
}

fn reset_abort(t: CurrentThread, _thread: Option<Obj>) -> Managed<()> {
    threads::reset_abort(t)
}

fn get_abort_exception_state<'t>(t: CurrentThread<'t>, thread: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    let internal = threads::internal_of(t, non_null_this(t, thread)?)?;
    let managed = threads::thread_of(internal);
    let state = managed.and_then(|managed| Obj::in_root(t, &managed.roots[root::ABORT_STATE]));
    let Some(foreign) = state.filter(|state| *state.ty().universe() != *universe()) else { return Ok(state) };
    cross_domain::represent(t, foreign).or_else(|_| {
        let cause = t.take_pending();
        let message = "Thread.ExceptionState cannot access an ExceptionState from a different AppDomain";
        let exception = exceptions::new_exception(t, ExceptionType::InvalidOperation, Some(message))?;
        exceptions::INNER_EXCEPTION.set_ref(t, exception, cause);
        Err(t.throw(exception))
    })
}

fn get_state(t: CurrentThread, internal: Option<Obj>) -> Managed<u32> {
    Ok(threads::state_of(non_null_this(t, internal)?))
}

fn set_state(t: CurrentThread, internal: Option<Obj>, bits: u32) -> Managed<()> {
    threads::set_state(non_null_this(t, internal)?, bits);
    Ok(())
}

fn clear_state(t: CurrentThread, internal: Option<Obj>, bits: u32) -> Managed<()> {
    threads::clear_state(non_null_this(t, internal)?, bits);
    Ok(())
}

fn get_priority(t: CurrentThread, thread: Option<Obj>) -> Managed<i32> {
    Ok(threads::PRIORITY.get(threads::internal_of(t, non_null_this(t, thread)?)?))
}

/// Stores the priority without effect: the system's default scheduling has no priorities among the threads of a
/// process.
fn set_priority(t: CurrentThread, thread: Option<Obj>, priority: i32) -> Managed<()> {
    threads::PRIORITY.set(threads::internal_of(t, non_null_this(t, thread)?)?, priority);
    Ok(())
}

fn get_name<'t>(t: CurrentThread<'t>, internal: Option<Obj>) -> Managed<Option<Str<'t>>> {
    let internal = non_null(t, internal, "thread")?;
    crate::arguments::optional_string(t, thread_names::name_of(internal).as_deref())
}

fn set_name(t: CurrentThread, internal: Option<Obj>, name: *const u16, length: i32) -> Managed<()> {
    let internal = non_null(t, internal, "thread")?;
    // SAFETY: the managed caller pins the string for the call.
    let name = (!name.is_null()).then(|| String::from_utf16_lossy(unsafe { units_at(name, length) }));
    if thread_names::replace(internal, name.as_deref(), true) {
        return Ok(());
    }
    Err(exceptions::throw(t, ExceptionType::InvalidOperation, "Thread.Name can only be set once."))
}

/// There is one domain, so both directions give the array itself.
fn byte_array_to_domain<'t>(_t: CurrentThread<'t>, array: Option<Array<'t>>) -> Option<Array<'t>> {
    array
}

/// The identity of the current domain.
fn get_domain_id(_t: CurrentThread) -> i32 {
    domains::current().id
}

/// The largest stack a program may ask for, in bytes.
fn system_max_stack_size(_t: CurrentThread) -> i32 {
    // SAFETY: zeroed, then filled by getrlimit.
    let mut limit: libc::rlimit = unsafe { std::mem::zeroed() };
    // SAFETY: room for the limit.
    if unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) } != 0 {
        return i32::MAX;
    }
    i32::try_from(limit.rlim_max).unwrap_or(i32::MAX)
}

/// Keeps the thread on its OS thread from now on.
fn begin_affinity(t: CurrentThread) {
    threads::begin_affinity(t);
}

/// Undoes the last `begin_affinity`.
fn end_affinity(t: CurrentThread) {
    threads::end_affinity(t);
}

/// The Thread objects of the threads that run in this domain, and what each was doing: a StackFrame[].
fn get_stack_traces(t: CurrentThread, threads: RefPlace, traces: RefPlace) -> Managed<()> {
    threads::current_object(t)?;
    thread_dump::with_stacks(|stacks| {
        let thread_ty = universe().library_type(LibraryType::Thread).to_managed(t)?;
        let all = Array::new(t, thread_ty, stacks.len())?;
        let mut shown = Vec::new();
        for stack in stacks {
            let thread = threads::object_here(t, stack.thread.as_static());
            if thread.is_some() {
                all.set(t, shown.len(), thread);
                shown.push(stack);
            }
        }
        let thread_array = Array::new(t, thread_ty, shown.len())?;
        let trace_array = Array::new(t, universe().object(), shown.len())?;
        for (index, stack) in shown.into_iter().enumerate() {
            thread_array.set(t, index, all.get(index));
            trace_array.set(t, index, Some(*frame_array(t, &stack.frames, 0, true)?));
        }
        threads.set(t, thread_array);
        traces.set(t, trace_array);
        Ok(())
    })
}

/// The bodies in Mono's class library are empty.
pub(crate) const CORRECTIONS: &[LoopRow] = &[
    LoopRow::new("static System.Threading.Thread::BeginThreadAffinity() System.Void", &begin_affinity).correcting(),
    LoopRow::new("static System.Threading.Thread::EndThreadAffinity() System.Void", &end_affinity).correcting(),
];

/// The internal calls of `System.Threading.InternalThread` and `System.Threading.Thread`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.InternalThread::Thread_free_internal", &free_internal),
    InternalCall::new("System.Threading.Thread::Abort_internal", &abort),
    InternalCall::new("System.Threading.Thread::ByteArrayToCurrentDomain", &byte_array_to_domain),
    InternalCall::new("System.Threading.Thread::ByteArrayToRootDomain", &byte_array_to_domain),
    InternalCall::new("System.Threading.Thread::ClrState", &clear_state),
    InternalCall::new("System.Threading.Thread::ConstructInternalThread", &construct_internal_thread),
    InternalCall::new("System.Threading.Thread::GetAbortExceptionState", &get_abort_exception_state),
    InternalCall::new("@6.8 System.Threading.Thread::GetCurrentThread", &get_current_thread),
    InternalCall::new("@6.12,6.14 System.Threading.Thread::GetCurrentThread_icall", &store_current_thread),
    InternalCall::new("System.Threading.Thread::GetDomainID", &get_domain_id),
    InternalCall::new("System.Threading.Thread::GetName_internal", &get_name),
    InternalCall::new("System.Threading.Thread::GetPriorityNative", &get_priority),
    InternalCall::new("System.Threading.Thread::GetStackTraces", &get_stack_traces),
    InternalCall::new("System.Threading.Thread::GetState", &get_state),
    InternalCall::new("System.Threading.Thread::InterruptInternal", &interrupt),
    InternalCall::new("System.Threading.Thread::JoinInternal", &join),
    InternalCall::new("System.Threading.Thread::ResetAbortNative", &reset_abort),
    InternalCall::new("System.Threading.Thread::ResumeInternal", &resume),
    InternalCall::new("System.Threading.Thread::SetName_icall", &set_name),
    InternalCall::new("System.Threading.Thread::SetPriorityNative", &set_priority),
    InternalCall::new("System.Threading.Thread::SetState", &set_state),
    InternalCall::new("System.Threading.Thread::SleepInternal", &sleep),
    InternalCall::new("System.Threading.Thread::SuspendInternal", &suspend),
    InternalCall::new("System.Threading.Thread::SystemMaxStackStize", &system_max_stack_size),
    InternalCall::new("System.Threading.Thread::Thread_internal", &thread_internal),
    InternalCall::new("System.Threading.Thread::YieldInternal", &yield_internal),
];
