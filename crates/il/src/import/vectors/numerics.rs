//! Rows for System.Numerics.

use super::table::MatrixCall as M;
use super::table::Param::{Any, Array, EachLane, Int, Lane, Named, Own, Pointer, Single, Span};
use super::table::VectorCall::{self as C, AsWritten};
use super::table::{Group, LaneSet, Param, Row};
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

pub(super) const GROUPS: &[Group] = &[
    Group { family: Numerics, types: &["Vector`1"], rows: VECTOR_OF_T },
    Group { family: Numerics, types: &["Vector"], rows: VECTOR },
    Group { family: Numerics, types: &["Vector2", "Vector3", "Vector4"], rows: FIXED },
    Group { family: Numerics, types: &["Vector2"], rows: VECTOR2 },
    Group { family: Numerics, types: &["Vector3"], rows: VECTOR3 },
    Group { family: Numerics, types: &["Vector4"], rows: VECTOR4 },
    Group { family: Numerics, types: &["Matrix3x2", "Matrix4x4"], rows: MATRICES },
    Group { family: Numerics, types: &["Matrix4x4"], rows: MATRIX4X4 },
    Group { family: Numerics, types: &["Quaternion"], rows: QUATERNION },
    Group { family: Numerics, types: &["Plane"], rows: PLANE },
];

const VECTOR_OF_T: &[Row] = &[
    Row::new("get_Count", NONE, C::Constant(16)).of(LaneSet::of(&[L::I8, L::U8])),
    Row::new("get_Count", NONE, C::Constant(8)).of(LaneSet::of(&[L::I16, L::U16])),
    Row::new("get_Count", NONE, C::Constant(4)).of(LaneSet::of(&[L::I32, L::U32, L::F32])),
    Row::new("get_Count", NONE, C::Constant(2)).of(LaneSet::of(&[L::I64, L::U64, L::F64])),
    Row::new("get_Zero", NONE, C::Bytes(0)),
    Row::new("get_AllOnes", NONE, C::Bytes(0xff)),
    Row::new("get_One", NONE, C::One),
    Row::new(".ctor", &[Lane], C::Splat),
    Row::new(".ctor", &[Array], C::FromArray),
    Row::new(".ctor", &[Array, Int], C::FromArray),
    Row::new(".ctor", &[Span], C::FromSpan),
    Row::new("CopyTo", &[Array], C::CopyTo),
    Row::new("CopyTo", &[Array, Int], C::CopyTo),
    Row::new("get_Item", &[Int], C::Item),
    Row::new("Equals", A, C::AllEqual(true)),
    Row::new("Equals", &[Any], AsWritten),
    Row::new("GetHashCode", NONE, AsWritten),
    Row::new("op_Addition", AB, C::Binary(V::Add)),
    Row::new("op_Subtraction", AB, C::Binary(V::Sub)),
    Row::new("op_Multiply", AB, C::Binary(V::Mul)),
    Row::new("op_Multiply", AS, C::ByScalar(V::Mul)),
    Row::new("op_Multiply", SA, C::OfScalar(V::Mul)),
    Row::new("op_Division", AB, C::Binary(V::Div)).of(LaneSet::FLOATS),
    Row::new("op_Division", AB, C::Quotients).of(LaneSet::INTEGERS),
    Row::new("op_UnaryNegation", A, C::FromZero),
    Row::new("op_BitwiseAnd", AB, C::Binary(V::And)),
    Row::new("op_BitwiseOr", AB, C::Binary(V::Or)),
    Row::new("op_ExclusiveOr", AB, C::Binary(V::Xor)),
    Row::new("op_OnesComplement", A, C::Unary(V::Not)),
    Row::new("op_Equality", AB, C::AllEqual(true)),
    Row::new("op_Inequality", AB, C::AllEqual(false)),
    Row::new("op_Explicit", A, C::Reinterpret),
    Row::new("LessThan", AB, C::Binary(V::Lt)),
    Row::new("LessThanOrEqual", AB, C::Binary(V::Le)),
    Row::new("GreaterThan", AB, C::Binary(V::Gt)),
    Row::new("GreaterThanOrEqual", AB, C::Binary(V::Ge)),
    Row::new("Equals", AB, C::Binary(V::Eq)),
    Row::new("ConditionalSelect", ABC, C::Select),
    Row::new("DotProduct", AB, C::Dot),
    Row::new("Min", AB, C::Binary(V::Min)),
    Row::new("Max", AB, C::Binary(V::Max)),
    Row::new("Abs", A, C::Unary(V::Abs)).of(LaneSet::FLOATS),
    Row::new("Abs", A, C::Unary(V::Abs)).of(LaneSet::UNSIGNED),
    Row::new("Abs", A, C::Magnitude).of(LaneSet::SIGNED),
    Row::new("SquareRoot", A, C::Unary(V::Sqrt)).of(LaneSet::FLOATS),
    Row::new("SquareRoot", A, C::Roots).of(LaneSet::INTEGERS),
];

const VECTOR: &[Row] = &[
    Row::new("get_IsHardwareAccelerated", NONE, C::Constant(1)),
    Row::new("Widen", &[Own, Pointer, Pointer], C::Widen).of(SMALL),
    Row::new("Narrow", AB, C::Narrow).of(WIDE),
    Row::new("ConvertToSingle", A, C::Convert(V::ToFloat)).of(I32),
    Row::new("ConvertToSingle", A, C::Convert(V::ToFloat)).of(U32),
    Row::new("ConvertToInt32", A, C::Convert(V::ToInteger)).of(F32),
    Row::new("ConvertToUInt32", A, C::ConvertEach(T::U4)).of(F32),
    Row::new("ConvertToDouble", A, C::ConvertEach(T::R8)).of(I64),
    Row::new("ConvertToDouble", A, C::ConvertEach(T::RUn)).of(U64),
    Row::new("ConvertToInt64", A, C::ConvertEach(T::I8)).of(F64),
    Row::new("ConvertToUInt64", A, C::ConvertEach(T::U8)).of(F64),
    Row::new("Abs", A, C::Unary(V::Abs)).of(LaneSet::FLOATS),
    Row::new("Abs", A, C::Unary(V::Abs)).of(LaneSet::UNSIGNED),
    Row::new("Abs", A, C::Magnitude).of(LaneSet::SIGNED),
    Row::new("Add", AB, C::Binary(V::Add)),
    Row::new("AndNot", AB, C::Binary(V::AndNot)),
    Row::new("AsVectorByte", A, C::Reinterpret),
    Row::new("AsVectorDouble", A, C::Reinterpret),
    Row::new("AsVectorInt16", A, C::Reinterpret),
    Row::new("AsVectorInt32", A, C::Reinterpret),
    Row::new("AsVectorInt64", A, C::Reinterpret),
    Row::new("AsVectorSByte", A, C::Reinterpret),
    Row::new("AsVectorSingle", A, C::Reinterpret),
    Row::new("AsVectorUInt16", A, C::Reinterpret),
    Row::new("AsVectorUInt32", A, C::Reinterpret),
    Row::new("AsVectorUInt64", A, C::Reinterpret),
    Row::new("BitwiseAnd", AB, C::Binary(V::And)),
    Row::new("BitwiseOr", AB, C::Binary(V::Or)),
    Row::new("ConditionalSelect", &[Any, Any, Any], C::Select),
    Row::new("Divide", AB, C::Binary(V::Div)).of(LaneSet::FLOATS),
    Row::new("Divide", AB, C::Quotients).of(LaneSet::INTEGERS),
    Row::new("Dot", AB, C::Dot),
    Row::new("Equals", AB, C::Binary(V::Eq)),
    Row::new("EqualsAll", AB, C::All(V::Eq)),
    Row::new("EqualsAny", AB, C::AnyOf(V::Eq)),
    Row::new("GreaterThan", AB, C::Binary(V::Gt)),
    Row::new("GreaterThanAll", AB, C::All(V::Gt)),
    Row::new("GreaterThanAny", AB, C::AnyOf(V::Gt)),
    Row::new("GreaterThanOrEqual", AB, C::Binary(V::Ge)),
    Row::new("GreaterThanOrEqualAll", AB, C::All(V::Ge)),
    Row::new("GreaterThanOrEqualAny", AB, C::AnyOf(V::Ge)),
    Row::new("LessThan", AB, C::Binary(V::Lt)),
    Row::new("LessThanAll", AB, C::All(V::Lt)),
    Row::new("LessThanAny", AB, C::AnyOf(V::Lt)),
    Row::new("LessThanOrEqual", AB, C::Binary(V::Le)),
    Row::new("LessThanOrEqualAll", AB, C::All(V::Le)),
    Row::new("LessThanOrEqualAny", AB, C::AnyOf(V::Le)),
    Row::new("Max", AB, C::Binary(V::Max)),
    Row::new("Min", AB, C::Binary(V::Min)),
    Row::new("Multiply", AB, C::Binary(V::Mul)),
    Row::new("Multiply", AS, C::ByScalar(V::Mul)),
    Row::new("Multiply", SA, C::OfScalar(V::Mul)),
    Row::new("Negate", A, C::FromZero),
    Row::new("OnesComplement", A, C::Unary(V::Not)),
    Row::new("SquareRoot", A, C::Unary(V::Sqrt)).of(LaneSet::FLOATS),
    Row::new("SquareRoot", A, C::Roots).of(LaneSet::INTEGERS),
    Row::new("Subtract", AB, C::Binary(V::Sub)),
    Row::new("Xor", AB, C::Binary(V::Xor)),
];

const FIXED: &[Row] = &[
    Row::new("get_Zero", NONE, C::Bytes(0)),
    Row::new("get_One", NONE, C::One),
    Row::new("get_UnitX", NONE, AsWritten),
    Row::new("get_UnitY", NONE, AsWritten),
    Row::new("get_UnitZ", NONE, AsWritten),
    Row::new("get_UnitW", NONE, AsWritten),
    Row::new(".ctor", &[Lane], C::Splat),
    Row::new(".ctor", &[EachLane], C::Elements),
    Row::new("CopyTo", &[Array], C::CopyTo),
    Row::new("CopyTo", &[Array, Int], C::CopyTo),
    Row::new("Equals", A, C::AllEqual(true)),
    Row::new("Equals", &[Any], AsWritten),
    Row::new("GetHashCode", NONE, AsWritten),
    Row::new("Length", NONE, C::Length),
    Row::new("LengthSquared", NONE, C::LengthSquared),
    Row::new("op_Addition", AB, C::Binary(V::Add)),
    Row::new("op_Subtraction", AB, C::Binary(V::Sub)),
    Row::new("op_Multiply", AB, C::Binary(V::Mul)),
    Row::new("op_Multiply", AS, C::ByScalar(V::Mul)),
    Row::new("op_Multiply", SA, C::OfScalar(V::Mul)),
    Row::new("op_Division", AB, C::Binary(V::Div)),
    Row::new("op_Division", AS, AsWritten),
    Row::new("op_UnaryNegation", A, C::FromZero),
    Row::new("op_Equality", AB, C::AllEqual(true)),
    Row::new("op_Inequality", AB, C::AllEqual(false)),
    Row::new("Abs", A, C::Unary(V::Abs)),
    Row::new("Min", AB, C::Binary(V::Min)),
    Row::new("Max", AB, C::Binary(V::Max)),
    Row::new("SquareRoot", A, C::Unary(V::Sqrt)),
    Row::new("Dot", AB, C::Dot),
    Row::new("Clamp", ABC, C::Clamp),
    Row::new("Distance", AB, C::Length),
    Row::new("DistanceSquared", AB, C::LengthSquared),
    Row::new("Normalize", A, AsWritten),
    Row::new("Add", AB, C::Binary(V::Add)),
    Row::new("Subtract", AB, C::Binary(V::Sub)),
    Row::new("Multiply", AB, C::Binary(V::Mul)),
    Row::new("Multiply", AS, C::ByScalar(V::Mul)),
    Row::new("Multiply", SA, C::OfScalar(V::Mul)),
    Row::new("Divide", AB, C::Binary(V::Div)),
    Row::new("Divide", AS, AsWritten),
    Row::new("Negate", A, C::FromZero),
];

const VECTOR2: &[Row] = &[
    Row::new("Lerp", ABS, C::Lerp),
    Row::new("Reflect", AB, C::ReflectScalarsFirst),
    Row::new("Transform", &[Own, Q], C::Matrix(M::Rotate)),
    Row::new("Transform", &[Own, M32], C::Matrix(M::Transform)),
    Row::new("Transform", &[Own, M44], C::Matrix(M::Transform)),
    Row::new("TransformNormal", &[Own, M32], C::Matrix(M::TransformNormal)),
    Row::new("TransformNormal", &[Own, M44], C::Matrix(M::TransformNormal)),
];

const VECTOR3: &[Row] = &[
    Row::new(".ctor", &[V2, Lane], C::Joined),
    Row::new("Cross", AB, C::Cross),
    Row::new("Lerp", ABS, C::Mix),
    Row::new("Reflect", AB, C::Reflect),
    Row::new("Transform", &[Own, Q], C::Matrix(M::Rotate)),
    Row::new("Transform", &[Own, M44], C::Matrix(M::Transform)),
    Row::new("TransformNormal", &[Own, M44], C::Matrix(M::TransformNormal)),
];

const VECTOR4: &[Row] = &[
    Row::new(".ctor", &[V2, Lane, Lane], C::Joined),
    Row::new(".ctor", &[V3, Lane], C::Joined),
    Row::new("Lerp", ABS, C::Lerp),
    Row::new("Transform", &[V2, M44], C::Matrix(M::Transform)),
    Row::new("Transform", &[V3, M44], C::Matrix(M::Transform)),
    Row::new("Transform", &[V4, M44], C::Matrix(M::Transform)),
    Row::new("Transform", &[V2, Q], C::Matrix(M::Rotate)),
    Row::new("Transform", &[V3, Q], C::Matrix(M::Rotate)),
    Row::new("Transform", &[V4, Q], C::Matrix(M::Rotate)),
];

const MATRICES: &[Row] = &[
    Row::new("op_Addition", AB, C::Matrix(M::Rows(V::Add))),
    Row::new("Add", AB, C::Matrix(M::Rows(V::Add))),
    Row::new("op_Subtraction", AB, C::Matrix(M::Rows(V::Sub))),
    Row::new("Subtract", AB, C::Matrix(M::Rows(V::Sub))),
    Row::new("op_UnaryNegation", A, C::Matrix(M::EachRow(V::Neg))),
    Row::new("Negate", A, C::Matrix(M::EachRow(V::Neg))),
    Row::new("op_Multiply", AB, C::Matrix(M::Product)),
    Row::new("Multiply", AB, C::Matrix(M::Product)),
    Row::new("op_Multiply", &[Own, Single], C::Matrix(M::RowsByScalar(V::Mul))),
    Row::new("Multiply", &[Own, Single], C::Matrix(M::RowsByScalar(V::Mul))),
    Row::new("Lerp", &[Own, Own, Single], C::Matrix(M::Lerp)),
    Row::new("op_Equality", AB, C::Matrix(M::Equal(true))),
    Row::new("op_Inequality", AB, C::Matrix(M::Equal(false))),
    Row::new("Equals", A, C::Matrix(M::Equal(true))),
    Row::new("get_Identity", NONE, AsWritten),
    Row::new("get_IsIdentity", NONE, AsWritten),
    Row::new("get_Translation", NONE, AsWritten),
    Row::new("GetDeterminant", NONE, AsWritten),
    Row::new("Invert", &[Own, Pointer], AsWritten),
];

const MATRIX4X4: &[Row] = &[
    Row::new("Transpose", A, C::Matrix(M::Transpose)),
    Row::new("Transform", &[Own, Q], C::Matrix(M::RotateRows)),
    Row::new("Decompose", &[Own, Pointer, Pointer, Pointer], AsWritten),
];

const QUATERNION: &[Row] = &[
    Row::new("get_Identity", NONE, AsWritten),
    Row::new("get_IsIdentity", NONE, AsWritten),
    Row::new(".ctor", &[EachLane], C::Elements),
    Row::new(".ctor", &[V3, Lane], C::Joined),
    Row::new("op_Addition", AB, C::Binary(V::Add)),
    Row::new("Add", AB, C::Binary(V::Add)),
    Row::new("op_Subtraction", AB, C::Binary(V::Sub)),
    Row::new("Subtract", AB, C::Binary(V::Sub)),
    Row::new("op_UnaryNegation", A, C::Unary(V::Neg)),
    Row::new("Negate", A, C::Unary(V::Neg)),
    Row::new("op_Multiply", AB, C::Matrix(M::QuaternionProduct)),
    Row::new("Multiply", AB, C::Matrix(M::QuaternionProduct)),
    Row::new("op_Multiply", AS, C::ByScalar(V::Mul)),
    Row::new("Multiply", AS, C::ByScalar(V::Mul)),
    Row::new("op_Equality", AB, C::AllEqual(true)),
    Row::new("op_Inequality", AB, C::AllEqual(false)),
    Row::new("Equals", A, C::AllEqual(true)),
    Row::new("Dot", AB, C::Dot),
    Row::new("Conjugate", A, C::Matrix(M::Conjugate)),
    Row::new("Normalize", A, C::Matrix(M::Normalize)),
    Row::new("Length", NONE, C::Length),
    Row::new("LengthSquared", NONE, C::LengthSquared),
    Row::new("op_Division", AB, C::Matrix(M::Quotient)),
    Row::new("Divide", AB, C::Matrix(M::Quotient)),
    Row::new("Concatenate", AB, C::Matrix(M::Concatenate)),
    Row::new("Inverse", A, C::Matrix(M::Inverse)),
    Row::new("Lerp", ABS, AsWritten),
    Row::new("Slerp", ABS, AsWritten),
];

const PLANE: &[Row] = &[
    Row::new("Dot", &[Own, V4], C::Matrix(M::PlaneDot)),
    Row::new("op_Equality", AB, C::Matrix(M::PlanesEqual(true))),
    Row::new("op_Inequality", AB, C::Matrix(M::PlanesEqual(false))),
    Row::new("DotCoordinate", &[Own, V3], AsWritten),
    Row::new("DotNormal", &[Own, V3], AsWritten),
    Row::new("Equals", A, C::Matrix(M::PlanesEqual(true))),
    Row::new("Normalize", A, AsWritten),
    Row::new("CreateFromVertices", &[V3, V3, V3], AsWritten),
    Row::new("Transform", &[Own, M44], AsWritten),
    Row::new("Transform", &[Own, Q], C::Matrix(M::RotatePlane)),
];
