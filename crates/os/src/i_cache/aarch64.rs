//! AArch64: clean the data cache to the point of unification, invalidate the instruction cache, serialise all cores.
//! Which lines, and how often, is decided by `lines`; this file has the instructions.

use super::lines::{Caches, Seen};
use std::arch::asm;
use std::ops::Range;

static SEEN: Seen = Seen::new();

/// The caches of whichever core the thread runs on.
struct CurrentCore;

impl Caches for CurrentCore {
    fn cache_type(&mut self) -> usize {
        let value: usize;
        // SAFETY: reads a register that Linux lets user space read. Without `nomem` and `pure`, so that it is read each
        // time and stays between the operations on lines.
        unsafe { asm!("mrs {}, ctr_el0", out(reg) value, options(nostack, preserves_flags)) };
        value
    }

    fn clean(&mut self, line: usize) {
        // SAFETY: cache maintenance of mapped memory changes no data.
        unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) };
    }

    fn invalidate(&mut self, line: usize) {
        // SAFETY: cache maintenance of mapped memory changes no data.
        unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) };
    }

    fn complete(&mut self) {
        // SAFETY: a barrier.
        unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    }
}

pub(super) fn synchronise(executed: Range<usize>) {
    SEEN.synchronise(&mut CurrentCore, executed);
    // SAFETY: a barrier.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
    pass_barriers();
}

pub(super) fn pass_barriers() {
    // SeqCst: the calling thread's own barrier; the system call has one as well.
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    // `code::init` refuses to start where the kernel cannot, so this is a kernel that has run out of memory for it.
    if !crate::membarrier::synchronise_cores() {
        saki_base::bug!("the kernel does not make the other cores fetch new code: errno {}", crate::error::errno());
    }
}
