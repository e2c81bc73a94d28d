//! The generator behind all changes: small, and the same on every machine.
//!
//! SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).

/// Random numbers from a seed.
pub struct Random(u64);

impl Random {
    /// The numbers of one mutant: a pure function of the three.
    pub fn new(seed: u64, program: &str, index: u64) -> Random {
        // FNV-1a.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in program.bytes().chain(seed.to_le_bytes()).chain(index.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Random(hash)
    }

    /// The next number: all 64 bits are random (SplitMix64).
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit.max(1) as u64) as usize
    }

    /// One of `items`, which are not empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_numbers() {
        let numbers = |seed, program, index| {
            let mut random = Random::new(seed, program, index);
            [random.number(), random.number()]
        };
        assert_eq!(numbers(1, "a/b", 7), numbers(1, "a/b", 7));
        assert_ne!(numbers(1, "a/b", 7), numbers(1, "a/b", 8));
        assert_ne!(numbers(1, "a/b", 7), numbers(2, "a/b", 7));
        assert_ne!(numbers(1, "a/b", 7), numbers(1, "a/c", 7));
    }
}
