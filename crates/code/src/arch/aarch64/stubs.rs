//! aarch64: the assembly stubs, and the small stubs that are made at run time: entry stubs, unboxing stubs, veneers.
//!
//! Every stub that calls Rust builds a frame record and stores its address in `ThreadAbi.exit_frame`, so that walks
//! start at its caller and the conservative collector finds the saved registers on the stack. Stubs keep x21.
//!
//! ```text
//! frame of a stub                     frame of `saki_enter` (EntryFrame)
//! x29 + 8   return address (managed)  x29 + 8   return address (Rust)
//! x29       caller's x29 (managed)    x29       caller's x29 (Rust)
//! below     saved registers           below     x19 … x28, d8 … d15, previous exit_frame, result pointer
//! ```
//! Managed arguments are in x2 … x7 and v0 … v7, results in x2 and v0 (Cranelift's Tail convention); landings get their
//! two values in x0 and x1. Entry stubs reach the next code by `br x16` always: so the lazy tail, and behind it the
//! compile trampoline, finds its own address in x16. Veneers use x17.
//!
//! Left out: stubs for calls of native code (`native_calls`).

use super::instructions::{
    FIRST_ARGUMENT, INSTRUCTION_BYTES, TRAP, X16, X17, add_immediate, branch, branch_register, load_in_page,
    load_literal, page_address,
};
use super::native_calls;
use crate::arch::STUB_BYTES;
use crate::hooks::{self, StubHooks, StubTable};
use crate::imt;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_abi::thread::{THREAD_EXIT_FRAME_OFFSET, THREAD_IMT_METHOD_OFFSET};
use saki_abi::{StubId, ThreadAbi};
use std::arch::naked_asm;
use std::mem::offset_of;

/// EntryFrame: the previous `exit_frame` is at FP + this.
pub(super) const ENTRY_PREVIOUS_EXIT_OFFSET: isize = -160;
/// EntryFrame: SP = FP − this while managed code runs.
pub(super) const ENTRY_SAVED_BYTES: usize = 160;
/// Bytes of the registers below the frame pointer of `poll_entry_stub`.
pub(super) const POLL_ENTRY_SAVED_BYTES: usize = 720;
/// Offset of an entry stub's lazy tail, its last instruction.
pub(super) const LAZY_TAIL_OFFSET: usize = 3 * INSTRUCTION_BYTES;

unsafe extern "C" {
    /// Labels inside `saki_enter`.
    pub(super) safe fn saki_enter_return();
    pub(super) safe fn saki_enter_unwound();
}

/// # Safety
/// See `crate::enter`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn saki_enter(
    thread: *mut ThreadAbi,
    target: usize,
    argument0: u64,
    argument1: u64,
    argument2: u64,
    result: *mut u64,
) -> u32 {
    naked_asm!(
        "stp x29, x30, [sp, #-16]!",
        "mov x29, sp",
        "sub sp, sp, #{saved}",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x21, x0",
        "ldr x9, [x21, #{exit_frame}]",
        "stp x9, x5, [sp]",
        // The other arguments are in their registers: x2, x3, x4.
        "blr x1",
        ".globl saki_enter_return",
        ".hidden saki_enter_return",
        "saki_enter_return:",
        "ldr x9, [x29, #-152]",
        "cbz x9, 2f",
        "str x2, [x9]",
        "2:",
        "mov w0, #0",
        "3:",
        "ldr x9, [sp]",
        "str x9, [x21, #{exit_frame}]",
        "ldp x19, x20, [sp, #16]",
        "ldp x21, x22, [sp, #32]",
        "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]",
        "ldp x27, x28, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "mov sp, x29",
        "ldp x29, x30, [sp], #16",
        "ret",
        ".globl saki_enter_unwound",
        ".hidden saki_enter_unwound",
        "saki_enter_unwound:",
        "mov w0, #1",
        "b 3b",
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        saved = const ENTRY_SAVED_BYTES,
    )
}

/// Saves the argument registers below a fresh frame and records the frame.
macro_rules! save_arguments {
    () => {
        "stp x29, x30, [sp, #-16]!
         mov x29, sp
         sub sp, sp, #176
         stp x2, x3, [sp]
         stp x4, x5, [sp, #16]
         stp x6, x7, [sp, #32]
         stp q0, q1, [sp, #48]
         stp q2, q3, [sp, #80]
         stp q4, q5, [sp, #112]
         stp q6, q7, [sp, #144]
         str x29, [x21, #{exit_frame}]"
    };
}

/// Undoes `save_arguments`, then jumps to the address in x0, or throws the pending exception if the address is 0.
macro_rules! restore_arguments_and_jump {
    () => {
        "mov x16, x0
         ldp x2, x3, [sp]
         ldp x4, x5, [sp, #16]
         ldp x6, x7, [sp, #32]
         ldp q0, q1, [sp, #48]
         ldp q2, q3, [sp, #80]
         ldp q4, q5, [sp, #112]
         ldp q6, q7, [sp, #144]
         mov sp, x29
         ldp x29, x30, [sp], #16
         cbz x16, 9f
         br x16
         9:
         b {throw_pending}"
    };
}

/// The compile trampoline. The lazy tail of an entry stub leads here: x16 is that tail's address.
///
/// # Safety
/// Only lazy tails of entry stubs lead here, in managed code: x21 is the thread, and the method's arguments are in
/// place.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn compile_trampoline() {
    naked_asm!(
        save_arguments!(),
        "mov x0, x21",
        "sub x1, x16, #{lazy_tail}",
        "adrp x16, {hooks}",
        "add x16, x16, #:lo12:{hooks}",
        "ldr x16, [x16, #{compile}]",
        "blr x16",
        restore_arguments_and_jump!(),
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        lazy_tail = const LAZY_TAIL_OFFSET,
        hooks = sym hooks::HOOKS,
        compile = const offset_of!(StubTable, compile_entry),
        throw_pending = sym throw_pending,
    )
}

/// Interface dispatch: receiver in x2, method in the thread struct; probes the cache, else calls the hook.
///
/// # Safety
/// Only calls through IMT slots come here: x21 is the thread, x2 a non-null object, `ThreadAbi::imt_method` the
/// interface method.
#[unsafe(naked)]
unsafe extern "C" fn imt_resolve() {
    naked_asm!(
        "ldr x9, [x21, #{imt_method}]",
        "ldr x10, [x2]",
        "add x11, x9, x10",
        "adrp x12, {multiplier}",
        "ldr x12, [x12, #:lo12:{multiplier}]",
        "mul x11, x11, x12",
        "lsr x11, x11, #{shift}",
        "adrp x12, {buckets}",
        "add x12, x12, #:lo12:{buckets}",
        // What the node holds was stored before its address: the loads below depend on this one.
        "ldr x11, [x12, x11, lsl #3]",
        "2:",
        "cbz x11, 4f",
        "ldr x12, [x11]",
        "cmp x12, x10",
        "b.ne 3f",
        "ldr x12, [x11, #{node_method}]",
        "cmp x12, x9",
        "b.ne 3f",
        "ldr x16, [x11, #{node_target}]",
        "br x16",
        "3:",
        "ldr x11, [x11, #{node_next}]",
        "b 2b",
        "4:",
        save_arguments!(),
        "mov x0, x21",
        "mov x1, x2",
        "mov x2, x9",
        "bl {resolve}",
        restore_arguments_and_jump!(),
        imt_method = const THREAD_IMT_METHOD_OFFSET,
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        multiplier = sym imt::MULTIPLIER_WORD,
        shift = const imt::BUCKET_SHIFT,
        buckets = sym imt::BUCKETS,
        node_method = const imt::NODE_METHOD_OFFSET,
        node_target = const imt::NODE_TARGET_OFFSET,
        node_next = const imt::NODE_NEXT_OFFSET,
        resolve = sym imt::resolve_interface,
        throw_pending = sym throw_pending,
    )
}

/// Saves every register that the C ABI may change, calls the hook with the thread, restores the registers. x16 and x17
/// hold nothing across a call, and x18 is the platform's.
macro_rules! preserving_stub {
    ($(#[$doc:meta])* $name:ident, $hook:ident) => {
        preserving_stub!($(#[$doc])* $name, $hook, "", "");
    };
    ($(#[$doc:meta])* $name:ident, $hook:ident, $before_call:literal, $after_call:literal) => {
        $(#[$doc])*
        /// # Safety
        /// Only managed code calls this stub: x21 is the thread, and `stub_arg` holds the arguments that `StubId`
        /// documents.
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "stp x29, x30, [sp, #-16]!",
                "mov x29, sp",
                "sub sp, sp, #640",
                "stp x0, x1, [sp]",
                "stp x2, x3, [sp, #16]",
                "stp x4, x5, [sp, #32]",
                "stp x6, x7, [sp, #48]",
                "stp x8, x9, [sp, #64]",
                "stp x10, x11, [sp, #80]",
                "stp x12, x13, [sp, #96]",
                "stp x14, x15, [sp, #112]",
                "stp q0, q1, [sp, #128]",
                "stp q2, q3, [sp, #160]",
                "stp q4, q5, [sp, #192]",
                "stp q6, q7, [sp, #224]",
                "stp q8, q9, [sp, #256]",
                "stp q10, q11, [sp, #288]",
                "stp q12, q13, [sp, #320]",
                "stp q14, q15, [sp, #352]",
                "stp q16, q17, [sp, #384]",
                "stp q18, q19, [sp, #416]",
                "stp q20, q21, [sp, #448]",
                "stp q22, q23, [sp, #480]",
                "stp q24, q25, [sp, #512]",
                "stp q26, q27, [sp, #544]",
                "stp q28, q29, [sp, #576]",
                "stp q30, q31, [sp, #608]",
                "str x29, [x21, #{exit_frame}]",
                "mov x0, x21",
                $before_call,
                "adrp x16, {hooks}",
                "add x16, x16, #:lo12:{hooks}",
                "ldr x16, [x16, #{hook}]",
                "blr x16",
                $after_call,
                "ldp x0, x1, [sp]",
                "ldp x2, x3, [sp, #16]",
                "ldp x4, x5, [sp, #32]",
                "ldp x6, x7, [sp, #48]",
                "ldp x8, x9, [sp, #64]",
                "ldp x10, x11, [sp, #80]",
                "ldp x12, x13, [sp, #96]",
                "ldp x14, x15, [sp, #112]",
                "ldp q0, q1, [sp, #128]",
                "ldp q2, q3, [sp, #160]",
                "ldp q4, q5, [sp, #192]",
                "ldp q6, q7, [sp, #224]",
                "ldp q8, q9, [sp, #256]",
                "ldp q10, q11, [sp, #288]",
                "ldp q12, q13, [sp, #320]",
                "ldp q14, q15, [sp, #352]",
                "ldp q16, q17, [sp, #384]",
                "ldp q18, q19, [sp, #416]",
                "ldp q20, q21, [sp, #448]",
                "ldp q22, q23, [sp, #480]",
                "ldp q24, q25, [sp, #512]",
                "ldp q26, q27, [sp, #544]",
                "ldp q28, q29, [sp, #576]",
                "ldp q30, q31, [sp, #608]",
                "mov sp, x29",
                "ldp x29, x30, [sp], #16",
                "ret",
                exit_frame = const THREAD_EXIT_FRAME_OFFSET,
                hooks = sym hooks::HOOKS,
                hook = const offset_of!(StubHooks, $hook),
            )
        }
    };
}

preserving_stub!(poll_stub, poll);
preserving_stub!(
    /// `StubId::PollEntry`: goes on where the hook has moved the frames. The callee-saved registers are in the stub's
    /// frame, so none is passed to the hook.
    ///
    poll_entry_stub,
    poll_entry,
    "sub sp, sp, #80
     stp x19, x20, [sp]
     stp x21, x22, [sp, #16]
     stp x23, x24, [sp, #32]
     stp x25, x26, [sp, #48]
     stp x27, x28, [sp, #64]
     mov x1, #0
     mov x2, #0
     mov x3, #0
     mov x4, #0",
    "cbz x0, 2f
     mov sp, x0
     add x29, sp, #720 // POLL_ENTRY_SAVED_BYTES
     2:
     add sp, sp, #80"
);
preserving_stub!(class_init_stub, class_init);
preserving_stub!(alloc_slow_stub, alloc_slow);
preserving_stub!(barrier_slow_stub, barrier_slow);
preserving_stub!(hot_stub, hot);

/// `StubId::DemoteLine`: there is no such instruction.
///
/// # Safety
/// No requirements.
#[unsafe(naked)]
unsafe extern "C" fn demote_line() {
    naked_asm!("ret")
}

/// Makes a frame with room for a `Landing`, which the hook gets in x2, with the thread in x0 and the frame in x1.
macro_rules! begin_throw {
    () => {
        "stp x29, x30, [sp, #-16]!
         mov x29, sp
         str x29, [x21, #{exit_frame}]
         sub sp, sp, #48"
    };
}

/// Loads the landing and jumps there; the unwinder's frames have returned by now. No landing reads a callee-saved
/// register other than x21: one in a method is the exceptional edge of a call, which keeps no value in a register, so
/// that the method saves all of them for its own caller at its entry; one in an entry frame loads what that frame has
/// saved. Until then the registers hold values of the frames that are gone. Rust and native functions would save these
/// on their stacks, where collections take them for references as long as the method runs; so they are cleared.
macro_rules! land {
    () => {
        "mov x19, #0
         mov x20, #0
         mov x22, #0
         mov x23, #0
         mov x24, #0
         mov x25, #0
         mov x26, #0
         mov x27, #0
         mov x28, #0
         ldp x16, x17, [sp]
         ldr x29, [sp, #16]
         ldp x0, x1, [sp, #24]
         mov sp, x17
         br x16"
    };
}

/// Calls a hook of the unwinder and lands where it says. The lines set the hook's arguments behind the first three,
/// which `begin_throw` tells.
macro_rules! throw_through {
    ($hook:ident $(, $argument:literal)*) => {
        naked_asm!(
            begin_throw!(),
            $($argument,)*
            "mov x0, x21",
            "mov x1, x29",
            "mov x2, sp",
            "adrp x16, {hooks}",
            "add x16, x16, #:lo12:{hooks}",
            "ldr x16, [x16, #{hook}]",
            "blr x16",
            land!(),
            exit_frame = const THREAD_EXIT_FRAME_OFFSET,
            hooks = sym hooks::HOOKS,
            hook = const offset_of!(StubHooks, unwind.$hook),
        )
    };
}

/// `StubId::ThrowPending`.
///
/// # Safety
/// Only managed code and its thunks call this: x21 is the thread, `pending_exception` is set, x29 the caller's frame.
/// Never returns.
#[unsafe(naked)]
unsafe extern "C" fn throw_pending() {
    throw_through!(throw_pending)
}

/// `StubId::ResumeUnwind`: exception in x2, token in x3.
///
/// # Safety
/// Only the end of a finally or fault handler calls this: x21 is the thread, x2 and x3 the values with which the
/// handler was entered.
#[unsafe(naked)]
unsafe extern "C" fn resume_unwind() {
    throw_through!(resume, "mov x4, x3", "mov x3, x2")
}

/// The signal handler continues the thread here: fault kind in x0, faulting PC + 1 in x30.
///
/// # Safety
/// Only a signal context edited by the fault handler leads here: x21 is the thread, x29 the faulting frame. Never
/// returns.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn fault_throw() {
    throw_through!(fault, "mov x3, x0")
}

/// The stub that compiled code names by `id`.
pub(super) fn of_id(id: StubId) -> unsafe extern "C" fn() {
    match id {
        StubId::ThrowPending => throw_pending,
        StubId::ResumeUnwind => resume_unwind,
        StubId::Poll => poll_stub,
        StubId::PollEntry => poll_entry_stub,
        StubId::ClassInit => class_init_stub,
        StubId::AllocSlow => alloc_slow_stub,
        StubId::BarrierSlow => barrier_slow_stub,
        StubId::Hot => hot_stub,
        StubId::DemoteLine => demote_line,
        StubId::ImtResolve => imt_resolve,
        StubId::CallNative => native_calls::call_native,
        StubId::CallNativeSavingError => native_calls::knowing_errno(native_calls::call_native_saving_error),
        StubId::CallNativeInMemory => native_calls::call_native_in_memory,
        StubId::CallNativeInMemorySavingError => {
            native_calls::knowing_errno(native_calls::call_native_in_memory_saving_error)
        }
    }
}

/// A stub of these instructions.
fn stub_of(instructions: [u32; STUB_BYTES / INSTRUCTION_BYTES]) -> [u8; STUB_BYTES] {
    let mut bytes = [0; STUB_BYTES];
    for (place, instruction) in bytes.as_chunks_mut().0.iter_mut().zip(instructions) {
        *place = instruction.to_le_bytes();
    }
    bytes
}

/// `adrp` at the address `place`, and the `ldr`, of the word at `cell`.
fn load_cell(place: usize, cell: usize) -> [u32; 2] {
    let page = page_address(X16, place, cell).expect("the region and its data lie within 4 GiB");
    [page, load_in_page(X16, X16, cell)]
}

/// `adrp x16, cell; ldr x16, [x16, cell]; br x16; b hop`
pub(super) fn encode_entry(stub: usize, cell: usize, hop: usize) -> [u8; STUB_BYTES] {
    let [page, load] = load_cell(stub, cell);
    let tail = branch(stub + LAZY_TAIL_OFFSET, hop).expect("code lies within 128 MiB");
    stub_of([page, load, branch_register(X16), tail])
}

/// `add x2, x2, 16; adrp x16, cell; ldr x16, [x16, cell]; br x16`
pub(super) fn encode_unbox(stub: usize, cell: usize) -> [u8; STUB_BYTES] {
    let [page, load] = load_cell(stub + INSTRUCTION_BYTES, cell);
    let unbox = add_immediate(FIRST_ARGUMENT, FIRST_ARGUMENT, OBJECT_HEADER_BYTES);
    stub_of([unbox, page, load, branch_register(X16)])
}

/// `ldr x17, .+8; br x17; target`, which works at every place.
pub(super) fn encode_veneer(target: usize) -> [u8; STUB_BYTES] {
    const LITERAL_OFFSET: usize = 2 * INSTRUCTION_BYTES;
    let mut stub = stub_of([load_literal(X17, LITERAL_OFFSET as u32), branch_register(X17), TRAP, TRAP]);
    stub[LITERAL_OFFSET..].copy_from_slice(&target.to_le_bytes());
    stub
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_stubs_have_the_instructions_that_trampolines_rely_on() {
        // As GNU as encodes them.
        let words = |stub: [u8; STUB_BYTES]| -> [u32; 4] {
            let (words, _) = stub.as_chunks();
            [0, 1, 2, 3].map(|index| u32::from_le_bytes(words[index]))
        };
        assert_eq!(words(encode_entry(0x1000, 0x5008, 0x800)), [0x9000_0030, 0xf940_0610, 0xd61f_0200, 0x17ff_fdfd]);
        assert_eq!(words(encode_unbox(0x1000, 0x5008)), [0x9100_4042, 0x9000_0030, 0xf940_0610, 0xd61f_0200]);
        assert_eq!(words(encode_veneer(0x1122_3344_5566_7788)), [0x5800_0051, 0xd61f_0220, 0x5566_7788, 0x1122_3344]);
    }
}
