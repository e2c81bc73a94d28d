//! Fetches what threads need that run soon into the caches.
//!
//! The record, the structure and the stack of a thread that has waited for long are in no cache: the first look at them
//! takes some 3 µs, one miss after the other. So a carrier that takes a thread out of a queue with others behind it
//! prefetches the record of the second of these, and what the first one's record, which is there by now, refers to.
//! These are hints: another carrier may take those threads meanwhile.

use crate::green::Green;
use saki_os::memory::prefetch_range;
use saki_thread::ManagedThread;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The part of a structure that a thread's return from a wait reads.
const STRUCTURE_BYTES: usize = 512;
/// The part of a stack that lies between the switch and the wait's caller.
const STACK_BYTES: usize = 768;

/// The threads that are to run after the present one, if there are any.
#[inline]
pub(crate) fn fetch(first: Option<&'static Green>, second: Option<&'static Green>) {
    if let Some(second) = second {
        prefetch_range(std::ptr::from_ref(second).addr(), size_of::<Green>());
    }
    if let Some(first) = first {
        prefetch_range(std::ptr::from_ref::<ManagedThread>(first.thread).addr(), STRUCTURE_BYTES);
        // SAFETY: the context is the stack pointer alone, in an aligned word of a record that is never freed. Another
        // carrier may be changing it, in one instruction: any value will do for a prefetch.
        let stack_pointer = unsafe { AtomicUsize::from_ptr(first.context.get().cast()) };
        // Relaxed: a hint.
        prefetch_range(stack_pointer.load(Ordering::Relaxed), STACK_BYTES);
    }
}
