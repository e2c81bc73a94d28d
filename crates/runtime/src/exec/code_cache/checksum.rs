//! Hashes for checksums, keys and identities: HighwayHash (Alakuijala, Cox & Wassenberg, "Fast keyed hash/pseudo-random
//! function using SIMD multiply and permute", arXiv 1612.06257), by the crate `highway`.
//!
//! Its state is 1024 bits wide and is only ever added to and permuted, so that no input brings it back to a known value:
//! a hash that multiplies its state by its input forgets everything before an input that makes one factor zero.
//!
//! Invariant: the keys are constants, so that each process computes the same hashes. Left out: protection against a user
//! who may write to the cache's directory.

use highway::{HighwayHash, HighwayHasher, Key as HashKey};

/// Hash of a file's contents.
pub type ContentId = [u64; 2];

/// The key of a hash with a seed. The other words are digits of pi.
fn key_of(seed: u64) -> HashKey {
    HashKey([seed, 0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0])
}

/// Hash of `bytes`; different seeds give unrelated hashes.
pub fn hash(seed: u64, bytes: &[u8]) -> u64 {
    HighwayHasher::new(key_of(seed)).hash64(bytes)
}

/// A 128-bit hash of an input, large ones at more than 10 GB/s.
pub fn wide_hash(bytes: &[u8]) -> [u64; 2] {
    HighwayHasher::new(key_of(1)).hash128(bytes)
}

/// The same hash of an input that comes in parts.
pub(super) struct PartsHasher(HighwayHasher);

impl PartsHasher {
    /// Of no bytes yet.
    pub fn new() -> PartsHasher {
        PartsHasher(HighwayHasher::new(key_of(1)))
    }

    /// Adds the next bytes.
    pub fn part(&mut self, bytes: &[u8]) {
        self.0.append(bytes);
    }

    /// The hash of all parts.
    pub fn finish(self) -> [u64; 2] {
        self.0.finalize128()
    }
}

/// A 128-bit hash of words that come one after the other.
pub(super) struct WordHasher(HighwayHasher);

impl WordHasher {
    /// Different tags give unrelated hashes.
    pub fn new(tag: u64) -> WordHasher {
        WordHasher(HighwayHasher::new(key_of(tag)))
    }

    pub fn word(&mut self, word: u64) {
        self.0.append(&word.to_le_bytes());
    }

    pub fn finish(self) -> [u64; 2] {
        self.0.finalize128()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn parts_have_the_hash_of_the_whole() {
        let bytes: Vec<u8> = (0..200).collect();
        let mut parts = PartsHasher::new();
        bytes.chunks(37).for_each(|part| parts.part(part));
        assert_eq!(parts.finish(), wide_hash(&bytes));
    }

    /// The vectors that the algorithm's authors publish: the key's bytes count up from 0, and so do the input's.
    #[test]
    fn published_vectors() {
        let key =
            || HashKey([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110, 0x1f1e_1d1c_1b1a_1918]);
        let bytes: Vec<u8> = (0..64).collect();
        let short = [0x907a_56de_22c2_6e53, 0x7eab_43aa_c7cd_dd78, 0xb8d0_569a_b0b5_3d62];
        for (len, expected) in short.into_iter().enumerate() {
            assert_eq!(HighwayHasher::new(key()).hash64(&bytes[..len]), expected, "{len} bytes");
        }
        assert_eq!(HighwayHasher::new(key()).hash128(&[]), [0x0fed_268f_9d8f_fec7, 0x3356_5e76_7f09_3e6f]);
    }

    /// Inputs of sixteen bytes that equalled the constants of an earlier hash made one factor zero, and everything before
    /// them was forgotten: two files had one identity.
    #[test]
    fn no_input_makes_the_hash_forget_what_was_before() {
        const ONCE_CONSTANTS: [u64; 4] =
            [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3];
        let mut zeroing: Vec<[u64; 8]> = ONCE_CONSTANTS.map(|word| [word; 8]).to_vec();
        let lanes: Vec<u64> = ONCE_CONSTANTS.iter().flat_map(|&word| [word, 0]).collect();
        zeroing.push(lanes.try_into().expect("eight words"));
        for words in zeroing {
            let tail = words.map(u64::to_le_bytes).as_flattened().repeat(4);
            let files = (0..64_u8).map(|first| [&[first; 64], tail.as_slice()].concat());
            let seen: HashSet<_> = files.map(|file| (wide_hash(&file), hash(1, &file))).collect();
            assert_eq!(seen.len(), 64, "{words:x?}");
            let mut keys = HashSet::new();
            for first in 0..64 {
                let mut hasher = WordHasher::new(1);
                hasher.word(first);
                words.into_iter().for_each(|word| hasher.word(word));
                assert!(keys.insert(hasher.finish()));
            }
        }
    }

    #[test]
    fn every_bit_counts() {
        let bytes: Vec<u8> = (0..=255_u8).cycle().take(64 * 3 + 21).collect();
        let both = |bytes: &[u8]| (wide_hash(bytes), hash(1, bytes));
        let whole = both(&bytes);
        assert_ne!(whole.1, hash(2, &bytes));
        assert_ne!(whole, both(&[bytes.as_slice(), &[0]].concat()));
        let mut seen = HashSet::from([whole]);
        for len in 0..bytes.len() {
            assert!(seen.insert(both(&bytes[..len])), "cut to {len}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(both(&damaged)), "bit {bit}");
        }
    }
}
