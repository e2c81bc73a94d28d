//! Operations on vectors of 16 bytes.
//!
//! Each operation names its division of the bytes into lanes; values have no lane type. Masks are lanes of all ones or
//! all zeroes. Operations give the results of the class library's own code, which works lane by lane: NaN, −0 and
//! overflows are treated as with scalars.

use super::IrType;

/// A division of 16 bytes into lanes. Signedness matters only to comparisons, minima, maxima, widening and right
/// shifts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lanes {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Lanes {
    /// The size of one lane.
    pub fn bytes(self) -> u32 {
        match self {
            Lanes::I8 | Lanes::U8 => 1,
            Lanes::I16 | Lanes::U16 => 2,
            Lanes::I32 | Lanes::U32 | Lanes::F32 => 4,
            Lanes::I64 | Lanes::U64 | Lanes::F64 => 8,
        }
    }

    /// The number of lanes in 16 bytes.
    pub fn count(self) -> u32 {
        16 / self.bytes()
    }

    /// Whether the lanes are F32 or F64.
    pub fn is_float(self) -> bool {
        matches!(self, Lanes::F32 | Lanes::F64)
    }

    /// Whether the lanes are unsigned integers.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Lanes::U8 | Lanes::U16 | Lanes::U32 | Lanes::U64)
    }

    /// IR type of a lane as a scalar; narrow integers are extended.
    pub fn scalar(self) -> IrType {
        match self {
            Lanes::F32 => IrType::F32,
            Lanes::F64 => IrType::F64,
            Lanes::I64 | Lanes::U64 => IrType::I64,
            _ => IrType::I32,
        }
    }

    /// Signed integer lanes of the same size.
    pub fn as_signed(self) -> Lanes {
        match self.bytes() {
            1 => Lanes::I8,
            2 => Lanes::I16,
            4 => Lanes::I32,
            _ => Lanes::I64,
        }
    }
}

/// Operations on vectors; operands and result are vectors unless noted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VectorOp {
    /// A scalar in each lane.
    Splat,
    /// The scalar in this lane.
    Extract(u8),
    /// `a` with the scalar `b` in this lane.
    Insert(u8),
    Add,
    Sub,
    Mul,
    /// Floats.
    Div,
    /// Lanes of 1 and 2 bytes: results that do not fit become the least or the greatest number.
    AddSaturated,
    SubSaturated,
    /// Unsigned lanes of 1 and 2 bytes: `(a + b + 1) / 2`.
    Average,
    /// The upper halves of the products of 2-byte lanes.
    MultiplyHigh,
    And,
    /// `a & !b`.
    AndNot,
    Or,
    Xor,
    Not,
    /// Changes the sign bit of floats.
    Neg,
    /// Clears the sign bit of floats; the least integer stays.
    Abs,
    Sqrt,
    Floor,
    Ceil,
    /// Towards zero.
    Truncate,
    /// To the nearest whole number, halves to the even one.
    Round,
    /// `a < b ? a : b`, so `b` where either is NaN.
    Min,
    /// `a > b ? a : b`.
    Max,
    /// Comparisons, whose results are masks.
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
    /// Floats: whether either is NaN.
    Unordered,
    /// Bits of `b` where those of `a` are set, else of `c`.
    BitSelect,
    /// I32: whether all, or any, lanes are non-zero.
    AllTrue,
    AnyTrue,
    /// I32: the highest bits of the lanes, that of the first one lowest.
    HighBits,
    /// Shifts by the I32 `b` modulo the width of a lane.
    ShiftLeft,
    ShiftRight,
    ShiftRightLogical,
    /// The low or high half of the lanes, each of twice the width.
    WidenLow,
    WidenHigh,
    /// The low bits of the lanes of `a`, then of `b`; `lanes` is the wide type. F64 lanes are rounded.
    Narrow,
    /// The lanes of `a`, then of `b`, which are signed and of 2 or 4 bytes, saturated to lanes of half the width: to
    /// signed ones, or to unsigned ones by `PackUnsigned`. `lanes` is the wide type.
    PackSigned,
    PackUnsigned,
    /// I32 or U32 lanes to F32.
    ToFloat,
    /// The first two I32 lanes to F64.
    ToDouble,
    /// F64 lanes to the first two F32 lanes; the others are zero.
    ToSingle,
    /// F32 lanes to integers, towards zero; values that do not fit become the least integer.
    ToInteger,
    /// Selects bytes of `a` (0–15) and `b` (16–31) by the constant `c`.
    Shuffle,
    /// Selects bytes of `a` by the low four bits of each byte of `b`; zero where that byte's highest bit is set.
    ShuffleBytes,
    /// Products of neighbouring lanes, added, in lanes of twice the width: of I16 lanes, or of the unsigned bytes of
    /// `a` and the signed ones of `b` (`lanes` is U8), whose sums are saturated.
    MultiplyAddPairs,
}

impl VectorOp {
    /// Type of the result.
    pub fn result(self, lanes: Lanes) -> IrType {
        match self {
            VectorOp::Extract(_) => lanes.scalar(),
            VectorOp::AllTrue | VectorOp::AnyTrue | VectorOp::HighBits => IrType::I32,
            _ => IrType::V128,
        }
    }
}
