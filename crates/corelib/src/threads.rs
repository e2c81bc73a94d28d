//! System.Threading.Thread, and the settings of the thread pool.
//!
//! A Thread object is its own InternalThread (`thread_objects`), and has no native handle: the methods that call the
//! machine with a ThreadHandle are replaced whole.

use crate::arguments::ObjectPlace;
use crate::environment::processor_count;
use crate::fields;
use saki_icall::threading::thread::sleep;
use saki_reflect::field_access::get_value;
use saki_runtime::ExceptionType;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::exec::{class_init, invoke};
use saki_runtime::object::exceptions;
use saki_runtime::vm::thread_names;
use saki_runtime::vm::threads::{self, IS_POOL_THREAD, MANAGED_ID, PRIORITY, STACK_SIZE, state};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, Obj, Place, Slot, Str, Thrown, ToManaged};
use saki_sched::ThreadMode;
use saki_types::{LibraryType, universe};

fn state_error(t: CurrentThread, message: &str) -> Thrown {
    exceptions::throw(t, ExceptionType::ThreadState, message)
}

/// The object that a method is called on, or that a handle names.
fn required<'t>(t: CurrentThread<'t>, thread: Option<Obj<'t>>) -> Managed<Obj<'t>> {
    thread.ok_or_else(|| exceptions::throw_null_reference(t))
}

fn initialize(t: CurrentThread, this: Option<Obj>) -> Managed<()> {
    threads::construct_internal(t, required(t, this)?).map(|_| ())
}

fn initialize_place(t: CurrentThread, this: ObjectPlace) -> Managed<()> {
    initialize(t, this.get())
}

fn current<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    threads::current_object(t)
}

fn current_place(t: CurrentThread, result: ObjectPlace) -> Managed<()> {
    result.set(t, threads::current_object(t)?);
    Ok(())
}

fn current_managed_id(t: CurrentThread) -> Managed<i32> {
    threads::current_object(t).map(|thread| MANAGED_ID.get(thread))
}

/// `Thread.StartCore`. Priorities have no effect.
fn start<'t>(t: CurrentThread<'t>, this: Option<Obj<'t>>) -> Managed<()> {
    let this = required(t, this)?;
    if threads::state_of(this) & state::UNSTARTED == 0 {
        return Err(state_error(t, "Thread is running or terminated; it cannot restart."));
    }
    let stack_bytes: Option<i32> = match fields::get_ref(t, this, "_startHelper")? {
        Some(helper) => fields::get(t, helper, "_maxStackSize")?,
        None => None,
    };
    STACK_SIZE.set(this, stack_bytes.unwrap_or(0));
    threads::start(t, this, None)
}

/// The system's number of the thread that runs the current one.
fn os_thread_id(_t: CurrentThread) -> u64 {
    // SAFETY: a call without arguments that cannot fail.
    u64::try_from(unsafe { libc::gettid() }).unwrap_or(0)
}

/// Iterations for which a thread spins before it lets others run: in green modes these may be all that it waits for.
const MAX_SPINS: i32 = 1000;

fn spin_wait(t: CurrentThread, iterations: i32) {
    let spins = if saki_sched::mode() == ThreadMode::Native { iterations.min(MAX_SPINS) } else { 1 };
    (0..spins).for_each(|_| std::hint::spin_loop());
    if iterations > MAX_SPINS {
        t.managed().yield_now();
    }
}

/// Of `SpinWait`: iterations that take some hundred nanoseconds.
fn max_spins_per_iteration(_t: CurrentThread) -> i32 {
    if saki_sched::mode() == ThreadMode::Native { 7 } else { 1 }
}

/// Whether another thread may have run, which nobody knows.
fn yield_thread(t: CurrentThread) -> i32 {
    t.managed().yield_now();
    1
}

/// The collector has released what the thread held (`thread_objects`).
fn finalize(t: CurrentThread, this: Option<Obj>) -> Managed<()> {
    let this = required(t, this)?;
    threads::unlink(this);
    thread_names::free(this);
    Ok(())
}

fn is_dead(thread: Obj) -> bool {
    threads::state_of(thread) & state::STOPPED != 0
}

fn is_alive(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    Ok(threads::state_of(required(t, this)?) & (state::STOPPED | state::UNSTARTED) == 0)
}

fn is_background(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    let this = required(t, this)?;
    if is_dead(this) {
        return Err(state_error(t, "Thread is dead; state cannot be accessed."));
    }
    Ok(threads::state_of(this) & state::BACKGROUND != 0)
}

fn set_is_background(t: CurrentThread, this: Option<Obj>, value: bool) -> Managed<()> {
    let this = required(t, this)?;
    if is_dead(this) {
        return Err(state_error(t, "Thread is dead; state cannot be accessed."));
    }
    if value {
        threads::set_state(this, state::BACKGROUND);
        return Ok(());
    }
    threads::clear_state(this, state::BACKGROUND);
    fields::set(t, this, "_mayNeedResetForThreadPool", 1u8)
}

fn is_pool_thread(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    let this = required(t, this)?;
    if is_dead(this) {
        return Err(state_error(t, "Thread is dead; state cannot be accessed."));
    }
    Ok(IS_POOL_THREAD.get::<u8>(this) != 0)
}

fn set_is_pool_thread(t: CurrentThread, this: Option<Obj>, value: bool) -> Managed<()> {
    IS_POOL_THREAD.set(required(t, this)?, u8::from(value));
    Ok(())
}

fn priority(t: CurrentThread, this: Option<Obj>) -> Managed<i32> {
    let this = required(t, this)?;
    if is_dead(this) {
        return Err(state_error(t, "Thread is dead; priority cannot be accessed."));
    }
    Ok(PRIORITY.get(this))
}

/// Stores the priority without effect: the system's default scheduling has no priorities among the threads of a
/// process.
fn set_priority(t: CurrentThread, this: Option<Obj>, priority: i32) -> Managed<()> {
    let this = required(t, this)?;
    if !(0..=4).contains(&priority) {
        return Err(exceptions::throw_with_texts(t, ExceptionType::ArgumentOutOfRange, ["value"]));
    }
    if is_dead(this) {
        return Err(state_error(t, "Thread is dead; priority cannot be accessed."));
    }
    PRIORITY.set(this, priority);
    Ok(())
}

fn set_priority_of(t: CurrentThread, thread: ObjectPlace, priority: i32) -> Managed<()> {
    set_priority(t, thread.get(), priority)
}

fn state_of(t: CurrentThread, this: Option<Obj>) -> Managed<i32> {
    Ok(threads::state_of(required(t, this)?).cast_signed())
}

fn interrupt(t: CurrentThread, this: Option<Obj>) -> Managed<()> {
    threads::interrupt(required(t, this)?);
    Ok(())
}

fn join(t: CurrentThread, this: Option<Obj>, milliseconds: i32) -> Managed<bool> {
    let this = required(t, this)?;
    if milliseconds < -1 {
        let parameter = "millisecondsTimeout";
        return Err(exceptions::throw_with_texts(t, ExceptionType::ArgumentOutOfRange, [parameter]));
    }
    threads::join(t, this, milliseconds)
}

fn join_place(t: CurrentThread, thread: ObjectPlace, milliseconds: i32) -> Managed<i32> {
    join(t, thread.get(), milliseconds).map(i32::from)
}

/// In .NET a program may set a name as often as it likes.
fn name_changed(t: CurrentThread, this: Option<Obj>, name: Option<Str>) -> Managed<()> {
    let name = name.map(Str::to_rust);
    thread_names::replace(required(t, this)?, name.as_deref(), false);
    Ok(())
}

/// 10: collections stop threads at safepoints of their own.
fn poll_gc(_t: CurrentThread) {}

fn catches_at_safe_point(_t: CurrentThread) -> bool {
    false
}

/// Settings of the thread pool that the runtime adds. None here: the host has made properties of them.
fn next_pool_setting(_t: CurrentThread, _: i32, value: Place<u32>, is_boolean: Place<u8>, name: Place<usize>) -> i32 {
    value.set(0);
    is_boolean.set(0);
    name.set(0);
    -1
}

/// 10: polls and fences that CoreCLR's compiler knows; their bodies call themselves.
fn full_fence(_t: CurrentThread) {
    // SeqCst: orders at least what `Volatile.ReadBarrier` and `WriteBarrier` promise.
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

/// `ThreadPool.SetMaxThreads`. Its body refuses a limit below the least number of workers, which on green threads is
/// the largest number unless somebody chose one (`hosting::thread_pool`). With a limit the pool gets .NET's least
/// number.
fn set_max_threads(t: CurrentThread, workers: i32, completions: i32) -> Managed<bool> {
    static INSTANCE: ManagedField = ManagedField::new(LibraryType::PortableThreadPool, "ThreadPoolInstance");
    static LEAST: ManagedField = ManagedField::new(LibraryType::PortableThreadPool, "_minThreads");
    let class = universe().library_type(LibraryType::PortableThreadPool).to_managed(t)?;
    class_init::ensure(t, class)?;
    let Some(pool) = get_value(t, INSTANCE.field(), None)? else { return Ok(false) };
    let is_without_limit = saki_sched::mode() != ThreadMode::Native && LEAST.get::<i16>(pool) == i16::MAX;
    if let (true, Ok(limit @ 1..)) = (is_without_limit, i16::try_from(workers)) {
        LEAST.set(pool, limit.min(i16::try_from(processor_count(t)).unwrap_or(i16::MAX)));
    }
    let method = class.find_method("SetMaxThreads", 2).to_managed(t)?;
    let Some(method) = method else { return Ok(false) };
    let words = [Slot::from_ref(pool), Slot::from_i32(workers), Slot::from_i32(completions)];
    Ok(invoke::invoke(t, method, &words)?.as_bool())
}

/// See the module header.
pub const LOOPS: &[LoopRow] = &[
    LoopRow::new("System.Threading.Thread::StartCore() System.Void", &start).correcting(),
    LoopRow::new(
        "static System.Threading.ThreadPool::SetMaxThreads(System.Int32,System.Int32) System.Boolean",
        &set_max_threads,
    )
    .correcting(),
    LoopRow::new("System.Threading.Thread::set_IsBackground(System.Boolean) System.Void", &set_is_background)
        .correcting(),
    LoopRow::new("System.Threading.Thread::Interrupt() System.Void", &interrupt).correcting(),
    LoopRow::new("System.Threading.Thread::ThreadNameChanged(System.String) System.Void", &name_changed).correcting(),
    LoopRow::new("static System.Threading.Thread::FastPollGC() System.Void", &poll_gc).correcting(),
    LoopRow::new("static System.Threading.Volatile::ReadBarrier() System.Void", &full_fence).correcting(),
    LoopRow::new("static System.Threading.Volatile::WriteBarrier() System.Void", &full_fence).correcting(),
    LoopRow::new("System.Threading.Thread::get_Priority() System.Threading.ThreadPriority", &priority).correcting(),
    LoopRow::new("System.Threading.Thread::get_IsBackground() System.Boolean", &is_background).correcting(),
    LoopRow::new("System.Threading.Thread::get_ThreadState() System.Threading.ThreadState", &state_of).correcting(),
];

/// The internal calls of `System.Threading.Thread` and `ThreadPool`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net System.Environment::get_CurrentManagedThreadId", &current_managed_id),
    InternalCall::new("@net9 System.Threading.Thread::Initialize", &initialize),
    InternalCall::new("@net10 QCall::ThreadNative_Initialize", &initialize_place),
    InternalCall::new("@net9 System.Threading.Thread::GetCurrentThreadNative", &current),
    InternalCall::new("@net10 QCall::ThreadNative_GetCurrentThread", &current_place),
    InternalCall::new("@net QCall::ThreadNative_Sleep", &sleep),
    InternalCall::new("@net QCall::ThreadNative_SpinWait", &spin_wait),
    InternalCall::new("@net QCall::ThreadNative_YieldThread", &yield_thread),
    InternalCall::new("@net QCall::ThreadNative_GetCurrentOSThreadId", &os_thread_id),
    InternalCall::new(
        "@net System.Threading.Thread::get_OptimalMaxSpinWaitsPerSpinIteration",
        &max_spins_per_iteration,
    ),
    InternalCall::new("@net System.Threading.Thread::InternalFinalize", &finalize),
    InternalCall::new("@net9 System.Threading.Thread::get_IsAlive", &is_alive),
    InternalCall::new("@net9 System.Threading.Thread::GetIsBackground", &is_background),
    InternalCall::new("@net9 System.Threading.Thread::get_IsThreadPoolThread", &is_pool_thread),
    InternalCall::new("@net9 System.Threading.Thread::set_IsThreadPoolThread", &set_is_pool_thread),
    InternalCall::new("@net9 System.Threading.Thread::GetPriorityNative", &priority),
    InternalCall::new("@net9 System.Threading.Thread::SetPriorityNative", &set_priority),
    InternalCall::new("@net10 QCall::ThreadNative_SetPriority", &set_priority_of),
    InternalCall::new("@net9 System.Threading.Thread::GetThreadStateNative", &state_of),
    InternalCall::new("@net9 System.Threading.Thread::Join", &join),
    InternalCall::new("@net10 QCall::ThreadNative_Join", &join_place),
    InternalCall::new("@net10 QCall::ThreadNative_PollGC", &poll_gc),
    InternalCall::new("@net10 System.Threading.Thread::CatchAtSafePoint", &catches_at_safe_point),
    InternalCall::new("@net9 System.Threading.ThreadPool::GetNextConfigUInt32Value", &next_pool_setting),
];
