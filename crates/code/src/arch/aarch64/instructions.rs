//! aarch64: the instructions that this crate writes or recognises, as words. Encodings: Arm ARM (DDI 0487), §C6.2.
//!
//! Invariant: every function masks its operands to their fields, and panics where an operand has no encoding.

/// x2: the first argument of managed code (Cranelift's Tail convention leaves x0 and x1 out).
pub(super) const FIRST_ARGUMENT: u32 = 2;
/// x16 and x17: free between a call and the callee's first instruction (AAPCS64 §6.1.1).
pub(super) const X16: u32 = 16;
pub(super) const X17: u32 = 17;

/// `brk #0`
pub(super) const TRAP: u32 = 0xd420_0000;
/// `ret`
pub(super) const RETURN: u32 = 0xd65f_03c0;
/// `stp x29, x30, [sp, #-16]!`
pub(super) const PUSH_FRAME_RECORD: u32 = 0xa9bf_7bfd;
/// `ldp x29, x30, [sp], #16`
pub(super) const POP_FRAME_RECORD: u32 = 0xa8c1_7bfd;

/// Bytes of an instruction.
pub(super) const INSTRUCTION_BYTES: usize = 4;
/// `adrp` counts pages of this size, whatever the processor's are.
const PAGE_BYTES: usize = 4096;
/// The fields of `b` and `bl`: a signed number of instructions.
const BRANCH_FIELD_BITS: u32 = 26;
const BRANCH_FIELD: u32 = (1 << BRANCH_FIELD_BITS) - 1;
const BRANCH: u32 = 0x1400_0000;
const BRANCH_LINK: u32 = 0x9400_0000;

/// Whether it is `b` or `bl`.
pub(super) fn is_branch(word: u32) -> bool {
    matches!(word & !BRANCH_FIELD, BRANCH | BRANCH_LINK)
}

/// `b target` at the address `place`. None: the target is out of reach (128 MiB).
pub(super) fn branch(place: usize, target: usize) -> Option<u32> {
    lead_branch(BRANCH, place, target)
}

/// The `b` or `bl` with another target. None: the target is out of reach.
pub(super) fn lead_branch(word: u32, place: usize, target: usize) -> Option<u32> {
    let distance = target.wrapping_sub(place) as i64;
    let count = distance / INSTRUCTION_BYTES as i64;
    let limit = 1 << (BRANCH_FIELD_BITS - 1);
    let is_within_reach = distance % INSTRUCTION_BYTES as i64 == 0 && (-limit..limit).contains(&count);
    is_within_reach.then_some(word & !BRANCH_FIELD | count as u32 & BRANCH_FIELD)
}

/// Where the `b` or `bl` at the address leads.
pub(super) fn branch_target(place: usize, word: u32) -> usize {
    let unused_bits = 32 - BRANCH_FIELD_BITS;
    let count = (word << unused_bits).cast_signed() >> unused_bits;
    place.wrapping_add_signed(count as isize * INSTRUCTION_BYTES as isize)
}

/// `adrp register, target` at the address `place`. None: the target is out of reach (4 GiB).
pub(super) fn page_address(register: u32, place: usize, target: usize) -> Option<u32> {
    with_page(0x9000_0000 | register, place, target)
}

/// The `adrp` with another target. None: the target is out of reach.
pub(super) fn with_page(word: u32, place: usize, target: usize) -> Option<u32> {
    const LOW_AND_HIGH: u32 = 3 << 29 | 0x7_ffff << 5;
    let pages = (target / PAGE_BYTES) as i64 - (place / PAGE_BYTES) as i64;
    let is_within_reach = (-(1 << 20)..1 << 20).contains(&pages);
    let [low, high] = [pages as u32 & 3, (pages >> 2) as u32 & 0x7_ffff];
    is_within_reach.then_some(word & !LOW_AND_HIGH | low << 29 | high << 5)
}

/// The `add` of an immediate with the place of the target in its page.
pub(super) fn with_place_in_page(word: u32, target: usize) -> u32 {
    with_12_bits(word, (target % PAGE_BYTES) as u32)
}

/// `ldr to, [base, place of the target in its page]`
///
/// # Panics
/// If the target is not aligned to 8 bytes.
pub(super) fn load_in_page(to: u32, base: u32, target: usize) -> u32 {
    assert!(target.is_multiple_of(8), "a word at {target:#x}");
    with_12_bits(0xf940_0000 | base << 5 | to, (target % PAGE_BYTES / 8) as u32)
}

/// `add to, from, #immediate`
pub(super) fn add_immediate(to: u32, from: u32, immediate: u32) -> u32 {
    assert!(immediate < 4096);
    with_12_bits(0x9100_0000 | from << 5 | to, immediate)
}

/// `ldr to, .+bytes`
pub(super) fn load_literal(to: u32, bytes: u32) -> u32 {
    0x5800_0000 | ((bytes / INSTRUCTION_BYTES as u32) & 0x7_ffff) << 5 | to
}

/// `br register`
pub(super) fn branch_register(register: u32) -> u32 {
    0xd61f_0000 | register << 5
}

fn with_12_bits(word: u32, value: u32) -> u32 {
    const FIELD: u32 = 0xfff << 10;
    word & !FIELD | value << 10 & FIELD
}

/// Whether it is `add sp, sp, #immediate` or `sub sp, sp, #immediate`.
pub(super) fn is_move_of_stack_pointer(word: u32) -> bool {
    matches!(word & 0xff80_03ff, 0x9100_03ff | 0xd100_03ff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_lead_where_they_are_led() {
        let place = 0x7f00_0000_1000;
        for target in [place, place + 4, place - 4, place + (128 << 20) - 4, place - (128 << 20)] {
            let word = branch(place, target).expect("within reach");
            assert!(is_branch(word));
            assert_eq!(branch_target(place, word), target);
            let call = lead_branch(BRANCH_LINK, place, target).expect("within reach");
            assert_eq!((call ^ word, branch_target(place, call)), (BRANCH ^ BRANCH_LINK, target));
        }
        for target in [place + 2, place + (128 << 20), place - (128 << 20) - 4] {
            assert_eq!(branch(place, target), None);
        }
    }

    #[test]
    fn page_addresses_reach_four_gigabytes() {
        // adrp x16, .+0x1000; adrp x16, .-0x1000: as GNU as encodes them.
        assert_eq!(page_address(X16, 0x1ffc, 0x2008), Some(0xb000_0010));
        assert_eq!(page_address(X16, 0x2000, 0x1ff8), Some(0xf0ff_fff0));
        assert_eq!(page_address(X16, 0, (4 << 30) - 1), Some(0xf07f_fff0));
        assert_eq!(page_address(X16, 0, 4 << 30), None);
    }
}
