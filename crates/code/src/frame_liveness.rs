//! Which words of a compiled body's frame are live at each of its calls.
//!
//! The collector treats every word of a stack as a possible reference. A spill slot keeps its last value after the
//! value's last use, so a long-lived frame would keep garbage alive for ever. This module decodes the machine code of a
//! body that is found on a stack and finds, by textbook backward dataflow, at which calls a spill slot or a
//! callee-saved register is read again before it is written. The code generator's own live ranges do not serve, since
//! they leave cold blocks out, and a body from the code cache has nothing but its code.
//!
//! Invariant: a word counts as dead only if no path from the call reads it. So whatever the analysis does not
//! understand (an address of a spill slot, an instruction that cannot be decoded, a jump to an unknown target) makes
//! all words of the body live. Control comes back to a frame at return addresses and landing pads only, and at both
//! the callee-saved registers have the values that they had at the call (where landing pads find other values in them,
//! no pad reads them).
//!
//! Left out: stack slots whose address may be taken, outgoing arguments, frames that are stopped elsewhere than at a
//! call: their words are live.

use crate::CodeInfo;
use saki_abi::CALLEE_SAVED;

#[cfg(target_arch = "aarch64")]
#[path = "frame_liveness/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "frame_liveness/x86_64.rs"]
mod arch;
#[path = "frame_liveness/dataflow.rs"]
mod dataflow;

/// Liveness of the frame words of one body. Made once, when the body is first found on a stack in a full collection.
#[derive(Debug)]
pub struct FrameLiveness {
    /// FP − this = the lowest word of the map.
    low_bytes: u32,
    /// Words in the map, from the lowest address up; callee-saved registers follow as bits.
    word_count: u32,
    /// Return addresses in bytes from the start of the body, ascending, each with the place of its bits in `bits`.
    calls: Box<[(u32, u32)]>,
    /// The same of landing pads.
    landings: Box<[(u32, u32)]>,
    bits: Box<[u64]>,
    /// Words that can be dead: those that the body reads somewhere, and those that it never accesses, which hold
    /// remains of earlier frames. Not so words that the body writes and never reads: they may be arguments for callees.
    own: Box<[u64]>,
}

/// The words that are live when a call returns.
#[derive(Clone, Copy, Debug)]
pub struct LiveWords<'a> {
    body: &'a FrameLiveness,
    live: &'a [u64],
}

impl LiveWords<'_> {
    /// Calls `visit` with the distance in bytes from FP down to each dead word.
    pub fn for_each_dead(&self, mut visit: impl FnMut(u32)) {
        for word in 0..self.body.word_count {
            if bit(&self.body.own, word) && !bit(self.live, word) {
                visit(self.body.low_bytes - word * 8);
            }
        }
    }

    /// Whether the body reads callee-saved register number `index` of [`CALLEE_SAVED`] after the call before it writes
    /// it.
    pub fn reads_register(&self, index: usize) -> bool {
        bit(self.live, self.body.word_count + index as u32)
    }
}

fn bit(bits: &[u64], index: u32) -> bool {
    bits[index as usize / 64] >> (index % 64) & 1 != 0
}

impl CodeInfo {
    /// The words that are live when the call with this return address returns; `None` when they are unknown. The first
    /// call for a body allocates, so this is not for signal handlers.
    pub fn live_words(&self, return_address: usize) -> Option<LiveWords<'_>> {
        self.live_words_at(return_address, |body| &body.calls)
    }

    /// The words that are live at this landing pad; `None` as above.
    pub fn live_words_at_landing(&self, landing: usize) -> Option<LiveWords<'_>> {
        self.live_words_at(landing, |body| &body.landings)
    }

    fn live_words_at(&self, pc: usize, places: fn(&FrameLiveness) -> &[(u32, u32)]) -> Option<LiveWords<'_>> {
        let body = self.liveness.get_or_init(|| dataflow::analyse(self).map(Box::new)).as_ref()?;
        let offset = u32::try_from(pc.checked_sub(self.start)?).ok()?;
        let places = places(body);
        let index = places.binary_search_by_key(&offset, |place| place.0).ok()?;
        let first = places[index].1 as usize;
        let len = (body.word_count as usize + CALLEE_SAVED.len()).div_ceil(64);
        Some(LiveWords { body, live: &body.bits[first..first + len] })
    }
}
