//! One emitter for each operation that the plan admits.

use super::arguments::Argument;
use super::context::{Cold, Emitter};
use super::exceptions::Failure;
use super::numbers::Conversion;
use super::plan::Value;
use super::types::{access, machine_type};
use crate::lower::poll_stub;
use crate::symbols::RelocTarget;
use saki_abi::HelperId;
use saki_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET};
use saki_abi::thread::THREAD_POLL_OFFSET;
use saki_code::masm::{
    Address, ElementAddress, FloatOp, IntegerOp, Label, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm,
    Relation, ShiftOp,
};
use saki_il::ir::{BinOp, CallTarget, CmpOp, IrType, Op, ValueId};

const VECTOR: MemoryAccess = MemoryAccess::Whole(MachineType::V128);

/// Types and operands of a comparison.
struct Comparison {
    relation: Relation,
    ty: MachineType,
    left: Reg,
    right: RegImm,
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn instruction(&mut self, id: ValueId) -> Option<()> {
        let inst = &self.func.insts[id.0 as usize];
        let result = id.0;
        if self.value(id) != result {
            return Some(());
        }
        match &inst.op {
            // Constants are materialised where they are used.
            Op::ConstI32(_)
            | Op::ConstI64(_)
            | Op::ConstF32(_)
            | Op::ConstF64(_)
            | Op::ConstV128(_)
            | Op::Null
            | Op::SymbolAddr(_) => {}
            Op::LocalGet(local) if matches!(self.func.locals[local.0 as usize].ty, IrType::Struct(_)) => {
                self.local_address(result, *local)?;
            }
            Op::LocalGet(local) => self.local_get(result, *local)?,
            Op::LocalSet(local, value) => {
                if self.plan.in_memory[local.0 as usize] {
                    self.local_set(*local, self.value(*value))?;
                }
            }
            Op::Bin(op, a, b) => self.binary(result, *op, self.value(*a), self.value(*b))?,
            Op::Un(op, a) => self.unary(result, *op, self.value(*a))?,
            Op::Cmp(op, a, b) => {
                if !self.plan.fused[id.0 as usize] {
                    self.set_if(result, *op, *a, *b);
                }
            }
            Op::Conv { value, target, checked, source_unsigned } => {
                let conversion = Conversion { target: *target, checked: *checked, source_unsigned: *source_unsigned };
                self.convert(result, self.value(*value), conversion)?;
            }
            Op::LocalAddr(local) => self.local_address(result, *local)?,
            Op::Select(condition, a, b) => {
                self.select(result, self.value(*condition), self.value(*a), self.value(*b));
            }
            Op::Load { addr, offset, mem, flags } => {
                let addr = self.value(*addr);
                let base = self.use_register(addr);
                self.check_access(base, *offset, *flags);
                self.registers.release(addr);
                let register = self.fresh(machine_type(mem.loaded())?.is_float());
                let from = Address::new(base, *offset);
                let may_fault = flags.unaligned && !M::LOADS_IN_ORDER;
                match access(*mem) {
                    Some(access) if flags.volatile && access != VECTOR && !may_fault => {
                        self.masm.load_acquire(access, register, from)
                    }
                    Some(access) => self.masm.load(access, register, from),
                    None => self.load_vector(register, from, *mem),
                }
                if flags.volatile && may_fault {
                    self.masm.fence();
                }
                self.define(result, register);
            }
            store @ Op::Store { addr, offset, value, mem, flags } => {
                let (addr, value) = (self.value(*addr), self.value(*value));
                let base = self.use_register(addr);
                self.check_access(base, *offset, *flags);
                let register = self.use_register(value);
                let to = Address::new(base, *offset);
                let may_fault = flags.unaligned && !M::LOADS_IN_ORDER;
                if flags.volatile && may_fault {
                    self.masm.fence();
                }
                let is_release = flags.volatile && !may_fault || self.publishes(store);
                match access(*mem) {
                    Some(access) if is_release && access != VECTOR => self.masm.store_release(access, to, register),
                    Some(access) => self.masm.store(access, to, register),
                    None => self.store_vector(to, register, *mem),
                }
                self.registers.release(addr);
                self.registers.release(value);
            }
            Op::NullCheck(object) => {
                let object = self.value(*object);
                let register = self.use_register(object);
                if self.is_protected() {
                    self.fail_if_zero(MachineType::I64, register, Failure::NullReference);
                } else {
                    self.masm.check_null(register);
                }
                self.registers.release(object);
            }
            Op::ArrayLen(array) => {
                let array = self.value(*array);
                let base = self.use_register(array);
                if self.is_protected() {
                    self.fail_if_zero(MachineType::I64, base, Failure::NullReference);
                }
                self.registers.release(array);
                let register = self.fresh(false);
                let length = Address::new(base, ARRAY_LENGTH_OFFSET);
                self.masm.load(MemoryAccess::Whole(MachineType::I32), register, length);
                self.define(result, register);
            }
            Op::BoundsCheck { index, length } => {
                let Comparison { ty, left, right, .. } = self.compare(CmpOp::GeUn, *index, *length);
                let failed = self.failure(Failure::IndexOutOfRange);
                self.masm.jump_if(Relation::GreaterOrEqualUnsigned, ty, left, right, failed, None);
            }
            Op::ElementAddr { array, index, element_size_bytes } => {
                self.element_address(result, self.value(*array), self.value(*index), *element_size_bytes);
            }
            Op::Call { target: CallTarget::Helper(HelperId::CheckArrayStore), args, .. } if args.len() == 2 => {
                self.check_array_store(self.value(args[0]), self.value(args[1]));
            }
            Op::Call { target, sig, args, struct_result } => self.call(result, target, sig, args, *struct_result)?,
            Op::Poll => self.poll(id),
            Op::CountCall => self.count(None),
            Op::CountLoop(il_offset) => self.count(Some(*il_offset)),
            Op::CountBlock { number, count } => self.count_block(*number, *count),
            Op::Note { cell, word } => self.note(self.value(*cell), self.value(*word)),
            Op::NoteClass { cell, object } => self.note_class(self.value(*cell), self.value(*object)),
            Op::CurrentThread => self.define_copy(result, M::THREAD),
            Op::FramePointer => self.define_copy(result, M::FRAME),
            op @ Op::StoreRef { .. } => self.store_reference(op)?,
            op @ Op::CopyStruct { .. } => self.copy_struct(op)?,
            Op::InitStruct { addr, ty } => self.init_struct(self.value(*addr), ty)?,
            Op::CopyBlock { dst, src, bytes } => self.memory_block(HelperId::MemMove, *dst, *src, *bytes),
            Op::InitBlock { addr, value, bytes } => self.memory_block(HelperId::MemSet, *addr, *value, *bytes),
            Op::NewObject(ty) => self.new_object(result, ty)?,
            Op::NewArray(ty, length) => self.new_array(result, ty, *length),
            Op::NewString(length) => {
                let length = Argument::Value(self.value(*length));
                self.call_helper(HelperId::NewString, &[length], Some((result, MachineType::I64)));
            }
            Op::ThreadStaticAddr(field) => self.thread_static_address(result, field),
            Op::CastClass(object, ty) => self.cast(result, self.value(*object), ty, true)?,
            Op::IsInst(object, ty) => self.cast(result, self.value(*object), ty, false)?,
            Op::Unbox(object, ty) => self.unbox(result, self.value(*object), ty),
            Op::ClassInit(ty) => self.class_init(ty),
            Op::ClassInitSeen(ty) => self.class_init_seen(ty),
            op @ Op::Vector { .. } => self.vector(result, op)?,
            op @ Op::AtomicRmw { .. } => self.atomic_rmw(result, op)?,
            op @ Op::AtomicCas { .. } => self.atomic_cas(result, op)?,
            Op::Fence => self.masm.fence(),
            Op::MonitorEnter(object) => self.monitor_enter(self.value(*object)),
            Op::MonitorTryEnter { object, milliseconds } => {
                self.monitor_try_enter(result, self.value(*object), self.value(*milliseconds));
            }
            Op::MonitorExit(object) => self.monitor_exit(self.value(*object)),
            Op::LocAlloc { bytes, zero } => self.localloc(result, self.value(*bytes), *zero)?,
        }
        Some(())
    }

    fn poll(&mut self, id: ValueId) {
        let stub = poll_stub(self.func, id);
        let next = self.masm.label();
        if self.options.stress_poll {
            self.poll_slow(stub, next);
        } else {
            let slow = self.masm.label();
            self.masm.jump_if_word(MachineType::I32, Address::new(M::THREAD, THREAD_POLL_OFFSET), false, slow);
            self.later(Cold::Poll(slow, stub, next));
        }
        self.masm.bind(next);
    }

    fn binary(&mut self, result: Value, op: BinOp, mut a: Value, mut b: Value) -> Option<()> {
        let ty = self.machine_of(result);
        if ty.is_float() {
            self.float_binary(result, op, ty, a, b)?;
            return Some(());
        }
        if matches!(op, BinOp::Div | BinOp::DivUn | BinOp::Rem | BinOp::RemUn) {
            self.divide(result, op, ty, a, b);
            return Some(());
        }
        let is_commutative =
            matches!(op, BinOp::Add | BinOp::AddOvf | BinOp::Mul | BinOp::MulOvf | BinOp::And | BinOp::Or | BinOp::Xor);
        if is_commutative && (self.constant(a).is_some() || self.registers.place(a).uses_left > 1 && a != b) {
            std::mem::swap(&mut a, &mut b);
        }
        let is_checked = matches!(op, BinOp::AddOvf | BinOp::SubOvf | BinOp::MulOvf);
        let overflow = is_checked.then(|| self.failure(Failure::Overflow));
        let register = match op {
            BinOp::Shl | BinOp::Shr | BinOp::ShrUn => self.shift(op, ty, a, b),
            BinOp::AddOvfUn | BinOp::SubOvfUn => {
                let failed = self.failure(Failure::Overflow);
                let right = self.use_operand(b);
                let register = self.consume(a);
                if op == BinOp::AddOvfUn {
                    self.masm.integer(IntegerOp::Add, ty, register, right, None);
                    // The sum wraps around if it is less than an operand.
                    self.masm.jump_if(Relation::LessUnsigned, ty, register, right, failed, None);
                } else {
                    self.masm.jump_if(Relation::LessUnsigned, ty, register, right, failed, None);
                    self.masm.integer(IntegerOp::Subtract, ty, register, right, None);
                }
                self.registers.release(b);
                register
            }
            BinOp::Mul | BinOp::MulOvf => self.multiply(a, b, ty, overflow),
            _ => {
                let op = match op {
                    BinOp::Add | BinOp::AddOvf => IntegerOp::Add,
                    BinOp::Sub | BinOp::SubOvf => IntegerOp::Subtract,
                    BinOp::And => IntegerOp::And,
                    BinOp::Or => IntegerOp::Or,
                    BinOp::Xor => IntegerOp::ExclusiveOr,
                    _ => return self.rare_binary(result, op, ty, a, b),
                };
                let right = self.use_operand(b);
                let register = self.consume(a);
                self.masm.integer(op, ty, register, right, overflow);
                self.registers.release(b);
                register
            }
        };
        self.define(result, register);
        Some(())
    }

    /// A shift, whose count is taken modulo the width.
    fn shift(&mut self, op: BinOp, ty: MachineType, a: Value, b: Value) -> Reg {
        let shift = match op {
            BinOp::Shl => ShiftOp::Left,
            BinOp::Shr => ShiftOp::Right,
            _ => ShiftOp::RightUnsigned,
        };
        if let Some(count) = self.constant(b) {
            let register = self.consume(a);
            self.registers.release(b);
            self.masm.shift(shift, ty, register, count as u8 & if ty == MachineType::I64 { 63 } else { 31 });
            return register;
        }
        self.claim(M::SHIFT_COUNT);
        self.load_value(b, M::SHIFT_COUNT);
        let register = self.consume(a);
        self.masm.shift_by(shift, ty, register);
        self.registers.release(b);
        register
    }

    fn divide(&mut self, result: Value, op: BinOp, ty: MachineType, a: Value, b: Value) {
        self.claim(M::DIVIDEND);
        self.claim(M::REMAINDER);
        let divisor = self.use_register(b);
        self.load_value(a, M::DIVIDEND);
        let known = self.constant(b);
        if known.is_none_or(|n| n == 0) {
            self.fail_if_zero(ty, divisor, Failure::DivideByZero);
        }
        let is_signed = matches!(op, BinOp::Div | BinOp::Rem);
        if is_signed && known.is_none_or(|n| n == -1) {
            let failed = self.failure(Failure::Overflow);
            let fits = self.masm.label();
            self.masm.jump_if(Relation::NotEqual, ty, divisor, RegImm::Imm(-1), fits, None);
            let least = if ty == MachineType::I32 { i64::from(i32::MIN) } else { i64::MIN };
            self.masm.constant(M::SCRATCH, least);
            self.masm.jump_if(Relation::Equal, ty, M::DIVIDEND, RegImm::Reg(M::SCRATCH), failed, None);
            self.masm.bind(fits);
        }
        self.masm.divide(is_signed, ty, divisor);
        self.registers.release(a);
        self.registers.release(b);
        let register = if matches!(op, BinOp::Div | BinOp::DivUn) { M::DIVIDEND } else { M::REMAINDER };
        self.define(result, register);
    }

    /// `condition ? a : b`.
    fn select(&mut self, result: Value, condition: Value, a: Value, b: Value) {
        let ty = self.machine_of(condition);
        let test = self.use_register(condition);
        let chosen = self.use_register(a);
        let register = self.consume(b);
        let (yes, next) = (self.masm.label(), self.masm.label());
        self.masm.jump_if_nonzero(ty, test, yes);
        self.masm.jump(next);
        self.masm.bind(yes);
        self.move_register(register, chosen);
        self.masm.bind(next);
        self.registers.release(condition);
        self.registers.release(a);
        self.define(result, register);
    }

    fn define_copy(&mut self, result: Value, from: Reg) {
        let register = self.fresh(false);
        self.move_register(register, from);
        self.define(result, register);
    }

    fn multiply(&mut self, a: Value, b: Value, ty: MachineType, overflow: Option<Label>) -> Reg {
        if let Some(immediate) = self.immediate(b) {
            let source = self.use_register(a);
            self.registers.release(a);
            self.registers.release(b);
            let register = self.fresh(false);
            self.masm.multiply_constant(ty, register, source, immediate, overflow);
            return register;
        }
        let right = self.use_register(b);
        let register = self.consume(a);
        self.masm.multiply(ty, register, right, overflow);
        self.registers.release(b);
        register
    }

    fn float_binary(&mut self, result: Value, op: BinOp, ty: MachineType, a: Value, b: Value) -> Option<()> {
        let op = match op {
            BinOp::Add => FloatOp::Add,
            BinOp::Mul => FloatOp::Multiply,
            BinOp::Sub => FloatOp::Subtract,
            BinOp::Div => FloatOp::Divide,
            _ => return self.rare_binary(result, op, ty, a, b),
        };
        let right = self.use_register(b);
        let register = self.consume(a);
        self.masm.float(op, ty, register, right);
        self.registers.release(b);
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
            self.masm.load_address(register, Address::new(base, offset));
            self.define(result, register);
            return;
        }
        // Indices of 32 bits were checked against a length, hence are not negative.
        let (index_type, index_register) = (self.machine_of(index), self.use_register(index));
        self.registers.release(array);
        self.registers.release(index);
        let register = self.fresh(false);
        let element = ElementAddress {
            base,
            index: index_register,
            index_type,
            size_bytes: element_size_bytes as i32,
            offset_bytes: ARRAY_DATA_OFFSET,
        };
        self.masm.load_element_address(register, element);
        self.define(result, register);
    }

    // Comparisons.

    /// Loads the operands; they stay in their registers until the next one is loaded.
    fn compare(&mut self, op: CmpOp, a: ValueId, b: ValueId) -> Comparison {
        let (a, b) = (self.value(a), self.value(b));
        let ty = self.machine_of(a);
        let left = self.use_register(a);
        let right = if ty.is_float() { RegImm::Reg(self.use_register(b)) } else { self.use_operand(b) };
        self.registers.release(a);
        self.registers.release(b);
        Comparison { relation: relation(op), ty, left, right }
    }

    /// The value as an immediate, or else in a locked register.
    fn use_operand(&mut self, value: Value) -> RegImm {
        match self.immediate(value) {
            Some(immediate) => RegImm::Imm(immediate),
            None => RegImm::Reg(self.use_register(value)),
        }
    }

    /// The result of a comparison as 0 or 1.
    fn set_if(&mut self, result: Value, op: CmpOp, a: ValueId, b: ValueId) {
        let Comparison { relation, ty, left, right } = self.compare(op, a, b);
        // The operands are locked, so this is another register.
        let register = self.fresh(false);
        self.masm.set_if(relation, ty, register, left, right);
        self.define(result, register);
    }

    /// Jumps to `then` if the condition holds; else falls through, or jumps to `otherwise`.
    pub(super) fn branch(&mut self, condition: ValueId, then: Label, otherwise: Label) -> Option<()> {
        let value = self.value(condition);
        if self.plan.fused[value as usize] {
            let Op::Cmp(op, a, b) = self.func.insts[value as usize].op else { return None };
            let Comparison { relation, ty, left, right } = self.compare(op, a, b);
            self.masm.jump_if(relation, ty, left, right, then, Some(otherwise));
        } else {
            let ty = self.machine_of(value);
            let register = self.use_register(value);
            self.registers.release(value);
            self.masm.jump_if_nonzero(ty, register, then);
        }
        Some(())
    }
}

fn relation(op: CmpOp) -> Relation {
    match op {
        CmpOp::Eq => Relation::Equal,
        CmpOp::NeUn => Relation::NotEqual,
        CmpOp::Lt => Relation::Less,
        CmpOp::LtUn => Relation::LessUnsigned,
        CmpOp::Gt => Relation::Greater,
        CmpOp::GtUn => Relation::GreaterUnsigned,
        CmpOp::Le => Relation::LessOrEqual,
        CmpOp::LeUn => Relation::LessOrEqualUnsigned,
        CmpOp::Ge => Relation::GreaterOrEqual,
        CmpOp::GeUn => Relation::GreaterOrEqualUnsigned,
    }
}
