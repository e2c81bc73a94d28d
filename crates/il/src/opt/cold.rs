//! What only cold blocks lead to is cold.
//!
//! The importer knows which of its blocks hardly ever run, but not each block that an instruction there is made of.
//! Left out: loops around cold blocks, whose head is entered from itself.

use super::flow::Predecessors;
use crate::ir::Function;

/// Runs the pass.
pub(super) fn run(function: &mut Function) {
    if !function.blocks.iter().any(|block| block.cold) {
        return;
    }
    let predecessors = Predecessors::of(function);
    for block in 1..function.blocks.len() {
        let from = predecessors.list(block);
        if !predecessors.is_entry(block) && !from.is_empty() && from.iter().all(|&from| function.blocks[from].cold) {
            function.blocks[block].cold = true;
        }
    }
}
