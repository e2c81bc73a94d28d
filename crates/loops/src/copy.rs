//! Copying memory without the processor's slow cases.

/// The C library makes copies of at least this length by an instruction of the processor (`rep movsb`).
const STRING_INSTRUCTION_BYTES: usize = 2048;
/// It does not make copies of this length by that instruction.
const PIECE_BYTES: usize = 1984;
const PAGE_BYTES: usize = 4096;
/// The instruction takes up to 25 times as long where the target begins at most so many bytes behind the source, apart
/// from whole pages (3,000 bytes: 842 ns instead of 35). All large objects begin at a page.
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
    // SAFETY: `len_bytes` bytes can be read at `source` and written at `target`; the ranges are apart where it is slow.
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

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
