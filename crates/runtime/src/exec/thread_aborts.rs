//! Safepoints, and the exceptions that may be thrown at them: stack overflow, aborts and interrupts requested by other threads.
//!
//! | abort state of a thread | meaning |
//! |---|---|
//! | request bit set | requested; thrown at the next safepoint or wait outside of finally blocks and class constructors |
//! | `ABORT_EXCEPTION` root set | in flight: thrown once; thrown again when the catch clause that caught it is left |
//! | neither | none, or reset |
//!
//! An abort in flight that leaves a callback of native code is a request again until the native code returns (`unthrow_abort`).
//!
//! Invariant: while either holds, the poll bit is set, so every safepoint of the thread comes here. An abort in flight is
//! forgotten by `ResetAbort`, at the end of the thread or, when a domain's unloading asked for it, where the thread leaves that
//! domain. Left out: ending system calls that block (`interruption`).

use crate::exception_types::ExceptionType;
use crate::exceptions::{self, Thrown};
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use crate::thread_data::HandlerFrame;
use crate::upcalls::upcalls;
use crate::{stops, thread_data};
use saki_code::CodeKind;
use saki_metadata::EhKind;
use saki_thread::{POLL_INTERRUPT, REQUEST_ABORT, REQUEST_INTERRUPT, root};
use saki_types::Method;
use saki_unwind::Frames;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// The slow path of a poll: lets a collection happen, then throws StackOverflowException where the stack's reserve is in use, or a
/// requested abort.
pub fn safepoint(t: CurrentThread) {
    let thread = t.managed();
    thread.poll_slow();
    saki_gc::stress_safepoint(thread);
    stops::stop_if_asked(t);
    if t.is_pending() {
        return;
    }
    if thread.takes_stack_overflow() {
        note_asynchronous();
        let _ = exceptions::stack_overflow(t);
        return;
    }
    if thread.pending_requests() & REQUEST_ABORT != 0 {
        if !abort_is_deferred(t) {
            let _ = throw_requested(t);
        }
    } else if let Some(abort) = abort_in_flight(t) {
        throw_abort_again(t, abort);
    }
}

/// A safepoint after a return from native code; an exception of the call itself comes first.
pub fn after_native(t: CurrentThread) {
    if !t.is_pending() {
        let _ = throw_if_aborted(t);
    }
}

/// Throws a requested abort, unless it has to wait.
///
/// # Errors
/// ThreadAbortException.
pub fn throw_if_aborted(t: CurrentThread) -> Managed<()> {
    if t.managed().pending_requests() & REQUEST_ABORT != 0 && !abort_is_deferred(t) {
        return Err(throw_requested(t));
    }
    Ok(())
}

/// The handler that a frame of the thread is executing.
enum ActiveHandler {
    /// A finally or fault block, a filter, or a class constructor: aborts wait.
    Protected,
    Catch(HandlerFrame),
}

/// Visits the handlers that the thread's frames are in, the innermost first, until `visit` breaks.
fn visit_handlers(t: CurrentThread, mut visit: impl FnMut(ActiveHandler) -> ControlFlow<()>) -> ControlFlow<()> {
    // SAFETY: the current thread's own stack, walked from the stub or thunk that called the runtime.
    for frame in unsafe { Frames::of_thread(t.abi()) } {
        let Some(info) = frame.code() else { continue };
        match info.kind {
            CodeKind::Method => {}
            CodeKind::Filter => {
                visit(ActiveHandler::Protected)?;
                continue;
            }
            _ => continue,
        }
        if info.method.is_null() {
            continue;
        }
        // SAFETY: code of methods is placed with its `&'static Method`.
        let method = unsafe { &*(info.method as *const Method) };
        if method.is_class_constructor() {
            visit(ActiveHandler::Protected)?;
        }
        let Some(offset) = frame.il_offset() else { continue };
        let Ok(Some(body)) = method.body() else { continue };
        let leaves_to = leave_target(body.code, offset);
        for (index, clause) in body.eh_clauses.iter().enumerate() {
            let range = clause.handler_offset..clause.handler_offset + clause.handler_len;
            // At a `leave`, the handlers that it leaves have ended.
            let is_inside = range.contains(&offset) && leaves_to.is_none_or(|target| range.contains(&target));
            match clause.kind {
                _ if !is_inside => {}
                EhKind::Finally | EhKind::Fault => visit(ActiveHandler::Protected)?,
                _ => visit(ActiveHandler::Catch((frame.fp, index)))?,
            }
        }
    }
    ControlFlow::Continue(())
}

/// The catch clauses that the thread's frames are in.
fn catches(t: CurrentThread) -> Vec<HandlerFrame> {
    let mut found = Vec::new();
    let _ = visit_handlers(t, |handler| {
        if let ActiveHandler::Catch(frame) = handler {
            found.push(frame);
        }
        ControlFlow::Continue(())
    });
    found
}

/// The target of the instruction at `offset`, if it is a `leave`. ECMA-335 §III.3.46.
fn leave_target(code: &[u8], offset: u32) -> Option<u32> {
    const LEAVE: u8 = 0xdd;
    const LEAVE_SHORT: u8 = 0xde;
    let (&opcode, operand) = code.get(offset as usize..)?.split_first()?;
    let (distance, length) = match opcode {
        LEAVE => (i32::from_le_bytes(*operand.first_chunk()?), 5),
        LEAVE_SHORT => (i32::from(*operand.first()? as i8), 2),
        _ => return None,
    };
    (offset + length).checked_add_signed(distance)
}

/// Whether an abort has to wait, because the thread is in a finally block or class constructor. The walk ends at the innermost one,
/// because on a deep stack each finally block may ask.
pub fn abort_is_deferred(t: CurrentThread) -> bool {
    visit_handlers(t, |handler| match handler {
        ActiveHandler::Protected => ControlFlow::Break(()),
        ActiveHandler::Catch(_) => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Throws the exception of the request that ended an interruptible wait: ThreadAbortException or ThreadInterruptedException.
pub fn throw_requested(t: CurrentThread) -> Thrown {
    let thread = t.managed();
    if thread.pending_requests() & REQUEST_ABORT != 0 {
        return throw_abort(t);
    }
    thread.take_requests(REQUEST_INTERRUPT);
    match exceptions::new_exception(t, ExceptionType::ThreadInterrupted, None) {
        Ok(exception) => t.throw(exception),
        Err(thrown) => {
            // There was no stack or no memory for the exception: the next wait ends.
            thread.request(REQUEST_INTERRUPT);
            thrown
        }
    }
}

/// Whether an abort or a stack overflow has ever been thrown, perhaps between two steps that belong together.
static HAS_THROWN_ASYNCHRONOUSLY: AtomicBool = AtomicBool::new(false);

fn note_asynchronous() {
    // Relaxed: a look before the exchange, so that it is made once.
    if HAS_THROWN_ASYNCHRONOUSLY.load(Ordering::Relaxed) {
        return;
    }
    // SeqCst: ordered before the actions that the exception keeps the thread from doing.
    if !HAS_THROWN_ASYNCHRONOUSLY.swap(true, Ordering::SeqCst) {
        upcalls().thrown_asynchronously();
    }
}

/// Whether an exception was ever thrown in a thread at a point that the thread did not choose.
pub fn has_thrown_asynchronously() -> bool {
    // SeqCst: pairs with `note_asynchronous`; in one order with the thread pool's numbers (`demand`), beside which it
    // is read.
    HAS_THROWN_ASYNCHRONOUSLY.load(Ordering::SeqCst)
}

/// Throws ThreadAbortException and remembers it, so that it is thrown again when the catch clause is left.
pub fn throw_abort(t: CurrentThread) -> Thrown {
    let thread = t.managed();
    note_asynchronous();
    thread.take_requests(REQUEST_ABORT);
    match exceptions::new_exception(t, ExceptionType::ThreadAbort, None) {
        Ok(exception) => {
            t.set_root(root::ABORT_EXCEPTION, exception);
            *thread_data::of(t).catches_at_abort().borrow_mut() = catches(t);
            thread.set_poll(POLL_INTERRUPT);
            t.throw(exception)
        }
        Err(thrown) => {
            // There was no stack or no memory for the exception: the abort waits for the next safepoint.
            thread.request(REQUEST_ABORT);
            thrown
        }
    }
}

/// Throws the abort in flight again, unless the thread still is in the handler that caught it, or in code where aborts wait.
fn throw_abort_again(t: CurrentThread, abort: Obj) {
    let stays = {
        let before = thread_data::of(t).catches_at_abort().borrow();
        visit_handlers(t, |handler| match handler {
            ActiveHandler::Catch(frame) if before.contains(&frame) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        })
        .is_break()
    };
    if !stays {
        t.set_pending(abort);
    }
}

/// The ThreadAbortException in flight.
pub fn abort_in_flight<'t>(t: CurrentThread<'t>) -> Option<Obj<'t>> {
    t.root(root::ABORT_EXCEPTION)
}

/// Makes the abort in flight a request again.
pub fn unthrow_abort(t: CurrentThread) {
    t.set_root(root::ABORT_EXCEPTION, None::<Obj>);
    thread_data::of(t).catches_at_abort().borrow_mut().clear();
    t.managed().request(REQUEST_ABORT);
}

/// Ends an abort: by `ResetAbort`, or because it has reached the end of the thread.
pub fn forget_abort(t: CurrentThread) {
    let thread = t.managed();
    thread.take_requests(REQUEST_ABORT);
    t.set_root(root::ABORT_EXCEPTION, None::<Obj>);
    t.set_root(root::ABORT_STATE, None::<Obj>);
    thread_data::of(t).catches_at_abort().borrow_mut().clear();
}

/// Whether there is a request that ends waits now. Aborts wait for the end of finally blocks.
pub fn ends_waits(t: CurrentThread) -> bool {
    let requests = t.managed().pending_requests();
    requests & REQUEST_INTERRUPT != 0 || (requests & REQUEST_ABORT != 0 && !abort_is_deferred(t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leave_targets_are_relative_to_the_next_instruction() {
        let check = |code: &[u8], expect| assert_eq!(leave_target(code, 0), expect, "{code:x?}");
        check(&[0xde, 3], Some(5));
        check(&[0xdd, 0xff, 0, 0, 0], Some(260));
        check(&[0xde, 0xfe], Some(0));
        check(&[0xde], None);
        check(&[0x2a], None);
        assert_eq!(leave_target(&[0x2a], 7), None);
    }
}
