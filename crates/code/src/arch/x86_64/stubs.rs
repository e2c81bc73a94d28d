//! x86-64: the assembly stubs, and the small stubs that are made at run time: entry stubs, unboxing stubs, veneers.
//!
//! Every stub that calls Rust builds an rbp frame and stores it in `ThreadAbi.exit_frame`, so that walks start at its
//! caller and the conservative collector finds the saved registers on the stack. Stubs keep r15.
//!
//! ```text
//! frame of a stub                     frame of `saki_enter` (EntryFrame)
//! rbp + 8   return address (managed)  rbp + 8   return address (Rust)
//! rbp       caller's rbp (managed)    rbp       caller's rbp (Rust)
//! below     saved registers           rbp - 8…  rbx r12 r13 r14 r15, result pointer, previous exit_frame, padding
//! ```
//! Left out: upper halves of ymm registers (compiled code uses 128 bits) and control words (the ABI's defaults hold).

use super::masm::{DISPLACEMENT_BYTES, Hardware, RIP_RELATIVE};
use super::native_calls;
use super::registers::ARGUMENTS;
use crate::arch::STUB_BYTES;
use crate::hooks::{self, StubHooks, StubTable};
use crate::imt;
use cranelift_assembler_x64::{CodeSink, DeferredTarget, KnownOffset, TrapCode, inst};
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_abi::thread::{THREAD_EXIT_FRAME_OFFSET, THREAD_IMT_METHOD_OFFSET};
use saki_abi::{StubId, ThreadAbi};
use std::arch::naked_asm;
use std::mem::offset_of;

/// EntryFrame: the previous `exit_frame` is at FP + this.
pub(super) const ENTRY_PREVIOUS_EXIT_OFFSET: isize = -56;
/// Offset of an entry stub's lazy tail: the length of `jmp [rip + displacement]`.
pub(super) const LAZY_TAIL_OFFSET: usize = 6;
/// The return address that the lazy tail's call pushes, as an offset from the stub.
const LAZY_RETURN_OFFSET: usize = LAZY_TAIL_OFFSET + 5;
const INT3: u8 = 0xcc;

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
        "push rbp",
        "mov rbp, rsp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push r9",
        "mov r15, rdi",
        "push qword ptr [r15 + {exit_frame}]",
        "sub rsp, 8",
        "mov rax, rsi",
        "mov rdi, rdx",
        "mov rsi, rcx",
        "mov rdx, r8",
        "call rax",
        ".globl saki_enter_return",
        ".hidden saki_enter_return",
        "saki_enter_return:",
        "mov rcx, [rbp - 48]",
        "test rcx, rcx",
        "jz 2f",
        "mov [rcx], rax",
        "2:",
        "xor eax, eax",
        "3:",
        "mov rcx, [rbp + {previous_exit}]",
        "mov [r15 + {exit_frame}], rcx",
        "mov rbx, [rbp - 8]",
        "mov r12, [rbp - 16]",
        "mov r13, [rbp - 24]",
        "mov r14, [rbp - 32]",
        "mov r15, [rbp - 40]",
        "leave",
        "ret",
        ".globl saki_enter_unwound",
        ".hidden saki_enter_unwound",
        "saki_enter_unwound:",
        "mov eax, 1",
        "jmp 3b",
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        previous_exit = const ENTRY_PREVIOUS_EXIT_OFFSET,
    )
}

/// Saves the argument registers below a fresh frame and records the frame.
macro_rules! save_arguments {
    () => {
        "push rbp
         mov rbp, rsp
         sub rsp, 176
         mov [rsp], rdi
         mov [rsp + 8], rsi
         mov [rsp + 16], rdx
         mov [rsp + 24], rcx
         mov [rsp + 32], r8
         mov [rsp + 40], r9
         movups [rsp + 48], xmm0
         movups [rsp + 64], xmm1
         movups [rsp + 80], xmm2
         movups [rsp + 96], xmm3
         movups [rsp + 112], xmm4
         movups [rsp + 128], xmm5
         movups [rsp + 144], xmm6
         movups [rsp + 160], xmm7
         mov [r15 + {exit_frame}], rbp"
    };
}

/// Undoes `save_arguments`, then jumps to the address in rax, or throws the pending exception if the address is 0.
macro_rules! restore_arguments_and_jump {
    () => {
        "mov rdi, [rsp]
         mov rsi, [rsp + 8]
         mov rdx, [rsp + 16]
         mov rcx, [rsp + 24]
         mov r8, [rsp + 32]
         mov r9, [rsp + 40]
         movups xmm0, [rsp + 48]
         movups xmm1, [rsp + 64]
         movups xmm2, [rsp + 80]
         movups xmm3, [rsp + 96]
         movups xmm4, [rsp + 112]
         movups xmm5, [rsp + 128]
         movups xmm6, [rsp + 144]
         movups xmm7, [rsp + 160]
         leave
         test rax, rax
         jz {throw_pending}
         jmp rax"
    };
}

/// The compile trampoline. The lazy tail of an entry stub calls it: the pushed address identifies the stub, above it is
/// the caller's return address.
///
/// # Safety
/// Only lazy tails of entry stubs call this, in managed code: r15 is the thread, and the method's arguments are in
/// place.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn compile_trampoline() {
    naked_asm!(
        "pop r11",
        save_arguments!(),
        "mov rdi, r15",
        "lea rsi, [r11 - {lazy_return}]",
        "call qword ptr [rip + {hooks} + {compile}]",
        restore_arguments_and_jump!(),
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        lazy_return = const LAZY_RETURN_OFFSET,
        hooks = sym hooks::HOOKS,
        compile = const offset_of!(StubTable, compile_entry),
        throw_pending = sym throw_pending,
    )
}

/// Interface dispatch: receiver in rdi, method in the thread struct; probes the cache, else calls the hook.
///
/// # Safety
/// Only calls through IMT slots come here: r15 is the thread, rdi a non-null object, `ThreadAbi::imt_method` the
/// interface method.
#[unsafe(naked)]
unsafe extern "C" fn imt_resolve() {
    naked_asm!(
        "mov r10, [r15 + {imt_method}]",
        "mov r11, [rdi]",
        "lea rax, [r10 + r11]",
        "imul rax, qword ptr [rip + {multiplier}]",
        "shr rax, {shift}",
        "lea r11, [rip + {buckets}]",
        "mov rax, [r11 + rax * 8]",
        "mov r11, [rdi]",
        "2:",
        "test rax, rax",
        "jz 4f",
        "cmp [rax], r11",
        "jne 3f",
        "cmp [rax + {node_method}], r10",
        "jne 3f",
        "jmp [rax + {node_target}]",
        "3:",
        "mov rax, [rax + {node_next}]",
        "jmp 2b",
        "4:",
        save_arguments!(),
        "mov rsi, rdi",
        "mov rdi, r15",
        "mov rdx, r10",
        "call {resolve}",
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

/// Saves every register that the C ABI may change, calls the hook with the thread, restores the registers.
macro_rules! preserving_stub {
    ($(#[$doc:meta])* $name:ident, $hook:ident) => {
        preserving_stub!($(#[$doc])* $name, $hook, "", "");
    };
    ($(#[$doc:meta])* $name:ident, $hook:ident, $before_call:literal, $after_call:literal) => {
        $(#[$doc])*
        /// # Safety
        /// Only managed code calls this stub: r15 is the thread, and `stub_arg` holds the arguments that `StubId`
        /// documents.
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                "sub rsp, 336", // growth::STUB_SAVED_BYTES
                "mov [rsp + 256], rax",
                "mov [rsp + 264], rcx",
                "mov [rsp + 272], rdx",
                "mov [rsp + 280], rsi",
                "mov [rsp + 288], rdi",
                "mov [rsp + 296], r8",
                "mov [rsp + 304], r9",
                "mov [rsp + 312], r10",
                "mov [rsp + 320], r11",
                "movaps [rsp], xmm0",
                "movaps [rsp + 16], xmm1",
                "movaps [rsp + 32], xmm2",
                "movaps [rsp + 48], xmm3",
                "movaps [rsp + 64], xmm4",
                "movaps [rsp + 80], xmm5",
                "movaps [rsp + 96], xmm6",
                "movaps [rsp + 112], xmm7",
                "movaps [rsp + 128], xmm8",
                "movaps [rsp + 144], xmm9",
                "movaps [rsp + 160], xmm10",
                "movaps [rsp + 176], xmm11",
                "movaps [rsp + 192], xmm12",
                "movaps [rsp + 208], xmm13",
                "movaps [rsp + 224], xmm14",
                "movaps [rsp + 240], xmm15",
                "mov [r15 + {exit_frame}], rbp",
                "mov rdi, r15",
                $before_call,
                "call qword ptr [rip + {hooks} + {hook}]",
                $after_call,
                "mov rax, [rsp + 256]",
                "mov rcx, [rsp + 264]",
                "mov rdx, [rsp + 272]",
                "mov rsi, [rsp + 280]",
                "mov rdi, [rsp + 288]",
                "mov r8, [rsp + 296]",
                "mov r9, [rsp + 304]",
                "mov r10, [rsp + 312]",
                "mov r11, [rsp + 320]",
                "movaps xmm0, [rsp]",
                "movaps xmm1, [rsp + 16]",
                "movaps xmm2, [rsp + 32]",
                "movaps xmm3, [rsp + 48]",
                "movaps xmm4, [rsp + 64]",
                "movaps xmm5, [rsp + 80]",
                "movaps xmm6, [rsp + 96]",
                "movaps xmm7, [rsp + 112]",
                "movaps xmm8, [rsp + 128]",
                "movaps xmm9, [rsp + 144]",
                "movaps xmm10, [rsp + 160]",
                "movaps xmm11, [rsp + 176]",
                "movaps xmm12, [rsp + 192]",
                "movaps xmm13, [rsp + 208]",
                "movaps xmm14, [rsp + 224]",
                "movaps xmm15, [rsp + 240]",
                "leave",
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
    /// `StubId::PollEntry`: goes on where the hook has moved the frames.
    ///
    poll_entry_stub,
    poll_entry,
    "mov rsi, rbx
     mov rdx, r12
     mov rcx, r13
     mov r8, r14",
    "test rax, rax
     jz 2f
     mov rsp, rax
     lea rbp, [rsp + 336]
     2:"
);
preserving_stub!(class_init_stub, class_init);
preserving_stub!(alloc_slow_stub, alloc_slow);
preserving_stub!(barrier_slow_stub, barrier_slow);
preserving_stub!(hot_stub, hot);

/// `StubId::DemoteLine`: `cldemote [rdi]`, which is a no-op on processors without that instruction.
///
/// # Safety
/// No requirements: the instruction is a hint and faults for no address.
#[unsafe(naked)]
unsafe extern "C" fn demote_line() {
    naked_asm!(".byte 0x0f, 0x1c, 0x07", "ret")
}

/// Makes a frame with room for a `Landing`, which the hook gets in rdx, with the thread in rdi and the frame in rsi.
/// The landing gets the callee-saved registers as they are. The stack is aligned here, since a fault may occur at any
/// alignment.
macro_rules! begin_throw {
    () => {
        "push rbp
         mov rbp, rsp
         mov [r15 + {exit_frame}], rbp
         and rsp, -16
         sub rsp, 80
         mov [rsp + 40], rbx
         mov [rsp + 48], r12
         mov [rsp + 56], r13
         mov [rsp + 64], r14"
    };
}

/// Loads the landing and jumps there; the unwinder's frames have returned by now. The callee-saved registers get the
/// values that they had at the call whose exception lands.
macro_rules! land {
    () => {
        "mov rbx, [rsp + 40]
         mov r12, [rsp + 48]
         mov r13, [rsp + 56]
         mov r14, [rsp + 64]
         mov rcx, [rsp]
         mov r10, [rsp + 8]
         mov rbp, [rsp + 16]
         mov rax, [rsp + 24]
         mov rdx, [rsp + 32]
         mov rsp, r10
         jmp rcx"
    };
}

/// Calls a hook of the unwinder and lands where it says. The lines set the hook's arguments behind the first three,
/// which `begin_throw` tells.
macro_rules! throw_through {
    ($hook:ident $(, $argument:literal)*) => {
        naked_asm!(
            begin_throw!(),
            $($argument,)*
            "mov rdi, r15",
            "mov rsi, rbp",
            "mov rdx, rsp",
            "call qword ptr [rip + {hooks} + {hook}]",
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
/// Only managed code and its thunks call this: r15 is the thread, `pending_exception` is set, rbp the caller's frame.
/// Never returns.
#[unsafe(naked)]
unsafe extern "C" fn throw_pending() {
    throw_through!(throw_pending)
}

/// `StubId::ResumeUnwind`: exception in rdi, token in rsi.
///
/// # Safety
/// Only the end of a finally or fault handler calls this: r15 is the thread, rdi and rsi the values with which the
/// handler was entered.
#[unsafe(naked)]
unsafe extern "C" fn resume_unwind() {
    throw_through!(resume, "mov rcx, rdi", "mov r8, rsi")
}

/// The signal handler continues the thread here: fault kind in rdi, faulting PC + 1 on top of the stack.
///
/// # Safety
/// Only a signal context edited by the fault handler leads here: r15 is the thread, rbp the faulting frame. Never
/// returns.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn fault_throw() {
    throw_through!(fault, "mov rcx, rdi")
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

/// A small stub while it is made: a buffer on the stack, since there is an entry stub for every method that is named.
struct SmallStub {
    start: usize,
    bytes: [u8; STUB_BYTES],
    len: usize,
}

impl CodeSink for SmallStub {
    fn put1(&mut self, value: u8) {
        self.put(&[value]);
    }

    fn put2(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }

    fn put4(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    fn put8(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    /// Accesses of stubs do not fault.
    fn add_trap(&mut self, _: TrapCode) {}

    /// `reach` writes the displacement.
    fn use_target(&mut self, _: DeferredTarget) {}

    fn known_offset(&self, offset: KnownOffset) -> i32 {
        saki_base::bug!("stubs have no operand at the known offset {offset}")
    }
}

impl SmallStub {
    fn new(start: usize) -> SmallStub {
        SmallStub { start, bytes: [INT3; STUB_BYTES], len: 0 }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// The displacement at the end of the last instruction leads to the address.
    fn reach(&mut self, target: usize) {
        let field = self.len - DISPLACEMENT_BYTES;
        self.bytes[field..self.len].copy_from_slice(&super::patching::displacement(self.start + self.len, target));
    }

    /// `jmp [cell]`
    fn jump_through(&mut self, cell: usize) {
        inst::jmpq_m::<Hardware>::new(RIP_RELATIVE).encode(self);
        self.reach(cell);
    }
}

/// `jmp [cell]; call hop; int3…`
pub(super) fn encode_entry(stub: usize, cell: usize, hop: usize) -> [u8; STUB_BYTES] {
    let mut code = SmallStub::new(stub);
    code.jump_through(cell);
    debug_assert_eq!(code.len, LAZY_TAIL_OFFSET);
    inst::callq_d::new(0i32).encode(&mut code);
    code.reach(hop);
    debug_assert_eq!(code.len, LAZY_RETURN_OFFSET);
    code.bytes
}

/// `add rdi, 16; jmp [cell]; int3…`
pub(super) fn encode_unbox(stub: usize, cell: usize) -> [u8; STUB_BYTES] {
    let mut code = SmallStub::new(stub);
    inst::addq_mi_sxb::<Hardware>::new(ARGUMENTS[0].number(), OBJECT_HEADER_BYTES as i8).encode(&mut code);
    code.jump_through(cell);
    code.bytes
}

/// `jmp [rip + 0]; target; int3…`, which works at every place.
pub(super) fn encode_veneer(target: usize) -> [u8; STUB_BYTES] {
    let mut code = SmallStub::new(0);
    inst::jmpq_m::<Hardware>::new(RIP_RELATIVE).encode(&mut code);
    code.put8(target as u64);
    code.bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_stubs_have_the_bytes_that_trampolines_rely_on() {
        assert_eq!(
            encode_entry(0x1000, 0x5000, 0x800),
            [0xff, 0x25, 0xfa, 0x3f, 0, 0, 0xe8, 0xf5, 0xf7, 0xff, 0xff, INT3, INT3, INT3, INT3, INT3]
        );
        assert_eq!(
            encode_unbox(0x1000, 0x5000),
            [0x48, 0x83, 0xc7, 0x10, 0xff, 0x25, 0xf6, 0x3f, 0, 0, INT3, INT3, INT3, INT3, INT3, INT3]
        );
        assert_eq!(
            encode_veneer(0x1122_3344_5566_7788),
            [0xff, 0x25, 0, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, INT3, INT3]
        );
    }
}
