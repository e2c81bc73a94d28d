//! Rows for Mono.Simd.
//!
//! Invariant: every method with an AccelerationAttribute has a row that is not `AsWritten`, or only copies from one place to another.
//! `SimdRuntime.IsMethodAccelerated` answers by these attributes, so its answer is true.

use super::table::Param::{Array, EachLane, Int, Lane, Named, Own, OwnPointer};
use super::table::VectorCall::{self as C, AsWritten};
use super::table::{Group, LaneSet, Param, Permutation as P, Row};
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

/// The permutation that interleaves lanes of this many bytes of two operands, beginning at the first lane of each or, if `is_high`, at the middle.
const fn interleaved(lane_bytes: u8, is_high: bool) -> [u8; 16] {
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

pub(super) const GROUPS: &[Group] = &[
    Group {
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
    Group { family: MonoSimd, types: &["VectorOperations"], rows: OPERATIONS },
    Group { family: MonoSimd, types: &["ArrayExtensions"], rows: ARRAYS },
    Group { family: MonoSimd, types: &["SimdRuntime"], rows: RUNTIME },
];

const TYPES: &[Row] = &[
    Row::new(".ctor", &[Lane], C::Splat),
    Row::new(".ctor", &[EachLane], C::Elements),
    Row::new("get_Component", &[Int], C::Component),
    Row::new("set_Component", &[Int, Lane], C::SetComponent),
    Row::new("op_Addition", AB, C::Binary(V::Add)),
    Row::new("op_Subtraction", AB, C::Binary(V::Sub)),
    Row::new("op_Multiply", AB, C::Binary(V::Mul)).of(MULTIPLIED),
    Row::new("op_Multiply", &[Lane, Own], C::OfScalar(V::Mul)).of(F32),
    Row::new("op_Multiply", &[Own, Lane], C::ScalarFirst(V::Mul)).of(F32),
    Row::new("op_Division", AB, C::Binary(V::Div)).of(LaneSet::FLOATS),
    Row::new("op_BitwiseAnd", AB, C::Binary(V::And)),
    Row::new("op_BitwiseOr", AB, C::Binary(V::Or)),
    Row::new("op_ExclusiveOr", AB, C::Binary(V::Xor)),
    Row::new("op_LeftShift", BY, C::Shift(V::ShiftLeft)).of(SHIFTED_LEFT),
    Row::new("op_RightShift", BY, C::Shift(V::ShiftRight)).of(SHIFTED_RIGHT),
    Row::new("op_RightShift", BY, C::Shift(V::ShiftRightLogical)).of(SHIFTED_RIGHT_UNSIGNED),
    Row::new("op_Equality", AB, C::AllEqual(true)),
    Row::new("op_Inequality", AB, C::AllEqual(false)),
    Row::new("op_Explicit", A, C::Reinterpret),
    Row::new("LoadAligned", &[OwnPointer], AsWritten),
    Row::new("StoreAligned", &[OwnPointer, Own], AsWritten),
    Row::new("PrefetchTemporalAllCacheLevels", &[OwnPointer], C::Nothing),
    Row::new("PrefetchTemporal1stLevelCache", &[OwnPointer], C::Nothing),
    Row::new("PrefetchTemporal2ndLevelCache", &[OwnPointer], C::Nothing),
    Row::new("PrefetchNonTemporal", &[OwnPointer], C::Nothing),
];

const OPERATIONS: &[Row] = &[
    Row::new("AndNot", AB, C::Swapped(V::AndNot)).of(LaneSet::FLOATS),
    Row::new("ArithmeticRightShift", BY, C::Shift(V::ShiftRight)).of(UNSIGNED),
    Row::new("LogicalRightShift", BY, C::Shift(V::ShiftRightLogical)).of(SIGNED),
    Row::new("ExtractByteMask", A, C::Unary(V::HighBits)).of(BYTES),
    Row::new("AddWithSaturation", AB, C::Binary(V::AddSaturated)).of(NARROW),
    Row::new("SubtractWithSaturation", AB, C::Binary(V::SubSaturated)).of(NARROW),
    Row::new("MultiplyStoreHigh", AB, C::Binary(V::MultiplyHigh)).of(WORDS),
    Row::new("Average", AB, C::Binary(V::Average)).of(NARROW_UNSIGNED),
    Row::new("SumOfAbsoluteDifferences", &[Own, Named("Vector16sb")], C::Differences).of(U8),
    Row::new("Sqrt", A, C::Unary(V::Sqrt)).of(LaneSet::FLOATS),
    Row::new("InvSqrt", A, C::InverseRoot).of(F32),
    Row::new("Reciprocal", A, C::Reciprocal).of(F32),
    Row::new("Max", AB, C::Propagating(V::Max)).of(LaneSet::FLOATS),
    Row::new("Min", AB, C::Propagating(V::Min)).of(LaneSet::FLOATS),
    Row::new("Max", AB, C::Binary(V::Max)).of(LaneSet::INTEGERS),
    Row::new("Min", AB, C::Binary(V::Min)).of(LaneSet::INTEGERS),
    Row::new("HorizontalAdd", AB, C::Pairwise(V::Add)).of(LaneSet::FLOATS),
    Row::new("HorizontalSub", AB, C::Pairwise(V::Sub)).of(LaneSet::FLOATS),
    Row::new("AddSub", AB, C::SubtractAdd).of(LaneSet::FLOATS),
    Row::new("CompareEqual", AB, C::Binary(V::Eq)),
    Row::new("CompareLessThan", AB, C::Binary(V::Lt)).of(LaneSet::FLOATS),
    Row::new("CompareLessEqual", AB, C::Binary(V::Le)).of(LaneSet::FLOATS),
    Row::new("CompareGreaterThan", AB, C::Binary(V::Gt)).of(LaneSet::SIGNED),
    Row::new("CompareUnordered", AB, C::Binary(V::Unordered)).of(LaneSet::FLOATS),
    Row::new("CompareNotEqual", AB, C::Complement(V::Eq)).of(LaneSet::FLOATS),
    Row::new("CompareNotLessThan", AB, C::Complement(V::Lt)).of(LaneSet::FLOATS),
    Row::new("CompareNotLessEqual", AB, C::Complement(V::Le)).of(LaneSet::FLOATS),
    Row::new("CompareOrdered", AB, C::Complement(V::Unordered)).of(LaneSet::FLOATS),
    Row::new("InterleaveHigh", AB, C::Permute(interleaved(4, true))).of(F32),
    Row::new("InterleaveLow", AB, C::Permute(interleaved(4, false))).of(F32),
    Row::new("InterleaveHigh", AB, C::Permute(interleaved(8, true))).of(F64),
    Row::new("InterleaveLow", AB, C::Permute(interleaved(8, false))).of(F64),
    Row::new("UnpackHigh", AB, C::Permute(interleaved(1, true))).of(BYTES),
    Row::new("UnpackLow", AB, C::Permute(interleaved(1, false))).of(BYTES),
    Row::new("UnpackHigh", AB, C::Permute(interleaved(2, true))).of(WORDS),
    Row::new("UnpackLow", AB, C::Permute(interleaved(2, false))).of(WORDS),
    Row::new("UnpackHigh", AB, C::Permute(interleaved(4, true))).of(INTS),
    Row::new("UnpackLow", AB, C::Permute(interleaved(4, false))).of(INTS),
    Row::new("UnpackHigh", AB, C::Permute(interleaved(8, true))).of(LONGS),
    Row::new("UnpackLow", AB, C::Permute(interleaved(8, false))).of(LONGS),
    Row::new("Duplicate", A, C::Permute(lanes4([0, 1, 0, 1]))).of(F64),
    Row::new("DuplicateLow", A, C::Permute(lanes4([0, 0, 2, 2]))).of(F32),
    Row::new("DuplicateHigh", A, C::Permute(lanes4([1, 1, 3, 3]))).of(F32),
    Row::new("Shuffle", &[Own, Own, SELECTED], C::PermuteBy(P::Lanes)).of(FOURS),
    Row::new("Shuffle", &[Own, SELECTED], C::PermuteBy(P::Lanes)).of(FOURS),
    Row::new("Shuffle", &[Own, Own, Int], C::PermuteBy(P::Lanes)).of(TWOS),
    Row::new("ShuffleHigh", &[Own, SELECTED], C::PermuteBy(P::High)).of(WORDS),
    Row::new("ShuffleLow", &[Own, SELECTED], C::PermuteBy(P::Low)).of(WORDS),
    Row::new("PackWithUnsignedSaturation", AB, C::Binary(V::PackUnsigned)).of(PACKED_SIGNED),
    Row::new("PackWithSignedSaturation", AB, C::Binary(V::PackSigned)).of(PACKED_SIGNED),
    Row::new("SignedPackWithUnsignedSaturation", AB, C::Binary(V::PackUnsigned)).of(PACKED_UNSIGNED),
    Row::new("SignedPackWithSignedSaturation", AB, C::Binary(V::PackSigned)).of(PACKED_UNSIGNED),
    Row::new("ConvertToFloat", A, C::Convert(V::ToFloat)).of(I32),
    Row::new("ConvertToFloat", A, C::Convert(V::ToSingle)).of(F64),
    Row::new("ConvertToDouble", A, C::Convert(V::ToDouble)).of(I32),
    Row::new("ConvertToDouble", A, C::Convert(V::WidenLow)).of(F32),
    Row::new("ConvertToInt", A, C::Rounded).of(LaneSet::FLOATS),
    Row::new("ConvertToIntTruncated", A, C::Convert(V::ToInteger)).of(F32),
    Row::new("ConvertToIntTruncated", A, C::Truncated).of(F64),
];

const ARRAYS: &[Row] = &[
    Row::new("GetVector", &[Array, Int], C::ArrayPart),
    Row::new("GetVectorAligned", &[Array, Int], C::ArrayPart),
    Row::new("SetVector", &[Array, Own, Int], C::SetArray),
    Row::new("SetVectorAligned", &[Array, Own, Int], C::SetArray),
];

const RUNTIME: &[Row] = &[Row::new("get_AccelMode", NONE, C::AccelerationMode)];
