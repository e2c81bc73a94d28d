//! What every part of the second pass needs: the code so far, and registers for values.

use super::arguments::Argument;
use super::branches::Branches;
use super::landings::Landings;
use super::parent_frame::ParentFrame;
use super::plan::{Plan, Value};
use super::registers::Registers;
use super::types::{machine_type, slot_bytes};
use crate::options::CompilerOptions;
use crate::output::CompiledCode;
use crate::symbols::RelocTarget;
use saki_abi::{HelperId, IlMapEntry, StubId, TrapSite};
use saki_code::masm::{Address, Label, MachineType, MacroAssembler, MemoryAccess, Reg};
use saki_il::ir::{Function, LocalId, LocalKind, Op, RegionId, Symbol, ValueId};
use saki_types::Ty;

/// Out-of-line code, emitted behind the blocks.
pub(super) enum Cold {
    /// A trap with this code.
    Trap(Label, u8),
    /// A call of a helper that throws.
    Throw(Label, HelperId),
    /// Throws the pending exception.
    Pending(Label),
    /// A safepoint's slow path, its stub, and the label at which it continues.
    Poll(Label, StubId, Label),
    /// Asks for the next tier; at the loop of this IL offset, goes on in other code if there is some.
    Hot { slow: Label, next: Label, round_of: Option<u32> },
    /// Notes a word that differs from the one in the cell.
    Note { slow: Label, next: Label, cell: Reg, word: Reg, noted: Reg },
    /// Initialises the class.
    ClassInit(Label, Label, Ty),
    /// Remembers the object, in which a reference was stored.
    Barrier { slow: Label, next: Label, object: Reg },
    /// Allocates an object of the vtable.
    Allocation { slow: Label, next: Label, vtable: Reg, object: Reg },
    /// Calls a helper, whose arguments are in their registers; no register holds a value.
    Helper { slow: Label, next: Label, helper: HelperId },
    /// Takes memory for a `localloc`; the arguments of the helper are in their registers, which hold no values.
    LocalMemory { outside: Label, done: Label },
    /// Moves struct parameters out of the buffer for tail calls.
    TailArguments { slow: Label, next: Label, from: Reg, word: Reg },
}

/// Out-of-line code, its IL position, and the region in which it runs.
pub(super) struct ColdCode {
    pub code: Cold,
    pub il_offset: u32,
    pub region: Option<RegionId>,
}

pub(super) struct Emitter<'a, M> {
    pub func: &'a Function,
    pub plan: &'a Plan,
    pub registers: &'a mut Registers,
    pub masm: Branches<'a, M>,
    pub options: &'a CompilerOptions,
    pub code: CompiledCode,
    pub il_map: Vec<IlMapEntry>,
    pub traps: Vec<TrapSite>,
    pub cold: Vec<ColdCode>,
    pub blocks: Vec<Label>,
    pub il_offset: u32,
    /// That of the block being emitted.
    pub block_number: usize,
    /// That of the code being emitted.
    pub region: Option<RegionId>,
    pub landings: Landings,
    /// Offset from the frame pointer of the address for a struct result.
    pub struct_result: Option<i32>,
    /// Bytes of this function's own arguments that are not in registers.
    pub incoming_bytes: u32,
    /// Whether other code finds all variables of the method in the frame.
    pub has_frame_map: bool,
    /// Offsets behind the calls of code that continues a loop.
    pub continued: Vec<u32>,
    /// Of a filter: the frame that its method's locals are in.
    pub parent: Option<&'a ParentFrame>,
    /// Of a filter: the slot with the frame pointer of its method.
    pub parent_slot: Option<i32>,
    /// The slot that tells whether a `localloc` has taken memory outside the frame.
    pub localloc_flag: Option<i32>,
    /// Arguments of the current call that are passed in registers: a buffer.
    pub moves: Vec<(Reg, Argument)>,
    /// A place for a vector in the frame that nothing keeps.
    pub vector_place: Option<i32>,
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
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

    pub(super) fn trap_here(&mut self, code: u8) {
        let offset = self.masm.trap();
        self.traps.push(TrapSite { offset, code });
    }

    /// Emits out-of-line code for the instruction at hand later.
    pub(super) fn later(&mut self, code: Cold) {
        self.cold.push(ColdCode { code, il_offset: self.il_offset, region: self.region });
    }

    /// A register for a result that is made while the first argument is still needed.
    pub(super) const RESULT_BESIDE_ARGUMENT: Reg =
        if M::RESULT.index() == M::ARGUMENTS[0].index() { M::CALLEE_VTABLE } else { M::RESULT };

    /// A word of the thread.
    pub(super) const fn thread_word(offset: i32) -> Address {
        Address::new(M::THREAD, offset)
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
    pub(super) fn is_constant(&self, value: Value) -> bool {
        match self.func.insts.get(value as usize).map(|inst| &inst.op) {
            Some(op) => matches!(
                op,
                Op::ConstI32(_)
                    | Op::ConstI64(_)
                    | Op::Null
                    | Op::ConstF32(_)
                    | Op::ConstF64(_)
                    | Op::ConstV128(_)
                    | Op::SymbolAddr(_)
            ),
            None => matches!(self.func.locals[value as usize - self.func.insts.len()].kind, LocalKind::Normal),
        }
    }

    /// An empty register, locked. Like all that takes registers or gives places to values, not behind a branch of the
    /// operation's own code (`branches`).
    pub(super) fn fresh(&mut self, is_float: bool) -> Reg {
        let (register, victim) = self.registers.candidate(is_float, &mut self.masm.changes);
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
            let ty = self.machine_of(value);
            let slot = self.registers.slot_of(value, slot_bytes(ty), &mut self.masm.changes);
            self.store_slot(register, slot, ty);
        }
    }

    /// Empties a certain register, and locks it.
    pub(super) fn claim(&mut self, register: Reg) {
        self.masm.changes.note();
        if self.registers.occupied_set().contains(register) {
            self.spill(self.registers.held_in(register));
            self.registers.vacate(register);
        }
        self.registers.lock(register);
    }

    /// Stores the values that are needed later, before a call, which changes all registers.
    pub(super) fn spill_all(&mut self) {
        self.masm.changes.note();
        // Storing values moves none.
        for register in self.registers.occupied_set().iter() {
            self.spill(self.registers.held_in(register));
        }
    }

    /// The value is in this register from now on.
    pub(super) fn define(&mut self, value: Value, register: Reg) {
        if self.registers.place(value).uses_left == 0 {
            return;
        }
        self.registers.put(value, register, &mut self.masm.changes);
        if self.plan.crosses[value as usize] {
            self.spill(value);
        }
    }

    /// A locked register that holds the value.
    pub(super) fn use_register(&mut self, value: Value) -> Reg {
        self.masm.changes.note();
        let register = match self.registers.place(value).register {
            Some(register) => register,
            None => {
                let register = self.fresh(self.machine_of(value).is_float());
                self.load_value(value, register);
                self.registers.put(value, register, &mut self.masm.changes);
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

    pub(super) fn make_constant(&mut self, value: Value, register: Reg) {
        if let Some(n) = self.constant(value) {
            self.masm.constant(register, n);
            return;
        }
        match self.func.insts.get(value as usize).map(|inst| &inst.op) {
            Some(Op::SymbolAddr(symbol)) => self.symbol_address(*symbol, register),
            Some(Op::ConstF32(n)) => self.masm.float_constant(register, u64::from(n.to_bits())),
            Some(Op::ConstF64(n)) => self.masm.float_constant(register, n.to_bits()),
            Some(Op::ConstV128(bytes)) => self.masm.vector_constant(register, *bytes),
            _ => self.masm.float_constant(register, 0),
        }
    }

    pub(super) fn symbol_address(&mut self, symbol: Symbol, register: Reg) {
        let target = RelocTarget::Symbol(symbol);
        self.masm.address_of(register, target, target.is_near());
    }

    /// A register with `value` that may be overwritten: the value's own if this is its last use, else a copy.
    pub(super) fn consume(&mut self, value: Value) -> Reg {
        let register = self.use_register(value);
        if self.registers.place(value).uses_left <= 1 {
            self.registers.release(value);
            self.registers.vacate(register);
            return register;
        }
        self.registers.release(value);
        let copy = self.fresh(register.is_float());
        self.move_register(copy, register);
        copy
    }

    /// Copies a value to a register whose old value is lost: for the end of a block.
    pub(super) fn move_to(&mut self, id: ValueId, register: Reg) {
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
    pub(super) fn store_slot(&mut self, register: Reg, slot: i32, ty: MachineType) {
        self.masm.store(MemoryAccess::Whole(ty), Address::new(M::FRAME, slot), register);
    }

    pub(super) fn load_slot(&mut self, register: Reg, slot: i32, ty: MachineType) {
        self.masm.load(MemoryAccess::Whole(ty), register, Address::new(M::FRAME, slot));
    }

    pub(super) fn local_set(&mut self, local: LocalId, value: Value) -> Option<()> {
        let register = self.use_register(value);
        let place = self.scalar_place(local)?;
        let ty = self.machine_of(value);
        self.masm.store(MemoryAccess::Whole(ty), place, register);
        self.registers.release(value);
        Some(())
    }

    pub(super) fn local_get(&mut self, id: Value, local: LocalId) -> Option<()> {
        let machine = self.machine_of(id);
        let register = self.fresh(machine.is_float());
        let place = self.scalar_place(local)?;
        self.masm.load(MemoryAccess::Whole(machine), register, place);
        self.define(id, register);
        Some(())
    }

    /// Where a scalar local in memory is. The address holds until the next operation.
    fn scalar_place(&mut self, local: LocalId) -> Option<Address> {
        let number = local.0 as usize;
        let ty = self.func.locals[number].ty;
        if let LocalKind::ParentSlot(parent) = self.func.locals[number].kind {
            return self.parent_place(parent);
        }
        Some(Address::new(M::FRAME, self.registers.local_area(number, slot_bytes(machine_type(ty)?))))
    }

    /// In a filter: where a local of the method is, by way of the scratch register; None if it is not in memory.
    pub(super) fn parent_place(&mut self, local: LocalId) -> Option<Address> {
        let (offset_bytes, is_indirect) = self.parent?.place(local)?;
        self.load_slot(M::SCRATCH, self.parent_slot?, MachineType::I64);
        let place = Address::new(M::SCRATCH, offset_bytes);
        if !is_indirect {
            return Some(place);
        }
        self.masm.load(MemoryAccess::Whole(MachineType::I64), M::SCRATCH, place);
        Some(Address::new(M::SCRATCH, 0))
    }
}
