//! System.Diagnostics.Tracing: event pipes and the events of the runtime.
//!
//! Saki has no event pipe: no session can be enabled, a provider has no handle, and what the class library writes to
//! the native runtime's event source goes nowhere. EventListener works all the same, since it is managed code.

use saki_os::random;
use saki_runtime::exec::thread_data;
use saki_runtime::{CurrentThread, InternalCall};

/// `EventPipeInternal.Enable`: 0 = no session.
fn enable(_t: CurrentThread, _: *const u16, _: i32, _: u32, _: *const (), _: u32) -> u64 {
    0
}

fn of_session(_t: CurrentThread, _: u64) {}

/// A provider that nothing enables; its handle only differs from 0, which would say that there is no memory.
fn create_provider(_t: CurrentThread, _: *const u16, _: *const (), _: *const ()) -> isize {
    1
}

fn get_provider(_t: CurrentThread, _: *const u16) -> isize {
    0
}

fn define_event(_t: CurrentThread, _: isize, _: u32, _: i64, _: u32, _: u32, _: *const (), _: u32) -> isize {
    0
}

fn of_provider(_t: CurrentThread, _: isize) {}

fn write_event(_t: CurrentThread, _: isize, _: *const (), _: u32, _: *const (), _: *const ()) {}

/// `EventActivityIdControl`: reads, sets or makes the thread's activity id. 0 = done, otherwise an error number of
/// Windows.
fn activity_id(t: CurrentThread, control: u32, id: *mut [u8; 16]) -> i32 {
    const ERROR_INVALID_PARAMETER: i32 = 87;
    let own = thread_data::of(t).activity_id();
    // SAFETY: managed code passes the address of a Guid, which it has pinned for the call.
    let given = unsafe { id.read_unaligned() };
    let answer = match control {
        control::GET => own.get(),
        control::SET => {
            own.set(given);
            given
        }
        control::CREATE => new_id(),
        control::GET_AND_SET => own.replace(given),
        control::CREATE_AND_SET => own.replace(new_id()),
        _ => return ERROR_INVALID_PARAMETER,
    };
    // SAFETY: the Guid that was read above.
    unsafe { id.write_unaligned(answer) };
    0
}

/// `EventPipe`'s control codes of activity ids.
mod control {
    pub(super) const GET: u32 = 1;
    pub(super) const SET: u32 = 2;
    pub(super) const CREATE: u32 = 3;
    pub(super) const GET_AND_SET: u32 = 4;
    pub(super) const CREATE_AND_SET: u32 = 5;
}

/// A random Guid, of version 4.
fn new_id() -> [u8; 16] {
    let mut id = [0_u8; 16];
    id[..8].copy_from_slice(&random::number().to_le_bytes());
    id[8..].copy_from_slice(&random::number().to_le_bytes());
    id[7] = id[7] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

fn session_info(_t: CurrentThread, _: u64, _: *mut ()) -> i32 {
    0
}

fn signal_session(_t: CurrentThread, _: u64) -> i32 {
    0
}

fn wait_for_session(_t: CurrentThread, _: u64, _: i32) -> i32 {
    0
}

fn lock_created(_t: CurrentThread, _: isize, _: isize, _: u16) {}
fn contention_start(_t: CurrentThread, _: u8, _: u16, _: isize, _: isize, _: u64) {}
fn contention_stop(_t: CurrentThread, _: u8, _: u16, _: f64) {}
fn worker_threads(_t: CurrentThread, _: u32, _: u32, _: u16) {}
fn min_max_threads(_t: CurrentThread, _: u16, _: u16, _: u16, _: u16, _: u16) {}
fn adjustment_sample(_t: CurrentThread, _: f64, _: u16) {}
fn adjustment(_t: CurrentThread, _: f64, _: u32, _: u32, _: u16) {}
#[expect(clippy::too_many_arguments, reason = "the signature of the event")]
fn adjustment_stats(
    _t: CurrentThread,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: u16,
    _: u16,
) {
}
fn io_packet(_t: CurrentThread, _: isize, _: isize, _: u16) {}
fn io_enqueue(_t: CurrentThread, _: isize, _: isize, _: i32, _: u16) {}
fn working_threads(_t: CurrentThread, _: u32, _: u16) {}
fn wait_start(_t: CurrentThread, _: u8, _: isize, _: u16) {}
fn wait_stop(_t: CurrentThread, _: u16) {}

/// A setting of the runtime for event sources: none is set.
fn config(_t: CurrentThread, _name: *const u16) -> *const u16 {
    std::ptr::null()
}

fn is_logging(_t: CurrentThread) -> i32 {
    0
}

fn log(_t: CurrentThread, _: i32, _: *const u16, _: *const u16, _: *const u16) {}

/// The internal calls of event pipes and event sources.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::EventPipeInternal_Enable", &enable),
    InternalCall::new("@net QCall::EventPipeInternal_Disable", &of_session),
    InternalCall::new("@net QCall::EventPipeInternal_CreateProvider", &create_provider),
    InternalCall::new("@net QCall::EventPipeInternal_GetProvider", &get_provider),
    InternalCall::new("@net QCall::EventPipeInternal_DefineEvent", &define_event),
    InternalCall::new("@net QCall::EventPipeInternal_DeleteProvider", &of_provider),
    InternalCall::new("@net QCall::EventPipeInternal_WriteEventData", &write_event),
    InternalCall::new("@net QCall::EventPipeInternal_EventActivityIdControl", &activity_id),
    InternalCall::new("@net QCall::EventPipeInternal_GetSessionInfo", &session_info),
    InternalCall::new("@net QCall::EventPipeInternal_GetNextEvent", &session_info),
    InternalCall::new("@net QCall::EventPipeInternal_SignalSession", &signal_session),
    InternalCall::new("@net QCall::EventPipeInternal_WaitForSessionSignal", &wait_for_session),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogContentionLockCreated", &lock_created),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogContentionStart", &contention_start),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogContentionStop", &contention_stop),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkerThreadStart", &worker_threads),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkerThreadStop", &worker_threads),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkerThreadWait", &worker_threads),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolMinMaxThreads", &min_max_threads),
    InternalCall::new(
        "@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkerThreadAdjustmentSample",
        &adjustment_sample,
    ),
    InternalCall::new(
        "@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkerThreadAdjustmentAdjustment",
        &adjustment,
    ),
    InternalCall::new(
        "@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkerThreadAdjustmentStats",
        &adjustment_stats,
    ),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolIODequeue", &io_packet),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolIOPack", &io_packet),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolIOEnqueue", &io_enqueue),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkingThreadCount", &working_threads),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogWaitHandleWaitStart", &wait_start),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogWaitHandleWaitStop", &wait_stop),
    InternalCall::new("@net QCall::EventSource_GetClrConfig", &config),
    InternalCall::new("@net QCall::IsEventSourceLoggingEnabled", &is_logging),
    InternalCall::new("@net QCall::LogEventSource", &log),
];
