//! Vectors of 16 bytes.
//!
//! A vector is a value in a floating-point register or in 16 bytes of the frame, like other values. What the processor
//! has one instruction for is done in registers. The other operations work on the operands' bytes in the frame, lane by
//! lane, with the scalar operations of the macro assembler; the results are those of Cranelift's code to the bit.

use super::arguments::Argument;
use super::context::Emitter;
use super::plan::Value;
use crate::symbols::RelocTarget;
use saki_code::masm::{
    Address, Extension, FloatOp, IntegerOp, LaneOp, LaneType, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm,
    Relation, Rounding, ShiftOp,
};
use saki_il::ir::{IrType, Lanes, MemType, Op, ValueId, VectorOp};

const WORD: MemoryAccess = MemoryAccess::Whole(MachineType::I64);
const VECTOR: MemoryAccess = MemoryAccess::Whole(MachineType::V128);
const VECTOR_BYTES: u32 = 16;

/// How a lane is read into a register and written from one.
fn lane_access(lanes: Lanes) -> MemoryAccess {
    match lanes {
        Lanes::I8 => MemoryAccess::Narrow(Extension::S8),
        Lanes::U8 => MemoryAccess::Narrow(Extension::Z8),
        Lanes::I16 => MemoryAccess::Narrow(Extension::S16),
        Lanes::U16 => MemoryAccess::Narrow(Extension::Z16),
        Lanes::I32 | Lanes::U32 => MemoryAccess::Whole(MachineType::I32),
        Lanes::I64 | Lanes::U64 => MemoryAccess::Whole(MachineType::I64),
        Lanes::F32 => MemoryAccess::Whole(MachineType::F32),
        Lanes::F64 => MemoryAccess::Whole(MachineType::F64),
    }
}

/// The type of a lane in a register.
fn lane_type(lanes: Lanes) -> MachineType {
    match lanes {
        Lanes::F32 => MachineType::F32,
        Lanes::F64 => MachineType::F64,
        Lanes::I64 | Lanes::U64 => MachineType::I64,
        _ => MachineType::I32,
    }
}

/// The lanes of half the width.
fn half_lanes(lanes: Lanes) -> Option<Lanes> {
    Some(match lanes {
        Lanes::I16 => Lanes::I8,
        Lanes::U16 => Lanes::U8,
        Lanes::I32 => Lanes::I16,
        Lanes::U32 => Lanes::U16,
        Lanes::I64 => Lanes::I32,
        Lanes::U64 => Lanes::U32,
        Lanes::F64 => Lanes::F32,
        Lanes::I8 | Lanes::U8 | Lanes::F32 => return None,
    })
}

/// The lanes as unsigned integers.
fn as_unsigned(lanes: Lanes) -> Lanes {
    match lanes.bytes() {
        1 => Lanes::U8,
        2 => Lanes::U16,
        4 => Lanes::U32,
        _ => Lanes::U64,
    }
}

/// One operation: its operands and its result in the frame, and registers to work with.
struct Operation {
    a: i32,
    b: i32,
    out: i32,
    /// Two registers of the class of the lanes.
    x: Reg,
    y: Reg,
    /// A general purpose register.
    flag: Reg,
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    /// Whether the operand is a vector value, not the address of one.
    pub(super) fn is_vector(&self, id: ValueId) -> bool {
        self.func.insts[id.0 as usize].ty == IrType::V128
    }

    /// Bytes of the frame for a vector that nothing keeps.
    fn vector_place(&mut self) -> i32 {
        let registers = &mut self.registers;
        *self.vector_place.get_or_insert_with(|| registers.new_area(VECTOR_BYTES))
    }

    /// Loads a vector; lanes that are not in memory are zero.
    pub(super) fn load_vector(&mut self, register: Reg, from: Address, mem: MemType) {
        match mem {
            MemType::V64 => self.masm.load(MemoryAccess::Whole(MachineType::F64), register, from),
            MemType::V96 => {
                let place = self.vector_place();
                let second = Address::new(from.base, from.offset_bytes + 8);
                self.masm.load(MemoryAccess::Whole(MachineType::F64), register, from);
                self.store_slot(register, place, MachineType::F64);
                self.masm.load(MemoryAccess::Whole(MachineType::F32), register, second);
                self.store_slot(register, place + 8, MachineType::F64);
                self.load_slot(register, place, MachineType::V128);
            }
            _ => self.masm.load(VECTOR, register, from),
        }
    }

    /// Stores the lanes that are in memory.
    pub(super) fn store_vector(&mut self, to: Address, register: Reg, mem: MemType) {
        match mem {
            MemType::V64 => self.masm.store(MemoryAccess::Whole(MachineType::F64), to, register),
            MemType::V96 => {
                let place = self.vector_place();
                self.store_slot(register, place, MachineType::V128);
                self.masm.store(MemoryAccess::Whole(MachineType::F64), to, register);
                self.load_slot(M::FLOAT_SCRATCH, place + 8, MachineType::F32);
                let second = Address::new(to.base, to.offset_bytes + 8);
                self.masm.store(MemoryAccess::Whole(MachineType::F32), second, M::FLOAT_SCRATCH);
            }
            _ => self.masm.store(VECTOR, to, register),
        }
    }

    /// A vector argument, from a value or from memory.
    pub(super) fn vector_argument(&mut self, arg: ValueId, mem: MemType) -> Argument {
        let value = self.value(arg);
        if self.is_vector(arg) {
            return Argument::Value(value);
        }
        let place = self.registers.copy_place(VECTOR_BYTES);
        let source = self.use_register(value);
        self.load_vector(M::FLOAT_SCRATCH, Address::new(source, 0), mem);
        self.store_slot(M::FLOAT_SCRATCH, place, MachineType::V128);
        self.registers.release(value);
        self.registers.unlock_all();
        Argument::Slot(place, MachineType::V128)
    }

    /// The place in the frame of a vector value.
    fn vector_in_frame(&mut self, value: Value) -> i32 {
        let place = self.registers.place(value);
        if let Some(slot) = place.slot {
            return slot;
        }
        // A constant is made again for each use: other blocks would not find it where this one has put it.
        let Some(register) = place.register else {
            let slot = self.registers.new_area(VECTOR_BYTES);
            self.make_constant(value, M::FLOAT_SCRATCH);
            self.store_slot(M::FLOAT_SCRATCH, slot, MachineType::V128);
            return slot;
        };
        let slot = if self.is_constant(value) {
            self.registers.new_area(VECTOR_BYTES)
        } else {
            self.registers.slot_of(value, VECTOR_BYTES, &mut self.masm.changes)
        };
        self.store_slot(register, slot, MachineType::V128);
        slot
    }

    fn load_lane(&mut self, register: Reg, place: i32, lanes: Lanes, lane: u32) {
        let address = Address::new(M::FRAME, place + (lane * lanes.bytes()) as i32);
        self.masm.load(lane_access(lanes), register, address);
    }

    fn store_lane(&mut self, register: Reg, place: i32, lanes: Lanes, lane: u32) {
        let address = Address::new(M::FRAME, place + (lane * lanes.bytes()) as i32);
        self.masm.store(lane_access(lanes), address, register);
    }

    pub(super) fn vector(&mut self, result: Value, op: &Op) -> Option<()> {
        use VectorOp as V;
        let Op::Vector { op, lanes, a, b, c } = *op else { return None };
        let first = self.value(a);
        let second = b.map(|b| self.value(b));
        let third = c.map(|c| self.value(c));
        match op {
            V::Splat => self.splat(result, lanes, first),
            V::Extract(lane) => self.extract(result, lanes, first, lane),
            V::Insert(lane) => self.insert(result, lanes, first, second?, lane),
            V::AllTrue | V::AnyTrue | V::HighBits => self.summary(result, op, lanes, first),
            V::ShiftLeft | V::ShiftRight | V::ShiftRightLogical => self.shift_lanes(result, op, lanes, first, second?),
            V::BitSelect => self.bit_select(result, first, second?, third?),
            V::Shuffle => {
                let Op::ConstV128(mask) = self.func.insts[c?.0 as usize].op else { return None };
                self.shuffle(result, first, second?, mask.to_le_bytes());
                self.registers.release(third?);
            }
            _ if second.is_some_and(|second| self.in_one_instruction(result, op, lanes, first, second)) => {}
            _ => {
                let is_bitwise = matches!(op, V::And | V::AndNot | V::Or | V::Xor | V::Not);
                let lanes = if is_bitwise { Lanes::I64 } else { lanes };
                let place_a = self.vector_in_frame(first);
                let place_b = second.map_or(place_a, |second| self.vector_in_frame(second));
                let out = self.registers.new_area(VECTOR_BYTES);
                let is_float = lanes.is_float();
                let (x, y, flag) = (self.fresh(is_float), self.fresh(is_float), self.fresh(false));
                let operation = Operation { a: place_a, b: place_b, out, x, y, flag };
                self.lane_by_lane(&operation, op, lanes)?;
                self.registers.release(first);
                second.iter().for_each(|&second| self.registers.release(second));
                self.define_in_frame(result, out);
            }
        }
        Some(())
    }

    /// Does the operation in registers, if the processor has an instruction for it; else gives false.
    fn in_one_instruction(&mut self, result: Value, op: VectorOp, lanes: Lanes, a: Value, b: Value) -> bool {
        let Some((op, is_swapped)) = lane_op(op, lanes) else { return false };
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        let right = self.use_register(b);
        let source = self.use_register(a);
        // A copy, since the operands stay as they are if there is no such instruction.
        self.move_register(M::FLOAT_SCRATCH, source);
        let is_bitwise = matches!(op, LaneOp::And | LaneOp::Or | LaneOp::ExclusiveOr);
        let ty = if is_bitwise { LaneType::Bits } else { lane_kind(lanes) };
        if !self.masm.lanes(op, ty, M::FLOAT_SCRATCH, right) {
            return false;
        }
        self.registers.release(a);
        self.registers.release(b);
        let register = self.fresh(true);
        self.move_register(register, M::FLOAT_SCRATCH);
        self.define(result, register);
        true
    }

    /// The value is in these bytes of the frame.
    fn define_in_frame(&mut self, result: Value, place: i32) {
        self.registers.put_in_frame(result, place, &mut self.masm.changes);
    }

    fn splat(&mut self, result: Value, lanes: Lanes, scalar: Value) {
        let register = self.use_register(scalar);
        let out = self.registers.new_area(VECTOR_BYTES);
        for lane in 0..lanes.count() {
            self.store_lane(register, out, lanes, lane);
        }
        self.registers.release(scalar);
        self.define_in_frame(result, out);
    }

    fn extract(&mut self, result: Value, lanes: Lanes, vector: Value, lane: u8) {
        let place = self.vector_in_frame(vector);
        let register = self.fresh(lanes.is_float());
        self.load_lane(register, place, lanes, u32::from(lane));
        self.registers.release(vector);
        self.define(result, register);
    }

    fn insert(&mut self, result: Value, lanes: Lanes, vector: Value, scalar: Value, lane: u8) {
        let out = self.registers.new_area(VECTOR_BYTES);
        let whole = self.use_register(vector);
        self.store_slot(whole, out, MachineType::V128);
        let register = self.use_register(scalar);
        self.store_lane(register, out, lanes, u32::from(lane));
        self.registers.release(vector);
        self.registers.release(scalar);
        self.define_in_frame(result, out);
    }

    /// A number that tells something of all lanes.
    fn summary(&mut self, result: Value, op: VectorOp, lanes: Lanes, vector: Value) {
        let lanes = lanes.as_signed();
        let ty = lane_type(lanes);
        let place = self.vector_in_frame(vector);
        let (x, sum) = (self.fresh(false), self.fresh(false));
        let done = self.masm.label();
        self.masm.constant(sum, i64::from(op == VectorOp::AnyTrue));
        for lane in 0..lanes.count() {
            self.load_lane(x, place, lanes, lane);
            match op {
                VectorOp::AnyTrue => self.masm.jump_if_nonzero(ty, x, done),
                VectorOp::AllTrue => self.masm.jump_if(Relation::Equal, ty, x, RegImm::Imm(0), done, None),
                _ => {
                    // Narrow lanes are extended by their signs.
                    let highest = if ty == MachineType::I64 { 63 } else { 31 };
                    self.masm.shift(ShiftOp::RightUnsigned, ty, x, highest);
                    self.masm.shift(ShiftOp::Left, MachineType::I32, x, lane as u8);
                    self.masm.integer(IntegerOp::Or, MachineType::I32, sum, RegImm::Reg(x), None);
                }
            }
        }
        match op {
            VectorOp::AnyTrue => self.masm.constant(sum, 0),
            VectorOp::AllTrue => self.masm.constant(sum, 1),
            _ => {}
        }
        self.masm.bind(done);
        self.registers.release(vector);
        self.define(result, sum);
    }

    fn shift_lanes(&mut self, result: Value, op: VectorOp, lanes: Lanes, vector: Value, count: Value) {
        let (shift, lanes) = match op {
            VectorOp::ShiftLeft => (ShiftOp::Left, lanes.as_signed()),
            VectorOp::ShiftRight => (ShiftOp::Right, lanes.as_signed()),
            _ => (ShiftOp::RightUnsigned, as_unsigned(lanes)),
        };
        self.claim(M::SHIFT_COUNT);
        self.load_value(count, M::SHIFT_COUNT);
        let mask = RegImm::Imm(lanes.bytes() as i32 * 8 - 1);
        self.masm.integer(IntegerOp::And, MachineType::I32, M::SHIFT_COUNT, mask, None);
        let place = self.vector_in_frame(vector);
        let out = self.registers.new_area(VECTOR_BYTES);
        let x = self.fresh(false);
        for lane in 0..lanes.count() {
            self.load_lane(x, place, lanes, lane);
            self.masm.shift_by(shift, lane_type(lanes), x);
            self.store_lane(x, out, lanes, lane);
        }
        self.registers.release(vector);
        self.registers.release(count);
        self.define_in_frame(result, out);
    }

    fn bit_select(&mut self, result: Value, mask: Value, yes: Value, no: Value) {
        let places = [mask, yes, no].map(|value| self.vector_in_frame(value));
        let out = self.registers.new_area(VECTOR_BYTES);
        let (x, y) = (self.fresh(false), self.fresh(false));
        for lane in 0..2 {
            // no ^ ((yes ^ no) & mask)
            self.load_lane(x, places[1], Lanes::I64, lane);
            self.load_lane(y, places[2], Lanes::I64, lane);
            self.masm.integer(IntegerOp::ExclusiveOr, MachineType::I64, x, RegImm::Reg(y), None);
            self.load_lane(M::SCRATCH, places[0], Lanes::I64, lane);
            self.masm.integer(IntegerOp::And, MachineType::I64, x, RegImm::Reg(M::SCRATCH), None);
            self.masm.integer(IntegerOp::ExclusiveOr, MachineType::I64, x, RegImm::Reg(y), None);
            self.store_lane(x, out, Lanes::I64, lane);
        }
        [mask, yes, no].iter().for_each(|&value| self.registers.release(value));
        self.define_in_frame(result, out);
    }

    fn shuffle(&mut self, result: Value, a: Value, b: Value, mask: [u8; VECTOR_BYTES as usize]) {
        let places = [a, b].map(|value| self.vector_in_frame(value));
        let out = self.registers.new_area(VECTOR_BYTES);
        let x = self.fresh(false);
        let mut to = 0;
        while to < VECTOR_BYTES {
            let from = u32::from(mask[to as usize]);
            // As many bytes together as follow one another.
            let follows = |bytes: u32| {
                to % bytes == 0
                    && from % VECTOR_BYTES + bytes <= VECTOR_BYTES
                    && (1..bytes).all(|next| u32::from(mask[(to + next) as usize]) == from + next)
            };
            let (access, bytes) = match () {
                () if follows(8) => (WORD, 8),
                () if follows(4) => (MemoryAccess::Whole(MachineType::I32), 4),
                () if follows(2) => (MemoryAccess::Narrow(Extension::Z16), 2),
                () => (MemoryAccess::Narrow(Extension::Z8), 1),
            };
            let place = places[usize::from(from >= VECTOR_BYTES)];
            self.masm.load(access, x, Address::new(M::FRAME, place + (from % VECTOR_BYTES) as i32));
            self.masm.store(access, Address::new(M::FRAME, out + to as i32), x);
            to += bytes;
        }
        self.registers.release(a);
        self.registers.release(b);
        self.define_in_frame(result, out);
    }

    fn lane_by_lane(&mut self, operation: &Operation, op: VectorOp, lanes: Lanes) -> Option<()> {
        use VectorOp as V;
        match op {
            V::Narrow | V::PackSigned | V::PackUnsigned => self.narrow(operation, op, lanes),
            V::WidenLow | V::WidenHigh => self.widen_lanes(operation, lanes, op == V::WidenHigh),
            V::ToFloat | V::ToDouble | V::ToSingle | V::ToInteger => self.convert_lanes(operation, op, lanes),
            V::Eq | V::Lt | V::Le | V::Gt | V::Ge | V::Unordered => {
                for lane in 0..lanes.count() {
                    self.compare_lane(operation, op, lanes, lane)?;
                }
                Some(())
            }
            _ => {
                let is_unary =
                    matches!(op, V::Not | V::Neg | V::Abs | V::Sqrt | V::Floor | V::Ceil | V::Truncate | V::Round);
                for lane in 0..lanes.count() {
                    self.load_lane(operation.x, operation.a, lanes, lane);
                    if !is_unary {
                        self.load_lane(operation.y, operation.b, lanes, lane);
                    }
                    let register = self.compute_lane(operation, op, lanes)?;
                    self.store_lane(register, operation.out, lanes, lane);
                }
                Some(())
            }
        }
    }

    /// `x op y`, or `op x`; gives the register with the result.
    fn compute_lane(&mut self, operation: &Operation, op: VectorOp, lanes: Lanes) -> Option<Reg> {
        use VectorOp as V;
        let &Operation { x, y, .. } = operation;
        let ty = lane_type(lanes);
        if lanes.is_float() {
            match op {
                V::Add => self.masm.float(FloatOp::Add, ty, x, y),
                V::Sub => self.masm.float(FloatOp::Subtract, ty, x, y),
                V::Mul => self.masm.float(FloatOp::Multiply, ty, x, y),
                V::Div => self.masm.float(FloatOp::Divide, ty, x, y),
                V::Neg => self.masm.negate_float(ty, x),
                V::Abs => {
                    let magnitude = if ty == MachineType::F32 { (1 << 31) - 1 } else { (1 << 63) - 1 };
                    self.masm.float_constant(M::FLOAT_SCRATCH, magnitude);
                    self.masm.float_bits(IntegerOp::And, x, M::FLOAT_SCRATCH);
                }
                V::Sqrt => self.masm.square_root(ty, x),
                V::Floor => self.masm.round(Rounding::Floor, ty, x),
                V::Ceil => self.masm.round(Rounding::Ceiling, ty, x),
                V::Truncate => self.masm.round(Rounding::Zero, ty, x),
                V::Round => self.masm.round(Rounding::Nearest, ty, x),
                V::Min | V::Max => self.choose(operation, op, lanes),
                _ => return None,
            }
            return Some(x);
        }
        let integer = |op: IntegerOp, this: &mut Self| this.masm.integer(op, ty, x, RegImm::Reg(y), None);
        match op {
            V::Add => integer(IntegerOp::Add, self),
            V::Sub => integer(IntegerOp::Subtract, self),
            V::And => integer(IntegerOp::And, self),
            V::Or => integer(IntegerOp::Or, self),
            V::Xor => integer(IntegerOp::ExclusiveOr, self),
            V::AndNot => {
                self.masm.not(ty, y);
                integer(IntegerOp::And, self);
            }
            V::Not => self.masm.not(ty, x),
            V::Neg => self.masm.negate(ty, x),
            V::Abs if lanes.is_unsigned() => {}
            V::Abs => {
                let next = self.masm.label();
                self.masm.jump_if(Relation::GreaterOrEqual, ty, x, RegImm::Imm(0), next, None);
                self.masm.negate(ty, x);
                self.masm.bind(next);
            }
            V::Mul => self.masm.multiply(ty, x, y, None),
            V::AddSaturated | V::SubSaturated if lanes.bytes() <= 2 => {
                integer(if op == V::AddSaturated { IntegerOp::Add } else { IntegerOp::Subtract }, self);
                self.clamp_lanes(x, lanes);
            }
            V::Average if lanes.bytes() <= 2 => {
                integer(IntegerOp::Add, self);
                self.masm.integer(IntegerOp::Add, ty, x, RegImm::Imm(1), None);
                self.masm.shift(ShiftOp::RightUnsigned, ty, x, 1);
            }
            V::MultiplyHigh if lanes.bytes() == 2 => {
                self.masm.multiply(ty, x, y, None);
                self.masm.shift(ShiftOp::RightUnsigned, ty, x, 16);
            }
            V::Min | V::Max => self.choose(operation, op, lanes),
            _ => return None,
        }
        Some(x)
    }

    /// `x = x < y ? x : y`, or `x > y ? x : y`: so `y` where either is NaN.
    fn choose(&mut self, operation: &Operation, op: VectorOp, lanes: Lanes) {
        let &Operation { x, y, .. } = operation;
        let relation = relation(if op == VectorOp::Min { VectorOp::Lt } else { VectorOp::Gt }, lanes.is_unsigned());
        let next = self.masm.label();
        self.masm.jump_if(relation, lane_type(lanes), x, RegImm::Reg(y), next, None);
        self.move_register(x, y);
        self.masm.bind(next);
    }

    /// The nearest number of the lanes, which are of one or two bytes.
    fn clamp_lanes(&mut self, register: Reg, lanes: Lanes) {
        let bits = lanes.bytes() * 8;
        let (least, greatest) = match lanes.is_unsigned() {
            true => (0, (1 << bits) - 1),
            false => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        };
        for (relation, limit) in [(Relation::GreaterOrEqual, least), (Relation::LessOrEqual, greatest)] {
            let fits = self.masm.label();
            self.masm.jump_if(relation, MachineType::I32, register, RegImm::Imm(limit), fits, None);
            self.masm.constant(register, i64::from(limit));
            self.masm.bind(fits);
        }
    }

    /// A lane of all ones, or all zeroes.
    fn compare_lane(&mut self, operation: &Operation, op: VectorOp, lanes: Lanes, lane: u32) -> Option<()> {
        let &Operation { a, b, out, x, y, flag } = operation;
        let ty = lane_type(lanes);
        let mask = lanes.as_signed();
        self.load_lane(x, a, lanes, lane);
        self.load_lane(y, b, lanes, lane);
        if op == VectorOp::Unordered {
            if !lanes.is_float() {
                return None;
            }
            let (ordered, unordered) = (self.masm.label(), self.masm.label());
            self.masm.jump_if(Relation::NotEqual, ty, x, RegImm::Reg(x), unordered, None);
            self.masm.constant(flag, 0);
            self.masm.jump_if(Relation::Equal, ty, y, RegImm::Reg(y), ordered, None);
            self.masm.bind(unordered);
            self.masm.constant(flag, 1);
            self.masm.bind(ordered);
        } else {
            self.masm.set_if(relation(op, lanes.is_unsigned()), ty, flag, x, RegImm::Reg(y));
        }
        self.masm.widen(false, flag, flag);
        self.masm.negate(MachineType::I64, flag);
        self.store_lane(flag, out, mask, lane);
        Some(())
    }

    /// The lanes of both operands, in half the width.
    fn narrow(&mut self, operation: &Operation, op: VectorOp, lanes: Lanes) -> Option<()> {
        let &Operation { a, b, out, x, .. } = operation;
        let half = half_lanes(lanes)?;
        let packed = if op == VectorOp::PackUnsigned { as_unsigned(half) } else { half };
        if op != VectorOp::Narrow && !matches!(lanes, Lanes::I16 | Lanes::I32) {
            return None;
        }
        for lane in 0..half.count() {
            let (place, from) = if lane < lanes.count() { (a, lane) } else { (b, lane - lanes.count()) };
            self.load_lane(x, place, lanes, from);
            match op {
                VectorOp::Narrow if lanes.is_float() => self.masm.convert_float(MachineType::F32, x, x),
                VectorOp::Narrow => {}
                _ => self.clamp_lanes(x, packed),
            }
            self.store_lane(x, out, half, lane);
        }
        Some(())
    }

    /// The low or the high half of the lanes, in twice the width.
    fn widen_lanes(&mut self, operation: &Operation, lanes: Lanes, is_high: bool) -> Option<()> {
        let &Operation { a, out, x, .. } = operation;
        let wide = match lanes {
            Lanes::I8 => Lanes::I16,
            Lanes::U8 => Lanes::U16,
            Lanes::I16 => Lanes::I32,
            Lanes::U16 => Lanes::U32,
            Lanes::I32 => Lanes::I64,
            Lanes::U32 => Lanes::U64,
            Lanes::F32 => Lanes::F64,
            Lanes::I64 | Lanes::U64 | Lanes::F64 => return None,
        };
        for lane in 0..wide.count() {
            self.load_lane(x, a, lanes, if is_high { lane + wide.count() } else { lane });
            match lanes {
                Lanes::F32 => self.masm.convert_float(MachineType::F64, x, x),
                Lanes::I32 | Lanes::U32 => self.masm.widen(lanes == Lanes::I32, x, x),
                _ => {}
            }
            self.store_lane(x, out, wide, lane);
        }
        Some(())
    }

    fn convert_lanes(&mut self, operation: &Operation, op: VectorOp, lanes: Lanes) -> Option<()> {
        let &Operation { a, out, x, flag, .. } = operation;
        let number = M::FLOAT_SCRATCH;
        match (op, lanes) {
            (VectorOp::ToFloat, Lanes::I32 | Lanes::U32) => {
                for lane in 0..4 {
                    self.load_lane(x, a, lanes, lane);
                    let from = if lanes == Lanes::U32 { MachineType::I64 } else { MachineType::I32 };
                    if lanes == Lanes::U32 {
                        self.masm.widen(false, x, x);
                    }
                    self.masm.integer_to_float(MachineType::F32, number, from, x);
                    self.store_lane(number, out, Lanes::F32, lane);
                }
            }
            (VectorOp::ToDouble, Lanes::I32) => {
                for lane in 0..2 {
                    self.load_lane(x, a, lanes, lane);
                    self.masm.integer_to_float(MachineType::F64, number, MachineType::I32, x);
                    self.store_lane(number, out, Lanes::F64, lane);
                }
            }
            (VectorOp::ToSingle, Lanes::F64) => {
                for lane in 0..2 {
                    self.load_lane(x, a, lanes, lane);
                    self.masm.convert_float(MachineType::F32, x, x);
                    self.store_lane(x, out, Lanes::F32, lane);
                }
                self.masm.store_zero(Address::new(M::FRAME, out + 8));
            }
            (VectorOp::ToInteger, Lanes::F32) => {
                for lane in 0..4 {
                    self.load_lane(x, a, lanes, lane);
                    self.masm.float_to_integer(MachineType::I32, flag, MachineType::F32, x);
                    self.store_lane(flag, out, Lanes::I32, lane);
                }
            }
            _ => return None,
        }
        Some(())
    }
}

fn lane_kind(lanes: Lanes) -> LaneType {
    match lanes {
        Lanes::I8 => LaneType::I8,
        Lanes::U8 => LaneType::U8,
        Lanes::I16 => LaneType::I16,
        Lanes::U16 => LaneType::U16,
        Lanes::I32 => LaneType::I32,
        Lanes::U32 => LaneType::U32,
        Lanes::I64 => LaneType::I64,
        Lanes::U64 => LaneType::U64,
        Lanes::F32 => LaneType::F32,
        Lanes::F64 => LaneType::F64,
    }
}

/// The operation of the macro assembler, and whether its operands change places.
fn lane_op(op: VectorOp, lanes: Lanes) -> Option<(LaneOp, bool)> {
    Some(match op {
        VectorOp::Add => (LaneOp::Add, false),
        VectorOp::Sub => (LaneOp::Subtract, false),
        VectorOp::Mul => (LaneOp::Multiply, false),
        VectorOp::Div => (LaneOp::Divide, false),
        VectorOp::AddSaturated => (LaneOp::AddSaturated, false),
        VectorOp::SubSaturated => (LaneOp::SubtractSaturated, false),
        VectorOp::Average => (LaneOp::Average, false),
        VectorOp::MultiplyHigh => (LaneOp::MultiplyHigh, false),
        VectorOp::ShuffleBytes => (LaneOp::ShuffleBytes, false),
        VectorOp::MultiplyAddPairs => (LaneOp::MultiplyAddPairs, false),
        VectorOp::And => (LaneOp::And, false),
        VectorOp::Or => (LaneOp::Or, false),
        VectorOp::Xor => (LaneOp::ExclusiveOr, false),
        VectorOp::Min => (LaneOp::Minimum, false),
        VectorOp::Max => (LaneOp::Maximum, false),
        VectorOp::Eq => (LaneOp::Equal, false),
        VectorOp::Lt if lanes.is_float() => (LaneOp::Less, false),
        VectorOp::Lt => (LaneOp::Greater, true),
        VectorOp::Le => (LaneOp::LessOrEqual, false),
        VectorOp::Gt if lanes.is_float() => (LaneOp::Less, true),
        VectorOp::Gt => (LaneOp::Greater, false),
        VectorOp::Ge => (LaneOp::LessOrEqual, true),
        VectorOp::Unordered => (LaneOp::Unordered, false),
        _ => return None,
    })
}

fn relation(op: VectorOp, is_unsigned: bool) -> Relation {
    match (op, is_unsigned) {
        (VectorOp::Eq, _) => Relation::Equal,
        (VectorOp::Lt, false) => Relation::Less,
        (VectorOp::Le, false) => Relation::LessOrEqual,
        (VectorOp::Gt, false) => Relation::Greater,
        (_, false) => Relation::GreaterOrEqual,
        (VectorOp::Lt, true) => Relation::LessUnsigned,
        (VectorOp::Le, true) => Relation::LessOrEqualUnsigned,
        (VectorOp::Gt, true) => Relation::GreaterUnsigned,
        (_, true) => Relation::GreaterOrEqualUnsigned,
    }
}
