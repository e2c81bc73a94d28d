//! Generates functions of the IR: lists of steps, of which each adds some instructions over the values before it.

mod calls;
mod elements;
mod objects;
mod places;
mod typed;

use crate::common::*;
pub use calls::callees;
use elements::{Elements, elements};
pub use objects::REFERENCE;
use places::{place, variable, vector_place};
use proptest::prelude::*;
use saki_abi::HelperId;
use saki_il::ir::*;
use std::collections::HashMap;
use typed::{OBJECT_LOCALS, Typed};

const I32: IrType = IrType::I32;
const I64: IrType = IrType::I64;
const F32: IrType = IrType::F32;
const F64: IrType = IrType::F64;
const V128: IrType = IrType::V128;

/// Words of the memory that generated functions read and write: integers below, floats from `FLOATS` on, vectors from
/// `VECTORS` on, and an array of `ELEMENTS` I32 from `ARRAY` on. Behind these are the codes of functions, objects, and
/// the address of an array of references, which follows it, and that of an `object[]`, which follows it, too.
pub const WORDS: usize = SLOTS + 9;
pub const VECTORS: usize = 64;
pub const FLOATS: usize = 32;
pub const ARRAY: usize = 80;
pub const ELEMENTS: usize = 12;
pub const CALLEES: usize = 100;
pub const OBJECTS: usize = 106;
pub const OBJECT_WORDS: usize = 4;
pub const OBJECT_COUNT: usize = 4;
pub const REFERENCES: usize = OBJECTS + OBJECT_COUNT * OBJECT_WORDS;
pub const REFERENCE_COUNT: usize = 5;
pub const SLOTS: usize = REFERENCES + 12;
pub const SLOT_COUNT: usize = 4;
/// Parameters of generated functions; the first is the address of the words, the last two an array or
/// null, and an object.
const PARAMS: [IrType; 8] = [I64, I32, I64, I32, F64, F32, IrType::Ref, IrType::Ref];
/// The parameter with the array.
const ARRAY_PARAM: u32 = 6;
/// The parameter with the object.
const OBJECT_PARAM: u32 = 7;
/// The local to which handlers write the exception.
const CAUGHT: usize = PARAMS.len() + 1;

/// Locals of generated functions that steps read and write: the parameters and more, so many that not all have
/// registers. Counters of loops follow.
const VARIABLES: usize = PARAMS.len() + MORE.len();
const MORE: [IrType; 9] = [I32, I64, F64, V128, I64, I32, I64, I64, F64];

/// One step of a generated function; the numbers choose among the existing values.
#[derive(Clone, Debug)]
pub enum Step {
    Constant(IrType, i64),
    Binary(usize, IrType, usize, usize),
    Unary(usize, IrType, usize),
    Compare(usize, IrType, usize, usize),
    Convert(usize, IrType, usize),
    Load(usize, usize),
    Store(usize, usize, usize),
    Get(usize),
    Set(usize, usize),
    Element(usize, u32),
    CallFRem(usize, usize),
    Poll,
    Divide(usize, IrType, usize, usize),
    ShiftBy(usize, IrType, usize, usize),
    Select(IrType, usize, usize, usize),
    Vector(usize, usize, [usize; 3], u128),
    VectorConstant(u128),
    VectorLoad(usize, usize),
    VectorStore(usize, usize, usize),
    /// An operation of one number that programs seldom use.
    Rare(usize, usize),
    /// A conversion of a number to any type, as unsigned or not, and of a small integer as checked or not.
    ConvertAny(usize, IrType, usize, bool, bool),
    CopySign(IrType, usize, usize),
    /// The unsigned product of two small numbers, checked.
    Product(IrType, usize, usize),
    Atomic(usize, usize, usize, usize),
    Exchange(usize, usize, usize, usize),
    Localloc(i64, usize),
    /// if (value) { the next steps } else { none of them }, joined after this many.
    If(usize, usize),
    /// The next steps, so many, are run this often.
    Loop(i32, usize),
    /// The next steps, so many, are protected; the handler keeps the exception, and goes on behind them.
    Try(usize),
    /// Where an exception is handled: an operation that may throw.
    Risky(usize, IrType, usize, usize),
    /// Likewise, a checked conversion of an integer.
    RiskyConvert(usize, IrType, usize, bool),
    /// Likewise, a loop over elements of the array.
    Elements(Elements),
    /// A call of one of `callees`, which may throw.
    Call(usize, [usize; 2]),
    /// An access to a field of an object, or to an element of an array of references.
    Access(usize, usize, usize),
    CompareObjects(usize, usize),
    /// Something with objects of the class library's types.
    Typed(usize, usize, usize),
}

const INTEGER_OPS: [BinOp; 9] =
    [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Shl, BinOp::Shr, BinOp::ShrUn];
const FLOAT_OPS: [BinOp; 4] = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div];
const COMPARISONS: [CmpOp; 10] = [
    CmpOp::Eq,
    CmpOp::NeUn,
    CmpOp::Lt,
    CmpOp::LtUn,
    CmpOp::Gt,
    CmpOp::GtUn,
    CmpOp::Le,
    CmpOp::LeUn,
    CmpOp::Ge,
    CmpOp::GeUn,
];
const CONVERSIONS: [ConvTarget; 12] = [
    ConvTarget::I1,
    ConvTarget::U1,
    ConvTarget::I2,
    ConvTarget::U2,
    ConvTarget::I4,
    ConvTarget::U4,
    ConvTarget::I8,
    ConvTarget::U8,
    ConvTarget::I,
    ConvTarget::U,
    ConvTarget::R4,
    ConvTarget::R8,
];
const LANES: [Lanes; 10] = [
    Lanes::I8,
    Lanes::U8,
    Lanes::I16,
    Lanes::U16,
    Lanes::I32,
    Lanes::U32,
    Lanes::I64,
    Lanes::U64,
    Lanes::F32,
    Lanes::F64,
];
const VECTOR_OPS: [VectorOp; 49] = [
    VectorOp::Splat,
    VectorOp::Extract(0),
    VectorOp::Insert(0),
    VectorOp::Add,
    VectorOp::Sub,
    VectorOp::Mul,
    VectorOp::Div,
    VectorOp::AddSaturated,
    VectorOp::SubSaturated,
    VectorOp::Average,
    VectorOp::MultiplyHigh,
    VectorOp::MultiplyAddPairs,
    VectorOp::ShuffleBytes,
    VectorOp::And,
    VectorOp::AndNot,
    VectorOp::Or,
    VectorOp::Xor,
    VectorOp::Not,
    VectorOp::Neg,
    VectorOp::Abs,
    VectorOp::Sqrt,
    VectorOp::Floor,
    VectorOp::Ceil,
    VectorOp::Truncate,
    VectorOp::Round,
    VectorOp::Min,
    VectorOp::Max,
    VectorOp::Eq,
    VectorOp::Lt,
    VectorOp::Le,
    VectorOp::Gt,
    VectorOp::Ge,
    VectorOp::Unordered,
    VectorOp::BitSelect,
    VectorOp::AllTrue,
    VectorOp::AnyTrue,
    VectorOp::HighBits,
    VectorOp::ShiftLeft,
    VectorOp::ShiftRight,
    VectorOp::ShiftRightLogical,
    VectorOp::WidenLow,
    VectorOp::WidenHigh,
    VectorOp::Narrow,
    VectorOp::PackSigned,
    VectorOp::PackUnsigned,
    VectorOp::ToFloat,
    VectorOp::ToDouble,
    VectorOp::ToSingle,
    VectorOp::ToInteger,
];
const RISKY_OPS: [BinOp; 10] = [
    BinOp::Div,
    BinOp::DivUn,
    BinOp::Rem,
    BinOp::RemUn,
    BinOp::AddOvf,
    BinOp::AddOvfUn,
    BinOp::SubOvf,
    BinOp::SubOvfUn,
    BinOp::MulOvf,
    BinOp::MulOvfUn,
];
const ATOMICS: [AtomicRmw; 5] = [AtomicRmw::Add, AtomicRmw::And, AtomicRmw::Or, AtomicRmw::Xor, AtomicRmw::Exchange];
const RARE: [(UnOp, IrType, IrType); 22] = [
    (UnOp::Sqrt, F64, F64),
    (UnOp::Sqrt, F32, F32),
    (UnOp::Abs, F64, F64),
    (UnOp::Abs, F32, F32),
    (UnOp::Abs, I32, I32),
    (UnOp::Abs, I64, I64),
    (UnOp::Floor, F64, F64),
    (UnOp::Ceil, F32, F32),
    (UnOp::Trunc, F64, F64),
    (UnOp::RoundEven, F32, F32),
    (UnOp::Clz, I32, I32),
    (UnOp::Clz, I64, I64),
    (UnOp::Ctz, I32, I32),
    (UnOp::Ctz, I64, I64),
    (UnOp::Popcnt, I32, I32),
    (UnOp::Popcnt, I64, I64),
    (UnOp::Bswap, I32, I32),
    (UnOp::Bswap, I64, I64),
    (UnOp::BitcastI32F32, I32, F32),
    (UnOp::BitcastF32I32, F32, I32),
    (UnOp::BitcastI64F64, I64, F64),
    (UnOp::BitcastF64I64, F64, I64),
];

/// Whether the operation works on these lanes.
fn has_lanes(op: VectorOp, lanes: Lanes) -> bool {
    use VectorOp as V;
    match op {
        V::Div | V::Sqrt | V::Floor | V::Ceil | V::Truncate | V::Round | V::Unordered => lanes.is_float(),
        V::AddSaturated | V::SubSaturated => lanes.bytes() <= 2,
        V::Average => lanes.bytes() <= 2 && lanes.is_unsigned(),
        V::MultiplyHigh => lanes.bytes() == 2,
        V::MultiplyAddPairs => matches!(lanes, Lanes::I16 | Lanes::U8),
        V::ShuffleBytes => lanes.bytes() == 1,
        V::ShiftLeft | V::ShiftRight | V::ShiftRightLogical => !lanes.is_float(),
        V::WidenLow | V::WidenHigh => !matches!(lanes, Lanes::I64 | Lanes::U64 | Lanes::F64),
        V::Narrow => lanes.bytes() > 1 && lanes != Lanes::F32,
        V::PackSigned | V::PackUnsigned => matches!(lanes, Lanes::I16 | Lanes::I32),
        V::ToFloat => matches!(lanes, Lanes::I32 | Lanes::U32),
        V::ToDouble => lanes == Lanes::I32,
        V::ToSingle => lanes == Lanes::F64,
        V::ToInteger => lanes == Lanes::F32,
        _ => true,
    }
}

const MEMORY: [MemType; 9] = [
    MemType::I8,
    MemType::U8,
    MemType::I16,
    MemType::U16,
    MemType::I32,
    MemType::I64,
    MemType::Ref,
    MemType::F32,
    MemType::F64,
];

fn scalar() -> impl Strategy<Value = IrType> {
    prop_oneof![Just(I32), Just(I64), Just(F32), Just(F64)]
}

pub fn step() -> impl Strategy<Value = Step> {
    let n = 0..1000usize;
    let interesting = prop_oneof![-300i64..300, Just(i64::MAX), Just(i64::MIN), any::<i64>()];
    prop_oneof![
        2 => (scalar(), interesting).prop_map(|(ty, value)| Step::Constant(ty, value)),
        6 => (n.clone(), scalar(), n.clone(), n.clone()).prop_map(|(op, ty, a, b)| Step::Binary(op, ty, a, b)),
        1 => (n.clone(), scalar(), n.clone()).prop_map(|(op, ty, a)| Step::Unary(op, ty, a)),
        3 => (n.clone(), scalar(), n.clone(), n.clone()).prop_map(|(op, ty, a, b)| Step::Compare(op, ty, a, b)),
        3 => (n.clone(), scalar(), n.clone()).prop_map(|(target, ty, a)| Step::Convert(target, ty, a)),
        2 => (n.clone(), n.clone()).prop_map(|(mem, at)| Step::Load(mem, at)),
        2 => (n.clone(), n.clone(), n.clone()).prop_map(|(mem, at, value)| Step::Store(mem, at, value)),
        2 => n.clone().prop_map(Step::Get),
        2 => (n.clone(), n.clone()).prop_map(|(local, value)| Step::Set(local, value)),
        1 => (n.clone(), 1..40u32).prop_map(|(index, size)| Step::Element(index, size)),
        1 => (n.clone(), n.clone()).prop_map(|(a, b)| Step::CallFRem(a, b)),
        1 => Just(Step::Poll),
        1 => (n.clone(), scalar(), n.clone(), n.clone()).prop_map(|(op, ty, a, b)| Step::Divide(op, ty, a, b)),
        1 => (n.clone(), scalar(), n.clone(), n.clone()).prop_map(|(op, ty, a, b)| Step::ShiftBy(op, ty, a, b)),
        1 => (scalar(), n.clone(), n.clone(), n.clone()).prop_map(|(ty, c, a, b)| Step::Select(ty, c, a, b)),
        4 => (n.clone(), n.clone(), [n.clone(), n.clone(), n.clone()], any::<u128>())
            .prop_map(|(op, lanes, operands, mask)| Step::Vector(op, lanes, operands, mask)),
        1 => any::<u128>().prop_map(Step::VectorConstant),
        1 => (n.clone(), n.clone()).prop_map(|(mem, at)| Step::VectorLoad(mem, at)),
        1 => (n.clone(), n.clone(), n.clone()).prop_map(|(mem, at, value)| Step::VectorStore(mem, at, value)),
        2 => (n.clone(), n.clone()).prop_map(|(op, a)| Step::Rare(op, a)),
        2 => (n.clone(), scalar(), n.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(target, ty, a, unsigned, checked)| Step::ConvertAny(target, ty, a, unsigned, checked)),
        1 => (scalar(), n.clone(), n.clone()).prop_map(|(ty, a, b)| Step::CopySign(ty, a, b)),
        1 => (scalar(), n.clone(), n.clone()).prop_map(|(ty, a, b)| Step::Product(ty, a, b)),
        1 => (n.clone(), n.clone(), n.clone(), n.clone()).prop_map(|(op, mem, at, a)| Step::Atomic(op, mem, at, a)),
        1 => (n.clone(), n.clone(), n.clone(), n.clone()).prop_map(|(mem, at, a, b)| Step::Exchange(mem, at, a, b)),
        1 => (0..120i64, n.clone()).prop_map(|(bytes, value)| Step::Localloc(bytes, value)),
        1 => (n.clone(), 1..6usize).prop_map(|(condition, steps)| Step::If(condition, steps)),
        1 => (0..4i32, 1..6usize).prop_map(|(times, steps)| Step::Loop(times, steps)),
        3 => (1..8usize).prop_map(Step::Try),
        2 => (n.clone(), scalar(), n.clone(), n.clone()).prop_map(|(op, ty, a, b)| Step::Risky(op, ty, a, b)),
        1 => (n.clone(), scalar(), n.clone(), any::<bool>())
            .prop_map(|(target, ty, a, unsigned)| Step::RiskyConvert(target, ty, a, unsigned)),
        3 => elements().prop_map(Step::Elements),
        4 => (n.clone(), n.clone(), n.clone()).prop_map(|(which, a, b)| Step::Call(which, [a, b])),
        6 => (n.clone(), n.clone(), n.clone()).prop_map(|(what, object, value)| Step::Access(what, object, value)),
        1 => (n.clone(), n.clone()).prop_map(|(a, b)| Step::CompareObjects(a, b)),
        40 => (n.clone(), n.clone(), n.clone()).prop_map(|(what, a, b)| Step::Typed(what, a, b)),
    ]
}

/// Builds the function of some steps.
struct Generator {
    ir: Ir,
    /// Values that may be used here, and their types.
    known: Vec<(ValueId, IrType)>,
    /// Those that are references to objects with types.
    typed: HashMap<ValueId, Typed>,
    joins: Vec<Join>,
    /// The innermost protected range here.
    region: Option<RegionId>,
    /// A loop has begun.
    has_loop: bool,
}

/// The end of steps that are run conditionally or again.
struct Join {
    /// Steps until then.
    steps: usize,
    /// The block whose branch leads there.
    branch: BlockId,
    /// Values that were known at the branch.
    known: usize,
    /// The local that counts the rounds of a loop.
    counter: Option<LocalId>,
    /// A loop that uses no values from before it, so that protected ranges may lie in it.
    is_apart: bool,
    /// Of a protected range: its handler, the handler's exception, and the range around it.
    attempt: Option<(BlockId, LocalId, Option<RegionId>)>,
}

impl Generator {
    fn pick(&mut self, ty: IrType, number: usize) -> ValueId {
        let candidates: Vec<ValueId> = self.known.iter().filter(|(_, t)| *t == ty).map(|(v, _)| *v).collect();
        match candidates.len() {
            0 => self.constant(ty, number as i64),
            // Mostly choose the newest value, so that values depend on each other.
            len => candidates[len - 1 - (number % len).min(number % 4)],
        }
    }

    fn constant(&mut self, ty: IrType, value: i64) -> ValueId {
        let op = match ty {
            IrType::I32 => Op::ConstI32(value as i32),
            IrType::F32 => Op::ConstF32((value % 1000) as f32),
            IrType::F64 => Op::ConstF64((value % 1000) as f64 / 4.0),
            IrType::V128 => Op::ConstV128((value as u128).wrapping_mul(0x9E37_79B9_7F4A_7C15_9E37_79B9_7F4A_7C15)),
            _ => Op::ConstI64(value),
        };
        self.add(op, ty)
    }

    fn add(&mut self, op: Op, ty: IrType) -> ValueId {
        let id = self.ir.push(op, ty);
        if ty != IrType::Void {
            self.known.push((id, ty));
        }
        id
    }

    fn words(&mut self) -> ValueId {
        self.ir.get(0)
    }

    fn step(&mut self, step: &Step) {
        self.add_step(step);
        self.join();
    }

    fn add_step(&mut self, step: &Step) {
        match *step {
            Step::Constant(ty, value) => {
                self.constant(ty, value);
            }
            Step::Binary(op, ty, a, b) => {
                let is_float = matches!(ty, IrType::F32 | IrType::F64);
                let op = if is_float { FLOAT_OPS[op % 4] } else { INTEGER_OPS[op % 9] };
                let left = self.pick(ty, a);
                let right = match op {
                    BinOp::Shl | BinOp::Shr | BinOp::ShrUn => self.ir.i32(b as i32),
                    _ => self.pick(ty, b),
                };
                self.add(Op::Bin(op, left, right), ty);
            }
            Step::Unary(op, ty, a) => {
                let is_float = matches!(ty, IrType::F32 | IrType::F64);
                let op = if op % 2 == 0 || is_float { UnOp::Neg } else { UnOp::Not };
                let a = self.pick(ty, a);
                self.add(Op::Un(op, a), ty);
            }
            Step::Compare(op, ty, a, b) => {
                let (a, b) = (self.pick(ty, a), self.pick(ty, b));
                self.add(Op::Cmp(COMPARISONS[op % 10], a, b), I32);
            }
            Step::Convert(target, ty, a) => {
                let mut target = CONVERSIONS[target % 12];
                if matches!(ty, IrType::F32 | IrType::F64) && !matches!(target, ConvTarget::R4 | ConvTarget::R8) {
                    target = ConvTarget::R8;
                }
                let to = match target {
                    ConvTarget::R4 => F32,
                    ConvTarget::R8 => F64,
                    ConvTarget::I8 | ConvTarget::U8 | ConvTarget::I | ConvTarget::U => I64,
                    _ => I32,
                };
                let value = self.pick(ty, a);
                self.add(Op::Conv { value, target, checked: false, source_unsigned: false }, to);
            }
            Step::Load(mem, at) => {
                let (mem, ty, offset) = place(mem, at);
                let addr = self.words();
                self.add(Op::Load { addr, offset, mem, flags: checked(AliasClass::Any) }, ty);
            }
            Step::Store(mem, at, value) => {
                let (mem, ty, offset) = place(mem, at);
                let value = self.pick(ty, value);
                let addr = self.words();
                self.add(Op::Store { addr, offset, value, mem, flags: plain(AliasClass::Any) }, IrType::Void);
            }
            Step::Get(local) => {
                let local = variable(local);
                let value = self.ir.get(local as u32);
                self.known.push((value, self.ir.func.locals[local].ty));
            }
            Step::Set(local, value) => {
                let local = variable(local);
                let value = self.pick(self.ir.func.locals[local].ty, value);
                self.ir.set(LocalId(local as u32), value);
            }
            Step::Element(index, element_size_bytes) => {
                let array = self.words();
                let index = self.pick(I32, index);
                let mask = self.ir.i32(0xFFFF);
                let index = self.ir.bin(BinOp::And, index, mask, I32);
                let address = self.ir.push(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef);
                // The distance is the same in every run, the address is not.
                let base = self.words();
                self.add(Op::Bin(BinOp::Sub, address, base), I64);
            }
            Step::CallFRem(a, b) => {
                let (a, b) = (self.pick(F64, a), self.pick(F64, b));
                let result = self.ir.helper(HelperId::FRem, &[F64, F64], Some(F64), &[a, b]);
                self.known.push((result, F64));
            }
            Step::Poll => {
                self.ir.push(Op::Poll, IrType::Void);
            }
            Step::If(condition, steps) => {
                let cond = self.pick(I32, condition);
                let then = self.ir.block(self.region);
                self.ir.end(Terminator::Brif { cond, then, otherwise: BlockId(u32::MAX) });
                let from = self.ir.current;
                self.ir.at(then);
                // The number of the join's block is known only after the steps in between.
                let (branch, known) = (BlockId(from as u32), self.known.len());
                self.joins.push(Join {
                    steps: steps + 1,
                    branch,
                    known,
                    counter: None,
                    is_apart: false,
                    attempt: None,
                });
            }
            Step::Divide(op, ty, a, b) => {
                let ty = if ty == I32 || ty == F32 { I32 } else { I64 };
                let (dividend, divisor) = (self.pick(ty, a), self.pick(ty, b));
                let (mask, one) = (self.constant(ty, 0x7FFF), self.constant(ty, 1));
                let divisor = self.ir.bin(BinOp::And, divisor, mask, ty);
                let divisor = self.ir.bin(BinOp::Or, divisor, one, ty);
                let op = [BinOp::Div, BinOp::DivUn, BinOp::Rem, BinOp::RemUn][op % 4];
                self.add(Op::Bin(op, dividend, divisor), ty);
            }
            Step::ShiftBy(op, ty, a, b) => {
                let ty = if ty == I32 || ty == F32 { I32 } else { I64 };
                let (value, count) = (self.pick(ty, a), self.pick(I32, b));
                self.add(Op::Bin([BinOp::Shl, BinOp::Shr, BinOp::ShrUn][op % 3], value, count), ty);
            }
            Step::Select(ty, condition, a, b) => {
                let (condition, a, b) = (self.pick(I32, condition), self.pick(ty, a), self.pick(ty, b));
                self.add(Op::Select(condition, a, b), ty);
            }
            Step::Vector(op, lanes, operands, mask) => self.vector(op, lanes, operands, mask),
            Step::VectorConstant(bytes) => {
                self.add(Op::ConstV128(bytes), V128);
            }
            Step::VectorLoad(mem, at) => {
                let (mem, offset) = vector_place(mem, at);
                let addr = self.words();
                self.add(Op::Load { addr, offset, mem, flags: checked(AliasClass::Any) }, V128);
            }
            Step::VectorStore(mem, at, value) => {
                let (mem, offset) = vector_place(mem, at);
                let value = self.pick(V128, value);
                let addr = self.words();
                self.add(Op::Store { addr, offset, value, mem, flags: plain(AliasClass::Any) }, IrType::Void);
            }
            Step::Rare(op, a) => {
                let (op, from, to) = RARE[op % RARE.len()];
                let a = self.pick(from, a);
                self.add(Op::Un(op, a), to);
            }
            Step::ConvertAny(target, ty, a, source_unsigned, checked) => {
                let targets = [CONVERSIONS.as_slice(), &[ConvTarget::RUn]].concat();
                let target = targets[target % targets.len()];
                let is_float = matches!(ty, IrType::F32 | IrType::F64);
                let to_float = matches!(target, ConvTarget::R4 | ConvTarget::R8 | ConvTarget::RUn);
                // What needs helpers other tests see.
                if is_float && (target == ConvTarget::RUn || matches!(target, ConvTarget::U8 | ConvTarget::U)) {
                    return;
                }
                let checked = checked && !is_float && !to_float;
                let mut value = self.pick(ty, a);
                if checked {
                    let mask = self.constant(ty, 0x7F);
                    value = self.ir.bin(BinOp::And, value, mask, ty);
                }
                let to = match target {
                    ConvTarget::R4 => F32,
                    ConvTarget::R8 | ConvTarget::RUn => F64,
                    ConvTarget::I8 | ConvTarget::U8 | ConvTarget::I | ConvTarget::U => I64,
                    _ => I32,
                };
                self.add(Op::Conv { value, target, checked, source_unsigned }, to);
            }
            Step::CopySign(ty, a, b) => {
                let ty = if ty == I32 || ty == F32 { F32 } else { F64 };
                let (a, b) = (self.pick(ty, a), self.pick(ty, b));
                self.add(Op::Bin(BinOp::FCopySign, a, b), ty);
            }
            Step::Product(ty, a, b) => {
                let ty = if ty == I32 || ty == F32 { I32 } else { I64 };
                let mask = self.constant(ty, 0x7FFF);
                let (a, b) = (self.pick(ty, a), self.pick(ty, b));
                let (a, b) = (self.ir.bin(BinOp::And, a, mask, ty), self.ir.bin(BinOp::And, b, mask, ty));
                self.add(Op::Bin(BinOp::MulOvfUn, a, b), ty);
            }
            Step::Atomic(op, mem, at, a) => {
                let op = ATOMICS[op % ATOMICS.len()];
                let mems = if op == AtomicRmw::Exchange { 9 } else { 6 };
                let (mem, ty, addr) = self.atomic_place(mem % mems, at);
                let value = self.pick(ty, a);
                self.add(Op::AtomicRmw { op, addr, value, mem }, ty);
            }
            Step::Exchange(mem, at, a, b) => {
                let (mem, ty, addr) = self.atomic_place(mem, at);
                let (expected, new) = (self.pick(ty, a), self.pick(ty, b));
                self.add(Op::AtomicCas { addr, expected, new, mem }, ty);
            }
            Step::Localloc(bytes, value) => {
                // Memory outside the frame needs helpers: in loops, in what an unrolled loop leads back to, in ranges.
                if self.region.is_some() || self.has_loop {
                    return;
                }
                let bytes = self.ir.i64(bytes.max(8));
                let addr = self.ir.push(Op::LocAlloc { bytes, zero: true }, I64);
                let value = self.pick(I32, value);
                let (flags, mem) = (plain(AliasClass::Any), MemType::I32);
                self.ir.push(Op::Store { addr, offset: 4, value, mem, flags }, IrType::Void);
                self.add(Op::Load { addr, offset: 0, mem: MemType::I64, flags }, I64);
            }
            Step::Loop(times, steps) => {
                self.has_loop = true;
                let counter = self.ir.local(I32, false);
                let zero = self.ir.i32(0);
                self.ir.set(counter, zero);
                let head = self.ir.block(self.region);
                self.ir.end(Terminator::Jump(head));
                self.ir.at(head);
                let (round, limit) = (self.ir.get(counter.0), self.ir.i32(times));
                let cond = self.ir.push(Op::Cmp(CmpOp::Lt, round, limit), I32);
                let then = self.ir.block(self.region);
                self.ir.end(Terminator::Brif { cond, then, otherwise: BlockId(u32::MAX) });
                self.ir.at(then);
                let is_apart = times % 2 == 1;
                if is_apart {
                    self.forget();
                }
                let known = if is_apart { 0 } else { self.known.len() };
                let counter = Some(counter);
                self.joins.push(Join { steps: steps + 1, branch: head, known, counter, is_apart, attempt: None });
            }
            Step::Try(_) if self.remembers_around_loop() => {}
            Step::Try(steps) => {
                let (outer, known) = (self.region, self.known.len());
                let handler = self.ir.block(outer);
                let (region, exception) = self.ir.region(outer, ClauseKind::Fault, handler);
                self.region = Some(region);
                let body = self.ir.block(self.region);
                self.ir.end(Terminator::Jump(body));
                self.ir.at(body);
                let attempt = Some((handler, exception, outer));
                self.joins.push(Join {
                    steps: steps + 1,
                    branch: body,
                    known,
                    counter: None,
                    is_apart: false,
                    attempt,
                });
            }
            // Elsewhere these are faults.
            Step::Risky(..) | Step::RiskyConvert(..) | Step::Elements(_) if self.region.is_none() => {}
            Step::Risky(op, ty, a, b) => {
                let ty = if ty == I32 || ty == F32 { I32 } else { I64 };
                let (a, b) = (self.pick(ty, a), self.pick(ty, b));
                self.add(Op::Bin(RISKY_OPS[op % RISKY_OPS.len()], a, b), ty);
            }
            Step::RiskyConvert(target, ty, a, source_unsigned) => {
                let ty = if ty == I32 || ty == F32 { I32 } else { I64 };
                let target = CONVERSIONS[target % 10];
                let to = if target.integer().is_some_and(|(bits, _)| bits == 64) { I64 } else { I32 };
                let value = self.pick(ty, a);
                self.add(Op::Conv { value, target, checked: true, source_unsigned }, to);
            }
            Step::Elements(ref elements) => self.elements(elements),
            Step::Call(which, numbers) => self.call(which, numbers),
            Step::Access(what, object, value) => self.access(what, object, value),
            Step::CompareObjects(a, b) => self.compare_objects(a, b),
            Step::Typed(what, a, b) => self.typed(what, a, b),
        }
    }

    /// From here on only locals lead values here: a handler is entered from anywhere, so values before it do not
    /// dominate what follows.
    fn forget(&mut self) {
        self.known.clear();
        self.joins.iter_mut().for_each(|join| join.known = 0);
        for number in 0..VARIABLES - 3 {
            self.add_step(&Step::Get(number));
        }
    }

    /// Whether values from before a loop around this place may be used in it.
    fn remembers_around_loop(&self) -> bool {
        self.joins.iter().any(|join| join.counter.is_some() && !join.is_apart)
    }

    fn atomic_place(&mut self, mem: usize, at: usize) -> (MemType, IrType, ValueId) {
        let (mem, ty, offset) = place(mem, at);
        // The barrier of references needs a heap.
        let mem = if mem == MemType::Ref { MemType::I64 } else { mem };
        let (words, offset) = (self.words(), self.ir.i64(i64::from(offset)));
        let addr = self.ir.bin(BinOp::Add, words, offset, I64);
        (mem, ty, addr)
    }

    fn vector(&mut self, op: usize, lanes: usize, operands: [usize; 3], mask: u128) {
        use VectorOp as V;
        let lanes = LANES[lanes % LANES.len()];
        let [a, b, c] = operands;
        // One more than the list has, with a mask.
        let Some(&op) = VECTOR_OPS.get(op % (VECTOR_OPS.len() + 1)) else {
            let mask = mask & u128::from_le_bytes([31; 16]);
            let (a, b) = (self.pick(V128, a), self.pick(V128, b));
            let c = self.ir.push(Op::ConstV128(mask), V128);
            self.add(Op::Vector { op: V::Shuffle, lanes, a, b: Some(b), c: Some(c) }, V128);
            return;
        };
        if !has_lanes(op, lanes) {
            return;
        }
        let lane = (c % lanes.count() as usize) as u8;
        let op = match op {
            V::Extract(_) => V::Extract(lane),
            V::Insert(_) => V::Insert(lane),
            op => op,
        };
        let first = self.pick(if op == V::Splat { lanes.scalar() } else { V128 }, a);
        let second = match op {
            V::Insert(_) => Some(self.pick(lanes.scalar(), b)),
            V::ShiftLeft | V::ShiftRight | V::ShiftRightLogical => Some(self.pick(I32, b)),
            V::Splat | V::Extract(_) | V::AllTrue | V::AnyTrue | V::HighBits | V::Not | V::Neg | V::Abs | V::Sqrt => {
                None
            }
            V::Floor | V::Ceil | V::Truncate | V::Round | V::WidenLow | V::WidenHigh => None,
            V::ToFloat | V::ToDouble | V::ToSingle | V::ToInteger => None,
            _ => Some(self.pick(V128, b)),
        };
        let third = (op == V::BitSelect).then(|| self.pick(V128, c));
        self.add(Op::Vector { op, lanes, a: first, b: second, c: third }, op.result(lanes));
    }

    fn join(&mut self) {
        self.joins.iter_mut().for_each(|join| join.steps = join.steps.saturating_sub(1));
        while let Some(&Join { steps: 0, branch, known, counter, attempt, .. }) = self.joins.last() {
            self.joins.pop();
            self.known.truncate(known);
            if let Some((handler, exception, outer)) = attempt {
                self.region = outer;
                let join = self.ir.block(outer);
                self.ir.end(Terminator::Jump(join));
                self.ir.at(handler);
                let exception = self.ir.get(exception.0);
                self.ir.set(LocalId(CAUGHT as u32), exception);
                self.ir.end(Terminator::Jump(join));
                self.ir.at(join);
                self.forget();
                continue;
            }
            let back = counter.map(|counter| {
                let (round, one) = (self.ir.get(counter.0), self.ir.i32(1));
                let next = self.ir.bin(BinOp::Add, round, one, I32);
                self.ir.set(counter, next);
                self.ir.end(Terminator::Jump(branch));
            });
            let join = self.ir.block(self.region);
            if back.is_none() {
                self.ir.end(Terminator::Jump(join));
            }
            if let Terminator::Brif { otherwise, .. } = &mut self.ir.func.blocks[branch.0 as usize].terminator {
                *otherwise = join;
            }
            self.ir.at(join);
        }
    }
}

pub fn function(steps: &[Step]) -> Ir {
    let mut ir = Ir::new("generated", &PARAMS, Some(I64));
    for ty in MORE.into_iter().chain([IrType::Ref; OBJECT_LOCALS]) {
        ir.local(ty, false);
    }
    let (known, typed, joins) = (Vec::new(), HashMap::new(), Vec::new());
    let mut generator = Generator { ir, known, typed, joins, region: None, has_loop: false };
    for (param, &ty) in PARAMS.iter().enumerate().take(ARRAY_PARAM as usize).skip(1) {
        let value = generator.ir.get(param as u32);
        generator.known.push((value, ty));
    }
    steps.iter().for_each(|step| generator.step(step));
    while let Some(last) = generator.joins.last_mut() {
        last.steps = 0;
        generator.join();
    }
    if steps.len().is_multiple_of(3) {
        generator.keep_objects();
    }
    // Remaining values are stored to memory, where they can be compared.
    for (number, (mem, ty)) in
        [(MemType::I32, I32), (MemType::I64, I64), (MemType::F64, F64), (MemType::F32, F32)].into_iter().enumerate()
    {
        let value = generator.pick(ty, 0);
        let base = match ty {
            IrType::F64 => FLOATS + FLOATS / 2,
            IrType::F32 => FLOATS,
            _ => 0,
        };
        let addr = generator.words();
        let offset = ((base + 15 - number) * 8) as i32;
        generator.ir.push(Op::Store { addr, offset, value, mem, flags: plain(AliasClass::Any) }, IrType::Void);
    }
    let vector = generator.pick(V128, 0);
    let addr = generator.words();
    let (offset, mem) = ((VECTORS * 8) as i32, MemType::V128);
    generator.ir.push(Op::Store { addr, offset, value: vector, mem, flags: plain(AliasClass::Any) }, IrType::Void);
    let mut result = generator.pick(I64, 1);
    if steps.len().is_multiple_of(2) {
        result = generator.with_all_integers(result);
    }
    generator.ir.ret(result);
    generator.ir
}
