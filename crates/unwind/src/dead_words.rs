//! Dead words of a stopped thread's stack, which the collector need not scan.
//!
//! A frame of compiled code that is stopped at a call has spill slots that are not read after the call returns
//! (`saki_code::LiveWords`). The value of a callee-saved register lies where the innermost frame that saves it stored
//! it; that word is dead if the frame that the value belongs to, the next one outwards, does not read the register
//! before it writes it.
//!
//! Invariant: a word is reported as dead only if no code reads it before it is written. Frames without liveness
//! information, and the words that Rust and native code between managed frames have saved, count as live.

use crate::frames::{FrameKind, Frames};
use saki_abi::{CALLEE_SAVED, ThreadAbi};

/// Appends the addresses of dead words of the stopped `thread`, ascending. Allocates.
///
/// # Safety
/// `thread` is valid, stopped in Rust or native code that was called from its innermost managed frame (or has none),
/// and stays so during the call.
pub unsafe fn find_dead_words(thread: *const ThreadAbi, dead: &mut Vec<usize>) {
    let first = dead.len();
    // Address at which the frame's value of each callee-saved register is saved; 0 = unknown.
    let mut saved = [0usize; CALLEE_SAVED.len()];
    // SAFETY: the thread is valid and stays stopped (contract), so its frames stay as they are.
    for frame in unsafe { Frames::of_thread(thread) }.with_continued() {
        let FrameKind::Code(info) = frame.kind else {
            saved.fill(0);
            continue;
        };
        let Some(live) = info.live_words(frame.pc) else {
            saved.fill(0);
            continue;
        };
        live.for_each_dead(|bytes_below_fp| dead.push(frame.fp - bytes_below_fp as usize));
        for (index, place) in saved.iter_mut().enumerate() {
            let own = info.spill_area().and_then(|area| area.saved_register_bytes(index));
            // A frame that does not save a register does not use it: the value is the caller's.
            let Some(own) = own else { continue };
            if *place != 0 && !live.reads_register(index) {
                dead.push(*place);
            }
            *place = frame.fp - own as usize;
        }
    }
    dead[first..].sort_unstable();
}
