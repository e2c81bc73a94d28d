//! Facts that hold at a point of the function: values that are not null, checks that passed, array lengths.
//!
//! Facts hold in the block that established them and in blocks whose single predecessor is that block. They are kept
//! per IR block and looked up through the chain of single predecessors. A fact may be recorded only where the main path
//! (not a cold arm) has established it.

use crate::cfg::ControlFlow;
use cranelift_codegen::ir::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use saki_il::ir::{BlockId, ValueId};
use saki_types::Ty;

/// Predecessors that a look-up visits, at most: for long chains of blocks, compile time would be quadratic without a
/// limit.
const MAX_CHAIN: usize = 24;

/// Facts that hold in a block, beside those of its parent.
#[derive(Default)]
struct BlockFacts {
    /// The single predecessor.
    parent: Option<BlockId>,
    not_null: FxHashSet<Value>,
    in_bounds: FxHashSet<(Value, Value)>,
    lengths: FxHashMap<Value, Value>,
    initialized: Vec<Ty>,
    /// IR values whose null check has been left to the next access through them.
    checked_by_access: Vec<ValueId>,
}

/// See the module header.
pub(crate) struct Facts {
    /// By IR block.
    blocks: Vec<BlockFacts>,
    current: BlockId,
}

impl Facts {
    pub(crate) fn new(block_count: usize) -> Facts {
        let mut blocks = Vec::new();
        blocks.resize_with(block_count, BlockFacts::default);
        Facts { blocks, current: BlockId(0) }
    }

    /// From here on, facts are those of `block`.
    pub(crate) fn begin(&mut self, block: BlockId, flow: &ControlFlow) {
        let index = block.0 as usize;
        self.current = block;
        if flow.predecessor_count[index] == 1 {
            self.blocks[index].parent = flow.predecessor[index];
        }
    }

    fn find<T>(&self, mut look: impl FnMut(&BlockFacts) -> Option<T>) -> Option<T> {
        let mut block = Some(self.current);
        for _ in 0..MAX_CHAIN {
            let facts = &self.blocks[block?.0 as usize];
            if let Some(found) = look(facts) {
                return Some(found);
            }
            block = facts.parent;
        }
        None
    }

    fn here(&mut self) -> &mut BlockFacts {
        &mut self.blocks[self.current.0 as usize]
    }

    pub(crate) fn is_not_null(&self, value: Value) -> bool {
        self.find(|facts| facts.not_null.contains(&value).then_some(())).is_some()
    }

    pub(crate) fn note_not_null(&mut self, value: Value) {
        self.here().not_null.insert(value);
    }

    pub(crate) fn is_in_bounds(&self, index: Value, length: Value) -> bool {
        self.find(|facts| facts.in_bounds.contains(&(index, length)).then_some(())).is_some()
    }

    pub(crate) fn note_in_bounds(&mut self, index: Value, length: Value) {
        self.here().in_bounds.insert((index, length));
    }

    /// The length of an array, if it was loaded on every path to this point. Lengths never change.
    pub(crate) fn known_length(&self, array: Value) -> Option<Value> {
        self.find(|facts| facts.lengths.get(&array).copied())
    }

    pub(crate) fn note_length(&mut self, array: Value, length: Value) {
        self.here().lengths.insert(array, length);
    }

    pub(crate) fn is_initialized(&self, ty: Ty) -> bool {
        self.find(|facts| facts.initialized.contains(&ty).then_some(())).is_some()
    }

    pub(crate) fn note_initialized(&mut self, ty: Ty) {
        self.here().initialized.push(ty);
    }

    pub(crate) fn defer_null_check(&mut self, value: ValueId) {
        self.here().checked_by_access.push(value);
    }

    /// Whether the current access through `value` must do a null check that was left to it.
    pub(crate) fn take_deferred_null_check(&mut self, value: ValueId) -> bool {
        let list = &mut self.here().checked_by_access;
        match list.iter().position(|&v| v == value) {
            Some(index) => {
                list.swap_remove(index);
                true
            }
            None => false,
        }
    }
}
