//! Which methods of vector types the importer knows, and what they are.
//!
//! Methods that are not here run as the class library wrote them; most of those are made of these. Left out: what no short sequence of instructions computes (divisions of
//! integers, square roots of integers, divisions by a scalar, which the class library makes multiplications).

use crate::ir::{Lanes, VectorOp};
use crate::vector_types::{VectorType, lanes_of, numerics_name, vector_type};
use saki_types::{ElementType, LoadResult, Method, Ty};

/// What a call of a method of a vector type becomes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::import) enum VectorCall {
    /// An int32 or bool.
    Constant(i32),
    /// The same bits in every byte: 0 or 0xff.
    Bytes(u8),
    /// Every lane is one.
    One,
    Unary(VectorOp),
    Binary(VectorOp),
    /// The second operand, or the first, is a scalar for every lane.
    ByScalar(VectorOp),
    OfScalar(VectorOp),
    /// The least integer has no magnitude: OverflowException.
    Magnitude,
    /// Bool: whether all lanes are equal, or not.
    AllEqual(bool),
    /// The mask comes first.
    Select,
    /// The same bits as the type of the result.
    Reinterpret,
    /// The sum of the products, lane by lane from the first one.
    Dot,
    /// Constructors: one scalar for all lanes; a scalar for each lane.
    Splat,
    Elements,
    /// Constructor: elements of an array, from an index or from the first one.
    FromArray,
    /// Into an array, from an index or from its first element.
    CopyTo,
    Item,
    /// `(source, out low, out high)`.
    Widen(Lanes),
    /// Of the wide lanes.
    Narrow(Lanes),
    /// Of lanes of 4 bytes; the source's.
    Convert(VectorOp, Lanes),
}

/// Finds what a method is.
///
/// # Errors
/// Those of the method's signature.
pub(in crate::import) fn find(method: &'static Method) -> LoadResult<Option<VectorCall>> {
    let Some(name) = numerics_name(method.owner) else { return Ok(None) };
    if name == "Vector" {
        return operations(method);
    }
    let Some(vector) = vector_type(method.owner) else { return Ok(None) };
    let sig = method.sig()?;
    let scalar = |ty: Ty| lanes_of(ty) == Some(vector.lanes);
    let same = |ty: Ty| ty == method.owner;
    let params = &sig.params[..];
    let shape = match params {
        [] => Shape::Nothing,
        [a] if same(a) => Shape::Vector,
        [a] if scalar(a) => Shape::Scalar,
        [a, b] if same(a) && same(b) => Shape::Vectors,
        [a, b] if same(a) && scalar(b) => Shape::VectorScalar,
        [a, b] if scalar(a) && same(b) => Shape::ScalarVector,
        [a, b, c] if same(a) && same(b) && same(c) => Shape::ThreeVectors,
        [a] if is_array(a, vector.lanes) => Shape::Array,
        [a, b] if is_array(a, vector.lanes) && b.element_type == ElementType::I4 => Shape::Array,
        _ if params.len() == vector.count as usize && params.iter().all(|p| scalar(p)) => Shape::Elements,
        _ => return Ok(None),
    };
    if name == "Vector`1" {
        return Ok(generic(method, vector, shape, sig.ret));
    }
    Ok(if name == "Quaternion" { None } else { fixed(method, vector, shape) })
}

/// What the parameters are.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Shape {
    Nothing,
    Vector,
    Scalar,
    Vectors,
    VectorScalar,
    ScalarVector,
    ThreeVectors,
    Array,
    Elements,
}

fn is_array(ty: Ty, lanes: Lanes) -> bool {
    ty.is_sz_array() && ty.element().and_then(lanes_of) == Some(lanes)
}

/// `Vector<T>`.
fn generic(method: &'static Method, vector: VectorType, shape: Shape, ret: Ty) -> Option<VectorCall> {
    use VectorCall as C;
    use VectorOp as V;
    let lanes = vector.lanes;
    let call = match (method.name, shape) {
        ("get_Count", Shape::Nothing) => C::Constant(vector.count as i32),
        ("get_Zero", Shape::Nothing) => C::Bytes(0),
        ("get_AllOnes", Shape::Nothing) => C::Bytes(0xff),
        ("get_One", Shape::Nothing) => C::One,
        (".ctor", Shape::Scalar) => C::Splat,
        (".ctor", Shape::Array) => C::FromArray,
        ("CopyTo", Shape::Array) => C::CopyTo,
        ("op_Multiply", Shape::VectorScalar) => C::ByScalar(V::Mul),
        ("op_Multiply", Shape::ScalarVector) => C::OfScalar(V::Mul),
        ("op_BitwiseAnd", Shape::Vectors) => C::Binary(V::And),
        ("op_BitwiseOr", Shape::Vectors) => C::Binary(V::Or),
        ("op_ExclusiveOr", Shape::Vectors) => C::Binary(V::Xor),
        ("op_OnesComplement", Shape::Vector) => C::Unary(V::Not),
        ("op_Explicit", Shape::Vector) if vector_type(ret).is_some() => C::Reinterpret,
        ("LessThan", Shape::Vectors) => C::Binary(V::Lt),
        ("LessThanOrEqual", Shape::Vectors) => C::Binary(V::Le),
        ("GreaterThan", Shape::Vectors) => C::Binary(V::Gt),
        ("GreaterThanOrEqual", Shape::Vectors) => C::Binary(V::Ge),
        ("Equals", Shape::Vectors) => C::Binary(V::Eq),
        ("ConditionalSelect", Shape::ThreeVectors) => C::Select,
        ("DotProduct", Shape::Vectors) => C::Dot,
        ("Abs", Shape::Vector) if !lanes.is_float() && !lanes.is_unsigned() => C::Magnitude,
        ("SquareRoot", Shape::Vector) if lanes.is_float() => C::Unary(V::Sqrt),
        ("get_Item", _) if is_item(method) => C::Item,
        _ => return shared(method, lanes, shape),
    };
    Some(call)
}

fn is_item(method: &'static Method) -> bool {
    method.sig().is_ok_and(|sig| matches!(sig.params[..], [p] if p.element_type == ElementType::I4))
}

/// Vector2, Vector3 and Vector4.
fn fixed(method: &'static Method, vector: VectorType, shape: Shape) -> Option<VectorCall> {
    use VectorCall as C;
    use VectorOp as V;
    let call = match (method.name, shape) {
        ("get_Zero", Shape::Nothing) => C::Bytes(0),
        ("get_One", Shape::Nothing) if vector.count == 4 => C::One,
        (".ctor", Shape::Scalar) => C::Splat,
        (".ctor", Shape::Elements) => C::Elements,
        ("op_Multiply", Shape::VectorScalar) => C::ByScalar(V::Mul),
        ("op_Multiply", Shape::ScalarVector) => C::OfScalar(V::Mul),
        ("Dot", Shape::Vectors) => C::Dot,
        ("SquareRoot", Shape::Vector) => C::Unary(V::Sqrt),
        // The lanes that are not in use would be 0 / 0.
        ("op_Division", _) if vector.count != 4 => return None,
        _ => return shared(method, vector.lanes, shape),
    };
    Some(call)
}

fn shared(method: &'static Method, lanes: Lanes, shape: Shape) -> Option<VectorCall> {
    use VectorCall as C;
    use VectorOp as V;
    Some(match (method.name, shape) {
        ("op_Addition", Shape::Vectors) => C::Binary(V::Add),
        ("op_Subtraction", Shape::Vectors) => C::Binary(V::Sub),
        ("op_Multiply", Shape::Vectors) => C::Binary(V::Mul),
        ("op_Division", Shape::Vectors) if lanes.is_float() => C::Binary(V::Div),
        ("op_Equality", Shape::Vectors) | ("Equals", Shape::Vector) => C::AllEqual(true),
        ("op_Inequality", Shape::Vectors) => C::AllEqual(false),
        ("Min", Shape::Vectors) => C::Binary(V::Min),
        ("Max", Shape::Vectors) => C::Binary(V::Max),
        ("Abs", Shape::Vector) => C::Unary(V::Abs),
        _ => return None,
    })
}

/// The static class `Vector`.
fn operations(method: &'static Method) -> LoadResult<Option<VectorCall>> {
    use VectorCall as C;
    if method.name == "get_IsHardwareAccelerated" {
        return Ok(Some(C::Constant(1)));
    }
    let sig = method.sig()?;
    let source = sig.params.first().and_then(|ty| vector_type(ty)).map(|vector| vector.lanes);
    let result = vector_type(sig.ret).map(|vector| vector.lanes);
    Ok(match (method.name, source, result, sig.params.len()) {
        ("Widen", Some(lanes), None, 3) if lanes.bytes() < 8 => Some(C::Widen(lanes)),
        ("Narrow", Some(lanes), Some(_), 2) if lanes.bytes() > 1 => Some(C::Narrow(lanes)),
        ("ConvertToSingle", Some(lanes @ (Lanes::I32 | Lanes::U32)), Some(Lanes::F32), 1) => {
            Some(C::Convert(VectorOp::ToFloat, lanes))
        }
        ("ConvertToInt32", Some(lanes @ Lanes::F32), Some(Lanes::I32), 1) => {
            Some(C::Convert(VectorOp::ToInteger, lanes))
        }
        _ => None,
    })
}
