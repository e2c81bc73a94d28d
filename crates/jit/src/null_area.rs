//! Which accesses need no null check of their own, in both compilers.

use saki_abi::object::NULL_AREA_BYTES;

/// Bytes of the widest access, a vector of a later processor.
const WIDEST_ACCESS_BYTES: usize = 64;

/// Whether an access at this offset from null faults, so that the fault serves as the null check: all its bytes lie in
/// the null area.
pub(crate) fn faults_on_null(offset_bytes: i32) -> bool {
    usize::try_from(offset_bytes).is_ok_and(|offset| offset <= NULL_AREA_BYTES - WIDEST_ACCESS_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_that_reach_out_of_the_null_area_are_checked() {
        for (offset, expected) in
            [(0, true), (4096, true), (65_472, true), (65_473, false), (65_536, false), (-8, false)]
        {
            assert_eq!(faults_on_null(offset), expected, "{offset}");
        }
    }
}
