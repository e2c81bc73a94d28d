//! System.Diagnostics.StackFrame: a frame of the running thread.

use super::stack_trace::il_offset;
use crate::arguments::{store_out, write_out};
use saki_abi::ObjRef;
use saki_runtime::source_lines::source_position;
use saki_runtime::{CurrentThread, InternalCall, Word, stack_trace, strings};

/// Managed code counts this call as frame 0. False: the stack has no such frame.
fn get_frame_info(
    t: CurrentThread,
    skip: i32,
    file_info: i32,
    method: *mut ObjRef,
    il: *mut i32,
    native_offset: *mut i32,
    file: *mut ObjRef,
    line: *mut i32,
    column: *mut i32,
) -> i32 {
    t.run(|| {
        // What is not found or not asked for stays: the constructors of StackFrame have set it, and pass their own arguments.
        // The call's own wrapper may or may not be a frame; count from the first frame behind it.
        let frames = stack_trace::walk(t);
        let behind = frames.iter().skip_while(|f| f.method.is_internal_call());
        let Some(frame) = skip.checked_sub(1).and_then(|skip| behind.clone().nth(skip.max(0) as usize)) else {
            return Ok(0);
        };
        let object = saki_reflect::objects::method_object(t, frame.method, frame.method.owner)?;
        store_out(t, method, object.word());
        write_out(il, il_offset(frame));
        write_out(native_offset, frame.native_offset as i32);
        if file_info != 0
            && let Some(position) = source_position(frame.method, frame.il_offset)
        {
            store_out(t, file, strings::new_string(t, &position.file)?);
            write_out(line, position.line as i32);
            write_out(column, position.column as i32);
        }
        Ok(1)
    })
}

pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Diagnostics.StackFrame::get_frame_info", &get_frame_info)];
