//! Coverage for profilers: which statements of a method were reached, how often.
//!
//! The filters of all profilers are asked before a method is compiled. Statements are those of the symbols; without
//! symbols, basic blocks (`saki_runtime::vm::coverage`).

use crate::call::call;
use crate::host_records;
use crate::profilers::{Data, Profiler, changed, has_begun, profilers};
use crate::text::kept;
use saki_runtime::vm::coverage;
use saki_runtime::vm::source_lines::SourcePosition;
use saki_types::Method;
use std::ffi::{c_char, c_int};
use std::ptr;

/// `MonoProfilerCoverageData`.
#[repr(C)]
pub struct MonoProfilerCoverageData {
    method: &'static Method,
    il_offset: u32,
    counter: u32,
    file_name: *const c_char,
    line: u32,
    column: u32,
}

/// Has coverage recorded; 0 once the machine has begun to start.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_enable_coverage() -> c_int {
    if has_begun() {
        return 0;
    }
    coverage::prepare_for_host();
    1
}

/// Sets the function that says whether a method's statements are counted.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_set_coverage_filter_callback(
    handle: &'static Profiler,
    callback: Option<unsafe extern "C" fn(Data, &'static Method) -> c_int>,
) {
    handle.coverage_filter.set(callback);
    changed();
}

/// Asks the filters about a method that is about to be compiled. All are asked.
pub(crate) fn choose(method: &'static Method) {
    let mut is_covered = false;
    for profiler in profilers() {
        if let Some(filter) = profiler.coverage_filter.get() {
            // SAFETY: the host's function and its data.
            is_covered |= unsafe { filter(profiler.data, method) } != 0;
        }
    }
    if is_covered {
        host_records::note_covered(method);
    }
}

/// Whether the filters want the method's statements counted.
pub(crate) fn is_covered(method: &'static Method) -> bool {
    host_records::is_covered(method)
}

/// Calls the host's function with each statement of a method; 0 if the method has no code of CIL, or nothing is
/// counted. A method that was not compiled has the statements of its symbols, which were never reached.
///
/// # Safety
/// The function may be called with the profiler's data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_profiler_get_coverage_data(
    handle: &'static Profiler,
    method: &'static Method,
    callback: unsafe extern "C" fn(Data, *const MonoProfilerCoverageData),
) -> c_int {
    let found = call("mono_profiler_get_coverage_data", |_| {
        let is_coded = matches!(method.body(), Ok(Some(_)));
        if !is_coded || !coverage::is_wanted() {
            return None;
        }
        Some(coverage::counts_of(method).unwrap_or_else(|| {
            coverage::places_of(method).into_iter().map(|(offset, place)| (offset, 0, Some(place))).collect()
        }))
    });
    let Some(statements) = found else { return 0 };
    for (il_offset, counter, position) in statements {
        let (file_name, line, column) = match &position {
            Some(SourcePosition { file, line, column, .. }) => (kept(file), *line, *column),
            None => (ptr::null(), 1, 1),
        };
        let data = MonoProfilerCoverageData { method, il_offset, counter, file_name, line, column };
        // SAFETY: the host's function, its data, and a structure that lasts for the call.
        unsafe { callback(handle.data, &data) };
    }
    1
}
