//! System.Exception, and stack traces.
//!
//! `Exception._stackTrace` has the machine's own format (`exception_trace`). A StackFrameHelper is filled by one
//! function, with file and line from Saki's own reader of symbols: it replaces `InitializeSourceInfo`, whose body reads
//! them by reflection. Frames that .NET does not have are left out: wrappers, and P/Invokes that have called.

use crate::arguments::{ObjectPlace, StackMark, StringPlace};
use crate::fields::{new_array, set};
use crate::text::optional_text_at;
use saki_reflect::objects::assembly_object;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::{class_library, exceptions, member_handles};
use saki_runtime::vm::source_lines::source_position;
use saki_runtime::vm::stack_trace::{self, NO_IL_OFFSET, TraceFrame};
use saki_runtime::vm::unhandled;
use saki_runtime::vm::{crash_report, first_chance};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Str};
use saki_types::Method;

/// `StackFrame.OFFSET_UNKNOWN`.
const OFFSET_UNKNOWN: i32 = -1;

fn is_immutable(_t: CurrentThread, _exception: Option<Obj>) -> bool {
    false
}

/// The trace that ExceptionDispatchInfo puts back says so itself (`exception_trace::begin`).
fn prepare_for_foreign_raise(_t: CurrentThread) {}

fn frozen_trace<'t>(t: CurrentThread<'t>, exception: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    match exception {
        Some(exception) => stack_trace::frozen(t, exception).map(|trace| trace.map(Obj::from)),
        None => Err(exceptions::throw_null_reference(t)),
    }
}

fn frozen_trace_place(t: CurrentThread, exception: ObjectPlace, trace: ObjectPlace) -> Managed<()> {
    trace.set(t, frozen_trace(t, exception.get())?);
    Ok(())
}

fn exception_count(_t: CurrentThread) -> u32 {
    first_chance::count()
}

/// A P/Invoke's frame is shown where the call has failed before native code was reached
/// (`exception_trace::begin_in_stub`): it has no position in code.
fn is_shown(frame: &TraceFrame) -> bool {
    let has_failed = frame.native_offset == 0;
    !frame.is_wrapper && (has_failed || !frame.method.is_pinvoke())
}

/// The method that threw: the innermost frame's.
fn method_from_trace(t: CurrentThread, trace: ObjectPlace, method: ObjectPlace) -> Managed<()> {
    let frames = trace.get().map_or_else(Vec::new, stack_trace::frames_in);
    match frames.iter().find(|frame| is_shown(frame)) {
        Some(frame) => method.set(t, member_handles::of_method(t, frame.method)?),
        None => method.set(t, None::<Obj>),
    }
    Ok(())
}

/// Fills a StackFrameHelper with the frames of an exception, or of the running thread.
fn fill<'t>(
    t: CurrentThread<'t>,
    helper: Option<Obj<'t>>,
    skip: usize,
    with_files: bool,
    exception: Option<Obj>,
) -> Managed<()> {
    let Some(helper) = helper else { return Err(exceptions::throw_null_reference(t)) };
    let frames = match exception {
        Some(exception) => stack_trace::frames_of(exception),
        None => stack_trace::walk(t),
    };
    let frames: Vec<&TraceFrame> = frames.iter().filter(|frame| is_shown(frame)).skip(skip).collect();
    let count = frames.len();
    let methods = new_array(t, helper, "rgMethodHandle", count)?;
    let native_offsets = new_array(t, helper, "rgiOffset", count)?;
    let il_offsets = new_array(t, helper, "rgiILOffset", count)?;
    let ends = new_array(t, helper, "rgiLastFrameFromForeignExceptionStackTrace", count)?;
    // Tokens of 0 say that the positions are there already.
    new_array(t, helper, "rgiMethodToken", count)?;
    for (index, frame) in frames.iter().enumerate() {
        let is_known = frame.il_offset != NO_IL_OFFSET;
        if let Some(methods) = methods {
            methods.set_value(index, std::ptr::from_ref::<Method>(frame.method).addr());
        }
        if let Some(offsets) = native_offsets {
            offsets.set_value(index, frame.native_offset.cast_signed());
        }
        if let Some(offsets) = il_offsets {
            offsets.set_value(index, if is_known { frame.il_offset.cast_signed() } else { OFFSET_UNKNOWN });
        }
        if let Some(ends) = ends {
            ends.set_value(index, u8::from(frame.ends_earlier_throw));
        }
    }
    if with_files {
        let assemblies = new_array(t, helper, "rgAssembly", count)?;
        let files = new_array(t, helper, "rgFilename", count)?;
        let lines = new_array(t, helper, "rgiLineNumber", count)?;
        let columns = new_array(t, helper, "rgiColumnNumber", count)?;
        for (index, frame) in frames.iter().enumerate() {
            if let Some(assemblies) = assemblies {
                let assembly = assembly_object(t, frame.method.image().assembly())?;
                assemblies.set(t, index, Some(assembly));
            }
            let Some(position) = source_position(frame.method, frame.il_offset) else { continue };
            if let Some(files) = files {
                files.set(t, index, Some(*Str::new(t, &position.file)?));
            }
            if let Some(lines) = lines {
                lines.set_value(index, position.line.cast_signed());
            }
            if let Some(columns) = columns {
                columns.set_value(index, position.column.cast_signed());
            }
        }
    }
    set(t, helper, "iFrameCount", i32::try_from(count).unwrap_or(i32::MAX))
}

fn initialize_with_skip<'t>(
    t: CurrentThread<'t>,
    helper: Option<Obj<'t>>,
    skip: i32,
    with_files: bool,
    exception: Option<Obj>,
) -> Managed<()> {
    fill(t, helper, usize::try_from(skip).unwrap_or(0), with_files, exception)
}

fn initialize<'t>(
    t: CurrentThread<'t>,
    helper: Option<Obj<'t>>,
    with_files: bool,
    exception: Option<Obj>,
) -> Managed<()> {
    fill(t, helper, 0, with_files, exception)
}

fn stack_frames_place(t: CurrentThread, helper: ObjectPlace, with_files: i32, exception: ObjectPlace) -> Managed<()> {
    fill(t, helper.get(), 0, with_files != 0, exception.get())
}

/// The method whose code has this address.
fn method_at(_t: CurrentThread, result: *mut *const Method, address: isize) {
    let info = saki_code::lookup(address.cast_unsigned());
    // SAFETY: the place for the result, a struct of one word.
    unsafe { result.write(info.map_or(std::ptr::null(), |info| info.method.cast())) };
}

/// The text of a frame in the report of `FailFast`.
fn frame_line(frame: &TraceFrame) -> String {
    let by_reference = |name: String| name.strip_suffix('&').map(|name| format!("{name} ByRef")).unwrap_or(name);
    let names =
        frame.method.sig().map(|sig| sig.params.iter().map(|p| by_reference(p.full_name())).collect::<Vec<_>>());
    let params = names.map(|names| names.join(", "));
    format!("   at {}.{}({})", frame.method.owner.full_name(), frame.method.name, params.unwrap_or_default())
}

fn fail_fast(t: CurrentThread, _mark: StackMark, message: *const u16, exception: ObjectPlace, error: *const u16) {
    const WITHOUT_REASON: &str = "Runtime operation halted by call to System.Environment.FailFast(). (0x80131623)";
    let reason = optional_text_at(message).unwrap_or_else(|| WITHOUT_REASON.to_owned());
    let separator = class_library::separator_after_end();
    // Assertions say what they are, and the reason has their stack.
    if let Some(error) = optional_text_at(error) {
        saki_base::tell!("Process terminated.{separator}{error}\n{reason}");
        crash_report::abort_reported()
    }
    saki_base::tell!("Process terminated.{separator}{reason}");
    let frames = stack_trace::walk(t);
    let shown = frames.iter().filter(|frame| is_shown(frame));
    let hidden = |frame: &&TraceFrame| frame.method.name.contains("FailFast") && frame.method.name != "FailFast";
    for frame in shown.skip_while(hidden) {
        saki_base::tell!("{}", frame_line(frame));
    }
    if let Some(exception) = exception.get() {
        saki_base::tell!("{}", unhandled::describe(t, exception));
    }
    crash_report::abort_reported()
}

/// Bodies that read symbols by reflection.
pub const LOOPS: &[LoopRow] = &[
    LoopRow::new(
        "System.Diagnostics.StackFrameHelper::InitializeSourceInfo(System.Int32,System.Boolean,System.Exception) System.Void",
        &initialize_with_skip,
    )
    .correcting(),
    LoopRow::new(
        "System.Diagnostics.StackFrameHelper::InitializeSourceInfo(System.Boolean,System.Exception) System.Void",
        &initialize,
    )
    .correcting(),
];

/// The text of an exception that the runtime makes, by `ExceptionMessageKind`.
fn message_of_kind(t: CurrentThread, kind: i32, text: StringPlace) -> Managed<()> {
    let message = match kind {
        1 => "Thread was being aborted.",
        2 => "Thread was interrupted from a waiting state.",
        _ => "Insufficient memory to continue the execution of the program.",
    };
    text.set(t, Some(Str::new(t, message)?));
    Ok(())
}

/// The internal calls of exceptions and stack traces.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::ExceptionNative_GetMessageFromNativeResources", &message_of_kind),
    InternalCall::new("@net System.Exception::IsImmutableAgileException", &is_immutable),
    InternalCall::new("@net9 System.Exception::GetFrozenStackTrace", &frozen_trace),
    InternalCall::new("@net10 QCall::ExceptionNative_GetFrozenStackTrace", &frozen_trace_place),
    InternalCall::new("@net System.Exception::PrepareForForeignExceptionRaise", &prepare_for_foreign_raise),
    InternalCall::new("@net System.Exception::GetExceptionCount", &exception_count),
    InternalCall::new("@net QCall::ExceptionNative_GetMethodFromStackTrace", &method_from_trace),
    InternalCall::new("@net9 System.Diagnostics.StackTrace::GetStackFramesInternal", &initialize_with_skip),
    InternalCall::new("@net10 QCall::StackTrace_GetStackFramesInternal", &stack_frames_place),
    InternalCall::new("@net QCall::StackFrame_GetMethodDescFromNativeIP", &method_at),
    InternalCall::new("@net QCall::Environment_FailFast", &fail_fast),
];
