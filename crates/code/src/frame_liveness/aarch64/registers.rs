//! Which callee-saved registers an instruction of aarch64 reads and overwrites.
//!
//! Invariant: a register counts as overwritten only if the instruction is known to write it and not to read it; where
//! the kind of an instruction is not known, each of its register fields counts as read. A write of a general purpose
//! register leaves nothing of the old value. Left out: instructions that read registers without a field; the body is
//! not understood then.

/// Sets of the general purpose registers, a bit each, that an instruction reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FieldRegisters {
    pub read: u32,
    /// Written and not read.
    pub written: u32,
}

/// Bits `low..low + count`.
pub(super) fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

/// Fields of an instruction, by their lowest bit: destination, first operand, third and second one.
const D: u32 = 0;
const N: u32 = 5;
const A: u32 = 10;
const M: u32 = 16;

/// None: it is not known which registers the instruction reads.
pub(super) fn registers(word: u32) -> Option<FieldRegisters> {
    let set = |fields: &[u32]| fields.iter().fold(0, |set, &low| set | 1u32 << bits(word, low, 5));
    let effect = |written: &[u32], read: &[u32]| FieldRegisters { read: set(read), written: set(written) & !set(read) };
    let unknown = effect(&[], &[D, N, A, M]);
    let is_vector = word & 1 << 26 != 0;
    Some(match bits(word, 25, 4) {
        // Data processing, immediate.
        0b1000 | 0b1001 => match (bits(word, 23, 3), bits(word, 29, 2)) {
            // adr, adrp
            (0 | 1, _) => effect(&[D], &[]),
            // add, sub, and of logical values.
            (2..=4, _) => effect(&[D], &[N]),
            // movn, movz; movk keeps the rest.
            (5, 0 | 2) => effect(&[D], &[]),
            (5, _) => effect(&[], &[D]),
            // sbfm, ubfm; bfm keeps the rest.
            (6, 0 | 2) => effect(&[D], &[N]),
            (6, _) => effect(&[], &[D, N]),
            // extr
            _ => effect(&[D], &[N, M]),
        },
        // Branches and system instructions.
        0b1010 | 0b1011 => match word >> 24 {
            // b, bl, b.cond
            0x14..=0x17 | 0x94..=0x97 | 0x54 => effect(&[], &[]),
            // cbz, cbnz, tbz, tbnz
            0x34..=0x37 | 0xb4..=0xb7 => effect(&[], &[D]),
            // br, blr, ret
            0xd6 | 0xd7 => effect(&[], &[N]),
            // mrs
            0xd5 if word & 0xfff0_0000 == 0xd530_0000 => effect(&[D], &[]),
            _ => unknown,
        },
        // Loads and stores.
        0b0100 | 0b0110 | 0b1100 | 0b1110 => match bits(word, 27, 3) {
            // Structures of vectors: the address, and by what it is moved.
            _ if word & 0xbe00_0000 == 0x0c00_0000 => effect(&[], &[N, M]),
            // Exclusive and ordered accesses of one register, and compare and swap.
            0b001 => match (word & 1 << 21 != 0, word & 1 << 22 != 0) {
                (false, true) => effect(&[D], &[N, A, M]),
                // Compare and swap of pairs uses the registers behind those of its fields, too.
                (true, _) if word & 0x8080_0000 == 0 => return None,
                _ => unknown,
            },
            // Literals; a prefetch loads none.
            0b011 if word & 1 << 24 == 0 && (is_vector || bits(word, 30, 2) == 3) => effect(&[], &[]),
            0b011 if word & 1 << 24 == 0 => effect(&[D], &[]),
            // Pairs.
            0b101 if is_vector => effect(&[], &[N]),
            0b101 if bits(word, 30, 2) == 3 => return None,
            0b101 if word & 1 << 22 != 0 => effect(&[D, A], &[N]),
            0b101 => effect(&[], &[D, A, N]),
            0b111 => one_register(word, is_vector, effect)?,
            _ => return None,
        },
        // Data processing of registers.
        0b0101 | 0b1101 => match bits(word, 21, 8) {
            // Two operands; one, but for authentication, which changes the destination.
            0xd6 if word & 1 << 30 == 0 => effect(&[D], &[N, M]),
            0xd6 if bits(word, 16, 5) == 0 => effect(&[D], &[N]),
            // adc, sbc; csel and its like.
            0xd0 if bits(word, 10, 6) == 0 => effect(&[D], &[N, M]),
            0xd4 => effect(&[D], &[N, M]),
            // Logical operations, add and sub of shifted and extended registers.
            0x50..=0x5f => effect(&[D], &[N, M]),
            // Three operands.
            0xd8..=0xdf => effect(&[D], &[N, A, M]),
            _ => unknown,
        },
        // Floating point and vectors: conversions from and to general purpose registers, and copies from them.
        0b0111 | 0b1111 => {
            let is_conversion = word & 0x5f00_0000 == 0x1e00_0000;
            if is_conversion && word & 0x0020_fc00 == 0x0020_0000 {
                match bits(word, 16, 5) {
                    // fcvtns, fcvtps, fcvtms, fcvtzs and their like without sign; fcvtas; fmov; fjcvtzs.
                    0 | 1 | 8 | 9 | 16 | 17 | 24 | 25 | 4..=6 | 14 | 30 => effect(&[D], &[]),
                    _ => effect(&[], &[N]),
                }
            } else if is_conversion && word & 1 << 21 == 0 || word & 0x9fe0_a400 == 0x0e00_0400 {
                effect(&[], &[N])
            } else {
                effect(&[], &[])
            }
        }
        // Permanently undefined.
        0 if word >> 16 == 0 => effect(&[], &[]),
        _ => return None,
    })
}

/// Loads and stores of one register that have an address in another one.
fn one_register(
    word: u32,
    is_vector: bool,
    effect: impl Fn(&[u32], &[u32]) -> FieldRegisters,
) -> Option<FieldRegisters> {
    let has_offset = word & 1 << 24 != 0;
    let kind = bits(word, 10, 2);
    if !has_offset && word & 1 << 21 != 0 && kind != 2 {
        // Atomic operations, and loads that authenticate their address.
        return match (kind, bits(word, 12, 4)) {
            _ if is_vector => None,
            (0, 0..=8 | 12) => Some(effect(&[D], &[N, M])),
            _ => None,
        };
    }
    let has_index = !has_offset && word & 1 << 21 != 0;
    let address: &[u32] = if has_index { &[N, M] } else { &[N] };
    Some(match bits(word, 22, 2) {
        _ if is_vector => effect(&[], address),
        0 => effect(&[], &[&[D], address].concat()),
        // A prefetch loads no register.
        2 if bits(word, 30, 2) == 3 => effect(&[], address),
        _ => effect(&[D], address),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_abi::CALLEE_SAVED;

    /// An instruction as GNU as writes it, its text, and the callee-saved registers that it overwrites and reads.
    type Case = (u32, &'static str, &'static [u32], &'static [u32]);

    #[test]
    fn registers_are_read_and_overwritten_as_the_instruction_says() {
        const CASES: &[Case] = &[
            (0xf840_8693, "ldr x19, [x20], #8", &[19], &[20]),
            (0xf800_8e93, "str x19, [x20, #8]!", &[], &[19, 20]),
            (0x1000_0013, "adr x19, 8 <.text+0x8>", &[19], &[]),
            (0x9100_1293, "add x19, x20, #0x4", &[19], &[20]),
            (0xf280_0033, "movk x19, #0x1", &[], &[19]),
            (0xd280_0033, "mov x19, #0x1", &[19], &[]),
            (0xd343_1a93, "ubfx x19, x20, #3, #4", &[19], &[20]),
            (0xb37d_0e93, "bfi x19, x20, #3, #4", &[], &[19, 20]),
            (0x93d4_0e93, "ror x19, x20, #3", &[19], &[20]),
            (0xb400_0013, "cbz x19, 24 <.text+0x24>", &[], &[19]),
            (0x3618_0013, "tbz w19, #3, 28 <.text+0x28>", &[], &[19]),
            (0xd63f_0260, "blr x19", &[], &[19]),
            (0xd53b_d053, "mrs x19, tpidr_el0", &[19], &[]),
            (0xc8df_fe93, "ldar x19, [x20]", &[19], &[20]),
            (0xc89f_fe93, "stlr x19, [x20]", &[], &[19, 20]),
            (0xc813_fed4, "stlxr w19, x20, [x22]", &[], &[19, 20, 22]),
            (0xc85f_7e93, "ldxr x19, [x20]", &[19], &[20]),
            (0xc8b3_7ed4, "cas x19, x20, [x22]", &[], &[19, 20, 22]),
            (0xc8f3_fed4, "casal x19, x20, [x22]", &[], &[19, 20, 22]),
            (0x5800_0013, "ldr x19, 4c <.text+0x4c>", &[19], &[]),
            (0xa940_52d3, "ldp x19, x20, [x22]", &[19, 20], &[22]),
            (0xa900_52d3, "stp x19, x20, [x22]", &[], &[19, 20, 22]),
            (0x6d40_52d3, "ldp d19, d20, [x22]", &[], &[22]),
            (0xf876_6a93, "ldr x19, [x20, x22]", &[19], &[20, 22]),
            (0xb836_7a93, "str w19, [x20, x22, lsl #2]", &[], &[19, 20, 22]),
            (0xfd40_0693, "ldr d19, [x20, #8]", &[], &[20]),
            (0xb980_0293, "ldrsw x19, [x20]", &[19], &[20]),
            (0xf833_02d4, "ldadd x19, x20, [x22]", &[20], &[19, 22]),
            (0xf833_82d4, "swp x19, x20, [x22]", &[20], &[19, 22]),
            (0xf8bf_c293, "ldapr x19, [x20]", &[19], &[20]),
            (0xf980_0280, "prfm pldl1keep, [x20]", &[], &[20]),
            (0x9ad6_0a93, "udiv x19, x20, x22", &[19], &[20, 22]),
            (0xdac0_0293, "rbit x19, x20", &[19], &[20]),
            (0x9a16_0293, "adc x19, x20, x22", &[19], &[20, 22]),
            (0x9a96_0293, "csel x19, x20, x22, eq", &[19], &[20, 22]),
            (0xfa54_0260, "ccmp x19, x20, #0x0, eq", &[], &[19, 20]),
            (0xfa45_0a63, "ccmp x19, #0x5, #0x3, eq", &[], &[19]),
            (0x8a16_0293, "and x19, x20, x22", &[19], &[20, 22]),
            (0xeb16_029f, "cmp x20, x22", &[], &[20, 22]),
            (0x8b36_4293, "add x19, x20, w22, uxtw", &[19], &[20, 22]),
            (0x9b16_5e93, "madd x19, x20, x22, x23", &[19], &[20, 22, 23]),
            (0x9e66_0293, "fmov x19, d20", &[19], &[]),
            (0x9e67_0293, "fmov d19, x20", &[], &[20]),
            (0x9e62_0293, "scvtf d19, x20", &[], &[20]),
            (0x9e78_0293, "fcvtzs x19, d20", &[19], &[]),
            (0x9e64_0293, "fcvtas x19, d20", &[19], &[]),
            (0x9eaf_0293, "fmov v19.d[1], x20", &[], &[20]),
            (0x9eae_0293, "fmov x19, v20.d[1]", &[19], &[]),
            (0x4e04_0e93, "dup v19.4s, w20", &[], &[20]),
            (0x4e18_1e93, "mov v19.d[1], x20", &[], &[20]),
            (0x0e0c_3e93, "mov w19, v20.s[1]", &[], &[]),
            (0x4e0c_2e93, "smov x19, v20.s[1]", &[], &[]),
            (0x1e76_2a93, "fadd d19, d20, d22", &[], &[]),
            (0x4e36_d693, "fadd v19.4s, v20.4s, v22.4s", &[], &[]),
            (0x1f56_5e93, "fmadd d19, d20, d22, d23", &[], &[]),
            (0x1e6e_1013, "fmov d19, #1.000000000000000000e+00", &[], &[]),
            (0x1e74_2260, "fcmp d19, d20", &[], &[]),
            (0x4c40_7a93, "ld1 {v19.4s}, [x20]", &[], &[20]),
            (0x9e42_f693, "scvtf d19, x20, #3", &[], &[20]),
            (0x9e58_f693, "fcvtzs x19, d20, #3", &[], &[20]),
            (0xdac0_1293, "clz x19, x20", &[19], &[20]),
            (0xdac0_0e93, "rev x19, x20", &[19], &[20]),
            (0x9b56_7e93, "smulh x19, x20, x22", &[19], &[20, 22]),
            (0xd503_3bbf, "dmb ish", &[], &[]),
            (0xd503_201f, "nop", &[], &[]),
        ];
        let saved =
            |set: u32| CALLEE_SAVED.iter().map(|&n| u32::from(n)).filter(|n| set >> n & 1 != 0).collect::<Vec<_>>();
        for &(word, text, written, read) in CASES {
            let found = registers(word).expect(text);
            assert_eq!((&saved(found.written)[..], &saved(found.read)[..]), (written, read), "{text}");
        }
    }

    #[test]
    fn instructions_that_use_registers_without_a_field_are_unknown() {
        // caspal x20, x21, x22, x23, [x0]; ld64b x20, [x0]; ptrue p0.b
        for word in [0x4874_fc16, 0xf83f_d014, 0x2518_e3e0] {
            assert_eq!(registers(word), None, "{word:08x}");
        }
    }
}
