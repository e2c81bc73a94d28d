//! System.Threading.Monitor, over the runtime's object locks.

use crate::arguments::non_null;
use saki_runtime::exec::monitors;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place};

const INFINITE: i32 = -1;

fn enter(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    monitors::try_enter(t, object, INFINITE).map(|_| ())
}

fn exit(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    monitors::exit(t, object)
}

/// `taken` is set before anything can interrupt the caller.
fn try_enter_with_atomic_var(
    t: CurrentThread,
    object: Option<Obj>,
    milliseconds: i32,
    taken: Place<u8>,
) -> Managed<()> {
    let entered = monitors::try_enter(t, object, milliseconds)?;
    taken.set(u8::from(entered));
    Ok(())
}

fn wait(t: CurrentThread, object: Option<Obj>, milliseconds: i32) -> Managed<bool> {
    monitors::wait(t, object, milliseconds)
}

fn pulse(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    monitors::pulse(t, object, false)
}

fn pulse_all(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    monitors::pulse(t, object, true)
}

/// Whether the current thread holds the lock.
fn is_owner(t: CurrentThread, object: Option<Obj>) -> Managed<bool> {
    let object = non_null(t, object, "obj")?;
    Ok(monitors::owner(object) == t.id())
}

/// Whether any thread holds the lock.
fn is_held(t: CurrentThread, object: Option<Obj>) -> Managed<bool> {
    let object = non_null(t, object, "obj")?;
    Ok(monitors::owner(object) != 0)
}

/// The internal calls of `System.Threading.Monitor`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.Monitor::Enter", &enter),
    InternalCall::new("System.Threading.Monitor::Exit", &exit),
    InternalCall::new("System.Threading.Monitor::try_enter_with_atomic_var", &try_enter_with_atomic_var),
    InternalCall::new("System.Threading.Monitor::Monitor_wait", &wait),
    InternalCall::new("System.Threading.Monitor::Monitor_pulse", &pulse),
    InternalCall::new("System.Threading.Monitor::Monitor_pulse_all", &pulse_all),
    InternalCall::new("System.Threading.Monitor::Monitor_test_owner", &is_owner),
    InternalCall::new("System.Threading.Monitor::Monitor_test_synchronised", &is_held),
];
