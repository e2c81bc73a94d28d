//! `AppDomain.FirstChanceException` of .NET, and the number of exceptions thrown.
//!
//! An exception is announced once for each throw or rethrow, with the first frame of the throw in its trace. The trace
//! itself remembers it (`exception_trace::announce`), since an exception that passes native frames is dispatched again.
//!
//! Invariant: what handlers throw is announced as well, and ends there. Left out: Mono's class libraries, which have
//! the event but do not raise it; stack overflows, which end the process.

use crate::exception_trace;
use crate::exceptions::{self, ToManaged};
use crate::fields::ManagedField;
use crate::invoke::{self, Slot};
use crate::references::Obj;
use crate::runtime_events::{self, EventKeyword, EventOrigin, EventPayload, RuntimeEventLevel, RuntimeEventType};
use crate::thread::{CurrentThread, Managed};
use crate::thread_data;
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
    if EXCEPTION_THROWN.is_wanted() {
        tell(t, exception);
    }
    if !HANDLERS.is_there() {
        return;
    }
    // SAFETY: the static's slot, scanned as a root, holds a delegate or null.
    let Some(handlers) = (unsafe { Obj::from_word(*HANDLERS.static_address::<ObjRef>()) }) else { return };
    if raise(t, handlers, exception).is_err() {
        t.take_pending();
    }
}

const EXCEPTION_THROWN: RuntimeEventType =
    RuntimeEventType { id: 80, level: RuntimeEventLevel::Error, keyword: EventKeyword::EXCEPTION };

/// Tells EventListener of an exception. Its flags do not say whether it is a rethrow: its trace does not.
#[cold]
fn tell(t: CurrentThread, exception: Obj) {
    const HAS_INNER: u16 = 1;
    const IS_CLS_COMPLIANT: u16 = 16;
    const UNKNOWN_ADDRESS: u64 = 0;
    let inner = if exceptions::INNER_EXCEPTION.obj(exception).is_some() { HAS_INNER } else { 0 };
    let payload = EventPayload::default().with_text(without_enclosing(&exception.ty().full_name()).encode_utf16());
    let payload = match exceptions::given_message(exception) {
        Some(message) => payload.with_text(message.units().iter().copied()),
        None => payload.with_text("NULL".encode_utf16()),
    };
    let payload = payload.with(UNKNOWN_ADDRESS.to_le_bytes()).with(exceptions::hresult(exception).to_le_bytes());
    let payload = payload.with((inner | IS_CLS_COMPLIANT).to_le_bytes()).with_instance();
    runtime_events::post(EXCEPTION_THROWN, EventOrigin::here(thread_data::of(t).activity_id().get()), payload);
}

/// A type's name without the types in which it and its arguments are nested, as the event has it.
fn without_enclosing(full_name: &str) -> String {
    let mut name = String::with_capacity(full_name.len());
    let mut segment_start = 0;
    for character in full_name.chars() {
        match character {
            '+' => name.truncate(segment_start),
            '[' | ']' | ',' => {
                name.push(character);
                segment_start = name.len();
            }
            _ => name.push(character),
        }
    }
    name
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
