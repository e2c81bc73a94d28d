//! Stacks that grow: at the entry of a method its frame moves to another, larger part of the stack, and all that the
//! method calls runs there. When it returns, or is left by an exception, the thread goes on in the outer part.
//!
//! ```text
//! outer part                            inner part
//!   caller's frame                        top
//!   arguments in memory  ← outer_sp       [link + 8]   the method's real return address
//!   return address                        [link]       the caller's frame pointer
//!   caller's FP          ← FP             [link - 8]   outer_sp, [link - 16] its place here
//!   the method's frame                    arguments in memory, and what lies above them
//!   return address of the poll            address of the landing
//!   FP, and the stub's frame              link         ← FP
//!                                         the method's frame, the stub's
//! ```
//!
//! The link is a frame like any other: walks find it by the frame pointer of the method, with the landing as its code
//! and the method's caller behind it. A method takes its arguments off the stack when it returns, so the distance of
//! the stack pointer from the place of the arguments says how many those were, and the landing sets the outer stack
//! pointer accordingly.
//!
//! Invariant: the inner part lies at lower addresses than the outer one, so frame pointers grow outwards across the
//! two, as in one part. Only a frame of which nothing knows the address moves: that of a method at its entry, before it
//! has done anything. Left out: when stacks grow, and where parts come from (`thread`, `sched`).

use crate::arch::{Arch, Architecture, RETURN_BYTES};
use crate::info::{CodeKind, NewBody};
use crate::map::lookup;
use saki_abi::ThreadAbi;
use std::ops::Range;
use std::sync::OnceLock;

const WORD: usize = size_of::<usize>();
/// Arguments in memory that are moved at most. A method with more has no poll that could move it.
const ARGUMENT_BYTES: usize = saki_abi::thread::GROWTH_ARGUMENT_BYTES;
/// Places of frames differ by a multiple of this, so that all in them keeps its alignment.
const ALIGN: usize = 64;
/// The link, and what lies beside it.
const LINK_BYTES: usize = 4 * WORD;

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
        Some(landing) => unsafe { move_frame(thread, registers, inner, landing) },
        None => 0,
    }
}

/// See `grow`.
///
/// # Safety
/// As there; `landing` is the address in the body of `encode_return_to_outer`.
unsafe fn move_frame(thread: *mut ThreadAbi, registers: [usize; 4], inner: Range<usize>, landing: usize) -> usize {
    // SAFETY: the current thread's, in the hook of the stub (contract).
    let (stub_fp, base) = unsafe { ((*thread).exit_frame, (*thread).stack_base) };
    let read = |address: usize| {
        debug_assert!(address.is_multiple_of(WORD) && address < base);
        // SAFETY: a word between the stack pointer of the stub, which waits, and the base of its thread's stack.
        unsafe { (address as *const usize).read() }
    };
    let [fp, poll_pc] = [read(stub_fp), read(stub_fp + WORD)];
    let [stub_sp, frame_sp, arguments] = [stub_fp - Arch::POLL_ENTRY_SAVED_BYTES, stub_fp + 2 * WORD, fp + 2 * WORD];
    let end = arguments + ARGUMENT_BYTES.min(base - arguments) / WORD * WORD;
    // A frame of which something knows the address stays where it is. Words that are never read may hold anything.
    let own = frame_sp..arguments;
    let mut dead = Vec::new();
    if let Some(live) = lookup(poll_pc - 1).and_then(|info| info.live_words(poll_pc)) {
        live.for_each_dead(|bytes_below_fp| dead.push(fp - bytes_below_fp as usize));
    }
    let saved = (stub_sp..stub_sp + Arch::POLL_ENTRY_REGISTER_BYTES).step_by(WORD).map(read);
    let words = (frame_sp..fp).step_by(WORD).filter(|address| !dead.contains(address)).map(read);
    if registers.into_iter().chain(saved).chain(words).any(|word| own.contains(&word)) {
        return 0;
    }
    let link = (inner.end - LINK_BYTES) & !(2 * WORD - 1);
    if inner.len() < 2 * (end - stub_sp) + ALIGN + LINK_BYTES {
        return 0;
    }
    let highest = link - 2 * WORD - (end - arguments);
    let moved_arguments = highest - (highest.wrapping_sub(arguments) & (ALIGN - 1));
    let down_by = arguments.wrapping_sub(moved_arguments);
    let place = |address: usize| address.wrapping_sub(down_by);
    let write = |address: usize, word: usize| {
        // SAFETY: the inner part is the thread's, writable and unused (contract), and has room: checked above.
        unsafe { (address as *mut usize).write(word) };
    };
    for address in (stub_sp..end).step_by(WORD) {
        write(place(address), read(address));
    }
    write(place(stub_fp), place(fp));
    write(place(fp), link);
    write(place(fp + WORD), landing);
    write(link - 2 * WORD, moved_arguments);
    write(link - WORD, arguments);
    write(link, read(fp));
    write(link + WORD, read(fp + WORD));
    // SAFETY: the current thread, which alone writes these fields (contract).
    unsafe {
        (*thread).outer_limit = (*thread).stack_limit;
        ((*thread).stack_limit, (*thread).inner_top, (*thread).outer_sp) = (inner.start, inner.end, arguments);
    }
    place(stub_sp)
}
