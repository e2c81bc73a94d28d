//! Stacks that grow: at the entry of a method its frame moves to another, larger part of the stack, and all that the
//! method calls runs there. When it returns, or is left by an exception, the thread goes on in the outer part.
//!
//! Invariant: the inner part lies at lower addresses than the outer one, so frame pointers grow outwards across the
//! two, as in one part. Only a frame of which nothing knows the address moves: that of a method at its entry, before it
//! has done anything. Left out: when stacks grow, and where parts come from (`thread`, `sched`).

use crate::arch::{Arch, Architecture, RETURN_BYTES};
use crate::info::{CodeKind, NewBody};
use saki_abi::ThreadAbi;
use std::ops::Range;
use std::sync::OnceLock;

/// The address to which methods return from the inner part, in a body of its own. None without room for code.
fn landing() -> Option<usize> {
    static LANDING: OnceLock<Option<usize>> = OnceLock::new();
    *LANDING.get_or_init(|| {
        let body = Arch::encode_return_to_outer().to_vec();
        let info = NewBody::new(CodeKind::HelperThunk, std::ptr::null(), "return to the outer part of the stack");
        crate::heap::place(body, 32, &[], info).ok().map(|info| info.start + RETURN_BYTES - Arch::RETURN_TAIL_BYTES)
    })
}

/// Moves the frame of the method whose entry polls to the end of `inner`, and the stub's frame with it. Returns the
/// stack pointer that the stub goes on with, or 0 if the frame cannot be moved.
///
/// # Safety
/// For the hook of `StubId::PollEntry`, which got `registers` from the stub: `thread` is current, `exit_frame` is the
/// stub's frame, the stack is in one part. `inner` is writable memory below the stack that nothing uses until the
/// thread has left it.
pub unsafe fn grow(thread: *mut ThreadAbi, registers: [usize; 4], inner: Range<usize>) -> usize {
    match landing() {
        // SAFETY: the contract is the same.
        Some(landing) => unsafe { Arch::move_frame(thread, registers, inner, landing) },
        None => 0,
    }
}
