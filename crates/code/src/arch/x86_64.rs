//! x86-64: the assembly stubs, and the byte patterns of entry stubs, veneers, calls and frames.
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

use super::{Architecture, FrameState, STUB_BYTES};
use crate::error::CodeError;
use crate::hooks::{self, StubHooks};
use crate::imt;
use crate::trampolines;
use saki_abi::thread::{THREAD_EXIT_FRAME_OFFSET, THREAD_IMT_METHOD_OFFSET};
use saki_abi::{AddressUse, Reloc, RelocKind, StubId, ThreadAbi};
use std::arch::naked_asm;
use std::mem::offset_of;

const INT3: u8 = 0xcc;
/// `jmp [rip + displacement]`, `call displacement`.
const JMP_MEMORY: [u8; 2] = [0xff, 0x25];
const CALL: u8 = 0xe8;
/// Bytes of the displacement of a call or jump.
const FIELD_BYTES: usize = 4;
/// `push rbp; mov rbp, rsp`, with which every body begins.
const FRAME_SETUP_BYTES: usize = 4;

const ENTRY_PREVIOUS_EXIT_OFFSET: isize = -56;
const LAZY_TAIL_OFFSET: usize = 6;
/// The return address that the lazy tail's call pushes, as an offset from the stub.
const LAZY_RETURN_OFFSET: usize = 11;

unsafe extern "C" {
    /// Labels inside `saki_enter`.
    safe fn saki_enter_return();
    safe fn saki_enter_unwound();
}

/// # Safety
/// See `crate::enter`.
#[unsafe(naked)]
unsafe extern "C" fn saki_enter(
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

/// The compile trampoline. The lazy tail of an entry stub calls it: the pushed address identifies the stub, above it is the caller's
/// return address.
///
/// # Safety
/// Only lazy tails of entry stubs call this, in managed code: r15 is the thread, and the method's arguments are in place.
#[unsafe(naked)]
unsafe extern "C" fn compile_trampoline() {
    naked_asm!(
        "pop r11",
        save_arguments!(),
        "mov rdi, r15",
        "lea rsi, [r11 - {lazy_return}]",
        "call {compile}",
        restore_arguments_and_jump!(),
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        lazy_return = const LAZY_RETURN_OFFSET,
        compile = sym trampolines::compile_entry,
        throw_pending = sym throw_pending,
    )
}

/// Interface dispatch: receiver in rdi, method in the thread struct; probes the cache, else calls the hook.
///
/// # Safety
/// Only calls through IMT slots come here: r15 is the thread, rdi a non-null object, `ThreadAbi::imt_method` the interface method.
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
        resolve = sym trampolines::resolve_interface,
        throw_pending = sym throw_pending,
    )
}

/// Saves every register that the C ABI may change, calls the hook with the thread, restores the registers.
macro_rules! preserving_stub {
    ($(#[$doc:meta])* $name:ident, $hook:ident) => {
        $(#[$doc])*
        /// # Safety
        /// Only managed code calls this stub: r15 is the thread, and `stub_arg` holds the arguments that `StubId` documents.
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                "sub rsp, 336",
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
                "call qword ptr [rip + {hooks} + {hook}]",
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
preserving_stub!(class_init_stub, class_init);
preserving_stub!(alloc_slow_stub, alloc_slow);
preserving_stub!(barrier_slow_stub, barrier_slow);

/// `StubId::DemoteLine`: `cldemote [rdi]`, which is a no-op on processors without that instruction.
///
/// # Safety
/// No requirements: the instruction is a hint and faults for no address.
#[unsafe(naked)]
unsafe extern "C" fn demote_line() {
    naked_asm!(".byte 0x0f, 0x1c, 0x07", "ret")
}

/// Makes a frame with room for a `Landing`, which the hook gets in rdx, with the thread in rdi and the frame in rsi. The stack is
/// aligned here, since a fault may occur at any alignment.
macro_rules! begin_throw {
    () => {
        "push rbp
         mov rbp, rsp
         mov [r15 + {exit_frame}], rbp
         and rsp, -16
         sub rsp, 48"
    };
}

/// Loads the landing and jumps there; the unwinder's frames have returned by now. No landing reads a callee-saved register other than r15: one in a method is
/// the exceptional edge of a call, which keeps no value in a register, so that the method saves all of them for its own caller at its entry; one in an entry
/// frame loads what that frame has saved. Until then the registers hold values of the frames that are gone. Rust and native functions would save these on their
/// stacks, where collections take them for references as long as the method runs; so they are cleared.
macro_rules! land {
    () => {
        "xor ebx, ebx
         xor r12d, r12d
         xor r13d, r13d
         xor r14d, r14d
         mov rcx, [rsp]
         mov r10, [rsp + 8]
         mov rbp, [rsp + 16]
         mov rax, [rsp + 24]
         mov rdx, [rsp + 32]
         mov rsp, r10
         jmp rcx"
    };
}

/// `StubId::ThrowPending`.
///
/// # Safety
/// Only managed code and its thunks call this: r15 is the thread, `pending_exception` is set, rbp the caller's frame. Never returns.
#[unsafe(naked)]
unsafe extern "C" fn throw_pending() {
    naked_asm!(
        begin_throw!(),
        "mov rdi, r15",
        "mov rsi, rbp",
        "mov rdx, rsp",
        "call qword ptr [rip + {hooks} + {hook}]",
        land!(),
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        hooks = sym hooks::HOOKS,
        hook = const offset_of!(StubHooks, unwind.throw_pending),
    )
}

/// `StubId::ResumeUnwind`: exception in rdi, token in rsi.
///
/// # Safety
/// Only the end of a finally or fault handler calls this: r15 is the thread, rdi and rsi the values with which the handler was entered.
#[unsafe(naked)]
unsafe extern "C" fn resume_unwind() {
    naked_asm!(
        begin_throw!(),
        "mov rcx, rdi",
        "mov r8, rsi",
        "mov rdi, r15",
        "mov rsi, rbp",
        "mov rdx, rsp",
        "call qword ptr [rip + {hooks} + {hook}]",
        land!(),
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        hooks = sym hooks::HOOKS,
        hook = const offset_of!(StubHooks, unwind.resume),
    )
}

/// The signal handler continues the thread here: fault kind in rdi, faulting PC + 1 on top of the stack.
///
/// # Safety
/// Only a signal context edited by the fault handler leads here: r15 is the thread, rbp the faulting frame. Never returns.
#[unsafe(naked)]
unsafe extern "C" fn fault_throw() {
    naked_asm!(
        begin_throw!(),
        "mov rcx, rdi",
        "mov rdi, r15",
        "mov rsi, rbp",
        "mov rdx, rsp",
        "call qword ptr [rip + {hooks} + {hook}]",
        land!(),
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        hooks = sym hooks::HOOKS,
        hook = const offset_of!(StubHooks, unwind.fault),
    )
}

fn displacement(from: usize, to: usize) -> [u8; 4] {
    let distance = to.wrapping_sub(from) as i64;
    i32::try_from(distance).expect("the region and its data lie within 2 GiB").to_le_bytes()
}

pub(crate) struct Target;

impl Architecture for Target {
    const ENTRY_PREVIOUS_EXIT_OFFSET: isize = ENTRY_PREVIOUS_EXIT_OFFSET;
    const ENTRY_SAVED_BYTES: usize = 64;
    const LAZY_TAIL_OFFSET: usize = LAZY_TAIL_OFFSET;

    fn check() -> Result<(), CodeError> {
        Ok(())
    }

    /// `jmp [cell]; call hop; int3…`
    fn encode_entry(stub: usize, cell: usize, hop: usize) -> [u8; STUB_BYTES] {
        let mut bytes = [INT3; STUB_BYTES];
        bytes[..2].copy_from_slice(&JMP_MEMORY);
        bytes[2..LAZY_TAIL_OFFSET].copy_from_slice(&displacement(stub + LAZY_TAIL_OFFSET, cell));
        bytes[LAZY_TAIL_OFFSET] = CALL;
        bytes[7..LAZY_RETURN_OFFSET].copy_from_slice(&displacement(stub + LAZY_RETURN_OFFSET, hop));
        bytes
    }

    /// `add rdi, 16; jmp [cell]`
    fn encode_unbox(stub: usize, cell: usize) -> [u8; STUB_BYTES] {
        let mut bytes = [INT3; STUB_BYTES];
        bytes[..4].copy_from_slice(&[0x48, 0x83, 0xc7, saki_abi::object::OBJECT_HEADER_BYTES as u8]);
        bytes[4..6].copy_from_slice(&JMP_MEMORY);
        bytes[6..10].copy_from_slice(&displacement(stub + 10, cell));
        bytes
    }

    /// `jmp [rip + 0]; target`
    fn encode_veneer(target: usize) -> [u8; STUB_BYTES] {
        let mut bytes = [INT3; STUB_BYTES];
        bytes[..2].copy_from_slice(&JMP_MEMORY);
        bytes[2..6].copy_from_slice(&[0; 4]);
        bytes[6..14].copy_from_slice(&target.to_le_bytes());
        bytes
    }

    fn compile_trampoline() -> usize {
        compile_trampoline as *const () as usize
    }

    fn stub_address(id: StubId) -> usize {
        let stub: unsafe extern "C" fn() = match id {
            StubId::ThrowPending => throw_pending,
            StubId::ResumeUnwind => resume_unwind,
            StubId::Poll => poll_stub,
            StubId::ClassInit => class_init_stub,
            StubId::AllocSlow => alloc_slow_stub,
            StubId::BarrierSlow => barrier_slow_stub,
            StubId::DemoteLine => demote_line,
            StubId::ImtResolve => imt_resolve,
        };
        stub as *const () as usize
    }

    fn fault_throw_address() -> usize {
        fault_throw as *const () as usize
    }

    fn relocate(
        body: &mut [u8],
        start: usize,
        reloc: &Reloc<usize>,
        far: impl FnOnce(usize) -> Result<usize, CodeError>,
    ) -> Result<(), CodeError> {
        let fail = |reason| CodeError::BadRelocation { offset: reloc.offset, reason };
        let at = reloc.offset as usize;
        let place = start + at;
        let relative = |target: usize| -> Option<i32> {
            i32::try_from((target as i64).wrapping_add(reloc.addend).wrapping_sub(place as i64)).ok()
        };
        let mut write = |bytes: &[u8]| {
            let field = body.get_mut(at..at + bytes.len()).ok_or_else(|| fail("outside the body"))?;
            field.copy_from_slice(bytes);
            Ok(())
        };
        match (reloc.kind, reloc.usage) {
            (RelocKind::Absolute8, AddressUse::AddressTaken) => {
                write(&(reloc.target as i64).wrapping_add(reloc.addend).to_le_bytes())
            }
            (RelocKind::X86PcRelative4, AddressUse::AddressTaken) => {
                let value = relative(reloc.target).ok_or_else(|| fail("the address is more than 2 GiB away"))?;
                write(&value.to_le_bytes())
            }
            (RelocKind::X86PcRelative4, AddressUse::Called) if reloc.addend == -(FIELD_BYTES as i64) => {
                let value = match relative(reloc.target) {
                    Some(value) => value,
                    None => relative(far(reloc.target)?).ok_or_else(|| fail("veneer is out of reach"))?,
                };
                write(&value.to_le_bytes())
            }
            (RelocKind::X86PcRelative4, AddressUse::Called) => Err(fail("a call's displacement counts from its end")),
            (RelocKind::Absolute8, AddressUse::Called) => Err(fail("no call holds an absolute address")),
            (RelocKind::Arm64Branch26 | RelocKind::Arm64AdrPage21 | RelocKind::Arm64AddLow12, _) => {
                Err(fail("it is of another architecture"))
            }
        }
    }

    fn call_field(field: usize, target: usize) -> [u8; FIELD_BYTES] {
        displacement(field + FIELD_BYTES, target)
    }

    fn called_address(field: usize, bytes: [u8; FIELD_BYTES]) -> usize {
        (field + FIELD_BYTES).wrapping_add_signed(i32::from_le_bytes(bytes) as isize)
    }

    unsafe fn enter(thread: *mut ThreadAbi, target: usize, arguments: [u64; 3], result: *mut u64) -> u32 {
        // SAFETY: as the caller promises; `saki_enter` keeps the C ABI.
        unsafe { saki_enter(thread, target, arguments[0], arguments[1], arguments[2], result) }
    }

    fn enter_return_address() -> usize {
        saki_enter_return as *const () as usize
    }

    fn enter_unwound_address() -> usize {
        saki_enter_unwound as *const () as usize
    }

    unsafe fn frame_state(start: usize, pc: usize) -> FrameState {
        /// `mov rsp, rbp; pop rbp`, before `ret` or a tail jump.
        const EPILOGUE: [u8; 4] = [0x48, 0x89, 0xec, 0x5d];
        let offset = pc - start;
        if offset == 0 {
            return FrameState::NotPushed;
        }
        if offset < FRAME_SETUP_BYTES {
            return FrameState::Pushed;
        }
        const { assert!(EPILOGUE.len() <= FRAME_SETUP_BYTES) };
        let before = (pc - EPILOGUE.len()) as *const [u8; 4];
        // SAFETY: `offset ≥ 4`, so the four bytes before `pc` belong to the body, which stays mapped.
        if unsafe { before.read() } == EPILOGUE { FrameState::NotPushed } else { FrameState::Complete }
    }

    unsafe fn is_stack_probe(start: usize, end: usize, pc: usize) -> bool {
        /// `sub rsp, 4096`, then the probe: `mov dword [rsp], 0`. Elsewhere bodies do not move the stack pointer by exactly a page.
        const PROBE: [u8; 14] = [0x48, 0x81, 0xec, 0, 0x10, 0, 0, 0xc7, 0x04, 0x24, 0, 0, 0, 0];
        const PROBE_OFFSET: usize = 7;
        let begins_behind_setup = pc >= start + FRAME_SETUP_BYTES + PROBE_OFFSET;
        let ends_inside = pc + PROBE.len() - PROBE_OFFSET <= end;
        if !begins_behind_setup || !ends_inside {
            return false;
        }
        // SAFETY: inside the body by the checks above; bodies stay mapped.
        unsafe { ((pc - PROBE_OFFSET) as *const [u8; PROBE.len()]).read_unaligned() == PROBE }
    }
}
