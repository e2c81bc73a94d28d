//! A thread's latest questions and their answers: a small table in front of a shared table or a search, so that a
//! question asked again costs neither a lock nor a write that other threads see. The table has four ways: with one way,
//! two of half a dozen questions that a program asks again and again share a place in nearly every second run (places
//! follow from addresses), which cost lambdas compiled and dropped 3 % of their time.
//!
//! Invariant: keys are made of addresses that never come to mean something else: records live for ever, or, in
//! collectible assemblies and unloaded domains, leave addresses that are not used again. Addresses of dynamic methods
//! are used again, so they are never part of a key. An entry keeps nothing alive; its value lives as long as the
//! records that its key names.

use std::cell::Cell;

/// For `thread_local!`, behind functions that are never inlined: a green thread may change carriers between two
/// questions.
///
/// Entries mostly have to be fetched from a far cache; an entry whose size divides 64 lies in one cache line.
#[repr(align(64))]
pub(crate) struct ThreadCache<K, V, const N: usize>([Cell<Option<(K, V)>>; N]);

/// The number of entries that may hold one question's answer; the entry stored last comes first.
const WAYS: usize = 4;

impl<K: Copy + Eq, V: Copy, const N: usize> ThreadCache<K, V, N> {
    pub(crate) const fn new() -> Self {
        assert!(N.is_power_of_two() && N > WAYS);
        ThreadCache([const { Cell::new(None) }; N])
    }

    fn ways(&self, hash: usize) -> &[Cell<Option<(K, V)>>] {
        // The upper bits of the product are the well mixed ones.
        let mixed = (hash as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let set = (mixed >> (u64::BITS - (N / WAYS).trailing_zeros())) as usize;
        &self.0[set * WAYS..][..WAYS]
    }

    /// The value stored for the key, unless later ones took its place. `hash` depends on every part of the key.
    pub(crate) fn get(&self, hash: usize, key: &K) -> Option<V> {
        self.ways(hash).iter().find_map(|way| way.get().filter(|(known, _)| known == key).map(|(_, value)| value))
    }

    /// Stores a value; to be called when `get` has found none.
    pub(crate) fn put(&self, hash: usize, key: K, value: V) {
        let ways = self.ways(hash);
        for at in (1..WAYS).rev() {
            ways[at].set(ways[at - 1].get());
        }
        ways[0].set(Some((key, value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_of_a_place_are_told_apart() {
        let recent: ThreadCache<u32, u32, 8> = ThreadCache::new();
        assert_eq!(recent.get(7, &0), None);
        for key in 0..5 {
            recent.put(7, key, key * 10);
        }
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|key| recent.get(7, &key)),
            [None, Some(10), Some(20), Some(30), Some(40), None]
        );
    }
}
