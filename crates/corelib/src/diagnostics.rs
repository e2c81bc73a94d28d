//! System.Diagnostics.Debugger, System.Runtime.JitInfo, and other facts about the machine.

use crate::arguments::ObjectPlace;
use saki_runtime::exec::compile::{IL_BYTES, STATISTICS};
use saki_runtime::{CurrentThread, InternalCall, Obj};
use std::sync::atomic::Ordering;

/// No debugger is ever attached.
fn is_attached(_t: CurrentThread) -> bool {
    false
}

fn is_attached_native(_t: CurrentThread) -> i32 {
    0
}

fn is_logging(_t: CurrentThread) -> bool {
    false
}

/// Without a debugger a break does nothing.
fn break_here(_t: CurrentThread) {}

/// Whether a debugger was started.
fn launch(_t: CurrentThread) -> i32 {
    0
}

/// Messages go to the attached debugger only.
fn log(_t: CurrentThread, _level: i32, _category: *const u16, _message: *const u16) {}

fn notify(_t: CurrentThread, _data: Option<Obj>) {}

fn notify_place(_t: CurrentThread, _data: ObjectPlace) {}

/// A number that Saki keeps for the process; by thread it keeps none, and says 0.
fn of_process(of_thread: bool, number: u64) -> i64 {
    if of_thread { 0 } else { number.cast_signed() }
}

fn compiled_il(_t: CurrentThread, of_thread: bool) -> i64 {
    // Relaxed: a counter.
    of_process(of_thread, IL_BYTES.load(Ordering::Relaxed))
}

fn compiled_methods(_t: CurrentThread, of_thread: bool) -> i64 {
    // Relaxed: a counter.
    of_process(of_thread, STATISTICS.methods.load(Ordering::Relaxed))
}

/// In units of 100 ns.
fn compilation_time(_t: CurrentThread, of_thread: bool) -> i64 {
    // Relaxed: a counter.
    let parts = [&STATISTICS.import_nanoseconds, &STATISTICS.codegen_nanoseconds, &STATISTICS.place_nanoseconds];
    of_process(of_thread, parts.iter().map(|part| part.load(Ordering::Relaxed)).sum::<u64>() / 100)
}

/// `ProfileOptimization.SetProfileRoot` and `StartProfile` ask that a program's methods be compiled ahead on another
/// thread. The code cache keeps their code from one run to the next without it.
fn set_profile_root(_t: CurrentThread, _folder: *const u16) {}

fn start_profile(_t: CurrentThread, _file: *const u16, _context: isize) {}

// `AssemblyNative_Trace…`: events of the loader for listeners that trace it, of which there are none. The result says
// that the event was written.

fn trace_load_from(
    _t: CurrentThread,
    _name: *const u16,
    _tracked: i32,
    _requester: *const u16,
    _path: *const u16,
) -> i32 {
    1
}

fn trace_resolve(
    _t: CurrentThread,
    _name: *const u16,
    _handler: *const u16,
    _found: *const u16,
    _path: *const u16,
) -> i32 {
    1
}

fn trace_resolving(
    _t: CurrentThread,
    _name: *const u16,
    _handler: *const u16,
    _context: *const u16,
    _found: *const u16,
    _path: *const u16,
) -> i32 {
    1
}

fn trace_probed(_t: CurrentThread, _path: *const u16, _hresult: i32) -> i32 {
    1
}

/// cpuid with a function and a subfunction.
fn cpuid(_t: CurrentThread, registers: *mut i32, function: i32, subfunction: i32) {
    #[cfg(target_arch = "x86_64")]
    let words = {
        let found = std::arch::x86_64::__cpuid_count(function.cast_unsigned(), subfunction.cast_unsigned());
        [found.eax, found.ebx, found.ecx, found.edx]
    };
    #[cfg(not(target_arch = "x86_64"))]
    let words = {
        let _ = (function, subfunction);
        [0u32; 4]
    };
    // SAFETY: managed code passes the address of four words.
    unsafe { registers.cast::<[u32; 4]>().write(words) };
}

fn memory_barrier_process_wide(_t: CurrentThread) {
    saki_os::membarrier::heavy();
}

/// The internal calls of `Debugger` and others.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::AssemblyNative_TraceAssemblyLoadFromResolveHandlerInvoked", &trace_load_from),
    InternalCall::new("@net QCall::AssemblyNative_TraceAssemblyResolveHandlerInvoked", &trace_resolve),
    InternalCall::new("@net QCall::AssemblyNative_TraceResolvingHandlerInvoked", &trace_resolving),
    InternalCall::new("@net QCall::AssemblyNative_TraceSatelliteSubdirectoryPathProbed", &trace_probed),
    InternalCall::new("@net QCall::MultiCoreJIT_InternalSetProfileRoot", &set_profile_root),
    InternalCall::new("@net QCall::MultiCoreJIT_InternalStartProfile", &start_profile),
    InternalCall::new("@net9 System.Diagnostics.Debugger::get_IsAttached", &is_attached),
    InternalCall::new("@net10 QCall::DebugDebugger_IsManagedDebuggerAttached", &is_attached_native),
    InternalCall::new("@net9 System.Diagnostics.Debugger::IsLogging", &is_logging),
    InternalCall::new("@net10 QCall::DebugDebugger_IsLoggingHelper", &is_attached_native),
    InternalCall::new("@net9 System.Diagnostics.Debugger::BreakInternal", &break_here),
    InternalCall::new("@net10 QCall::DebugDebugger_Break", &break_here),
    InternalCall::new("@net QCall::DebugDebugger_Launch", &launch),
    InternalCall::new("@net QCall::DebugDebugger_Log", &log),
    InternalCall::new("@net9 System.Diagnostics.Debugger::CustomNotification", &notify),
    InternalCall::new("@net10 QCall::DebugDebugger_CustomNotification", &notify_place),
    InternalCall::new("@net System.Runtime.JitInfo::GetCompiledILBytes", &compiled_il),
    InternalCall::new("@net System.Runtime.JitInfo::GetCompiledMethodCount", &compiled_methods),
    InternalCall::new("@net System.Runtime.JitInfo::GetCompilationTimeInTicks", &compilation_time),
    InternalCall::new("@net QCall::X86BaseCpuId", &cpuid),
    InternalCall::new("@net QCall::Interlocked_MemoryBarrierProcessWide", &memory_barrier_process_wide),
];
