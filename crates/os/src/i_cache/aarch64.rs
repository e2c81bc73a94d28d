//! AArch64: clean the data cache to the point of unification, invalidate the instruction cache, serialise all cores.
//!
//! Cores of one machine may differ in line size and a thread may migrate between reading the size and using it, so the
//! step is the smallest of the size read now, the smallest ever seen, and 64 bytes.

use std::arch::asm;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Larger lines exist (128 bytes), but a core with 64-byte lines may be in the same machine.
const MAX_STEP_BYTES: usize = 64;

static SMALLEST_INSTRUCTION_LINE: AtomicUsize = AtomicUsize::new(MAX_STEP_BYTES);
static SMALLEST_DATA_LINE: AtomicUsize = AtomicUsize::new(MAX_STEP_BYTES);

fn cache_type() -> usize {
    let value: usize;
    // SAFETY: reads a register that Linux lets user space read.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) value, options(nomem, nostack)) };
    value
}

fn step(seen: &AtomicUsize, words_log2: usize) -> usize {
    let line_bytes = 4usize << (words_log2 & 15);
    // Relaxed: a minimum only; each caller also applies the value it read itself.
    seen.fetch_min(line_bytes, Ordering::Relaxed).min(line_bytes).min(MAX_STEP_BYTES)
}

pub(super) fn synchronise(executed: Range<usize>) {
    let ctr = cache_type();
    let (clean_needless, invalidate_needless) = (ctr & (1 << 28) != 0, ctr & (1 << 29) != 0);
    if !clean_needless {
        let step = step(&SMALLEST_DATA_LINE, ctr >> 16);
        for line in (executed.start & !(step - 1)..executed.end).step_by(step) {
            // SAFETY: cache maintenance of mapped memory changes no data.
            unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack)) };
        }
    }
    // SAFETY: a barrier.
    unsafe { asm!("dsb ish", options(nostack)) };
    if !invalidate_needless {
        let step = step(&SMALLEST_INSTRUCTION_LINE, ctr);
        for line in (executed.start & !(step - 1)..executed.end).step_by(step) {
            // SAFETY: cache maintenance of mapped memory changes no data.
            unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack)) };
        }
        // SAFETY: a barrier.
        unsafe { asm!("dsb ish", options(nostack)) };
    }
    // SAFETY: a barrier.
    unsafe { asm!("isb", options(nostack)) };
    crate::membarrier::synchronise_cores();
}
