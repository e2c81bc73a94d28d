//! Stack walks over frame pointers, two-pass exceptions, and faults that become exceptions.
//!
//! Invariant: no Rust frame is ever unwound through. Throwing happens in assembly stubs of `code` whose Rust part only
//! computes a [`Landing`] and returns; the stub then jumps there. Left out: everything about the exception object
//! (callbacks), the contents of stack traces, `ExceptionDispatchInfo`.
//!
//! # The stack
//!
//! ```text
//!   Rust                      helper, hook
//!   stub / helper thunk       ← ThreadAbi.exit_frame = its rbp; [rbp+8] returns into managed code
//!   managed … managed         rbp chain, each pc in the code map
//!   invoke thunk
//!   saki_enter (EntryFrame)   recognised by the return address into it; holds the previous exit_frame
//!   Rust                      skipped: the walk goes on at the previous exit_frame
//!   stub / helper thunk …
//! ```
//!
//! # Exceptions
//!
//! A throw starts in `StubId::ThrowPending` with the exception in `pending_exception`.
//!
//! **Pass 1** walks from the stub's caller. For each frame it reports the frame to the trace (`on_frame`), then looks
//! at the handlers of the frame's call site, innermost first: a catch clause asks `is_instance`; a filter clause runs
//! the filter function on top of the stack (so the throwing frames still exist), where an exception thrown by the
//! filter counts as "no" (ECMA-335 §I.12.4.2.5). Catch and filter clauses, and in pass 2 the catch handler, get the
//! object that `as_seen_by` returns for the frame: for a RuntimeWrappedException the wrapped object, if the frame's
//! assembly does not ask for wrapping. The first clause that answers yes is the target (frame pointer, clause). An
//! EntryFrame ends the pass and is itself the target: `enter` returns 1 after the finally handlers have run, and its
//! caller reports the exception, or hands it on.
//!
//! **Pass 2** walks again from the same place. The first finally or fault handler, innermost first, up to the target
//! handler, is landed in; if there is none, the target is. Landing in a finally or fault handler hands over an *unwind
//! token* = target frame pointer ‖ target clause. When the handler is done it calls `StubId::ResumeUnwind(exception,
//! token)`; pass 2 goes on at that call's site, whose handlers are the outer ones.
//!
//! All state of an unwinding is thus in values of the frame that runs the handler; the thread holds none:
//! - an exception thrown in a finally handler and caught inside it leaves the outer unwinding's token untouched;
//! - one that leaves the finally handler replaces the outer exception: the frame that held the token is abandoned;
//! - filters nest on the stack; green threads switch in handlers freely; the collector sees the exception in a frame.
//!
//! At an EntryFrame target, `enter` returns 1 with the exception in `pending_exception`. The Rust caller passes it on
//! by returning to its own thunk, which throws it again from there (without a new trace: only `on_frame` appends).
//!
//! # Faults
//!
//! See [`fault`]: a signal whose PC is in compiled code continues in a stub that throws from that PC.

mod callbacks;
mod dead_words;
mod dispatch;
pub mod fault;
mod frames;
mod lost_file;
mod overflow;
mod stack_memo;

pub use callbacks::{Callbacks, EndCause, FaultKind, install};
pub use dead_words::find_dead_words;
pub use dispatch::HOOKS;
pub use frames::{ContextFrames, Frame, FrameKind, Frames, Interrupted};
pub use saki_code::Landing;
pub use stack_memo::{MORE_FRAMES, NO_FRAMES, StackIds, StackMemo};
