//! Which cache lines aarch64 cleans and invalidates, where cores of one machine differ and threads migrate.
//!
//! CTR_EL0 (Arm ARM D19.2.34) gives the smallest line of the data caches (DminLine) and of the instruction caches
//! (IminLine) of the core that reads it, and whether that core needs no clean (IDC) or no invalidation (DIC). Linux
//! gives user space one safe value on machines whose cores differ; this file keeps its invariant without that help.
//!
//! Invariant: after `Seen::synchronise`, each line of the range, of whatever size on a core whose CTR_EL0 was read
//! before, during or at the end of the call, was cleaned and then invalidated, unless all of these values say that it
//! is needless. Three rules keep it:
//!
//! 1. The step is the smallest of the value read now, the smallest ever seen, and 64 bytes: no processor that runs
//!    Linux is known to have smaller lines, so cores of 128 and 64 bytes are safe from the first call on.
//! 2. An operation is left out only if no core ever seen needs it.
//! 3. CTR_EL0 is read again after the pass. If the core that is there now asks for more than was done (a smaller step,
//!    an operation that was left out), the pass is repeated.
//!
//! Rule 3 ends: a repetition means that one of four values shrank, and each has a least value.
//!
//! Left out: a core with lines below 64 bytes that a thread visits during a pass alone, and that no call ever saw.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Larger lines exist (128 bytes), but a core with 64-byte lines may be in the same machine.
const MAX_STEP_BYTES: usize = 64;
/// CTR_EL0.IDC: no clean to the point of unification is needed.
const CLEAN_NEEDLESS: usize = 1 << 28;
/// CTR_EL0.DIC: no invalidation to the point of unification is needed.
const INVALIDATE_NEEDLESS: usize = 1 << 29;
/// CTR_EL0.DminLine: binary logarithm of the line in words of 4 bytes.
const DATA_LINE_SHIFT: u32 = 16;
/// CTR_EL0.IminLine, likewise.
const INSTRUCTION_LINE_SHIFT: u32 = 0;

/// The operations on caches that the algorithm composes; the thread may be on another core at each call.
pub(super) trait Caches {
    /// CTR_EL0 of the core on which the thread runs now.
    fn cache_type(&mut self) -> usize;
    /// Cleans the data line of the address `line` to the point of unification.
    fn clean(&mut self, line: usize);
    /// Invalidates the instruction line of the address `line` to the point of unification.
    fn invalidate(&mut self, line: usize);
    /// Waits until the operations before it are complete on all cores.
    fn complete(&mut self);
}

/// What one pass does: bytes between two operations, or `None` where the operation is needless.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pass {
    clean_step: Option<usize>,
    invalidate_step: Option<usize>,
}

/// What was learnt of the cores so far.
///
/// | word | moves | by | pairs with |
/// |---|---|---|---|
/// | `data_line`, `instruction_line` | down only | any thread, `fetch_min` | nothing |
/// | `needless` | bits go 1 → 0 only | any thread, `fetch_and` | nothing |
///
/// All are Relaxed: they say nothing of other memory, and each caller applies the value it read itself as well.
pub(super) struct Seen {
    data_line: AtomicUsize,
    instruction_line: AtomicUsize,
    needless: AtomicUsize,
}

impl Seen {
    pub(super) const fn new() -> Self {
        Self {
            data_line: AtomicUsize::new(MAX_STEP_BYTES),
            instruction_line: AtomicUsize::new(MAX_STEP_BYTES),
            needless: AtomicUsize::new(CLEAN_NEEDLESS | INVALIDATE_NEEDLESS),
        }
    }

    /// Takes in a value of CTR_EL0. Returns what is to be done for it and all values seen before.
    fn note(&self, cache_type: usize) -> Pass {
        let smallest = |seen: &AtomicUsize, shift: u32| {
            let line_bytes = 4usize << ((cache_type >> shift) & 15);
            // Relaxed: see the table.
            seen.fetch_min(line_bytes, Ordering::Relaxed).min(line_bytes)
        };
        let data_line = smallest(&self.data_line, DATA_LINE_SHIFT);
        let instruction_line = smallest(&self.instruction_line, INSTRUCTION_LINE_SHIFT);
        // Relaxed: see the table.
        let needless = self.needless.fetch_and(cache_type, Ordering::Relaxed) & cache_type;
        Pass {
            clean_step: (needless & CLEAN_NEEDLESS == 0).then_some(data_line),
            invalidate_step: (needless & INVALIDATE_NEEDLESS == 0).then_some(instruction_line),
        }
    }

    /// Cleans and invalidates the lines of `range`. The caller serialises the cores afterwards.
    pub(super) fn synchronise(&self, caches: &mut impl Caches, range: Range<usize>) {
        let mut pass = self.note(caches.cache_type());
        loop {
            for line in lines(&range, pass.clean_step) {
                caches.clean(line);
            }
            // Even without a clean: the stores of the code are complete before what publishes it.
            caches.complete();
            if pass.invalidate_step.is_some() {
                for line in lines(&range, pass.invalidate_step) {
                    caches.invalidate(line);
                }
                caches.complete();
            }
            let wanted = self.note(caches.cache_type());
            if wanted == pass {
                return;
            }
            pass = wanted;
        }
    }
}

/// The addresses of the lines of `step` bytes, a power of two, that have a byte of `range`.
fn lines(range: &Range<usize>, step: Option<usize>) -> impl Iterator<Item = usize> + use<> {
    let (first, end) = match step {
        Some(step) => (range.start & !(step - 1), range.end),
        None => (range.end, range.end),
    };
    (first..end).step_by(step.unwrap_or(1))
}

#[cfg(test)]
#[path = "lines/tests.rs"]
mod tests;
