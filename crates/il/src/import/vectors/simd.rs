//! Rows for Mono.Simd.
//!
//! Invariant: every method with an AccelerationAttribute has a row that is not `AsWritten`, or only copies from one
//! place to another. `SimdRuntime.IsMethodAccelerated` answers by these attributes, so its answer is true.

use super::rows::Param::{Array, EachLane, Int, Lane, Named, Own, OwnPointer};
use super::rows::VectorCall::{self as C, AsWritten};
use super::rows::{LaneSet, Param, Permutation as P, VectorRow, VectorRows};
use crate::ir::Lanes as L;
use crate::ir::VectorOp as V;
use crate::vector_types::Family::MonoSimd;

const NONE: &[Param] = &[];
const A: &[Param] = &[Own];
const AB: &[Param] = &[Own, Own];
const BY: &[Param] = &[Own, Int];
const SELECTED: Param = Named("ShuffleSel");

const BYTES: LaneSet = LaneSet::of(&[L::I8, L::U8]);
const NARROW: LaneSet = LaneSet::of(&[L::I8, L::U8, L::I16, L::U16]);
const WORDS: LaneSet = LaneSet::of(&[L::I16, L::U16]);
const FOURS: LaneSet = LaneSet::of(&[L::I32, L::U32, L::F32]);
const TWOS: LaneSet = LaneSet::of(&[L::I64, L::U64, L::F64]);
const F32: LaneSet = LaneSet::of(&[L::F32]);
const F64: LaneSet = LaneSet::of(&[L::F64]);
const I32: LaneSet = LaneSet::of(&[L::I32]);
const U8: LaneSet = LaneSet::of(&[L::U8]);
const NARROW_UNSIGNED: LaneSet = LaneSet::of(&[L::U8, L::U16]);
const PACKED_SIGNED: LaneSet = LaneSet::of(&[L::I16, L::I32]);
const PACKED_UNSIGNED: LaneSet = LaneSet::of(&[L::U16, L::U32]);
const INTS: LaneSet = LaneSet::of(&[L::I32, L::U32]);
const LONGS: LaneSet = LaneSet::of(&[L::I64, L::U64]);
const SIGNED: LaneSet = LaneSet::of(&[L::I16, L::I32, L::I64]);
const UNSIGNED: LaneSet = LaneSet::of(&[L::U16, L::U32]);
const SHIFTED_RIGHT: LaneSet = LaneSet::of(&[L::I16, L::I32]);
const SHIFTED_RIGHT_UNSIGNED: LaneSet = LaneSet::of(&[L::U16, L::U32, L::U64]);
const SHIFTED_LEFT: LaneSet = LaneSet::of(&[L::I16, L::U16, L::I32, L::U32, L::I64, L::U64]);
const MULTIPLIED: LaneSet = LaneSet::of(&[L::I16, L::U16, L::I32, L::U32, L::F32, L::F64]);

/// The permutation that interleaves lanes of this many bytes of two operands, beginning at the first lane of each or,
/// if `is_high`, at the middle.
pub(super) const fn interleaved(lane_bytes: u8, is_high: bool) -> [u8; 16] {
    let mut bytes = [0; 16];
    let mut at = 0;
    while at < 16 {
        let (lane, byte) = (at / lane_bytes, at % lane_bytes);
        let from = lane / 2 * lane_bytes + byte + if is_high { 8 } else { 0 };
        bytes[at as usize] = if lane.is_multiple_of(2) { from } else { from + 16 };
        at += 1;
    }
    bytes
}

/// Lanes of 4 bytes, by number.
const fn lanes4(lanes: [u8; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    let mut at = 0;
    while at < 16 {
        bytes[at] = lanes[at / 4] * 4 + (at % 4) as u8;
        at += 1;
    }
    bytes
}

pub(super) const GROUPS: &[VectorRows] = &[
    VectorRows {
        family: MonoSimd,
        types: &[
            "Vector16b",
            "Vector16sb",
            "Vector8us",
            "Vector8s",
            "Vector4ui",
            "Vector4i",
            "Vector2ul",
            "Vector2l",
            "Vector4f",
            "Vector2d",
        ],
        rows: TYPES,
    },
    VectorRows { family: MonoSimd, types: &["VectorOperations"], rows: OPERATIONS },
    VectorRows { family: MonoSimd, types: &["ArrayExtensions"], rows: ARRAYS },
    VectorRows { family: MonoSimd, types: &["SimdRuntime"], rows: RUNTIME },
];

const TYPES: &[VectorRow] = &[
    VectorRow::new(".ctor", &[Lane], C::Splat),
    VectorRow::new(".ctor", &[EachLane], C::Elements),
    VectorRow::new("get_Component", &[Int], C::Component),
    VectorRow::new("set_Component", &[Int, Lane], C::SetComponent),
    VectorRow::new("op_Addition", AB, C::Binary(V::Add)),
    VectorRow::new("op_Subtraction", AB, C::Binary(V::Sub)),
    VectorRow::new("op_Multiply", AB, C::Binary(V::Mul)).of(MULTIPLIED),
    VectorRow::new("op_Multiply", &[Lane, Own], C::OfScalar(V::Mul)).of(F32),
    VectorRow::new("op_Multiply", &[Own, Lane], C::ScalarFirst(V::Mul)).of(F32),
    VectorRow::new("op_Division", AB, C::Binary(V::Div)).of(LaneSet::FLOATS),
    VectorRow::new("op_BitwiseAnd", AB, C::Binary(V::And)),
    VectorRow::new("op_BitwiseOr", AB, C::Binary(V::Or)),
    VectorRow::new("op_ExclusiveOr", AB, C::Binary(V::Xor)),
    VectorRow::new("op_LeftShift", BY, C::Shift(V::ShiftLeft)).of(SHIFTED_LEFT),
    VectorRow::new("op_RightShift", BY, C::Shift(V::ShiftRight)).of(SHIFTED_RIGHT),
    VectorRow::new("op_RightShift", BY, C::Shift(V::ShiftRightLogical)).of(SHIFTED_RIGHT_UNSIGNED),
    VectorRow::new("op_Equality", AB, C::AllEqual(true)),
    VectorRow::new("op_Inequality", AB, C::AllEqual(false)),
    VectorRow::new("op_Explicit", A, C::Reinterpret),
    VectorRow::new("LoadAligned", &[OwnPointer], AsWritten),
    VectorRow::new("StoreAligned", &[OwnPointer, Own], AsWritten),
    VectorRow::new("PrefetchTemporalAllCacheLevels", &[OwnPointer], C::Nothing),
    VectorRow::new("PrefetchTemporal1stLevelCache", &[OwnPointer], C::Nothing),
    VectorRow::new("PrefetchTemporal2ndLevelCache", &[OwnPointer], C::Nothing),
    VectorRow::new("PrefetchNonTemporal", &[OwnPointer], C::Nothing),
];

const OPERATIONS: &[VectorRow] = &[
    VectorRow::new("AndNot", AB, C::Swapped(V::AndNot)).of(LaneSet::FLOATS),
    VectorRow::new("ArithmeticRightShift", BY, C::Shift(V::ShiftRight)).of(UNSIGNED),
    VectorRow::new("LogicalRightShift", BY, C::Shift(V::ShiftRightLogical)).of(SIGNED),
    VectorRow::new("ExtractByteMask", A, C::Unary(V::HighBits)).of(BYTES),
    VectorRow::new("AddWithSaturation", AB, C::Binary(V::AddSaturated)).of(NARROW),
    VectorRow::new("SubtractWithSaturation", AB, C::Binary(V::SubSaturated)).of(NARROW),
    VectorRow::new("MultiplyStoreHigh", AB, C::Binary(V::MultiplyHigh)).of(WORDS),
    VectorRow::new("Average", AB, C::Binary(V::Average)).of(NARROW_UNSIGNED),
    VectorRow::new("SumOfAbsoluteDifferences", &[Own, Named("Vector16sb")], C::Differences).of(U8),
    VectorRow::new("Sqrt", A, C::Unary(V::Sqrt)).of(LaneSet::FLOATS),
    VectorRow::new("InvSqrt", A, C::InverseRoot).of(F32),
    VectorRow::new("Reciprocal", A, C::Reciprocal).of(F32),
    VectorRow::new("Max", AB, C::Propagating(V::Max)).of(LaneSet::FLOATS),
    VectorRow::new("Min", AB, C::Propagating(V::Min)).of(LaneSet::FLOATS),
    VectorRow::new("Max", AB, C::Binary(V::Max)).of(LaneSet::INTEGERS),
    VectorRow::new("Min", AB, C::Binary(V::Min)).of(LaneSet::INTEGERS),
    VectorRow::new("HorizontalAdd", AB, C::Pairwise(V::Add)).of(LaneSet::FLOATS),
    VectorRow::new("HorizontalSub", AB, C::Pairwise(V::Sub)).of(LaneSet::FLOATS),
    VectorRow::new("AddSub", AB, C::SubtractAdd).of(LaneSet::FLOATS),
    VectorRow::new("CompareEqual", AB, C::Binary(V::Eq)),
    VectorRow::new("CompareLessThan", AB, C::Binary(V::Lt)).of(LaneSet::FLOATS),
    VectorRow::new("CompareLessEqual", AB, C::Binary(V::Le)).of(LaneSet::FLOATS),
    VectorRow::new("CompareGreaterThan", AB, C::Binary(V::Gt)).of(LaneSet::SIGNED),
    VectorRow::new("CompareUnordered", AB, C::Binary(V::Unordered)).of(LaneSet::FLOATS),
    VectorRow::new("CompareNotEqual", AB, C::Complement(V::Eq)).of(LaneSet::FLOATS),
    VectorRow::new("CompareNotLessThan", AB, C::Complement(V::Lt)).of(LaneSet::FLOATS),
    VectorRow::new("CompareNotLessEqual", AB, C::Complement(V::Le)).of(LaneSet::FLOATS),
    VectorRow::new("CompareOrdered", AB, C::Complement(V::Unordered)).of(LaneSet::FLOATS),
    VectorRow::new("InterleaveHigh", AB, C::Permute(interleaved(4, true))).of(F32),
    VectorRow::new("InterleaveLow", AB, C::Permute(interleaved(4, false))).of(F32),
    VectorRow::new("InterleaveHigh", AB, C::Permute(interleaved(8, true))).of(F64),
    VectorRow::new("InterleaveLow", AB, C::Permute(interleaved(8, false))).of(F64),
    VectorRow::new("UnpackHigh", AB, C::Permute(interleaved(1, true))).of(BYTES),
    VectorRow::new("UnpackLow", AB, C::Permute(interleaved(1, false))).of(BYTES),
    VectorRow::new("UnpackHigh", AB, C::Permute(interleaved(2, true))).of(WORDS),
    VectorRow::new("UnpackLow", AB, C::Permute(interleaved(2, false))).of(WORDS),
    VectorRow::new("UnpackHigh", AB, C::Permute(interleaved(4, true))).of(INTS),
    VectorRow::new("UnpackLow", AB, C::Permute(interleaved(4, false))).of(INTS),
    VectorRow::new("UnpackHigh", AB, C::Permute(interleaved(8, true))).of(LONGS),
    VectorRow::new("UnpackLow", AB, C::Permute(interleaved(8, false))).of(LONGS),
    VectorRow::new("Duplicate", A, C::Permute(lanes4([0, 1, 0, 1]))).of(F64),
    VectorRow::new("DuplicateLow", A, C::Permute(lanes4([0, 0, 2, 2]))).of(F32),
    VectorRow::new("DuplicateHigh", A, C::Permute(lanes4([1, 1, 3, 3]))).of(F32),
    VectorRow::new("Shuffle", &[Own, Own, SELECTED], C::PermuteBy(P::Lanes)).of(FOURS),
    VectorRow::new("Shuffle", &[Own, SELECTED], C::PermuteBy(P::Lanes)).of(FOURS),
    VectorRow::new("Shuffle", &[Own, Own, Int], C::PermuteBy(P::Lanes)).of(TWOS),
    VectorRow::new("ShuffleHigh", &[Own, SELECTED], C::PermuteBy(P::High)).of(WORDS),
    VectorRow::new("ShuffleLow", &[Own, SELECTED], C::PermuteBy(P::Low)).of(WORDS),
    VectorRow::new("PackWithUnsignedSaturation", AB, C::Binary(V::PackUnsigned)).of(PACKED_SIGNED),
    VectorRow::new("PackWithSignedSaturation", AB, C::Binary(V::PackSigned)).of(PACKED_SIGNED),
    VectorRow::new("SignedPackWithUnsignedSaturation", AB, C::Binary(V::PackUnsigned)).of(PACKED_UNSIGNED),
    VectorRow::new("SignedPackWithSignedSaturation", AB, C::Binary(V::PackSigned)).of(PACKED_UNSIGNED),
    VectorRow::new("ConvertToFloat", A, C::Convert(V::ToFloat)).of(I32),
    VectorRow::new("ConvertToFloat", A, C::Convert(V::ToSingle)).of(F64),
    VectorRow::new("ConvertToDouble", A, C::Convert(V::ToDouble)).of(I32),
    VectorRow::new("ConvertToDouble", A, C::Convert(V::WidenLow)).of(F32),
    VectorRow::new("ConvertToInt", A, C::Rounded).of(LaneSet::FLOATS),
    VectorRow::new("ConvertToIntTruncated", A, C::Convert(V::ToInteger)).of(F32),
    VectorRow::new("ConvertToIntTruncated", A, C::Truncated).of(F64),
];

const ARRAYS: &[VectorRow] = &[
    VectorRow::new("GetVector", &[Array, Int], C::ArrayPart),
    VectorRow::new("GetVectorAligned", &[Array, Int], C::ArrayPart),
    VectorRow::new("SetVector", &[Array, Own, Int], C::SetArray),
    VectorRow::new("SetVectorAligned", &[Array, Own, Int], C::SetArray),
];

const RUNTIME: &[VectorRow] = &[VectorRow::new("get_AccelMode", NONE, C::AccelerationMode)];
