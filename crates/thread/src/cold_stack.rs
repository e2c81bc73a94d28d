//! Cold stacks: compact copies of parked threads' stacks, which are restored at the same addresses before the threads
//! run.
//!
//! A parked thread uses a few hundred bytes to some kilobytes of its stack, which takes a page or two and page tables.
//! For threads that have been parked for long, `sched::cold` copies the used part of the stack, gives its pages back,
//! and restores the stack on the carrier that takes the thread next. The collector and other readers of stopped stacks
//! read the copy (`ManagedThread::for_each_conservative_range`); a stop for any other reason than a collection restores
//! all stacks first, since frames are walked then.
//!
//! | field | written by | read by |
//! |---|---|---|
//! | `words`, `sp` | whoever owns the suspended thread (`ParkWord`), under `MOVES` shared, or with the world stopped | the same; collector while the world is stopped |
//! | `is_cold` | the same; Relaxed | the carrier that is about to run the thread: ordered by `ParkWord` and the run queues |
//!
//! Invariant: stacks move under `MOVES` shared; a stopper holds it exclusively from when the world has stopped until it
//! resumes, so that no stack moves then. Left out: the choice of stacks that move.

use saki_base::locks::rank;
use saki_sync::word_locks::RwLock;
use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static MOVES: RwLock<rank::StackMoves, ()> = RwLock::new(());

/// See the module header.
#[derive(Default)]
pub(crate) struct ColdStack {
    is_cold: AtomicBool,
    /// Where the copy belongs.
    sp: AtomicUsize,
    words: UnsafeCell<Option<Box<[usize]>>>,
}

/// Runs `f`, which moves stacks, while the world is not stopped. `f` neither blocks nor takes locks that are held while
/// the world is stopped.
pub fn while_moving<R>(f: impl FnOnce() -> R) -> R {
    let _moving = MOVES.read();
    f()
}

/// No stack moves until `allow_moves`, which may be called on another thread. The world has stopped.
pub(crate) fn forbid_moves() {
    std::mem::forget(MOVES.write());
}

/// Undoes `forbid_moves`; also in a forked child, where the threads that wait to move stacks are not.
///
/// # Safety
/// `forbid_moves` was called before, once.
pub(crate) unsafe fn allow_moves() {
    // SAFETY: `forbid_moves` has left the lock held for writing, which this function demands; the lock does not care
    // which thread unlocks it.
    unsafe { MOVES.force_unlock_write() };
}

impl ColdStack {
    /// Whether the stack lies elsewhere.
    #[inline(always)]
    pub(crate) fn is_cold(&self) -> bool {
        // Relaxed: see the table.
        self.is_cold.load(Ordering::Relaxed)
    }

    /// Copies the stack from `sp` to its `base`, and returns how many bytes.
    ///
    /// # Safety
    /// As for `ManagedThread::put_stack_by`.
    pub(crate) unsafe fn put_by(&self, sp: usize, base: usize) -> usize {
        debug_assert!(sp.is_multiple_of(size_of::<usize>()) && !self.is_cold());
        let len = (base - sp) / size_of::<usize>();
        // SAFETY: the stack of a suspended thread is readable from its stack pointer to its base, and nobody writes it.
        let words: Box<[usize]> = unsafe { std::slice::from_raw_parts(sp as *const usize, len) }.into();
        self.sp.store(sp, Ordering::Relaxed);
        // SAFETY: the thread is suspended, and its owner by `ParkWord` alone uses the copy; no collector reads it, as
        // stacks move only while the world is not stopped.
        unsafe { *self.words.get() = Some(words) };
        self.is_cold.store(true, Ordering::Relaxed);
        len * size_of::<usize>()
    }

    /// Writes the copy back.
    ///
    /// # Safety
    /// As for `ManagedThread::restore_stack`.
    pub(crate) unsafe fn restore(&self) {
        // SAFETY: the thread is suspended, and only its owner by `ParkWord`, or the thread that has stopped the world,
        // uses the copy.
        if let Some(words) = unsafe { (*self.words.get()).take() } {
            let place = self.sp.load(Ordering::Relaxed) as *mut usize;
            // SAFETY: where the words came from; the stack is the suspended thread's, and nobody else uses it.
            unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), place, words.len()) };
        }
        self.is_cold.store(false, Ordering::Relaxed);
    }

    /// Where the words of a range of the stopped thread's stack are now.
    pub(crate) fn present_place(&self, range: Range<usize>) -> Range<usize> {
        if !self.is_cold() {
            return range;
        }
        // SAFETY: the world is stopped, so nobody moves the stack.
        let Some(words) = (unsafe { (*self.words.get()).as_deref() }) else { return range };
        let sp = self.sp.load(Ordering::Relaxed);
        let copy = words.as_ptr_range();
        let start = (copy.start as usize + range.start.saturating_sub(sp)).min(copy.end as usize);
        start..copy.end as usize
    }
}
