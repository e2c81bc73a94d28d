//! x86-64: the stand-ins for stubs, and the places that relocations name.

use saki_abi::RelocKind;
use saki_abi::thread::{THREAD_PENDING_EXCEPTION_OFFSET, THREAD_STUB_ARG_OFFSET};
use std::ops::Range;

/// `ud2`
pub const TRAP: &[u8] = &[0x0f, 0x0b];

std::arch::global_asm!(
    ".globl saki_jit_test_enter",
    // (code, args, ret, thunk, thread, saved: *mut [usize; 2]) -> 0, or the exception that was not caught
    "saki_jit_test_enter:",
    "push rbp", "mov rbp, rsp", "push rbx", "push r12", "push r13", "push r14", "push r15", "push r9",
    "mov r15, r8", "mov [r9], rsp", "mov [r9 + 8], rbp",
    "call rcx",
    "xor eax, eax",
    "saki_jit_test_leave:",
    "pop r9", "pop r15", "pop r14", "pop r13", "pop r12", "pop rbx", "pop rbp",
    "ret",
    ".globl saki_jit_test_escape",
    // (exception, saved rsp)
    "saki_jit_test_escape:",
    "mov rax, rdi", "mov rsp, rsi", "jmp saki_jit_test_leave",
    ".globl saki_jit_test_land",
    // (exception, payload, rsp, rbp, pc, thread, callee-saved registers)
    "saki_jit_test_land:",
    "mov rax, [rsp + 8]", "mov rbx, [rax]", "mov r12, [rax + 8]", "mov r13, [rax + 16]", "mov r14, [rax + 24]",
    "mov rax, rdi", "mov r11, rsi", "mov rsp, rdx", "mov rbp, rcx", "mov r15, r9", "mov rdx, r11", "jmp r8",
    ".globl saki_jit_test_throw_pending",
    "saki_jit_test_throw_pending:",
    "mov rdi, r15", "mov rsi, rbp", "mov rdx, [rsp]",
    "push r14", "push r13", "push r12", "push rbx", "mov rcx, rsp", "and rsp, -16", "call {unwind}",
    ".globl saki_jit_test_poll",
    "saki_jit_test_poll:",
    "mov dword ptr [r15 + {poll}], 0", "add qword ptr [r15 + {result}], 1", "ret",
    ".globl saki_jit_test_barrier",
    "saki_jit_test_barrier:",
    "add qword ptr [r15 + {result}], 1", "ret",
    unwind = sym super::unwind,
    poll = const saki_abi::thread::THREAD_POLL_OFFSET,
    result = const saki_abi::thread::THREAD_STUB_RESULT_OFFSET,
);

/// `jmp [r15 + stub_arg]`
pub fn call_native() -> Vec<u8> {
    [&[0x41, 0xff, 0xa7][..], &THREAD_STUB_ARG_OFFSET.to_le_bytes()].concat()
}

/// `mov [r15 + pending], rdi; movabs rax, address; jmp rax`
pub fn resume_unwind(address: usize) -> Vec<u8> {
    let store = [&[0x49, 0x89, 0xbf][..], &THREAD_PENDING_EXCEPTION_OFFSET.to_le_bytes()].concat();
    [&store[..], &[0x48, 0xb8], &address.to_le_bytes(), &[0xff, 0xe0]].concat()
}

/// A jump that changes no register: `jmp [rip + 0]; target`.
pub fn jump(target: usize) -> Vec<u8> {
    [&[0xff, 0x25, 0, 0, 0, 0][..], &target.to_le_bytes()].concat()
}

/// # Safety
/// `field` is the place of such a relocation in writable code.
pub unsafe fn relocate(field: usize, kind: RelocKind, value: i64) {
    // SAFETY: the field has as many bytes (contract).
    unsafe {
        match kind {
            RelocKind::Absolute8 => (field as *mut i64).write_unaligned(value),
            RelocKind::X86PcRelative4 => {
                let relative = i32::try_from(value - field as i64).expect("near");
                (field as *mut i32).write_unaligned(relative);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// What was written there may be executed.
pub fn synchronise(_: Range<usize>) {}
