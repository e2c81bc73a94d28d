//! One emitter for each operation that the plan admits.

use super::Machine;
use super::assembler::*;
use super::emit::{Cold, Emitter};
use super::plan::{Value, stored};
use saki_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET};
use saki_abi::stubs::trap;
use saki_abi::thread::THREAD_POLL_OFFSET;
use saki_il::ir::{BinOp, CmpOp, ConvTarget, MemType, Op, UnOp, ValueId};

/// How the flags represent the result of a comparison.
struct Flags {
    condition: Condition,
    /// Equality of floats: the condition holds for unordered operands too, and must not.
    unless_parity: bool,
    /// Inequality of floats: unordered operands are unequal.
    or_parity: bool,
}

impl Emitter<'_> {
    pub(super) fn instruction(&mut self, id: ValueId) -> Option<()> {
        let inst = &self.func.insts[id.0 as usize];
        let result = id.0;
        if self.value(id) != result {
            return Some(());
        }
        match &inst.op {
            // Constants are materialised where they are used.
            Op::ConstI32(_) | Op::ConstI64(_) | Op::ConstF32(_) | Op::ConstF64(_) | Op::Null | Op::SymbolAddr(_) => {}
            Op::LocalGet(local) => self.local_get(result, *local),
            Op::LocalSet(local, value) => {
                if self.plan.in_memory[local.0 as usize] {
                    self.local_set(*local, self.value(*value));
                }
            }
            Op::Bin(op, a, b) => self.binary(result, *op, self.value(*a), self.value(*b))?,
            Op::Un(op, a) => self.unary(result, *op, self.value(*a))?,
            Op::Cmp(op, a, b) => {
                if !self.plan.fused[id.0 as usize] {
                    let flags = self.compare(*op, *a, *b);
                    self.set_from(result, &flags);
                }
            }
            Op::Conv { value, target, .. } => self.convert(result, self.value(*value), *target)?,
            Op::Load { addr, offset, mem, .. } => {
                let addr = self.value(*addr);
                let base = self.use_register(addr);
                self.registers.release(addr);
                let register = self.fresh(stored(*mem)?.is_float());
                self.asm.rm(load_opcode(*mem)?, register, base, *offset);
                self.define(result, register);
            }
            Op::Store { addr, offset, value, mem, .. } => {
                let (addr, value) = (self.value(*addr), self.value(*value));
                let base = self.use_register(addr);
                let register = self.use_register(value);
                self.asm.rm(store_opcode(*mem)?, register, base, *offset);
                self.registers.release(addr);
                self.registers.release(value);
            }
            Op::NullCheck(object) => {
                let object = self.value(*object);
                let register = self.use_register(object);
                self.asm.cmp_memory(1, register, 0, 0);
                self.registers.release(object);
            }
            Op::ArrayLen(array) => {
                let array = self.value(*array);
                let base = self.use_register(array);
                self.registers.release(array);
                let register = self.fresh(false);
                self.asm.rm(MOV_LOAD_LONG, register, base, ARRAY_LENGTH_OFFSET);
                self.define(result, register);
            }
            Op::BoundsCheck { index, length } => {
                let (index, length) = (self.value(*index), self.value(*length));
                self.compare_integers(index, length);
                let trap = self.trap_label(trap::INDEX_OUT_OF_RANGE);
                self.asm.jump_if(Condition::AboveOrEqual, trap);
            }
            Op::ElementAddr { array, index, element_size_bytes } => {
                self.element_address(result, self.value(*array), self.value(*index), *element_size_bytes);
            }
            Op::Call { target, sig, args, .. } => self.call(result, target, sig, args)?,
            Op::Poll => self.poll(),
            Op::CurrentThread => {
                let register = self.fresh(false);
                self.move_register(register, R15);
                self.define(result, register);
            }
            _ => return None,
        }
        Some(())
    }

    fn poll(&mut self) {
        let next = self.asm.label();
        if self.stress_poll {
            self.poll_slow(next);
        } else {
            let slow = self.asm.label();
            self.asm.cmp_memory(4, R15, THREAD_POLL_OFFSET, 0);
            self.asm.jump_if(Condition::NotEqual, slow);
            self.cold.push((Cold::Poll(slow, next), self.il_offset));
        }
        self.asm.bind(next);
    }

    /// A register with `value` that may be overwritten: the value's own if this is its last use, else a copy.
    fn consume(&mut self, value: Value) -> Reg {
        let register = self.use_register(value);
        if self.registers.place(value).uses_left <= 1 {
            self.registers.release(value);
            self.registers.vacate(register);
            return register;
        }
        self.registers.release(value);
        let copy = self.fresh(register.is_sse());
        self.move_register(copy, register);
        copy
    }

    fn binary(&mut self, result: Value, op: BinOp, mut a: Value, mut b: Value) -> Option<()> {
        let machine = self.machine_of(result);
        if machine.is_float() {
            self.float_binary(result, op, a, b, machine == Machine::Double)?;
            return Some(());
        }
        let width = width_of(machine);
        let is_commutative = !matches!(op, BinOp::Sub | BinOp::SubOvf | BinOp::Shl | BinOp::Shr | BinOp::ShrUn);
        if is_commutative && (self.constant(a).is_some() || self.registers.place(a).uses_left > 1 && a != b) {
            std::mem::swap(&mut a, &mut b);
        }
        let register = match op {
            BinOp::Shl | BinOp::Shr | BinOp::ShrUn => {
                let count = self.constant(b)? as u8 & if width == Width::Quad { 63 } else { 31 };
                let register = self.consume(a);
                self.registers.release(b);
                let shift = match op {
                    BinOp::Shl => Shift::Left,
                    BinOp::Shr => Shift::Right,
                    _ => Shift::RightUnsigned,
                };
                self.asm.shift(shift, width, register, count);
                register
            }
            BinOp::Mul | BinOp::MulOvf => self.multiply(a, b, width),
            _ => {
                let alu = match op {
                    BinOp::Add | BinOp::AddOvf => Alu::Add,
                    BinOp::Sub | BinOp::SubOvf => Alu::Sub,
                    BinOp::And => Alu::And,
                    BinOp::Or => Alu::Or,
                    BinOp::Xor => Alu::Xor,
                    _ => return None,
                };
                if let Some(immediate) = self.immediate(b) {
                    let register = self.consume(a);
                    self.registers.release(b);
                    self.asm.alu_imm(alu, width, register, immediate);
                    register
                } else {
                    let right = self.use_register(b);
                    let register = self.consume(a);
                    self.asm.alu(alu, width, register, right);
                    self.registers.release(b);
                    register
                }
            }
        };
        if matches!(op, BinOp::AddOvf | BinOp::SubOvf | BinOp::MulOvf) {
            let trap = self.trap_label(trap::OVERFLOW);
            self.asm.jump_if(Condition::Overflow, trap);
        }
        self.define(result, register);
        Some(())
    }

    fn multiply(&mut self, a: Value, b: Value, width: Width) -> Reg {
        if let Some(immediate) = self.immediate(b) {
            let source = self.use_register(a);
            self.registers.release(a);
            self.registers.release(b);
            let register = self.fresh(false);
            self.asm.imul_imm(width, register, source, immediate);
            return register;
        }
        let right = self.use_register(b);
        let register = self.consume(a);
        self.asm.rr(if width == Width::Quad { IMUL_QUAD } else { IMUL_LONG }, register, right);
        self.registers.release(b);
        register
    }

    fn float_binary(&mut self, result: Value, op: BinOp, a: Value, b: Value, double: bool) -> Option<()> {
        let byte = match op {
            BinOp::Add => 0x58,
            BinOp::Mul => 0x59,
            BinOp::Sub => 0x5C,
            BinOp::Div => 0x5E,
            _ => return None,
        };
        let right = self.use_register(b);
        let register = self.consume(a);
        self.asm.rr(float_arithmetic(byte, double), register, right);
        self.registers.release(b);
        self.define(result, register);
        Some(())
    }

    fn unary(&mut self, result: Value, op: UnOp, a: Value) -> Option<()> {
        let machine = self.machine_of(result);
        let register = self.consume(a);
        match (op, machine) {
            (UnOp::Neg, Machine::Long | Machine::Quad) => self.asm.neg(width_of(machine), register),
            (UnOp::Not, Machine::Long | Machine::Quad) => self.asm.not(width_of(machine), register),
            (UnOp::Neg, Machine::Single | Machine::Double) => {
                let sign = if machine == Machine::Single { 1 << 31 } else { i64::MIN };
                self.asm.constant(SCRATCH, sign);
                self.asm.rr(MOVQ_TO_SSE, SCRATCH_SSE, SCRATCH);
                self.asm.rr(XORPS, register, SCRATCH_SSE);
            }
            _ => return None,
        }
        self.define(result, register);
        Some(())
    }

    fn convert(&mut self, result: Value, value: Value, target: ConvTarget) -> Option<()> {
        let from = self.machine_of(value);
        let to = self.machine_of(result);
        let source = self.use_register(value);
        self.registers.release(value);
        let register = self.fresh(to.is_float());
        let opcode = match (target, from) {
            (ConvTarget::R4 | ConvTarget::R8, Machine::Long | Machine::Quad) => {
                // The conversion writes the low part only: without this it would depend on the last instruction that wrote the register.
                self.asm.rr(XORPS, register, register);
                int_to_float(target == ConvTarget::R8, width_of(from))
            }
            (ConvTarget::R4, Machine::Double) => CVTSD2SS,
            (ConvTarget::R8, Machine::Single) => CVTSS2SD,
            (ConvTarget::I1, _) => MOVSX_BYTE,
            (ConvTarget::U1, _) => MOVZX_BYTE,
            (ConvTarget::I2, _) => MOVSX_WORD,
            (ConvTarget::U2, _) => MOVZX_WORD,
            (ConvTarget::I4 | ConvTarget::U4, _) => MOV_LOAD_LONG,
            (ConvTarget::U8 | ConvTarget::U, Machine::Long) => MOV_LOAD_LONG,
            (ConvTarget::I8 | ConvTarget::I, Machine::Long) => MOVSXD,
            _ => return None,
        };
        self.asm.rr(opcode, register, source);
        self.define(result, register);
        Some(())
    }

    fn element_address(&mut self, result: Value, array: Value, index: Value, element_size_bytes: u32) {
        let base = self.use_register(array);
        let offset = self
            .constant(index)
            .and_then(|n| n.checked_mul(i64::from(element_size_bytes)))
            .and_then(|n| i32::try_from(n).ok().filter(|&n| n >= 0))
            .and_then(|n| n.checked_add(ARRAY_DATA_OFFSET));
        if let Some(offset) = offset {
            self.registers.release(array);
            self.registers.release(index);
            let register = self.fresh(false);
            self.asm.rm(LEA_QUAD, register, base, offset);
            self.define(result, register);
            return;
        }
        let source = self.use_register(index);
        // 32-bit indices were checked against a length, hence are not negative: this clears the upper half.
        let opcode = if self.machine_of(index) == Machine::Long { MOV_LOAD_LONG } else { MOV_LOAD_QUAD };
        self.asm.rr(opcode, SCRATCH, source);
        let scale = match element_size_bytes {
            1 | 2 | 4 | 8 => element_size_bytes,
            _ => {
                self.asm.imul_imm(Width::Quad, SCRATCH, SCRATCH, element_size_bytes as i32);
                1
            }
        };
        self.registers.release(array);
        self.registers.release(index);
        let register = self.fresh(false);
        self.asm.indexed(LEA_QUAD, register, base, SCRATCH, scale, ARRAY_DATA_OFFSET);
        self.define(result, register);
    }

    // Comparisons.

    fn compare(&mut self, op: CmpOp, a: ValueId, b: ValueId) -> Flags {
        let (a, b) = (self.value(a), self.value(b));
        let machine = self.machine_of(a);
        if machine.is_float() {
            return self.compare_floats(op, a, b, machine == Machine::Double);
        }
        self.compare_integers(a, b);
        let condition = match op {
            CmpOp::Eq => Condition::Equal,
            CmpOp::NeUn => Condition::NotEqual,
            CmpOp::Lt => Condition::Less,
            CmpOp::LtUn => Condition::Below,
            CmpOp::Gt => Condition::Greater,
            CmpOp::GtUn => Condition::Above,
            CmpOp::Le => Condition::LessOrEqual,
            CmpOp::LeUn => Condition::BelowOrEqual,
            CmpOp::Ge => Condition::GreaterOrEqual,
            CmpOp::GeUn => Condition::AboveOrEqual,
        };
        Flags { condition, unless_parity: false, or_parity: false }
    }

    fn compare_integers(&mut self, a: Value, b: Value) {
        let width = width_of(self.machine_of(a));
        let left = self.use_register(a);
        match self.immediate(b) {
            Some(immediate) => self.asm.alu_imm(Alu::Cmp, width, left, immediate),
            None => {
                let right = self.use_register(b);
                self.asm.alu(Alu::Cmp, width, left, right);
            }
        }
        self.registers.release(a);
        self.registers.release(b);
    }

    /// `ucomis` sets carry for less, zero for equal, and all of carry, zero and parity for unordered operands; "above" and
    /// "above or equal" are therefore false for those, "below" and "below or equal" true.
    fn compare_floats(&mut self, op: CmpOp, a: Value, b: Value, double: bool) -> Flags {
        let (condition, swapped) = match op {
            CmpOp::Eq => (Condition::Equal, false),
            CmpOp::NeUn => (Condition::NotEqual, false),
            CmpOp::Lt => (Condition::Above, true),
            CmpOp::Le => (Condition::AboveOrEqual, true),
            CmpOp::Gt => (Condition::Above, false),
            CmpOp::Ge => (Condition::AboveOrEqual, false),
            CmpOp::LtUn => (Condition::Below, false),
            CmpOp::LeUn => (Condition::BelowOrEqual, false),
            CmpOp::GtUn => (Condition::Below, true),
            CmpOp::GeUn => (Condition::BelowOrEqual, true),
        };
        let (left, right) = (self.use_register(a), self.use_register(b));
        let (left, right) = if swapped { (right, left) } else { (left, right) };
        self.asm.rr(if double { UCOMISD } else { UCOMISS }, left, right);
        self.registers.release(a);
        self.registers.release(b);
        Flags { condition, unless_parity: op == CmpOp::Eq, or_parity: op == CmpOp::NeUn }
    }

    /// The result of a comparison as 0 or 1.
    fn set_from(&mut self, result: Value, flags: &Flags) {
        let register = self.fresh(false);
        self.asm.set(flags.condition, register);
        if flags.unless_parity || flags.or_parity {
            let parity = if flags.unless_parity { Condition::NoParity } else { Condition::Parity };
            self.asm.set(parity, SCRATCH);
            let combine = if flags.unless_parity { Alu::And } else { Alu::Or };
            self.asm.alu(combine, Width::Long, register, SCRATCH);
        }
        self.asm.rr(MOVZX_BYTE, register, register);
        self.define(result, register);
    }

    /// Jumps to `then` if the condition holds; else falls through, but for unordered floats, for which it may jump to `otherwise`.
    pub(super) fn branch(&mut self, condition: ValueId, then: Label, otherwise: Label) -> Option<()> {
        let value = self.value(condition);
        if self.plan.fused[value as usize] {
            let Op::Cmp(op, a, b) = self.func.insts[value as usize].op else { return None };
            let flags = self.compare(op, a, b);
            if flags.unless_parity {
                self.asm.jump_if(Condition::Parity, otherwise);
            }
            if flags.or_parity {
                self.asm.jump_if(Condition::Parity, then);
            }
            self.asm.jump_if(flags.condition, then);
        } else {
            let width = width_of(self.machine_of(value));
            let register = self.use_register(value);
            self.asm.test(width, register, register);
            self.registers.release(value);
            self.asm.jump_if(Condition::NotEqual, then);
        }
        Some(())
    }
}

fn width_of(machine: Machine) -> Width {
    if machine == Machine::Long { Width::Long } else { Width::Quad }
}

/// None for vectors, as below.
fn load_opcode(mem: MemType) -> Option<Opcode> {
    Some(match mem {
        MemType::I8 => MOVSX_BYTE,
        MemType::U8 => MOVZX_BYTE,
        MemType::I16 => MOVSX_WORD,
        MemType::U16 => MOVZX_WORD,
        MemType::I32 => MOV_LOAD_LONG,
        MemType::I64 | MemType::Ref | MemType::ByRef => MOV_LOAD_QUAD,
        MemType::F32 => MOVSS_LOAD,
        MemType::F64 => MOVSD_LOAD,
        MemType::V128 | MemType::V64 | MemType::V96 => return None,
    })
}

fn store_opcode(mem: MemType) -> Option<Opcode> {
    Some(match mem {
        MemType::I8 | MemType::U8 => MOV_STORE_BYTE,
        MemType::I16 | MemType::U16 => MOV_STORE_WORD,
        MemType::I32 => MOV_STORE_LONG,
        MemType::I64 | MemType::Ref | MemType::ByRef => MOV_STORE_QUAD,
        MemType::F32 => MOVSS_STORE,
        MemType::F64 => MOVSD_STORE,
        MemType::V128 | MemType::V64 | MemType::V96 => return None,
    })
}
