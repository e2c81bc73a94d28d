//! x86-64: the assembly stubs, and the byte patterns of entry stubs and veneers.
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

use crate::error::CodeError;
use crate::heap::veneer;
use crate::hooks;
use crate::imt;
use saki_abi::thread::{THREAD_EXIT_FRAME_OFFSET, THREAD_IMT_METHOD_OFFSET};
use saki_abi::{ObjRef, StubId, ThreadAbi};
use std::arch::naked_asm;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// Where a throwing stub continues: filled in by the unwinder, loaded by the stub after the unwinder has returned.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Landing {
    pub pc: usize,
    pub sp: usize,
    pub fp: usize,
    /// rax: the exception object.
    pub exception: usize,
    /// rdx: clause index or unwind token.
    pub selector: u64,
}

const _: () = assert!(size_of::<Landing>() == 40);

/// EntryFrame: the previous `exit_frame` is at FP + this.
pub const ENTRY_PREVIOUS_EXIT_OFFSET: isize = -56;
/// EntryFrame: SP = FP − this while managed code runs.
pub const ENTRY_SAVED_BYTES: usize = 64;

/// Offset of the lazy tail in an entry stub.
pub(crate) const LAZY_TAIL_OFFSET: usize = 6;
/// The lazy tail's call pushes stub + this.
const LAZY_RETURN_OFFSET: usize = 11;

unsafe extern "C" {
    /// Labels inside `saki_enter`.
    safe fn saki_enter_return();
    safe fn saki_enter_unwound();
}

/// The return address of frames called by [`enter`]: the walker recognises the boundary by it.
pub fn enter_return_address() -> usize {
    saki_enter_return as *const () as usize
}

/// The address at which an exception lands that reaches the boundary (rbp = the EntryFrame's FP, rsp = rbp − `ENTRY_SAVED_BYTES`).
pub fn enter_unwound_address() -> usize {
    saki_enter_unwound as *const () as usize
}

/// Calls `target(arguments…)` (Tail convention, at most three integer arguments) as managed code on `thread`.
/// Returns 0 after a normal return, with rax in `*result` unless that is null; or 1 when an exception left the code, which is
/// then in `pending_exception`.
///
/// # Safety
/// `thread` is the current thread's; `target` is code that keeps the conventions in the crate's documentation, and
/// it is safe to call with these arguments.
pub unsafe fn enter(thread: *mut ThreadAbi, target: usize, arguments: [u64; 3], result: *mut u64) -> u32 {
    // SAFETY: as the caller promises; `saki_enter` keeps the C ABI.
    unsafe { saki_enter(thread, target, arguments[0], arguments[1], arguments[2], result) }
}

/// # Safety
/// See [`enter`].
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

/// Called by the lazy tail of an entry stub: the pushed address identifies the stub, above it is the caller's return address.
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
        compile = sym compile_entry,
        throw_pending = sym throw_pending,
    )
}

/// # Safety
/// Called by `compile_trampoline` with the current thread and the address of an entry stub.
unsafe extern "C" fn compile_entry(thread: *mut ThreadAbi, stub: usize) -> usize {
    let Some(entry) = crate::MethodEntry::of_stub(stub) else {
        saki_base::bug!("compile trampoline reached from {stub:#x}, which is no entry stub");
    };
    // Acquire: pairs with `install_runtime_hooks`.
    let hook = hooks::COMPILE.load(Ordering::Acquire);
    // SAFETY: the slot holds a function of this type, or `missing`, which takes nothing and never returns.
    let hook: unsafe extern "C" fn(*mut ThreadAbi, *const ()) -> usize = unsafe { std::mem::transmute(hook) };
    // SAFETY: `thread` is current, the argument is the one the entry was made with.
    let code = unsafe { hook(thread, entry.argument()) };
    // SAFETY: `thread` is current.
    unsafe { code_or_pending(thread, code) }
}

/// # Safety
/// Called by `imt_resolve` with the current thread and a non-null receiver.
unsafe extern "C" fn resolve_interface(thread: *mut ThreadAbi, receiver: ObjRef, method: *const ()) -> usize {
    // Acquire: pairs with `install_runtime_hooks`.
    let hook = hooks::RESOLVE_INTERFACE.load(Ordering::Acquire);
    // SAFETY: as in `compile_entry`.
    let hook: unsafe extern "C" fn(*mut ThreadAbi, ObjRef, *const ()) -> usize = unsafe { std::mem::transmute(hook) };
    // SAFETY: the receiver is an object: the call sequence has loaded its vtable.
    let vtable = unsafe { (*receiver.0).vtable };
    // SAFETY: arguments as the caller of the interface method gave them.
    let code = unsafe { hook(thread, receiver, method) };
    // SAFETY: `thread` is current.
    let code = unsafe { code_or_pending(thread, code) };
    if code != 0 {
        imt::imt_cache_insert(vtable, method, code);
    }
    code
}

/// # Safety
/// `thread` is current.
unsafe fn code_or_pending(thread: *mut ThreadAbi, code: usize) -> usize {
    // SAFETY: `thread` is current, and only its owner touches this field.
    let pending = unsafe { !(*thread).pending_exception.is_null() };
    if !pending && code == 0 {
        saki_base::bug!("a resolving hook returned neither code nor an exception");
    }
    if pending { 0 } else { code }
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
        resolve = sym resolve_interface,
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
                "call qword ptr [rip + {hook}]",
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
                hook = sym hooks::$hook,
            )
        }
    };
}

preserving_stub!(poll_stub, POLL);
preserving_stub!(class_init_stub, CLASS_INIT);
preserving_stub!(alloc_slow_stub, ALLOC_SLOW);
preserving_stub!(barrier_slow_stub, BARRIER_SLOW);

/// `StubId::DemoteLine`: `cldemote [rdi]`, which is a no-op on processors without that instruction.
///
/// # Safety
/// None needed: the instruction is a hint and faults for no address.
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

/// Loads the landing and jumps there; the unwinder's frames have returned by now.
macro_rules! land {
    () => {
        "mov rcx, [rsp]
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
        "call qword ptr [rip + {hook}]",
        land!(),
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        hook = sym hooks::THROW_PENDING,
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
        "call qword ptr [rip + {hook}]",
        land!(),
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        hook = sym hooks::RESUME,
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
        "call qword ptr [rip + {hook}]",
        land!(),
        exit_frame = const THREAD_EXIT_FRAME_OFFSET,
        hook = sym hooks::FAULT,
    )
}

/// Address of the stub that compiled code names by `id`; relocate calls against it (a veneer bridges the distance).
pub fn stub_address(id: StubId) -> usize {
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

/// Where the signal handler sends a thread that faulted in compiled code: rdi = kind, `[rsp]` = faulting PC + 1.
pub fn fault_throw_address() -> usize {
    fault_throw as *const () as usize
}

/// A veneer of `compile_trampoline` in reach of every entry stub.
pub(crate) fn compile_hop() -> Result<usize, CodeError> {
    static HOP: OnceLock<usize> = OnceLock::new();
    if let Some(&hop) = HOP.get() {
        return Ok(hop);
    }
    let hop = veneer(compile_trampoline as *const () as usize)?;
    Ok(*HOP.get_or_init(|| hop))
}

/// `jmp [cell]; call hop; int3…`
pub(crate) fn encode_entry(stub: usize, cell: usize, hop: usize) -> [u8; 16] {
    let mut bytes = [0xcc; 16];
    bytes[..2].copy_from_slice(&[0xff, 0x25]);
    bytes[2..6].copy_from_slice(&displacement(stub + 6, cell));
    bytes[6] = 0xe8;
    bytes[7..11].copy_from_slice(&displacement(stub + LAZY_RETURN_OFFSET, hop));
    bytes
}

/// `add rdi, 16; jmp [cell]`
pub(crate) fn encode_unbox(stub: usize, cell: usize) -> [u8; 16] {
    let mut bytes = [0xcc; 16];
    bytes[..4].copy_from_slice(&[0x48, 0x83, 0xc7, saki_abi::object::OBJECT_HEADER_BYTES as u8]);
    bytes[4..6].copy_from_slice(&[0xff, 0x25]);
    bytes[6..10].copy_from_slice(&displacement(stub + 10, cell));
    bytes
}

/// `jmp [rip + 0]; target`
pub(crate) fn encode_veneer(target: usize) -> [u8; 16] {
    let mut bytes = [0xcc; 16];
    bytes[..6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
    bytes[6..14].copy_from_slice(&target.to_le_bytes());
    bytes
}

fn displacement(from: usize, to: usize) -> [u8; 4] {
    let distance = to.wrapping_sub(from) as i64;
    i32::try_from(distance).expect("the region and its data lie within 2 GiB").to_le_bytes()
}
