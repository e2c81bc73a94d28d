//! Optional features of the kernel, for reports.
//!
//! Invariant: asking for a feature changes nothing. Left out: guard markers (`guard::kind`), membarrier.

use crate::error::errno;

/// Whether io_uring can be used: the kernel has it, and neither a setting nor a filter forbids it.
pub fn has_io_uring() -> bool {
    // SAFETY: without parameters the call fails before it makes anything.
    let made = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1_u32, std::ptr::null_mut::<u8>()) };
    made < 0 && errno() == libc::EFAULT
}

/// Whether the kernel has restartable sequences (`rseq`, with the size of its area in the auxiliary vector from Linux
/// 6.3 on).
pub fn has_rseq() -> bool {
    const AT_RSEQ_FEATURE_SIZE: libc::c_ulong = 27;
    // SAFETY: no conditions.
    unsafe { libc::getauxval(AT_RSEQ_FEATURE_SIZE) != 0 }
}
