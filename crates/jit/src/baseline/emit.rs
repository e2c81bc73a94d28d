//! The second pass: blocks in order, values into registers, prologue and tables at the end.

use super::assembler::*;
use super::plan::{INTEGER_ARGUMENTS, Plan, Value};
use super::registers::Registers;
use super::{Buffers, Machine};
use crate::output::{CompiledBy, CompiledCode};
use crate::symbols::RelocTarget;
use saki_abi::stubs::trap;
use saki_abi::thread::THREAD_PENDING_EXCEPTION_OFFSET;
use saki_abi::{AddressUse, IlMapEntry, Reloc, RelocKind, StubId, TrapSite};
use saki_il::ir::{Function, LocalId, LocalKind, Op, Symbol, Terminator, ValueId};

/// `push rbp; mov rbp, rsp`.
const PROLOGUE: [u8; 4] = [0x55, 0x48, 0x89, 0xE5];
const ALIGNMENT_BYTES: u32 = 32;

/// Out-of-line code, emitted behind the blocks.
pub(super) enum Cold {
    /// `ud2` with this trap code.
    Trap(Label, u8),
    /// A safepoint's slow path, and the label at which it continues.
    Poll(Label, Label),
}

pub(super) struct Emitter<'a> {
    pub func: &'a Function,
    pub plan: &'a Plan,
    pub registers: &'a mut Registers,
    pub asm: &'a mut Assembler,
    pub code: CompiledCode,
    il_map: Vec<IlMapEntry>,
    traps: Vec<TrapSite>,
    pub stress_poll: bool,
    pub cold: Vec<(Cold, u32)>,
    blocks: Vec<Label>,
    pub il_offset: u32,
}

pub(super) fn emit(buffers: &mut Buffers, func: &Function, stress_poll: bool) -> Option<CompiledCode> {
    let Buffers { plan, registers, assembler, .. } = buffers;
    registers.reset(&plan.uses);
    assembler.clear();
    let blocks = func.blocks.iter().map(|_| assembler.label()).collect();
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
        asm: assembler,
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

impl Emitter<'_> {
    /// Defines the parameters in their registers, and stores those that must be in memory.
    fn entry(&mut self) {
        let (mut integers, mut floats) = (0, 0);
        let mut arriving = Vec::with_capacity(self.func.sig.params.len());
        for &param in &self.func.sig.params {
            let is_float = Machine::of(param).is_some_and(Machine::is_float);
            let counter = if is_float { &mut floats } else { &mut integers };
            arriving.push(argument_register(is_float, *counter));
            *counter += 1;
        }
        for (number, local) in self.func.locals.iter().enumerate() {
            let value = Plan::entry_value(self.func, LocalId(number as u32));
            if let LocalKind::Param(index) = local.kind {
                let register = arriving[index as usize];
                if self.plan.in_memory[number] {
                    let slot = self.registers.local_slot(number);
                    self.store_register(register, RBP, slot, Machine::of(local.ty).unwrap_or(Machine::Quad));
                }
                self.define(value, register);
            } else if self.plan.in_memory[number] {
                let slot = self.registers.local_slot(number);
                self.asm.constant(SCRATCH, 0);
                self.asm.rm(MOV_STORE_QUAD, SCRATCH, RBP, slot);
            }
        }
    }

    fn block(&mut self, number: usize) -> Option<()> {
        let block = &self.func.blocks[number];
        self.asm.bind(self.blocks[number]);
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
            let native_offset = self.asm.offset();
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
                    self.asm.jump(self.blocks[target.0 as usize]);
                }
            }
            Terminator::Brif { cond, then, otherwise } => {
                let (then_label, otherwise_label) = (self.blocks[then.0 as usize], self.blocks[otherwise.0 as usize]);
                self.branch(*cond, then_label, otherwise_label)?;
                if otherwise.0 as usize != number + 1 {
                    self.asm.jump(otherwise_label);
                }
            }
            Terminator::Ret(value) => {
                if let (Some(value), Some(machine)) = (value, self.func.sig.ret.and_then(Machine::of)) {
                    let result = if machine.is_float() { XMM0 } else { RAX };
                    self.move_to(*value, result);
                }
                self.asm.leave();
                self.asm.ret();
            }
            Terminator::TailCall { target, sig, args } => self.tail_call(target, sig, args)?,
            Terminator::Throw(value) => {
                self.move_to(*value, RDI);
                self.call_near(RelocTarget::Symbol(Symbol::Helper(saki_abi::HelperId::Throw)));
                self.trap_here(trap::UNREACHABLE);
            }
            Terminator::Unreachable => self.trap_here(trap::UNREACHABLE),
            _ => return None,
        }
        Some(())
    }

    /// `ud2` at this place.
    fn trap_here(&mut self, code: u8) {
        self.traps.push(TrapSite { offset: self.asm.offset(), code });
        self.asm.undefined();
    }

    /// The label of the out-of-line trap with this code.
    pub(super) fn trap_label(&mut self, code: u8) -> Label {
        let label = self.asm.label();
        self.cold.push((Cold::Trap(label, code), self.il_offset));
        label
    }

    fn cold_code(&mut self) {
        for (cold, il_offset) in std::mem::take(&mut self.cold) {
            self.position(il_offset);
            match cold {
                Cold::Trap(label, code) => {
                    self.asm.bind(label);
                    self.trap_here(code);
                }
                Cold::Poll(label, next) => {
                    self.asm.bind(label);
                    self.poll_slow(next);
                }
            }
        }
    }

    /// Calls the safepoint stub, which keeps all registers, and throws the exception that it leaves pending, if any.
    pub(super) fn poll_slow(&mut self, next: Label) {
        self.call_near(RelocTarget::Stub(StubId::Poll));
        self.asm.cmp_memory(8, R15, THREAD_PENDING_EXCEPTION_OFFSET, 0);
        self.asm.jump_if(Condition::Equal, next);
        self.call_near(RelocTarget::Stub(StubId::ThrowPending));
        self.trap_here(trap::UNREACHABLE);
    }

    /// `call` of a target in the code region.
    pub(super) fn call_near(&mut self, target: RelocTarget) {
        let offset = self.asm.call();
        self.called(offset, target);
    }

    /// The call or jump with its field at `offset` goes to `target`.
    pub(super) fn called(&mut self, offset: u32, target: RelocTarget) {
        let (kind, usage) = (RelocKind::X86PcRelative4, AddressUse::Called);
        self.code.relocs.push(Reloc { offset, kind, usage, target, addend: -4 });
    }

    /// Puts the prologue in front, whose length is known only now, and moves all offsets.
    fn finish(self) -> Option<CompiledCode> {
        self.asm.resolve_jumps()?;
        let frame_size_bytes = self.registers.frame_size_bytes();
        let mut bytes = Vec::with_capacity(self.asm.bytes.len() + 11);
        bytes.extend_from_slice(&PROLOGUE);
        if frame_size_bytes > 0 {
            // sub rsp, imm32
            bytes.extend_from_slice(&[0x48, 0x81, 0xEC]);
            bytes.extend_from_slice(&frame_size_bytes.to_le_bytes());
        }
        let shift = bytes.len() as u32;
        bytes.extend_from_slice(&self.asm.bytes);
        let mut code = self.code;
        code.bytes = bytes;
        code.relocs.iter_mut().for_each(|reloc| reloc.offset += shift);
        code.tables.frame_size_bytes = frame_size_bytes;
        code.tables.traps = self.traps.into();
        code.tables.traps.iter_mut().for_each(|trap| trap.offset += shift);
        code.tables.il_map = self.il_map.into();
        code.tables.il_map.iter_mut().for_each(|entry| entry.native_offset += shift);
        Some(code)
    }

    // Values.

    pub(super) fn value(&self, id: ValueId) -> Value {
        self.plan.same[id.0 as usize]
    }

    pub(super) fn machine_of(&self, value: Value) -> Machine {
        let instructions = self.func.insts.len();
        let ty = match self.func.insts.get(value as usize) {
            Some(inst) => inst.ty,
            None => self.func.locals[value as usize - instructions].ty,
        };
        // The plan admits scalars only.
        Machine::of(ty).unwrap_or(Machine::Quad)
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
    pub(super) fn fresh(&mut self, sse: bool) -> Reg {
        let (register, victim) = self.registers.candidate(sse);
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
            self.store_register(register, RBP, slot, self.machine_of(value));
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
            self.load_register(register, RBP, slot, self.machine_of(value));
        } else {
            self.make_constant(value, register);
        }
    }

    fn make_constant(&mut self, value: Value, register: Reg) {
        if let Some(n) = self.constant(value) {
            self.asm.constant(register, n);
            return;
        }
        match self.func.insts.get(value as usize).map(|inst| &inst.op) {
            Some(Op::SymbolAddr(symbol)) => self.symbol_address(*symbol, register),
            Some(Op::ConstF32(n)) => self.float_constant(register, i64::from(n.to_bits())),
            Some(Op::ConstF64(n)) => self.float_constant(register, n.to_bits() as i64),
            _ => self.asm.rr(XORPS, register, register),
        }
    }

    fn float_constant(&mut self, register: Reg, bits: i64) {
        if bits == 0 {
            self.asm.rr(XORPS, register, register);
        } else {
            self.asm.constant(SCRATCH, bits);
            self.asm.rr(MOVQ_TO_SSE, register, SCRATCH);
        }
    }

    pub(super) fn symbol_address(&mut self, symbol: Symbol, register: Reg) {
        let target = RelocTarget::Symbol(symbol);
        let (offset, kind, addend) = if target.is_near() {
            (self.asm.rip_relative(LEA_QUAD, register), RelocKind::X86PcRelative4, -4)
        } else {
            (self.asm.wide_constant(register), RelocKind::Absolute8, 0)
        };
        let usage = AddressUse::AddressTaken;
        self.code.relocs.push(Reloc { offset, kind, usage, target, addend });
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
            self.asm.rr(if to.is_sse() { MOVAPS } else { MOV_LOAD_QUAD }, to, from);
        }
    }

    pub(super) fn store_register(&mut self, register: Reg, base: Reg, offset: i32, machine: Machine) {
        let opcode = match machine {
            Machine::Long => MOV_STORE_LONG,
            Machine::Quad => MOV_STORE_QUAD,
            Machine::Single => MOVSS_STORE,
            Machine::Double => MOVSD_STORE,
        };
        self.asm.rm(opcode, register, base, offset);
    }

    pub(super) fn load_register(&mut self, register: Reg, base: Reg, offset: i32, machine: Machine) {
        let opcode = match machine {
            Machine::Long => MOV_LOAD_LONG,
            Machine::Quad => MOV_LOAD_QUAD,
            Machine::Single => MOVSS_LOAD,
            Machine::Double => MOVSD_LOAD,
        };
        self.asm.rm(opcode, register, base, offset);
    }

    pub(super) fn local_set(&mut self, local: LocalId, value: Value) {
        let slot = self.registers.local_slot(local.0 as usize);
        let register = self.use_register(value);
        self.store_register(register, RBP, slot, self.machine_of(value));
        self.registers.release(value);
    }

    pub(super) fn local_get(&mut self, id: Value, local: LocalId) {
        let slot = self.registers.local_slot(local.0 as usize);
        let machine = self.machine_of(id);
        let register = self.fresh(machine.is_float());
        self.load_register(register, RBP, slot, machine);
        self.define(id, register);
    }
}

pub(super) fn argument_register(is_float: bool, number: usize) -> Reg {
    const INTEGERS: [Reg; INTEGER_ARGUMENTS] = [RDI, RSI, RDX, RCX, R8, R9];
    if is_float { Reg(XMM0.0 + number as u8) } else { INTEGERS[number] }
}
