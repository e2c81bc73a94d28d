//! The first pass, before any code is emitted: whether the baseline compiler covers the function, which values are
//! equal, how often each is used, and which must be in memory.

use super::machine_type;
use crate::null_area::faults_on_null;
use saki_code::masm::{MachineType, MacroAssembler};
use saki_il::ir::{
    BinOp, CallSig, CallTarget, ConvTarget, Function, Inst, IrType, LocalId, LocalKind, MemFlags, MemType, NullCheck,
    Op, Terminator, UnOp, ValueId,
};

/// Instructions of the largest function covered.
const MAX_INSTRUCTIONS: usize = 64;
/// A value: that of an instruction, or (numbers behind those of the instructions) that of a local at the function's
/// entry.
pub(super) type Value = u32;

const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(super) struct Plan {
    /// By instruction: the value to which its result is equal, its own or an earlier one.
    pub same: Vec<Value>,
    /// By value: uses that need it.
    pub uses: Vec<u32>,
    /// By value: whether it is used in another block than its own.
    pub crosses: Vec<bool>,
    /// By value: whether it is a comparison that is fused into its block's branch.
    pub fused: Vec<bool>,
    /// By local: whether some block reads it before it writes it.
    pub in_memory: Vec<bool>,
    defined_in: Vec<u32>,
    current: Vec<Value>,
}

impl Plan {
    /// Makes the plan; returns false if the function is not covered.
    pub(super) fn make<M: MacroAssembler>(&mut self, func: &Function) -> bool {
        if !is_covered::<M>(func) {
            return false;
        }
        let count = func.insts.len() + func.locals.len();
        self.same.clear();
        self.same.extend(0..func.insts.len() as u32);
        self.in_memory.clear();
        self.in_memory.resize(func.locals.len(), false);
        for (list, fill) in [(&mut self.uses, 0), (&mut self.defined_in, 0)] {
            list.clear();
            list.resize(count, fill);
        }
        for list in [&mut self.crosses, &mut self.fused] {
            list.clear();
            list.resize(count, false);
        }
        self.find_same(func);
        self.count_uses(func);
        true
    }

    pub(super) fn entry_value(func: &Function, local: LocalId) -> Value {
        func.insts.len() as u32 + local.0
    }

    /// Finds equal values, block by block, by following locals and conversions that change nothing.
    fn find_same(&mut self, func: &Function) {
        for (number, block) in func.blocks.iter().enumerate() {
            self.current.clear();
            if number == 0 {
                self.current.extend((0..func.locals.len() as u32).map(|l| Plan::entry_value(func, LocalId(l))));
            } else {
                self.current.resize(func.locals.len(), NONE);
            }
            for &id in &block.insts {
                self.defined_in[id.0 as usize] = number as u32;
                match func.insts[id.0 as usize].op {
                    Op::LocalGet(local) => {
                        let held = &mut self.current[local.0 as usize];
                        if *held == NONE {
                            self.in_memory[local.0 as usize] = true;
                            *held = id.0;
                        }
                        self.same[id.0 as usize] = *held;
                    }
                    Op::LocalSet(local, value) => self.current[local.0 as usize] = self.same[value.0 as usize],
                    Op::Conv { value, target, .. } if changes_nothing(func, value, target) => {
                        self.same[id.0 as usize] = self.same[value.0 as usize];
                    }
                    _ => {}
                }
            }
        }
    }

    fn count_uses(&mut self, func: &Function) {
        for (number, block) in func.blocks.iter().enumerate() {
            for &id in &block.insts {
                let inst = &func.insts[id.0 as usize];
                if self.same[id.0 as usize] != id.0 {
                    continue;
                }
                if let Op::LocalSet(local, _) = inst.op
                    && !self.in_memory[local.0 as usize]
                {
                    continue;
                }
                operands(&inst.op, |value| self.note_use(value, number));
            }
            match &block.terminator {
                Terminator::Brif { cond, .. } => {
                    self.note_use(*cond, number);
                    let condition = self.same[cond.0 as usize] as usize;
                    // Nothing else may use the comparison as a value; a later use in another block resets this below.
                    self.fused[condition] = condition < func.insts.len()
                        && matches!(func.insts[condition].op, Op::Cmp(..))
                        && self.defined_in[condition] == number as u32;
                }
                Terminator::Ret(Some(value)) | Terminator::Throw(value) => self.note_use(*value, number),
                Terminator::TailCall { target, args, .. } => {
                    if let CallTarget::Indirect(code) = target {
                        self.note_use(*code, number);
                    }
                    args.iter().for_each(|&arg| self.note_use(arg, number));
                }
                _ => {}
            }
        }
        for value in 0..self.fused.len() {
            self.fused[value] &= self.uses[value] == 1;
        }
    }

    fn note_use(&mut self, value: ValueId, block: usize) {
        let value = self.same[value.0 as usize] as usize;
        self.uses[value] += 1;
        self.crosses[value] |= self.defined_in[value] != block as u32;
    }
}

/// The values that an operation uses.
fn operands(op: &Op, mut f: impl FnMut(ValueId)) {
    match op {
        Op::LocalSet(_, a) | Op::Un(_, a) | Op::NullCheck(a) | Op::ArrayLen(a) => f(*a),
        Op::Conv { value, .. } => f(*value),
        Op::Load { addr, .. } => f(*addr),
        Op::Bin(_, a, b) | Op::Cmp(_, a, b) => {
            f(*a);
            f(*b);
        }
        Op::Store { addr, value, .. } => {
            f(*addr);
            f(*value);
        }
        Op::BoundsCheck { index, length } => {
            f(*index);
            f(*length);
        }
        Op::ElementAddr { array, index, .. } => {
            f(*array);
            f(*index);
        }
        Op::Call { target, args, .. } => {
            args.iter().for_each(|&arg| f(arg));
            if let CallTarget::Indirect(code) = target {
                f(*code);
            }
        }
        // `is_covered` rejects all other operations with operands.
        _ => {}
    }
}

/// Whether the conversion's result has the same bits as its operand.
fn changes_nothing(func: &Function, value: ValueId, target: ConvTarget) -> bool {
    let from = machine_type(func.insts[value.0 as usize].ty);
    match target {
        ConvTarget::I4 | ConvTarget::U4 => from == Some(MachineType::I32),
        ConvTarget::I8 | ConvTarget::U8 | ConvTarget::I | ConvTarget::U => from == Some(MachineType::I64),
        ConvTarget::R4 => from == Some(MachineType::F32),
        ConvTarget::R8 => from == Some(MachineType::F64),
        _ => false,
    }
}

fn is_covered<M: MacroAssembler>(func: &Function) -> bool {
    func.insts.len() <= MAX_INSTRUCTIONS
        && func.clauses.is_empty()
        && func.filters.is_empty()
        && !func.is_filter
        && fits_registers::<M>(&func.sig)
        && func.locals.iter().all(|local| {
            !local.address_exposed
                && machine_type(local.ty).is_some()
                && matches!(local.kind, LocalKind::Param(_) | LocalKind::Normal)
        })
        && func.insts.iter().all(|inst| is_covered_inst::<M>(func, inst))
        && func.blocks.iter().enumerate().all(|(number, block)| is_covered_end::<M>(func, number, &block.terminator))
}

fn is_covered_inst<M: MacroAssembler>(func: &Function, inst: &Inst) -> bool {
    let of = |value: &ValueId| machine_type(func.insts[value.0 as usize].ty);
    let result = machine_type(inst.ty);
    match &inst.op {
        Op::ConstI32(_) | Op::ConstI64(_) | Op::ConstF32(_) | Op::ConstF64(_) | Op::Null | Op::SymbolAddr(_) => true,
        Op::LocalGet(local) => result == machine_type(func.locals[local.0 as usize].ty),
        Op::LocalSet(local, value) => of(value) == machine_type(func.locals[local.0 as usize].ty),
        Op::Bin(BinOp::Shl | BinOp::Shr | BinOp::ShrUn, a, b) => {
            of(a) == result && matches!(func.insts[b.0 as usize].op, Op::ConstI32(_))
        }
        Op::Bin(op, a, b) => of(a) == result && of(b) == result && is_covered_binary(*op, result),
        Op::Un(UnOp::Neg, a) => of(a) == result,
        Op::Un(UnOp::Not, a) => of(a) == result && matches!(result, Some(MachineType::I32 | MachineType::I64)),
        Op::Cmp(_, a, b) => of(a).is_some() && of(a) == of(b),
        Op::Conv { value, target, checked: false, source_unsigned } => {
            is_covered_conversion(of(value), *target, *source_unsigned)
        }
        Op::Load { addr, offset, flags, mem } => {
            stored(*mem).is_some() && of(addr) == Some(MachineType::I64) && faults(*offset, *flags)
        }
        Op::Store { addr, offset, value, mem, flags } => {
            of(addr) == Some(MachineType::I64)
                && of(value).is_some()
                && of(value) == stored(*mem)
                && faults(*offset, *flags)
        }
        Op::NullCheck(a) | Op::ArrayLen(a) => of(a) == Some(MachineType::I64),
        Op::BoundsCheck { index, length } => of(index).is_some() && of(index) == of(length),
        Op::ElementAddr { array, element_size_bytes, .. } => {
            of(array) == Some(MachineType::I64) && i32::try_from(*element_size_bytes).is_ok()
        }
        Op::Call { target, sig, args, struct_result: None } => is_covered_call::<M>(func, target, sig, args),
        Op::Poll | Op::CurrentThread => true,
        _ => false,
    }
}

fn is_covered_binary(op: BinOp, ty: Option<MachineType>) -> bool {
    match ty {
        Some(MachineType::I32 | MachineType::I64) => matches!(
            op,
            BinOp::Add
                | BinOp::Sub
                | BinOp::Mul
                | BinOp::And
                | BinOp::Or
                | BinOp::Xor
                | BinOp::AddOvf
                | BinOp::SubOvf
                | BinOp::MulOvf
        ),
        Some(MachineType::F32 | MachineType::F64) => {
            matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div)
        }
        None => false,
    }
}

fn is_covered_conversion(from: Option<MachineType>, target: ConvTarget, source_unsigned: bool) -> bool {
    let is_float = matches!(from, Some(MachineType::F32 | MachineType::F64));
    match target {
        ConvTarget::R4 | ConvTarget::R8 => from.is_some() && (is_float || !source_unsigned),
        ConvTarget::RUn => false,
        _ => from.is_some() && !is_float,
    }
}

/// Whether the fault of the access itself serves as its null check.
fn faults(offset: i32, flags: MemFlags) -> bool {
    flags.null_check == NullCheck::None || faults_on_null(offset)
}

/// The type of the register that is loaded or stored. None for vectors.
pub(super) fn stored(mem: MemType) -> Option<MachineType> {
    machine_type(mem.loaded())
}

/// Whether all parameters and the result are scalars in registers.
fn fits_registers<M: MacroAssembler>(sig: &CallSig) -> bool {
    let (mut integers, mut floats) = (0, 0);
    for &param in &sig.params {
        match machine_type(param) {
            Some(MachineType::I32 | MachineType::I64) => integers += 1,
            Some(MachineType::F32 | MachineType::F64) => floats += 1,
            None => return false,
        }
    }
    integers <= M::ARGUMENTS.len() && floats <= M::FLOAT_ARGUMENTS.len() && !matches!(sig.ret, Some(IrType::Struct(_)))
}

fn is_covered_call<M: MacroAssembler>(func: &Function, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> bool {
    let is_covered_target = match target {
        CallTarget::Direct(_) => true,
        CallTarget::Virtual { .. } | CallTarget::Interface { .. } => !args.is_empty(),
        CallTarget::Indirect(code) => machine_type(func.insts[code.0 as usize].ty) == Some(MachineType::I64),
        CallTarget::Helper(helper) => *helper != saki_abi::HelperId::CheckArrayStore,
        CallTarget::InternalCall(_) | CallTarget::Native(_) => false,
    };
    is_covered_target
        && fits_registers::<M>(sig)
        && args.len() == sig.params.len()
        && args
            .iter()
            .zip(&sig.params)
            .all(|(arg, &param)| machine_type(func.insts[arg.0 as usize].ty) == machine_type(param))
}

/// Whether the terminator is covered. Blocks are emitted in order, and only forward branches are covered, so that
/// values need no merging.
fn is_covered_end<M: MacroAssembler>(func: &Function, number: usize, terminator: &Terminator) -> bool {
    let forward = |target: &saki_il::ir::BlockId| target.0 as usize > number;
    let of = |value: &ValueId| machine_type(func.insts[value.0 as usize].ty);
    match terminator {
        Terminator::Jump(target) => forward(target),
        Terminator::Brif { cond, then, otherwise } => {
            matches!(of(cond), Some(MachineType::I32 | MachineType::I64)) && forward(then) && forward(otherwise)
        }
        Terminator::Ret(value) => match (func.sig.ret.and_then(machine_type), value) {
            (None, _) => !matches!(func.sig.ret, Some(IrType::Struct(_))),
            (result, Some(value)) => of(value) == result,
            (Some(_), None) => false,
        },
        Terminator::TailCall { target, sig, args } => {
            !matches!(target, CallTarget::Helper(_))
                && is_covered_call::<M>(func, target, sig, args)
                && sig.ret.and_then(machine_type) == func.sig.ret.and_then(machine_type)
        }
        Terminator::Throw(value) => of(value) == Some(MachineType::I64),
        Terminator::Unreachable => true,
        _ => false,
    }
}
