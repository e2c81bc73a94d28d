//! The part of a compiled body's frame that only the body's own instructions touch.
//!
//! ```text
//! FP                                     saved rbp, return address above
//!        …                               callee-saved registers, in the order of their numbers (`saved_registers`)
//!        …                               callee-saved floating-point registers (aarch64)
//! FP − high_bytes  ┐
//!        …         │ spill slots: values that the register allocator keeps in memory
//! FP − low_bytes   ┘
//!        …                               stack slots whose address may be taken, outgoing arguments
//! SP
//! ```

use crate::native::NativeAbi;

/// The place of the register allocator's words in a frame; see the module header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpillArea {
    /// Bytes from FP down to the lowest spill slot.
    pub low_bytes: u32,
    /// Bytes from FP down to the end of the highest spill slot; at most `low_bytes`.
    pub high_bytes: u32,
    /// Callee-saved general purpose registers that the prologue saves: bit N for `CALLEE_SAVED[N]`. They lie below FP,
    /// lowest number first, in room whose size is a multiple of 16 bytes.
    pub saved_registers: u16,
}

/// Hardware numbers of the general purpose registers that a callee preserves on normal return, ascending.
pub const CALLEE_SAVED: &[u8] = NativeAbi::HOST.kept_registers;

const _: () = assert!(CALLEE_SAVED.len() <= u16::BITS as usize);

impl SpillArea {
    /// Bytes from FP down to the saved value of callee-saved register number `index` of [`CALLEE_SAVED`]; None if it is
    /// not saved.
    pub fn saved_register_bytes(&self, index: usize) -> Option<u32> {
        let mask = 1 << index;
        if self.saved_registers & mask == 0 {
            return None;
        }
        let below = (self.saved_registers & (mask - 1)).count_ones();
        let room_bytes = (self.saved_registers.count_ones() * 8).next_multiple_of(16);
        Some(room_bytes - below * 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_registers_lie_in_the_order_of_their_numbers() {
        // Two of them: 16 bytes below FP.
        let area = SpillArea { low_bytes: 64, high_bytes: 16, saved_registers: 0b0101 };
        let places: Vec<_> = (0..4).map(|index| area.saved_register_bytes(index)).collect();
        assert_eq!(places, [Some(16), None, Some(8), None]);
    }

    #[test]
    fn an_odd_number_of_saved_registers_leaves_a_word_below_fp() {
        // Below the three registers and the word are 16 bytes of floating-point registers.
        let area = SpillArea { low_bytes: 64, high_bytes: 48, saved_registers: 0b1101 };
        let places: Vec<_> = (0..4).map(|index| area.saved_register_bytes(index)).collect();
        assert_eq!(places, [Some(32), None, Some(24), Some(16)]);
    }
}
