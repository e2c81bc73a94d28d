//! System.Diagnostics.Tracing: event pipes and the events of the runtime.
//!
//! Saki has no event pipe that writes files or streams, and programs' own event sources reach EventListener by managed
//! code alone. What is here is the way of the runtime's events to EventListener: the class library opens a session
//! (`saki_runtime::object::runtime_events`), and a thread of its own takes the events. Events of the thread pool, of
//! System.Threading.Lock and of wait handles come from the class library. Of other sources,
//! the values of instruments (`metrics`) and of counters (`event_counters`) are taken. Left out: other events.

use crate::event_counters;
use crate::metrics::{self, Callback, EventData};
use saki_icall::threading::wait_handle::wait;
use saki_os::clock::{self, Moment};
use saki_os::random;
use saki_runtime::exec::thread_data;
use saki_runtime::exec::waitables::{self, Kind};
use saki_runtime::object::runtime_events::{self, EventKeyword, EventOrigin, EventPayload, RuntimeEventType};
use saki_runtime::{CurrentThread, InternalCall, Managed};
use std::slice;
use std::time::Duration;

/// The provider of the runtime's events.
const RUNTIME_PROVIDER: &str = "Microsoft-Windows-DotNETRuntime";
/// Handles of providers: of the runtime's, and of all others, which nothing enables. They differ from 0, which would
/// say that there is no memory.
const RUNTIME_HANDLE: isize = 2;
const OTHER_HANDLE: isize = 1;
/// The handle of the provider of instruments' values, and the bit that its events' handles have beside their numbers.
const METRICS_HANDLE: isize = 3;
const METRICS_EVENT: isize = 1 << 32;
/// The bits that handles of providers and events of sources with counters have beside their numbers.
const COUNTERS_PROVIDER: isize = 1 << 33;
const COUNTERS_EVENT: isize = 1 << 34;
/// How long a reader waits before it looks for events again: who posts one does not wake it, since that may be the
/// collector.
const LOOK_INTERVAL_MS: i32 = 50;
/// How long the opening of a session waits for readers that are late. In most cases they come within a millisecond; the
/// limit is for one that waits for a reader before it, which waits for a lock that the opening thread has.
const LATE_READER_LIMIT: Duration = Duration::from_secs(1);

/// `EventPipeProviderConfigurationNative`.
#[repr(C)]
struct ProviderConfiguration {
    name: *const u16,
    keywords: u64,
    level: u32,
    filter: *const u16,
}

/// `EventPipeSessionInfo`.
#[repr(C)]
struct SessionInfo {
    /// In units of 100 ns since 1601.
    start_file_time: i64,
    start_time_stamp: i64,
    time_stamps_per_second: i64,
}

/// `EventPipeEventInstanceData`.
#[repr(C)]
struct InstanceData {
    provider: isize,
    event: u32,
    native_thread: u32,
    time_stamp: i64,
    activity: [u8; 16],
    child_activity: [u8; 16],
    payload: *const u8,
    payload_len: u32,
}

/// `EventPipeInternal.Enable`: a session for the runtime's provider without a file; 0 = none.
///
/// The class library ends a session and opens the next one when a listener is added. A reader learns that it shall end
/// by an object that its thread takes from a field when it begins, and the opening thread puts another one there after
/// this call. A thread that begins later would read the old session for ever, and the new session's reader would wait
/// for it. So the opening waits until each such reader has begun or is gone.
fn enable(
    t: CurrentThread,
    file: *const u16,
    _format: i32,
    megabytes: u32,
    providers: *const ProviderConfiguration,
    count: u32,
) -> u64 {
    if !file.is_null() || providers.is_null() {
        return 0;
    }
    // SAFETY: managed code passes an array of that many configurations, pinned for the call.
    let providers = unsafe { slice::from_raw_parts(providers, count as usize) };
    let wanted = providers.iter().find(|provider| is_runtime(provider.name));
    if wanted.is_some() {
        await_late_readers(t);
    }
    wanted.map_or(0, |wanted| {
        let signal = waitables::create_unnamed(Kind::Event { is_manual: false, is_set: false });
        runtime_events::open(wanted.keywords, wanted.level, (megabytes as usize) << 20, signal)
    })
}

fn await_late_readers(t: CurrentThread) {
    const PAUSE: Duration = Duration::from_micros(200);
    let began = Moment::now();
    while runtime_events::reader_is_late() && began.elapsed() < LATE_READER_LIMIT {
        t.managed().sleep(Some(PAUSE), false);
    }
}

fn is_runtime(name: *const u16) -> bool {
    !name.is_null() && crate::text::text_at(name) == RUNTIME_PROVIDER
}

fn disable(_t: CurrentThread, session: u64) {
    if let Some(signal) = runtime_events::close(session) {
        waitables::close(signal);
    }
}

fn create_provider(t: CurrentThread, name: *const u16, callback: *const (), context: *const ()) -> isize {
    if is_runtime(name) {
        return RUNTIME_HANDLE;
    }
    // SAFETY: managed code passes null or an UnmanagedCallersOnly method with this signature.
    let callback = unsafe { std::mem::transmute::<*const (), Option<Callback>>(callback) };
    let Some(callback) = callback.filter(|_| !name.is_null()) else { return OTHER_HANDLE };
    let name = crate::text::text_at(name);
    if name == metrics::PROVIDER {
        metrics::provider_created(t, callback, context.addr());
        return METRICS_HANDLE;
    }
    if !event_counters::is_shown(&name) {
        return OTHER_HANDLE;
    }
    COUNTERS_PROVIDER | event_counters::provider_created(t, name, callback, context.addr()).cast_signed()
}

fn get_provider(_t: CurrentThread, name: *const u16) -> isize {
    if is_runtime(name) { RUNTIME_HANDLE } else { 0 }
}

/// The class library writes only events whose handles are not 0.
fn define_event(
    _t: CurrentThread,
    provider: isize,
    id: u32,
    _keywords: i64,
    _version: u32,
    _level: u32,
    description: *const u8,
    len: u32,
) -> isize {
    if provider == METRICS_HANDLE {
        return METRICS_EVENT | id as isize;
    }
    if provider & COUNTERS_PROVIDER == 0 || description.is_null() {
        return 0;
    }
    // SAFETY: managed code passes the address and length of an array that it has pinned for the call.
    let description = unsafe { slice::from_raw_parts(description, len as usize) };
    let event = event_counters::event_defined((provider & !COUNTERS_PROVIDER).cast_unsigned(), description);
    event.map_or(0, |event| COUNTERS_EVENT | event.cast_signed())
}

fn delete_provider(t: CurrentThread, provider: isize) {
    if provider == METRICS_HANDLE {
        metrics::provider_deleted();
    } else if provider & COUNTERS_PROVIDER != 0 {
        event_counters::provider_deleted(t, (provider & !COUNTERS_PROVIDER).cast_unsigned());
    }
}

fn write_event(_t: CurrentThread, event: isize, data: *const EventData, count: u32, _: *const (), _: *const ()) {
    if event & METRICS_EVENT != 0 {
        // SAFETY: managed code passes an array of so many fields, pinned for the call.
        unsafe { metrics::event_written(event as u32, data, count) };
    } else if event & COUNTERS_EVENT != 0 {
        // SAFETY: managed code passes an array of so many fields, pinned for the call.
        unsafe { event_counters::event_written((event & !COUNTERS_EVENT).cast_unsigned(), data, count) };
    }
}

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

/// Time stamps are nanoseconds of the monotonic clock.
fn session_info(_t: CurrentThread, session: u64, info: *mut SessionInfo) -> i32 {
    /// From 1601 to 1970, in units of 100 ns.
    const EPOCH: i64 = 116_444_736_000_000_000;
    if runtime_events::signal_of(session).is_none() {
        return 0;
    }
    let start_file_time = EPOCH + (clock::realtime_ns() / 100).cast_signed();
    let start_time_stamp = clock::monotonic_ns().cast_signed();
    // SAFETY: managed code passes the address of a local.
    unsafe { info.write(SessionInfo { start_file_time, start_time_stamp, time_stamps_per_second: 1_000_000_000 }) };
    1
}

/// The next event. Its payload is valid until the session is asked for another one or closed.
fn next_event(_t: CurrentThread, session: u64, data: *mut InstanceData) -> i32 {
    let answer = runtime_events::next(session, |event| InstanceData {
        provider: RUNTIME_HANDLE,
        event: event.id,
        native_thread: event.origin.native_thread,
        time_stamp: event.origin.time_ns.cast_signed(),
        activity: event.origin.activity,
        child_activity: [0; 16],
        payload: event.payload.as_ptr(),
        payload_len: event.payload.len() as u32,
    });
    let Some(answer) = answer else { return 0 };
    // SAFETY: managed code passes the address of a local.
    unsafe { data.write(answer) };
    1
}

/// `EventPipeInternal.SignalSession`, by which the class library ends the reader's wait: that alone is its use.
fn signal_session(_t: CurrentThread, session: u64) -> i32 {
    i32::from(runtime_events::begin_end(session).is_some_and(|signal| waitables::set_event(signal, true)))
}

fn wait_for_session(t: CurrentThread, session: u64, milliseconds: i32) -> Managed<i32> {
    let Some(signal) = runtime_events::signal_of(session) else { return Ok(0) };
    let limit = if milliseconds < 0 { LOOK_INTERVAL_MS } else { milliseconds.min(LOOK_INTERVAL_MS) };
    wait(t, &[signal], false, limit, None)?;
    Ok(1)
}

/// Posts an event of the current thread's, if it is wanted.
fn post(t: CurrentThread, kind: RuntimeEventType, payload: impl FnOnce(EventPayload) -> EventPayload) {
    if kind.is_wanted() {
        let origin = EventOrigin::here(thread_data::of(t).activity_id().get());
        runtime_events::post(kind, origin, payload(EventPayload::default()));
    }
}

fn lock_created(t: CurrentThread, lock: isize, object: isize, instance: u16) {
    post(t, RuntimeEventType::new(90, EventKeyword::CONTENTION), |payload| {
        payload.with(lock.to_le_bytes()).with(object.to_le_bytes()).with(instance.to_le_bytes())
    });
}

fn contention_start(t: CurrentThread, flags: u8, instance: u16, lock: isize, object: isize, owner: u64) {
    post(t, RuntimeEventType::new(81, EventKeyword::CONTENTION), |payload| {
        let payload = payload.with([flags]).with(instance.to_le_bytes()).with(lock.to_le_bytes());
        payload.with(object.to_le_bytes()).with(owner.to_le_bytes())
    });
}

fn contention_stop(t: CurrentThread, flags: u8, instance: u16, duration_ns: f64) {
    post(t, RuntimeEventType::new(91, EventKeyword::CONTENTION), |payload| {
        payload.with([flags]).with(instance.to_le_bytes()).with(duration_ns.to_le_bytes())
    });
}

fn worker_threads(t: CurrentThread, id: u32, active: u32, retired: u32, instance: u16) {
    post(t, RuntimeEventType::new(id, EventKeyword::THREADING), |payload| {
        payload.with(active.to_le_bytes()).with(retired.to_le_bytes()).with(instance.to_le_bytes())
    });
}

fn worker_start(t: CurrentThread, active: u32, retired: u32, instance: u16) {
    worker_threads(t, 50, active, retired, instance);
}

fn worker_stop(t: CurrentThread, active: u32, retired: u32, instance: u16) {
    worker_threads(t, 51, active, retired, instance);
}

fn worker_wait(t: CurrentThread, active: u32, retired: u32, instance: u16) {
    worker_threads(t, 57, active, retired, instance);
}

fn min_max_threads(t: CurrentThread, min: u16, max: u16, min_io: u16, max_io: u16, instance: u16) {
    post(t, RuntimeEventType::new(59, EventKeyword::THREADING), |payload| {
        [min, max, min_io, max_io, instance].iter().fold(payload, |payload, count| payload.with(count.to_le_bytes()))
    });
}

fn adjustment_sample(t: CurrentThread, throughput: f64, instance: u16) {
    post(t, RuntimeEventType::new(54, EventKeyword::THREADING), |payload| {
        payload.with(throughput.to_le_bytes()).with(instance.to_le_bytes())
    });
}

fn adjustment(t: CurrentThread, throughput: f64, threads: u32, reason: u32, instance: u16) {
    post(t, RuntimeEventType::new(55, EventKeyword::THREADING), |payload| {
        let payload = payload.with(throughput.to_le_bytes()).with(threads.to_le_bytes());
        payload.with(reason.to_le_bytes()).with(instance.to_le_bytes())
    });
}

#[expect(clippy::too_many_arguments, reason = "the signature of the event")]
fn adjustment_stats(
    t: CurrentThread,
    duration: f64,
    throughput: f64,
    wave: f64,
    throughput_wave: f64,
    error: f64,
    average_error: f64,
    ratio: f64,
    confidence: f64,
    control: f64,
    magnitude: u16,
    instance: u16,
) {
    let numbers = [duration, throughput, wave, throughput_wave, error, average_error, ratio, confidence, control];
    post(t, RuntimeEventType::verbose(56, EventKeyword::THREADING), |payload| {
        let payload = numbers.iter().fold(payload, |payload, number| payload.with(number.to_le_bytes()));
        payload.with(magnitude.to_le_bytes()).with(instance.to_le_bytes())
    });
}

fn io_packet(t: CurrentThread, kind: RuntimeEventType, native: isize, overlapped: isize, instance: u16) {
    post(t, kind, |payload| {
        payload.with(native.to_le_bytes()).with(overlapped.to_le_bytes()).with(instance.to_le_bytes())
    });
}

fn io_dequeue(t: CurrentThread, native: isize, overlapped: isize, instance: u16) {
    io_packet(t, RuntimeEventType::verbose(64, EventKeyword::THREAD_TRANSFER), native, overlapped, instance);
}

fn io_pack(t: CurrentThread, native: isize, overlapped: isize, instance: u16) {
    io_packet(t, RuntimeEventType::verbose(65, EventKeyword::THREADING), native, overlapped, instance);
}

fn io_enqueue(t: CurrentThread, native: isize, overlapped: isize, is_multiple: i32, instance: u16) {
    post(t, RuntimeEventType::verbose(63, EventKeyword::THREAD_TRANSFER), |payload| {
        let payload = payload.with(native.to_le_bytes()).with(overlapped.to_le_bytes());
        payload.with(is_multiple.to_le_bytes()).with(instance.to_le_bytes())
    });
}

fn working_threads(t: CurrentThread, count: u32, instance: u16) {
    post(t, RuntimeEventType::verbose(60, EventKeyword::THREADING), |payload| {
        payload.with(count.to_le_bytes()).with(instance.to_le_bytes())
    });
}

const WAIT_START: RuntimeEventType = RuntimeEventType::verbose(301, EventKeyword::WAIT_HANDLE);
const WAIT_STOP: RuntimeEventType = RuntimeEventType::verbose(302, EventKeyword::WAIT_HANDLE);

fn wait_start(t: CurrentThread, source: u8, object: isize, instance: u16) {
    post(t, WAIT_START, |payload| payload.with([source]).with(object.to_le_bytes()).with(instance.to_le_bytes()));
}

fn wait_stop(t: CurrentThread, instance: u16) {
    post(t, WAIT_STOP, |payload| payload.with(instance.to_le_bytes()));
}

/// What a thread waits for, as the event of its beginning has it.
#[derive(Clone, Copy)]
pub(crate) enum WaitSource {
    Handles = 0,
    Monitor = 1,
}

/// The runtime's id, the only one in the process.
const INSTANCE: u16 = 0;

/// Whether a listener wants to know of waits.
#[inline]
pub(crate) fn wants_waits() -> bool {
    WAIT_START.is_wanted()
}

/// Waits, and tells listeners of the beginning and the end. `object`: the address of the monitor's object.
#[cold]
pub(crate) fn tell_wait<R>(t: CurrentThread, source: WaitSource, object: isize, wait: impl FnOnce() -> R) -> R {
    wait_start(t, source as u8, object, INSTANCE);
    let end = wait();
    wait_stop(t, INSTANCE);
    end
}

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
    InternalCall::new("@net QCall::EventPipeInternal_Disable", &disable),
    InternalCall::new("@net QCall::EventPipeInternal_CreateProvider", &create_provider),
    InternalCall::new("@net QCall::EventPipeInternal_GetProvider", &get_provider),
    InternalCall::new("@net QCall::EventPipeInternal_DefineEvent", &define_event),
    InternalCall::new("@net QCall::EventPipeInternal_DeleteProvider", &delete_provider),
    InternalCall::new("@net QCall::EventPipeInternal_WriteEventData", &write_event),
    InternalCall::new("@net QCall::EventPipeInternal_EventActivityIdControl", &activity_id),
    InternalCall::new("@net QCall::EventPipeInternal_GetSessionInfo", &session_info),
    InternalCall::new("@net QCall::EventPipeInternal_GetNextEvent", &next_event),
    InternalCall::new("@net QCall::EventPipeInternal_SignalSession", &signal_session),
    InternalCall::new("@net QCall::EventPipeInternal_WaitForSessionSignal", &wait_for_session),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogContentionLockCreated", &lock_created),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogContentionStart", &contention_start),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogContentionStop", &contention_stop),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkerThreadStart", &worker_start),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkerThreadStop", &worker_stop),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkerThreadWait", &worker_wait),
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
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolIODequeue", &io_dequeue),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolIOPack", &io_pack),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolIOEnqueue", &io_enqueue),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogThreadPoolWorkingThreadCount", &working_threads),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogWaitHandleWaitStart", &wait_start),
    InternalCall::new("@net QCall::NativeRuntimeEventSource_LogWaitHandleWaitStop", &wait_stop),
    InternalCall::new("@net QCall::EventSource_GetClrConfig", &config),
    InternalCall::new("@net QCall::IsEventSourceLoggingEnabled", &is_logging),
    InternalCall::new("@net QCall::LogEventSource", &log),
];
