//! `AppDomain.FirstChanceException` of .NET, and the number of exceptions thrown.
//!
//! An exception is announced once for each throw or rethrow, with the first frame of the throw in its trace. The trace
//! itself remembers it (`exception_trace::announce`), since an exception that passes native frames is dispatched again.
//!
//! Invariant: what handlers throw is announced as well, and ends there. Left out: Mono's class libraries, which have
//! the event but do not raise it; stack overflows, which end the process.

use crate::exception_trace;
use crate::exceptions::ToManaged;
use crate::fields::ManagedField;
use crate::invoke::{self, Slot};
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use saki_abi::ObjRef;
use saki_types::{LibraryType, universe};
use std::sync::atomic::{AtomicU32, Ordering};

/// A count that no decision depends on: Relaxed.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// The number of throws and rethrows that were announced, modulo 2^32.
pub fn count() -> u32 {
    COUNT.load(Ordering::Relaxed)
}

/// To be called when a frame has been added to the trace of an exception that is being thrown.
pub(super) fn frame_added(t: CurrentThread, exception: Obj) {
    static HANDLERS: ManagedField = ManagedField::new(LibraryType::AppContext, "FirstChanceException");
    if !exception_trace::announce(exception) {
        return;
    }
    COUNT.fetch_add(1, Ordering::Relaxed);
    if !HANDLERS.is_there() {
        return;
    }
    // SAFETY: the static's slot, scanned as a root, holds a delegate or null.
    let Some(handlers) = (unsafe { Obj::from_word(*HANDLERS.static_address::<ObjRef>()) }) else { return };
    if raise(t, handlers, exception).is_err() {
        t.take_pending();
    }
}

fn raise(t: CurrentThread, handlers: Obj, exception: Obj) -> Managed<()> {
    let corlib = universe().corlib();
    let event = corlib.find_type("System.Runtime.ExceptionServices", "FirstChanceExceptionEventArgs").to_managed(t)?;
    let Some(event) = event else { return Ok(()) };
    let arguments = Obj::new(t, event)?;
    if let Some(constructor) = event.find_method(".ctor", 1).to_managed(t)? {
        invoke::invoke(t, constructor, &[Slot::from_ref(arguments), Slot::from_ref(exception)])?;
    }
    let call = saki_il::synth::delegate::invoke_method(handlers.ty()).to_managed(t)?;
    let sender = None::<Obj>;
    invoke::invoke(t, call, &[Slot::from_ref(handlers), Slot::from_ref(sender), Slot::from_ref(arguments)]).map(|_| ())
}
