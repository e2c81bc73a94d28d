//! `Mono.Profiler.Log.LogProfiler`: the settings of its own log that a program may change. Without a log the calls are
//! missing, as under Mono: the class asks for the number of frames, and a MissingMethodException tells it that there is
//! no log.
//!
//! As under Mono, samples can be changed only if the command line asks for some.

use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::vm::profile_log::LogEvents;
use saki_runtime::vm::profile_log::control;
use saki_runtime::vm::profile_log::settings::{HeapShots, MAX_FRAMES, MAX_SAMPLES_A_SECOND, SampleClock};
use saki_runtime::{CurrentThread, InternalCall, Managed, Place};

/// Calls `work` if there is a log.
///
/// # Errors
/// MissingMethodException.
fn guarded<R>(t: CurrentThread, work: impl FnOnce() -> R) -> Managed<R> {
    if !control::is_attached() {
        return Err(exceptions::throw(t, ExceptionType::MissingMethod, "There is no log (--profile=log)."));
    }
    Ok(work())
}

fn max_stack_trace_frames(t: CurrentThread) -> Managed<i32> {
    guarded(t, || MAX_FRAMES as i32)
}

fn stack_trace_frames(t: CurrentThread) -> Managed<i32> {
    guarded(t, || control::max_frames() as i32)
}

fn set_stack_trace_frames(t: CurrentThread, count: i32) -> Managed<()> {
    guarded(t, || control::set_max_frames((count.max(0) as usize).min(MAX_FRAMES)))
}

/// `LogHeapshotMode`.
mod mode {
    /// Never.
    pub const NONE: i32 = 0;
    /// With each major collection.
    pub const EVERY_MAJOR: i32 = 1;
    /// When the program asks.
    pub const ON_DEMAND: i32 = 2;
    /// After so many milliseconds.
    pub const MILLISECONDS: i32 = 3;
    /// After so many collections.
    pub const COLLECTIONS: i32 = 4;
}

fn heap_shot_mode(t: CurrentThread) -> Managed<i32> {
    guarded(t, || match control::heap_shots() {
        HeapShots::Never => mode::NONE,
        HeapShots::Full => mode::EVERY_MAJOR,
        HeapShots::OnDemand => mode::ON_DEMAND,
        HeapShots::EveryMilliseconds(_) => mode::MILLISECONDS,
        HeapShots::EveryCollections(_) => mode::COLLECTIONS,
    })
}

fn set_heap_shot_mode(t: CurrentThread, wanted: i32) -> Managed<()> {
    let mode = match wanted {
        mode::EVERY_MAJOR => HeapShots::Full,
        mode::ON_DEMAND => HeapShots::OnDemand,
        mode::MILLISECONDS => HeapShots::EveryMilliseconds(milliseconds(t)? as u32),
        mode::COLLECTIONS => HeapShots::EveryCollections(collections(t)? as u32),
        _ => HeapShots::Never,
    };
    guarded(t, || control::set_heap_shots(mode))
}

fn milliseconds(t: CurrentThread) -> Managed<i32> {
    guarded(t, || if let HeapShots::EveryMilliseconds(count) = control::heap_shots() { count as i32 } else { 0 })
}

fn set_milliseconds(t: CurrentThread, count: i32) -> Managed<()> {
    guarded(t, || control::set_heap_shots(HeapShots::EveryMilliseconds(count.max(0) as u32)))
}

fn collections(t: CurrentThread) -> Managed<i32> {
    guarded(t, || if let HeapShots::EveryCollections(count) = control::heap_shots() { count as i32 } else { 0 })
}

fn set_collections(t: CurrentThread, count: i32) -> Managed<()> {
    guarded(t, || control::set_heap_shots(HeapShots::EveryCollections(count.max(0) as u32)))
}

fn trigger_heap_shot(t: CurrentThread) -> Managed<()> {
    guarded(t, control::take_heap_shot)
}

fn call_depth(t: CurrentThread) -> Managed<i32> {
    guarded(t, || control::max_call_depth() as i32)
}

fn set_call_depth(t: CurrentThread, depth: i32) -> Managed<()> {
    guarded(t, || control::set_max_call_depth(depth.max(0) as u32))
}

fn sample_mode(t: CurrentThread, mode: Place<i32>, frequency: Place<i32>) -> Managed<()> {
    let (clock, hz) = guarded(t, || match control::samples() {
        None => (0, 0),
        Some((SampleClock::Processor, hz)) => (1, hz),
        Some((SampleClock::Wall, hz)) => (2, hz),
    })?;
    mode.set(clock);
    frequency.set(hz as i32);
    Ok(())
}

fn set_sample_mode(t: CurrentThread, mode: i32, frequency: i32) -> Managed<bool> {
    let clock = match mode {
        1 => Some(SampleClock::Processor),
        2 => Some(SampleClock::Wall),
        _ => None,
    };
    let hz = frequency.max(1).cast_unsigned().min(MAX_SAMPLES_A_SECOND);
    guarded(t, || control::set_samples(clock.map(|clock| (clock, hz))))
}

macro_rules! event_calls {
    ($($module:ident: $events:ident;)*) => {
        $(mod $module {
            use super::{CurrentThread, LogEvents, Managed, control, guarded};

            pub fn get(t: CurrentThread) -> Managed<bool> {
                guarded(t, || control::are_events_on(LogEvents::$events))
            }

            pub fn set(t: CurrentThread, are_wanted: bool) -> Managed<()> {
                guarded(t, || control::set_events(LogEvents::$events, are_wanted))
            }
        })*
    };
}

event_calls! {
    exception: EXCEPTION;
    monitor: MONITOR;
    gc: GC;
    allocation: ALLOCATION;
    moves: MOVE;
    root: ROOT;
    handle: HANDLE;
    finalization: FINALIZATION;
    counter: COUNTER;
    jit: JIT;
}

/// The internal calls of `Mono.Profiler.Log.LogProfiler`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetMaxStackTraceFrames", &max_stack_trace_frames),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetStackTraceFrames", &stack_trace_frames),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetStackTraceFrames", &set_stack_trace_frames),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetHeapshotMode", &heap_shot_mode),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetHeapshotMode", &set_heap_shot_mode),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetHeapshotMillisecondsFrequency", &milliseconds),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetHeapshotMillisecondsFrequency", &set_milliseconds),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetHeapshotCollectionsFrequency", &collections),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetHeapshotCollectionsFrequency", &set_collections),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::TriggerHeapshot", &trigger_heap_shot),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetCallDepth", &call_depth),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetCallDepth", &set_call_depth),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetSampleMode", &sample_mode),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetSampleMode", &set_sample_mode),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetExceptionEvents", &exception::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetExceptionEvents", &exception::set),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetMonitorEvents", &monitor::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetMonitorEvents", &monitor::set),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetGCEvents", &gc::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetGCEvents", &gc::set),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetGCAllocationEvents", &allocation::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetGCAllocationEvents", &allocation::set),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetGCMoveEvents", &moves::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetGCMoveEvents", &moves::set),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetGCRootEvents", &root::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetGCRootEvents", &root::set),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetGCHandleEvents", &handle::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetGCHandleEvents", &handle::set),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetGCFinalizationEvents", &finalization::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetGCFinalizationEvents", &finalization::set),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetCounterEvents", &counter::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetCounterEvents", &counter::set),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::GetJitEvents", &jit::get),
    InternalCall::new("Mono.Profiler.Log.LogProfiler::SetJitEvents", &jit::set),
];
