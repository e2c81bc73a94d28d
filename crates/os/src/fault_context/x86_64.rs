//! Register access in the saved context, x86-64.

use libc::{
    REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RAX, REG_RBP, REG_RBX, REG_RCX, REG_RDI,
    REG_RDX, REG_RIP, REG_RSI, REG_RSP, c_int, greg_t, mcontext_t,
};

const ARGUMENTS: [c_int; 4] = [REG_RDI, REG_RSI, REG_RDX, REG_RCX];

const GENERAL: [(&str, c_int); 17] = [
    ("rax", REG_RAX),
    ("rcx", REG_RCX),
    ("rdx", REG_RDX),
    ("rbx", REG_RBX),
    ("rsp", REG_RSP),
    ("rbp", REG_RBP),
    ("rsi", REG_RSI),
    ("rdi", REG_RDI),
    ("r8", REG_R8),
    ("r9", REG_R9),
    ("r10", REG_R10),
    ("r11", REG_R11),
    ("r12", REG_R12),
    ("r13", REG_R13),
    ("r14", REG_R14),
    ("r15", REG_R15),
    ("rip", REG_RIP),
];

fn get(m: &mcontext_t, register: c_int) -> usize {
    m.gregs[register as usize] as usize
}

fn set(m: &mut mcontext_t, register: c_int, value: usize) {
    m.gregs[register as usize] = value as greg_t;
}

pub(super) fn pc(m: &mcontext_t) -> usize {
    get(m, REG_RIP)
}

pub(super) fn sp(m: &mcontext_t) -> usize {
    get(m, REG_RSP)
}

pub(super) fn fp(m: &mcontext_t) -> usize {
    get(m, REG_RBP)
}

pub(super) fn by_dwarf_number(m: &mcontext_t, number: usize) -> usize {
    match number {
        3 => get(m, REG_RBX),
        6 => get(m, REG_RBP),
        12 => get(m, REG_R12),
        13 => get(m, REG_R13),
        14 => get(m, REG_R14),
        15 => get(m, REG_R15),
        _ => 0,
    }
}

pub(super) fn pinned(m: &mcontext_t) -> usize {
    get(m, REG_R15)
}

pub(super) fn set_pc(m: &mut mcontext_t, value: usize) {
    set(m, REG_RIP, value);
}

pub(super) fn set_sp(m: &mut mcontext_t, value: usize) {
    set(m, REG_RSP, value);
}

pub(super) fn set_fp(m: &mut mcontext_t, value: usize) {
    set(m, REG_RBP, value);
}

pub(super) fn set_argument(m: &mut mcontext_t, index: usize, value: usize) {
    set(m, ARGUMENTS[index], value);
}

pub(super) fn general_registers(m: &mcontext_t) -> Vec<(&'static str, usize)> {
    GENERAL.iter().map(|(name, register)| (*name, get(m, *register))).collect()
}

const WORD: usize = size_of::<usize>();

/// # Safety
/// See `FaultContext::set_return_address`.
pub(super) unsafe fn set_return_address(m: &mut mcontext_t, value: usize) {
    // Aligned as at a function's first instruction.
    let place = (sp(m) & !15) - WORD;
    // SAFETY: the word below a stack pointer below which there is nothing (contract).
    unsafe { (place as *mut usize).write(value) };
    set_sp(m, place);
}

/// # Safety
/// See `FaultContext::return_address`.
pub(super) unsafe fn return_address(m: &mcontext_t) -> usize {
    // SAFETY: a word of the stack (contract).
    unsafe { (sp(m) as *const usize).read() }
}

/// # Safety
/// See `FaultContext::undo_frame`.
pub(super) unsafe fn undo_frame(m: &mut mcontext_t) {
    let frame = fp(m);
    // SAFETY: the frame begins with the caller's frame pointer (contract).
    set_fp(m, unsafe { (frame as *const usize).read() });
    set_sp(m, frame + WORD);
}

pub(super) fn link(_: &mcontext_t) -> Option<usize> {
    None
}

/// The number of the system call that the thread makes next, or makes again since the signal interrupted it; None: the
/// next instruction is another.
pub(super) fn next_system_call(m: &mcontext_t) -> Option<usize> {
    is_system_call(pc(m)).then(|| get(m, REG_RAX))
}

/// Whether the thread comes from a system call that the signal has ended early.
pub(super) fn is_interrupted(m: &mcontext_t) -> bool {
    is_system_call(pc(m).wrapping_sub(SYSCALL.len())) && get(m, REG_RAX) as isize == -(libc::EINTR as isize)
}

/// The instruction `syscall`.
const SYSCALL: [u8; 2] = [0x0f, 0x05];

fn is_system_call(address: usize) -> bool {
    // SAFETY: at the program counter, or right before it in the same file's code.
    address != 0 && unsafe { (address as *const [u8; 2]).read() } == SYSCALL
}
