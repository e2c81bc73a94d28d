//! The Cranelift blocks of the IR's blocks, and how many of the edges into each have been written.

use crate::cfg::ControlFlow;
use crate::error::{CompileError, Lowered};
use cranelift_codegen::entity::packed_option::PackedOption;
use cranelift_codegen::ir::Block as ClifBlock;
use cranelift_frontend::FunctionBuilder;
use saki_il::ir::{BlockId, Function};

/// Both lists are indexed by IR block.
pub(crate) struct Blocks {
    clif: Vec<PackedOption<ClifBlock>>,
    incoming_edges: Vec<u32>,
}

impl Blocks {
    /// Makes a block for each block that can be reached.
    pub(crate) fn create(b: &mut FunctionBuilder<'_>, func: &Function, flow: &ControlFlow) -> Blocks {
        let mut clif = vec![PackedOption::default(); func.blocks.len()];
        for &block in &flow.order {
            let clif_block = b.create_block();
            clif[block.0 as usize] = clif_block.into();
            if func.blocks[block.0 as usize].cold {
                b.set_cold_block(clif_block);
            }
        }
        Blocks { clif, incoming_edges: vec![0; func.blocks.len()] }
    }

    pub(crate) fn get(&self, id: BlockId) -> Lowered<ClifBlock> {
        self.clif[id.0 as usize]
            .expand()
            .ok_or_else(|| CompileError::invalid_ir(format!("block {} is unreachable but named", id.0)))
    }

    /// The Cranelift block of `target`; counts the edge.
    pub(crate) fn edge(&mut self, target: BlockId) -> Lowered<ClifBlock> {
        self.incoming_edges[target.0 as usize] += 1;
        self.get(target)
    }

    /// Whether all edges into the block are written, so that it can be sealed.
    pub(crate) fn has_all_edges(&self, id: BlockId, flow: &ControlFlow) -> bool {
        self.incoming_edges[id.0 as usize] == flow.predecessor_count[id.0 as usize]
    }
}
