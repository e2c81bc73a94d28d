//! aarch64: the macro assembler. This file chooses the instructions; `encoding` has their words.
//!
//! Invariants: every body begins with `stp x29, x30, [sp, #-16]!; mov x29, sp`, and before a return or a jump out of it
//! the frame is undone by `mov sp, x29; ldp x29, x30, [sp], #16`, as in Cranelift's code: walks recognise these
//! (`frames`). Between, SP is the frame's size below x29, except where the callee has given back arguments.
//!
//! Slots of the frame that are too far below x29 for an offset of nine bits are accessed by SP, for which there are
//! twelve, once the frame's size is known. Addresses of the process lie in words behind the code, from which they are
//! loaded. Branches on conditions and those loads reach 1 MiB; where more code is expected
//! ([`CodeOptions::is_large`]), branches jump over a `b` and addresses lie among the instructions.

use super::encoding::{
    self as encode, Condition, EXTENDED, PROBE, RESET_STACK_POINTER, SET_FRAME_POINTER, SETS_FLAGS, UNDEFINED, UXTW,
    UXTX, ZERO, binary, precision, unary, width,
};
use super::instructions::{POP_FRAME_RECORD, PUSH_FRAME_RECORD, RETURN};
use super::registers::{self, FRAME, STACK, V31, X14, X15, X16, X17};
use crate::masm::{
    Address, CodeOptions, ElementAddress, Extension, FinishedCode, FloatOp, IntegerOp, Label, MachineType,
    MacroAssembler, MemoryAccess, Reg, RegImm, RegisterSet, Relation, ShiftOp,
};
use saki_abi::{AddressUse, Reloc, RelocKind};

const INSTRUCTION_BYTES: u32 = 4;
/// Distance of the probes of large frames.
const PAGE_BYTES: u32 = 4096;
/// Where a label is that has not been bound.
const UNBOUND: u32 = u32::MAX;
/// Addresses that are asked for again are looked for among so many of the last ones.
const RECENT_LITERALS: usize = 16;
/// The largest sum of two immediate operands.
const TWO_IMMEDIATES: u64 = 1 << 24;

const WORD: MemoryAccess = MemoryAccess::Whole(MachineType::I64);
const HALF: MemoryAccess = MemoryAccess::Whole(MachineType::I32);

/// An access to the frame, by SP.
struct FrameAccess {
    /// Number of the instruction.
    position: u32,
    /// From x29.
    offset_bytes: i32,
    log2_bytes: u32,
}

/// The macro assembler for aarch64; see [`MacroAssembler`].
pub struct Assembler<T> {
    pub(super) options: CodeOptions,
    words: Vec<u32>,
    /// By label, the number of its instruction.
    labels: Vec<u32>,
    /// Numbers of branches, and the labels to which they lead.
    branches: Vec<(u32, Label)>,
    relocs: Vec<Reloc<T>>,
    frame_accesses: Vec<FrameAccess>,
    /// The addresses behind the code.
    literals: Vec<T>,
    /// Numbers of the instructions that load those, and which one.
    literal_loads: Vec<(u32, u32)>,
}

impl<T> Default for Assembler<T> {
    fn default() -> Self {
        Assembler {
            options: CodeOptions::default(),
            words: Vec::new(),
            labels: Vec::new(),
            branches: Vec::new(),
            relocs: Vec::new(),
            frame_accesses: Vec::new(),
            literals: Vec::new(),
            literal_loads: Vec::new(),
        }
    }
}

/// The number of a general purpose register.
pub(super) fn x(register: Reg) -> u32 {
    debug_assert!(!register.is_float());
    u32::from(register.number())
}

/// The number of a floating-point register.
pub(super) fn v(register: Reg) -> u32 {
    debug_assert!(register.is_float());
    u32::from(register.number())
}

impl<T: Copy + PartialEq> Assembler<T> {
    pub(super) fn put(&mut self, word: u32) {
        self.words.push(word);
    }

    fn number(&self) -> u32 {
        self.words.len() as u32
    }

    fn relocate(&mut self, kind: RelocKind, usage: AddressUse, target: T) {
        self.relocs.push(Reloc { offset: self.offset(), kind, usage, target, addend: 0 });
    }

    /// A branch to the label, by its word.
    fn branch(&mut self, word: u32, target: Label) {
        self.branches.push((self.number(), target));
        self.put(word);
    }

    /// A branch that has a condition, or the opposite one if bit `sense` of the word is inverted.
    fn branch_if(&mut self, word: u32, sense: u32, target: Label) {
        if self.options.is_large {
            self.put(encode::lead(word ^ sense, 2).unwrap_or(word));
            self.branch(encode::BRANCH, target);
        } else {
            self.branch(word, target);
        }
    }

    pub(super) fn jump_on(&mut self, condition: Condition, target: Label) {
        self.branch_if(encode::BRANCH_ON | condition as u32, 1, target);
    }

    /// Jumps if the register is zero, or is not.
    pub(super) fn jump_on_zero(&mut self, ty: MachineType, register: Reg, is_zero: bool, target: Label) {
        let word = if is_zero { encode::BRANCH_IF_ZERO } else { encode::BRANCH_IF_NOT_ZERO };
        let sense = encode::BRANCH_IF_ZERO ^ encode::BRANCH_IF_NOT_ZERO;
        self.branch_if(word | width(ty) | x(register), sense, target);
    }

    /// `to = base + offset_bytes`, in one instruction or as the sum of two registers, so that the address of a frame's
    /// place is exact where it is computed (`frame_liveness`). Changes x17.
    pub(super) fn add_constant(&mut self, to: Reg, base: Reg, offset_bytes: i64) {
        if offset_bytes == 0 && base != STACK {
            if to != base {
                self.move_register(to, base);
            }
            return;
        }
        let word = if offset_bytes < 0 { encode::SUBTRACT_IMMEDIATE } else { encode::ADD_IMMEDIATE };
        if let Some(immediate) = encode::arithmetic_immediate(offset_bytes.unsigned_abs()) {
            self.put(unary(width(MachineType::I64) | word | immediate, x(to), x(base)));
            return;
        }
        self.constant(X17, offset_bytes);
        self.put(binary(width(MachineType::I64) | encode::ADD | EXTENDED | UXTX, x(to), x(base), x(X17)));
    }

    /// The place itself, or the same one by way of x17, within reach of accesses of this size.
    pub(super) fn reachable(&mut self, place: Address, log2_bytes: u32) -> Address {
        if encode::offset(log2_bytes, i64::from(place.offset_bytes)).is_some() {
            return place;
        }
        self.add_constant(X17, place.base, i64::from(place.offset_bytes));
        Address::new(X17, 0)
    }

    /// A register with the address itself: x17, if the place has an offset.
    pub(super) fn exact(&mut self, place: Address) -> Reg {
        match place.offset_bytes {
            0 => place.base,
            offset => {
                self.add_constant(X17, place.base, i64::from(offset));
                X17
            }
        }
    }

    fn access(&mut self, access: MemoryAccess, is_load: bool, register: Reg, place: Address) {
        let (word, log2_bytes) = encode::memory(access, is_load);
        let word = word | u32::from(register.number());
        let offset = i64::from(place.offset_bytes);
        let is_far = encode::offset(log2_bytes, offset).is_none();
        let is_aligned = offset.trailing_zeros() >= log2_bytes.min(3) && log2_bytes <= 3;
        if place.base == FRAME && is_far && offset < 0 && is_aligned && !self.options.is_large {
            let position = self.number();
            self.frame_accesses.push(FrameAccess { position, offset_bytes: place.offset_bytes, log2_bytes });
            self.put(word | x(STACK) << 5);
            return;
        }
        let place = self.reachable(place, log2_bytes);
        let offset = encode::offset(log2_bytes, i64::from(place.offset_bytes)).unwrap_or(0);
        self.put(word | offset | x(place.base) << 5);
    }

    /// `add` or `sub` of SP, by less than 16 MiB.
    fn move_stack(words: &mut Vec<u32>, word: u32, bytes: u32) -> Option<()> {
        let bytes = u64::from(bytes);
        if bytes >= TWO_IMMEDIATES {
            return None;
        }
        for part in [bytes & 0xfff, bytes & !0xfff] {
            if part > 0 {
                let immediate = encode::arithmetic_immediate(part)?;
                words.push(unary(width(MachineType::I64) | word | immediate, x(STACK), x(STACK)));
            }
        }
        Some(())
    }

    fn leave_frame(&mut self) {
        self.put(RESET_STACK_POINTER);
        self.put(POP_FRAME_RECORD);
    }

    /// Sets the flags. `right`: extended by its sign to the operation's width.
    fn compare(&mut self, relation: Relation, ty: MachineType, left: Reg, right: RegImm) -> Condition {
        match right {
            RegImm::Reg(right) if ty.is_float() => {
                self.put(binary(encode::FLOAT_COMPARE | precision(ty), 0, v(left), v(right)));
                return float_condition(relation);
            }
            RegImm::Reg(right) => self.put(binary(encode::SUBTRACT | SETS_FLAGS | width(ty), ZERO, x(left), x(right))),
            RegImm::Imm(value) => self.add_or_subtract(true, SETS_FLAGS, ty, ZERO, left, value),
        }
        integer_condition(relation)
    }

    /// `to = left ± right`.
    fn add_or_subtract(&mut self, is_subtraction: bool, flags: u32, ty: MachineType, to: u32, left: Reg, right: i32) {
        let (sum, difference) = (encode::ADD_IMMEDIATE, encode::SUBTRACT_IMMEDIATE);
        // A sum with the negated number has the flags of the difference, but for 0, which is not negated.
        let word = if is_subtraction == (right < 0) { sum } else { difference };
        if let Some(immediate) = encode::arithmetic_immediate(u64::from(right.unsigned_abs())) {
            self.put(unary(word | width(ty) | flags | immediate, to, x(left)));
            return;
        }
        self.constant(X17, i64::from(right));
        let word = if is_subtraction { encode::SUBTRACT } else { encode::ADD };
        self.put(binary(word | width(ty) | flags, to, x(left), x(X17)));
    }

    fn jump_overflow(&mut self, overflow: Option<Label>) {
        if let Some(overflow) = overflow {
            self.jump_on(Condition::Overflow, overflow);
        }
    }

    /// Moves branches and loads of literals to their targets, accesses to the frame to their places. None: a label is
    /// unbound, or something is out of reach.
    fn resolve(&mut self, frame_size_bytes: u32, prologue: u32) -> Option<()> {
        for &(position, label) in &self.branches {
            let target = self.labels[label.0 as usize];
            if target == UNBOUND {
                return None;
            }
            let word = &mut self.words[position as usize];
            *word = encode::lead(*word, target.wrapping_sub(position).cast_signed())?;
        }
        for access in &self.frame_accesses {
            let offset = i64::from(frame_size_bytes) + i64::from(access.offset_bytes);
            self.words[access.position as usize] |= encode::scaled_offset(access.log2_bytes, offset)?;
        }
        if self.literals.is_empty() {
            return Some(());
        }
        // Literals are aligned in the body, which begins with the prologue.
        if !(prologue + self.number()).is_multiple_of(2) {
            self.put(UNDEFINED);
        }
        let first = self.number();
        for &(position, literal) in &self.literal_loads {
            let word = &mut self.words[position as usize];
            *word = encode::lead(*word, (first + 2 * literal).wrapping_sub(position).cast_signed())?;
        }
        for index in 0..self.literals.len() {
            let target = self.literals[index];
            self.literal(target);
        }
        Some(())
    }

    /// Eight bytes that become the target's address.
    fn literal(&mut self, target: T) {
        self.relocate(RelocKind::Absolute8, AddressUse::AddressTaken, target);
        self.words.extend([0, 0]);
    }

    fn prologue(frame_size_bytes: u32, lowered_bytes: u32) -> Option<Vec<u32>> {
        let mut words = vec![PUSH_FRAME_RECORD, SET_FRAME_POINTER];
        if lowered_bytes > 0 {
            // The chain of frame records is whole after each instruction.
            Self::move_stack(&mut words, encode::SUBTRACT_IMMEDIATE, lowered_bytes)?;
            let registers = [x(X16), x(X17)];
            words.push(encode::pair(true, registers, x(FRAME), 0)?);
            words.push(encode::pair(false, registers, x(STACK), 0)?);
            words.push(SET_FRAME_POINTER);
        }
        // Large frames touch each page on their way, so that none can step over a guard page.
        for _ in 0..frame_size_bytes / PAGE_BYTES {
            words.extend(PROBE);
        }
        Self::move_stack(&mut words, encode::SUBTRACT_IMMEDIATE, frame_size_bytes % PAGE_BYTES)?;
        Some(words)
    }
}

fn integer_condition(relation: Relation) -> Condition {
    match relation {
        Relation::Equal => Condition::Equal,
        Relation::NotEqual => Condition::NotEqual,
        Relation::Less => Condition::Less,
        Relation::LessUnsigned => Condition::CarryClear,
        Relation::LessOrEqual => Condition::LessOrEqual,
        Relation::LessOrEqualUnsigned => Condition::LowerOrSame,
        Relation::Greater => Condition::Greater,
        Relation::GreaterUnsigned => Condition::Higher,
        Relation::GreaterOrEqual => Condition::GreaterOrEqual,
        Relation::GreaterOrEqualUnsigned => Condition::CarrySet,
    }
}

/// `fcmp` sets Z and C for equal, N for less, C for greater, and C and V for unordered operands.
fn float_condition(relation: Relation) -> Condition {
    match relation {
        Relation::Less => Condition::Minus,
        Relation::LessUnsigned => Condition::Less,
        Relation::LessOrEqual => Condition::LowerOrSame,
        Relation::LessOrEqualUnsigned => Condition::LessOrEqual,
        // Those tell greater and equal operands apart from the rest, as of integers.
        other => integer_condition(other),
    }
}

impl<T: Copy + PartialEq> MacroAssembler for Assembler<T> {
    type Target = T;

    const THREAD: Reg = registers::THREAD;
    const FRAME: Reg = FRAME;
    const STACK: Reg = STACK;
    // Behind the frame record.
    const INCOMING_ARGUMENTS_OFFSET: i32 = 16;
    const SCRATCH: Reg = X16;
    const FLOAT_SCRATCH: Reg = V31;
    const ALLOCATABLE: RegisterSet = registers::ALLOCATABLE;
    const CALLEE_SAVED: &'static [Reg] = &registers::CALLEE_SAVED;
    const ARGUMENTS: &'static [Reg] = &registers::ARGUMENTS;
    const FLOAT_ARGUMENTS: &'static [Reg] = &registers::FLOAT_ARGUMENTS;
    const RESULT: Reg = registers::ARGUMENTS[0];
    const FLOAT_RESULT: Reg = registers::FLOAT_ARGUMENTS[0];
    const CALLEE: Reg = Reg::general(9);
    const CALLEE_VTABLE: Reg = Reg::general(10);
    const NATIVE_ARGUMENTS: &'static [Reg] = &registers::NATIVE_ARGUMENTS;
    const NATIVE_RESULT_ADDRESS: Option<Reg> = Some(registers::X8);
    const NATIVE_RESULTS: [&'static [Reg]; 2] = [&registers::NATIVE_RESULTS, &registers::NATIVE_FLOAT_RESULTS];
    const EXCEPTION: [Reg; 2] = registers::NATIVE_RESULTS;
    const SHIFT_COUNT: Reg = Reg::general(13);
    const DIVIDEND: Reg = Reg::general(11);
    const REMAINDER: Reg = Reg::general(12);

    fn begin(&mut self, options: CodeOptions) {
        self.options = options;
        self.words.clear();
        self.labels.clear();
        self.branches.clear();
        self.relocs.clear();
        self.frame_accesses.clear();
        self.literals.clear();
        self.literal_loads.clear();
    }

    fn offset(&self) -> u32 {
        self.number() * INSTRUCTION_BYTES
    }

    fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.number();
    }

    fn offset_of(&self, label: Label) -> u32 {
        self.labels[label.0 as usize].wrapping_mul(INSTRUCTION_BYTES)
    }

    fn finish(&mut self, frame_size_bytes: u32, lowered_bytes: u32) -> Option<FinishedCode<T>> {
        let prologue = Self::prologue(frame_size_bytes, lowered_bytes)?;
        self.resolve(frame_size_bytes, prologue.len() as u32)?;
        let bytes = prologue.iter().chain(&self.words).flat_map(|word| word.to_le_bytes()).collect();
        let prologue_bytes = prologue.len() as u32 * INSTRUCTION_BYTES;
        let mut relocs = std::mem::take(&mut self.relocs);
        relocs.iter_mut().for_each(|reloc| reloc.offset += prologue_bytes);
        Some(FinishedCode { bytes, prologue_bytes, relocs })
    }

    fn move_register(&mut self, to: Reg, from: Reg) {
        if to.is_float() {
            self.put(binary(encode::VECTOR_OR, v(to), v(from), v(from)));
        } else {
            self.put(binary(encode::OR | width(MachineType::I64), x(to), ZERO, x(from)));
        }
    }

    /// The shortest sequence; flags stay as they are.
    fn constant(&mut self, register: Reg, value: i64) {
        let to = x(register);
        let parts = [0, 1, 2, 3].map(|part| (value >> (16 * part)) as u16);
        let count = |filler: u16| parts.iter().filter(|&&part| part != filler).count();
        let (is_inverted, needed) = match (count(0), count(u16::MAX)) {
            (zeros, ones) if ones < zeros => (true, ones),
            (zeros, _) => (false, zeros),
        };
        if needed > 1
            && let Some(mask) = encode::bit_mask(MachineType::I64, value.cast_unsigned())
        {
            self.put(unary(encode::OR_IMMEDIATE | width(MachineType::I64) | mask, to, ZERO));
            return;
        }
        let filler = if is_inverted { u16::MAX } else { 0 };
        let mut others = (0..).zip(parts).filter(|&(_, part)| part != filler);
        let (part, bits) = others.next().unwrap_or((0, filler));
        self.put(match is_inverted {
            true => encode::move_wide(encode::MOVE_NOT, to, part, !bits),
            false => encode::move_wide(encode::MOVE_ZERO, to, part, bits),
        });
        for (part, bits) in others {
            self.put(encode::move_wide(encode::MOVE_KEEP, to, part, bits));
        }
    }

    fn float_constant(&mut self, register: Reg, bits: u64) {
        if bits == 0 {
            self.put(encode::VECTOR_ZERO | v(register));
        } else {
            self.constant(X17, bits.cast_signed());
            self.put(unary(encode::BITS_TO_DOUBLE, v(register), x(X17)));
        }
    }

    fn address_of(&mut self, register: Reg, target: T, is_near: bool) {
        let to = x(register);
        if is_near {
            self.relocate(RelocKind::Arm64AdrPage21, AddressUse::AddressTaken, target);
            self.put(0x9000_0000 | to);
            self.relocate(RelocKind::Arm64AddLow12, AddressUse::AddressTaken, target);
            self.put(unary(encode::ADD_IMMEDIATE | width(MachineType::I64), to, to));
            return;
        }
        if self.options.is_large {
            self.put(encode::lead(encode::LOAD_LITERAL | to, 2).unwrap_or(UNDEFINED));
            self.put(encode::lead(encode::BRANCH, 3).unwrap_or(UNDEFINED));
            self.literal(target);
            return;
        }
        let recent = self.literals.len().saturating_sub(RECENT_LITERALS);
        let known = self.literals[recent..].iter().rposition(|&literal| literal == target);
        let literal = known.map_or(self.literals.len(), |index| recent + index);
        if known.is_none() {
            self.literals.push(target);
        }
        self.literal_loads.push((self.number(), literal as u32));
        self.put(encode::LOAD_LITERAL | to);
    }

    fn load(&mut self, access: MemoryAccess, register: Reg, from: Address) {
        self.access(access, true, register, from);
    }

    fn store(&mut self, access: MemoryAccess, to: Address, register: Reg) {
        self.access(access, false, register, to);
    }

    fn store_zero(&mut self, to: Address) {
        self.access(WORD, false, Reg::general(ZERO as u8), to);
    }

    fn load_address(&mut self, register: Reg, address: Address) {
        self.add_constant(register, address.base, i64::from(address.offset_bytes));
    }

    fn load_element_address(&mut self, register: Reg, element: ElementAddress) {
        let ElementAddress { base, index, index_type, size_bytes, offset_bytes } = element;
        self.add_constant(X15, base, i64::from(offset_bytes));
        let is_narrow = index_type == MachineType::I32;
        let scale = size_bytes.trailing_zeros();
        if size_bytes.count_ones() == 1 && scale <= 4 {
            let extension = if is_narrow { UXTW } else { UXTX };
            let word = width(MachineType::I64) | encode::ADD | EXTENDED | extension | encode::shifted_left(scale);
            self.put(binary(word, x(register), x(X15), x(index)));
            return;
        }
        self.constant(X17, i64::from(size_bytes));
        let word = match is_narrow {
            true => encode::MULTIPLY_ADD_WORDS_UNSIGNED,
            false => encode::MULTIPLY_ADD | width(MachineType::I64),
        };
        self.put(encode::multiply(word, x(register), x(index), x(X17), x(X15)));
    }

    /// `ldrb wzr, [object]`
    fn check_null(&mut self, object: Reg) {
        self.access(MemoryAccess::Narrow(Extension::Z8), true, Reg::general(ZERO as u8), Address::new(object, 0));
    }

    fn integer(&mut self, op: IntegerOp, ty: MachineType, left: Reg, right: RegImm, overflow: Option<Label>) {
        let flags = if overflow.is_some() { SETS_FLAGS } else { 0 };
        let to = x(left);
        let (word, immediate_word) = match op {
            IntegerOp::Add => (encode::ADD | flags, None),
            IntegerOp::Subtract => (encode::SUBTRACT | flags, None),
            IntegerOp::And => (encode::AND, Some(encode::AND_IMMEDIATE)),
            IntegerOp::Or => (encode::OR, Some(encode::OR_IMMEDIATE)),
            IntegerOp::ExclusiveOr => (encode::EXCLUSIVE_OR, Some(encode::EXCLUSIVE_OR_IMMEDIATE)),
        };
        match (right, immediate_word) {
            (RegImm::Reg(right), _) => self.put(binary(word | width(ty), to, to, x(right))),
            (RegImm::Imm(value), None) => {
                self.add_or_subtract(op == IntegerOp::Subtract, flags, ty, to, left, value);
            }
            (RegImm::Imm(value), Some(immediate_word)) => {
                match encode::bit_mask(ty, i64::from(value).cast_unsigned()) {
                    Some(mask) => self.put(unary(immediate_word | width(ty) | mask, to, to)),
                    None => {
                        self.constant(X17, i64::from(value));
                        self.put(binary(word | width(ty), to, to, x(X17)));
                    }
                }
            }
        }
        self.jump_overflow(overflow);
    }

    fn multiply(&mut self, ty: MachineType, left: Reg, right: Reg, overflow: Option<Label>) {
        self.product(ty, x(left), x(left), x(right), overflow);
    }

    fn multiply_constant(&mut self, ty: MachineType, to: Reg, left: Reg, right: i32, overflow: Option<Label>) {
        if overflow.is_none() && right > 0 && right.count_ones() == 1 {
            self.shift_to(ShiftOp::Left, ty, x(to), x(left), right.trailing_zeros());
            return;
        }
        self.constant(X15, i64::from(right));
        self.product(ty, x(to), x(left), x(X15), overflow);
    }

    fn shift(&mut self, op: ShiftOp, ty: MachineType, register: Reg, count: u8) {
        self.shift_to(op, ty, x(register), x(register), u32::from(count));
    }

    fn shift_by(&mut self, op: ShiftOp, ty: MachineType, register: Reg) {
        let word = match op {
            ShiftOp::Left => encode::SHIFT_LEFT,
            ShiftOp::Right => encode::SHIFT_RIGHT,
            ShiftOp::RightUnsigned => encode::SHIFT_RIGHT_UNSIGNED,
        };
        self.put(binary(word | width(ty), x(register), x(register), x(Self::SHIFT_COUNT)));
    }

    fn divide(&mut self, is_signed: bool, ty: MachineType, divisor: Reg) {
        let (dividend, remainder) = (x(Self::DIVIDEND), x(Self::REMAINDER));
        let word = if is_signed { encode::DIVIDE } else { encode::DIVIDE_UNSIGNED };
        self.put(binary(word | width(ty), x(X17), dividend, x(divisor)));
        self.put(encode::multiply(encode::MULTIPLY_SUBTRACT | width(ty), remainder, x(X17), x(divisor), dividend));
        self.move_register(Self::DIVIDEND, X17);
    }

    fn negate(&mut self, ty: MachineType, register: Reg) {
        self.put(binary(encode::SUBTRACT | width(ty), x(register), ZERO, x(register)));
    }

    fn not(&mut self, ty: MachineType, register: Reg) {
        self.put(binary(encode::OR_NOT | width(ty), x(register), ZERO, x(register)));
    }

    fn float(&mut self, op: FloatOp, ty: MachineType, left: Reg, right: Reg) {
        let word = match op {
            FloatOp::Add => encode::FLOAT_ADD,
            FloatOp::Subtract => encode::FLOAT_SUBTRACT,
            FloatOp::Multiply => encode::FLOAT_MULTIPLY,
            FloatOp::Divide => encode::FLOAT_DIVIDE,
        };
        self.put(binary(word | precision(ty), v(left), v(left), v(right)));
    }

    fn negate_float(&mut self, ty: MachineType, register: Reg) {
        self.put(unary(encode::FLOAT_NEGATE | precision(ty), v(register), v(register)));
    }

    fn extend(&mut self, extension: Extension, to: Reg, from: Reg) {
        let (is_signed, last) = match extension {
            Extension::S8 => (true, 7),
            Extension::Z8 => (false, 7),
            Extension::S16 => (true, 15),
            Extension::Z16 => (false, 15),
        };
        self.put(encode::bit_field(is_signed, MachineType::I32, x(to), x(from), 0, last));
    }

    fn widen(&mut self, is_signed: bool, to: Reg, from: Reg) {
        self.put(match is_signed {
            true => encode::bit_field(true, MachineType::I64, x(to), x(from), 0, 31),
            false => binary(encode::OR, x(to), ZERO, x(from)),
        });
    }

    fn integer_to_float(&mut self, ty: MachineType, to: Reg, from_type: MachineType, from: Reg) {
        self.put(unary(encode::INTEGER_TO_FLOAT | width(from_type) | precision(ty), v(to), x(from)));
    }

    fn convert_float(&mut self, ty: MachineType, to: Reg, from: Reg) {
        let word = if ty == MachineType::F64 { encode::SINGLE_TO_DOUBLE } else { encode::DOUBLE_TO_SINGLE };
        self.put(unary(word, v(to), v(from)));
    }

    fn set_if(&mut self, relation: Relation, ty: MachineType, to: Reg, left: Reg, right: RegImm) {
        let condition = self.compare(relation, ty, left, right);
        self.put(encode::set_on(condition, x(to)));
    }

    fn jump_if(&mut self, relation: Relation, ty: MachineType, left: Reg, right: RegImm, to: Label, _: Option<Label>) {
        if let (Relation::Equal | Relation::NotEqual, RegImm::Imm(0)) = (relation, right) {
            self.jump_on_zero(ty, left, relation == Relation::Equal, to);
            return;
        }
        let condition = self.compare(relation, ty, left, right);
        self.jump_on(condition, to);
    }

    fn jump_if_nonzero(&mut self, ty: MachineType, register: Reg, target: Label) {
        self.jump_on_zero(ty, register, false, target);
    }

    fn jump_if_word(&mut self, ty: MachineType, word: Address, is_zero: bool, target: Label) {
        self.load(MemoryAccess::Whole(ty), X17, word);
        self.jump_on_zero(ty, X17, is_zero, target);
    }

    fn count_up(&mut self, word: Address, amount: i32, overflow: Label) {
        let word = self.reachable(word, 2);
        self.load(HALF, X15, word);
        self.constant(X14, i64::from(amount));
        self.put(binary(encode::ADD | SETS_FLAGS, x(X15), x(X15), x(X14)));
        self.store(HALF, word, X15);
        self.jump_on(Condition::Overflow, overflow);
    }

    fn add_one(&mut self, word: Address) {
        let word = self.reachable(word, 2);
        self.load(HALF, X15, word);
        self.integer(IntegerOp::Add, MachineType::I32, X15, RegImm::Imm(1), None);
        self.store(HALF, word, X15);
    }

    fn jump(&mut self, target: Label) {
        self.branch(encode::BRANCH, target);
    }

    fn call(&mut self, target: T) {
        self.relocate(RelocKind::Arm64Branch26, AddressUse::Called, target);
        self.put(encode::BRANCH_LINK);
    }

    fn call_register(&mut self, callee: Reg) {
        self.put(encode::CALL_REGISTER | x(callee) << 5);
    }

    fn call_slot(&mut self, slot: Address) {
        self.load(WORD, X16, slot);
        self.call_register(X16);
    }

    /// The chain of frame records is whole after each instruction.
    fn raise_frame(&mut self, bytes: u32) {
        self.add_constant(X15, FRAME, i64::from(bytes));
        let registers = [x(X16), x(X17)];
        for (is_load, base) in [(true, FRAME), (false, X15)] {
            self.put(encode::pair(is_load, registers, x(base), 0).unwrap_or(UNDEFINED));
        }
        self.move_register(FRAME, X15);
    }

    fn tail_jump(&mut self, target: T) {
        self.leave_frame();
        self.relocate(RelocKind::Arm64Branch26, AddressUse::Called, target);
        self.put(encode::BRANCH);
    }

    fn tail_jump_register(&mut self, callee: Reg) {
        self.leave_frame();
        self.put(encode::BRANCH_REGISTER | x(callee) << 5);
    }

    fn take_back_arguments(&mut self, argument_bytes: u32) {
        self.add_constant(STACK, STACK, -i64::from(argument_bytes));
    }

    fn ret(&mut self, argument_bytes: u32) {
        self.leave_frame();
        // At most 64 KiB: `frames` looks back over two instructions.
        let moved = Self::move_stack(&mut self.words, encode::ADD_IMMEDIATE, argument_bytes);
        debug_assert!(moved.is_some());
        self.put(RETURN);
    }

    fn trap(&mut self) -> u32 {
        let offset = self.offset();
        self.put(UNDEFINED);
        offset
    }
}
