//! x86-64: recognising prologues, epilogues and stack probes, from a program counter alone. Signal handlers call this.
//!
//! The patterns are those of `masm` and of Cranelift, with which a test compares them.

use crate::arch::FrameState;

/// `push rbp; mov rbp, rsp`, with which every body begins.
const FRAME_SETUP_BYTES: usize = 4;
/// `ret` and `ret imm16`: bodies return only when their frame is undone, however that was done.
const RETURNS: [u8; 2] = [0xc3, 0xc2];
/// `mov rsp, rbp; pop rbp`, before a tail jump.
const EPILOGUE: [u8; 4] = [0x48, 0x89, 0xec, 0x5d];
/// `sub rsp, 4096`, then the probe: `mov dword [rsp], 0`. Elsewhere bodies do not move the stack pointer by exactly a
/// page.
const PROBE: [u8; 14] = [0x48, 0x81, 0xec, 0, 0x10, 0, 0, 0xc7, 0x04, 0x24, 0, 0, 0, 0];
const PROBE_OFFSET: usize = 7;

/// See `Architecture::frame_state`.
///
/// # Safety
/// `pc` is in a placed body that begins at `start`.
pub(super) unsafe fn frame_state(start: usize, pc: usize) -> FrameState {
    let offset = pc - start;
    if offset == 0 {
        return FrameState::NotPushed;
    }
    if offset < FRAME_SETUP_BYTES {
        return FrameState::Pushed;
    }
    const { assert!(EPILOGUE.len() <= FRAME_SETUP_BYTES) };
    // SAFETY: `pc` is in the body, which stays mapped.
    let first_byte = unsafe { (pc as *const u8).read() };
    let before = (pc - EPILOGUE.len()) as *const [u8; EPILOGUE.len()];
    // SAFETY: `offset ≥ 4`, so the four bytes before `pc` belong to the body, which stays mapped.
    let is_behind_epilogue = unsafe { before.read() } == EPILOGUE;
    if RETURNS.contains(&first_byte) || is_behind_epilogue { FrameState::NotPushed } else { FrameState::Complete }
}

/// See `Architecture::is_stack_probe`.
///
/// # Safety
/// `pc` is in a placed body with these first and past-the-end addresses.
pub(super) unsafe fn is_stack_probe(start: usize, end: usize, pc: usize) -> bool {
    let begins_behind_setup = pc >= start + FRAME_SETUP_BYTES + PROBE_OFFSET;
    let ends_inside = pc + PROBE.len() - PROBE_OFFSET <= end;
    if !begins_behind_setup || !ends_inside {
        return false;
    }
    // SAFETY: inside the body by the checks above; bodies stay mapped.
    unsafe { ((pc - PROBE_OFFSET) as *const [u8; PROBE.len()]).read_unaligned() == PROBE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::target::masm::Assembler;
    use crate::masm::MacroAssembler;

    fn state(body: &[u8], offset: usize) -> FrameState {
        // SAFETY: the offset is in the body, of which this reads no more than the four bytes before.
        unsafe { frame_state(body.as_ptr().addr(), body.as_ptr().addr() + offset) }
    }

    #[test]
    fn frames_of_the_macro_assembler_are_recognised_at_every_instruction() {
        type Masm = Assembler<()>;
        /// The end of a body, its size, and the offset in it at which the frame is undone.
        type End = (fn(&mut Masm), usize, usize);
        let ends: [End; 3] =
            [(|code| code.ret(0), 2, 1), (|code| code.ret(16), 4, 1), (|code| code.tail_jump(()), 9, 4)];
        for (end, end_bytes, undone_at) in ends {
            for frame_size_bytes in [0, 16, 4096] {
                let mut code = Masm::default();
                // The last byte of the immediate is that of `leave`.
                code.constant(Masm::RESULT, 0xc900_0000);
                end(&mut code);
                let finished = code.finish(frame_size_bytes, 0).expect("no jumps");
                let (body, prologue) = (finished.bytes, finished.prologue_bytes as usize);
                let end = body.len() - end_bytes;
                assert_eq!([state(&body, 0), state(&body, 1)], [FrameState::NotPushed, FrameState::Pushed]);
                for offset in [FRAME_SETUP_BYTES, prologue, end] {
                    assert_eq!(state(&body, offset), FrameState::Complete, "{offset} of {body:x?}");
                }
                assert_eq!(state(&body, end + undone_at), FrameState::NotPushed, "{body:x?}");
                let is_probe = body[FRAME_SETUP_BYTES..prologue] == PROBE;
                assert_eq!(is_probe, frame_size_bytes == 4096, "{body:x?}");
                let probe = body.as_ptr().addr() + FRAME_SETUP_BYTES + PROBE_OFFSET;
                let end = body.as_ptr().addr() + body.len();
                // SAFETY: the addresses are those of the body.
                let is_recognised = unsafe { is_stack_probe(body.as_ptr().addr(), end, probe) };
                assert_eq!(is_recognised, is_probe);
            }
        }
    }
}
