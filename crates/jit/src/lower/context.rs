//! What is known at the point of the function that is being translated, and what any instruction may need of it:
//! operands, locals, facts, calls and checks that may throw.
//!
//! Each part of the state is a struct with private fields in a file of its own, which names neither [`Lowering`] nor
//! the other parts, except that homes read where locals are stored. [`Lowering`] holds the parts, and its methods join
//! them.
//!
//! Invariant: of the IR's instructions nothing here knows more than constants.

mod blocks;
mod exceptions;
mod facts;
mod homes;
mod localloc;
mod locals;
mod null_checks;
mod position;
mod throwing;

use super::clif_builder::ClifBuilder;
use super::parent_frame::ParentFrame;
use crate::cfg::ControlFlow;
use crate::destination;
use crate::error::{CompileError, Lowered};
use blocks::Blocks;
use cranelift_codegen::entity::packed_option::PackedOption;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, StackSlot, Type, Value, types};
use exceptions::Exceptions;
use facts::Facts;
use homes::Homes;
use locals::Locals;
use position::Position;
use saki_il::ir::{BlockId, Function, Inst, IrType, LocalId, MemType, RegionId, ValueId};
use std::ops::{Deref, DerefMut};

/// Translation state of one function. Dereferences to the machine level, so that a family of instructions writes
/// `cx.branch(…)` and `cx.value_as(…)` alike.
pub(super) struct Lowering<'a, 'b> {
    clif: ClifBuilder<'a, 'b>,
    at: Position<'a>,
    /// Machine values by IR value.
    values: Vec<PackedOption<Value>>,
    blocks: Blocks,
    locals: Locals<'a>,
    homes: Homes,
    exceptions: Exceptions,
    pub(super) facts: Facts,
    /// Where the caller wants a struct result.
    pub(super) struct_result: Option<Value>,
    /// Non-zero at run time when a `localloc` has taken memory outside the frame, which returns must free.
    localloc_flag: Option<StackSlot>,
}

impl<'a, 'b> Deref for Lowering<'a, 'b> {
    type Target = ClifBuilder<'a, 'b>;

    fn deref(&self) -> &ClifBuilder<'a, 'b> {
        &self.clif
    }
}

impl DerefMut for Lowering<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.clif
    }
}

impl<'a, 'b> Lowering<'a, 'b> {
    /// Makes the blocks of the function. `parent`: of a filter, the frame of its method.
    pub(super) fn new(
        func: &'a Function,
        flow: &'a ControlFlow,
        mut clif: ClifBuilder<'a, 'b>,
        parent: Option<&'a ParentFrame>,
    ) -> Lowering<'a, 'b> {
        let blocks = Blocks::create(&mut clif.b, func, flow);
        clif.set_cold(func.blocks[0].cold);
        Lowering {
            clif,
            at: Position::new(func, flow),
            values: vec![PackedOption::default(); func.insts.len()],
            blocks,
            locals: Locals::new(func, parent),
            homes: Homes::default(),
            exceptions: Exceptions::new(func.clauses.len()),
            facts: Facts::new(func.blocks.len()),
            struct_result: None,
            localloc_flag: None,
        }
    }

    /// Seals the blocks. All blocks are written.
    pub(super) fn finish(self) {
        self.clif.finish();
    }

    pub(super) fn func(&self) -> &'a Function {
        self.at.func
    }

    pub(super) fn flow(&self) -> &'a ControlFlow {
        self.at.flow
    }

    /// The block that is being translated.
    pub(super) fn block(&self) -> BlockId {
        self.at.block
    }

    pub(super) fn region(&self) -> Option<RegionId> {
        self.at.region
    }

    /// Instructions of the block after the one that is being translated.
    pub(super) fn rest(&self) -> &'a [ValueId] {
        self.at.rest
    }

    pub(super) fn set_rest(&mut self, rest: &'a [ValueId]) {
        self.at.rest = rest;
    }

    /// Continues with block `id`.
    pub(super) fn begin_block(&mut self, id: BlockId) -> Lowered {
        let block = &self.at.func.blocks[id.0 as usize];
        let clif_block = self.blocks.get(id)?;
        self.clif.b.switch_to_block(clif_block);
        if self.blocks.has_all_edges(id, self.at.flow) {
            self.clif.b.seal_block(clif_block);
        }
        self.clif.set_cold(block.cold);
        self.at.block = id;
        self.at.region = block.region;
        self.facts.begin(id, self.at.flow);
        Ok(())
    }

    /// The Cranelift block of `target`, for a branch that is about to be written.
    pub(super) fn edge(&mut self, target: BlockId) -> Lowered<ClifBlock> {
        self.blocks.edge(target)
    }

    pub(super) fn jump_to(&mut self, target: BlockId) -> Lowered {
        let block = self.edge(target)?;
        self.clif.b.ins().jump(block, &[]);
        Ok(())
    }

    /// The instruction that defines an IR value.
    pub(super) fn inst(&self, id: ValueId) -> Option<&'a Inst> {
        self.at.func.insts.get(id.0 as usize)
    }

    pub(super) fn define(&mut self, id: ValueId, value: Value) {
        self.values[id.0 as usize] = value.into();
    }

    /// The Cranelift value of an IR value.
    pub(super) fn value(&self, id: ValueId) -> Lowered<Value> {
        self.values
            .get(id.0 as usize)
            .and_then(|value| value.expand())
            .ok_or_else(|| CompileError::invalid_ir(format!("value {} is used before its definition", id.0)))
    }

    /// IR value as machine type `ty`.
    pub(super) fn value_as(&mut self, id: ValueId, ty: Type) -> Lowered<Value> {
        let value = self.value(id)?;
        self.coerce(value, ty)
    }

    /// The value of an integer constant.
    pub(super) fn constant(&self, id: ValueId) -> Option<i64> {
        destination::constant(self.at.func, id)
    }

    /// The value of a vector operand, which is a value or an address.
    pub(super) fn vector_operand(&mut self, id: ValueId, mem: MemType) -> Lowered<Value> {
        if self.inst(id).is_some_and(|inst| inst.ty == IrType::V128) {
            return self.value(id);
        }
        let address = self.value_as(id, types::I64)?;
        Ok(self.clif.load_vector(address, mem))
    }

    /// Sets what the function was called with; then `declare_locals`.
    pub(super) fn set_entry_params(&mut self, params: Vec<Value>) {
        self.locals.entry_params = params;
    }

    pub(super) fn entry_param(&self, index: u32) -> Lowered<Value> {
        self.locals.entry_param(index)
    }

    pub(super) fn replace_entry_param(&mut self, index: usize, value: Value) {
        self.locals.entry_params[index] = value;
    }

    pub(super) fn declare_locals(&mut self) -> Lowered {
        self.locals.declare(&mut self.clif)
    }

    pub(super) fn local_get(&mut self, local: LocalId) -> Lowered<Value> {
        self.locals.get(&mut self.clif, local)
    }

    pub(super) fn local_set(&mut self, local: LocalId, value: Value) -> Lowered {
        self.locals.set(&mut self.clif, local, value)
    }

    pub(super) fn local_address(&mut self, local: LocalId) -> Lowered<Value> {
        self.locals.address(&mut self.clif, local)
    }

    /// Whether the local's memory is part of a frame of this method. (A struct parameter's may be anywhere.)
    pub(super) fn is_in_frame(&self, local: LocalId) -> bool {
        self.locals.is_in_frame(local)
    }
}
