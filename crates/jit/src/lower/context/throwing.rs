//! Calls and checks that may throw: [`super::exceptions`] with the locals kept in [`super::homes`] around the call.

use super::super::clif_builder::Callee;
use super::super::failure::Failure;
use super::Lowering;
use super::exceptions::PendingLanding;
use crate::error::{CompileError, Lowered};
use cranelift_codegen::ir::{InstBuilder, SourceLoc, Value};
use cranelift_codegen::isa::CallConv;
use saki_abi::{HelperId, StubId};

impl Lowering<'_, '_> {
    /// Whether a trap here would have to land in a handler of this very function.
    pub(crate) fn is_protected(&self) -> bool {
        !self.at.handlers().is_empty()
    }

    /// Throws when `bad` is non-zero.
    pub(crate) fn check(&mut self, bad: Value, failure: Failure) {
        if !self.is_protected() {
            self.b.ins().trapnz(bad, failure.trap_code());
            return;
        }
        let throw = self.exceptions.throw_block(&mut self.clif, self.at.region, failure.helper());
        let next = self.new_block(false);
        self.branch(bad, throw, next);
        self.continue_in(next);
    }

    /// Throws when `good` is zero.
    pub(crate) fn check_non_zero(&mut self, good: Value, failure: Failure) {
        if !self.is_protected() {
            self.b.ins().trapz(good, failure.trap_code());
            return;
        }
        let throw = self.exceptions.throw_block(&mut self.clif, self.at.region, failure.helper());
        let next = self.new_block(false);
        self.branch(good, next, throw);
        self.continue_in(next);
    }

    /// A call that may throw.
    pub(crate) fn call(&mut self, callee: Callee, args: &[Value]) -> Option<Value> {
        let kept = self.homes.keep(&mut self.clif, &self.locals, &self.at, true);
        let result = self.exceptions.call(&mut self.clif, self.at.handlers(), callee, args, kept.is_some());
        if let Some(kept) = kept {
            self.homes.restore_kept(&mut self.clif, &self.locals, &kept);
        }
        result
    }

    /// A call that always throws; ends the block.
    fn call_noreturn(&mut self, callee: Callee, args: &[Value]) {
        let kept = self.homes.keep(&mut self.clif, &self.locals, &self.at, false);
        self.exceptions.call(&mut self.clif, self.at.handlers(), callee, args, kept.is_some());
        self.unreachable();
    }

    /// Calls a helper's thunk, which may throw.
    pub(crate) fn call_helper(&mut self, helper: HelperId, args: &[Value]) -> Option<Value> {
        let callee = self.helper_callee(helper);
        self.call(callee, args)
    }

    /// Calls a helper that always throws; ends the block.
    pub(crate) fn call_helper_noreturn(&mut self, helper: HelperId, args: &[Value]) {
        let callee = self.helper_callee(helper);
        self.call_noreturn(callee, args);
    }

    /// In a cold block: throws the pending exception if there is one, else continues.
    pub(crate) fn throw_if_pending(&mut self) {
        self.throw_if_pending_then(true);
    }

    /// Throws the pending exception if there is one. `is_cold`: whether the code after the check is cold.
    pub(crate) fn throw_if_pending_then(&mut self, is_cold: bool) {
        let pending = self.thread_word(saki_abi::thread::THREAD_PENDING_EXCEPTION_OFFSET);
        let throw = self.new_block(true);
        let next = self.new_block(is_cold);
        self.branch(pending, throw, next);
        self.continue_in(throw);
        let callee = self.stub_function(StubId::ThrowPending, 0, CallConv::Tail);
        self.call_noreturn(callee, &[]);
        self.continue_in(next);
    }

    /// Writes the blocks of failed checks.
    pub(crate) fn emit_pending_throws(&mut self) {
        for (pending, block) in self.exceptions.take_throws() {
            self.continue_in(block);
            self.at.region = pending.region;
            self.set_il_offset(pending.il_offset);
            self.call_helper_noreturn(pending.helper, &[]);
        }
    }

    /// Writes the landing pads, which set the exception local and jump to the handler. Their code cannot throw.
    pub(crate) fn emit_pending_landings(&mut self) -> Lowered {
        let func = self.func();
        for PendingLanding { clause: clause_index, block, from_homes } in self.exceptions.take_landings() {
            let clause = &func.clauses[clause_index as usize];
            self.b.switch_to_block(block);
            self.b.set_srcloc(SourceLoc::default());
            let payload = [self.b.block_params(block)[0], self.b.block_params(block)[1]];
            if let Some(in_flight) = self.exceptions.in_flight(clause_index) {
                self.b.def_var(in_flight[0], payload[0]);
                self.b.def_var(in_flight[1], payload[1]);
            }
            if from_homes {
                self.homes.restore_for_handler(&mut self.clif, &self.locals, &self.at, clause_index);
            }
            self.local_set(clause.exception_local, payload[0])?;
            self.jump_to(clause.handler)?;
        }
        Ok(())
    }

    /// Before the body: makes the variables of the clauses that some block resumes.
    pub(crate) fn declare_in_flight(&mut self) -> Lowered {
        self.exceptions.declare_in_flight(&mut self.clif, self.at.func)
    }

    pub(crate) fn resume_unwind(&mut self, clause: u32) -> Lowered {
        let Some(in_flight) = self.exceptions.in_flight(clause) else {
            return Err(CompileError::invalid_ir(format!("clause {clause} does not exist")));
        };
        let args = in_flight.map(|variable| self.b.use_var(variable));
        let callee = self.stub_function(StubId::ResumeUnwind, 2, CallConv::Tail);
        self.call_noreturn(callee, &args);
        Ok(())
    }
}
