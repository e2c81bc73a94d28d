//! aarch64: operations on vectors, in one instruction or in few where x86-64 has one.

use super::encoding::{self as encode, binary, unary};
use super::masm::{Assembler, v};
use super::registers::{V29, V30};
use crate::masm::{LaneOp, LaneType, Reg, VectorAssembler};

// The words have lanes of 8 bits, or single precision.
const ADD: u32 = 0x4e20_8400;
const SUBTRACT: u32 = 0x6e20_8400;
const MULTIPLY: u32 = 0x4e20_9c00;
const ADD_SATURATED: u32 = 0x4e20_0c00;
const SUBTRACT_SATURATED: u32 = 0x4e20_2c00;
const AVERAGE: u32 = 0x6e20_1400;
const MINIMUM: u32 = 0x4e20_6c00;
const MAXIMUM: u32 = 0x4e20_6400;
const EQUAL: u32 = 0x6e20_8c00;
const GREATER: u32 = 0x4e20_3400;
const GREATER_OR_EQUAL: u32 = 0x4e20_3c00;
/// Added to those that differ: the lanes are unsigned.
const UNSIGNED: u32 = 1 << 29;
const FLOAT_ADD: u32 = 0x4e20_d400;
const FLOAT_SUBTRACT: u32 = 0x4ea0_d400;
const FLOAT_MULTIPLY: u32 = 0x6e20_dc00;
const FLOAT_DIVIDE: u32 = 0x6e20_fc00;
const FLOAT_EQUAL: u32 = 0x4e20_e400;
const FLOAT_GREATER_OR_EQUAL: u32 = 0x6e20_e400;
const FLOAT_GREATER: u32 = 0x6ea0_e400;

/// `smull`, `smull2`: products of the lower or the upper four lanes of 16 bits.
const MULTIPLY_LOW: u32 = 0x0e60_c000;
const MULTIPLY_UPPER: u32 = 0x4e60_c000;
/// `mul` of lanes of 16 bits.
const MULTIPLY_HALVES: u32 = MULTIPLY | 1 << 22;
/// `uzp1` and `uzp2` of lanes of 16 bits: those with even, or with odd, numbers of both.
const EVEN: u32 = 0x4e40_1800;
const ODD: u32 = 0x4e40_5800;
/// `addp` of lanes of 32 bits.
const ADD_PAIRS: u32 = 0x4ea0_bc00;
/// `sqadd` of lanes of 16 bits.
const ADD_SATURATED_HALVES: u32 = ADD_SATURATED | 1 << 22;
/// `sshll` and `sshll2` by 0: eight bytes as lanes of 16 bits.
const WIDEN_LOW: u32 = 0x0f08_a400;
const WIDEN_UPPER: u32 = 0x4f08_a400;

/// The bits for lanes of integers; None for other lanes.
fn integers(ty: LaneType) -> Option<(u32, bool)> {
    Some(match ty {
        LaneType::I8 => (0, false),
        LaneType::U8 => (0, true),
        LaneType::I16 => (1, false),
        LaneType::U16 => (1, true),
        LaneType::I32 => (2, false),
        LaneType::U32 => (2, true),
        LaneType::I64 => (3, false),
        LaneType::U64 => (3, true),
        LaneType::Bits | LaneType::F32 | LaneType::F64 => return None,
    })
}

impl<T: Copy + PartialEq> Assembler<T> {
    fn integer_lanes(&mut self, op: LaneOp, ty: LaneType, left: u32, right: u32) -> Option<()> {
        let (log2_bytes, is_unsigned) = integers(ty)?;
        let unsigned = if is_unsigned { UNSIGNED } else { 0 };
        let word = match op {
            LaneOp::Add => ADD,
            LaneOp::Subtract => SUBTRACT,
            LaneOp::AddSaturated => ADD_SATURATED | unsigned,
            LaneOp::SubtractSaturated => SUBTRACT_SATURATED | unsigned,
            LaneOp::Equal => EQUAL,
            LaneOp::Greater => GREATER | unsigned,
            LaneOp::Multiply if log2_bytes < 3 => MULTIPLY,
            LaneOp::Minimum if log2_bytes < 3 => MINIMUM | unsigned,
            LaneOp::Maximum if log2_bytes < 3 => MAXIMUM | unsigned,
            LaneOp::Average if is_unsigned && log2_bytes < 2 => AVERAGE,
            LaneOp::LessOrEqual => {
                self.put(binary(GREATER_OR_EQUAL | unsigned | log2_bytes << 22, left, right, left));
                return Some(());
            }
            LaneOp::MultiplyHigh if log2_bytes == 1 => {
                self.put(binary(MULTIPLY_LOW | unsigned, v(V30), left, right));
                self.put(binary(MULTIPLY_UPPER | unsigned, left, left, right));
                self.put(binary(ODD, left, v(V30), left));
                return Some(());
            }
            LaneOp::ShuffleBytes if log2_bytes == 0 => {
                // `tbl` gives zero for every number that names no byte.
                self.put(encode::VECTOR_BYTES_8F | v(V30));
                self.put(binary(encode::VECTOR_AND, v(V30), v(V30), right));
                self.put(binary(encode::VECTOR_TABLE, left, left, v(V30)));
                return Some(());
            }
            LaneOp::MultiplyAddPairs => return self.multiply_add_pairs(ty, left, right),
            _ => return None,
        };
        self.put(binary(word | log2_bytes << 22, left, left, right));
        Some(())
    }

    fn multiply_add_pairs(&mut self, ty: LaneType, left: u32, right: u32) -> Option<()> {
        let (low, other) = (v(V30), v(V29));
        match ty {
            LaneType::I16 => {
                self.put(binary(MULTIPLY_LOW, low, left, right));
                self.put(binary(MULTIPLY_UPPER, left, left, right));
                self.put(binary(ADD_PAIRS, left, low, left));
            }
            LaneType::U8 => {
                // The products of unsigned bytes with signed ones fit in 16 bits, their sums may not.
                self.put(unary(WIDEN_LOW | UNSIGNED, low, left));
                self.put(unary(WIDEN_LOW, other, right));
                self.put(binary(MULTIPLY_HALVES, low, low, other));
                self.put(unary(WIDEN_UPPER | UNSIGNED, left, left));
                self.put(unary(WIDEN_UPPER, other, right));
                self.put(binary(MULTIPLY_HALVES, left, left, other));
                self.put(binary(EVEN, other, low, left));
                self.put(binary(ODD, left, low, left));
                self.put(binary(ADD_SATURATED_HALVES, left, left, other));
            }
            _ => return None,
        }
        Some(())
    }

    fn float_lanes(&mut self, op: LaneOp, ty: LaneType, left: u32, right: u32) -> Option<()> {
        let precision = match ty {
            LaneType::F32 => 0,
            LaneType::F64 => 1 << 22,
            _ => return None,
        };
        let (word, is_swapped) = match op {
            LaneOp::Add => (FLOAT_ADD, false),
            LaneOp::Subtract => (FLOAT_SUBTRACT, false),
            LaneOp::Multiply => (FLOAT_MULTIPLY, false),
            LaneOp::Divide => (FLOAT_DIVIDE, false),
            LaneOp::Equal => (FLOAT_EQUAL, false),
            LaneOp::Less => (FLOAT_GREATER, true),
            LaneOp::LessOrEqual => (FLOAT_GREATER_OR_EQUAL, true),
            _ => return None,
        };
        let (a, b) = if is_swapped { (right, left) } else { (left, right) };
        self.put(binary(word | precision, left, a, b));
        Some(())
    }
}

impl<T: Copy + PartialEq> VectorAssembler for Assembler<T> {
    fn lanes(&mut self, op: LaneOp, ty: LaneType, left: Reg, right: Reg) -> bool {
        let (left, right) = (v(left), v(right));
        let word = match (op, ty) {
            (LaneOp::And, LaneType::Bits) => encode::VECTOR_AND,
            (LaneOp::Or, LaneType::Bits) => encode::VECTOR_OR,
            (LaneOp::ExclusiveOr, LaneType::Bits) => encode::VECTOR_EXCLUSIVE_OR,
            (_, LaneType::F32 | LaneType::F64) => return self.float_lanes(op, ty, left, right).is_some(),
            _ => return self.integer_lanes(op, ty, left, right).is_some(),
        };
        self.put(binary(word, left, left, right));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masm::MacroAssembler;

    #[test]
    fn words_are_those_of_gnu_as() {
        let operations: [(&str, LaneOp, LaneType, &[u32]); 23] = [
            ("add v1.4s, v1.4s, v2.4s", LaneOp::Add, LaneType::I32, &[0x4ea2_8421]),
            ("sub v1.2d, v1.2d, v2.2d", LaneOp::Subtract, LaneType::U64, &[0x6ee2_8421]),
            ("mul v1.8h, v1.8h, v2.8h", LaneOp::Multiply, LaneType::I16, &[0x4e62_9c21]),
            ("sqadd v1.16b, v1.16b, v2.16b", LaneOp::AddSaturated, LaneType::I8, &[0x4e22_0c21]),
            ("uqsub v1.8h, v1.8h, v2.8h", LaneOp::SubtractSaturated, LaneType::U16, &[0x6e62_2c21]),
            ("urhadd v1.16b, v1.16b, v2.16b", LaneOp::Average, LaneType::U8, &[0x6e22_1421]),
            ("smin v1.4s, v1.4s, v2.4s", LaneOp::Minimum, LaneType::I32, &[0x4ea2_6c21]),
            ("umax v1.16b, v1.16b, v2.16b", LaneOp::Maximum, LaneType::U8, &[0x6e22_6421]),
            ("cmeq v1.2d, v1.2d, v2.2d", LaneOp::Equal, LaneType::I64, &[0x6ee2_8c21]),
            ("cmgt v1.8h, v1.8h, v2.8h", LaneOp::Greater, LaneType::I16, &[0x4e62_3421]),
            ("cmhi v1.4s, v1.4s, v2.4s", LaneOp::Greater, LaneType::U32, &[0x6ea2_3421]),
            ("cmge v1.4s, v2.4s, v1.4s", LaneOp::LessOrEqual, LaneType::I32, &[0x4ea1_3c41]),
            ("fadd v1.4s, v1.4s, v2.4s", LaneOp::Add, LaneType::F32, &[0x4e22_d421]),
            ("fsub v1.2d, v1.2d, v2.2d", LaneOp::Subtract, LaneType::F64, &[0x4ee2_d421]),
            ("fmul v1.4s, v1.4s, v2.4s", LaneOp::Multiply, LaneType::F32, &[0x6e22_dc21]),
            ("fdiv v1.2d, v1.2d, v2.2d", LaneOp::Divide, LaneType::F64, &[0x6e62_fc21]),
            ("fcmeq v1.4s, v1.4s, v2.4s", LaneOp::Equal, LaneType::F32, &[0x4e22_e421]),
            ("fcmgt v1.2d, v2.2d, v1.2d", LaneOp::Less, LaneType::F64, &[0x6ee1_e441]),
            ("fcmge v1.4s, v2.4s, v1.4s", LaneOp::LessOrEqual, LaneType::F32, &[0x6e21_e441]),
            (
                "umull v30.4s, v1.4h, v2.4h …",
                LaneOp::MultiplyHigh,
                LaneType::U16,
                &[0x2e62_c03e, 0x6e62_c021, 0x4e41_5bc1],
            ),
            ("movi v30.16b, #0x8f …", LaneOp::ShuffleBytes, LaneType::U8, &[0x4f04_e5fe, 0x4e22_1fde, 0x4e1e_0021]),
            (
                "smull v30.4s, v1.4h, v2.4h …",
                LaneOp::MultiplyAddPairs,
                LaneType::I16,
                &[0x0e62_c03e, 0x4e62_c021, 0x4ea1_bfc1],
            ),
            (
                "uxtl v30.8h, v1.8b …",
                LaneOp::MultiplyAddPairs,
                LaneType::U8,
                &[
                    0x2f08_a43e,
                    0x0f08_a45d,
                    0x4e7d_9fde,
                    0x6f08_a421,
                    0x4f08_a45d,
                    0x4e7d_9c21,
                    0x4e41_1bdd,
                    0x4e41_5bc1,
                    0x4e7d_0c21,
                ],
            ),
        ];
        for (text, op, ty, expected) in operations {
            let mut code = Assembler::<()>::default();
            assert!(code.lanes(op, ty, Reg::float(1), Reg::float(2)), "{text}");
            let body = code.finish(0, 0).expect("no jumps");
            let (words, _) = body.bytes[body.prologue_bytes as usize..].as_chunks();
            let words: Vec<u32> = words.iter().map(|&word| u32::from_le_bytes(word)).collect();
            assert_eq!(words, expected, "{text}: {words:x?}");
        }
    }
}
