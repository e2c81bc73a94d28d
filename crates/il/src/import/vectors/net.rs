//! Rows for .NET's vectors of 16 bytes, and for those of x86's instructions that its core assembly uses.
//!
//! The rows of `Vector128<T>` and of `Vector<T>` are the same; methods that are not listed run as the class library
//! wrote them, in terms of the others, or lane by lane. The rows of instructions hold inside the core assembly alone
//! (`Emitter::intrinsic_of`): these classes have hundreds of methods more, so that a program that asks is told that
//! they are not supported.
//!
//! Invariant: of a class with a row `get_IsSupported`, each method that the core assembly calls has a row.

use super::rows::Param::{Any, Byte, EachLane, HalfOfOwn, Int, Lane, LanePointer, NativeInt, Own, Pointer};
use super::rows::VectorCall as C;
use super::rows::{LaneSet, Param, VectorRow, VectorRows};
use super::simd::interleaved;
use crate::ir::ConvTarget as T;
use crate::ir::Lanes as L;
use crate::ir::UnOp;
use crate::ir::VectorOp as V;
use crate::vector_types::Family::Net;

const NONE: &[Param] = &[];
const A: &[Param] = &[Own];
const AB: &[Param] = &[Own, Own];
const AS: &[Param] = &[Own, Lane];
const SA: &[Param] = &[Lane, Own];
const BY: &[Param] = &[Own, Int];

const FLOATS: LaneSet = LaneSet::FLOATS;
const INTEGERS: LaneSet = LaneSet::INTEGERS;
const SMALL: LaneSet = LaneSet::of(&[L::I8, L::U8, L::I16, L::U16, L::I32, L::U32, L::F32]);
const WIDE: LaneSet = LaneSet::of(&[L::I16, L::U16, L::I32, L::U32, L::I64, L::U64, L::F64]);
const NARROW: LaneSet = LaneSet::of(&[L::I8, L::U8, L::I16, L::U16]);
const BYTES: LaneSet = LaneSet::of(&[L::I8, L::U8]);
const WORDS: LaneSet = LaneSet::of(&[L::I16, L::U16]);
const FOURS: LaneSet = LaneSet::of(&[L::I32, L::U32]);
const LONGS: LaneSet = LaneSet::of(&[L::I64, L::U64]);
const SATURATED: LaneSet = LaneSet::of(&[L::I16, L::I32]);
const I16: LaneSet = LaneSet::of(&[L::I16]);
const I32: LaneSet = LaneSet::of(&[L::I32]);
const U8: LaneSet = LaneSet::of(&[L::U8]);
const U32: LaneSet = LaneSet::of(&[L::U32]);
const F32: LaneSet = LaneSet::of(&[L::F32]);

pub(super) const GROUPS: &[VectorRows] = &[
    VectorRows { family: Net, types: &["Vector128`1", "Vector`1"], rows: TYPE },
    VectorRows { family: Net, types: &["Vector128", "Vector"], rows: METHODS },
    VectorRows { family: Net, types: &["BitOperations"], rows: BITS },
    VectorRows { family: Net, types: &["Sse"], rows: SSE },
    VectorRows { family: Net, types: &["Sse2"], rows: SSE2 },
    VectorRows { family: Net, types: &["Ssse3"], rows: SSSE3 },
    VectorRows { family: Net, types: &["Sse41"], rows: SSE41 },
];

const TYPE: &[VectorRow] = &[
    VectorRow::new("get_Count", NONE, C::Constant(16)).of(BYTES),
    VectorRow::new("get_Count", NONE, C::Constant(8)).of(WORDS),
    VectorRow::new("get_Count", NONE, C::Constant(4)).of(LaneSet::of(&[L::I32, L::U32, L::F32])),
    VectorRow::new("get_Count", NONE, C::Constant(2)).of(LaneSet::of(&[L::I64, L::U64, L::F64])),
    VectorRow::new("get_IsSupported", NONE, C::Constant(1)),
    VectorRow::new("get_Zero", NONE, C::Bytes(0)),
    VectorRow::new("get_AllBitsSet", NONE, C::Bytes(0xff)),
    VectorRow::new("get_One", NONE, C::One),
    VectorRow::new(".ctor", &[Lane], C::Splat),
    VectorRow::new("op_Addition", AB, C::Binary(V::Add)),
    VectorRow::new("op_Subtraction", AB, C::Binary(V::Sub)),
    VectorRow::new("op_Multiply", AB, C::Binary(V::Mul)),
    VectorRow::new("op_Multiply", AS, C::ByScalar(V::Mul)),
    VectorRow::new("op_Multiply", SA, C::OfScalar(V::Mul)),
    VectorRow::new("op_Division", AB, C::Binary(V::Div)).of(FLOATS),
    VectorRow::new("op_Division", AS, C::ByScalar(V::Div)).of(FLOATS),
    VectorRow::new("op_UnaryNegation", A, C::Unary(V::Neg)),
    VectorRow::new("op_UnaryPlus", A, C::Reinterpret),
    VectorRow::new("op_BitwiseAnd", AB, C::Binary(V::And)),
    VectorRow::new("op_BitwiseOr", AB, C::Binary(V::Or)),
    VectorRow::new("op_ExclusiveOr", AB, C::Binary(V::Xor)),
    VectorRow::new("op_OnesComplement", A, C::Unary(V::Not)),
    VectorRow::new("op_LeftShift", BY, C::ShiftModulo(V::ShiftLeft)).of(INTEGERS),
    VectorRow::new("op_RightShift", BY, C::ShiftModulo(V::ShiftRight)).of(LaneSet::SIGNED),
    VectorRow::new("op_RightShift", BY, C::ShiftModulo(V::ShiftRightLogical)).of(LaneSet::UNSIGNED),
    VectorRow::new("op_UnsignedRightShift", BY, C::ShiftModulo(V::ShiftRightLogical)).of(INTEGERS),
    VectorRow::new("op_Equality", AB, C::AllEqual(true)),
    VectorRow::new("op_Inequality", AB, C::AllEqual(false)),
    VectorRow::new("op_Explicit", A, C::Reinterpret),
];

const METHODS: &[VectorRow] = &[
    VectorRow::new("get_IsHardwareAccelerated", NONE, C::Constant(1)),
    VectorRow::new("Abs", A, C::Unary(V::Abs)),
    VectorRow::new("Add", AB, C::Binary(V::Add)),
    VectorRow::new("AddSaturate", AB, C::Binary(V::AddSaturated)).of(NARROW),
    VectorRow::new("AndNot", AB, C::Binary(V::AndNot)),
    VectorRow::new("As", A, C::Reinterpret),
    VectorRow::new("AsVector", A, C::Reinterpret),
    VectorRow::new("AsVector128", A, C::Reinterpret),
    VectorRow::new("AsByte", A, C::Reinterpret),
    VectorRow::new("AsVectorByte", A, C::Reinterpret),
    VectorRow::new("AsDouble", A, C::Reinterpret),
    VectorRow::new("AsVectorDouble", A, C::Reinterpret),
    VectorRow::new("AsInt16", A, C::Reinterpret),
    VectorRow::new("AsVectorInt16", A, C::Reinterpret),
    VectorRow::new("AsInt32", A, C::Reinterpret),
    VectorRow::new("AsVectorInt32", A, C::Reinterpret),
    VectorRow::new("AsInt64", A, C::Reinterpret),
    VectorRow::new("AsVectorInt64", A, C::Reinterpret),
    VectorRow::new("AsNInt", A, C::Reinterpret),
    VectorRow::new("AsVectorNInt", A, C::Reinterpret),
    VectorRow::new("AsNUInt", A, C::Reinterpret),
    VectorRow::new("AsVectorNUInt", A, C::Reinterpret),
    VectorRow::new("AsSByte", A, C::Reinterpret),
    VectorRow::new("AsVectorSByte", A, C::Reinterpret),
    VectorRow::new("AsSingle", A, C::Reinterpret),
    VectorRow::new("AsVectorSingle", A, C::Reinterpret),
    VectorRow::new("AsUInt16", A, C::Reinterpret),
    VectorRow::new("AsVectorUInt16", A, C::Reinterpret),
    VectorRow::new("AsUInt32", A, C::Reinterpret),
    VectorRow::new("AsVectorUInt32", A, C::Reinterpret),
    VectorRow::new("AsUInt64", A, C::Reinterpret),
    VectorRow::new("AsVectorUInt64", A, C::Reinterpret),
    VectorRow::new("BitwiseAnd", AB, C::Binary(V::And)),
    VectorRow::new("BitwiseOr", AB, C::Binary(V::Or)),
    VectorRow::new("Ceiling", A, C::Unary(V::Ceil)).of(FLOATS),
    VectorRow::new("ConditionalSelect", &[Own, Any, Any], C::Select),
    VectorRow::new("ConvertToInt32", A, C::ConvertEach(T::I4)).of(F32),
    VectorRow::new("ConvertToInt32Native", A, C::Convert(V::ToInteger)).of(F32),
    VectorRow::new("ConvertToSingle", A, C::Convert(V::ToFloat)).of(I32),
    VectorRow::new("Create", &[Lane], C::SplatOf),
    VectorRow::new("Create", &[EachLane], C::ElementsOf),
    VectorRow::new("Create", &[HalfOfOwn, HalfOfOwn], C::OfHalves),
    VectorRow::new("CreateScalar", &[Lane], C::ScalarOf),
    VectorRow::new("CreateScalarUnsafe", &[Lane], C::ScalarOf),
    VectorRow::new("Divide", AB, C::Binary(V::Div)).of(FLOATS),
    VectorRow::new("Divide", AS, C::ByScalar(V::Div)).of(FLOATS),
    VectorRow::new("Equals", AB, C::Binary(V::Eq)),
    VectorRow::new("GreaterThan", AB, C::Binary(V::Gt)),
    VectorRow::new("GreaterThanOrEqual", AB, C::Binary(V::Ge)),
    VectorRow::new("LessThan", AB, C::Binary(V::Lt)),
    VectorRow::new("LessThanOrEqual", AB, C::Binary(V::Le)),
    VectorRow::new("EqualsAll", AB, C::All(V::Eq)),
    VectorRow::new("GreaterThanAll", AB, C::All(V::Gt)),
    VectorRow::new("GreaterThanOrEqualAll", AB, C::All(V::Ge)),
    VectorRow::new("LessThanAll", AB, C::All(V::Lt)),
    VectorRow::new("LessThanOrEqualAll", AB, C::All(V::Le)),
    VectorRow::new("EqualsAny", AB, C::AnyOf(V::Eq)),
    VectorRow::new("GreaterThanAny", AB, C::AnyOf(V::Gt)),
    VectorRow::new("GreaterThanOrEqualAny", AB, C::AnyOf(V::Ge)),
    VectorRow::new("LessThanAny", AB, C::AnyOf(V::Lt)),
    VectorRow::new("LessThanOrEqualAny", AB, C::AnyOf(V::Le)),
    VectorRow::new("ExtractMostSignificantBits", A, C::Unary(V::HighBits)),
    VectorRow::new("Floor", A, C::Unary(V::Floor)).of(FLOATS),
    VectorRow::new("GetElement", BY, C::Element),
    VectorRow::new("GetLower", A, C::Half(false)),
    VectorRow::new("GetUpper", A, C::Half(true)),
    VectorRow::new("Load", &[LanePointer], C::Load),
    VectorRow::new("LoadUnsafe", &[LanePointer], C::Load),
    VectorRow::new("LoadUnsafe", &[LanePointer, NativeInt], C::Load),
    VectorRow::new("Max", AB, C::Binary(V::Max)).of(INTEGERS),
    VectorRow::new("Max", AB, C::Extreme(V::Max)).of(FLOATS),
    VectorRow::new("MaxNative", AB, C::Binary(V::Max)),
    VectorRow::new("Min", AB, C::Binary(V::Min)).of(INTEGERS),
    VectorRow::new("Min", AB, C::Extreme(V::Min)).of(FLOATS),
    VectorRow::new("MinNative", AB, C::Binary(V::Min)),
    VectorRow::new("Multiply", AB, C::Binary(V::Mul)),
    VectorRow::new("Multiply", AS, C::ByScalar(V::Mul)),
    VectorRow::new("Multiply", SA, C::OfScalar(V::Mul)),
    VectorRow::new("Narrow", AB, C::Narrow).of(WIDE),
    VectorRow::new("NarrowWithSaturation", AB, C::Binary(V::PackSigned)).of(SATURATED),
    VectorRow::new("Negate", A, C::Unary(V::Neg)),
    VectorRow::new("OnesComplement", A, C::Unary(V::Not)),
    VectorRow::new("Round", A, C::Unary(V::Round)).of(FLOATS),
    VectorRow::new("ShiftLeft", BY, C::ShiftModulo(V::ShiftLeft)).of(INTEGERS),
    VectorRow::new("ShiftRightArithmetic", BY, C::ShiftModulo(V::ShiftRight)).of(LaneSet::SIGNED),
    VectorRow::new("ShiftRightLogical", BY, C::ShiftModulo(V::ShiftRightLogical)).of(INTEGERS),
    VectorRow::new("Shuffle", &[Own, Any], C::SelectLanes),
    VectorRow::new("Sqrt", A, C::Unary(V::Sqrt)).of(FLOATS),
    VectorRow::new("SquareRoot", A, C::Unary(V::Sqrt)).of(FLOATS),
    VectorRow::new("Store", &[Own, LanePointer], C::Store),
    VectorRow::new("StoreUnsafe", &[Own, LanePointer], C::Store),
    VectorRow::new("StoreUnsafe", &[Own, LanePointer, NativeInt], C::Store),
    VectorRow::new("Subtract", AB, C::Binary(V::Sub)),
    VectorRow::new("SubtractSaturate", AB, C::Binary(V::SubSaturated)).of(NARROW),
    VectorRow::new("Sum", A, C::Sum),
    VectorRow::new("ToScalar", A, C::First),
    VectorRow::new("Truncate", A, C::Unary(V::Truncate)).of(FLOATS),
    VectorRow::new("Widen", &[Own, Pointer, Pointer], C::Widen).of(SMALL),
    VectorRow::new("WidenLower", A, C::Unary(V::WidenLow)).of(SMALL),
    VectorRow::new("WidenUpper", A, C::Unary(V::WidenHigh)).of(SMALL),
    VectorRow::new("WithElement", &[Own, Int, Lane], C::WithElement),
    VectorRow::new("WithLower", &[Own, HalfOfOwn], C::WithHalf(false)),
    VectorRow::new("WithUpper", &[Own, HalfOfOwn], C::WithHalf(true)),
    VectorRow::new("Xor", AB, C::Binary(V::Xor)),
];

const BITS: &[VectorRow] = &[
    VectorRow::new("LeadingZeroCount", &[Any], C::Bits(UnOp::Clz)),
    VectorRow::new("TrailingZeroCount", &[Any], C::Bits(UnOp::Ctz)),
    VectorRow::new("PopCount", &[Any], C::Bits(UnOp::Popcnt)),
    VectorRow::new("Log2", &[Any], C::Log2),
];

const SSE: &[VectorRow] = &[
    VectorRow::new("get_IsSupported", NONE, C::Constant(1)),
    VectorRow::new("Add", AB, C::Binary(V::Add)).of(F32),
    VectorRow::new("Multiply", AB, C::Binary(V::Mul)).of(F32),
    VectorRow::new("Shuffle", &[Own, Own, Byte], C::SelectFours).of(F32),
    VectorRow::new("UnpackHigh", AB, C::Permute(interleaved(4, true))).of(F32),
    VectorRow::new("UnpackLow", AB, C::Permute(interleaved(4, false))).of(F32),
];

const SSE2: &[VectorRow] = &[
    VectorRow::new("get_IsSupported", NONE, C::Constant(1)),
    VectorRow::new("Add", AB, C::Binary(V::Add)),
    VectorRow::new("AddSaturate", AB, C::Binary(V::AddSaturated)).of(NARROW),
    VectorRow::new("And", AB, C::Binary(V::And)),
    VectorRow::new("ConvertToUInt32", A, C::First).of(U32),
    VectorRow::new("ConvertToVector128Single", A, C::Convert(V::ToFloat)).of(I32),
    VectorRow::new("LoadAlignedVector128", &[LanePointer], C::Load),
    VectorRow::new("LoadScalarVector128", &[LanePointer], C::LoadScalar),
    VectorRow::new("LoadVector128", &[LanePointer], C::Load),
    VectorRow::new("Min", AB, C::Binary(V::Min)).of(LaneSet::of(&[L::U8, L::I16, L::F64])),
    VectorRow::new("MoveMask", A, C::Unary(V::HighBits)).of(LaneSet::of(&[L::I8, L::U8, L::F64])),
    VectorRow::new("MultiplyAddAdjacent", AB, C::Binary(V::MultiplyAddPairs)).of(I16),
    VectorRow::new("MultiplyHigh", AB, C::Binary(V::MultiplyHigh)).of(WORDS),
    VectorRow::new("Or", AB, C::Binary(V::Or)),
    VectorRow::new("PackUnsignedSaturate", AB, C::Binary(V::PackUnsigned)).of(I16),
    VectorRow::new("ShiftRightLogical", &[Own, Byte], C::ShiftBeyond(V::ShiftRightLogical)).of(LaneSet::of(&[
        L::I16,
        L::U16,
        L::I32,
        L::U32,
        L::I64,
        L::U64,
    ])),
    VectorRow::new("Store", &[LanePointer, Own], C::StoreTo),
    VectorRow::new("StoreAligned", &[LanePointer, Own], C::StoreTo),
    VectorRow::new("StoreScalar", &[LanePointer, Own], C::StoreScalar),
    VectorRow::new("Subtract", AB, C::Binary(V::Sub)),
    VectorRow::new("SubtractSaturate", AB, C::Binary(V::SubSaturated)).of(NARROW),
    VectorRow::new("UnpackHigh", AB, C::Permute(interleaved(1, true))).of(BYTES),
    VectorRow::new("UnpackLow", AB, C::Permute(interleaved(1, false))).of(BYTES),
    VectorRow::new("UnpackHigh", AB, C::Permute(interleaved(2, true))).of(WORDS),
    VectorRow::new("UnpackLow", AB, C::Permute(interleaved(2, false))).of(WORDS),
    VectorRow::new("UnpackHigh", AB, C::Permute(interleaved(4, true))).of(FOURS),
    VectorRow::new("UnpackLow", AB, C::Permute(interleaved(4, false))).of(FOURS),
    VectorRow::new("UnpackHigh", AB, C::Permute(interleaved(8, true))).of(LONGS),
    VectorRow::new("UnpackLow", AB, C::Permute(interleaved(8, false))).of(LONGS),
    VectorRow::new("Xor", AB, C::Binary(V::Xor)),
];

const SSSE3: &[VectorRow] = &[
    VectorRow::new("get_IsSupported", NONE, C::Constant(1)),
    VectorRow::new("AlignRight", &[Own, Own, Byte], C::AlignRight),
    VectorRow::new("MultiplyAddAdjacent", &[Own, Any], C::Binary(V::MultiplyAddPairs)).of(U8),
    VectorRow::new("Shuffle", AB, C::Binary(V::ShuffleBytes)).of(BYTES),
];

const SSE41: &[VectorRow] =
    &[VectorRow::new("get_IsSupported", NONE, C::Constant(1)), VectorRow::new("TestZ", AB, C::NoCommonBits)];
