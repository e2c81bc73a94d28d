//! The number of a thread's present stack, found anew by comparing two words for each frame that is as it was.
//!
//! A walk over frame pointers is a function of the words that it reads. So a [`StackMemo`] keeps the frames of the last
//! walk with those words, outermost first, like the stack itself. A new walk drops the frames that have returned and
//! those whose words have changed, walks from the innermost frame until it meets one that is left, and asks
//! [`StackIds`] for the numbers of the new frames only.
//!
//! Invariant: a frame is kept only while the kept frames outside of it are those that a walk from it would find. Of
//! these the `MAX_FRAMES` innermost are compared each time, so the cost is bounded; the frames of a number are right as
//! far as that. The numbers stand for return addresses, so the owner forgets them (`forget`) when code has been freed,
//! since its place may be used again.

use crate::frames::Words;
use saki_abi::ThreadAbi;
use saki_code::{ENTRY_PREVIOUS_EXIT_OFFSET, enter_return_address};

/// The frames of a stack that are looked at, from the innermost.
pub const MAX_FRAMES: usize = 64;

/// The number of the stack without frames.
pub const NO_FRAMES: u32 = 0;
/// The number of whatever is outside of the frames that were looked at.
pub const MORE_FRAMES: u32 = 1;

/// Gives stacks their numbers.
pub trait StackIds {
    /// Whether code continues at this return address; a walk ends where none does.
    fn is_code(&mut self, pc: usize) -> bool;

    /// The number of the stack whose innermost frame continues at `pc`, called from the stack `outer`.
    fn stack(&mut self, outer: u32, pc: usize) -> u32;
}

/// A frame, and the words that led from it to the next one outside of it.
#[derive(Clone, Copy)]
struct KnownFrame {
    pc: usize,
    fp: usize,
    /// For the frame of `enter`: where the exit frame before it is stored, and which that is.
    link: Option<(usize, usize)>,
    /// Where the next frame's pointer and return address lie; 0 = there is no further frame.
    next_at: usize,
    next_fp: usize,
    next_pc: usize,
    stack: u32,
}

impl KnownFrame {
    /// Whether a walk would still go on as it did.
    ///
    /// # Safety
    /// The frame was found on this stack, and is not inside of the innermost frame that is there now.
    #[inline]
    unsafe fn is_unchanged(&self) -> bool {
        if let Some((at, exit_frame)) = self.link
            // SAFETY: a word of a frame that was walked, above the innermost frame's: mapped stack.
            && unsafe { (at as *const usize).read() } != exit_frame
        {
            return false;
        }
        if self.next_at == 0 {
            return true;
        }
        // SAFETY: two words of a frame that was walked, not inside the innermost frame that is there now (contract):
        // mapped stack.
        let next = unsafe { (self.next_at as *const [usize; 2]).read() };
        next == [self.next_fp, self.next_pc]
    }
}

/// See the module header. Of one thread.
#[derive(Default)]
pub struct StackMemo {
    /// Outermost first; their frame pointers fall.
    frames: Vec<KnownFrame>,
    /// Scratch: the frames of a walk that are not known, innermost first.
    new: Vec<KnownFrame>,
}

impl StackMemo {
    /// Forgets all numbers.
    pub fn forget(&mut self) {
        self.frames.clear();
    }

    /// The number of the stack below the innermost managed → Rust transition of `thread` (`Frames::of_thread`).
    ///
    /// # Safety
    /// `thread` is the current thread, and always the same one.
    #[inline]
    pub unsafe fn current(&mut self, thread: *const ThreadAbi, ids: &mut impl StackIds) -> u32 {
        // SAFETY: valid by the contract.
        let (exit_frame, stack_base) = unsafe { ((*thread).exit_frame, (*thread).stack_base) };
        let words = Words { low: exit_frame, high: stack_base };
        if exit_frame == 0 {
            return NO_FRAMES;
        }
        let Some([fp, pc]) = words.pair(exit_frame) else { return NO_FRAMES };
        while self.frames.last().is_some_and(|frame| frame.fp < fp) {
            self.frames.pop();
        }
        self.drop_changed();
        match self.frames.last() {
            Some(frame) if (frame.fp, frame.pc) == (fp, pc) => frame.stack,
            _ => self.walk(Words { low: exit_frame + 8, ..words }, fp, pc, ids),
        }
    }

    /// Drops frames of which a word has changed, and those inside of them, as far as `MAX_FRAMES`. None is inside of
    /// the innermost present frame.
    #[inline]
    fn drop_changed(&mut self) {
        let from = self.frames.len().saturating_sub(MAX_FRAMES);
        // SAFETY: frames of this stack, at or above the innermost one.
        if let Some(changed) = self.frames[from..].iter().position(|frame| !unsafe { frame.is_unchanged() }) {
            self.frames.truncate(from + changed);
        }
    }

    /// Walks from the innermost frame to one that is known, and notes the frames between.
    fn walk(&mut self, mut words: Words, mut fp: usize, mut pc: usize, ids: &mut impl StackIds) -> u32 {
        self.new.clear();
        let mut all_are_checked = self.frames.len() <= MAX_FRAMES;
        let mut stack = loop {
            while self.frames.last().is_some_and(|frame| frame.fp < fp || frame.fp == fp && frame.pc != pc) {
                self.frames.pop();
            }
            if let Some(frame) = self.frames.last().filter(|frame| frame.fp == fp) {
                if all_are_checked {
                    break frame.stack;
                }
                // Now `MAX_FRAMES` from here.
                self.drop_changed();
                all_are_checked = true;
                continue;
            }
            let step = (self.new.len() < MAX_FRAMES).then(|| step(&mut words, fp, pc, ids));
            let Some(Some(frame)) = step else {
                self.frames.clear();
                break if step.is_none() { MORE_FRAMES } else { NO_FRAMES };
            };
            self.new.push(frame);
            (fp, pc) = (frame.next_fp, frame.next_pc);
        };
        while let Some(mut frame) = self.new.pop() {
            if frame.link.is_none() && !is_continued(frame.pc) {
                stack = ids.stack(stack, frame.pc);
            }
            frame.stack = stack;
            self.frames.push(frame);
        }
        stack
    }
}

/// Whether a continuation does the work of the frame that continues at `pc`. As `Frames::next`.
fn is_continued(pc: usize) -> bool {
    saki_code::lookup(pc - 1).is_some_and(|info| info.is_continued_at(pc))
}

/// The frame that continues at `pc`, with the way to the next one; None where a walk ends. As `Frames::next`.
fn step(words: &mut Words, fp: usize, pc: usize, ids: &mut impl StackIds) -> Option<KnownFrame> {
    if pc == 0 {
        return None;
    }
    let [next_fp, next_pc] = words.pair(fp)?;
    if pc != enter_return_address() {
        if !ids.is_code(pc) {
            return None;
        }
        words.low = fp + 8;
        return Some(KnownFrame { pc, fp, link: None, next_at: fp, next_fp, next_pc, stack: NO_FRAMES });
    }
    let link_at = fp.wrapping_add_signed(ENTRY_PREVIOUS_EXIT_OFFSET);
    let exit_frame = words.read(link_at)?;
    words.low = fp + 8;
    let next = if exit_frame == 0 { None } else { words.pair(exit_frame) };
    let next_at = if next.is_some() { exit_frame } else { 0 };
    if next.is_some() {
        words.low = exit_frame + 8;
    }
    let [next_fp, next_pc] = next.unwrap_or_default();
    Some(KnownFrame { pc, fp, link: Some((link_at, exit_frame)), next_at, next_fp, next_pc, stack: NO_FRAMES })
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_abi::ObjRef;
    use std::collections::HashMap;

    /// Numbers stacks by their return addresses, and counts the questions.
    #[derive(Default)]
    struct Ids {
        known: HashMap<(u32, usize), u32>,
        stacks: Vec<Vec<usize>>,
        asked: usize,
    }

    impl StackIds for Ids {
        fn is_code(&mut self, pc: usize) -> bool {
            pc < 1 << 20
        }

        fn stack(&mut self, outer: u32, pc: usize) -> u32 {
            self.asked += 1;
            let (next, stacks) = (self.stacks.len() as u32, &mut self.stacks);
            *self.known.entry((outer, pc)).or_insert_with(|| {
                let outside = stacks.get(outer as usize).cloned().unwrap_or_default();
                stacks.push([&[pc], &outside[..]].concat());
                next
            })
        }
    }

    /// A stack of 64 KiB on which frames are laid out from the top.
    struct Stack {
        words: Vec<usize>,
        abi: Box<ThreadAbi>,
        memo: StackMemo,
        ids: Ids,
    }

    impl Stack {
        fn new() -> Stack {
            let words = vec![0; 8 << 10];
            // SAFETY: integers and raw pointers, for which zero is a value.
            let mut abi: Box<ThreadAbi> = Box::new(unsafe { std::mem::zeroed() });
            abi.stack_base = words.as_ptr_range().end as usize;
            abi.pending_exception = ObjRef::NULL;
            // Numbers 0 and 1 are taken.
            let ids = Ids { stacks: vec![Vec::new(); 2], ..Ids::default() };
            Stack { words, abi, memo: StackMemo::default(), ids }
        }

        /// Lays out frames that continue at these addresses, outermost first, each of so many words.
        fn lay_out(&mut self, frames: &[(usize, usize)]) {
            let (base, end) = (self.words.as_ptr() as usize, self.words.len());
            let (mut at, mut caller) = (end - 2, [0, 0]);
            for &(pc, words) in frames {
                self.words[at..at + 2].copy_from_slice(&caller);
                caller = [base + 8 * at, pc];
                at -= words;
            }
            self.words[at..at + 2].copy_from_slice(&caller);
            self.abi.exit_frame = base + 8 * at;
        }

        /// The present stack, innermost first, and how many frames had to be asked for.
        fn walk(&mut self) -> (Vec<usize>, usize) {
            let before = self.ids.asked;
            // SAFETY: the words of the stack are valid.
            let stack = unsafe { self.memo.current(&raw const *self.abi, &mut self.ids) };
            (self.ids.stacks[stack as usize].clone(), self.ids.asked - before)
        }
    }

    #[test]
    fn only_new_frames_are_asked_for() {
        let mut stack = Stack::new();
        stack.lay_out(&[(10, 8), (20, 8), (30, 8)]);
        assert_eq!(stack.walk(), (vec![30, 20, 10], 3));
        assert_eq!(stack.walk(), (vec![30, 20, 10], 0));
        // The innermost frame goes on somewhere else.
        stack.lay_out(&[(10, 8), (20, 8), (31, 8)]);
        assert_eq!(stack.walk(), (vec![31, 20, 10], 1));
        // It calls.
        stack.lay_out(&[(10, 8), (20, 8), (32, 8), (40, 8)]);
        assert_eq!(stack.walk(), (vec![40, 32, 20, 10], 2));
        // It returns.
        stack.lay_out(&[(10, 8), (21, 8)]);
        assert_eq!(stack.walk(), (vec![21, 10], 1));
        stack.memo.forget();
        assert_eq!(stack.walk(), (vec![21, 10], 2));
    }

    #[test]
    fn a_changed_frame_further_out_is_seen() {
        let mut stack = Stack::new();
        stack.lay_out(&[(10, 8), (20, 8), (30, 8), (40, 8)]);
        stack.walk();
        stack.lay_out(&[(10, 8), (22, 8), (30, 8), (40, 8)]);
        assert_eq!(stack.walk().0, [40, 30, 22, 10]);
        // Other sizes: the same addresses mean other frames.
        stack.lay_out(&[(10, 8), (22, 16), (30, 4), (40, 4)]);
        assert_eq!(stack.walk().0, [40, 30, 22, 10]);
    }

    #[test]
    fn deep_stacks_cost_no_more_than_their_inner_part() {
        let mut stack = Stack::new();
        let mut frames: Vec<(usize, usize)> = (1..200).map(|pc| (pc, 4)).collect();
        stack.lay_out(&frames);
        let (found, asked) = stack.walk();
        assert_eq!((found.len(), asked), (MAX_FRAMES, MAX_FRAMES));
        frames.push((300, 4));
        stack.lay_out(&frames);
        let (found, asked) = stack.walk();
        assert_eq!((found.len(), found[..3].to_vec(), asked), (MAX_FRAMES + 1, vec![300, 199, 198], 1));
        // Down to frames that were never looked at.
        stack.lay_out(&frames[..100]);
        assert_eq!(stack.walk().0[..2], [100, 99]);
    }

    #[test]
    fn random_changes_are_all_seen() {
        let mut stack = Stack::new();
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % below) as usize
        };
        let mut frames: Vec<(usize, usize)> = Vec::new();
        for _ in 0..20_000 {
            let kept = frames.len() - next(4).min(frames.len());
            frames.truncate(kept);
            for _ in 0..next(5) {
                frames.push((1 + next(5), 4 + 2 * next(3)));
            }
            if frames.len() > MAX_FRAMES {
                frames.truncate(1);
            }
            if !frames.is_empty() && next(8) == 0 {
                let at = next(frames.len() as u64);
                frames[at] = (1 + next(5), 4 + 2 * next(3));
            }
            stack.lay_out(&frames);
            let expect: Vec<usize> = frames.iter().rev().map(|frame| frame.0).collect();
            assert_eq!(stack.walk().0, expect);
        }
    }
}
