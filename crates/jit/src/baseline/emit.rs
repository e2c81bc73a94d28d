//! The second pass: blocks in order, values into registers, prologue and tables at the end.

use super::plan::{Plan, Value};
use super::registers::Registers;
use super::{BuffersFor, machine_type};
use crate::output::{CompiledBy, CompiledCode};
use crate::symbols::RelocTarget;
use saki_abi::stubs::trap;
use saki_abi::thread::THREAD_PENDING_EXCEPTION_OFFSET;
use saki_abi::{IlMapEntry, StubId, TrapSite};
use saki_code::masm::{Address, FinishedCode, Label, MachineType, MacroAssembler, MemoryAccess, Reg};
use saki_il::ir::{Function, LocalId, LocalKind, Op, Symbol, Terminator, ValueId};

const ALIGNMENT_BYTES: u32 = 32;

/// Out-of-line code, emitted behind the blocks.
pub(super) enum Cold {
    /// A trap with this code.
    Trap(Label, u8),
    /// A safepoint's slow path, and the label at which it continues.
    Poll(Label, Label),
}

pub(super) struct Emitter<'a, M> {
    pub func: &'a Function,
    pub plan: &'a Plan,
    pub registers: &'a mut Registers,
    pub masm: &'a mut M,
    pub code: CompiledCode,
    il_map: Vec<IlMapEntry>,
    traps: Vec<TrapSite>,
    pub stress_poll: bool,
    pub cold: Vec<(Cold, u32)>,
    blocks: Vec<Label>,
    pub il_offset: u32,
}

pub(super) fn emit<M: MacroAssembler<Target = RelocTarget>>(
    buffers: &mut BuffersFor<M>,
    func: &Function,
    stress_poll: bool,
) -> Option<CompiledCode> {
    let BuffersFor { plan, registers, masm } = buffers;
    registers.reset(M::ALLOCATABLE, &plan.uses);
    masm.clear();
    let blocks = func.blocks.iter().map(|_| masm.label()).collect();
    let mut code = CompiledCode {
        name: func.name.clone(),
        alignment_bytes: ALIGNMENT_BYTES,
        compiled_by: CompiledBy::Baseline,
        ..CompiledCode::default()
    };
    code.tables.inline_sites = func.inline_sites.as_slice().into();
    let mut emitter = Emitter {
        func,
        plan,
        registers,
        masm,
        code,
        il_map: Vec::new(),
        traps: Vec::new(),
        stress_poll,
        cold: Vec::new(),
        blocks,
        il_offset: u32::MAX,
    };
    emitter.entry();
    for number in 0..func.blocks.len() {
        emitter.block(number)?;
    }
    emitter.cold_code();
    emitter.finish()
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    /// Defines the parameters in their registers, and stores those that must be in memory.
    fn entry(&mut self) {
        let (mut integers, mut floats) = (0, 0);
        let mut arriving = Vec::with_capacity(self.func.sig.params.len());
        for &param in &self.func.sig.params {
            let is_float = machine_type(param).is_some_and(MachineType::is_float);
            let counter = if is_float { &mut floats } else { &mut integers };
            arriving.push(argument_register::<M>(is_float, *counter));
            *counter += 1;
        }
        for (number, local) in self.func.locals.iter().enumerate() {
            let value = Plan::entry_value(self.func, LocalId(number as u32));
            if let LocalKind::Param(index) = local.kind {
                let register = arriving[index as usize];
                if self.plan.in_memory[number] {
                    let slot = self.registers.local_slot(number);
                    self.store_slot(register, slot, machine_type(local.ty).unwrap_or(MachineType::I64));
                }
                self.define(value, register);
            } else if self.plan.in_memory[number] {
                let slot = self.registers.local_slot(number);
                self.masm.store_zero(Address::new(M::FRAME, slot));
            }
        }
    }

    fn block(&mut self, number: usize) -> Option<()> {
        let block = &self.func.blocks[number];
        self.masm.bind(self.blocks[number]);
        if number > 0 {
            self.registers.vacate_all();
        }
        for &id in &block.insts {
            self.position(self.func.insts[id.0 as usize].il_offset);
            self.instruction(id)?;
            self.registers.unlock_all();
        }
        self.position(block.terminator_il_offset);
        self.terminator(number, &block.terminator)?;
        self.registers.unlock_all();
        Some(())
    }

    /// Records this IL position for the instructions that follow.
    pub(super) fn position(&mut self, il_offset: u32) {
        self.il_offset = il_offset;
        if il_offset != u32::MAX && self.il_map.last().is_none_or(|last| last.il_offset != il_offset) {
            let native_offset = self.masm.offset();
            // An entry that covers no code is replaced.
            if self.il_map.last().is_some_and(|last| last.native_offset == native_offset) {
                self.il_map.pop();
            }
            self.il_map.push(IlMapEntry { native_offset, il_offset });
        }
    }

    fn terminator(&mut self, number: usize, terminator: &Terminator) -> Option<()> {
        match terminator {
            Terminator::Jump(target) => {
                if target.0 as usize != number + 1 {
                    self.masm.jump(self.blocks[target.0 as usize]);
                }
            }
            Terminator::Brif { cond, then, otherwise } => {
                let (then_label, otherwise_label) = (self.blocks[then.0 as usize], self.blocks[otherwise.0 as usize]);
                self.branch(*cond, then_label, otherwise_label)?;
                if otherwise.0 as usize != number + 1 {
                    self.masm.jump(otherwise_label);
                }
            }
            Terminator::Ret(value) => {
                if let (Some(value), Some(ty)) = (value, self.func.sig.ret.and_then(machine_type)) {
                    let result = if ty.is_float() { M::FLOAT_RESULT } else { M::RESULT };
                    self.move_to(*value, result);
                }
                self.masm.ret();
            }
            Terminator::TailCall { target, sig, args } => self.tail_call(target, sig, args)?,
            Terminator::Throw(value) => {
                self.move_to(*value, M::ARGUMENTS[0]);
                self.masm.call(RelocTarget::Symbol(Symbol::Helper(saki_abi::HelperId::Throw)));
                self.trap_here(trap::UNREACHABLE);
            }
            Terminator::Unreachable => self.trap_here(trap::UNREACHABLE),
            _ => return None,
        }
        Some(())
    }

    fn trap_here(&mut self, code: u8) {
        let offset = self.masm.trap();
        self.traps.push(TrapSite { offset, code });
    }

    /// The label of the out-of-line trap with this code.
    pub(super) fn trap_label(&mut self, code: u8) -> Label {
        let label = self.masm.label();
        self.cold.push((Cold::Trap(label, code), self.il_offset));
        label
    }

    fn cold_code(&mut self) {
        for (cold, il_offset) in std::mem::take(&mut self.cold) {
            self.position(il_offset);
            match cold {
                Cold::Trap(label, code) => {
                    self.masm.bind(label);
                    self.trap_here(code);
                }
                Cold::Poll(label, next) => {
                    self.masm.bind(label);
                    self.poll_slow(next);
                }
            }
        }
    }

    /// Calls the safepoint stub, which keeps all registers, and throws the exception that it leaves pending, if any.
    pub(super) fn poll_slow(&mut self, next: Label) {
        self.masm.call(RelocTarget::Stub(StubId::Poll));
        let pending = Address::new(M::THREAD, THREAD_PENDING_EXCEPTION_OFFSET);
        self.masm.jump_if_word(MachineType::I64, pending, true, next);
        self.masm.call(RelocTarget::Stub(StubId::ThrowPending));
        self.trap_here(trap::UNREACHABLE);
    }

    /// Puts the prologue in front, whose length is known only now, and moves all offsets.
    fn finish(self) -> Option<CompiledCode> {
        let frame_size_bytes = self.registers.frame_size_bytes();
        let FinishedCode { bytes, prologue_bytes, relocs } = self.masm.finish(frame_size_bytes)?;
        let mut code = self.code;
        code.bytes = bytes;
        code.relocs = relocs;
        code.tables.frame_size_bytes = frame_size_bytes;
        code.tables.traps = self.traps.into();
        code.tables.traps.iter_mut().for_each(|trap| trap.offset += prologue_bytes);
        code.tables.il_map = self.il_map.into();
        code.tables.il_map.iter_mut().for_each(|entry| entry.native_offset += prologue_bytes);
        Some(code)
    }

    // Values.

    pub(super) fn value(&self, id: ValueId) -> Value {
        self.plan.same[id.0 as usize]
    }

    pub(super) fn machine_of(&self, value: Value) -> MachineType {
        let instructions = self.func.insts.len();
        let ty = match self.func.insts.get(value as usize) {
            Some(inst) => inst.ty,
            None => self.func.locals[value as usize - instructions].ty,
        };
        // The plan admits scalars only.
        machine_type(ty).unwrap_or(MachineType::I64)
    }

    /// The value of an integer constant.
    pub(super) fn constant(&self, value: Value) -> Option<i64> {
        match self.func.insts.get(value as usize).map(|inst| &inst.op) {
            Some(Op::ConstI32(n)) => Some(i64::from(*n)),
            Some(Op::ConstI64(n)) => Some(*n),
            Some(Op::Null) => Some(0),
            // The initial value of a local that has not been written.
            None if matches!(self.func.locals[value as usize - self.func.insts.len()].kind, LocalKind::Normal) => {
                (!self.machine_of(value).is_float()).then_some(0)
            }
            _ => None,
        }
    }

    /// A constant as immediate.
    pub(super) fn immediate(&self, value: Value) -> Option<i32> {
        self.constant(value).and_then(|n| i32::try_from(n).ok())
    }

    /// Whether the value is a constant, which is rematerialised instead of kept.
    fn is_constant(&self, value: Value) -> bool {
        match self.func.insts.get(value as usize).map(|inst| &inst.op) {
            Some(op) => matches!(
                op,
                Op::ConstI32(_) | Op::ConstI64(_) | Op::Null | Op::ConstF32(_) | Op::ConstF64(_) | Op::SymbolAddr(_)
            ),
            None => matches!(self.func.locals[value as usize - self.func.insts.len()].kind, LocalKind::Normal),
        }
    }

    /// An empty register, locked.
    pub(super) fn fresh(&mut self, is_float: bool) -> Reg {
        let (register, victim) = self.registers.candidate(is_float);
        if let Some(victim) = victim {
            self.spill(victim);
            self.registers.vacate(register);
        }
        self.registers.lock(register);
        register
    }

    /// Makes sure that the value survives the loss of its register: stores it to a slot if needed.
    pub(super) fn spill(&mut self, value: Value) {
        let place = self.registers.place(value);
        let Some(register) = place.register else { return };
        if place.slot.is_none() && place.uses_left > 0 && !self.is_constant(value) {
            let slot = self.registers.slot_of(value);
            self.store_slot(register, slot, self.machine_of(value));
        }
    }

    /// The value is in this register from now on.
    pub(super) fn define(&mut self, value: Value, register: Reg) {
        if self.registers.place(value).uses_left == 0 {
            return;
        }
        self.registers.put(value, register);
        if self.plan.crosses[value as usize] {
            self.spill(value);
        }
    }

    /// A locked register that holds the value.
    pub(super) fn use_register(&mut self, value: Value) -> Reg {
        let register = match self.registers.place(value).register {
            Some(register) => register,
            None => {
                let register = self.fresh(self.machine_of(value).is_float());
                self.load_value(value, register);
                self.registers.put(value, register);
                register
            }
        };
        self.registers.lock(register);
        register
    }

    /// Copies a value that is in no register, or in another one, to `register`, which must be free.
    pub(super) fn load_value(&mut self, value: Value, register: Reg) {
        let place = self.registers.place(value);
        if let Some(source) = place.register {
            self.move_register(register, source);
        } else if let Some(slot) = place.slot {
            self.load_slot(register, slot, self.machine_of(value));
        } else {
            self.make_constant(value, register);
        }
    }

    fn make_constant(&mut self, value: Value, register: Reg) {
        if let Some(n) = self.constant(value) {
            self.masm.constant(register, n);
            return;
        }
        match self.func.insts.get(value as usize).map(|inst| &inst.op) {
            Some(Op::SymbolAddr(symbol)) => self.symbol_address(*symbol, register),
            Some(Op::ConstF32(n)) => self.masm.float_constant(register, u64::from(n.to_bits())),
            Some(Op::ConstF64(n)) => self.masm.float_constant(register, n.to_bits()),
            _ => self.masm.float_constant(register, 0),
        }
    }

    pub(super) fn symbol_address(&mut self, symbol: Symbol, register: Reg) {
        let target = RelocTarget::Symbol(symbol);
        self.masm.address_of(register, target, target.is_near());
    }

    /// Copies a value to a register whose old value is lost: for the end of a block.
    fn move_to(&mut self, id: ValueId, register: Reg) {
        let value = self.value(id);
        if self.registers.place(value).register != Some(register) {
            self.load_value(value, register);
        }
    }

    pub(super) fn move_register(&mut self, to: Reg, from: Reg) {
        if to != from {
            self.masm.move_register(to, from);
        }
    }

    /// Stores a register to the slot at this offset from the frame pointer.
    fn store_slot(&mut self, register: Reg, slot: i32, ty: MachineType) {
        self.masm.store(MemoryAccess::Whole(ty), Address::new(M::FRAME, slot), register);
    }

    fn load_slot(&mut self, register: Reg, slot: i32, ty: MachineType) {
        self.masm.load(MemoryAccess::Whole(ty), register, Address::new(M::FRAME, slot));
    }

    pub(super) fn local_set(&mut self, local: LocalId, value: Value) {
        let slot = self.registers.local_slot(local.0 as usize);
        let register = self.use_register(value);
        self.store_slot(register, slot, self.machine_of(value));
        self.registers.release(value);
    }

    pub(super) fn local_get(&mut self, id: Value, local: LocalId) {
        let slot = self.registers.local_slot(local.0 as usize);
        let machine = self.machine_of(id);
        let register = self.fresh(machine.is_float());
        self.load_slot(register, slot, machine);
        self.define(id, register);
    }
}

pub(super) fn argument_register<M: MacroAssembler>(is_float: bool, number: usize) -> Reg {
    if is_float { M::FLOAT_ARGUMENTS[number] } else { M::ARGUMENTS[number] }
}
