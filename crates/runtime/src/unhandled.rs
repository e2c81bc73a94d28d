//! What happens to an exception that nobody caught: the text on stderr, then exit code 1.

use crate::invoke;
use crate::object::type_of;
use crate::strings;
use crate::thread::Thread;
use saki_abi::ObjRef;
use saki_types::universe;
use std::io::Write;

/// Exit code of a process that an unhandled exception ended, as Mono's.
pub const UNHANDLED_EXIT_CODE: i32 = 1;

/// The text of an exception: `ToString()`, or its type name when that fails.
pub fn describe(t: Thread, exception: ObjRef) -> String {
    let text = universe().object().find_method("ToString", 0).ok().flatten().and_then(|to_string| {
        match invoke::invoke_virtual(t, to_string, exception, &[]) {
            Ok(slot) if !slot.as_ref().is_null() => Some(strings::to_rust(slot.as_ref())),
            Ok(_) => None,
            Err(_) => {
                t.take_pending();
                None
            }
        }
    });
    text.unwrap_or_else(|| type_of(exception).full_name())
}

/// Writes Mono's text for an unhandled exception.
pub fn report(t: Thread, exception: ObjRef) {
    let text = describe(t, exception);
    let mut err = std::io::stderr().lock();
    // A closed stderr is not worth a second failure.
    let _ = writeln!(err, "\nUnhandled Exception:\n{text}");
    let _ = writeln!(err, "[ERROR] FATAL UNHANDLED EXCEPTION: {text}");
}

/// Takes the pending exception, reports it and ends the process.
pub fn report_and_exit(t: Thread) -> ! {
    let exception = t.take_pending();
    crate::vm::raise_unhandled_exception(t, exception);
    report(t, exception);
    std::process::exit(UNHANDLED_EXIT_CODE)
}
