//! Searches for elements by vectors: SSE2, which every x86-64 processor has, or AVX2 where the processor has it;
//! elsewhere loops that the compiler vectorises.
//!
//! Functions take addresses, since the memory belongs to managed objects that other threads may write to meanwhile.
//! Places count elements, the first one is 0.

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
                // SAFETY: a vector can be read at `at`.
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
                        // SAFETY: the processor has the instructions, and `count` elements, at least a vector, can be
                        // read.
                        return unsafe { $module::first(start, count, wanted) };
                    }
                )*
                // SAFETY: `count` elements can be read at `start`.
                unsafe { plain_first(start, count, wanted) }
            }

            #[inline]
            unsafe fn last<const N: usize>(start: *const Self, count: usize, wanted: [Self; N]) -> Option<usize> {
                $(
                    #[cfg(target_arch = "x86_64")]
                    if count >= $module::LANES && $is_there {
                        // SAFETY: the processor has the instructions, and `count` elements, at least a vector, can be
                        // read.
                        return unsafe { $module::last(start, count, wanted) };
                    }
                )*
                // SAFETY: `count` elements can be read at `start`.
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
        // SAFETY: `count` bytes can be read at `start`.
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
        // SAFETY: `count` bytes can be read at `start`.
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
            // SAFETY: the processor has the instructions, and `count + distance` units, with `count` at least a
            // vector's, can be read.
            return unsafe { avx2_pair(start, count, distance, heads, tails) };
        }
        if count >= sse2_u16::LANES {
            // SAFETY: each x86-64 processor has SSE2, and `count + distance` units, with `count` at least a vector's,
            // can be read.
            return unsafe { sse2_pair(start, count, distance, heads, tails) };
        }
    }
    (0..count).find(|&place| {
        // SAFETY: `place < count`.
        let (head, tail) = unsafe { (start.add(place).read_unaligned(), start.add(place + distance).read_unaligned()) };
        heads.contains(&head) && tails.contains(&tail)
    })
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
                // SAFETY: `units` has `count + distance` units; each x86-64 processor has SSE2.
                prop_assert_eq!(unsafe { sse2_pair(units.as_ptr(), count, distance, heads, tails) }, expect);
            }
        }
    }
}
