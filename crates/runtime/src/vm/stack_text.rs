//! The text of a frame, for everything that Saki itself writes: dumps, reports of crashes, profiles, names for tools.
//!
//! Invariant: a method has one name (`Method::frame_name`), whatever is loaded. Left out: traces of exceptions, which
//! the class library formats as programs expect; logs in Mono's formats (`profile_log`, `call_trace`), which have
//! Mono's names.

use crate::source_lines::source_position;
use crate::stack_trace::{NO_IL_OFFSET, TraceFrame};
use saki_code::{CodeInfo, CodeKind};
use saki_types::Method;
use std::fmt::Write as _;

/// `Ns.Type:Method [0x00007] in file.cs:12`: the offset of the CIL instruction and the line where they are known.
pub fn describe(frame: &TraceFrame) -> String {
    let mut text = frame.method.frame_name();
    if frame.il_offset != NO_IL_OFFSET {
        let _ = write!(text, " [0x{:05x}]", frame.il_offset);
    }
    if let Some(position) = source_position(frame.method, frame.il_offset) {
        let _ = write!(text, " in {}:{}", position.file, position.line);
    }
    text
}

/// The name of a body of code: its method's, or that of the glue.
pub fn name_of_code(info: &CodeInfo) -> String {
    // SAFETY: null, or the `&'static Method` that the code was placed with.
    match unsafe { (info.method as *const Method).as_ref() } {
        Some(method) if matches!(info.kind, CodeKind::Method | CodeKind::NativeThunk | CodeKind::Filter) => {
            method.frame_name()
        }
        _ => info.name().to_owned(),
    }
}
