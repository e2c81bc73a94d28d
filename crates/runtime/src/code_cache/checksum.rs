//! A fast 64-bit hash for checksums and keys: multiplication folded to 64 bits, 16 bytes at a time.
//!
//! It finds damage and tells keys apart; it is no protection against somebody who may write to the cache's directory.

const MULTIPLIERS: [u64; 2] = [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];

/// The product's halves, exclusive-or.
pub(super) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Hash of `bytes`; different seeds give unrelated hashes.
pub fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = seed ^ MULTIPLIERS[0];
    let word = |part: &[u8]| part.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let mut blocks = bytes.chunks_exact(16);
    for block in &mut blocks {
        let low = u64::from_le_bytes([block[0], block[1], block[2], block[3], block[4], block[5], block[6], block[7]]);
        let high =
            u64::from_le_bytes([block[8], block[9], block[10], block[11], block[12], block[13], block[14], block[15]]);
        state = fold(low ^ MULTIPLIERS[1], high ^ state);
    }
    let rest = blocks.remainder();
    let (low, high) = rest.split_at(rest.len().min(8));
    state = fold(word(low) ^ MULTIPLIERS[1], word(high) ^ state);
    fold(state ^ MULTIPLIERS[0], bytes.len() as u64 ^ MULTIPLIERS[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        let bytes: Vec<u8> = (0..67u8).collect();
        let whole = hash(1, &bytes);
        assert_ne!(whole, hash(2, &bytes));
        for len in 0..bytes.len() {
            assert_ne!(whole, hash(1, &bytes[..len]), "cut to {len}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(whole, hash(1, &damaged), "bit {bit}");
        }
    }
}
