//! The reserve at the low end of a thread's stack, which lets a program catch a stack overflow.
//!
//! The reserve's pages are closed until compiled code, the runtime or native code touches them. The fault handler then
//! opens them and sets `POLL_STACK`, and the code that faulted goes on. So the exception is not thrown where it could
//! not be caught (in the middle of a prologue, of Rust or of native code) but at the next safepoint, which every method
//! with calls has at its entry.
//!
//! ```text
//!   base  ┌───────────────────┐
//!         │ the usable stack  │
//!   high  ├───────────────────┤ stack_limit
//!         │ upper part        │ handlers, filters, compiling them
//!   lower ├───────────────────┤
//!         │ lowest part       │ throwing and unwinding
//!   low   ├───────────────────┤
//!         │ the system's guard│ an overflow here ends the process (`unwind::overflow`)
//! ```
//!
//! | state | pages | left when |
//! |---|---|---|
//! | `NONE` | as the system has them | the thread gets ready with enough stack left, or begins on a pooled stack |
//! | `CLOSED` | inaccessible | something touches them: `open` |
//! | `UPPER_OPEN` | the upper part accessible, `POLL_STACK` set | something touches the lowest part, or as `OPEN` |
//! | `OPEN` | all accessible, `POLL_STACK` set | a safepoint finds the stack pointer above the reserve: `close` |
//!
//! The lowest part opens separately, so that the fault handler recognises a large frame whose prologue runs into it:
//! that call is given up, and its caller, which has more stack left, throws (`unwind::fault`).
//!
//! After a throw in the reserve, handlers and the methods that they call run there; the next throw comes when half of
//! the remaining reserve is used, and in the lowest part at every safepoint.
//!
//! Invariant: all words are the thread's own: written and read by it and by the fault handler on it, so Relaxed is
//! enough. Left out: who calls (`thread_stack`), and the exception that is thrown. Not covered: native code that
//! touches the reserve for the first time while it has SIGSEGV blocked, which the kernel answers by ending the process.
//! The C library does so where it starts threads and processes; the runtime's own calls of that kind touch their stack
//! first (`os::thread::touch_stack_ahead`).

use crate::spill::stack_pointer;
use saki_os::guard::GuardKind;
use saki_os::memory::{Protection, close_stack_pages, page_size_bytes, protect_raw};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// Size of the reserve in a stack of at least twice that size; in a smaller stack the reserve is half of it. After a
/// throw at its upper end there must be room to compile and run a filter.
pub(crate) const STACK_RESERVE_BYTES: usize = 384 << 10;

/// The lowest part is this share of the reserve: 96 KiB, of which throwing takes some 20 without optimisation.
const LOWEST_SHARE: usize = 4;

/// How far above the reserve the stack pointer must be to close it: the frames of the runtime that look.
const CLOSING_DISTANCE_BYTES: usize = 16 << 10;

/// What code may use below the stack pointer (System V ABI for x86-64, 3.2.2; none for aarch64).
const RED_ZONE_BYTES: usize = 128;

/// An attaching thread that has less stack than this left above the reserve gets no reserve.
const LEAST_REST_BYTES: usize = 32 << 10;

const NONE: u32 = 0;
const CLOSED: u32 = 1;
const UPPER_OPEN: u32 = 2;
const OPEN: u32 = 3;

/// See the module header.
#[derive(Default)]
pub(crate) struct StackReserve {
    state: AtomicU32,
    /// Lowest address of the stack, which need not begin with a page, and the end of the stack.
    stack_low: AtomicUsize,
    stack_end: AtomicUsize,
    /// Where the guard of a pooled stack begins.
    guard_low: AtomicUsize,
    /// Addresses of pages, see the picture.
    low: AtomicUsize,
    lower: AtomicUsize,
    high: AtomicUsize,
    /// A safepoint below this address throws.
    throw_below: AtomicUsize,
    /// Whether the pages are markers of a pooled stack (`os::guard`), which stay when the stack goes to another thread.
    is_pooled: AtomicBool,
}

/// Bytes kept at the low end of a stack of this size.
pub(crate) fn reserve_bytes(stack_bytes: usize) -> usize {
    STACK_RESERVE_BYTES.min(stack_bytes / 2)
}

impl StackReserve {
    /// Notes the bounds of the calling thread's stack, whose reserve stays as the system has it.
    pub(crate) fn note_bounds(&self, bounds: &Range<usize>) {
        let page = page_size_bytes();
        let low = bounds.start.next_multiple_of(page);
        let high = (bounds.start + reserve_bytes(bounds.len())) / page * page;
        let lower = (low + high.saturating_sub(low) / LOWEST_SHARE) / page * page;
        self.stack_low.store(bounds.start, Ordering::Relaxed);
        self.low.store(low, Ordering::Relaxed);
        self.lower.store(lower, Ordering::Relaxed);
        self.high.store(high, Ordering::Relaxed);
        self.throw_below.store(high, Ordering::Relaxed);
        self.is_pooled.store(false, Ordering::Relaxed);
        self.stack_end.store(bounds.end, Ordering::Relaxed);
        self.state.store(NONE, Ordering::Relaxed);
    }

    /// Closes the reserve of the calling thread's stack. Without it an overflow ends the process.
    pub(crate) fn set_up(&self) {
        let Range { start: low, end: high } = self.pages();
        let end = self.stack_end.load(Ordering::Relaxed);
        // Native code may have switched to a stack that the system does not know.
        let has_rest = (high + LEAST_REST_BYTES..end).contains(&stack_pointer());
        // SAFETY: the pages are this thread's stack, unused so far, or lie where the kernel keeps room for it to grow.
        if low < high && has_rest && unsafe { close_stack_pages(low as *mut u8, high - low) }.is_ok() {
            self.state.store(CLOSED, Ordering::Relaxed);
        }
    }

    /// Sets up the reserve of a pooled stack: the upper part of the guard below it. When the stack comes from the pool
    /// the guard is closed, as markers only at its ends (`fiber::StackPool`).
    pub(crate) fn set_up_pooled(&self, guard: &Range<usize>) {
        let page = page_size_bytes();
        let low = guard.end.saturating_sub(STACK_RESERVE_BYTES).max(guard.start);
        self.stack_low.store(low, Ordering::Relaxed);
        self.guard_low.store(guard.start, Ordering::Relaxed);
        self.low.store(low, Ordering::Relaxed);
        self.lower.store((low + (guard.end - low) / LOWEST_SHARE) / page * page, Ordering::Relaxed);
        self.high.store(guard.end, Ordering::Relaxed);
        self.throw_below.store(guard.end, Ordering::Relaxed);
        self.is_pooled.store(true, Ordering::Relaxed);
        self.state.store(if low < guard.end { CLOSED } else { NONE }, Ordering::Relaxed);
    }

    fn protect(&self, pages: Range<usize>, protection: Protection) -> bool {
        if self.is_pooled.load(Ordering::Relaxed) && saki_os::guard::kind() == GuardKind::Markers {
            // SAFETY: the pages are of the reserve of this thread's stack; they are closed only while the thread has
            // nothing there.
            return unsafe { saki_os::guard::set_markers(pages, protection == Protection::None) }.is_ok();
        }
        // SAFETY: pages of the reserve; they are closed only while the thread has nothing there.
        unsafe { protect_raw(pages.start as *mut u8, pages.len(), protection) }.is_ok()
    }

    /// Whether the pages are a pooled stack's, and none is open.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_pooled.load(Ordering::Relaxed) && self.state.load(Ordering::Relaxed) == CLOSED
    }

    fn pages(&self) -> Range<usize> {
        self.low.load(Ordering::Relaxed)..self.high.load(Ordering::Relaxed)
    }

    /// Gives the pages back to the stack's owner, which may use the stack for another thread: accessible or, for a
    /// pooled stack, closed.
    pub(crate) fn take_down(&self) {
        if self.is_pooled.load(Ordering::Relaxed) {
            if matches!(self.state.swap(NONE, Ordering::Relaxed), UPPER_OPEN | OPEN) {
                self.protect(self.pages(), Protection::None);
            }
        } else if matches!(self.state.swap(NONE, Ordering::Relaxed), CLOSED | UPPER_OPEN) {
            self.protect(self.pages(), Protection::ReadWrite);
        }
    }
    /// Closes the guard of a pooled stack below the part that was opened, where it was closed at its end only. Below
    /// the stack pointer nothing is in use; native code may have stepped over the closed end with a large frame.
    fn close_below(&self, end: usize, sp: usize) {
        if self.is_pooled.load(Ordering::Relaxed) && saki_os::guard::kind() == GuardKind::Markers {
            let page = page_size_bytes();
            let unused_end = sp.saturating_sub(RED_ZONE_BYTES) / page * page;
            let guard_low = self.guard_low.load(Ordering::Relaxed);
            let pages = guard_low..end.min(unused_end).max(guard_low);
            // Without memory for page tables the end that is closed has to do.
            // SAFETY: pages of the guard below the thread's stack pointer, and below what the x86-64 ABI lets code use
            // beneath it.
            let _ = unsafe { saki_os::guard::set_markers(pages, true) };
        }
    }

    /// Opens the part in which the address of a fault lies; see `ManagedThread::open_stack_reserve`.
    pub(crate) fn open(&self, fault_address: usize, in_large_frame: bool, sp: usize) -> bool {
        let Range { start: low, end: high } = self.pages();
        let lower = self.lower();
        let state = self.state.load(Ordering::Relaxed);
        if !(low..high).contains(&fault_address) || !matches!(state, CLOSED | UPPER_OPEN) {
            return false;
        }
        let (pages, next) = match fault_address >= lower {
            true if state == UPPER_OPEN => return false,
            true => (lower..high, UPPER_OPEN),
            false if in_large_frame => return false,
            false => (low..high, OPEN),
        };
        // The main thread's stack must have grown down to the reserve before that is accessible: the kernel keeps a gap
        // above other mappings.
        // SAFETY: the word above the reserve is part of the stack.
        unsafe { std::hint::black_box((high as *const u8).read_volatile()) };
        if !self.protect(pages.clone(), Protection::ReadWrite) {
            return false;
        }
        if state == CLOSED {
            self.close_below(pages.start, sp.min(fault_address));
        }
        self.state.store(next, Ordering::Relaxed);
        true
    }

    /// Whether a stack pointer is so far above that the reserve can be closed.
    pub(crate) fn is_left_at(&self, sp: usize) -> bool {
        sp >= self.high.load(Ordering::Relaxed) + CLOSING_DISTANCE_BYTES
    }

    /// Closes what is open, once the thread has left it and its `POLL_STACK` is clear: a fault from now on sets it
    /// again.
    pub(crate) fn close(&self) {
        let Range { start: low, end: high } = self.pages();
        self.throw_below.store(high, Ordering::Relaxed);
        if self.state.load(Ordering::Relaxed) == CLOSED {
            return;
        }
        // In this order: a fault in between must find it closed.
        let state = self.state.swap(CLOSED, Ordering::Relaxed);
        if state == NONE || !self.protect(low..high, Protection::None) {
            self.state.store(NONE, Ordering::Relaxed);
        }
    }

    /// Whether a safepoint with the stack pointer here, in the open reserve, is to throw; the next one does only
    /// deeper.
    pub(crate) fn takes_overflow_at(&self, sp: usize) -> bool {
        if sp >= self.throw_below.load(Ordering::Relaxed) {
            return false;
        }
        let low = self.low.load(Ordering::Relaxed);
        let half_of_rest = low + sp.saturating_sub(low) / 2;
        self.throw_below.store(half_of_rest.max(self.lower()), Ordering::Relaxed);
        true
    }

    /// The upper end.
    pub(crate) fn high(&self) -> usize {
        self.high.load(Ordering::Relaxed)
    }

    /// The upper end of the lowest part.
    pub(crate) fn lower(&self) -> usize {
        self.lower.load(Ordering::Relaxed)
    }

    /// The lowest address of the stack.
    pub(crate) fn stack_low(&self) -> usize {
        self.stack_low.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use saki_os::Reservation;

    /// Offsets in KiB of the pages that the kernel cannot touch.
    fn closed(region: &Reservation) -> Vec<usize> {
        let page = page_size_bytes();
        let is_closed = |offset: &usize| {
            // SAFETY: the kernel writes a byte into a page of the region, or returns EFAULT.
            unsafe { libc::syscall(libc::SYS_getrandom, region.base().wrapping_add(*offset), 1_usize, 1_u32) != 1 }
        };
        (0..region.len_bytes()).step_by(page).filter(is_closed).map(|offset| offset >> 10).collect()
    }

    #[test]
    fn what_is_left_of_a_guard_closes_when_its_upper_part_opens() {
        const KIB: usize = 1 << 10;
        if saki_os::guard::kind() != GuardKind::Markers || page_size_bytes() != 4 * KIB {
            return;
        }
        let region = Reservation::reserve_writable(512 * KIB).unwrap();
        let base = region.base() as usize;
        let (done, _) = region.install_markers([0..16 * KIB, 432 * KIB..448 * KIB]);
        assert_eq!(done, 2);
        let reserve = StackReserve::default();
        reserve.set_up_pooled(&(base..base + 448 * KIB));
        // Native code stepped over the closed end, to a page of the lowest part, and calls on from there.
        let live = base + 152 * KIB + 100;
        assert!(!reserve.open(base + 10 * KIB, false, live));
        assert!(reserve.open(base + 440 * KIB, false, live));
        assert_eq!(closed(&region), (0..148).step_by(4).collect::<Vec<_>>());
        reserve.close();
        assert_eq!(closed(&region), (0..448).step_by(4).collect::<Vec<_>>());
        assert!(reserve.open(base + 440 * KIB, false, base + 450 * KIB));
        assert_eq!(closed(&region), (0..160).step_by(4).collect::<Vec<_>>());
        reserve.take_down();
        assert_eq!(closed(&region), (0..448).step_by(4).collect::<Vec<_>>());
    }
}
