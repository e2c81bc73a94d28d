//! Reversing and filling ranges of elements.

use crate::slices::{SLICE_BYTES, Way, slices};

/// Reverses `count` elements.
///
/// # Safety
/// The elements can be read and written, and `start` is aligned for a `T`.
pub unsafe fn reverse<T>(start: *mut T, count: usize, rest: impl FnMut()) {
    if count <= SLICE_BYTES / size_of::<T>() {
        // SAFETY: `count` elements can be read and written at `start`, which is aligned.
        unsafe { std::slice::from_raw_parts_mut(start, count) }.reverse();
        return;
    }
    slices(Way::Forward, count / 2, 2 * size_of::<T>(), rest, |first, number| {
        // SAFETY: the first half and the second half of the elements have none in common.
        let (front, back) = unsafe {
            (
                std::slice::from_raw_parts_mut(start.add(first), number),
                std::slice::from_raw_parts_mut(start.add(count - first - number), number),
            )
        };
        // The standard library reverses a slice by vectors.
        front.swap_with_slice(back);
        front.reverse();
        back.reverse();
        None::<()>
    });
}

/// Stores `value` to `count` elements.
///
/// # Safety
/// The elements can be written.
pub unsafe fn fill<T: Copy>(start: *mut T, count: usize, value: T, rest: impl FnMut()) {
    slices(Way::Forward, count, size_of::<T>(), rest, |first, number| {
        for place in first..first + number {
            // SAFETY: `place` lies before `count`, and the contract.
            unsafe { start.add(place).write_unaligned(value) };
        }
        None::<()>
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ranges_are_reversed_and_filled_in_slices() {
        for count in [0, 1, 2, 7, SLICE_BYTES / 4, SLICE_BYTES / 4 + 1, SLICE_BYTES, SLICE_BYTES + 3] {
            let mut elements: Vec<u32> = (0..count as u32).collect();
            let mut rests = 0;
            // SAFETY: the vector's elements.
            unsafe { reverse(elements.as_mut_ptr(), count, || rests += 1) };
            assert!(elements.iter().rev().copied().eq(0..count as u32), "{count}");
            assert_eq!(rests > 0, count > SLICE_BYTES / 4 + 1);
            // SAFETY: `elements` has `count` elements.
            unsafe { fill(elements.as_mut_ptr(), count, 7, || ()) };
            assert!(elements.iter().all(|element| *element == 7));
        }
    }
}
