//! aarch64: recognising prologues, epilogues and stack probes, from a program counter alone. Signal handlers call this.
//!
//! The patterns are those of Cranelift and of `masm`: bodies begin with `stp x29, x30, [sp, #-16]!; mov x29, sp` and
//! undo their frame by `ldp x29, x30, [sp], #16`, behind which they may take arguments off the stack before they return
//! or jump.

use super::instructions::{INSTRUCTION_BYTES, POP_FRAME_RECORD, PUSH_FRAME_RECORD, RETURN, is_move_of_stack_pointer};
use crate::arch::FrameState;

/// Bytes of `stp x29, x30, [sp, #-16]!; mov x29, sp`.
const FRAME_SETUP_BYTES: usize = 2 * INSTRUCTION_BYTES;
/// Instructions between the end of the frame and the jump out of the body, at most.
const MAX_INSTRUCTIONS_BEHIND_FRAME: usize = 2;

/// What Cranelift emits for frames of a page and more, up to the store that touches the page. Unrolled:
/// `sub sp, sp, #4096; str wzr, [sp]`; in a loop: `sub x16, x16, #4096; str wzr, [sp, x16]`.
const PROBES: [[u32; 2]; 2] = [[0xd140_07ff, 0xb900_03ff], [0xd140_0610, 0xb830_6bff]];

/// The instruction at the address.
///
/// # Safety
/// It lies in a placed body.
unsafe fn instruction(address: usize) -> u32 {
    // SAFETY: placed bodies are readable and stay mapped, and instructions are aligned.
    unsafe { (address as *const u32).read() }
}

/// See `Architecture::frame_state`.
///
/// # Safety
/// `pc` is in a placed body that begins at `start`.
pub(super) unsafe fn frame_state(start: usize, pc: usize) -> FrameState {
    if pc == start {
        return FrameState::NotPushed;
    }
    // SAFETY: the first instruction of the body.
    let has_frame_record = unsafe { instruction(start) } == PUSH_FRAME_RECORD;
    if pc < start + FRAME_SETUP_BYTES && has_frame_record {
        return FrameState::Pushed;
    }
    // SAFETY: `pc` is in the body.
    let mut next = unsafe { instruction(pc) };
    if next == RETURN {
        return FrameState::NotPushed;
    }
    for back in 1..=MAX_INSTRUCTIONS_BEHIND_FRAME + 1 {
        let before = pc - back * INSTRUCTION_BYTES;
        if before < start {
            break;
        }
        // SAFETY: in the body, behind its start.
        next = unsafe { instruction(before) };
        if next == POP_FRAME_RECORD {
            return FrameState::NotPushed;
        }
        if !is_move_of_stack_pointer(next) {
            break;
        }
    }
    FrameState::Complete
}

/// See `Architecture::is_stack_probe`.
///
/// # Safety
/// `pc` is in a placed body with these first and past-the-end addresses.
pub(super) unsafe fn is_stack_probe(start: usize, end: usize, pc: usize) -> bool {
    if pc < start + FRAME_SETUP_BYTES + INSTRUCTION_BYTES || pc + INSTRUCTION_BYTES > end {
        return false;
    }
    // SAFETY: both lie in the body by the check above.
    let found = [pc - INSTRUCTION_BYTES, pc].map(|address| unsafe { instruction(address) });
    PROBES.contains(&found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOVE_FRAME_POINTER: u32 = 0x9100_03fd;
    const ADD_STACK_POINTER: u32 = 0x9100_83ff;
    const NOTHING: u32 = 0xd503_201f;

    fn states(body: &[u32]) -> Vec<FrameState> {
        let start = body.as_ptr().addr();
        // SAFETY: the addresses are those of the body's instructions.
        (0..body.len()).map(|index| unsafe { frame_state(start, start + index * INSTRUCTION_BYTES) }).collect()
    }

    #[test]
    fn frames_are_recognised_at_every_instruction() {
        use FrameState::{Complete, NotPushed, Pushed};
        let begin = [PUSH_FRAME_RECORD, MOVE_FRAME_POINTER, NOTHING, ADD_STACK_POINTER, POP_FRAME_RECORD];
        let begun = [NotPushed, Pushed, Complete, Complete, Complete];
        let jump = super::super::instructions::branch(0, 64).expect("near");
        for end in [&[RETURN][..], &[ADD_STACK_POINTER, RETURN], &[jump], &[ADD_STACK_POINTER, jump]] {
            let body = [&begin[..], end].concat();
            let expected = [&begun[..], &vec![NotPushed; end.len()]].concat();
            assert_eq!(states(&body), expected, "{body:x?}");
        }
        // Behind an early return the frame is there again.
        let body = [&begin[..], &[RETURN, NOTHING, NOTHING]].concat();
        assert_eq!(states(&body)[6..], [Complete; 2]);
    }

    #[test]
    fn frames_of_the_macro_assembler_are_recognised_at_every_instruction() {
        use crate::arch::target::masm::Assembler;
        use crate::masm::MacroAssembler;
        type Masm = Assembler<()>;
        /// The end of a body, and its instructions behind the end of the frame.
        type End = (fn(&mut Masm), usize);
        let ends: [End; 4] = [
            (|code| code.ret(0), 1),
            (|code| code.ret(0x1_0010), 3),
            (|code| code.tail_jump(()), 1),
            (|code| code.tail_jump_register(Masm::CALLEE), 1),
        ];
        for (end, behind_frame) in ends {
            for (frame_size_bytes, lowered_bytes) in [(0, 0), (16, 0), (8192 + 16, 0), (16, 32)] {
                let mut code = Masm::default();
                code.constant(Masm::RESULT, 7);
                end(&mut code);
                let body = code.finish(frame_size_bytes, lowered_bytes).expect("no jumps").bytes;
                let (words, _) = body.as_chunks();
                let words: Vec<u32> = words.iter().map(|&word| u32::from_le_bytes(word)).collect();
                let mut expected = vec![FrameState::Complete; words.len()];
                (expected[0], expected[1]) = (FrameState::NotPushed, FrameState::Pushed);
                expected[words.len() - behind_frame..].fill(FrameState::NotPushed);
                assert_eq!(states(&words), expected, "{words:x?}");
                let (start, end) = (words.as_ptr().addr(), words.as_ptr().addr() + body.len());
                // SAFETY: the addresses are those of the body's instructions.
                let probes = (start..end).step_by(4).filter(|&pc| unsafe { is_stack_probe(start, end, pc) }).count();
                assert_eq!(probes as u32, frame_size_bytes / 4096);
            }
        }
    }
}
