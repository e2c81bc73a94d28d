//! x86-64: instruction fetch snoops stores, so new code at a never-executed address needs nothing but the release store
//! that publishes it. Code that was executed before needs `membarrier::synchronise_cores` as well.

use std::ops::Range;

pub(super) fn synchronise(_executed: Range<usize>) {
    // SeqCst: the compiler must not move the stores of the code below what publishes it.
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

pub(super) fn pass_barriers() {
    // SeqCst: the compiler must not move the stores of the data below what publishes the code.
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}
