//! What the rows of `numerics` and `simd` are made of: the operations that replace methods of vector types, and the
//! shapes of these methods.

use crate::ir::{ConvTarget, Lanes, UnOp, VectorOp};
use crate::vector_types::Family;

/// The replacement for a call of a method of a vector type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum VectorCall {
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
    /// Constructors: from one scalar for all lanes; from a scalar for each lane; from a vector and a scalar for each
    /// further lane.
    Splat,
    Elements,
    Joined,
    /// From elements of an array, from an index or from the first one on; the first is a constructor, the second
    /// another method.
    FromArray,
    ArrayPart,
    /// Constructor: the first elements of a `Span<T>`.
    FromSpan,
    /// Copies into an array, at an index or at its first element: with the vector as `this`, or with the array as first
    /// argument.
    CopyTo,
    SetArray,
    Item,
    /// Reads an element by its index. For an index that no element has, the original method is called, which throws
    /// ArgumentOutOfRangeException.
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
    /// By an int32 modulo the width of a lane.
    ShiftModulo(VectorOp),
    /// Logically, by a byte; zero if it is the width of a lane or more.
    ShiftBeyond(VectorOp),
    /// Static methods that make a vector: from one scalar for all lanes, from a scalar for each, from a scalar for the
    /// first one (the others are zero), from two vectors of 8 bytes.
    SplatOf,
    ElementsOf,
    ScalarOf,
    OfHalves,
    /// A lane by a constant number, or the first one.
    Element,
    First,
    /// The vector with another scalar in a lane, or with other 8 bytes in one half. True: the upper half.
    WithElement,
    WithHalf(bool),
    /// 8 bytes as a vector type of this size. True: the upper half.
    Half(bool),
    /// Through a pointer, maybe by a number of elements behind it: `(pointer, number)`, `(vector, pointer, number)`;
    /// for the processor's instructions `(pointer, vector)`.
    Load,
    Store,
    /// The first lane alone; loading makes the others zero.
    LoadScalar,
    StoreTo,
    StoreScalar,
    /// The sum of all lanes, floats by neighbouring pairs.
    Sum,
    /// `Minimum` and `Maximum` of IEEE 754:2019: NaN if either is, -0 below +0.
    Extreme(VectorOp),
    /// Lanes of the first operand by the numbers in the second one; zero for a number that no lane has.
    SelectLanes,
    /// `(a, b, number)`: bytes of `b`, then of `a`, from a constant number of bytes on.
    AlignRight,
    /// `(a, b, selection)` by two constant bits for each of four lanes, as `shufps` has it.
    SelectFours,
    /// Bool: whether no bit is set in both operands.
    NoCommonBits,
    /// Counts bits of an integer that is no vector: int32.
    Bits(UnOp),
    /// The number of the highest bit; 0 for zero.
    Log2,
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
    /// Two sums of absolute differences, of the first eight bytes and of the others; the second operand's bytes are
    /// signed.
    Differences,
    /// An operation on matrices, quaternions or planes.
    Matrix(MatrixCall),
}

/// How a constant selects lanes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Permutation {
    /// Two bits for each of four lanes, or one for each of two; the upper half from the last vector.
    Lanes,
    /// Two bits for each of the upper, or lower, four lanes of two bytes.
    High,
    Low,
}

/// An operation on rows of matrices, or on a quaternion or plane as a whole.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum MatrixCall {
    /// The operation on the rows of two matrices, of one matrix, or of one matrix and a scalar.
    Rows(VectorOp),
    EachRow(VectorOp),
    RowsByScalar(VectorOp),
    Lerp,
    Transpose,
    Product,
    Equal(bool),
    /// A vector times a matrix. `Transform` adds the last row where the vector has fewer lanes than the matrix has
    /// rows; `TransformNormal` does not.
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
    /// Rotates a vector, a plane's normal, or each row of a matrix by a quaternion. The fourth lane is one where the
    /// operand has fewer lanes.
    Rotate,
    RotatePlane,
    RotateRows,
    /// The dot product of a plane and a Vector4; the comparison of two planes.
    PlaneDot,
    PlanesEqual(bool),
}

/// A set of lanes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LaneSet(u16);

impl LaneSet {
    /// The set of these lanes.
    pub const fn of(lanes: &[Lanes]) -> LaneSet {
        let (mut bits, mut at) = (0, 0);
        while at < lanes.len() {
            bits |= 1 << lanes[at] as u16;
            at += 1;
        }
        LaneSet(bits)
    }

    /// Whether the lanes are in the set.
    pub const fn contains(self, lanes: Lanes) -> bool {
        self.0 >> lanes as u16 & 1 != 0
    }

    /// All lane types.
    pub const ALL: LaneSet = LaneSet(0x3ff);
    /// F32 and F64.
    pub const FLOATS: LaneSet = LaneSet::of(&[Lanes::F32, Lanes::F64]);
    /// Integers of every width.
    pub const INTEGERS: LaneSet = LaneSet(LaneSet::ALL.0 & !LaneSet::FLOATS.0);
    /// Signed integers.
    pub const SIGNED: LaneSet = LaneSet::of(&[Lanes::I8, Lanes::I16, Lanes::I32, Lanes::I64]);
    /// Unsigned integers.
    pub const UNSIGNED: LaneSet = LaneSet(LaneSet::INTEGERS.0 & !LaneSet::SIGNED.0);
}

/// The type that a row requires of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Param {
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
    /// Managed or native pointer to a lane.
    LanePointer,
    /// `Vector64<T>` of the same lanes.
    HalfOfOwn,
    NativeInt,
    Byte,
    /// Anything.
    Any,
}

/// Methods of one name and shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VectorRow {
    pub method: &'static str,
    pub params: &'static [Param],
    /// Lane types of the own type that the row matches.
    pub lanes: LaneSet,
    pub call: VectorCall,
}

impl VectorRow {
    /// Whether these are instance methods. Constructors count as such.
    pub fn has_this(&self) -> bool {
        match self.method {
            ".ctor" | "CopyTo" | "get_Item" | "get_Component" | "set_Component" => true,
            "Length" | "LengthSquared" => true,
            "Equals" => self.params.len() == 1,
            _ => false,
        }
    }

    /// Methods of a name and shape, whatever the lanes.
    pub const fn new(method: &'static str, params: &'static [Param], call: VectorCall) -> VectorRow {
        VectorRow { method, params, lanes: LaneSet::ALL, call }
    }

    /// The same for these lanes only.
    pub const fn of(mut self, lanes: LaneSet) -> VectorRow {
        self.lanes = lanes;
        self
    }
}

/// Rows of the methods of some types.
pub(crate) struct VectorRows {
    pub family: Family,
    pub types: &'static [&'static str],
    pub rows: &'static [VectorRow],
}
