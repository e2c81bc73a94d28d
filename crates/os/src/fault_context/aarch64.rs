//! Register access in the saved context, AArch64.

use libc::mcontext_t;

/// x0 … x30.
const NAMES: [&str; 31] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
    "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30",
];

pub(super) fn pc(m: &mcontext_t) -> usize {
    m.pc as usize
}

pub(super) fn sp(m: &mcontext_t) -> usize {
    m.sp as usize
}

pub(super) fn fp(m: &mcontext_t) -> usize {
    m.regs[29] as usize
}

pub(super) fn by_dwarf_number(m: &mcontext_t, number: usize) -> usize {
    if (19..=30).contains(&number) { m.regs[number] as usize } else { 0 }
}

pub(super) fn pinned(m: &mcontext_t) -> usize {
    m.regs[21] as usize
}

pub(super) fn set_pc(m: &mut mcontext_t, value: usize) {
    m.pc = value as u64;
}

pub(super) fn set_sp(m: &mut mcontext_t, value: usize) {
    m.sp = value as u64;
}

pub(super) fn set_fp(m: &mut mcontext_t, value: usize) {
    m.regs[29] = value as u64;
}

pub(super) fn set_argument(m: &mut mcontext_t, index: usize, value: usize) {
    assert!(index < 4);
    m.regs[index] = value as u64;
}

pub(super) fn general_registers(m: &mcontext_t) -> Vec<(&'static str, usize)> {
    NAMES.iter().zip(m.regs.iter()).map(|(name, value)| (*name, *value as usize)).collect()
}

/// The register in which functions get their return address.
const LINK: usize = 30;

/// # Safety
/// None here.
pub(super) unsafe fn set_return_address(m: &mut mcontext_t, value: usize) {
    m.regs[LINK] = value as u64;
}

/// # Safety
/// None here.
pub(super) unsafe fn return_address(m: &mcontext_t) -> usize {
    m.regs[LINK] as usize
}

/// # Safety
/// See `FaultContext::undo_frame`.
pub(super) unsafe fn undo_frame(m: &mut mcontext_t) {
    let frame = fp(m);
    // SAFETY: a frame begins with its record (contract).
    let [caller, return_address] = unsafe { (frame as *const [usize; 2]).read() };
    set_fp(m, caller);
    set_sp(m, frame + size_of::<[usize; 2]>());
    m.regs[LINK] = return_address as u64;
}

pub(super) fn link(m: &mcontext_t) -> Option<usize> {
    Some(m.regs[LINK] as usize)
}

/// The number of the system call that the thread makes next, or makes again since the signal interrupted it; None: the
/// next instruction is another.
pub(super) fn next_system_call(m: &mcontext_t) -> Option<usize> {
    is_system_call(pc(m)).then(|| m.regs[8] as usize)
}

/// Whether the thread comes from a system call that the signal has ended early.
pub(super) fn is_interrupted(m: &mcontext_t) -> bool {
    is_system_call(pc(m).wrapping_sub(4)) && m.regs[0] as isize == -(libc::EINTR as isize)
}

fn is_system_call(address: usize) -> bool {
    /// The instruction `svc #0`.
    const SUPERVISOR_CALL: u32 = 0xd400_0001;
    // SAFETY: at the program counter, or right before it in the same file's code.
    address != 0 && unsafe { (address as *const u32).read() } == SUPERVISOR_CALL
}
