//! Throwing blocks, landing pads, and what they keep for the second pass of finally and fault handlers.
//!
//! Inside a try region every call is a `try_call` whose tags are clause indices, innermost first, and a failed check
//! branches to a cold block that calls a throwing helper; outside regions a failed check is a trap, which the signal
//! handler turns into the exception.
//!
//! `ResumeUnwind` hands back the exception and the unwind token that entered its clause: the landing pad keeps both in
//! a pair of variables of the clause.

use super::super::clif_builder::{Callee, ClifBuilder};
use crate::error::{CompileError, Lowered};
use cranelift_codegen::entity::packed_option::PackedOption;
use cranelift_codegen::ir::{
    Block as ClifBlock, BlockArg, ExceptionTableData, ExceptionTableItem, ExceptionTag, InstBuilder, Value, types,
};
use cranelift_frontend::Variable;
use rustc_hash::FxHashMap;
use saki_abi::HelperId;
use saki_il::ir::{Function, RegionId, Terminator};

/// A throwing cold block: shared by checks of one kind at one IL offset in one region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PendingThrow {
    pub(crate) region: Option<RegionId>,
    pub(crate) helper: HelperId,
    pub(crate) il_offset: u32,
}

/// The landing pads of a clause: for calls whose locals are in variables, and for calls that left them in their homes.
#[derive(Clone, Copy, Default)]
struct Landings {
    from_variables: PackedOption<ClifBlock>,
    from_homes: PackedOption<ClifBlock>,
}

/// A landing pad to be written.
#[derive(Clone, Copy)]
pub(crate) struct PendingLanding {
    pub(crate) clause: u32,
    pub(crate) block: ClifBlock,
    pub(crate) from_homes: bool,
}

/// Exception and unwind token that entered a finally or fault handler.
pub(crate) type InFlight = [Variable; 2];

/// See the module header.
pub(crate) struct Exceptions {
    /// By clause.
    landings: Vec<Landings>,
    pending_landings: Vec<PendingLanding>,
    throw_blocks: FxHashMap<PendingThrow, ClifBlock>,
    pending_throws: Vec<(PendingThrow, ClifBlock)>,
    /// By clause.
    in_flight: Vec<Option<InFlight>>,
}

impl Exceptions {
    pub(crate) fn new(clause_count: usize) -> Exceptions {
        Exceptions {
            landings: vec![Landings::default(); clause_count],
            pending_landings: Vec::new(),
            throw_blocks: FxHashMap::default(),
            pending_throws: Vec::new(),
            in_flight: vec![None; clause_count],
        }
    }

    /// The block that throws by `helper`, for code in `region` that is being written.
    pub(crate) fn throw_block(
        &mut self,
        clif: &mut ClifBuilder<'_, '_>,
        region: Option<RegionId>,
        helper: HelperId,
    ) -> ClifBlock {
        let pending = PendingThrow { region, helper, il_offset: clif.il_offset() };
        if let Some(&block) = self.throw_blocks.get(&pending) {
            return block;
        }
        let block = clif.new_block(true);
        self.throw_blocks.insert(pending, block);
        self.pending_throws.push((pending, block));
        block
    }

    /// The throwing blocks that are still to be written.
    pub(crate) fn take_throws(&mut self) -> Vec<(PendingThrow, ClifBlock)> {
        std::mem::take(&mut self.pending_throws)
    }

    /// The landing pads that are still to be written.
    pub(crate) fn take_landings(&mut self) -> Vec<PendingLanding> {
        std::mem::take(&mut self.pending_landings)
    }

    /// A call whose exceptions land here, in one of the clauses `handlers`. `from_homes`: the locals that handlers need
    /// are in their homes.
    pub(crate) fn call(
        &mut self,
        clif: &mut ClifBuilder<'_, '_>,
        handlers: &[u32],
        callee: Callee,
        args: &[Value],
        from_homes: bool,
    ) -> Option<Value> {
        if handlers.is_empty() {
            return clif.call_unprotected(callee, args);
        }
        let callee = clif.keeping_registers(callee);
        let signature = match callee {
            Callee::Function(function) => clif.b.func.dfg.ext_funcs[function].signature,
            Callee::Address(signature, _) => signature,
        };
        let results: Vec<_> =
            clif.b.func.dfg.signatures[signature].returns.iter().map(|param| param.value_type).collect();
        let is_cold = clif.b.current_block().is_some_and(|block| clif.b.func.layout.is_cold(block));
        let next = clif.new_block(is_cold);
        for &ty in &results {
            clif.b.append_block_param(next, ty);
        }
        let normal_args: Vec<BlockArg> = (0..results.len() as u32).map(BlockArg::TryCallRet).collect();
        let normal = clif.b.func.dfg.block_call(next, &normal_args);
        let mut items = Vec::with_capacity(handlers.len());
        for &clause in handlers {
            let landing = self.landing_pad(clif, clause, from_homes);
            let landing = clif.b.func.dfg.block_call(landing, &[BlockArg::TryCallExn(0), BlockArg::TryCallExn(1)]);
            items.push(ExceptionTableItem::Tag(ExceptionTag::with_number(clause).expect("clause index fits"), landing));
        }
        let table = clif.b.func.dfg.exception_tables.push(ExceptionTableData::new(signature, normal, items));
        match callee {
            Callee::Function(function) => clif.b.ins().try_call(function, args, table),
            Callee::Address(_, code) => clif.b.ins().try_call_indirect(code, args, table),
        };
        clif.continue_in(next);
        clif.b.block_params(next).first().copied()
    }

    /// Creates (or finds) a landing pad of a clause.
    fn landing_pad(&mut self, clif: &mut ClifBuilder<'_, '_>, clause: u32, from_homes: bool) -> ClifBlock {
        let landings = &mut self.landings[clause as usize];
        let pad = if from_homes { &mut landings.from_homes } else { &mut landings.from_variables };
        if let Some(block) = pad.expand() {
            return block;
        }
        let block = clif.new_block(true);
        clif.b.append_block_param(block, types::I64);
        clif.b.append_block_param(block, types::I64);
        *pad = block.into();
        self.pending_landings.push(PendingLanding { clause, block, from_homes });
        block
    }

    /// Makes the variables of the clauses that some block resumes.
    pub(crate) fn declare_in_flight(&mut self, clif: &mut ClifBuilder<'_, '_>, func: &Function) -> Lowered {
        for block in &func.blocks {
            let Terminator::ResumeUnwind { clause } = block.terminator else { continue };
            match self.in_flight.get(clause as usize) {
                Some(None) => {}
                Some(Some(_)) => continue,
                None => return Err(CompileError::invalid_ir(format!("clause {clause} does not exist"))),
            }
            let pair = [clif.b.declare_var(types::I64), clif.b.declare_var(types::I64)];
            let zero = clif.i64_const(0);
            clif.b.def_var(pair[0], zero);
            clif.b.def_var(pair[1], zero);
            self.in_flight[clause as usize] = Some(pair);
        }
        Ok(())
    }

    /// The variables of a clause that some block resumes.
    pub(crate) fn in_flight(&self, clause: u32) -> Option<InFlight> {
        self.in_flight.get(clause as usize).copied().flatten()
    }
}
