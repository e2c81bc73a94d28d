//! Facts that hold at a point of the function: values that are not null, checks that passed, array lengths.
//!
//! Facts hold in the block that established them and in blocks whose single predecessor is that block. They are kept per IR
//! block and looked up through the chain of single predecessors. A fact may be recorded only where the main path (not a
//! cold arm) has established it.

use super::Lowering;
use super::state::BlockFacts;
use cranelift_codegen::ir::Value;
use saki_il::ir::BlockId;
use saki_types::Ty;

/// Predecessors that a look-up visits, at most: for long chains of blocks, compile time would be quadratic without a limit.
const MAX_CHAIN: usize = 24;

impl Lowering<'_, '_> {
    pub(super) fn begin_facts(&mut self, block: BlockId) {
        let index = block.0 as usize;
        if self.flow.predecessor_count[index] == 1 {
            self.facts[index].parent = self.flow.predecessor[index];
        }
    }

    fn find_fact<T>(&self, mut look: impl FnMut(&BlockFacts) -> Option<T>) -> Option<T> {
        let mut block = Some(self.current);
        for _ in 0..MAX_CHAIN {
            let facts = &self.facts[block?.0 as usize];
            if let Some(found) = look(facts) {
                return Some(found);
            }
            block = facts.parent;
        }
        None
    }

    fn facts_here(&mut self) -> &mut BlockFacts {
        &mut self.facts[self.current.0 as usize]
    }

    pub(super) fn is_not_null(&self, value: Value) -> bool {
        self.find_fact(|facts| facts.not_null.contains(&value).then_some(())).is_some()
    }

    pub(super) fn note_not_null(&mut self, value: Value) {
        self.facts_here().not_null.insert(value);
    }

    pub(super) fn is_in_bounds(&self, index: Value, length: Value) -> bool {
        self.find_fact(|facts| facts.in_bounds.contains(&(index, length)).then_some(())).is_some()
    }

    pub(super) fn note_in_bounds(&mut self, index: Value, length: Value) {
        self.facts_here().in_bounds.insert((index, length));
    }

    /// The length of an array, if it was loaded on every path to this point. Lengths never change.
    pub(super) fn known_length(&self, array: Value) -> Option<Value> {
        self.find_fact(|facts| facts.lengths.get(&array).copied())
    }

    pub(super) fn note_length(&mut self, array: Value, length: Value) {
        self.facts_here().lengths.insert(array, length);
    }

    pub(super) fn is_initialized(&self, ty: Ty) -> bool {
        self.find_fact(|facts| facts.initialized.contains(&ty).then_some(())).is_some()
    }

    pub(super) fn note_initialized(&mut self, ty: Ty) {
        self.facts_here().initialized.push(ty);
    }

    pub(super) fn defer_null_check(&mut self, value: saki_il::ir::ValueId) {
        self.facts_here().checked_by_access.push(value);
    }

    /// Whether the current access through `value` must do a null check that was left to it.
    pub(super) fn take_deferred_null_check(&mut self, value: saki_il::ir::ValueId) -> bool {
        let list = &mut self.facts_here().checked_by_access;
        match list.iter().position(|&v| v == value) {
            Some(index) => {
                list.swap_remove(index);
                true
            }
            None => false,
        }
    }
}
