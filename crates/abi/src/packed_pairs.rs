//! A list of pairs of numbers, the first ones ascending, in few bytes: the form in which placed code keeps its long
//! tables.
//!
//! A pair is two differences to the pair before, the second one with its sign in the lowest bit, each in bytes of seven
//! bits, the lowest first; a byte with the highest bit is not the last one of its number. So (16, 3), (20, 5) is
//! `10 06 04 04`. Invariant: what is read is what was packed; reading allocates nothing, so signal handlers may do it.
//! Left out: access by index; these lists are read by exceptions, stack traces and profilers, and have some dozens of
//! pairs.

/// See the module header.
#[derive(Debug, Default)]
pub struct PackedPairs(Box<[u8]>);

fn push_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The number at the start of `bytes`, which begin behind it afterwards.
fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..u32::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

impl PackedPairs {
    /// Packs pairs in the order of their first numbers.
    pub fn pack(pairs: impl IntoIterator<Item = (u32, u32)>) -> PackedPairs {
        let mut bytes = Vec::new();
        let (mut first_before, mut second_before) = (0, 0);
        for (first, second) in pairs {
            push_number(&mut bytes, first - first_before);
            let difference = second.wrapping_sub(second_before).cast_signed();
            push_number(&mut bytes, (difference << 1 ^ difference >> 31).cast_unsigned());
            (first_before, second_before) = (first, second);
        }
        PackedPairs(bytes.into())
    }

    /// Bytes that the list takes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.0.len()
    }

    /// The pairs, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut rest = &*self.0;
        let (mut first, mut second) = (0u32, 0u32);
        std::iter::from_fn(move || {
            first = first.wrapping_add(take_number(&mut rest)?);
            let difference = take_number(&mut rest)?;
            second = second.wrapping_add(difference >> 1 ^ (difference & 1).wrapping_neg());
            Some((first, second))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back() {
        let check = |pairs: &[(u32, u32)], bytes: usize| {
            let packed = PackedPairs::pack(pairs.iter().copied());
            assert_eq!(packed.iter().collect::<Vec<_>>(), pairs);
            assert_eq!(packed.0.len(), bytes, "{pairs:?}");
        };
        check(&[], 0);
        check(&[(16, 3), (20, 5)], 4);
        check(&[(0, 0), (0, 0), (127, 63), (127, 0)], 8);
        check(&[(5, 100), (300, 7), (1 << 20, u32::MAX)], 3 + 4 + 4);
        check(&[(0, u32::MAX), (u32::MAX, 0x8000_0000), (u32::MAX, 0x7fff_ffff)], 2 + 10 + 2);
    }
}
