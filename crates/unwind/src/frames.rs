//! Walking managed frames by frame pointers.
//!
//! Invariant: async-signal-safe (no lock, no allocation), and reads only words between the first frame and the thread's
//! `stack_base`; frame pointers must grow, so a damaged chain ends the walk and never loops. Left out: frames of Rust
//! and native code, which are skipped as a whole through `exit_frame` and EntryFrames.

use saki_abi::ThreadAbi;
use saki_code::{CodeInfo, ENTRY_PREVIOUS_EXIT_OFFSET, FrameState, contains, enter_return_address, lookup};
use saki_os::FaultContext;

/// One frame. The innermost comes first.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Where the frame continues: a return address. For a frame that was interrupted or faulted, its PC + 1, so that
    /// `pc − 1` is always inside the instruction that is being executed.
    pub pc: usize,
    /// Its frame pointer (rbp, x29).
    pub fp: usize,
    /// Whose frame it is.
    pub kind: FrameKind,
}

/// The registers of an interrupted thread that say where its frames are.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted {
    /// Program counter.
    pub pc: usize,
    /// Stack pointer.
    pub sp: usize,
    /// Frame pointer.
    pub fp: usize,
    /// The register in which functions get their return address; None where that is on the stack.
    pub link: Option<usize>,
}

impl From<&FaultContext> for Interrupted {
    fn from(context: &FaultContext) -> Interrupted {
        let link = context.link_register();
        Interrupted { pc: context.pc(), sp: context.sp(), fp: context.fp(), link }
    }
}

/// The kind of code to which a frame belongs.
#[derive(Clone, Copy, Debug)]
pub enum FrameKind {
    /// Compiled code or a thunk.
    Code(&'static CodeInfo),
    /// The boundary made by `enter`; managed frames behind it (if any) follow.
    Entry,
}

impl Frame {
    /// The code, unless this is an EntryFrame.
    pub fn code(&self) -> Option<&'static CodeInfo> {
        match self.kind {
            FrameKind::Code(info) => Some(info),
            FrameKind::Entry => None,
        }
    }

    /// Offset in bytes of the executing instruction's last byte, for look-ups in the tables of `code()`.
    pub fn native_offset(&self) -> Option<u32> {
        Some((self.pc - 1 - self.code()?.start) as u32)
    }

    /// `abi::position` of the executing instruction, which may lie in an inlined body.
    pub fn position(&self) -> Option<u32> {
        self.code()?.position(self.native_offset()?)
    }

    /// IL offset of the executing instruction, in the frame's own method.
    pub fn il_offset(&self) -> Option<u32> {
        self.code()?.il_offset(self.native_offset()?)
    }
}

/// Iterator over the frames of one thread; see the module documentation.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Next frame; `pc` = 0 ends the walk.
    pc: usize,
    fp: usize,
    /// Words may be read in `[low, high)`, outside of the gap between the parts of the stack. `low` follows the walk.
    low: usize,
    high: usize,
    gap: Gap,
}

/// Addresses between the parts of a stack that has grown, from the end of the inner part to that of the outer one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    start: usize,
    end: usize,
}

impl Gap {
    /// # Safety
    /// `thread` is valid.
    pub unsafe fn of(thread: *const ThreadAbi) -> Gap {
        // SAFETY: two words of a thread's structure, which is valid (contract).
        let (start, end) = unsafe { ((*thread).inner_top, (*thread).outer_sp) };
        Gap { start, end }
    }

    /// Whether a word at the address lies in the gap, where there may be no memory.
    #[inline]
    pub fn contains(&self, address: usize) -> bool {
        self.start <= address && address < self.end
    }
}

impl Frames {
    /// The frames below the innermost managed → Rust transition of `thread`: for Rust code called by that thread, or
    /// for a thread that is stopped in such code.
    ///
    /// # Safety
    /// `thread` is valid, and its stack does not change while the iterator is used.
    pub unsafe fn of_thread(thread: *const ThreadAbi) -> Frames {
        // SAFETY: valid by the contract.
        let (exit_frame, stack_base) = unsafe { ((*thread).exit_frame, (*thread).stack_base) };
        // Not `stack_limit`: the last frames before an overflow may lie below it.
        // SAFETY: the thread is valid (contract), which is all that the function asks for.
        let gap = unsafe { Gap::of(thread) };
        let mut frames = Frames { pc: 0, fp: 0, low: exit_frame, high: stack_base, gap };
        frames.continue_behind(exit_frame);
        frames
    }

    /// The frames of `thread` interrupted with these registers, in whatever code that is; in Rust or native code the
    /// walk starts at `exit_frame`, which may be stale there (a wrong but harmless trace).
    ///
    /// # Safety
    /// `thread` is valid and the state is its own; its stack does not change while the iterator is used.
    pub unsafe fn of_context(thread: *const ThreadAbi, at: Interrupted) -> ContextFrames {
        let Interrupted { pc, sp, fp, link } = at;
        // SAFETY: valid by the contract.
        let (stack_limit, stack_base) = unsafe { ((*thread).stack_limit, (*thread).stack_base) };
        let sp_is_inside = sp < stack_base && (sp >= stack_limit || stack_limit - sp <= OVERFLOW_SLACK_BYTES);
        if !contains(pc) || !sp_is_inside {
            // SAFETY: the thread is valid, and its stack does not change while the iterator is used (contract).
            return ContextFrames { first: None, rest: unsafe { Frames::of_thread(thread) } };
        }
        // SAFETY: the thread is valid (contract), which is all that the function asks for.
        let gap = unsafe { Gap::of(thread) };
        let mut rest = Frames { pc: 0, fp: 0, low: sp.min(stack_limit), high: stack_base, gap };
        let Some(info) = lookup(pc) else {
            // An entry stub or veneer: as before the first instruction of a body.
            rest.pc = link.or_else(|| rest.read(sp)).unwrap_or(0);
            rest.fp = fp;
            return ContextFrames { first: None, rest };
        };
        let kind = FrameKind::Code(info);
        let first = |fp| Some(Frame { pc: pc + 1, fp, kind });
        match info.frame_state(pc) {
            FrameState::NotPushed => {
                rest.pc = link.or_else(|| rest.read(sp)).unwrap_or(0);
                rest.fp = fp;
                let frame_bytes = if link.is_some() { 16 } else { 8 };
                ContextFrames { first: first(sp.wrapping_sub(frame_bytes)), rest }
            }
            FrameState::Pushed => {
                rest.pc = rest.read(sp + 8).unwrap_or(0);
                rest.fp = fp;
                ContextFrames { first: first(sp), rest }
            }
            FrameState::Complete => {
                rest.pc = pc + 1;
                rest.fp = fp;
                ContextFrames { first: None, rest }
            }
        }
    }

    /// The frames of `thread`, beginning with the frame that continues at the return address `pc` with this stack and
    /// frame pointer; `pc` was found as a return address of native code that this frame called.
    ///
    /// # Safety
    /// `thread` is valid and the state is its own; its stack does not change while the iterator is used.
    pub unsafe fn of_return(thread: *const ThreadAbi, pc: usize, sp: usize, fp: usize) -> ContextFrames {
        if lookup(pc - 1).is_none() {
            // SAFETY: the thread is valid and its stack does not change (contract); native code may have any state.
            return unsafe { Frames::of_context(thread, Interrupted { pc, sp, fp, link: None }) };
        }
        // SAFETY: valid by the contract.
        let stack_base = unsafe { (*thread).stack_base };
        // SAFETY: the thread is valid (contract), which is all that the function asks for.
        let gap = unsafe { Gap::of(thread) };
        ContextFrames { first: None, rest: Frames { pc, fp, low: sp, high: stack_base, gap } }
    }

    /// Continues at the caller of the frame `exit_frame`; 0 ends the walk.
    fn continue_behind(&mut self, exit_frame: usize) {
        self.pc = 0;
        // A thread that has not called the runtime from managed code yet has no exit frame, and then `low` is not a
        // stack address.
        if exit_frame == 0 {
            return;
        }
        if let (Some(fp), Some(pc)) = (self.read(exit_frame), self.read(exit_frame.wrapping_add(8))) {
            self.low = exit_frame + 8;
            (self.pc, self.fp) = (pc, fp);
        }
    }

    /// The word at `address`, if that is inside the walked part of the stack.
    fn read(&self, address: usize) -> Option<usize> {
        if self.gap.contains(address) { None } else { Words { low: self.low, high: self.high }.read(address) }
    }
}

/// The part of a stack that a walk may read: `[low, high)`.
pub(crate) struct Words {
    /// At or above a live stack pointer or frame; follows the walk.
    pub low: usize,
    /// At most the stack's base.
    pub high: usize,
}

impl Words {
    /// The word at `address`, if that is inside.
    #[inline]
    pub fn read(&self, address: usize) -> Option<usize> {
        if !address.is_multiple_of(8) || address < self.low || address.checked_add(8)? > self.high {
            return None;
        }
        // SAFETY: aligned and inside [low, high), which is mapped stack.
        Some(unsafe { (address as *const usize).read() })
    }

    /// The words at `address` and behind it.
    #[inline]
    pub fn pair(&self, address: usize) -> Option<[usize; 2]> {
        Some([self.read(address)?, self.read(address.wrapping_add(8))?])
    }
}

impl Iterator for Frames {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        loop {
            let frame = self.step()?;
            if !frame.code().is_some_and(|info| info.is_continued_at(frame.pc)) {
                return Some(frame);
            }
        }
    }
}

impl Frames {
    /// All frames, also those whose work a continuation does.
    pub(crate) fn with_continued(mut self) -> impl Iterator<Item = Frame> {
        std::iter::from_fn(move || self.step())
    }

    /// The next frame, which may be one whose work a continuation does.
    fn step(&mut self) -> Option<Frame> {
        let (pc, fp) = (self.pc, self.fp);
        self.pc = 0;
        if pc == 0 {
            return None;
        }
        let (saved_fp, return_address) = (self.read(fp)?, self.read(fp + 8)?);
        if pc == enter_return_address() {
            let previous_exit = self.read(fp.wrapping_add_signed(ENTRY_PREVIOUS_EXIT_OFFSET));
            self.low = fp + 8;
            self.continue_behind(previous_exit.unwrap_or(0));
            return Some(Frame { pc, fp, kind: FrameKind::Entry });
        }
        let info = lookup(pc - 1)?;
        self.low = fp + 8;
        (self.pc, self.fp) = (return_address, saved_fp);
        Some(Frame { pc, fp, kind: FrameKind::Code(info) })
    }
}

/// Frames of an interrupted context: possibly one whose frame pointer is not in its register, then the others.
#[derive(Clone, Debug)]
pub struct ContextFrames {
    first: Option<Frame>,
    rest: Frames,
}

impl From<Frames> for ContextFrames {
    fn from(rest: Frames) -> ContextFrames {
        ContextFrames { first: None, rest }
    }
}

impl Iterator for ContextFrames {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        self.first.take().or_else(|| self.rest.next())
    }
}

/// How far below `stack_limit` the stack pointer may be when a guard page is hit: one frame between two probes.
pub(crate) const OVERFLOW_SLACK_BYTES: usize = 1 << 20;
