//! System.Diagnostics.StackFrame: a frame of the running thread.

use super::stack_trace::il_offset;
use saki_runtime::vm::source_lines::source_position;
use saki_runtime::vm::stack_trace;
use saki_runtime::{CurrentThread, InternalCall, Managed, Place, RefPlace, Str};

/// Managed code counts this call as frame 0. False: the stack has no such frame.
fn get_frame_info(
    t: CurrentThread,
    skip: i32,
    file_info: bool,
    method: RefPlace,
    il: Place<i32>,
    native_offset: Place<i32>,
    file: RefPlace,
    line: Place<i32>,
    column: Place<i32>,
) -> Managed<bool> {
    // Variables for facts that are unknown or not asked for keep the values that the constructors of StackFrame have
    // set. The call's own wrapper may or may not be a frame, so frames are counted from the first one behind it.
    let frames = stack_trace::walk(t);
    let behind = frames.iter().skip_while(|f| f.method.is_internal_call());
    let Some(frame) = skip.checked_sub(1).and_then(|skip| behind.clone().nth(skip.max(0) as usize)) else {
        return Ok(false);
    };
    let object = saki_reflect::objects::method_object(t, frame.method, frame.method.owner)?;
    method.set(t, object);
    il.set(il_offset(frame));
    native_offset.set(frame.native_offset as i32);
    if file_info && let Some(position) = source_position(frame.method, frame.il_offset) {
        file.set(t, Str::new(t, &position.file)?);
        line.set(position.line as i32);
        column.set(position.column as i32);
    }
    Ok(true)
}

/// The internal calls of `System.Diagnostics.StackFrame`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Diagnostics.StackFrame::get_frame_info", &get_frame_info)];
