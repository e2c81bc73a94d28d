//! What a thread asked last: a direct-mapped table in front of a shared one or of a search, so that a question asked again costs neither
//! a lock nor a write that other threads see.
//!
//! Invariant: keys are made of addresses that never come to mean something else: records live for ever, or, in collectible
//! assemblies, leave addresses that are not used again. Dynamic methods, whose addresses are, are never part of a key. An entry
//! keeps nothing alive, and what it leads to lives as long as what its key names.

use std::cell::Cell;

/// For `thread_local!`, behind functions that are never inlined: a green thread may change carriers between two questions.
///
/// An entry is mostly found in no near cache: with sizes that divide 64 it takes one cache line.
#[repr(align(64))]
pub(crate) struct Recent<K, V, const N: usize>([Cell<Option<(K, V)>>; N]);

impl<K: Copy + Eq, V: Copy, const N: usize> Recent<K, V, N> {
    pub(crate) const fn new() -> Self {
        assert!(N.is_power_of_two() && N > 1);
        Recent([const { Cell::new(None) }; N])
    }

    fn place(&self, hash: usize) -> &Cell<Option<(K, V)>> {
        // The upper bits of the product are the well mixed ones.
        let mixed = (hash as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.0[(mixed >> (u64::BITS - N.trailing_zeros())) as usize]
    }

    /// What was put there for this key, if nothing took its place. `hash` says something about all of the key.
    pub(crate) fn get(&self, hash: usize, key: &K) -> Option<V> {
        let (known, value) = self.place(hash).get()?;
        (known == *key).then_some(value)
    }

    pub(crate) fn put(&self, hash: usize, key: K, value: V) {
        self.place(hash).set(Some((key, value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_key_takes_the_place_and_is_told_apart() {
        let recent: Recent<u32, u32, 2> = Recent::new();
        assert_eq!(recent.get(7, &7), None);
        recent.put(7, 7, 70);
        assert_eq!(recent.get(7, &7), Some(70));
        assert_eq!(recent.get(7, &8), None);
        recent.put(7, 8, 80);
        assert_eq!(recent.get(7, &7), None);
        assert_eq!(recent.get(7, &8), Some(80));
    }
}
