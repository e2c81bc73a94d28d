//! Counters of calls and of rounds of loops, and the way from a loop to code that continues it.
//!
//! The method's counter (`types::method::MethodRuntime::heat`) overflows after so many calls or rounds
//! (`CompilerOptions::calls_to_hot`, `rounds_to_hot`); then a stub that keeps all registers is called. At a loop it may
//! give the address of a continuation (`il::ir::Function::is_continuation`), which the frame calls, and whose result it
//! returns. When a loop begins another round, no value is in a register, so the variables are where the frame map says.

use super::context::{Cold, Emitter};
use super::plan::{Plan, Value};
use crate::symbols::RelocTarget;
use saki_abi::noted::{NOTED_CHANGES_OFFSET, NOTED_MISSES_OFFSET, NOTED_OTHER_OFFSET, NOTED_WORD_OFFSET};
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_abi::stubs::NO_LOOP;
use saki_abi::thread::{THREAD_STUB_ARG_OFFSET, THREAD_STUB_RESULT_OFFSET};
use saki_abi::{BLOCK_COUNT_BYTES, FrameMap, NO_SLOT, StubId};
use saki_code::masm::{Address, Label, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm, Relation};
use saki_il::ir::{Function, IrType, Symbol};
use saki_types::method::HEAT_OFFSET;

const WORD: MemoryAccess = MemoryAccess::Whole(MachineType::I64);

/// Whether each variable of the method has a place in the frame of which a continuation knows, and nothing else is
/// there that must outlive the loop.
pub(super) fn has_frame_map(func: &Function, plan: &Plan) -> bool {
    if plan.has_localloc || !func.filters.is_empty() || func.is_filter {
        return false;
    }
    let is_known = |ty: IrType| !matches!(ty, IrType::V128 | IrType::Block(_)) && ty.vector().is_none();
    !func.variables.is_empty() && func.variables.iter().all(|local| is_known(func.locals[local.0 as usize].ty))
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    /// Counts a call, or a round of the loop at this IL offset.
    pub(super) fn count(&mut self, round_of: Option<u32>) {
        let Some(method) = self.func.method else { return };
        self.code.is_counted = true;
        let times = if round_of.is_some() { self.options.rounds_to_hot } else { self.options.calls_to_hot };
        let amount = (1 << 31) / i64::from(times.max(2));
        let (slow, next) = (self.masm.label(), self.masm.label());
        self.symbol_address(Symbol::MethodHandle(method), M::SCRATCH);
        self.masm.count_up(Address::new(M::SCRATCH, HEAT_OFFSET), amount as i32, slow);
        self.later(Cold::Hot { slow, next, round_of: round_of.filter(|_| self.has_frame_map) });
        self.masm.bind(next);
    }

    /// The counter has overflowed.
    pub(super) fn hot(&mut self, round_of: Option<u32>, next: Label) {
        let Some(method) = self.func.method else { return };
        self.symbol_address(Symbol::MethodHandle(method), M::SCRATCH);
        self.masm.store(WORD, Self::thread_word(THREAD_STUB_ARG_OFFSET), M::SCRATCH);
        self.masm.constant(M::SCRATCH, i64::from(round_of.unwrap_or(NO_LOOP)));
        self.masm.store(WORD, Self::thread_word(THREAD_STUB_ARG_OFFSET + 8), M::SCRATCH);
        self.masm.call(RelocTarget::Stub(StubId::Hot));
        if round_of.is_none() {
            self.masm.jump(next);
            return;
        }
        self.masm.load(WORD, M::CALLEE, Self::thread_word(THREAD_STUB_RESULT_OFFSET));
        self.masm.jump_if(Relation::Equal, MachineType::I64, M::CALLEE, RegImm::Imm(0), next, None);
        let mut arguments = M::ARGUMENTS.iter();
        if let (Some(slot), Some(&register)) = (self.struct_result, self.struct_result.and_then(|_| arguments.next())) {
            self.load_slot(register, slot, MachineType::I64);
        }
        if let Some(&register) = arguments.next() {
            self.move_register(register, M::FRAME);
        }
        self.masm.call_register(M::CALLEE);
        self.continued.push(self.masm.offset());
        self.leave();
    }

    /// Counts a run of the block of this number among so many of the method.
    pub(super) fn count_block(&mut self, number: u32, count: u32) {
        let Some(method) = self.func.method else { return };
        self.symbol_address(Symbol::BlockCounts(method, count), M::SCRATCH);
        self.masm.add_one(Address::new(M::SCRATCH, (number * BLOCK_COUNT_BYTES) as i32));
    }

    /// Notes a word in a cell (`abi::Noted`).
    pub(super) fn note(&mut self, cell: Value, word: Value) {
        let cell_register = self.use_register(cell);
        let word_register = self.use_register(word);
        let noted = self.fresh(false);
        let next = self.masm.label();
        self.note_word(cell_register, word_register, noted, next);
        self.masm.bind(next);
        self.registers.release(cell);
        self.registers.release(word);
    }

    /// Notes the vtable of an object in a cell, unless the object is null.
    pub(super) fn note_class(&mut self, cell: Value, object: Value) {
        let cell_register = self.use_register(cell);
        let object_register = self.use_register(object);
        let (vtable, noted) = (self.fresh(false), self.fresh(false));
        let next = self.masm.label();
        self.masm.jump_if(Relation::Equal, MachineType::I64, object_register, RegImm::Imm(0), next, None);
        self.masm.load(WORD, vtable, Address::new(object_register, OBJECT_VTABLE_OFFSET));
        self.note_word(cell_register, vtable, noted, next);
        self.masm.bind(next);
        self.registers.release(cell);
        self.registers.release(object);
    }

    /// Takes no register, which may store another value: this code may be jumped over.
    fn note_word(&mut self, cell: Reg, word: Reg, noted: Reg, next: Label) {
        let slow = self.masm.label();
        self.masm.load(WORD, noted, Address::new(cell, NOTED_WORD_OFFSET));
        self.masm.jump_if(Relation::NotEqual, MachineType::I64, noted, RegImm::Reg(word), slow, None);
        self.later(Cold::Note { slow, next, cell, word, noted });
    }

    /// The word differs from the one in the cell, `noted`, which becomes the other one.
    pub(super) fn note_change(&mut self, cell: Reg, word: Reg, noted: Reg, next: Label) {
        self.masm.store(WORD, Address::new(cell, NOTED_WORD_OFFSET), word);
        self.masm.add_one(Address::new(cell, NOTED_CHANGES_OFFSET));
        self.masm.load(WORD, M::SCRATCH, Address::new(cell, NOTED_OTHER_OFFSET));
        self.masm.store(WORD, Address::new(cell, NOTED_OTHER_OFFSET), noted);
        self.masm.jump_if(Relation::Equal, MachineType::I64, M::SCRATCH, RegImm::Reg(word), next, None);
        self.masm.add_one(Address::new(cell, NOTED_MISSES_OFFSET));
        self.masm.jump(next);
    }

    /// Where the frame keeps the variables, if loops can be continued.
    pub(super) fn frame_map(&mut self, prologue_bytes: u32) -> Option<Box<FrameMap>> {
        if self.continued.is_empty() {
            return None;
        }
        let func = self.func;
        let slots = func.variables.iter().map(|&local| {
            let number = local.0 as usize;
            let is_kept = self.plan.in_memory[number] || matches!(func.locals[number].ty, IrType::Struct(_));
            if is_kept { self.registers.local_slot(number) } else { NO_SLOT }
        });
        let slots = slots.collect();
        let continued = self.continued.iter().map(|offset| offset + prologue_bytes).collect();
        Some(Box::new(FrameMap { slots, makes_pointers: func.makes_pointers, continued }))
    }
}
