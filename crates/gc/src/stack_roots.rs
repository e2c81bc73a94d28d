//! Which words of a stopped thread's stack are scanned: all but those that compiled code will not read any more.
//!
//! Invariant: a word is left out only if its frame writes it before it reads it again (`saki_unwind::find_dead_words`).
//! In stress mode such words are overwritten, so that a frame which does read one fails at once.

use saki_thread::ManagedThread;
use std::ops::Range;

/// Not an address that a processor accepts.
const POISON: usize = 0xdead_5b11_dead_5b11;

/// Finds the addresses of dead words on the stack of a stopped thread, ascending; what `dead` held is forgotten.
pub(crate) fn find_dead_words(thread: &ManagedThread, dead: &mut Vec<usize>) {
    dead.clear();
    // Frames are walked in their places only.
    if thread.is_cold() {
        return;
    }
    // SAFETY: the world is stopped: the thread is in Rust or native code and stays there.
    unsafe { saki_unwind::find_dead_words(thread.abi(), dead) };
    if crate::mmtk::options().stress.is_some() {
        for &address in &*dead {
            // SAFETY: a word of a frame on the thread's stack, which nobody reads before it is written again. Volatile:
            // the memory belongs to compiled code.
            unsafe { (address as *mut usize).write_volatile(POISON) };
        }
    }
}

/// Calls `visit` with the parts of `range` between the words of `dead`.
pub(crate) fn for_each_living_range(range: Range<usize>, dead: &[usize], mut visit: impl FnMut(Range<usize>)) {
    let first = dead.partition_point(|&address| address < range.start);
    let mut start = range.start;
    for &address in dead[first..].iter().take_while(|&&address| address < range.end) {
        if start < address {
            visit(start..address);
        }
        start = address + size_of::<usize>();
    }
    if start < range.end {
        visit(start..range.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expect`: start and end of each part.
    fn check(range: Range<usize>, dead: &[usize], expect: &[(usize, usize)]) {
        let mut parts = Vec::new();
        for_each_living_range(range, dead, |part| parts.push((part.start, part.end)));
        assert_eq!(parts, expect);
    }

    #[test]
    fn dead_words_part_the_range() {
        check(0x100..0x140, &[], &[(0x100, 0x140)]);
        check(0x100..0x140, &[0x80, 0x110, 0x118, 0x130, 0x140], &[(0x100, 0x110), (0x120, 0x130), (0x138, 0x140)]);
        check(0x100..0x140, &[0x100, 0x138], &[(0x108, 0x138)]);
        check(0x100..0x108, &[0x100], &[]);
    }
}
