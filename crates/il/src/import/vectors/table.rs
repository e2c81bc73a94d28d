//! Look-up of the operation for a method of a vector type: a table of rows, each of which names methods and their replacement.
//!
//! The rows are in `numerics` and `simd`. `docs/simd.md` is generated from the same rows, so that the two cannot differ. Rows that say `AsWritten` exist for the page
//! only: these methods run as the class library wrote them, in terms of the others.

use super::{numerics, simd};
use crate::import::kinds::ir_type;
use crate::ir::{ConvTarget, IrType, Lanes, VectorOp};
use crate::vector_types::{Family, VectorType, family_name, lanes_of, vector_type};
use saki_types::{ElementType, LoadResult, Method, Ty};

/// The replacement for a call of a method of a vector type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::import) enum VectorCall {
    /// The class library's own code.
    AsWritten,
    Nothing,
    /// An int32 or bool.
    Constant(i32),
    /// The features of this processor, as a number of `Mono.Simd.AccelMode`.
    AccelerationMode,
    /// The same bits in every byte: 0 or 0xff.
    Bytes(u8),
    /// Every lane is one.
    One,
    Unary(VectorOp),
    Binary(VectorOp),
    /// The second operand comes first.
    Swapped(VectorOp),
    /// The complement of a `Binary` or `Unary` operation's result.
    Complement(VectorOp),
    /// The second operand, or the first, is a scalar for every lane.
    ByScalar(VectorOp),
    OfScalar(VectorOp),
    /// `(vector, scalar)`, where the class library multiplies the scalar by the lanes.
    ScalarFirst(VectorOp),
    /// The least integer has no magnitude: OverflowException.
    Magnitude,
    /// Bool: whether all lanes are equal, or not.
    AllEqual(bool),
    /// Bool: whether a comparison holds for all lanes, or for any.
    All(VectorOp),
    AnyOf(VectorOp),
    /// 0 - x, which is not -x for a zero.
    FromZero,
    /// The mask comes first.
    Select,
    /// The same bits as the type of the result.
    Reinterpret,
    /// The sum of the products, lane by lane from the first one.
    Dot,
    /// Constructors: from one scalar for all lanes; from a scalar for each lane; from a vector and a scalar for each further lane.
    Splat,
    Elements,
    Joined,
    /// From elements of an array, from an index or from the first one on; the first is a constructor, the second another method.
    FromArray,
    ArrayPart,
    /// Constructor: the first elements of a `Span<T>`.
    FromSpan,
    /// Copies into an array, at an index or at its first element: with the vector as `this`, or with the array as first argument.
    CopyTo,
    SetArray,
    Item,
    /// As `Item`, with ArgumentOutOfRangeException.
    Component,
    SetComponent,
    /// `(source, out low, out high)`.
    Widen,
    Narrow,
    /// To the lanes of the result.
    Convert(VectorOp),
    /// Lane by lane with scalar operations: conversions, quotients (which may throw) and roots of integers.
    ConvertEach(ConvTarget),
    Quotients,
    Roots,
    /// `a + (b - a) * amount`.
    Lerp,
    /// `a * (1 - amount) + b * amount`.
    Mix,
    /// `a - b * dot(a, b) * 2`, from left to right, or with the scalars multiplied first.
    Reflect,
    ReflectScalarsFirst,
    /// The dot product of a vector, or of the difference of two, with itself; and its square root.
    LengthSquared,
    Length,
    /// `(value, least, greatest)`; NaN stays NaN.
    Clamp,
    Cross,
    /// By an int32, of which as many bits count as C# uses for the lane's width.
    Shift(VectorOp),
    /// Bytes of the first operand, and of the second one (16 and more), by number.
    Permute([u8; 16]),
    /// By a constant argument.
    PermuteBy(Permutation),
    /// `Math.Min` and `Math.Max`: NaN if the first is.
    Propagating(VectorOp),
    /// Of neighbouring lanes, those of the first operand and then those of the second one.
    Pairwise(VectorOp),
    /// Even lanes are subtracted and odd ones added.
    SubtractAdd,
    Reciprocal,
    InverseRoot,
    /// To the nearest integers, or towards zero; for two F64 lanes the other two result lanes are zero.
    Rounded,
    Truncated,
    /// Two sums of absolute differences, of the first eight bytes and of the others; the second operand's bytes are signed.
    Differences,
    /// An operation on matrices, quaternions or planes.
    Matrix(MatrixCall),
}

/// How a constant selects lanes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::import) enum Permutation {
    /// Two bits for each of four lanes, or one for each of two; the upper half from the last vector.
    Lanes,
    /// Two bits for each of the upper, or lower, four lanes of two bytes.
    High,
    Low,
}

/// An operation on rows of matrices, or on a quaternion or plane as a whole.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::import) enum MatrixCall {
    /// The operation on the rows of two matrices, of one matrix, or of one matrix and a scalar.
    Rows(VectorOp),
    EachRow(VectorOp),
    RowsByScalar(VectorOp),
    Lerp,
    Transpose,
    Product,
    Equal(bool),
    /// A vector times a matrix. `Transform` adds the last row where the vector has fewer lanes than the matrix has rows; `TransformNormal` does not.
    Transform,
    TransformNormal,
    /// Operations on quaternions, from here to `Normalize`.
    QuaternionProduct,
    /// The quaternion product with the operands swapped.
    Concatenate,
    Quotient,
    Conjugate,
    Inverse,
    Normalize,
    /// Rotates a vector, a plane's normal, or each row of a matrix by a quaternion. The fourth lane is one where the operand has fewer lanes.
    Rotate,
    RotatePlane,
    RotateRows,
    /// The dot product of a plane and a Vector4; the comparison of two planes.
    PlaneDot,
    PlanesEqual(bool),
}

/// A set of lanes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::import) struct LaneSet(u16);

impl LaneSet {
    pub const fn of(lanes: &[Lanes]) -> LaneSet {
        let (mut bits, mut at) = (0, 0);
        while at < lanes.len() {
            bits |= 1 << lanes[at] as u16;
            at += 1;
        }
        LaneSet(bits)
    }

    pub const fn contains(self, lanes: Lanes) -> bool {
        self.0 >> lanes as u16 & 1 != 0
    }

    pub const ALL: LaneSet = LaneSet(0x3ff);
    pub const FLOATS: LaneSet = LaneSet::of(&[Lanes::F32, Lanes::F64]);
    pub const INTEGERS: LaneSet = LaneSet(LaneSet::ALL.0 & !LaneSet::FLOATS.0);
    pub const SIGNED: LaneSet = LaneSet::of(&[Lanes::I8, Lanes::I16, Lanes::I32, Lanes::I64]);
    pub const UNSIGNED: LaneSet = LaneSet(LaneSet::INTEGERS.0 & !LaneSet::SIGNED.0);
}

/// The type that a row requires of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::import) enum Param {
    /// The row's own type: the owner, or for static classes the first vector in the signature.
    Own,
    /// The lane type of the own type.
    Lane,
    /// One parameter of the lane type for each lane of the own type.
    EachLane,
    /// An array of lanes.
    Array,
    Int,
    Single,
    /// A type of the same assembly and namespace.
    Named(&'static str),
    /// `Span<T>` of lanes.
    Span,
    /// Managed or native pointer: to the own type, or to any type.
    OwnPointer,
    Pointer,
    /// Anything.
    Any,
}

/// Methods of one name and shape.
#[derive(Clone, Copy, Debug)]
pub(in crate::import) struct Row {
    pub method: &'static str,
    pub params: &'static [Param],
    /// Lane types of the own type that the row matches.
    pub lanes: LaneSet,
    pub call: VectorCall,
}

impl Row {
    /// Whether these are instance methods. Constructors count as such.
    fn has_this(&self) -> bool {
        match self.method {
            ".ctor" | "CopyTo" | "get_Item" | "get_Component" | "set_Component" => true,
            "Length" | "LengthSquared" => true,
            "Equals" => self.params.len() == 1,
            _ => false,
        }
    }

    pub const fn new(method: &'static str, params: &'static [Param], call: VectorCall) -> Row {
        Row { method, params, lanes: LaneSet::ALL, call }
    }

    pub const fn of(mut self, lanes: LaneSet) -> Row {
        self.lanes = lanes;
        self
    }
}

/// Rows of the methods of some types.
pub(in crate::import) struct Group {
    pub family: Family,
    pub types: &'static [&'static str],
    pub rows: &'static [Row],
}

pub(in crate::import) fn groups() -> impl Iterator<Item = &'static Group> {
    numerics::GROUPS.iter().chain(simd::GROUPS)
}

/// The type whose lanes an operation has.
pub(in crate::import) struct Subject {
    pub ty: Ty,
    pub vector: Option<VectorType>,
}

/// The owner if it is not a static class, else the first vector type of the signature, else the return type.
pub(in crate::import) fn subject(method: &'static Method) -> LoadResult<Subject> {
    let sig = method.sig()?;
    let mut candidates = std::iter::once(method.owner).chain(sig.params.iter().copied());
    let found = candidates.find(|ty| vector_type(ty).is_some());
    let is_static_class = !method.owner.is_value_type();
    let ty = if is_static_class { found.unwrap_or(sig.ret) } else { method.owner };
    Ok(Subject { ty, vector: vector_type(ty) })
}

/// The row of a method.
///
/// # Errors
/// The errors of the method's signature.
pub(in crate::import) fn row_of(method: &'static Method) -> LoadResult<Option<&'static Row>> {
    let Some((family, name)) = family_name(method.owner) else { return Ok(None) };
    let mut subject_of_method = None;
    for group in groups().filter(|group| group.family == family && group.types.contains(&name)) {
        let candidates = group.rows.iter().filter(|row| row.method == method.name);
        for row in candidates.filter(|row| row.call == VectorCall::AsWritten || row.has_this() != method.is_static()) {
            let subject = match &subject_of_method {
                Some(subject) => subject,
                None => subject_of_method.insert(subject(method)?),
            };
            if fits(row, subject, family, &method.sig()?.params) && gives(row.call, subject, method.sig()?.ret)? {
                return Ok(Some(row));
            }
        }
    }
    Ok(None)
}

/// Finds the replacement for a method.
///
/// # Errors
/// The errors of the method's signature.
pub(in crate::import) fn find(method: &'static Method) -> LoadResult<Option<VectorCall>> {
    Ok(row_of(method)?.map(|row| row.call).filter(|call| *call != VectorCall::AsWritten))
}

/// Whether the method's return type is that of the operation. An assembly may have methods of these names with other results.
fn gives(call: VectorCall, subject: &Subject, ret: Ty) -> LoadResult<bool> {
    use MatrixCall as M;
    use VectorCall as C;
    let scalar = |ir: IrType| Ok(ir_type(ret)? == ir);
    match call {
        C::AsWritten => Ok(true),
        C::Constant(_) | C::AccelerationMode | C::AllEqual(_) | C::All(_) | C::AnyOf(_) => scalar(IrType::I32),
        C::Unary(VectorOp::HighBits) | C::Matrix(M::Equal(_) | M::PlanesEqual(_)) => scalar(IrType::I32),
        C::Nothing | C::CopyTo | C::SetArray | C::SetComponent | C::Widen => scalar(IrType::Void),
        C::Splat | C::Elements | C::Joined | C::FromArray | C::FromSpan => scalar(IrType::Void),
        C::Dot | C::Length | C::LengthSquared | C::Item | C::Component => match subject.vector {
            Some(vector) => scalar(vector.lanes.scalar()),
            None => Ok(false),
        },
        C::Matrix(M::PlaneDot) => scalar(IrType::F32),
        C::Matrix(M::Transform | M::TransformNormal | M::Rotate) => Ok(vector_type(ret).is_some()),
        C::Matrix(_) => Ok(ret == subject.ty),
        _ => Ok(vector_type(ret).is_some()),
    }
}

fn fits(row: &Row, subject: &Subject, family: Family, params: &[Ty]) -> bool {
    if subject.vector.is_some_and(|vector| !row.lanes.contains(vector.lanes)) {
        return false;
    }
    if row.params == [Param::EachLane] {
        return subject.vector.is_some_and(|vector| params.len() == vector.count as usize)
            && params.iter().all(|ty| fits_one(Param::Lane, ty, subject, family));
    }
    row.params.len() == params.len() && row.params.iter().zip(params).all(|(p, ty)| fits_one(*p, ty, subject, family))
}

fn fits_one(param: Param, ty: Ty, subject: &Subject, family: Family) -> bool {
    let lanes = subject.vector.map(|vector| vector.lanes);
    match param {
        Param::Own => ty == subject.ty,
        Param::Lane => lanes.is_some() && lanes_of(ty) == lanes,
        Param::Array => lanes.is_some() && ty.is_sz_array() && ty.element().and_then(lanes_of) == lanes,
        Param::Span => {
            let name = ty.def().map(|def| (def.namespace, def.name));
            name == Some(("System", "Span`1"))
                && lanes.is_some()
                && ty.args.first().copied().and_then(lanes_of) == lanes
        }
        Param::Int => ty.element_type == ElementType::I4,
        Param::Single => ty.element_type == ElementType::R4,
        Param::Named(name) => family_name(ty) == Some((family, name)),
        Param::OwnPointer => is_pointer(ty) && ty.element() == Some(subject.ty),
        Param::Pointer => is_pointer(ty),
        Param::Any => true,
        Param::EachLane => false,
    }
}

fn is_pointer(ty: Ty) -> bool {
    matches!(ty.element_type, ElementType::ByRef | ElementType::Ptr)
}
