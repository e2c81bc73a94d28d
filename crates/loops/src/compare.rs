//! Comparisons of ranges of memory, which other threads may write to meanwhile.

/// Longer ranges are compared by the C library.
const SHORT_BYTES: usize = 16;

/// Whether two ranges of memory are equal.
///
/// # Safety
/// Both can be read.
#[inline]
pub unsafe fn are_equal(a: *const u8, b: *const u8, len_bytes: usize) -> bool {
    /// # Safety
    /// `len_bytes` is at least a `T`'s and at most two's, and both ranges can be read.
    #[inline(always)]
    unsafe fn by_two<T: Copy + Eq>(a: *const u8, b: *const u8, len_bytes: usize) -> bool {
        let last = len_bytes - size_of::<T>();
        // SAFETY: a `T` lies within the ranges at their starts and at `last`.
        let read = |at: *const u8, offset: usize| unsafe { at.add(offset).cast::<T>().read_unaligned() };
        read(a, 0) == read(b, 0) && read(a, last) == read(b, last)
    }
    // SAFETY: each arm's lengths are those that `by_two` asks for, and both ranges have `len_bytes` bytes.
    unsafe {
        match len_bytes {
            0 => true,
            1 => *a == *b,
            2..4 => by_two::<u16>(a, b, len_bytes),
            4..8 => by_two::<u32>(a, b, len_bytes),
            8..=SHORT_BYTES => by_two::<u64>(a, b, len_bytes),
            _ => libc::memcmp(a.cast(), b.cast(), len_bytes) == 0,
        }
    }
}

#[cfg(target_arch = "x86_64")]
const VECTOR_BYTES: usize = 16;

/// A bit for each byte in which two vectors differ.
///
/// # Safety
/// A vector can be read at both.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
unsafe fn different_bytes(a: *const u8, b: *const u8) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8};
    // SAFETY: a vector can be read at both.
    let (a, b) = unsafe { (_mm_loadu_si128(a.cast()), _mm_loadu_si128(b.cast())) };
    !_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) as u32 & 0xffff
}

/// The first byte in which two ranges of memory differ.
///
/// # Safety
/// Both can be read.
#[inline]
pub unsafe fn first_difference(a: *const u8, b: *const u8, len_bytes: usize) -> Option<usize> {
    let mut place = 0;
    #[cfg(target_arch = "x86_64")]
    while place + VECTOR_BYTES <= len_bytes {
        // SAFETY: a vector from `place` on lies within both ranges; each x86-64 processor has SSE2.
        let different = unsafe { different_bytes(a.add(place), b.add(place)) };
        if different != 0 {
            return Some(place + different.trailing_zeros() as usize);
        }
        place += VECTOR_BYTES;
    }
    while place + 8 <= len_bytes {
        // SAFETY: eight bytes from `place` on lie within both ranges.
        let (x, y) =
            unsafe { (a.add(place).cast::<u64>().read_unaligned(), b.add(place).cast::<u64>().read_unaligned()) };
        if x != y {
            return Some(place + (u64::from_le(x) ^ u64::from_le(y)).trailing_zeros() as usize / 8);
        }
        place += 8;
    }
    // SAFETY: `at < len_bytes`.
    (place..len_bytes).find(|&at| unsafe { *a.add(at) != *b.add(at) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn comparisons_find_the_first_difference(
            a in proptest::collection::vec(any::<u8>(), 0..200), changed in proptest::option::of((0usize..200, 1u8..255)),
        ) {
            let mut b = a.clone();
            if let Some((place, by)) = changed && let Some(byte) = b.get_mut(place) {
                *byte = byte.wrapping_add(by);
            }
            let expect = a.iter().zip(&b).position(|(x, y)| x != y);
            // SAFETY: the vectors.
            unsafe {
                prop_assert_eq!(first_difference(a.as_ptr(), b.as_ptr(), a.len()), expect);
                prop_assert_eq!(are_equal(a.as_ptr(), b.as_ptr(), a.len()), expect.is_none());
            }
        }
    }
}
