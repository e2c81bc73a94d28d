//! Calls that may throw, checks, landing pads, and the second pass of finally and fault handlers.
//!
//! Inside a try region every call is a `try_call` whose tags are clause indices, innermost first, and a failed check
//! branches to a cold block that calls a throwing helper; outside regions a failed check is a trap, which the signal
//! handler turns into the exception.
//!
//! `ResumeUnwind` hands back the exception and the unwind token that entered its clause: the landing pad keeps both in a
//! pair of variables of the clause.

use super::calls::Callee;
use super::state::{PendingLanding, PendingThrow};
use super::{Lowered, Lowering};
use crate::error::CompileError;
use crate::symbols::RelocTarget;
use cranelift_codegen::ir::{
    AbiParam, Block as ClifBlock, BlockArg, ExceptionTableData, ExceptionTableItem, ExceptionTag, InstBuilder,
    Signature, SourceLoc, TrapCode, Value, types,
};
use cranelift_codegen::isa::CallConv;
use saki_abi::stubs::trap;
use saki_abi::{HelperId, StubId};
use saki_il::ir::{Terminator, ValueId};

/// The exception that a failed check throws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    NullReference,
    IndexOutOfRange,
    DivideByZero,
    Overflow,
}

impl Failure {
    fn helper(self) -> HelperId {
        match self {
            Failure::NullReference => HelperId::ThrowNullReference,
            Failure::IndexOutOfRange => HelperId::ThrowIndexOutOfRange,
            Failure::DivideByZero => HelperId::ThrowDivideByZero,
            Failure::Overflow => HelperId::ThrowOverflow,
        }
    }

    pub(super) fn trap_code(self) -> TrapCode {
        TrapCode::unwrap_user(match self {
            Failure::NullReference => trap::NULL_REFERENCE,
            Failure::IndexOutOfRange => trap::INDEX_OUT_OF_RANGE,
            Failure::DivideByZero => trap::DIVIDE_BY_ZERO,
            Failure::Overflow => trap::OVERFLOW,
        })
    }
}

impl Lowering<'_, '_> {
    /// Whether a trap here would have to land in a handler of this very function.
    pub(super) fn is_protected(&self) -> bool {
        !self.flow.handlers_of(self.region).is_empty()
    }

    /// Throws when `bad` is non-zero.
    pub(super) fn check(&mut self, bad: Value, failure: Failure) {
        if !self.is_protected() {
            self.b.ins().trapnz(bad, failure.trap_code());
            return;
        }
        let throw = self.throw_block(failure.helper());
        let next = self.new_block(false);
        self.branch(bad, throw, next);
        self.continue_in(next);
    }

    /// Throws when `good` is zero.
    pub(super) fn check_non_zero(&mut self, good: Value, failure: Failure) {
        if !self.is_protected() {
            self.b.ins().trapz(good, failure.trap_code());
            return;
        }
        let throw = self.throw_block(failure.helper());
        let next = self.new_block(false);
        self.branch(good, next, throw);
        self.continue_in(next);
    }

    fn throw_block(&mut self, helper: HelperId) -> ClifBlock {
        let pending = PendingThrow { region: self.region, helper, il_offset: self.il_offset };
        if let Some(&block) = self.throw_blocks.get(&pending) {
            return block;
        }
        let block = self.new_block(true);
        self.throw_blocks.insert(pending, block);
        self.pending_throws.push((pending, block));
        block
    }

    pub(super) fn emit_pending_throws(&mut self) -> Lowered {
        for (pending, block) in std::mem::take(&mut self.pending_throws) {
            self.continue_in(block);
            self.region = pending.region;
            self.set_il_offset(pending.il_offset);
            self.call_helper_noreturn(pending.helper, &[]);
        }
        Ok(())
    }

    /// A call that may throw.
    pub(super) fn call(&mut self, callee: Callee, args: &[Value]) -> Option<Value> {
        let kept = self.keep_locals(true);
        let result = self.call_landing(callee, args, kept.is_some());
        if let Some(kept) = kept {
            self.restore_kept(&kept);
        }
        result
    }

    /// A call that always throws; ends the block.
    fn call_noreturn(&mut self, callee: Callee, args: &[Value]) {
        let kept = self.keep_locals(false);
        self.call_landing(callee, args, kept.is_some());
        self.unreachable();
    }

    /// `from_homes`: the locals that handlers need are in their homes.
    fn call_landing(&mut self, callee: Callee, args: &[Value], from_homes: bool) -> Option<Value> {
        if !self.is_protected() {
            return self.call_unprotected(callee, args);
        }
        let handlers = self.flow.handlers_of(self.region);
        let signature = match callee {
            Callee::Function(function) => self.b.func.dfg.ext_funcs[function].signature,
            Callee::Address(signature, _) => signature,
        };
        let results: Vec<_> =
            self.b.func.dfg.signatures[signature].returns.iter().map(|param| param.value_type).collect();
        let is_cold = self.b.current_block().is_some_and(|block| self.b.func.layout.is_cold(block));
        let next = self.new_block(is_cold);
        for &ty in &results {
            self.b.append_block_param(next, ty);
        }
        let normal_args: Vec<BlockArg> = (0..results.len() as u32).map(BlockArg::TryCallRet).collect();
        let normal = self.b.func.dfg.block_call(next, &normal_args);
        let mut items = Vec::with_capacity(handlers.len());
        for &clause in handlers {
            let landing = self.landing_pad(clause, from_homes);
            let landing = self.b.func.dfg.block_call(landing, &[BlockArg::TryCallExn(0), BlockArg::TryCallExn(1)]);
            items.push(ExceptionTableItem::Tag(ExceptionTag::with_number(clause).expect("clause index fits"), landing));
        }
        let table = self.b.func.dfg.exception_tables.push(ExceptionTableData::new(signature, normal, items));
        match callee {
            Callee::Function(function) => self.b.ins().try_call(function, args, table),
            Callee::Address(_, code) => self.b.ins().try_call_indirect(code, args, table),
        };
        self.continue_in(next);
        self.b.block_params(next).first().copied()
    }

    /// A call that cannot throw, or outside every region.
    pub(super) fn call_unprotected(&mut self, callee: Callee, args: &[Value]) -> Option<Value> {
        let inst = match callee {
            Callee::Function(function) => self.b.ins().call(function, args),
            Callee::Address(signature, code) => self.b.ins().call_indirect(signature, code, args),
        };
        self.b.inst_results(inst).first().copied()
    }

    /// Calls a helper that always throws; ends the block.
    pub(super) fn call_helper_noreturn(&mut self, helper: HelperId, args: &[Value]) {
        let callee = self.helper_callee(helper);
        self.call_noreturn(callee, args);
    }

    fn stub_function(&mut self, stub: StubId, params: usize, convention: CallConv) -> Callee {
        let mut signature = Signature::new(convention);
        signature.params.extend(std::iter::repeat_n(AbiParam::new(types::I64), params));
        Callee::Function(self.function(RelocTarget::Stub(stub), signature))
    }

    /// Calls a stub that keeps all registers.
    pub(super) fn call_preserving_stub(&mut self, stub: StubId) {
        let callee = self.stub_function(stub, 0, CallConv::PreserveAll);
        self.call_unprotected(callee, &[]);
    }

    /// `StubId::DemoteLine`.
    pub(super) fn call_demote_line(&mut self, address: Value) {
        let callee = self.stub_function(StubId::DemoteLine, 1, CallConv::PreserveAll);
        self.call_unprotected(callee, &[address]);
    }

    /// In a cold block: throws the pending exception if there is one, else continues.
    pub(super) fn throw_if_pending(&mut self) {
        self.throw_if_pending_then(true);
    }

    /// As `throw_if_pending`; `is_cold`: whether the code after the check is cold.
    pub(super) fn throw_if_pending_then(&mut self, is_cold: bool) {
        let pending = self.thread_word(saki_abi::thread::THREAD_PENDING_EXCEPTION_OFFSET);
        let throw = self.new_block(true);
        let next = self.new_block(is_cold);
        self.branch(pending, throw, next);
        self.continue_in(throw);
        let callee = self.stub_function(StubId::ThrowPending, 0, CallConv::Tail);
        self.call_noreturn(callee, &[]);
        self.continue_in(next);
    }

    pub(super) fn null_check(&mut self, id: ValueId, rest: &[ValueId]) -> Lowered {
        let value = self.value(id)?;
        if self.is_not_null(value) {
            return Ok(());
        }
        if self.is_protected() {
            self.check_non_zero(value, Failure::NullReference);
        } else if self.next_access_checks(id, rest) {
            self.defer_null_check(id);
            return Ok(());
        } else {
            let flags = self.faulting(super::MemoryKind::Program);
            self.b.ins().load(types::I8, flags, value, 0);
        }
        self.note_not_null(value);
        Ok(())
    }

    /// Creates (or finds) a landing pad of a clause.
    fn landing_pad(&mut self, clause: u32, from_homes: bool) -> ClifBlock {
        let landings = self.landings[clause as usize];
        let known = if from_homes { landings.from_homes } else { landings.from_variables };
        if let Some(block) = known.expand() {
            return block;
        }
        let block = self.new_block(true);
        self.b.append_block_param(block, types::I64);
        self.b.append_block_param(block, types::I64);
        let landings = &mut self.landings[clause as usize];
        let place = if from_homes { &mut landings.from_homes } else { &mut landings.from_variables };
        *place = block.into();
        self.pending_landings.push(PendingLanding { clause, block, from_homes });
        block
    }

    /// Emits the landing pads, which set the exception local and jump to the handler. Their code cannot throw.
    pub(super) fn emit_pending_landings(&mut self) -> Lowered {
        let func = self.func;
        for PendingLanding { clause: clause_index, block, from_homes } in std::mem::take(&mut self.pending_landings) {
            let clause = &func.clauses[clause_index as usize];
            self.b.switch_to_block(block);
            self.b.set_srcloc(SourceLoc::default());
            let payload = [self.b.block_params(block)[0], self.b.block_params(block)[1]];
            if let Some(in_flight) = self.in_flight[clause_index as usize] {
                self.b.def_var(in_flight[0], payload[0]);
                self.b.def_var(in_flight[1], payload[1]);
            }
            if from_homes {
                self.restore_for_handler(clause_index);
            }
            self.local_set(clause.exception_local, payload[0])?;
            self.jump_to(clause.handler)?;
        }
        Ok(())
    }

    /// Makes the variables of the clauses that some block resumes.
    pub(super) fn declare_in_flight(&mut self) -> Lowered {
        self.in_flight.resize(self.func.clauses.len(), None);
        for block in &self.func.blocks {
            let Terminator::ResumeUnwind { clause } = block.terminator else { continue };
            match self.in_flight.get(clause as usize) {
                Some(None) => {}
                Some(Some(_)) => continue,
                None => return Err(CompileError::invalid_ir(format!("clause {clause} does not exist"))),
            }
            let pair = [self.b.declare_var(types::I64), self.b.declare_var(types::I64)];
            let zero = self.i64_const(0);
            self.b.def_var(pair[0], zero);
            self.b.def_var(pair[1], zero);
            self.in_flight[clause as usize] = Some(pair);
        }
        Ok(())
    }

    pub(super) fn resume_unwind(&mut self, clause: u32) -> Lowered {
        let Some(Some(in_flight)) = self.in_flight.get(clause as usize).copied() else {
            return Err(CompileError::invalid_ir(format!("clause {clause} does not exist")));
        };
        let args = in_flight.map(|variable| self.b.use_var(variable));
        let callee = self.stub_function(StubId::ResumeUnwind, 2, CallConv::Tail);
        self.call_noreturn(callee, &args);
        Ok(())
    }
}
