//! Class constructors: run once, exact and beforefieldinit alike; failures are cached. ECMA-335 §II.10.5.3.
//!
//! | `init_done` | record in `RUNNING` | meaning |
//! |---|---|---|
//! | 0 | none | not run |
//! | 0 | running by thread T | T's own accesses go on; other threads wait, unless waiting would close a cycle of threads that wait for each other's types (then they go on, §II.10.5.3.3) |
//! | 0 | failed | every access throws the cached TypeInitializationException |
//! | 1 | none | done, or no constructor: compiled code tests this byte |

use crate::cells::RootCell;
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::fields::ManagedField;
pub use crate::initialised::is_initialised;
use crate::invoke::{self, Slot};
use crate::references::{Obj, Str};
use crate::thread::{CurrentThread, Managed};
use crate::thread_aborts;
use rustc_hash::FxHashMap;
use saki_base::locks::rank;
use saki_sync::word_locks::Mutex;
use saki_thread::{ManagedThread, WaitState, child_locks, root};
use saki_types::{Ty, collectible, universe};
use std::sync::atomic::Ordering;
use std::time::Duration;

enum State {
    Running { thread: u32 },
    Failed { exception: RootCell },
}

#[derive(Default)]
struct Running {
    types: FxHashMap<Ty, State>,
    /// Thread id → the type it waits for, and the thread, to be unparked.
    waiting: FxHashMap<u32, (Ty, &'static ManagedThread)>,
}

static RUNNING: Mutex<rank::RunningInitialisers, Option<Running>> = Mutex::new(None);

/// The time that a report waits for the table, with the world stopped. The table is held for some instructions; a report does without it
/// rather than let the program wait.
const REPORT_PATIENCE: Duration = Duration::from_millis(100);

/// `ensure` for compiled code: an abort that had to wait for the constructor is thrown after it.
///
/// # Errors
/// TypeInitializationException, each time once the constructor has failed; ThreadAbortException.
pub fn ensure_outside(t: CurrentThread, ty: Ty) -> Managed<()> {
    ensure(t, ty)?;
    thread_aborts::throw_if_aborted(t)
}

/// Runs the constructor of a module (`.cctor` outside of classes) before the first of its methods, and before a static field
/// of one of its classes is used. ECMA-335 §II.22.37.
///
/// # Errors
/// TypeInitializationException, each time once the constructor has failed.
pub fn ensure_module(t: CurrentThread, image: &'static saki_types::Image) -> Managed<()> {
    match image.module_type() {
        Some(module) if !is_initialised(module) => ensure(t, module),
        _ => Ok(()),
    }
}

/// Runs the class constructor if it has not run.
///
/// # Errors
/// TypeInitializationException, each time once the constructor has failed.
pub fn ensure(t: CurrentThread, ty: Ty) -> Managed<()> {
    if is_initialised(ty) {
        return Ok(());
    }
    if let Some(def) = ty.def()
        && def.image.module_type() != Some(ty)
    {
        ensure_module(t, def.image)?;
        if is_initialised(ty) {
            return Ok(());
        }
    }
    // A constructor that fails for lack of stack would fail its type for good.
    exceptions::ensure_stack(t, exceptions::CLASS_CONSTRUCTOR_STACK_BYTES)?;
    let me = t.id();
    loop {
        let mut guard = RUNNING.lock();
        let running = guard.get_or_insert_default();
        match running.types.get(&ty) {
            None => {
                // Acquire: as in `is_initialised`; another thread may have run the constructor since that test.
                if ty.runtime.init_done.load(Ordering::Acquire) == 1 {
                    return Ok(());
                }
                running.types.insert(ty, State::Running { thread: me });
                break;
            }
            Some(State::Failed { exception }) => {
                let exception = exception.obj(t);
                drop(guard);
                let Some(exception) = exception else { saki_base::bug!("a failed type without an exception") };
                // Each throw starts a new trace.
                crate::exception_trace::begin(t, exception);
                return Err(t.throw(exception));
            }
            Some(State::Running { thread }) => {
                if *thread == me || would_deadlock(running, *thread, me) {
                    return Ok(());
                }
                running.waiting.insert(me, (ty, t.managed()));
                drop(guard);
                let is_over = || {
                    let guard = RUNNING.lock();
                    !guard.as_ref().is_some_and(|r| matches!(r.types.get(&ty), Some(State::Running { .. })))
                };
                t.managed().wait_until(WaitState::Native, None, false, is_over);
                if let Some(running) = RUNNING.lock().as_mut() {
                    running.waiting.remove(&me);
                }
            }
        }
    }
    let outcome = run(t, ty);
    let aborted = match outcome {
        Err(_) => t.pending().filter(|exception| ExceptionType::ThreadAbort.is(exception.ty())),
        Ok(()) => None,
    };
    let failure = match outcome {
        Ok(()) => None,
        Err(thrown) => Some(wrap(t, ty, thrown)),
    };
    let mut guard = RUNNING.lock();
    let running = guard.get_or_insert_default();
    match failure {
        None => {
            running.types.remove(&ty);
            // Release: pairs with the Acquire in `is_initialised` and compiled code's test (x86 loads are ordered; the
            // arm64 lowering uses an acquire load).
            ty.runtime.init_done.store(1, Ordering::Release);
        }
        Some(exception) => {
            let exception = RootCell::beside(std::ptr::from_ref(ty).addr(), exception);
            running.types.insert(ty, State::Failed { exception });
        }
    }
    running.waiting.values().filter(|(other, _)| *other == ty).for_each(|(_, thread)| thread.unpark());
    drop(guard);
    match failure {
        None => Ok(()),
        // An abort is not wrapped: it continues, and only later accesses see that the constructor has failed.
        Some(exception) => Err(t.throw(aborted.unwrap_or(exception))),
    }
}

/// The type whose constructor the thread waits for, and the managed id of the thread that runs it. None also if the table is in use, which no
/// stopped thread is kept from leaving.
pub(crate) fn awaited_by(thread_id: u32) -> Option<(Ty, u32)> {
    let running = RUNNING.try_lock_for(REPORT_PATIENCE)?;
    let running = running.as_ref()?;
    let (ty, _) = running.waiting.get(&thread_id)?;
    match running.types.get(ty) {
        Some(State::Running { thread }) => Some((*ty, *thread)),
        _ => None,
    }
}

/// Before a fork: the table does not change.
pub(crate) fn hold() {
    child_locks::hold(&RUNNING);
}

/// In the parent.
pub(crate) fn release() {
    child_locks::release(&RUNNING);
}

/// In a forked child, which has the thread `me` at most: constructors that other threads of the parent were running count as not run, so
/// that the next access runs them. To wait for them would be to wait for ever.
pub(crate) fn begin_child(me: Option<u32>) {
    child_locks::revive(&RUNNING);
    if let Some(running) = RUNNING.lock().as_mut() {
        running.types.retain(|_, state| !matches!(state, State::Running { thread } if Some(*thread) != me));
        running.waiting.clear();
    }
}

/// Drops the failures of types of dead assemblies and domains.
pub(crate) fn forget_dead() {
    if let Some(running) = RUNNING.lock().as_mut() {
        running.types.retain(|ty, _| !collectible::is_dead(std::ptr::from_ref(*ty).addr()));
    }
}

/// Whether `owner` waits, directly or not, for a type that `me` is initialising.
fn would_deadlock(running: &Running, owner: u32, me: u32) -> bool {
    let mut at = owner;
    for _ in 0..running.waiting.len() + 1 {
        let Some((ty, _)) = running.waiting.get(&at) else { return false };
        match running.types.get(ty) {
            Some(State::Running { thread }) if *thread == me => return true,
            Some(State::Running { thread }) => at = *thread,
            _ => return false,
        }
    }
    false
}

fn run(t: CurrentThread, ty: Ty) -> Managed<()> {
    if let Some(cctor) = ty.class_constructor().to_managed(t)? {
        invoke::invoke(t, cctor, &[])?;
    }
    Ok(())
}

/// Namespace and own name, without enclosing types, as Mono reports it.
fn reported_name(ty: Ty) -> String {
    match ty.def() {
        Some(def) => saki_types::assembly::qualified(def.namespace, def.name),
        None => ty.full_name(),
    }
}

/// The TypeInitializationException around the exception that the constructor threw.
fn wrap<'t>(t: CurrentThread<'t>, ty: Ty, _thrown: exceptions::Thrown) -> Obj<'t> {
    static TYPE_NAME: ManagedField = ManagedField::of_exception(ExceptionType::TypeInitialization, "_typeName");
    let inner = t.take_exception();
    // An abort in flight would be thrown again by the exception's constructor.
    let abort = t.root(root::ABORT_EXCEPTION);
    t.set_root(root::ABORT_EXCEPTION, None::<Obj>);
    let made = (|| {
        let class = ExceptionType::TypeInitialization.ty();
        let exception = Obj::new(t, class)?;
        let name = Str::new(t, &reported_name(ty))?;
        let ctor = class.find_method_sig(".ctor", &[universe().string(), universe().exception()]).to_managed(t)?;
        match ctor {
            Some(ctor) => {
                invoke::invoke(t, ctor, &[Slot::from_ref(exception), Slot::from_ref(name), Slot::from_ref(inner)])?;
            }
            None => TYPE_NAME.set_ref(t, exception, name),
        }
        Ok(exception)
    })();
    t.set_root(root::ABORT_EXCEPTION, abort);
    made.unwrap_or_else(|_: exceptions::Thrown| t.take_exception())
}
