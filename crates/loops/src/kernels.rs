//! Searches and comparisons of elements by vectors: SSE2, which every x86-64 processor has, or AVX2 where the processor has it; elsewhere loops that the compiler
//! vectorises.
//!
//! Functions take addresses, since the memory belongs to managed objects that other threads may write to meanwhile. Places count elements, the first one is 0.

/// Elements of 1, 2, 4 or 8 bytes.
pub trait Element: Copy + Eq {
    /// The place of the first element that is one of `wanted`.
    ///
    /// # Safety
    /// `start..start + count` can be read.
    unsafe fn first<const N: usize>(start: *const Self, count: usize, wanted: [Self; N]) -> Option<usize>;

    /// The place of the last element that is one of `wanted`.
    ///
    /// # Safety
    /// As for `first`.
    unsafe fn last<const N: usize>(start: *const Self, count: usize, wanted: [Self; N]) -> Option<usize>;
}

/// # Safety
/// As for `Element::first`.
#[inline(always)]
unsafe fn plain_first<T: Copy + Eq, const N: usize>(start: *const T, count: usize, wanted: [T; N]) -> Option<usize> {
    (0..count).find(|&place| {
        // SAFETY: `place < count`.
        let element = unsafe { start.add(place).read_unaligned() };
        wanted.contains(&element)
    })
}

/// # Safety
/// As for `Element::first`.
#[inline(always)]
unsafe fn plain_last<T: Copy + Eq, const N: usize>(start: *const T, count: usize, wanted: [T; N]) -> Option<usize> {
    (0..count).rev().find(|&place| {
        // SAFETY: `place < count`.
        let element = unsafe { start.add(place).read_unaligned() };
        wanted.contains(&element)
    })
}

/// Functions over vectors of one width and one width of elements.
#[cfg(target_arch = "x86_64")]
macro_rules! vector_searches {
    ($module:ident, $element:ty, $feature:literal, $vector:ty, $load:ident, $splat:ident, $equal:ident, $or:ident, $mask:ident) => {
        mod $module {
            use std::arch::x86_64::*;

            pub const LANES: usize = size_of::<$vector>() / size_of::<$element>();
            /// The number of vectors that are compared before one branch.
            const TOGETHER: usize = 4;

            /// A vector whose bytes are all ones in elements that are one of `wanted`.
            ///
            /// # Safety
            /// A vector can be read at `at`.
            #[target_feature(enable = $feature)]
            #[inline]
            pub unsafe fn equal<const N: usize>(at: *const $element, wanted: &[$vector; N]) -> $vector {
                // SAFETY: this function's contract.
                let elements = unsafe { $load(at.cast()) };
                let mut found = $equal(elements, wanted[0]);
                for one in &wanted[1..] {
                    found = $or(found, $equal(elements, *one));
                }
                found
            }

            /// # Safety
            /// `start..start + count` can be read, and `count >= LANES`.
            #[target_feature(enable = $feature)]
            pub unsafe fn first<const N: usize>(
                start: *const $element,
                count: usize,
                wanted: [$element; N],
            ) -> Option<usize> {
                let wanted = wanted.map(|one| $splat(one as _));
                let mut place = 0;
                while place + TOGETHER * LANES <= count {
                    let found: [$vector; TOGETHER] = std::array::from_fn(|k| {
                        // SAFETY: `TOGETHER` vectors from `place` on lie before `count`.
                        unsafe { equal(start.add(place + k * LANES), &wanted) }
                    });
                    let any = $or($or(found[0], found[1]), $or(found[2], found[3]));
                    if $mask(any) != 0 {
                        break;
                    }
                    place += TOGETHER * LANES;
                }
                loop {
                    // The last vector begins where it still fits; elements that it compares again did not match before.
                    let at = place.min(count - LANES);
                    // SAFETY: `at + LANES <= count`.
                    let mask = $mask(unsafe { equal(start.add(at), &wanted) }) as u32;
                    if mask != 0 {
                        return Some(at + mask.trailing_zeros() as usize / size_of::<$element>());
                    }
                    place += LANES;
                    if place >= count {
                        return None;
                    }
                }
            }

            /// # Safety
            /// As for `first`.
            #[target_feature(enable = $feature)]
            pub unsafe fn last<const N: usize>(
                start: *const $element,
                count: usize,
                wanted: [$element; N],
            ) -> Option<usize> {
                let wanted = wanted.map(|one| $splat(one as _));
                let mut end = count;
                while end >= TOGETHER * LANES {
                    let found: [$vector; TOGETHER] = std::array::from_fn(|k| {
                        // SAFETY: `TOGETHER` vectors before `end` lie behind the start.
                        unsafe { equal(start.add(end - (k + 1) * LANES), &wanted) }
                    });
                    let any = $or($or(found[0], found[1]), $or(found[2], found[3]));
                    if $mask(any) != 0 {
                        break;
                    }
                    end -= TOGETHER * LANES;
                }
                while end > 0 {
                    let at = end.saturating_sub(LANES);
                    // SAFETY: `at + LANES <= count`.
                    let mask = $mask(unsafe { equal(start.add(at), &wanted) }) as u32;
                    // The first vector may reach beyond `end`, where no element matched.
                    if mask != 0 {
                        return Some(at + (31 - mask.leading_zeros()) as usize / size_of::<$element>());
                    }
                    end = at;
                }
                None
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
vector_searches!(
    sse2_u16,
    u16,
    "sse2",
    __m128i,
    _mm_loadu_si128,
    _mm_set1_epi16,
    _mm_cmpeq_epi16,
    _mm_or_si128,
    _mm_movemask_epi8
);
#[cfg(target_arch = "x86_64")]
vector_searches!(
    sse2_u32,
    u32,
    "sse2",
    __m128i,
    _mm_loadu_si128,
    _mm_set1_epi32,
    _mm_cmpeq_epi32,
    _mm_or_si128,
    _mm_movemask_epi8
);
#[cfg(target_arch = "x86_64")]
vector_searches!(
    avx2_u16,
    u16,
    "avx2",
    __m256i,
    _mm256_loadu_si256,
    _mm256_set1_epi16,
    _mm256_cmpeq_epi16,
    _mm256_or_si256,
    _mm256_movemask_epi8
);
#[cfg(target_arch = "x86_64")]
vector_searches!(
    avx2_u32,
    u32,
    "avx2",
    __m256i,
    _mm256_loadu_si256,
    _mm256_set1_epi32,
    _mm256_cmpeq_epi32,
    _mm256_or_si256,
    _mm256_movemask_epi8
);
#[cfg(target_arch = "x86_64")]
vector_searches!(
    avx2_u64,
    u64,
    "avx2",
    __m256i,
    _mm256_loadu_si256,
    _mm256_set1_epi64x,
    _mm256_cmpeq_epi64,
    _mm256_or_si256,
    _mm256_movemask_epi8
);

/// Implements `Element` by its vector functions, the widest first.
macro_rules! element {
    ($element:ty, [$($module:ident if $is_there:expr),*]) => {
        impl Element for $element {
            #[inline]
            unsafe fn first<const N: usize>(start: *const Self, count: usize, wanted: [Self; N]) -> Option<usize> {
                $(
                    #[cfg(target_arch = "x86_64")]
                    if count >= $module::LANES && $is_there {
                        // SAFETY: the processor has the instructions; this function's contract.
                        return unsafe { $module::first(start, count, wanted) };
                    }
                )*
                // SAFETY: this function's contract.
                unsafe { plain_first(start, count, wanted) }
            }

            #[inline]
            unsafe fn last<const N: usize>(start: *const Self, count: usize, wanted: [Self; N]) -> Option<usize> {
                $(
                    #[cfg(target_arch = "x86_64")]
                    if count >= $module::LANES && $is_there {
                        // SAFETY: the processor has the instructions; this function's contract.
                        return unsafe { $module::last(start, count, wanted) };
                    }
                )*
                // SAFETY: this function's contract.
                unsafe { plain_last(start, count, wanted) }
            }
        }
    };
}

element!(u16, [avx2_u16 if is_x86_feature_detected!("avx2"), sse2_u16 if true]);
element!(u32, [avx2_u32 if is_x86_feature_detected!("avx2"), sse2_u32 if true]);
element!(u64, [avx2_u64 if is_x86_feature_detected!("avx2")]);

impl Element for u8 {
    #[inline]
    unsafe fn first<const N: usize>(start: *const u8, count: usize, wanted: [u8; N]) -> Option<usize> {
        // SAFETY: this function's contract.
        let bytes = unsafe { std::slice::from_raw_parts(start, count) };
        match wanted[..] {
            [a] => memchr::memchr(a, bytes),
            [a, b] => memchr::memchr2(a, b, bytes),
            [a, b, c] => memchr::memchr3(a, b, c, bytes),
            _ => bytes.iter().position(|byte| wanted.contains(byte)),
        }
    }

    #[inline]
    unsafe fn last<const N: usize>(start: *const u8, count: usize, wanted: [u8; N]) -> Option<usize> {
        // SAFETY: this function's contract.
        let bytes = unsafe { std::slice::from_raw_parts(start, count) };
        match wanted[..] {
            [a] => memchr::memrchr(a, bytes),
            [a, b] => memchr::memrchr2(a, b, bytes),
            [a, b, c] => memchr::memrchr3(a, b, c, bytes),
            _ => bytes.iter().rposition(|byte| wanted.contains(byte)),
        }
    }
}

/// Functions that compare two places at a time, over vectors of one width.
#[cfg(target_arch = "x86_64")]
macro_rules! pair_search {
    ($name:ident, $searches:ident, $feature:literal, $splat:ident, $and:ident, $mask:ident) => {
        /// # Safety
        /// As for `first_pair`, and `count >= LANES`.
        #[target_feature(enable = $feature)]
        unsafe fn $name<const N: usize>(
            start: *const u16,
            count: usize,
            distance: usize,
            heads: [u16; N],
            tails: [u16; N],
        ) -> Option<usize> {
            use std::arch::x86_64::*;
            let (heads, tails) = (heads.map(|one| $splat(one as _)), tails.map(|one| $splat(one as _)));
            let mut place = 0;
            loop {
                // The last vector begins where it still fits; elements that it compares again did not match before.
                let at = place.min(count - $searches::LANES);
                // SAFETY: `at + LANES <= count`, and so many units lie `distance` behind.
                let found = unsafe {
                    $and($searches::equal(start.add(at), &heads), $searches::equal(start.add(at + distance), &tails))
                };
                let mask = $mask(found) as u32;
                if mask != 0 {
                    return Some(at + mask.trailing_zeros() as usize / size_of::<u16>());
                }
                place += $searches::LANES;
                if place >= count {
                    return None;
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pair_search!(sse2_pair, sse2_u16, "sse2", _mm_set1_epi16, _mm_and_si128, _mm_movemask_epi8);
#[cfg(target_arch = "x86_64")]
pair_search!(avx2_pair, avx2_u16, "avx2", _mm256_set1_epi16, _mm256_and_si256, _mm256_movemask_epi8);

/// The first of `count` places that holds one of `heads` and has one of `tails` `distance` units behind it.
///
/// # Safety
/// `start..start + count + distance` can be read.
#[inline]
pub unsafe fn first_pair<const N: usize>(
    start: *const u16,
    count: usize,
    distance: usize,
    heads: [u16; N],
    tails: [u16; N],
) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        if count >= avx2_u16::LANES && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions; this function's contract.
            return unsafe { avx2_pair(start, count, distance, heads, tails) };
        }
        if count >= sse2_u16::LANES {
            // SAFETY: each x86-64 processor has SSE2; this function's contract.
            return unsafe { sse2_pair(start, count, distance, heads, tails) };
        }
    }
    (0..count).find(|&place| {
        // SAFETY: `place < count`.
        let (head, tail) = unsafe { (start.add(place).read_unaligned(), start.add(place + distance).read_unaligned()) };
        heads.contains(&head) && tails.contains(&tail)
    })
}

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
    // SAFETY: the lengths are as `by_two` asks; this function's contract.
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
    // SAFETY: this function's contract.
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

/// The C library makes copies of at least this length by an instruction of the processor (`rep movsb`).
const STRING_INSTRUCTION_BYTES: usize = 2048;
/// It does not make copies of this length by that instruction.
const PIECE_BYTES: usize = 1984;
const PAGE_BYTES: usize = 4096;
/// The instruction takes up to 25 times as long where the target begins at most so many bytes behind the source, apart from whole pages (3,000 bytes: 842 ns instead
/// of 35). All large objects begin at a page.
const SLOW_DISTANCE_BYTES: usize = 63;

/// memmove.
///
/// # Safety
/// `source` can be read, `target` written.
#[inline]
pub unsafe fn copy(source: *const u8, target: *mut u8, len_bytes: usize) {
    let distance = (target as usize).wrapping_sub(source as usize);
    let is_slow = len_bytes >= STRING_INSTRUCTION_BYTES
        && distance >= len_bytes
        && (1..=SLOW_DISTANCE_BYTES).contains(&(distance % PAGE_BYTES));
    // SAFETY: this function's contract.
    unsafe {
        if is_slow { copy_in_pieces(source, target, len_bytes) } else { std::ptr::copy(source, target, len_bytes) }
    }
}

/// Copies forwards in pieces, so the target must not begin within the source.
///
/// # Safety
/// As for `copy`.
#[cold]
unsafe fn copy_in_pieces(source: *const u8, target: *mut u8, len_bytes: usize) {
    for place in (0..len_bytes).step_by(PIECE_BYTES) {
        // SAFETY: the piece lies within both ranges.
        unsafe { std::ptr::copy(source.add(place), target.add(place), PIECE_BYTES.min(len_bytes - place)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<T: Element + std::fmt::Debug>(elements: &[T], wanted: T, other: T) {
        let (start, count) = (elements.as_ptr(), elements.len());
        // SAFETY: the slice.
        let found = unsafe { (T::first(start, count, [wanted]), T::last(start, count, [wanted])) };
        let expect = (elements.iter().position(|e| *e == wanted), elements.iter().rposition(|e| *e == wanted));
        assert_eq!(found, expect, "{wanted:?} in {elements:?}");
        // SAFETY: the slice.
        let found =
            unsafe { (T::first(start, count, [wanted, other]), T::first(start, count, [wanted, other, other])) };
        let expect = elements.iter().position(|e| *e == wanted || *e == other);
        assert_eq!(found, (expect, expect), "{wanted:?} or {other:?} in {elements:?}");
        // SAFETY: the slice.
        let found = unsafe { (T::last(start, count, [wanted, other]), T::last(start, count, [wanted, other, other])) };
        let expect = elements.iter().rposition(|e| *e == wanted || *e == other);
        assert_eq!(found, (expect, expect), "last {wanted:?} or {other:?} in {elements:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn searches_find_what_a_loop_finds(
            bytes in proptest::collection::vec(0u8..40, 0..200), from in 0usize..8, wanted in 0u8..40, other in 0u8..40,
        ) {
            let bytes = &bytes[from.min(bytes.len())..];
            check(bytes, wanted, other);
            let of = |one: u8| (u16::from(one) * 0x101, u32::from(one) << 17, u64::from(one) << 40);
            let (a, b) = (of(wanted), of(other));
            let units: Vec<u16> = bytes.iter().map(|one| of(*one).0).collect();
            check(&units, a.0, b.0);
            // Processors with wider vectors do not use these functions, so they are called directly.
            #[cfg(target_arch = "x86_64")]
            if units.len() >= sse2_u16::LANES {
                let (start, count) = (units.as_ptr(), units.len());
                // SAFETY: the vector; each x86-64 processor has SSE2.
                let found = unsafe { (sse2_u16::first(start, count, [a.0, b.0]), sse2_u16::last(start, count, [a.0, b.0])) };
                let is_wanted = |unit: &u16| [a.0, b.0].contains(unit);
                prop_assert_eq!(found, (units.iter().position(is_wanted), units.iter().rposition(is_wanted)));
            }
            check(&bytes.iter().map(|one| of(*one).1).collect::<Vec<_>>(), a.1, b.1);
            check(&bytes.iter().map(|one| of(*one).2).collect::<Vec<_>>(), a.2, b.2);
        }

        #[test]
        fn pairs_are_found_where_a_loop_finds_them(
            bytes in proptest::collection::vec(0u8..6, 0..120), distance in 0usize..20, heads in [0u8..6, 0u8..6], tails in [0u8..6, 0u8..6],
        ) {
            let of = |one: u8| u16::from(one) * 0x101;
            let units: Vec<u16> = bytes.iter().map(|one| of(*one)).collect();
            let (heads, tails) = (heads.map(of), tails.map(of));
            let count = units.len().saturating_sub(distance);
            let expect = (0..count).find(|&at| heads.contains(&units[at]) && tails.contains(&units[at + distance]));
            // SAFETY: the vector has as many units from `distance` on.
            prop_assert_eq!(unsafe { first_pair(units.as_ptr(), count, distance, heads, tails) }, expect);
            #[cfg(target_arch = "x86_64")]
            if count >= sse2_u16::LANES {
                // SAFETY: as above; each x86-64 processor has SSE2.
                prop_assert_eq!(unsafe { sse2_pair(units.as_ptr(), count, distance, heads, tails) }, expect);
            }
        }

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

        #[test]
        fn copies_of_any_distance_move_every_byte(
            source in 0usize..3 * PAGE_BYTES, target in 0usize..3 * PAGE_BYTES, near in 0usize..80, len_bytes in 0usize..7000,
        ) {
            let memory: Vec<u8> = (0..6 * PAGE_BYTES).map(|i| (i * 7 / 3) as u8).collect();
            for target in [target, source % PAGE_BYTES + 2 * PAGE_BYTES + near] {
                let len_bytes = len_bytes.min(memory.len() - source.max(target));
                let (mut expect, mut copied) = (memory.clone(), memory.clone());
                expect.copy_within(source..source + len_bytes, target);
                let start = copied.as_mut_ptr();
                // SAFETY: both ranges lie in the vector.
                unsafe { copy(start.add(source), start.add(target), len_bytes) };
                prop_assert!(expect == copied);
            }
        }
    }
}
