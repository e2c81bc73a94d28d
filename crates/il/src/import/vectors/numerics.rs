//! Rows for System.Numerics.

use super::rows::MatrixCall as M;
use super::rows::Param::{Any, Array, EachLane, Int, Lane, Named, Own, Pointer, Single, Span};
use super::rows::VectorCall::{self as C, AsWritten};
use super::rows::{LaneSet, Param, VectorRow, VectorRows};
use crate::ir::ConvTarget as T;
use crate::ir::Lanes as L;
use crate::ir::VectorOp as V;
use crate::vector_types::Family::Numerics;

const NONE: &[Param] = &[];
const A: &[Param] = &[Own];
const AB: &[Param] = &[Own, Own];
const ABC: &[Param] = &[Own, Own, Own];
const AS: &[Param] = &[Own, Lane];
const SA: &[Param] = &[Lane, Own];
const ABS: &[Param] = &[Own, Own, Lane];
const M44: Param = Named("Matrix4x4");
const M32: Param = Named("Matrix3x2");
const V2: Param = Named("Vector2");
const V3: Param = Named("Vector3");
const V4: Param = Named("Vector4");
const Q: Param = Named("Quaternion");

const SMALL: LaneSet = LaneSet::of(&[L::I8, L::U8, L::I16, L::U16, L::I32, L::U32, L::F32]);
const WIDE: LaneSet = LaneSet::of(&[L::I16, L::U16, L::I32, L::U32, L::I64, L::U64, L::F64]);
const I32: LaneSet = LaneSet::of(&[L::I32]);
const U32: LaneSet = LaneSet::of(&[L::U32]);
const I64: LaneSet = LaneSet::of(&[L::I64]);
const U64: LaneSet = LaneSet::of(&[L::U64]);
const F32: LaneSet = LaneSet::of(&[L::F32]);
const F64: LaneSet = LaneSet::of(&[L::F64]);

pub(super) const GROUPS: &[VectorRows] = &[
    VectorRows { family: Numerics, types: &["Vector`1"], rows: VECTOR_OF_T },
    VectorRows { family: Numerics, types: &["Vector"], rows: VECTOR },
    VectorRows { family: Numerics, types: &["Vector2", "Vector3", "Vector4"], rows: FIXED },
    VectorRows { family: Numerics, types: &["Vector2"], rows: VECTOR2 },
    VectorRows { family: Numerics, types: &["Vector3"], rows: VECTOR3 },
    VectorRows { family: Numerics, types: &["Vector4"], rows: VECTOR4 },
    VectorRows { family: Numerics, types: &["Matrix3x2", "Matrix4x4"], rows: MATRICES },
    VectorRows { family: Numerics, types: &["Matrix4x4"], rows: MATRIX4X4 },
    VectorRows { family: Numerics, types: &["Quaternion"], rows: QUATERNION },
    VectorRows { family: Numerics, types: &["Plane"], rows: PLANE },
];

const VECTOR_OF_T: &[VectorRow] = &[
    VectorRow::new("get_Count", NONE, C::Constant(16)).of(LaneSet::of(&[L::I8, L::U8])),
    VectorRow::new("get_Count", NONE, C::Constant(8)).of(LaneSet::of(&[L::I16, L::U16])),
    VectorRow::new("get_Count", NONE, C::Constant(4)).of(LaneSet::of(&[L::I32, L::U32, L::F32])),
    VectorRow::new("get_Count", NONE, C::Constant(2)).of(LaneSet::of(&[L::I64, L::U64, L::F64])),
    VectorRow::new("get_Zero", NONE, C::Bytes(0)),
    VectorRow::new("get_AllOnes", NONE, C::Bytes(0xff)),
    VectorRow::new("get_One", NONE, C::One),
    VectorRow::new(".ctor", &[Lane], C::Splat),
    VectorRow::new(".ctor", &[Array], C::FromArray),
    VectorRow::new(".ctor", &[Array, Int], C::FromArray),
    VectorRow::new(".ctor", &[Span], C::FromSpan),
    VectorRow::new("CopyTo", &[Array], C::CopyTo),
    VectorRow::new("CopyTo", &[Array, Int], C::CopyTo),
    VectorRow::new("get_Item", &[Int], C::Item),
    VectorRow::new("Equals", A, C::AllEqual(true)),
    VectorRow::new("Equals", &[Any], AsWritten),
    VectorRow::new("GetHashCode", NONE, AsWritten),
    VectorRow::new("op_Addition", AB, C::Binary(V::Add)),
    VectorRow::new("op_Subtraction", AB, C::Binary(V::Sub)),
    VectorRow::new("op_Multiply", AB, C::Binary(V::Mul)),
    VectorRow::new("op_Multiply", AS, C::ByScalar(V::Mul)),
    VectorRow::new("op_Multiply", SA, C::OfScalar(V::Mul)),
    VectorRow::new("op_Division", AB, C::Binary(V::Div)).of(LaneSet::FLOATS),
    VectorRow::new("op_Division", AB, C::Quotients).of(LaneSet::INTEGERS),
    VectorRow::new("op_UnaryNegation", A, C::FromZero),
    VectorRow::new("op_BitwiseAnd", AB, C::Binary(V::And)),
    VectorRow::new("op_BitwiseOr", AB, C::Binary(V::Or)),
    VectorRow::new("op_ExclusiveOr", AB, C::Binary(V::Xor)),
    VectorRow::new("op_OnesComplement", A, C::Unary(V::Not)),
    VectorRow::new("op_Equality", AB, C::AllEqual(true)),
    VectorRow::new("op_Inequality", AB, C::AllEqual(false)),
    VectorRow::new("op_Explicit", A, C::Reinterpret),
    VectorRow::new("LessThan", AB, C::Binary(V::Lt)),
    VectorRow::new("LessThanOrEqual", AB, C::Binary(V::Le)),
    VectorRow::new("GreaterThan", AB, C::Binary(V::Gt)),
    VectorRow::new("GreaterThanOrEqual", AB, C::Binary(V::Ge)),
    VectorRow::new("Equals", AB, C::Binary(V::Eq)),
    VectorRow::new("ConditionalSelect", ABC, C::Select),
    VectorRow::new("DotProduct", AB, C::Dot),
    VectorRow::new("Min", AB, C::Binary(V::Min)),
    VectorRow::new("Max", AB, C::Binary(V::Max)),
    VectorRow::new("Abs", A, C::Unary(V::Abs)).of(LaneSet::FLOATS),
    VectorRow::new("Abs", A, C::Unary(V::Abs)).of(LaneSet::UNSIGNED),
    VectorRow::new("Abs", A, C::Magnitude).of(LaneSet::SIGNED),
    VectorRow::new("SquareRoot", A, C::Unary(V::Sqrt)).of(LaneSet::FLOATS),
    VectorRow::new("SquareRoot", A, C::Roots).of(LaneSet::INTEGERS),
];

const VECTOR: &[VectorRow] = &[
    VectorRow::new("get_IsHardwareAccelerated", NONE, C::Constant(1)),
    VectorRow::new("Widen", &[Own, Pointer, Pointer], C::Widen).of(SMALL),
    VectorRow::new("Narrow", AB, C::Narrow).of(WIDE),
    VectorRow::new("ConvertToSingle", A, C::Convert(V::ToFloat)).of(I32),
    VectorRow::new("ConvertToSingle", A, C::Convert(V::ToFloat)).of(U32),
    VectorRow::new("ConvertToInt32", A, C::Convert(V::ToInteger)).of(F32),
    VectorRow::new("ConvertToUInt32", A, C::ConvertEach(T::U4)).of(F32),
    VectorRow::new("ConvertToDouble", A, C::ConvertEach(T::R8)).of(I64),
    VectorRow::new("ConvertToDouble", A, C::ConvertEach(T::RUn)).of(U64),
    VectorRow::new("ConvertToInt64", A, C::ConvertEach(T::I8)).of(F64),
    VectorRow::new("ConvertToUInt64", A, C::ConvertEach(T::U8)).of(F64),
    VectorRow::new("Abs", A, C::Unary(V::Abs)).of(LaneSet::FLOATS),
    VectorRow::new("Abs", A, C::Unary(V::Abs)).of(LaneSet::UNSIGNED),
    VectorRow::new("Abs", A, C::Magnitude).of(LaneSet::SIGNED),
    VectorRow::new("Add", AB, C::Binary(V::Add)),
    VectorRow::new("AndNot", AB, C::Binary(V::AndNot)),
    VectorRow::new("AsVectorByte", A, C::Reinterpret),
    VectorRow::new("AsVectorDouble", A, C::Reinterpret),
    VectorRow::new("AsVectorInt16", A, C::Reinterpret),
    VectorRow::new("AsVectorInt32", A, C::Reinterpret),
    VectorRow::new("AsVectorInt64", A, C::Reinterpret),
    VectorRow::new("AsVectorSByte", A, C::Reinterpret),
    VectorRow::new("AsVectorSingle", A, C::Reinterpret),
    VectorRow::new("AsVectorUInt16", A, C::Reinterpret),
    VectorRow::new("AsVectorUInt32", A, C::Reinterpret),
    VectorRow::new("AsVectorUInt64", A, C::Reinterpret),
    VectorRow::new("BitwiseAnd", AB, C::Binary(V::And)),
    VectorRow::new("BitwiseOr", AB, C::Binary(V::Or)),
    VectorRow::new("ConditionalSelect", &[Any, Any, Any], C::Select),
    VectorRow::new("Divide", AB, C::Binary(V::Div)).of(LaneSet::FLOATS),
    VectorRow::new("Divide", AB, C::Quotients).of(LaneSet::INTEGERS),
    VectorRow::new("Dot", AB, C::Dot),
    VectorRow::new("Equals", AB, C::Binary(V::Eq)),
    VectorRow::new("EqualsAll", AB, C::All(V::Eq)),
    VectorRow::new("EqualsAny", AB, C::AnyOf(V::Eq)),
    VectorRow::new("GreaterThan", AB, C::Binary(V::Gt)),
    VectorRow::new("GreaterThanAll", AB, C::All(V::Gt)),
    VectorRow::new("GreaterThanAny", AB, C::AnyOf(V::Gt)),
    VectorRow::new("GreaterThanOrEqual", AB, C::Binary(V::Ge)),
    VectorRow::new("GreaterThanOrEqualAll", AB, C::All(V::Ge)),
    VectorRow::new("GreaterThanOrEqualAny", AB, C::AnyOf(V::Ge)),
    VectorRow::new("LessThan", AB, C::Binary(V::Lt)),
    VectorRow::new("LessThanAll", AB, C::All(V::Lt)),
    VectorRow::new("LessThanAny", AB, C::AnyOf(V::Lt)),
    VectorRow::new("LessThanOrEqual", AB, C::Binary(V::Le)),
    VectorRow::new("LessThanOrEqualAll", AB, C::All(V::Le)),
    VectorRow::new("LessThanOrEqualAny", AB, C::AnyOf(V::Le)),
    VectorRow::new("Max", AB, C::Binary(V::Max)),
    VectorRow::new("Min", AB, C::Binary(V::Min)),
    VectorRow::new("Multiply", AB, C::Binary(V::Mul)),
    VectorRow::new("Multiply", AS, C::ByScalar(V::Mul)),
    VectorRow::new("Multiply", SA, C::OfScalar(V::Mul)),
    VectorRow::new("Negate", A, C::FromZero),
    VectorRow::new("OnesComplement", A, C::Unary(V::Not)),
    VectorRow::new("SquareRoot", A, C::Unary(V::Sqrt)).of(LaneSet::FLOATS),
    VectorRow::new("SquareRoot", A, C::Roots).of(LaneSet::INTEGERS),
    VectorRow::new("Subtract", AB, C::Binary(V::Sub)),
    VectorRow::new("Xor", AB, C::Binary(V::Xor)),
];

const FIXED: &[VectorRow] = &[
    VectorRow::new("get_Zero", NONE, C::Bytes(0)),
    VectorRow::new("get_One", NONE, C::One),
    VectorRow::new("get_UnitX", NONE, AsWritten),
    VectorRow::new("get_UnitY", NONE, AsWritten),
    VectorRow::new("get_UnitZ", NONE, AsWritten),
    VectorRow::new("get_UnitW", NONE, AsWritten),
    VectorRow::new(".ctor", &[Lane], C::Splat),
    VectorRow::new(".ctor", &[EachLane], C::Elements),
    VectorRow::new("CopyTo", &[Array], C::CopyTo),
    VectorRow::new("CopyTo", &[Array, Int], C::CopyTo),
    VectorRow::new("Equals", A, C::AllEqual(true)),
    VectorRow::new("Equals", &[Any], AsWritten),
    VectorRow::new("GetHashCode", NONE, AsWritten),
    VectorRow::new("Length", NONE, C::Length),
    VectorRow::new("LengthSquared", NONE, C::LengthSquared),
    VectorRow::new("op_Addition", AB, C::Binary(V::Add)),
    VectorRow::new("op_Subtraction", AB, C::Binary(V::Sub)),
    VectorRow::new("op_Multiply", AB, C::Binary(V::Mul)),
    VectorRow::new("op_Multiply", AS, C::ByScalar(V::Mul)),
    VectorRow::new("op_Multiply", SA, C::OfScalar(V::Mul)),
    VectorRow::new("op_Division", AB, C::Binary(V::Div)),
    VectorRow::new("op_Division", AS, AsWritten),
    VectorRow::new("op_UnaryNegation", A, C::FromZero),
    VectorRow::new("op_Equality", AB, C::AllEqual(true)),
    VectorRow::new("op_Inequality", AB, C::AllEqual(false)),
    VectorRow::new("Abs", A, C::Unary(V::Abs)),
    VectorRow::new("Min", AB, C::Binary(V::Min)),
    VectorRow::new("Max", AB, C::Binary(V::Max)),
    VectorRow::new("SquareRoot", A, C::Unary(V::Sqrt)),
    VectorRow::new("Dot", AB, C::Dot),
    VectorRow::new("Clamp", ABC, C::Clamp),
    VectorRow::new("Distance", AB, C::Length),
    VectorRow::new("DistanceSquared", AB, C::LengthSquared),
    VectorRow::new("Normalize", A, AsWritten),
    VectorRow::new("Add", AB, C::Binary(V::Add)),
    VectorRow::new("Subtract", AB, C::Binary(V::Sub)),
    VectorRow::new("Multiply", AB, C::Binary(V::Mul)),
    VectorRow::new("Multiply", AS, C::ByScalar(V::Mul)),
    VectorRow::new("Multiply", SA, C::OfScalar(V::Mul)),
    VectorRow::new("Divide", AB, C::Binary(V::Div)),
    VectorRow::new("Divide", AS, AsWritten),
    VectorRow::new("Negate", A, C::FromZero),
];

const VECTOR2: &[VectorRow] = &[
    VectorRow::new("Lerp", ABS, C::Lerp),
    VectorRow::new("Reflect", AB, C::ReflectScalarsFirst),
    VectorRow::new("Transform", &[Own, Q], C::Matrix(M::Rotate)),
    VectorRow::new("Transform", &[Own, M32], C::Matrix(M::Transform)),
    VectorRow::new("Transform", &[Own, M44], C::Matrix(M::Transform)),
    VectorRow::new("TransformNormal", &[Own, M32], C::Matrix(M::TransformNormal)),
    VectorRow::new("TransformNormal", &[Own, M44], C::Matrix(M::TransformNormal)),
];

const VECTOR3: &[VectorRow] = &[
    VectorRow::new(".ctor", &[V2, Lane], C::Joined),
    VectorRow::new("Cross", AB, C::Cross),
    VectorRow::new("Lerp", ABS, C::Mix),
    VectorRow::new("Reflect", AB, C::Reflect),
    VectorRow::new("Transform", &[Own, Q], C::Matrix(M::Rotate)),
    VectorRow::new("Transform", &[Own, M44], C::Matrix(M::Transform)),
    VectorRow::new("TransformNormal", &[Own, M44], C::Matrix(M::TransformNormal)),
];

const VECTOR4: &[VectorRow] = &[
    VectorRow::new(".ctor", &[V2, Lane, Lane], C::Joined),
    VectorRow::new(".ctor", &[V3, Lane], C::Joined),
    VectorRow::new("Lerp", ABS, C::Lerp),
    VectorRow::new("Transform", &[V2, M44], C::Matrix(M::Transform)),
    VectorRow::new("Transform", &[V3, M44], C::Matrix(M::Transform)),
    VectorRow::new("Transform", &[V4, M44], C::Matrix(M::Transform)),
    VectorRow::new("Transform", &[V2, Q], C::Matrix(M::Rotate)),
    VectorRow::new("Transform", &[V3, Q], C::Matrix(M::Rotate)),
    VectorRow::new("Transform", &[V4, Q], C::Matrix(M::Rotate)),
];

const MATRICES: &[VectorRow] = &[
    VectorRow::new("op_Addition", AB, C::Matrix(M::Rows(V::Add))),
    VectorRow::new("Add", AB, C::Matrix(M::Rows(V::Add))),
    VectorRow::new("op_Subtraction", AB, C::Matrix(M::Rows(V::Sub))),
    VectorRow::new("Subtract", AB, C::Matrix(M::Rows(V::Sub))),
    VectorRow::new("op_UnaryNegation", A, C::Matrix(M::EachRow(V::Neg))),
    VectorRow::new("Negate", A, C::Matrix(M::EachRow(V::Neg))),
    VectorRow::new("op_Multiply", AB, C::Matrix(M::Product)),
    VectorRow::new("Multiply", AB, C::Matrix(M::Product)),
    VectorRow::new("op_Multiply", &[Own, Single], C::Matrix(M::RowsByScalar(V::Mul))),
    VectorRow::new("Multiply", &[Own, Single], C::Matrix(M::RowsByScalar(V::Mul))),
    VectorRow::new("Lerp", &[Own, Own, Single], C::Matrix(M::Lerp)),
    VectorRow::new("op_Equality", AB, C::Matrix(M::Equal(true))),
    VectorRow::new("op_Inequality", AB, C::Matrix(M::Equal(false))),
    VectorRow::new("Equals", A, C::Matrix(M::Equal(true))),
    VectorRow::new("get_Identity", NONE, AsWritten),
    VectorRow::new("get_IsIdentity", NONE, AsWritten),
    VectorRow::new("get_Translation", NONE, AsWritten),
    VectorRow::new("GetDeterminant", NONE, AsWritten),
    VectorRow::new("Invert", &[Own, Pointer], AsWritten),
];

const MATRIX4X4: &[VectorRow] = &[
    VectorRow::new("Transpose", A, C::Matrix(M::Transpose)),
    VectorRow::new("Transform", &[Own, Q], C::Matrix(M::RotateRows)),
    VectorRow::new("Decompose", &[Own, Pointer, Pointer, Pointer], AsWritten),
];

const QUATERNION: &[VectorRow] = &[
    VectorRow::new("get_Identity", NONE, AsWritten),
    VectorRow::new("get_IsIdentity", NONE, AsWritten),
    VectorRow::new(".ctor", &[EachLane], C::Elements),
    VectorRow::new(".ctor", &[V3, Lane], C::Joined),
    VectorRow::new("op_Addition", AB, C::Binary(V::Add)),
    VectorRow::new("Add", AB, C::Binary(V::Add)),
    VectorRow::new("op_Subtraction", AB, C::Binary(V::Sub)),
    VectorRow::new("Subtract", AB, C::Binary(V::Sub)),
    VectorRow::new("op_UnaryNegation", A, C::Unary(V::Neg)),
    VectorRow::new("Negate", A, C::Unary(V::Neg)),
    VectorRow::new("op_Multiply", AB, C::Matrix(M::QuaternionProduct)),
    VectorRow::new("Multiply", AB, C::Matrix(M::QuaternionProduct)),
    VectorRow::new("op_Multiply", AS, C::ByScalar(V::Mul)),
    VectorRow::new("Multiply", AS, C::ByScalar(V::Mul)),
    VectorRow::new("op_Equality", AB, C::AllEqual(true)),
    VectorRow::new("op_Inequality", AB, C::AllEqual(false)),
    VectorRow::new("Equals", A, C::AllEqual(true)),
    VectorRow::new("Dot", AB, C::Dot),
    VectorRow::new("Conjugate", A, C::Matrix(M::Conjugate)),
    VectorRow::new("Normalize", A, C::Matrix(M::Normalize)),
    VectorRow::new("Length", NONE, C::Length),
    VectorRow::new("LengthSquared", NONE, C::LengthSquared),
    VectorRow::new("op_Division", AB, C::Matrix(M::Quotient)),
    VectorRow::new("Divide", AB, C::Matrix(M::Quotient)),
    VectorRow::new("Concatenate", AB, C::Matrix(M::Concatenate)),
    VectorRow::new("Inverse", A, C::Matrix(M::Inverse)),
    VectorRow::new("Lerp", ABS, AsWritten),
    VectorRow::new("Slerp", ABS, AsWritten),
];

const PLANE: &[VectorRow] = &[
    VectorRow::new("Dot", &[Own, V4], C::Matrix(M::PlaneDot)),
    VectorRow::new("op_Equality", AB, C::Matrix(M::PlanesEqual(true))),
    VectorRow::new("op_Inequality", AB, C::Matrix(M::PlanesEqual(false))),
    VectorRow::new("DotCoordinate", &[Own, V3], AsWritten),
    VectorRow::new("DotNormal", &[Own, V3], AsWritten),
    VectorRow::new("Equals", A, C::Matrix(M::PlanesEqual(true))),
    VectorRow::new("Normalize", A, AsWritten),
    VectorRow::new("CreateFromVertices", &[V3, V3, V3], AsWritten),
    VectorRow::new("Transform", &[Own, M44], AsWritten),
    VectorRow::new("Transform", &[Own, Q], C::Matrix(M::RotatePlane)),
];
