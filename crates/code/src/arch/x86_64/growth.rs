//! x86-64: a method's frame moves to the inner part of the stack at the method's entry, and the method returns from
//! there.
//!
//! ```text
//! outer part                            inner part
//!   caller's frame                        top
//!   arguments in memory  ← outer_sp       [link + 8]   the method's real return address
//!   return address                        [link]       the caller's rbp
//!   caller's rbp         ← rbp            [link - 8]   outer_sp, [link - 16] its place here
//!   the method's frame                    arguments in memory, and what lies above them
//!   return address of the poll            address of the landing
//!   the stub's frame                      link         ← rbp
//!                                         the method's frame, the stub's
//! ```
//!
//! The link is a frame like any other: walks find it by the frame pointer of the method, with the landing as its code
//! and the method's caller behind it. A method takes its arguments off the stack when it returns, so the distance of
//! the stack pointer from the place of the arguments says how many those were, and the landing sets the outer stack
//! pointer accordingly. Left out: the choice of the inner part.

use super::registers::ARGUMENTS;
use super::stubs::encode_veneer;
use crate::arch::RETURN_BYTES;
use crate::map::lookup;
use saki_abi::ThreadAbi;
use saki_abi::thread::{
    THREAD_OUTER_LIMIT_OFFSET, THREAD_OUTER_SP_OFFSET, THREAD_POLL_OFFSET, THREAD_POLL_STACK, THREAD_STACK_LIMIT_OFFSET,
};
use std::arch::naked_asm;
use std::ops::Range;

const WORD: usize = size_of::<usize>();
/// Bytes below the frame pointer of a preserving stub, and those of them that hold registers, the lower ones.
const STUB_SAVED_BYTES: usize = 336;
const STUB_REGISTER_BYTES: usize = 328;
/// Arguments in memory that are moved at most. A method with more has no poll that could move it.
const ARGUMENT_BYTES: usize = saki_abi::thread::GROWTH_ARGUMENT_BYTES;
/// Places of frames differ by a multiple of this, so that all in them keeps its alignment.
const ALIGN: usize = 64;
/// Bytes of the jump at the end of `encode_return`.
pub(super) const RETURN_TAIL_BYTES: usize = 14;
/// The link, and what lies beside it.
const LINK_BYTES: usize = 4 * WORD;
const _: () = assert!(ARGUMENTS.len() == 6);

/// Where methods return from the inner part: rbp is the link, the results are in their registers.
///
/// # Safety
/// Only methods whose frames `move_frame` has moved return here, by the body of `encode_return`; r15 is the thread.
#[unsafe(naked)]
unsafe extern "C" fn return_to_outer() {
    naked_asm!(
        "mov r11, [rbp - 8]",
        "add r11, rsp",
        "sub r11, [rbp - 16]",
        "mov r10, [rbp + 8]",
        "mov rbp, [rbp]",
        "mov rsp, r11",
        "mov r11, [r15 + {outer_limit}]",
        "mov [r15 + {stack_limit}], r11",
        "mov qword ptr [r15 + {outer_sp}], 0",
        "lock or dword ptr [r15 + {poll}], {poll_stack}",
        "jmp r10",
        outer_limit = const THREAD_OUTER_LIMIT_OFFSET,
        stack_limit = const THREAD_STACK_LIMIT_OFFSET,
        outer_sp = const THREAD_OUTER_SP_OFFSET,
        poll = const THREAD_POLL_OFFSET,
        poll_stack = const THREAD_POLL_STACK,
    )
}

/// See `Architecture::encode_return_to_outer`. Traps, since nothing else is executed, then a jump that works at every
/// place.
pub(super) fn encode_return() -> [u8; RETURN_BYTES] {
    let mut body = [0xcc; RETURN_BYTES];
    let jump = encode_veneer(return_to_outer as *const () as usize);
    body[RETURN_BYTES - RETURN_TAIL_BYTES..].copy_from_slice(&jump[..RETURN_TAIL_BYTES]);
    body
}

/// See `Architecture::move_frame`.
///
/// # Safety
/// As there.
pub(super) unsafe fn move_frame(
    thread: *mut ThreadAbi,
    registers: [usize; 4],
    inner: Range<usize>,
    landing: usize,
) -> usize {
    // SAFETY: the current thread's, in the hook of the stub (contract).
    let (stub_fp, base) = unsafe { ((*thread).exit_frame, (*thread).stack_base) };
    let read = |address: usize| {
        debug_assert!(address.is_multiple_of(WORD) && address < base);
        // SAFETY: a word between the stack pointer of the stub, which waits, and the base of its thread's stack.
        unsafe { (address as *const usize).read() }
    };
    let [fp, poll_pc] = [read(stub_fp), read(stub_fp + WORD)];
    let [stub_sp, frame_sp, arguments] = [stub_fp - STUB_SAVED_BYTES, stub_fp + 2 * WORD, fp + 2 * WORD];
    let end = arguments + ARGUMENT_BYTES.min(base - arguments) / WORD * WORD;
    // A frame of which something knows the address stays where it is. Words that are never read may hold anything.
    let own = frame_sp..arguments;
    let mut dead = Vec::new();
    if let Some(live) = lookup(poll_pc - 1).and_then(|info| info.live_words(poll_pc)) {
        live.for_each_dead(|bytes_below_fp| dead.push(fp - bytes_below_fp as usize));
    }
    let saved = (stub_sp..stub_sp + STUB_REGISTER_BYTES).step_by(WORD).map(read);
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
