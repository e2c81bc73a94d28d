//! The macro assembler: the operations of which the baseline compiler composes code, without their encodings.
//!
//! A compiler that is a visitor of the IR names registers only by their roles ([`MacroAssembler::THREAD`],
//! [`MacroAssembler::RESULT`]) and by the set that may hold values ([`MacroAssembler::ALLOCATABLE`]), and operations by
//! what they compute. An architecture implements the trait once, in a file `masm.rs` below `arch/`.
//!
//! Rules for implementations:
//! 1. An operation changes its destination and the scratch registers, and nothing else that can hold a value.
//! 2. No operation keeps a condition for the next one: comparison and jump, and arithmetic and its overflow check, are
//!    one operation, since not all architectures have flags.
//! 3. Where the destination is an operand as well, the operation has two operands; so two-operand encodings need no
//!    copy.
//! 4. Addresses of the process are not encoded: they are named by targets, and [`MacroAssembler::finish`] lists the
//!    places where they belong.
//!
//! What an architecture has no single instruction for, the compiler composes of scalars, lane by lane, if it works on
//! vectors. Left out: register allocation and the choice of operations (`jit::baseline`).

use saki_abi::Reloc;

pub use super::target::masm::Assembler as HostAssembler;

/// A machine register: 0–31 general purpose, 32–63 floating point and vectors, each by its hardware number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reg(u8);

/// One past the greatest [`Reg::index`].
pub const REGISTER_INDICES: usize = 64;
const FIRST_FLOAT: u8 = 32;

impl Reg {
    /// The general purpose register with this hardware number.
    #[inline]
    pub const fn general(number: u8) -> Reg {
        assert!(number < FIRST_FLOAT);
        Reg(number)
    }

    /// The floating-point register with this hardware number.
    #[inline]
    pub const fn float(number: u8) -> Reg {
        assert!(number < FIRST_FLOAT);
        Reg(FIRST_FLOAT + number)
    }

    /// The register with this index, as [`RegisterSet::iter`] gives it.
    #[inline]
    fn from_index(index: u32) -> Reg {
        Reg(index as u8)
    }

    /// Whether this is a floating-point register.
    #[inline]
    pub const fn is_float(self) -> bool {
        self.0 >= FIRST_FLOAT
    }

    /// The register's number among all registers, below [`REGISTER_INDICES`], for tables by register.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number by which instructions name the register within its class.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0 % FIRST_FLOAT
    }
}

/// A set of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegisterSet(u64);

impl RegisterSet {
    /// The set without members.
    pub const EMPTY: RegisterSet = RegisterSet(0);

    /// All general purpose registers, or all floating-point registers.
    #[inline]
    pub const fn class(is_float: bool) -> RegisterSet {
        let general = (1 << FIRST_FLOAT) - 1;
        RegisterSet(if is_float { !general } else { general })
    }

    /// This set and the register.
    #[must_use]
    #[inline]
    pub const fn with(self, register: Reg) -> RegisterSet {
        RegisterSet(self.0 | 1 << register.0)
    }

    /// This set but for the register.
    #[must_use]
    #[inline]
    pub const fn without(self, register: Reg) -> RegisterSet {
        RegisterSet(self.0 & !(1 << register.0))
    }

    /// What is in both sets.
    #[must_use]
    #[inline]
    pub const fn and(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 & other.0)
    }

    /// What is in this set and not in the other.
    #[must_use]
    #[inline]
    pub const fn minus(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 & !other.0)
    }

    /// Whether the register is a member.
    #[inline]
    pub const fn contains(self, register: Reg) -> bool {
        self.0 & 1 << register.0 != 0
    }

    /// The member with the least index.
    #[inline]
    pub fn first(self) -> Option<Reg> {
        (self.0 != 0).then(|| Reg::from_index(self.0.trailing_zeros()))
    }

    /// The members, by index.
    #[inline]
    pub fn iter(mut self) -> impl Iterator<Item = Reg> {
        std::iter::from_fn(move || {
            let first = self.first()?;
            self = self.without(first);
            Some(first)
        })
    }
}

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineType {
    /// A 32-bit integer in the low half of a general purpose register; the upper half means nothing.
    I32,
    /// A 64-bit integer or an address.
    I64,
    /// A single-precision number.
    F32,
    /// A double-precision number.
    F64,
    /// Sixteen bytes in a floating-point register.
    V128,
}

impl MachineType {
    /// Whether values of the type are in floating-point registers.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self, MachineType::F32 | MachineType::F64 | MachineType::V128)
    }
}

/// How a place in memory is read into a register and written from one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryAccess {
    /// Part of an [`MachineType::I32`]: extended when it is read, cut off when it is written.
    Narrow(Extension),
    /// A whole register of the type.
    Whole(MachineType),
}

/// The narrow integer from which an [`MachineType::I32`] is extended: S by its sign, Z by zeros, and its width in bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extension {
    /// A signed byte.
    S8,
    /// An unsigned byte.
    Z8,
    /// A signed 16-bit integer.
    S16,
    /// An unsigned 16-bit integer.
    Z16,
}

/// Operations `left = left op right` of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntegerOp {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    ExclusiveOr,
}

/// Shifts by a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShiftOp {
    /// To the left.
    Left,
    /// To the right, with copies of the sign.
    Right,
    /// To the right, with zeros.
    RightUnsigned,
}

/// Operations `left = left op right` of floating-point numbers (IEEE 754).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatOp {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient.
    Divide,
}

/// Relations between two values, as those of CIL (ECMA-335 §III.1.5): `…Unsigned` compares integers as unsigned, and
/// holds of floating-point numbers that are unordered, too; `NotEqual` holds of unordered numbers, the others do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the header defines them together")]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessUnsigned,
    LessOrEqual,
    LessOrEqualUnsigned,
    Greater,
    GreaterUnsigned,
    GreaterOrEqual,
    GreaterOrEqualUnsigned,
}

/// A right operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegImm {
    /// The register's value.
    Reg(Reg),
    /// This integer, extended by its sign to the operation's width.
    Imm(i32),
}

/// A word in memory: `base + offset_bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// Holds the address from which the offset counts.
    pub base: Reg,
    /// In bytes.
    pub offset_bytes: i32,
}

impl Address {
    /// The place at `offset_bytes` from the address in `base`.
    #[inline]
    pub const fn new(base: Reg, offset_bytes: i32) -> Address {
        Address { base, offset_bytes }
    }
}

/// An element of an array: `base + index * size_bytes + offset_bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementAddress {
    /// The array's address.
    pub base: Reg,
    /// The element's number, not negative.
    pub index: Reg,
    /// Type of the number: of an [`MachineType::I32`] only the low half counts.
    pub index_type: MachineType,
    /// Bytes of an element.
    pub size_bytes: i32,
    /// Bytes from the array's address to its first element.
    pub offset_bytes: i32,
}

/// A place in the code to which jumps lead; it is bound once, before or after the jumps are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(pub(super) u32);

impl Label {
    /// The label's number among those of the function, for tables by label.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Code that is complete: offsets count from its first byte.
#[derive(Debug)]
pub struct FinishedCode<T> {
    /// Prologue and body.
    pub bytes: Vec<u8>,
    /// Bytes of the prologue: by so many all offsets of before have grown.
    pub prologue_bytes: u32,
    /// The places that depend on addresses.
    pub relocs: Vec<Reloc<T>>,
}

/// How a floating-point number becomes a whole one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// To the nearest, halves to the even one.
    Nearest,
    /// Down.
    Floor,
    /// Up.
    Ceiling,
    /// Towards zero.
    Zero,
}

/// Operations on numbers that programs seldom use.
pub trait NumericAssembler {
    /// `DIVIDEND = DIVIDEND * right` (I32 or I64, unsigned); changes `REMAINDER`; jumps to `overflow` where the product
    /// does not fit. `right` is neither.
    fn multiply_unsigned(&mut self, ty: MachineType, right: Reg, overflow: Label);
    /// `to` (I32 or I64, `ty`) = `from` (F32 or F64, `from_type`) without its fraction; the least integer where that
    /// does not fit, and for NaN.
    fn float_to_integer(&mut self, ty: MachineType, to: Reg, from_type: MachineType, from: Reg);
    /// The same with the nearest integer, signed or unsigned, where that does not fit, and 0 for NaN, if there is an
    /// instruction for it; else false.
    fn float_to_nearest_integer(
        &mut self,
        _is_signed: bool,
        _ty: MachineType,
        _to: Reg,
        _from_type: MachineType,
        _from: Reg,
    ) -> bool {
        false
    }
    /// `register` = its square root (F32 or F64).
    fn square_root(&mut self, ty: MachineType, register: Reg);
    /// `register` (F32 or F64) = a whole number.
    fn round(&mut self, rounding: Rounding, ty: MachineType, register: Reg);
    /// `left = left op right` of the bits of floating-point registers; `op` is And, Or or ExclusiveOr.
    fn float_bits(&mut self, op: IntegerOp, left: Reg, right: Reg);
    /// `to = from`, of which one is a general purpose register and the other a floating-point register; `ty` is I32 or
    /// I64.
    fn move_bits(&mut self, ty: MachineType, to: Reg, from: Reg);
    /// `to` = the number of zero bits above (`is_leading`) or below the outermost set bit of `from`, which is another
    /// register; the width if there is none.
    fn count_zeros(&mut self, is_leading: bool, ty: MachineType, to: Reg, from: Reg);
    /// `register` (I32 or I64) with its bytes in the opposite order.
    fn swap_bytes(&mut self, ty: MachineType, register: Reg);
    /// `register` = the vector with these bytes, the first one in the low bits.
    fn vector_constant(&mut self, register: Reg, bytes: u128);
}

/// Atomic operations, all sequentially consistent. Operands are as wide as `access` says; the other bits of a register
/// that gets a narrow value mean nothing. The access itself faults on null.
pub trait AtomicAssembler {
    /// What [`AtomicAssembler::compare_exchange`] compares with.
    const EXPECTED: Reg;
    /// Whether no load is done before an earlier one, and volatile accesses take any address.
    const LOADS_IN_ORDER: bool;

    /// `register` = what is at `from`; no later access passes it. Not for vectors.
    fn load_acquire(&mut self, access: MemoryAccess, register: Reg, from: Address);
    /// What is at `to` = `register`; it passes no earlier access. Not for vectors.
    fn store_release(&mut self, access: MemoryAccess, to: Address, register: Reg);
    /// No later store passes an earlier one: what follows makes known what precedes.
    fn publish(&mut self);
    /// `register` = what was at `place`, which gets what was in `register`.
    fn atomic_exchange(&mut self, access: MemoryAccess, place: Address, register: Reg);
    /// `register` = what was at `place`, which gets the sum of both.
    fn atomic_add(&mut self, access: MemoryAccess, place: Address, register: Reg);
    /// If what is at `place` equals `EXPECTED`, it becomes `new`; else jumps to `unequal`, if given. `EXPECTED` = what
    /// was there.
    fn compare_exchange(&mut self, access: MemoryAccess, place: Address, new: Reg, unequal: Option<Label>);
    /// No access passes this point in either direction.
    fn fence(&mut self);
}

/// What the lanes of a vector are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "signed, unsigned and floating-point numbers of so many bits")]
pub enum LaneType {
    Bits,
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

/// Operations `left = left op right` of vectors, lane by lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneOp {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product; of integers its low half.
    Multiply,
    /// Quotient.
    Divide,
    /// Sum, or the least or the greatest number.
    AddSaturated,
    /// Difference, or the least or the greatest number.
    SubtractSaturated,
    /// `(left + right + 1) / 2`.
    Average,
    /// The upper half of the product.
    MultiplyHigh,
    /// The left operand's byte that the low four bits of the right one's name; zero if the highest bit is set.
    ShuffleBytes,
    /// Products of neighbouring lanes, added: of signed ones, or of unsigned bytes and signed ones with saturation.
    MultiplyAddPairs,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    ExclusiveOr,
    /// `left < right ? left : right`.
    Minimum,
    /// `left > right ? left : right`.
    Maximum,
    /// All ones where both are equal, else zero.
    Equal,
    /// All ones where `left` is less.
    Less,
    /// All ones where `left` is less or equal.
    LessOrEqual,
    /// All ones where `left` is greater.
    Greater,
    /// All ones where either is NaN.
    Unordered,
}

/// Operations on vectors.
pub trait VectorAssembler {
    /// `left = left op right`, if one instruction of every processor with vectors does that; else false.
    fn lanes(&mut self, op: LaneOp, ty: LaneType, left: Reg, right: Reg) -> bool;
}

/// What is known of a function before its code is emitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CodeOptions {
    /// The code may be larger than what all branches reach.
    pub is_large: bool,
    /// The processor has instructions for atomic operations, where it might have pairs of loads and stores only.
    pub has_single_atomics: bool,
}

/// Emits machine code of one architecture; see the module header for the rules.
///
/// Offsets are bytes from the body's first instruction behind the prologue, whose length is known only at the end.
pub trait MacroAssembler: Default + NumericAssembler + AtomicAssembler + VectorAssembler {
    /// What calls and addresses name.
    type Target: Copy;

    /// The thread (`saki_abi::ThreadAbi`), always.
    const THREAD: Reg;
    /// The frame pointer: locals are below it.
    const FRAME: Reg;
    /// The stack pointer: arguments that are not in registers are at it when a call is made.
    const STACK: Reg;
    /// Bytes from the frame pointer to the first argument that is not in a register.
    const INCOMING_ARGUMENTS_OFFSET: i32;
    /// A general purpose register that holds no value between operations, and that operations may change.
    const SCRATCH: Reg;
    /// A floating-point register of that kind.
    const FLOAT_SCRATCH: Reg;
    /// Registers that may hold values; a call changes all of them.
    const ALLOCATABLE: RegisterSet;
    /// Registers that a function hands back as it got them. A landing pad finds other values in them.
    const CALLEE_SAVED: &'static [Reg];
    /// Registers of the first integer arguments of managed calls.
    const ARGUMENTS: &'static [Reg];
    /// Registers of the first floating-point arguments.
    const FLOAT_ARGUMENTS: &'static [Reg];
    /// Register of an integer result.
    const RESULT: Reg;
    /// Register of a floating-point result.
    const FLOAT_RESULT: Reg;
    /// Holds the address of a callee while the arguments are in their registers.
    const CALLEE: Reg;
    /// Holds the receiver's vtable meanwhile.
    const CALLEE_VTABLE: Reg;
    /// Registers of the first integer arguments of native functions; those of floating-point ones are the same as of
    /// managed ones.
    const NATIVE_ARGUMENTS: &'static [Reg];
    /// Holds the address for a native function's result in memory, if it is not passed as the first argument.
    const NATIVE_RESULT_ADDRESS: Option<Reg>;
    /// Registers of the result of a native function: of integer words, and of floating-point ones.
    const NATIVE_RESULTS: [&'static [Reg]; 2];
    /// Where a landing pad finds the exception and the unwind token.
    const EXCEPTION: [Reg; 2];
    /// Holds the count of [`MacroAssembler::shift_by`].
    const SHIFT_COUNT: Reg;
    /// Holds the dividend of [`MacroAssembler::divide`], and then the quotient.
    const DIVIDEND: Reg;
    /// Holds the remainder of a division.
    const REMAINDER: Reg;

    /// Makes the buffers empty, for the next function.
    fn begin(&mut self, options: CodeOptions);
    /// Bytes emitted so far.
    fn offset(&self) -> u32;
    /// A label that is not bound yet.
    fn label(&mut self) -> Label;
    /// The label denotes this place.
    fn bind(&mut self, label: Label);
    /// The place of a label that has been bound.
    fn offset_of(&self, label: Label) -> u32;
    /// Puts the prologue in front, which makes a frame of this size, and resolves the jumps. None if a label to which
    /// one leads was never bound, or is out of reach since the code is large. The frame lies `lowered_bytes` (a
    /// multiple of 16) below the place that the caller gave it, so that there is more room behind it for the arguments
    /// of tail calls.
    fn finish(&mut self, frame_size_bytes: u32, lowered_bytes: u32) -> Option<FinishedCode<Self::Target>>;

    // Values.

    /// `to = from`, all bits; both are of one class.
    fn move_register(&mut self, to: Reg, from: Reg);
    /// `register = value`.
    fn constant(&mut self, register: Reg, value: i64);
    /// `register` = the number with these bits. Those of an F32 are the low half.
    fn float_constant(&mut self, register: Reg, bits: u64);
    /// `register` = the target's address; `is_near`: the target lies in the code region.
    fn address_of(&mut self, register: Reg, target: Self::Target, is_near: bool);

    // Memory. The access itself faults on null.

    /// `register` = what is at `from`.
    fn load(&mut self, access: MemoryAccess, register: Reg, from: Address);
    /// What is at `to` = `register`.
    fn store(&mut self, access: MemoryAccess, to: Address, register: Reg);
    /// The eight bytes at `to` = 0.
    fn store_zero(&mut self, to: Address);
    /// `register` = the address itself.
    fn load_address(&mut self, register: Reg, address: Address);
    /// `register` = the element's address.
    fn load_element_address(&mut self, register: Reg, element: ElementAddress);
    /// Faults if `object` is null; else nothing.
    fn check_null(&mut self, object: Reg);

    // Integers; `ty` is I32 or I64.

    /// `left = left op right`; jumps to `overflow`, if given, where the exact result of signed operands does not fit.
    fn integer(&mut self, op: IntegerOp, ty: MachineType, left: Reg, right: RegImm, overflow: Option<Label>);
    /// `left = left * right`, with `overflow` as `integer`.
    fn multiply(&mut self, ty: MachineType, left: Reg, right: Reg, overflow: Option<Label>);
    /// `to = left * right`, with `overflow` as `integer`.
    fn multiply_constant(&mut self, ty: MachineType, to: Reg, left: Reg, right: i32, overflow: Option<Label>);
    /// `register = register op count`; the count is less than the width.
    fn shift(&mut self, op: ShiftOp, ty: MachineType, register: Reg, count: u8);
    /// `register = register op SHIFT_COUNT`, the count modulo the width. `register` is another one.
    fn shift_by(&mut self, op: ShiftOp, ty: MachineType, register: Reg);
    /// `DIVIDEND / divisor`: the quotient in `DIVIDEND`, the remainder in `REMAINDER`. The divisor is in neither, and
    /// not zero; the quotient fits.
    fn divide(&mut self, is_signed: bool, ty: MachineType, divisor: Reg);
    /// `register = -register`.
    fn negate(&mut self, ty: MachineType, register: Reg);
    /// `register = !register`, bitwise.
    fn not(&mut self, ty: MachineType, register: Reg);

    // Floating-point numbers; `ty` is F32 or F64.

    /// `left = left op right`.
    fn float(&mut self, op: FloatOp, ty: MachineType, left: Reg, right: Reg);
    /// `register = -register`: the sign is inverted, of a NaN, too.
    fn negate_float(&mut self, ty: MachineType, register: Reg);

    // Conversions.

    /// `to` (I32) = the low bits of `from`, extended.
    fn extend(&mut self, extension: Extension, to: Reg, from: Reg);
    /// `to` (I64) = `from` (I32), extended by its sign, or by zeros.
    fn widen(&mut self, is_signed: bool, to: Reg, from: Reg);
    /// `to` (F32 or F64, `ty`) = the signed integer `from` of type `from_type`, rounded to nearest.
    fn integer_to_float(&mut self, ty: MachineType, to: Reg, from_type: MachineType, from: Reg);
    /// `to` (F32 or F64, `ty`) = `from`, of the other of these types.
    fn convert_float(&mut self, ty: MachineType, to: Reg, from: Reg);

    // Comparisons. An immediate operand only with integers.

    /// `to` (I32) = 1 if the relation holds, else 0. `to` is neither operand.
    fn set_if(&mut self, relation: Relation, ty: MachineType, to: Reg, left: Reg, right: RegImm);
    /// Jumps to `then` if the relation holds, else goes on, or jumps to `otherwise`, which must be where the code
    /// behind goes.
    fn jump_if(
        &mut self,
        relation: Relation,
        ty: MachineType,
        left: Reg,
        right: RegImm,
        then: Label,
        otherwise: Option<Label>,
    );
    /// Jumps if the integer is not zero.
    fn jump_if_nonzero(&mut self, ty: MachineType, register: Reg, target: Label);
    /// Jumps if the integer at the address is zero, or is not.
    fn jump_if_word(&mut self, ty: MachineType, word: Address, is_zero: bool, target: Label);
    /// Adds to the 32-bit integer at the address, not atomically; jumps to `overflow` where the sum does not fit.
    fn count_up(&mut self, word: Address, amount: i32, overflow: Label);
    /// Adds 1 to the 32-bit integer at the address, not atomically.
    fn add_one(&mut self, word: Address);

    // Control.

    /// Jumps.
    fn jump(&mut self, target: Label);
    /// Calls the target, which lies in the code region.
    fn call(&mut self, target: Self::Target);
    /// Calls the address in the register.
    fn call_register(&mut self, callee: Reg);
    /// Calls the address that is at `slot`.
    fn call_slot(&mut self, slot: Address);
    /// Moves the frame pointer, what it points at and the return address up by so many bytes, a multiple of 16, which
    /// overwrites arguments; only what undoes the frame may follow.
    fn raise_frame(&mut self, bytes: u32);
    /// Undoes the frame and jumps to the target, which lies in the code region.
    fn tail_jump(&mut self, target: Self::Target);
    /// Undoes the frame and jumps to the address in the register.
    fn tail_jump_register(&mut self, callee: Reg);
    /// Makes the room for arguments again that the callee has given back.
    fn take_back_arguments(&mut self, argument_bytes: u32);
    /// Undoes the frame and returns; gives back the room of so many bytes of arguments.
    fn ret(&mut self, argument_bytes: u32);
    /// An instruction that faults; gives its offset, for the table of traps.
    fn trap(&mut self) -> u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_sets_keep_both_classes_apart() {
        let set = RegisterSet::EMPTY.with(Reg::general(31)).with(Reg::float(0)).with(Reg::float(31));
        let indices = |set: RegisterSet| set.iter().map(Reg::index).collect::<Vec<_>>();
        assert_eq!(indices(set), [31, 32, 63]);
        assert_eq!(indices(set.and(RegisterSet::class(true))), [32, 63]);
        assert_eq!(indices(set.minus(RegisterSet::class(true))), [31]);
        assert_eq!(set.without(Reg::general(31)).first(), Some(Reg::float(0)));
        assert!(set.contains(Reg::float(31)) && !set.contains(Reg::general(0)));
        assert_eq!((Reg::float(5).number(), Reg::float(5).is_float()), (5, true));
    }
}
