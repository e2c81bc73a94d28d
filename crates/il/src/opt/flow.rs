//! Predecessors and natural loops of a function's blocks.

use crate::ir::dominators::Dominators;
use crate::ir::{Function, verify};

/// The predecessors of each block.
pub(super) struct Predecessors {
    of: Vec<Vec<usize>>,
    /// Blocks that are also entered by the unwinder or from outside the function.
    is_entry: Vec<bool>,
}

impl Predecessors {
    /// Those of the function's blocks.
    pub fn of(function: &Function) -> Predecessors {
        let mut of: Vec<Vec<usize>> = vec![Vec::new(); function.blocks.len()];
        for (index, block) in function.blocks.iter().enumerate() {
            verify::successors(&block.terminator, &mut |b| of[b.0 as usize].push(index));
        }
        let mut is_entry = vec![false; function.blocks.len()];
        is_entry[0] = true;
        for clause in &function.clauses {
            is_entry[clause.handler.0 as usize] = true;
        }
        Predecessors { of, is_entry }
    }

    /// The predecessor of a block, if control enters it from exactly one block.
    pub fn only(&self, block: usize) -> Option<usize> {
        match self.of[block][..] {
            [one] if !self.is_entry[block] => Some(one),
            _ => None,
        }
    }

    /// The blocks that jump to this one, possibly more than once.
    pub fn list(&self, block: usize) -> &[usize] {
        &self.of[block]
    }

    /// Whether control also enters the block in other ways than by a jump.
    pub fn is_entry(&self, block: usize) -> bool {
        self.is_entry[block]
    }
}

/// A natural loop.
pub(super) struct Loop {
    pub header: usize,
    pub contains: Vec<bool>,
    pub size: usize,
}

/// The natural loops, one for each header, smallest first.
pub(super) fn loops(function: &Function, predecessors: &Predecessors, dominators: &Dominators) -> Vec<Loop> {
    let mut found: Vec<Loop> = Vec::new();
    for header in 0..function.blocks.len() {
        let latches: Vec<usize> = predecessors
            .list(header)
            .iter()
            .copied()
            .filter(|latch| dominators.dominates(header as u32, *latch as u32))
            .collect();
        if latches.is_empty() {
            continue;
        }
        let mut contains = vec![false; function.blocks.len()];
        contains[header] = true;
        let mut size = 1;
        let mut pending = latches;
        while let Some(block) = pending.pop() {
            if !std::mem::replace(&mut contains[block], true) {
                size += 1;
                pending.extend(predecessors.list(block));
            }
        }
        found.push(Loop { header, contains, size });
    }
    found.sort_by_key(|l| l.size);
    found
}
