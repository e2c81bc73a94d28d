//! x86-64: the macro assembler. Encodings are those of `cranelift-assembler-x64`; this file chooses the instructions.
//!
//! Invariant: every body begins with `push rbp; mov rbp, rsp`, and before a jump out of it the frame is undone by `mov
//! rsp, rbp; pop rbp`, as in Cranelift's code: walks recognise these (`frames`). Before a jump, `leave`, three bytes
//! shorter, is one byte that they could not tell from the end of an operand; before `ret` it needs not be recognised,
//! since `ret` itself is.

use super::registers::{self, R10, R11, R15, RAX, RBP, RCX, RDX, RSP, XMM0, XMM15};
use crate::masm::{
    Address, CodeOptions, ElementAddress, Extension, FinishedCode, FloatOp, IntegerOp, Label, MachineType,
    MacroAssembler, MemoryAccess, Reg, RegImm, Relation, ShiftOp,
};
use cranelift_assembler_x64::{
    Amode, AmodeOffset, AmodeOffsetPlusKnownOffset, CodeSink, DeferredTarget, KnownOffset, NonRspGpr, Registers, Scale,
    TrapCode, inst,
};
use saki_abi::{AddressUse, Reloc, RelocKind};
use std::num::NonZeroU8;

/// Registers are their hardware numbers: none is virtual.
pub(super) struct Hardware;

impl Registers for Hardware {
    type ReadGpr = u8;
    type ReadWriteGpr = u8;
    type WriteGpr = u8;
    type ReadXmm = u8;
    type ReadWriteXmm = u8;
    type WriteXmm = u8;
}

/// `[rip + displacement]`; the displacement, 0, is the instruction's end.
pub(super) const RIP_RELATIVE: Amode<u8> = Amode::RipRelative { target: DeferredTarget::None };
/// Bytes of the displacement of a call or jump, or of an operand relative to rip.
pub(super) const DISPLACEMENT_BYTES: usize = 4;
/// Distance of the probes of large frames (`frames` recognises them).
const PAGE_BYTES: u32 = 4096;
/// Bytes of the usual prologue: `push rbp; mov rbp, rsp; sub rsp, imm32`.
const MAX_PROLOGUE_BYTES: usize = 11;

/// `leave`, which `cranelift-assembler-x64` does not have: `mov rsp, rbp; pop rbp`.
const LEAVE: u8 = 0xc9;

/// Trap codes of instructions are for Cranelift's own tables; the body's table has ours.
const NO_TRAP: TrapCode = TrapCode(NonZeroU8::MIN);

/// Where a label is that has not been bound.
const UNBOUND: u32 = u32::MAX;

/// Condition codes (Intel SDM vol. 1, appendix B).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition {
    Overflow,
    Below,
    AboveOrEqual,
    Equal,
    NotEqual,
    BelowOrEqual,
    Above,
    Parity,
    NoParity,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Greater,
}

/// What the flags say after a comparison.
struct Flags {
    condition: Condition,
    /// Equality of floats: the condition holds for unordered operands too, and must not.
    unless_parity: bool,
    /// Inequality of floats: unordered operands are unequal.
    or_parity: bool,
}

/// The bytes so far. Its methods are inlined into the encoders, which those of `Vec` in another crate are not.
#[derive(Default)]
pub(super) struct Code(Vec<u8>);

impl CodeSink for Code {
    #[inline]
    fn put1(&mut self, value: u8) {
        self.0.push(value);
    }

    #[inline]
    fn put2(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn put4(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn put8(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Nothing: whoever emits an access that faults notes its offset.
    #[inline]
    fn add_trap(&mut self, _: TrapCode) {}

    /// Nothing: `relocate_end` notes the target.
    #[inline]
    fn use_target(&mut self, _: DeferredTarget) {}

    fn known_offset(&self, offset: KnownOffset) -> i32 {
        saki_base::bug!("no operand names the known offset {offset}")
    }
}

/// The macro assembler for x86-64; see [`MacroAssembler`]. Jumps have 32-bit displacements.
pub struct Assembler<T> {
    pub(super) code: Code,
    /// By label, its offset.
    labels: Vec<u32>,
    /// Offsets of displacements, and the labels to which they lead.
    jumps: Vec<(u32, Label)>,
    relocs: Vec<Reloc<T>>,
}

impl<T> Default for Assembler<T> {
    fn default() -> Self {
        Assembler { code: Code::default(), labels: Vec::new(), jumps: Vec::new(), relocs: Vec::new() }
    }
}

/// Appends an instruction with register operands.
macro_rules! emit {
    ($self:ident, $name:ident ($($operand:expr),*)) => {
        inst::$name::<Hardware>::new($($operand),*).encode(&mut $self.code)
    };
}

/// Appends an instruction in its 32-bit or 64-bit form, or single or double precision.
macro_rules! emit_wide {
    ($self:ident, $ty:expr, $narrow:ident | $wide:ident ($($operand:expr),*)) => {
        match $ty {
            MachineType::I32 | MachineType::F32 => emit!($self, $narrow($($operand),*)),
            MachineType::I64 | MachineType::F64 => emit!($self, $wide($($operand),*)),
            MachineType::V128 => saki_base::bug!("a scalar operation of a vector"),
        }
    };
}

pub(super) use {emit, emit_wide};

/// Appends an instruction without register operands.
macro_rules! emit_plain {
    ($self:ident, $name:ident ($($operand:expr),*)) => {
        inst::$name::new($($operand),*).encode(&mut $self.code)
    };
}

pub(super) fn gpr(register: Reg) -> u8 {
    debug_assert!(!register.is_float());
    register.number()
}

pub(super) fn xmm(register: Reg) -> u8 {
    debug_assert!(register.is_float());
    register.number()
}

pub(super) fn memory(address: Address) -> Amode<u8> {
    Amode::ImmReg {
        base: gpr(address.base),
        simm32: AmodeOffsetPlusKnownOffset { simm32: AmodeOffset::new(address.offset_bytes), offset: None },
        trap: None,
    }
}

impl<T: Copy> Assembler<T> {
    /// The instruction that was appended last ends with a displacement that leads to the target.
    fn relocate_end(&mut self, target: T, usage: AddressUse) {
        let offset = self.offset() - DISPLACEMENT_BYTES as u32;
        let addend = -(DISPLACEMENT_BYTES as i64);
        self.relocs.push(Reloc { offset, kind: RelocKind::X86PcRelative4, usage, target, addend });
    }

    /// The jump that was appended last leads to the label.
    fn jump_ends_at(&mut self, target: Label) {
        self.jumps.push((self.offset() - DISPLACEMENT_BYTES as u32, target));
    }

    /// Writes the displacements of the jumps between labels. None if a label is unbound.
    fn resolve_jumps(&mut self) -> Option<()> {
        for &(position, label) in &self.jumps {
            let target = self.labels[label.0 as usize];
            if target == UNBOUND {
                return None;
            }
            let end = position as usize + DISPLACEMENT_BYTES;
            let distance = target.wrapping_sub(end as u32);
            self.code.0[position as usize..end].copy_from_slice(&distance.to_le_bytes());
        }
        Some(())
    }

    pub(super) fn jump_on(&mut self, condition: Condition, target: Label) {
        macro_rules! jump {
            ($($condition:ident => $name:ident),*) => {
                match condition {
                    $(Condition::$condition => emit_plain!(self, $name(0i32)),)*
                }
            };
        }
        jump! {
            Overflow => jo_d32, Below => jb_d32, AboveOrEqual => jae_d32, Equal => je_d32, NotEqual => jne_d32,
            BelowOrEqual => jbe_d32, Above => ja_d32, Parity => jp_d32, NoParity => jnp_d32, Less => jl_d32,
            GreaterOrEqual => jge_d32, LessOrEqual => jle_d32, Greater => jg_d32
        }
        self.jump_ends_at(target);
    }

    /// The low byte of `register` = 0 or 1; the other bytes stay as they are.
    fn set_on(&mut self, condition: Condition, register: Reg) {
        let register = gpr(register);
        macro_rules! set {
            ($($condition:ident => $name:ident),*) => {
                match condition {
                    $(Condition::$condition => emit!(self, $name(register)),)*
                }
            };
        }
        set! {
            Overflow => seto_m, Below => setb_m, AboveOrEqual => setae_m, Equal => sete_m, NotEqual => setne_m,
            BelowOrEqual => setbe_m, Above => seta_m, Parity => setp_m, NoParity => setnp_m, Less => setl_m,
            GreaterOrEqual => setge_m, LessOrEqual => setle_m, Greater => setg_m
        }
    }

    /// Undoes the frame, before a jump: see the header.
    fn leave_frame(&mut self) {
        emit!(self, movq_mr(gpr(RSP), gpr(RBP)));
        emit!(self, popq_o(gpr(RBP)));
    }

    fn trap_overflow(&mut self, overflow: Option<Label>) {
        if let Some(overflow) = overflow {
            self.jump_on(Condition::Overflow, overflow);
        }
    }

    fn compare(&mut self, relation: Relation, ty: MachineType, left: Reg, right: RegImm) -> Flags {
        match (ty.is_float(), right) {
            (false, _) => {
                self.compare_integers(ty, left, right);
                Flags { condition: integer_condition(relation), unless_parity: false, or_parity: false }
            }
            (true, RegImm::Reg(right)) => self.compare_floats(relation, ty, left, right),
            (true, RegImm::Imm(_)) => saki_base::bug!("floating-point numbers are compared with an immediate"),
        }
    }

    fn compare_integers(&mut self, ty: MachineType, left: Reg, right: RegImm) {
        let left = gpr(left);
        match right {
            RegImm::Reg(right) => emit_wide!(self, ty, cmpl_rm | cmpq_rm(left, gpr(right))),
            RegImm::Imm(value) => match i8::try_from(value) {
                Ok(value) => emit_wide!(self, ty, cmpl_mi_sxb | cmpq_mi_sxb(left, value)),
                Err(_) => emit_wide!(self, ty, cmpl_mi | cmpq_mi(left, value)),
            },
        }
    }

    /// `ucomis` sets carry for less, zero for equal, and all of carry, zero and parity for unordered operands; "above"
    /// and "above or equal" are therefore false for those, "below" and "below or equal" true.
    fn compare_floats(&mut self, relation: Relation, ty: MachineType, left: Reg, right: Reg) -> Flags {
        let (condition, is_swapped) = match relation {
            Relation::Equal => (Condition::Equal, false),
            Relation::NotEqual => (Condition::NotEqual, false),
            Relation::Less => (Condition::Above, true),
            Relation::LessOrEqual => (Condition::AboveOrEqual, true),
            Relation::Greater => (Condition::Above, false),
            Relation::GreaterOrEqual => (Condition::AboveOrEqual, false),
            Relation::LessUnsigned => (Condition::Below, false),
            Relation::LessOrEqualUnsigned => (Condition::BelowOrEqual, false),
            Relation::GreaterUnsigned => (Condition::Below, true),
            Relation::GreaterOrEqualUnsigned => (Condition::BelowOrEqual, true),
        };
        let (left, right) = if is_swapped { (right, left) } else { (left, right) };
        emit_wide!(self, ty, ucomiss_a | ucomisd_a(xmm(left), xmm(right)));
        Flags { condition, unless_parity: relation == Relation::Equal, or_parity: relation == Relation::NotEqual }
    }
}

fn integer_condition(relation: Relation) -> Condition {
    match relation {
        Relation::Equal => Condition::Equal,
        Relation::NotEqual => Condition::NotEqual,
        Relation::Less => Condition::Less,
        Relation::LessUnsigned => Condition::Below,
        Relation::LessOrEqual => Condition::LessOrEqual,
        Relation::LessOrEqualUnsigned => Condition::BelowOrEqual,
        Relation::Greater => Condition::Greater,
        Relation::GreaterUnsigned => Condition::Above,
        Relation::GreaterOrEqual => Condition::GreaterOrEqual,
        Relation::GreaterOrEqualUnsigned => Condition::AboveOrEqual,
    }
}

impl<T: Copy> MacroAssembler for Assembler<T> {
    type Target = T;

    const THREAD: Reg = R15;
    const FRAME: Reg = RBP;
    const STACK: Reg = RSP;
    // Behind the caller's frame pointer and the return address.
    const INCOMING_ARGUMENTS_OFFSET: i32 = 16;
    const SCRATCH: Reg = R11;
    const FLOAT_SCRATCH: Reg = XMM15;
    const ALLOCATABLE: crate::masm::RegisterSet = registers::ALLOCATABLE;
    const CALLEE_SAVED: &'static [Reg] = &registers::CALLEE_SAVED;
    const ARGUMENTS: &'static [Reg] = &registers::ARGUMENTS;
    const FLOAT_ARGUMENTS: &'static [Reg] = &registers::FLOAT_ARGUMENTS;
    const RESULT: Reg = RAX;
    const FLOAT_RESULT: Reg = XMM0;
    const CALLEE: Reg = R10;
    const CALLEE_VTABLE: Reg = RAX;
    const NATIVE_ARGUMENTS: &'static [Reg] = &registers::ARGUMENTS;
    const NATIVE_RESULT_ADDRESS: Option<Reg> = None;
    const NATIVE_RESULTS: [&'static [Reg]; 2] = [&[RAX, RDX], &[XMM0, Reg::float(1)]];
    const EXCEPTION: [Reg; 2] = [RAX, RDX];
    const SHIFT_COUNT: Reg = RCX;
    const DIVIDEND: Reg = RAX;
    const REMAINDER: Reg = RDX;

    /// Jumps reach everything, and all processors have the same atomic instructions.
    fn begin(&mut self, _: CodeOptions) {
        self.code.0.clear();
        self.labels.clear();
        self.jumps.clear();
        self.relocs.clear();
    }

    fn offset(&self) -> u32 {
        self.code.0.len() as u32
    }

    fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.offset();
    }

    fn offset_of(&self, label: Label) -> u32 {
        self.labels[label.0 as usize]
    }

    fn finish(&mut self, frame_size_bytes: u32, lowered_bytes: u32) -> Option<FinishedCode<T>> {
        self.resolve_jumps()?;
        let mut code = Code(Vec::with_capacity(self.code.0.len() + MAX_PROLOGUE_BYTES));
        let (frame, stack) = (gpr(RBP), gpr(RSP));
        inst::pushq_o::<Hardware>::new(frame).encode(&mut code);
        inst::movq_mr::<Hardware>::new(frame, stack).encode(&mut code);
        if lowered_bytes > 0 {
            // The chain of frame pointers is whole after each instruction.
            let lowered = -i32::try_from(lowered_bytes).ok()?;
            inst::leaq_rm::<Hardware>::new(stack, memory(Address::new(RSP, lowered))).encode(&mut code);
            for word in [0, 8] {
                inst::movq_rm::<Hardware>::new(gpr(R11), memory(Address::new(RBP, word))).encode(&mut code);
                inst::movq_mr::<Hardware>::new(memory(Address::new(RBP, lowered + word)), gpr(R11)).encode(&mut code);
            }
            inst::leaq_rm::<Hardware>::new(frame, memory(Address::new(RBP, lowered))).encode(&mut code);
        }
        // Large frames touch each page on their way, so that none can step over a guard page.
        let probed_pages = frame_size_bytes / PAGE_BYTES;
        for _ in 0..probed_pages {
            inst::subq_mi_sxl::<Hardware>::new(stack, PAGE_BYTES as i32).encode(&mut code);
            inst::movl_mi::<Hardware>::new(memory(Address::new(RSP, 0)), 0u32).encode(&mut code);
        }
        let frame_size_bytes = frame_size_bytes % PAGE_BYTES;
        match i8::try_from(frame_size_bytes) {
            Ok(0) => {}
            Ok(size) => inst::subq_mi_sxb::<Hardware>::new(stack, size).encode(&mut code),
            Err(_) => {
                let size = i32::try_from(frame_size_bytes).ok()?;
                inst::subq_mi_sxl::<Hardware>::new(stack, size).encode(&mut code);
            }
        }
        let prologue_bytes = code.0.len() as u32;
        code.0.extend_from_slice(&self.code.0);
        let mut relocs = std::mem::take(&mut self.relocs);
        relocs.iter_mut().for_each(|reloc| reloc.offset += prologue_bytes);
        Some(FinishedCode { bytes: code.0, prologue_bytes, relocs })
    }

    fn move_register(&mut self, to: Reg, from: Reg) {
        if to.is_float() {
            emit!(self, movaps_a(xmm(to), xmm(from)));
        } else {
            emit!(self, movq_rm(gpr(to), gpr(from)));
        }
    }

    /// The shortest form; flags stay as they are.
    fn constant(&mut self, register: Reg, value: i64) {
        let register = gpr(register);
        if let Ok(value) = u32::try_from(value) {
            emit!(self, movl_oi(register, value));
        } else if let Ok(value) = i32::try_from(value) {
            emit!(self, movq_mi_sxl(register, value));
        } else {
            emit!(self, movabsq_oi(register, value as u64));
        }
    }

    fn float_constant(&mut self, register: Reg, bits: u64) {
        if bits == 0 {
            emit!(self, xorps_a(xmm(register), xmm(register)));
        } else {
            self.constant(R11, bits as i64);
            emit!(self, movq_a(xmm(register), gpr(R11)));
        }
    }

    fn address_of(&mut self, register: Reg, target: T, is_near: bool) {
        if is_near {
            emit!(self, leaq_rm(gpr(register), RIP_RELATIVE));
            self.relocate_end(target, AddressUse::AddressTaken);
        } else {
            emit!(self, movabsq_oi(gpr(register), 0u64));
            let offset = self.offset() - size_of::<u64>() as u32;
            let usage = AddressUse::AddressTaken;
            self.relocs.push(Reloc { offset, kind: RelocKind::Absolute8, usage, target, addend: 0 });
        }
    }

    fn load(&mut self, access: MemoryAccess, register: Reg, from: Address) {
        let from = memory(from);
        let number = register.number();
        match access {
            MemoryAccess::Narrow(Extension::S8) => emit!(self, movsbl_rm(number, from)),
            MemoryAccess::Narrow(Extension::Z8) => emit!(self, movzbl_rm(number, from)),
            MemoryAccess::Narrow(Extension::S16) => emit!(self, movswl_rm(number, from)),
            MemoryAccess::Narrow(Extension::Z16) => emit!(self, movzwl_rm(number, from)),
            MemoryAccess::Whole(MachineType::I32) => emit!(self, movl_rm(number, from)),
            MemoryAccess::Whole(MachineType::I64) => emit!(self, movq_rm(number, from)),
            MemoryAccess::Whole(MachineType::F32) => emit!(self, movss_a_m(number, from)),
            MemoryAccess::Whole(MachineType::F64) => emit!(self, movsd_a_m(number, from)),
            MemoryAccess::Whole(MachineType::V128) => emit!(self, movups_a(number, from)),
        }
    }

    fn store(&mut self, access: MemoryAccess, to: Address, register: Reg) {
        let to = memory(to);
        let number = register.number();
        match access {
            MemoryAccess::Narrow(Extension::S8 | Extension::Z8) => emit!(self, movb_mr(to, number)),
            MemoryAccess::Narrow(Extension::S16 | Extension::Z16) => emit!(self, movw_mr(to, number)),
            MemoryAccess::Whole(MachineType::I32) => emit!(self, movl_mr(to, number)),
            MemoryAccess::Whole(MachineType::I64) => emit!(self, movq_mr(to, number)),
            MemoryAccess::Whole(MachineType::F32) => emit!(self, movss_c_m(to, number)),
            MemoryAccess::Whole(MachineType::F64) => emit!(self, movsd_c_m(to, number)),
            MemoryAccess::Whole(MachineType::V128) => emit!(self, movups_b(to, number)),
        }
    }

    fn store_zero(&mut self, to: Address) {
        emit!(self, movq_mi_sxl(memory(to), 0i32));
    }

    fn load_address(&mut self, register: Reg, address: Address) {
        emit!(self, leaq_rm(gpr(register), memory(address)));
    }

    fn load_element_address(&mut self, register: Reg, element: ElementAddress) {
        let ElementAddress { base, index, index_type, size_bytes, offset_bytes } = element;
        // For 32 bits this clears the upper half.
        emit_wide!(self, index_type, movl_rm | movq_rm(gpr(R11), gpr(index)));
        let scale = match size_bytes {
            1 => Scale::One,
            2 => Scale::Two,
            4 => Scale::Four,
            8 => Scale::Eight,
            _ => {
                self.multiply_constant(MachineType::I64, R11, R11, size_bytes, None);
                Scale::One
            }
        };
        let index = NonRspGpr::new(gpr(R11));
        let simm32 = AmodeOffset::new(offset_bytes);
        let place = Amode::ImmRegRegShift { base: gpr(base), index, scale, simm32, trap: None };
        emit!(self, leaq_rm(gpr(register), place));
    }

    fn check_null(&mut self, object: Reg) {
        emit!(self, cmpb_mi(memory(Address::new(object, 0)), 0u8));
    }

    fn integer(&mut self, op: IntegerOp, ty: MachineType, left: Reg, right: RegImm, overflow: Option<Label>) {
        let left = gpr(left);
        macro_rules! table {
            ($right:expr; $($op:ident => $narrow:ident | $wide:ident),*) => {
                match op {
                    $(IntegerOp::$op => emit_wide!(self, ty, $narrow | $wide(left, $right)),)*
                }
            };
        }
        match right {
            RegImm::Reg(right) => table! { gpr(right);
                Add => addl_rm | addq_rm, Subtract => subl_rm | subq_rm, And => andl_rm | andq_rm,
                Or => orl_rm | orq_rm, ExclusiveOr => xorl_rm | xorq_rm
            },
            RegImm::Imm(value) => match i8::try_from(value) {
                Ok(value) => table! { value;
                    Add => addl_mi_sxb | addq_mi_sxb, Subtract => subl_mi_sxb | subq_mi_sxb,
                    And => andl_mi_sxb | andq_mi_sxb, Or => orl_mi_sxb | orq_mi_sxb,
                    ExclusiveOr => xorl_mi_sxb | xorq_mi_sxb
                },
                Err(_) => table! { value;
                    Add => addl_mi | addq_mi_sxl, Subtract => subl_mi | subq_mi_sxl, And => andl_mi | andq_mi_sxl,
                    Or => orl_mi | orq_mi_sxl, ExclusiveOr => xorl_mi | xorq_mi_sxl
                },
            },
        }
        self.trap_overflow(overflow);
    }

    fn multiply(&mut self, ty: MachineType, left: Reg, right: Reg, overflow: Option<Label>) {
        emit_wide!(self, ty, imull_rm | imulq_rm(gpr(left), gpr(right)));
        self.trap_overflow(overflow);
    }

    fn multiply_constant(&mut self, ty: MachineType, to: Reg, left: Reg, right: i32, overflow: Option<Label>) {
        match i8::try_from(right) {
            Ok(right) => emit_wide!(self, ty, imull_rmi_sxb | imulq_rmi_sxb(gpr(to), gpr(left), right)),
            Err(_) => emit_wide!(self, ty, imull_rmi | imulq_rmi_sxl(gpr(to), gpr(left), right)),
        }
        self.trap_overflow(overflow);
    }

    fn shift(&mut self, op: ShiftOp, ty: MachineType, register: Reg, count: u8) {
        let register = gpr(register);
        match op {
            ShiftOp::Left => emit_wide!(self, ty, shll_mi | shlq_mi(register, count)),
            ShiftOp::Right => emit_wide!(self, ty, sarl_mi | sarq_mi(register, count)),
            ShiftOp::RightUnsigned => emit_wide!(self, ty, shrl_mi | shrq_mi(register, count)),
        }
    }

    fn shift_by(&mut self, op: ShiftOp, ty: MachineType, register: Reg) {
        let (register, count) = (gpr(register), gpr(RCX));
        match op {
            ShiftOp::Left => emit_wide!(self, ty, shll_mc | shlq_mc(register, count)),
            ShiftOp::Right => emit_wide!(self, ty, sarl_mc | sarq_mc(register, count)),
            ShiftOp::RightUnsigned => emit_wide!(self, ty, shrl_mc | shrq_mc(register, count)),
        }
    }

    fn divide(&mut self, is_signed: bool, ty: MachineType, divisor: Reg) {
        let (low, high, divisor) = (gpr(RAX), gpr(RDX), gpr(divisor));
        if is_signed {
            emit_wide!(self, ty, cltd_zo | cqto_zo(high, low));
            emit_wide!(self, ty, idivl_m | idivq_m(low, high, divisor, NO_TRAP));
        } else {
            emit!(self, xorl_rm(high, high));
            emit_wide!(self, ty, divl_m | divq_m(low, high, divisor, NO_TRAP));
        }
    }

    fn negate(&mut self, ty: MachineType, register: Reg) {
        emit_wide!(self, ty, negl_m | negq_m(gpr(register)));
    }

    fn not(&mut self, ty: MachineType, register: Reg) {
        emit_wide!(self, ty, notl_m | notq_m(gpr(register)));
    }

    fn float(&mut self, op: FloatOp, ty: MachineType, left: Reg, right: Reg) {
        let (left, right) = (xmm(left), xmm(right));
        match op {
            FloatOp::Add => emit_wide!(self, ty, addss_a | addsd_a(left, right)),
            FloatOp::Subtract => emit_wide!(self, ty, subss_a | subsd_a(left, right)),
            FloatOp::Multiply => emit_wide!(self, ty, mulss_a | mulsd_a(left, right)),
            FloatOp::Divide => emit_wide!(self, ty, divss_a | divsd_a(left, right)),
        }
    }

    fn negate_float(&mut self, ty: MachineType, register: Reg) {
        let sign = if ty == MachineType::F32 { 1 << 31 } else { 1 << 63 };
        self.float_constant(XMM15, sign);
        emit!(self, xorps_a(xmm(register), xmm(XMM15)));
    }

    fn extend(&mut self, extension: Extension, to: Reg, from: Reg) {
        let (to, from) = (gpr(to), gpr(from));
        match extension {
            Extension::S8 => emit!(self, movsbl_rm(to, from)),
            Extension::Z8 => emit!(self, movzbl_rm(to, from)),
            Extension::S16 => emit!(self, movswl_rm(to, from)),
            Extension::Z16 => emit!(self, movzwl_rm(to, from)),
        }
    }

    fn widen(&mut self, is_signed: bool, to: Reg, from: Reg) {
        if is_signed {
            emit!(self, movslq_rm(gpr(to), gpr(from)));
        } else {
            emit!(self, movl_rm(gpr(to), gpr(from)));
        }
    }

    fn integer_to_float(&mut self, ty: MachineType, to: Reg, from_type: MachineType, from: Reg) {
        let (to, from) = (xmm(to), gpr(from));
        // The conversion writes the low part only: without this it would depend on the last instruction that wrote the
        // register.
        emit!(self, xorps_a(to, to));
        match ty {
            MachineType::F64 => emit_wide!(self, from_type, cvtsi2sdl_a | cvtsi2sdq_a(to, from)),
            _ => emit_wide!(self, from_type, cvtsi2ssl_a | cvtsi2ssq_a(to, from)),
        }
    }

    fn convert_float(&mut self, ty: MachineType, to: Reg, from: Reg) {
        emit_wide!(self, ty, cvtsd2ss_a | cvtss2sd_a(xmm(to), xmm(from)));
    }

    fn set_if(&mut self, relation: Relation, ty: MachineType, to: Reg, left: Reg, right: RegImm) {
        let flags = self.compare(relation, ty, left, right);
        self.set_on(flags.condition, to);
        if flags.unless_parity {
            self.set_on(Condition::NoParity, R11);
            emit!(self, andl_rm(gpr(to), gpr(R11)));
        }
        if flags.or_parity {
            self.set_on(Condition::Parity, R11);
            emit!(self, orl_rm(gpr(to), gpr(R11)));
        }
        self.extend(Extension::Z8, to, to);
    }

    fn jump_if(
        &mut self,
        relation: Relation,
        ty: MachineType,
        left: Reg,
        right: RegImm,
        then: Label,
        otherwise: Option<Label>,
    ) {
        let flags = self.compare(relation, ty, left, right);
        if flags.or_parity {
            self.jump_on(Condition::Parity, then);
        }
        if flags.unless_parity {
            let behind = otherwise.unwrap_or_else(|| self.label());
            self.jump_on(Condition::Parity, behind);
            self.jump_on(flags.condition, then);
            if otherwise.is_none() {
                self.bind(behind);
            }
        } else {
            self.jump_on(flags.condition, then);
        }
    }

    fn jump_if_nonzero(&mut self, ty: MachineType, register: Reg, target: Label) {
        let register = gpr(register);
        emit_wide!(self, ty, testl_mr | testq_mr(register, register));
        self.jump_on(Condition::NotEqual, target);
    }

    fn jump_if_word(&mut self, ty: MachineType, word: Address, is_zero: bool, target: Label) {
        emit_wide!(self, ty, cmpl_mi_sxb | cmpq_mi_sxb(memory(word), 0i8));
        self.jump_on(if is_zero { Condition::Equal } else { Condition::NotEqual }, target);
    }

    fn count_up(&mut self, word: Address, amount: i32, overflow: Label) {
        emit!(self, addl_mi(memory(word), amount.cast_unsigned()));
        self.jump_on(Condition::Overflow, overflow);
    }

    fn add_one(&mut self, word: Address) {
        emit!(self, addl_mi_sxb(memory(word), 1));
    }

    fn jump(&mut self, target: Label) {
        emit_plain!(self, jmp_d32(0i32));
        self.jump_ends_at(target);
    }

    fn call(&mut self, target: T) {
        emit_plain!(self, callq_d(0i32));
        self.relocate_end(target, AddressUse::Called);
    }

    fn call_register(&mut self, callee: Reg) {
        emit!(self, callq_m(gpr(callee)));
    }

    fn call_slot(&mut self, slot: Address) {
        emit!(self, callq_m(memory(slot)));
    }

    /// The chain of frame pointers is whole after each instruction.
    fn raise_frame(&mut self, bytes: u32) {
        let up = bytes as i32;
        for word in [0, 8] {
            emit!(self, movq_rm(gpr(R11), memory(Address::new(RBP, word))));
            emit!(self, movq_mr(memory(Address::new(RBP, up + word)), gpr(R11)));
        }
        emit!(self, leaq_rm(gpr(RBP), memory(Address::new(RBP, up))));
    }

    fn tail_jump(&mut self, target: T) {
        self.leave_frame();
        emit_plain!(self, jmp_d32(0i32));
        self.relocate_end(target, AddressUse::Called);
    }

    fn tail_jump_register(&mut self, callee: Reg) {
        self.leave_frame();
        emit!(self, jmpq_m(gpr(callee)));
    }

    fn take_back_arguments(&mut self, argument_bytes: u32) {
        emit!(self, subq_mi_sxl(gpr(RSP), argument_bytes as i32));
    }

    fn ret(&mut self, argument_bytes: u32) {
        self.code.put1(LEAVE);
        match argument_bytes {
            0 => emit_plain!(self, retq_zo()),
            bytes => emit_plain!(self, retq_i(bytes as u16)),
        }
    }

    fn trap(&mut self) -> u32 {
        let offset = self.offset();
        emit_plain!(self, ud2_zo(NO_TRAP));
        offset
    }
}
