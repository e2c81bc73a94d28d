//! The part of a compiled body's frame that only the body's own instructions touch.
//!
//! ```text
//! FP                                     saved rbp, return address above
//! FP − clobbers                          callee-saved registers, in the order of their numbers (`saved_registers`)
//! FP − high_bytes  ┐
//!        …         │ spill slots: values that the register allocator keeps in memory
//! FP − low_bytes   ┘
//!        …                               stack slots whose address may be taken, outgoing arguments
//! SP
//! ```

/// The place of the register allocator's words in a frame; see the module header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpillArea {
    /// Bytes from FP down to the lowest spill slot.
    pub low_bytes: u32,
    /// Bytes from FP down to the end of the highest spill slot; at most `low_bytes`.
    pub high_bytes: u32,
    /// Callee-saved registers that the prologue saves: bit N for `CALLEE_SAVED[N]`. They begin at FP − `high_bytes`,
    /// lowest number first.
    pub saved_registers: u8,
}

/// Hardware numbers of the registers that a callee preserves on normal return (x86-64: rbx, r12, r13, r14; r15 is the
/// thread, rbp the frame).
pub const CALLEE_SAVED: [u8; 4] = [3, 12, 13, 14];

impl SpillArea {
    /// Bytes from FP down to the saved value of callee-saved register number `index` of [`CALLEE_SAVED`]; None if it is
    /// not saved.
    pub fn saved_register_bytes(&self, index: usize) -> Option<u32> {
        let mask = 1 << index;
        if self.saved_registers & mask == 0 {
            return None;
        }
        let below = u32::from(self.saved_registers & (mask - 1)).count_ones();
        Some(self.high_bytes - below * 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_registers_lie_in_the_order_of_their_numbers() {
        // rbx and r13: 16 bytes below FP.
        let area = SpillArea { low_bytes: 64, high_bytes: 16, saved_registers: 0b0101 };
        let places: Vec<_> = (0..4).map(|index| area.saved_register_bytes(index)).collect();
        assert_eq!(places, [Some(16), None, Some(8), None]);
    }
}
