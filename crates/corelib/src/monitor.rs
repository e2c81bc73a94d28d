//! System.Threading.Monitor, over the runtime's object locks. 10 tries fast paths first, and asks for slow ones by
//! their answers.

use crate::arguments::ObjectPlace;
use crate::events::{self, WaitSource};
use saki_runtime::ExceptionType;
use saki_runtime::exec::monitors;
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place};

const INFINITE: i32 = -1;

fn enter(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    monitors::try_enter(t, object, INFINITE).map(|_| ())
}

/// `taken` is set before anything can interrupt the caller.
fn reliable_enter(t: CurrentThread, object: Option<Obj>, taken: Place<u8>) -> Managed<()> {
    let entered = monitors::try_enter(t, object, INFINITE)?;
    taken.set(u8::from(entered));
    Ok(())
}

fn check_timeout(t: CurrentThread, milliseconds: i32) -> Managed<()> {
    match milliseconds {
        ..-1 => Err(exceptions::throw_with_texts(t, ExceptionType::ArgumentOutOfRange, ["millisecondsTimeout"])),
        _ => Ok(()),
    }
}

fn reliable_enter_timeout(t: CurrentThread, object: Option<Obj>, milliseconds: i32, taken: Place<u8>) -> Managed<()> {
    check_timeout(t, milliseconds)?;
    let entered = monitors::try_enter(t, object, milliseconds)?;
    taken.set(u8::from(entered));
    Ok(())
}

fn exit(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    monitors::exit(t, object)
}

fn is_entered(t: CurrentThread, object: Option<Obj>) -> bool {
    object.is_some_and(|object| monitors::owner(object) == t.id())
}

fn wait(t: CurrentThread, object: ObjectPlace, milliseconds: i32) -> Managed<i32> {
    let wait = || monitors::wait(t, object.get(), milliseconds).map(i32::from);
    if !events::wants_waits() {
        return wait();
    }
    let address = object.get().map_or(0, |object| object.address().cast_signed());
    events::tell_wait(t, WaitSource::Monitor, address, wait)
}

fn pulse(t: CurrentThread, object: ObjectPlace) -> Managed<()> {
    monitors::pulse(t, object.get(), false)
}

fn pulse_all(t: CurrentThread, object: ObjectPlace) -> Managed<()> {
    monitors::pulse(t, object.get(), true)
}

fn contention_count(_t: CurrentThread) -> i64 {
    i64::try_from(monitors::contention_count()).unwrap_or(i64::MAX)
}

fn try_enter_fast(t: CurrentThread, object: Option<Obj>) -> Managed<bool> {
    monitors::try_enter(t, object, 0)
}

/// `EnterHelperResult`.
const CONTENTION: i32 = 0;
const ENTERED: i32 = 1;
const USE_SLOW_PATH: i32 = 2;

fn try_enter_fast_timeout(t: CurrentThread, object: Option<Obj>, milliseconds: i32) -> Managed<i32> {
    if milliseconds < INFINITE {
        return Ok(USE_SLOW_PATH);
    }
    Ok(match monitors::try_enter(t, object, 0)? {
        true => ENTERED,
        false if milliseconds == 0 => CONTENTION,
        false => USE_SLOW_PATH,
    })
}

fn enter_slow(t: CurrentThread, object: ObjectPlace) -> Managed<()> {
    enter(t, object.get())
}

fn try_enter_slow(t: CurrentThread, object: ObjectPlace, milliseconds: i32) -> Managed<i32> {
    check_timeout(t, milliseconds)?;
    monitors::try_enter(t, object.get(), milliseconds).map(i32::from)
}

/// `LeaveHelperAction`.
const NOTHING_LEFT: i32 = 0;
const ERROR: i32 = 4;

fn exit_fast(t: CurrentThread, object: Option<Obj>) -> Managed<i32> {
    if !is_entered(t, object) {
        return Ok(ERROR);
    }
    monitors::exit(t, object).map(|()| NOTHING_LEFT)
}

fn exit_slow(t: CurrentThread, object: ObjectPlace, _action: i32) -> Managed<()> {
    monitors::exit(t, object.get())
}

/// The internal calls of `System.Threading.Monitor`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.Threading.Monitor::Enter", &enter),
    InternalCall::new("@net9 System.Threading.Monitor::ReliableEnter", &reliable_enter),
    InternalCall::new("@net9 System.Threading.Monitor::ReliableEnterTimeout", &reliable_enter_timeout),
    InternalCall::new("@net9 System.Threading.Monitor::Exit", &exit),
    InternalCall::new("@net System.Threading.Monitor::IsEnteredNative", &is_entered),
    InternalCall::new("@net QCall::Monitor_Wait", &wait),
    InternalCall::new("@net QCall::Monitor_Pulse", &pulse),
    InternalCall::new("@net QCall::Monitor_PulseAll", &pulse_all),
    InternalCall::new("@net QCall::Monitor_GetLockContentionCount", &contention_count),
    InternalCall::new("@net10 System.Threading.Monitor::TryEnter_FastPath", &try_enter_fast),
    InternalCall::new("@net10 System.Threading.Monitor::TryEnter_FastPath_WithTimeout", &try_enter_fast_timeout),
    InternalCall::new("@net10 QCall::Monitor_Enter_Slowpath", &enter_slow),
    InternalCall::new("@net10 QCall::Monitor_TryEnter_Slowpath", &try_enter_slow),
    InternalCall::new("@net10 System.Threading.Monitor::Exit_FastPath", &exit_fast),
    InternalCall::new("@net10 QCall::Monitor_Exit_Slowpath", &exit_slow),
];
