//! Failed checks, calls in protected regions, and the landing pads of their exceptions.
//!
//! Outside regions a failed check is a trap, inside it calls a helper, whose exception lands. What a handler reads of
//! its function is in memory, since values and locals do not stay in registers between blocks. So a landing pad only
//! stores the exception in its clause's local, and, for a clause that goes on with the second pass, the exception and
//! the unwind token in slots. Landing changes the callee-saved registers, so a function with clauses keeps them in its
//! frame, though its other code does not use them.

use super::context::{Cold, Emitter};
use super::plan::Value;
pub(super) use crate::failure::Failure;
use crate::symbols::RelocTarget;
use saki_abi::stubs::trap;
use saki_abi::thread::THREAD_PENDING_EXCEPTION_OFFSET;
use saki_abi::{HelperId, StubId};
use saki_code::masm::{Label, MachineType, MacroAssembler, Reg, RegImm, Relation};
use saki_il::ir::Terminator;

/// What callees keep of a register.
fn kept_type(register: Reg) -> MachineType {
    if register.is_float() { MachineType::F64 } else { MachineType::I64 }
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    /// Whether handlers of this very function protect the code being emitted.
    pub(super) fn is_protected(&self) -> bool {
        self.region.is_some_and(|region| !self.plan.handlers[region.0 as usize].is_empty())
    }

    /// A call that may throw has been emitted last.
    pub(super) fn note_call(&mut self) {
        let plan = self.plan;
        let Some(region) = self.region.filter(|region| !plan.handlers[region.0 as usize].is_empty()) else { return };
        for &clause in &plan.handlers[region.0 as usize] {
            if self.landings.pads[clause as usize].is_none() {
                self.landings.pads[clause as usize] = Some(self.masm.label());
            }
        }
        self.landings.calls.push((self.masm.offset(), region));
    }

    /// The label of out-of-line code for a failed check.
    pub(super) fn failure(&mut self, failure: Failure) -> Label {
        let label = self.masm.label();
        let code =
            if self.is_protected() { Cold::Throw(label, failure.helper()) } else { Cold::Trap(label, failure.trap()) };
        self.later(code);
        label
    }

    /// Fails if the register is zero.
    pub(super) fn fail_if_zero(&mut self, ty: MachineType, register: Reg, failure: Failure) {
        let label = self.failure(failure);
        self.masm.jump_if(Relation::Equal, ty, register, RegImm::Imm(0), label, None);
    }

    /// Emits the landing pads that calls need.
    pub(super) fn landing_pads(&mut self) {
        self.registers.vacate_all();
        for (number, clause) in self.func.clauses.iter().enumerate() {
            let Some(landing) = self.landings.pads[number] else { continue };
            self.masm.bind(landing);
            let [exception, token] = M::EXCEPTION;
            if let Some([exception_slot, token_slot]) = self.landings.in_flight[number] {
                self.store_slot(exception, exception_slot, MachineType::I64);
                self.store_slot(token, token_slot, MachineType::I64);
            }
            let local = clause.exception_local.0 as usize;
            if self.plan.in_memory[local] {
                let slot = self.registers.local_slot(local);
                self.store_slot(exception, slot, MachineType::I64);
            }
            self.masm.jump(self.blocks[clause.handler.0 as usize]);
        }
    }

    /// At the function's entry: keeps the registers that its caller wants back, and which landing pads lose; makes the
    /// slots of clauses that some block resumes.
    pub(super) fn prepare_landings(&mut self) {
        if self.func.clauses.is_empty() {
            return;
        }
        for &register in M::CALLEE_SAVED {
            let slot = self.registers.new_slot();
            self.store_slot(register, slot, kept_type(register));
            self.landings.kept.push((register, slot));
        }
        for block in &self.func.blocks {
            let Terminator::ResumeUnwind { clause } = block.terminator else { continue };
            if self.landings.in_flight[clause as usize].is_none() {
                let slots = [self.registers.new_slot(), self.registers.new_slot()];
                for slot in slots {
                    self.masm.store_zero(saki_code::masm::Address::new(M::FRAME, slot));
                }
                self.landings.in_flight[clause as usize] = Some(slots);
            }
        }
    }

    /// Before a return: the registers that the caller wants back.
    pub(super) fn restore_kept(&mut self) {
        for index in 0..self.landings.kept.len() {
            let (register, slot) = self.landings.kept[index];
            self.load_slot(register, slot, kept_type(register));
        }
    }

    /// Returns.
    pub(super) fn leave(&mut self) {
        self.restore_kept();
        let argument_bytes = self.incoming_bytes + self.plan.lowered_bytes;
        if argument_bytes > u32::from(u16::MAX) {
            // More than a return can give back.
            self.masm.raise_frame(argument_bytes);
            self.masm.ret(0);
        } else {
            self.masm.ret(argument_bytes);
        }
    }

    /// Goes on with the second pass that entered the clause's handler.
    pub(super) fn resume_unwind(&mut self, clause: u32) -> Option<()> {
        let [exception_slot, token_slot] = self.landings.in_flight[clause as usize]?;
        self.load_slot(M::ARGUMENTS[0], exception_slot, MachineType::I64);
        self.load_slot(M::ARGUMENTS[1], token_slot, MachineType::I64);
        self.masm.call(RelocTarget::Stub(StubId::ResumeUnwind));
        self.note_call();
        self.trap_here(trap::UNREACHABLE);
        Some(())
    }

    /// Throws by a helper that takes the exception.
    pub(super) fn throw(&mut self, helper: HelperId, exception: Value) {
        if self.registers.place(exception).register != Some(M::ARGUMENTS[0]) {
            self.load_value(exception, M::ARGUMENTS[0]);
        }
        self.masm.call(RelocTarget::Symbol(saki_il::ir::Symbol::Helper(helper)));
        self.note_call();
        self.trap_here(trap::UNREACHABLE);
    }

    /// Calls the safepoint stub, which keeps all registers, and throws the exception that it leaves pending, if any.
    pub(super) fn poll_slow(&mut self, stub: StubId, next: Label) {
        self.masm.call(RelocTarget::Stub(stub));
        self.throw_if_pending(next);
    }

    /// Goes on at `next` if no exception is pending, else throws it.
    pub(super) fn throw_if_pending(&mut self, next: Label) {
        self.masm.jump_if_word(MachineType::I64, Self::thread_word(THREAD_PENDING_EXCEPTION_OFFSET), true, next);
        self.throw_pending();
    }

    pub(super) fn throw_pending(&mut self) {
        self.masm.call(RelocTarget::Stub(StubId::ThrowPending));
        self.note_call();
        self.trap_here(trap::UNREACHABLE);
    }
}
