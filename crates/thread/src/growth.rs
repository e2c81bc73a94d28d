//! Stacks that grow (`code::growth`): a thread begins on a small stack; when it runs into the reserve of that, the next
//! method whose entry polls goes on in an inner part as large as the program asked for.
//!
//! | where the thread is | `ThreadAbi::outer_sp` | left when |
//! |---|---|---|
//! | outer part | 0 | a method's entry moves its frame, if `POLL_STACK` is set |
//! | inner part | where the outer part ends | the method returns, or an exception lands in the outer part |
//!
//! A touch of the outer part's reserve sets `POLL_STACK`, and so does the way back from the inner part. `grow_below`,
//! the stack pointer below which frames move, is the thread's own word; Relaxed.
//!
//! The thread keeps the inner part when it comes back, until it waits or ends. In the outer part no overflow is thrown
//! unless growth has failed as far as the lowest part of the reserve.
//!
//! Invariant: the words are the thread's own; others read them while it is stopped. Left out: where parts come from
//! (`SchedulerHooks`).

use crate::managed_thread::ManagedThread;
use crate::request::POLL_STACK;
use crate::scheduler_hooks::scheduler_hooks;
use crate::spill::stack_pointer;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// A part of a stack: its usable addresses, and those below that are closed.
#[derive(Clone, Debug)]
pub struct StackPart {
    pub usable: Range<usize>,
    pub guard: Range<usize>,
}

/// When a stack grows, beside where it has to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// Never.
    None,
    /// When its reserve is touched.
    WhenFull,
    /// At the next method's entry when so many bytes are used, for tests.
    Above(usize),
}

impl ManagedThread {
    /// Lets the stack, on which the thread is about to run, grow.
    pub(crate) fn set_growth(&self, growth: Growth) {
        let below = match growth {
            Growth::None => 0,
            Growth::WhenFull => self.stack_reserve.high(),
            Growth::Above(bytes) => self.stack_bounds().end - bytes,
        };
        self.grow_below.store(below, Ordering::Relaxed);
        if self.grows_all_the_time() {
            self.set_poll(POLL_STACK);
        }
    }

    /// The addresses between the parts of a stack in two parts. For the thread itself, or while it is stopped.
    pub(crate) fn gap(&self) -> Option<Range<usize>> {
        let abi = self.abi();
        // SAFETY: the structure is never freed; the thread itself, or one for which it is stopped, reads words that
        // only the thread writes.
        let (inner_top, outer_sp) = unsafe { ((*abi).inner_top, (*abi).outer_sp) };
        (outer_sp != 0).then_some(inner_top..outer_sp)
    }

    /// Whether the thread is on the inner part of its stack. For the thread itself.
    pub fn is_on_inner_stack(&self) -> bool {
        self.gap().is_some()
    }

    /// Whether the thread is on a small stack, and gets a larger one when that is used up. For the thread itself.
    pub fn can_grow(&self) -> bool {
        self.grow_below.load(Ordering::Relaxed) != 0 && self.gap().is_none()
    }

    /// Whether the stack grows from a place above the reserve, which is not touched then, so that the poll bit stays.
    pub(crate) fn grows_all_the_time(&self) -> bool {
        self.can_grow() && self.grow_below.load(Ordering::Relaxed) > self.stack_reserve.high()
    }

    /// Whether a method at its entry is to go on in the inner part. For the thread itself.
    #[inline]
    pub fn is_to_grow(&self) -> bool {
        // Relaxed: the thread's own bit.
        self.poll_word().load(Ordering::Relaxed) & POLL_STACK != 0
            && self.can_grow()
            && stack_pointer() < self.grow_below.load(Ordering::Relaxed)
    }

    /// The inner part of the stack, which is the thread's until it waits or ends; None if there is no room for it. For
    /// the thread itself, which is on the outer part.
    pub fn take_inner_stack(&self) -> Option<Range<usize>> {
        let part = (scheduler_hooks()?.take_inner_stack)(self.as_static())?;
        // It may have been left in the middle of an overflow.
        self.inner_reserve.take_down();
        self.inner_reserve.set_up_pooled(&part.guard);
        Some(part.usable)
    }

    /// The thread is on the outer part of its stack, or has ended, and the inner one goes to another thread.
    pub fn put_down_inner_stack(&self) {
        self.inner_reserve.take_down();
    }
}
