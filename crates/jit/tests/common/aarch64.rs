//! aarch64: the stand-ins for stubs, and the places that relocations name.

use saki_abi::RelocKind;
use saki_abi::thread::{THREAD_PENDING_EXCEPTION_OFFSET, THREAD_STUB_ARG_OFFSET};
use std::ffi::c_void;
use std::ops::Range;

/// `udf #0xc11f`
pub const TRAP: &[u8] = &[0x1f, 0xc1, 0, 0];

std::arch::global_asm!(
    ".globl saki_jit_test_enter",
    // (code, args, ret, thunk, thread, saved: *mut [usize; 2]) -> 0, or the exception that was not caught
    "saki_jit_test_enter:",
    "stp x29, x30, [sp, #-16]!", "mov x29, sp", "sub sp, sp, #144",
    "stp x19, x20, [sp]", "stp x21, x22, [sp, #16]", "stp x23, x24, [sp, #32]", "stp x25, x26, [sp, #48]",
    "stp x27, x28, [sp, #64]", "stp d8, d9, [sp, #80]", "stp d10, d11, [sp, #96]", "stp d12, d13, [sp, #112]",
    "stp d14, d15, [sp, #128]",
    "mov x9, sp", "stp x9, x29, [x5]",
    "mov x21, x4", "mov x16, x3", "mov x4, x2", "mov x3, x1", "mov x2, x0",
    "blr x16",
    "mov x0, #0",
    "saki_jit_test_leave:",
    "ldp x19, x20, [sp]", "ldp x21, x22, [sp, #16]", "ldp x23, x24, [sp, #32]", "ldp x25, x26, [sp, #48]",
    "ldp x27, x28, [sp, #64]", "ldp d8, d9, [sp, #80]", "ldp d10, d11, [sp, #96]", "ldp d12, d13, [sp, #112]",
    "ldp d14, d15, [sp, #128]",
    "add sp, sp, #144", "ldp x29, x30, [sp], #16",
    "ret",
    ".globl saki_jit_test_escape",
    // (exception, saved sp)
    "saki_jit_test_escape:",
    "mov sp, x1", "b saki_jit_test_leave",
    ".globl saki_jit_test_land",
    // (exception, payload, sp, x29, pc, thread, callee-saved registers, which landings do not keep)
    "saki_jit_test_land:",
    "mov sp, x2", "mov x29, x3", "mov x21, x5",
    // No landing reads these.
    "mov x19, #-1", "mov x20, #-1", "mov x22, #-1", "mov x28, #-1", "fmov d8, x19", "fmov d15, x19",
    "br x4",
    ".globl saki_jit_test_throw_pending",
    "saki_jit_test_throw_pending:",
    "mov x0, x21", "mov x1, x29", "mov x2, x30", "bl {unwind}",
    ".globl saki_jit_test_poll",
    "saki_jit_test_poll:",
    "str wzr, [x21, #{poll}]",
    ".globl saki_jit_test_barrier",
    "saki_jit_test_barrier:",
    "ldr x16, [x21, #{result}]", "add x16, x16, #1", "str x16, [x21, #{result}]", "ret",
    unwind = sym super::unwind,
    poll = const saki_abi::thread::THREAD_POLL_OFFSET,
    result = const saki_abi::thread::THREAD_STUB_RESULT_OFFSET,
);

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The offset of a word of the thread, as `ldr` and `str` have it.
fn thread_word(offset: i32) -> u32 {
    (offset as u32 / 8) << 10
}

/// `ldr x16, [x21, stub_arg]; br x16`
pub fn call_native() -> Vec<u8> {
    bytes(&[0xf940_02b0 | thread_word(THREAD_STUB_ARG_OFFSET), 0xd61f_0200])
}

/// `str x2, [x21, pending]`, and a jump.
pub fn resume_unwind(address: usize) -> Vec<u8> {
    [bytes(&[0xf900_02a2 | thread_word(THREAD_PENDING_EXCEPTION_OFFSET)]), jump(address)].concat()
}

/// A jump that changes no register but x17: `ldr x17, .+8; br x17; target`.
pub fn jump(target: usize) -> Vec<u8> {
    [bytes(&[0x5800_0051, 0xd61f_0220]), target.to_le_bytes().to_vec()].concat()
}

/// # Safety
/// `field` is the place of such a relocation in writable code.
pub unsafe fn relocate(field: usize, kind: RelocKind, value: i64) {
    let place = field as *mut u32;
    // SAFETY: the field has as many bytes (contract).
    unsafe {
        match kind {
            RelocKind::Absolute8 => (field as *mut i64).write_unaligned(value),
            RelocKind::Arm64Branch26 => {
                let distance = i32::try_from((value - field as i64) / 4).expect("near");
                assert!((-(1 << 25)..1 << 25).contains(&distance));
                place.write(place.read() | distance.cast_unsigned() & ((1 << 26) - 1));
            }
            RelocKind::Arm64AdrPage21 => {
                let pages = i32::try_from((value >> 12) - (field as i64 >> 12)).expect("near").cast_unsigned();
                place.write(place.read() | (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5);
            }
            RelocKind::Arm64AddLow12 => place.write(place.read() | (value as u32 & 0xfff) << 10),
            other => panic!("{other:?}"),
        }
    }
}

unsafe extern "C" {
    fn __clear_cache(start: *mut c_void, end: *mut c_void);
}

/// What was written there may be executed.
pub fn synchronise(code: Range<usize>) {
    // SAFETY: the range is mapped code.
    unsafe { __clear_cache(code.start as *mut c_void, code.end as *mut c_void) };
}
