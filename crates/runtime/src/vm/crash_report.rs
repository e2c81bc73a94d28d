//! Reports of ends by a signal (faults, and SIGABRT from native code or another process): where it came, by library,
//! function and offset, and the frames that led there, with lines where there are symbols; then the stacks of the other
//! threads.
//!
//! The signal handler of the thread that crashes cannot make the text, since it may take no lock and allocate nothing.
//! It asks the thread of dumps (`thread_dump`), which makes and writes it while the handler waits. If that thread waits
//! for a lock that the crashed one holds, time runs out, and the handler writes a plainer report itself
//! (`saki_unwind`). The other threads' stacks come last: they need a stop of the world, of which the crashed thread
//! knows nothing (`saki_thread::visit_stopping_threads`).
//!
//! | `STATE` | from → to | who | ordering |
//! |---|---|---|---|
//! | 0 = free | → TAKEN | the first thread that crashes; later ones wait for its report | Relaxed: a claim |
//! | 0 = free | → SILENT | who has told itself why it aborts the process | Relaxed: a claim |
//! | TAKEN | → ASKED | that thread, when `REQUEST` is filled | Release; the reporter's load is Acquire |
//! | ASKED | → WRITING | the reporter, when the text is made | Relaxed: it says nothing but that |
//! | WRITING | → WRITTEN | the reporter, when the text is written | Relaxed: as above |
//! | WRITTEN | → DONE | the reporter, when it has told of the other threads | Relaxed: as above |
//! | ASKED | → GIVEN_UP | the handler, when time has run out | Relaxed: the reporter then writes nothing |
//!
//! Invariant: one report is written for a crash, the reporter's or the handler's.

use crate::class_library;
use crate::stack_text;
use crate::stack_trace::{TraceFrame, for_each_method};
use crate::thread_dump;
use crate::vm::options;
use saki_abi::ThreadAbi;
use saki_os::FaultContext;
use saki_os::signal::{self, Disposition};
use saki_sampler::{NativePlace, interrupted};
use saki_sync::WaitWord;
use saki_thread::ManagedThread;
use saki_types::Method;
use saki_types::collectible::Hold;
use saki_unwind::EndCause;
use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::Duration;

const TAKEN: u32 = 1;
const ASKED: u32 = 2;
const WRITING: u32 = 3;
const WRITTEN: u32 = 4;
const DONE: u32 = 5;
const GIVEN_UP: u32 = 6;
const SILENT: u32 = 7;

/// See the module header.
static STATE: WaitWord = WaitWord::new(0);
/// The crashed thread, its context and the cause; valid from ASKED on, until the handler returns.
static REQUEST: Request = Request {
    thread: AtomicPtr::new(std::ptr::null_mut()),
    context: AtomicPtr::new(std::ptr::null_mut()),
    is_overflow: AtomicU32::new(0),
};

/// The time for each part of a report: symbols of large libraries and lines of large programs are read for it.
const PATIENCE: Duration = Duration::from_secs(10);
/// .NET's text.
const ACCESS_VIOLATION: &str = "System.AccessViolationException: Attempted to read or write protected memory. This is \
    often an indication that other memory is corrupt.\n";
/// Frames written at each end of a deep stack.
const SHOWN_FRAMES: usize = 60;

/// All Relaxed: published by `STATE`.
struct Request {
    thread: AtomicPtr<ThreadAbi>,
    context: AtomicPtr<FaultContext>,
    is_overflow: AtomicU32,
}

/// See `saki_unwind::Callbacks::report_end`.
///
/// # Safety
/// `thread` is the current thread or null, and `context` the state of the signal handler that runs on it.
pub(crate) unsafe fn report_end(thread: *mut ThreadAbi, context: &FaultContext, cause: EndCause) -> bool {
    let is_reported = ask_for_report(thread, context, cause);
    if is_reported && is_access_violation(context) {
        std::process::abort()
    }
    is_reported
}

/// Has SIGABRT reported: `abort ()` in native code, as the C library calls it for a damaged heap, and another process
/// that ends one which hangs.
///
/// # Errors
/// The system's, for the handler.
pub(crate) fn report_aborts() -> io::Result<()> {
    signal::install(libc::SIGABRT, on_abort)
}

fn on_abort(context: &mut FaultContext) -> Disposition {
    let thread = match saki_code::contains(context.pc()) {
        // As for faults: thread-local storage may not say it yet.
        true => context.pinned_register() as *mut ThreadAbi,
        false => saki_thread::current().map_or(std::ptr::null_mut(), |thread| thread.abi()),
    };
    ask_for_report(thread, context, EndCause::Fault);
    Disposition::PassOn
}

/// Ends the process by SIGABRT, for who has written the reason: there is no report beside it.
pub fn abort_reported() -> ! {
    // Relaxed: see the table.
    let _ = STATE.atomic().compare_exchange(0, SILENT, Ordering::Relaxed, Ordering::Relaxed);
    std::process::abort()
}

/// Whether the fault is one that .NET reports as an AccessViolationException, which nothing catches: managed code has
/// accessed memory that is not there. Async-signal-safe.
fn is_access_violation(context: &FaultContext) -> bool {
    let is_memory_fault = matches!(context.signal(), libc::SIGSEGV | libc::SIGBUS);
    is_memory_fault && options().net.is_some() && saki_code::contains(context.pc())
}

/// Has the thread of dumps write the report; false if it does not. Async-signal-safe.
fn ask_for_report(thread: *mut ThreadAbi, context: &FaultContext, cause: EndCause) -> bool {
    if !thread_dump::is_served_by_another() {
        return false;
    }
    if STATE.atomic().compare_exchange(0, TAKEN, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        await_report_of_another();
        return false;
    }
    REQUEST.thread.store(thread, Ordering::Relaxed);
    REQUEST.context.store(std::ptr::from_ref(context).cast_mut(), Ordering::Relaxed);
    REQUEST.is_overflow.store(u32::from(cause == EndCause::StackOverflow), Ordering::Relaxed);
    STATE.store(ASKED, Ordering::Release);
    thread_dump::wake_service();
    loop {
        let state = STATE.load(Ordering::Relaxed);
        match state {
            DONE => return true,
            ASKED => {
                let is_late = !STATE.wait(ASKED, Some(PATIENCE));
                let exchange =
                    || STATE.atomic().compare_exchange(ASKED, GIVEN_UP, Ordering::Relaxed, Ordering::Relaxed);
                if is_late && exchange().is_ok() {
                    return false;
                }
            }
            // A lock that the crashed thread holds may be needed for the others' stacks. What is written stands.
            WRITTEN => {
                if !STATE.wait(WRITTEN, Some(PATIENCE)) {
                    return true;
                }
            }
            // The text is made; standard error may be a slow pipe.
            _ => _ = STATE.wait(state, None),
        }
    }
}

/// The process ends by the signal of another thread, whose report this thread's end would cut off. Async-signal-safe.
fn await_report_of_another() {
    loop {
        let state = STATE.load(Ordering::Relaxed);
        if matches!(state, DONE | GIVEN_UP | SILENT) || !STATE.wait(state, Some(PATIENCE)) {
            return;
        }
    }
}

/// See `saki_unwind::Callbacks::write_name`.
///
/// # Safety
/// `method` is a `&'static Method`.
pub(crate) unsafe fn write_name(method: *const (), write: fn(&[u8])) {
    // SAFETY: a `&'static Method` (contract).
    let method = unsafe { &*method.cast::<Method>() };
    if let Some(def) = method.owner.def() {
        for part in [def.namespace, if def.namespace.is_empty() { "" } else { "." }, def.name, ":"] {
            write(part.as_bytes());
        }
    }
    write(method.name.as_bytes());
}

/// Writes the report that a handler has asked for; whether one has. For the thread of dumps.
pub(crate) fn serve() -> bool {
    // Acquire: see the table.
    if STATE.load(Ordering::Acquire) != ASKED {
        return false;
    }
    let _held = Hold::new();
    let _walk = saki_code::walks().enter();
    let context = REQUEST.context.load(Ordering::Relaxed);
    // SAFETY: the context lies in the frame of a handler that waits for DONE. If it gives up, it ends the process: its
    // signal stack stays mapped, and what the walk then reads there only makes a text that is not written.
    let context = unsafe { &*context };
    let is_overflow = REQUEST.is_overflow.load(Ordering::Relaxed) != 0;
    let thread = REQUEST.thread.load(Ordering::Relaxed);
    // SAFETY: the managed thread that the handler interrupted, whose structure is never freed, or null; and the context
    // of that handler.
    let text = unsafe { describe(thread, context, is_overflow) };
    if STATE.atomic().compare_exchange(ASKED, WRITING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        // Without the lock of Rust's own stderr, which the crashed thread may hold.
        signal::write_to_stderr(text.as_bytes());
        advance(WRITTEN);
        // The frames of an overflow say it all, and there are enough of them.
        if !is_overflow {
            // SAFETY: a managed thread's structure, which is never freed.
            let ending = (!thread.is_null()).then(|| unsafe { ManagedThread::from_abi(thread) });
            let others = thread_dump::others(ending);
            signal::write_to_stderr(others.as_bytes());
        }
        advance(DONE);
    }
    true
}

fn advance(state: u32) {
    STATE.store(state, Ordering::Relaxed);
    STATE.wake_all();
}

/// # Safety
/// `thread` is a managed thread, or null for one that is none, and `context` the state of a signal handler on it that
/// does not return before this function does.
unsafe fn describe(thread: *const ThreadAbi, context: &FaultContext, is_overflow: bool) -> String {
    let frames = if thread.is_null() {
        // SAFETY: the crashed thread stays in its handler, or ends the process there, while this function runs.
        unsafe { interrupted::native_frames(context) }
    } else {
        // SAFETY: the managed thread stays in its handler, or ends the process there, while this function runs.
        unsafe { interrupted::frames(thread, context) }
    };
    let mut lines: Vec<String> = frames.native.iter().map(describe_native).collect();
    for frame in &frames.managed {
        for_each_method(frame, |method| lines.push(stack_text::describe(&method)));
    }
    let mut text = match is_overflow {
        true => "Stack overflow.\n".to_owned(),
        false if is_access_violation(context) => {
            let separator = class_library::separator_after_end();
            format!("Fatal error.{separator}{ACCESS_VIOLATION}{}", head(context, frames.native.first()))
        }
        false => head(context, frames.native.first()),
    };
    write_lines(&mut text, &lines);
    text
}

fn head(context: &FaultContext, innermost: Option<&NativePlace>) -> String {
    let (signal, pc) = (context.signal(), context.pc());
    // Unverifiable programs may make compiled code use any pointer; elsewhere a fault is more likely one of a native
    // library or of Saki.
    let place = if saki_code::contains(pc) { "compiled" } else { "native" };
    let what = innermost.map_or(String::new(), |innermost| format!(", {}", describe_native(innermost)));
    match context.sending_process() {
        None => {
            let address = context.fault_address();
            format!(
                "saki: signal {signal} at address 0x{address:x}, pc 0x{pc:x} in {place} code{what}; frames of this \
                 thread:\n"
            )
        }
        Some(sender) if sender == thread_dump::own_process() => {
            format!(
                "saki: signal {signal} by this process, pc 0x{pc:x} in {place} code{what}; frames of this thread:\n"
            )
        }
        // Its thread happened to get the signal.
        Some(sender) => format!("saki: signal {signal} from process {sender}; frames of the thread that got it:\n"),
    }
}

/// `crash_here+0x12 in libfoo.so (0x1132)`
fn describe_native(place: &NativePlace) -> String {
    let (pc, module, address) = (place.pc, &place.module, place.address_in_module);
    match &place.function {
        _ if module.is_empty() => format!("0x{pc:x} in code of no library"),
        Some((name, offset)) => format!("{name}+0x{offset:x} in {module} (0x{address:x})"),
        None => format!("0x{address:x} in {module}"),
    }
}

/// Equal lines that follow each other become one, and the middle of a deep stack is left out.
fn write_lines(text: &mut String, lines: &[String]) {
    let runs: Vec<&[String]> = lines.chunk_by(|a, b| a == b).collect();
    let left_out = runs.len().saturating_sub(2 * SHOWN_FRAMES);
    for (index, run) in runs.iter().enumerate() {
        if left_out > 0 && index == SHOWN_FRAMES {
            let count: usize = runs[index..index + left_out].iter().map(|run| run.len()).sum();
            let _ = writeln!(text, "   ... {count} frames");
        }
        if (SHOWN_FRAMES..SHOWN_FRAMES + left_out).contains(&index) {
            continue;
        }
        let _ = writeln!(text, "   at {}", run[0]);
        if run.len() > 1 {
            let _ = writeln!(text, "   (previous frame repeated {} times)", run.len() - 1);
        }
    }
}

/// The frames as lines of a report, for ends that the program asks for.
pub fn lines_of(frames: &[TraceFrame]) -> String {
    let lines: Vec<String> = frames.iter().map(stack_text::describe).collect();
    let mut text = String::new();
    write_lines(&mut text, &lines);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expect: &str) {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let mut text = String::new();
        write_lines(&mut text, &lines);
        assert_eq!(text, expect);
    }

    #[test]
    fn repeated_frames_and_the_middle_of_deep_stacks_are_counted() {
        check(&["A:F", "A:G"], "   at A:F\n   at A:G\n");
        check(&["A:F", "A:F", "A:F", "A:G"], "   at A:F\n   (previous frame repeated 2 times)\n   at A:G\n");
        let names: Vec<String> = (0..200).map(|n| format!("A:F{n}")).collect();
        let mut text = String::new();
        write_lines(&mut text, &names);
        assert!(text.contains("   at A:F59\n   ... 80 frames\n   at A:F140\n"), "{text}");
        assert_eq!(text.lines().count(), 121);
    }
}
