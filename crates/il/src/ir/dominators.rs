//! Which blocks every way to a block passes through.
//!
//! The immediate dominators come from `saki_base::dominators`, whose time does not depend on how deep loops are nested.
//! Whether one block dominates another is then a comparison of numbers.

use super::verify::successors;
use super::{BlockId, Function};
use saki_base::dominators::{DominatorTree, FlowGraph, Successor, dominators};

const NONE: u32 = u32::MAX;

/// See the module header; indices are block numbers. Handlers count as entered from the function's entry. Blocks that
/// cannot be reached dominate only themselves.
pub struct Dominators {
    /// Position in a preorder walk of the dominator tree; `NONE` = unreachable.
    position: Vec<u32>,
    /// Blocks in the subtree of the dominator tree.
    size: Vec<u32>,
}

impl Dominators {
    /// Those of the function's blocks.
    pub fn of(function: &Function) -> Dominators {
        if function.blocks.is_empty() {
            return Dominators { position: Vec::new(), size: Vec::new() };
        }
        let DominatorTree { nodes, idom: immediate } = dominators(&Edges::of(function));
        let count = nodes.len();
        let mut size = vec![1u32; count];
        for number in (1..count).rev() {
            size[immediate[number] as usize] += size[number];
        }
        // A dominator has a lower number than what it dominates, so that its own place is known.
        let mut position = vec![0u32; count];
        let mut next_child = vec![1u32; count];
        for number in 1..count {
            let above = immediate[number] as usize;
            position[number] = next_child[above];
            next_child[above] += size[number];
            next_child[number] = position[number] + 1;
        }
        let mut found =
            Dominators { position: vec![NONE; function.blocks.len()], size: vec![1; function.blocks.len()] };
        for (number, &block) in nodes.iter().enumerate() {
            found.position[block as usize] = position[number];
            found.size[block as usize] = size[number];
        }
        found
    }

    /// Whether block `a` dominates block `b`.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let (above, below) = (self.position[a as usize], self.position[b as usize]);
        a == b || (above != NONE && below != NONE && above <= below && below - above < self.size[a as usize])
    }
}

/// The function's blocks, and as successors of the first one also the handlers.
struct Edges {
    /// By block: where its successors begin in `targets`; behind the last block, their number.
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Edges {
    fn of(function: &Function) -> Edges {
        let mut edges = Edges { starts: vec![0], targets: Vec::new() };
        for (number, block) in function.blocks.iter().enumerate() {
            successors(&block.terminator, &mut |BlockId(next)| edges.targets.push(next));
            if number == 0 {
                edges.targets.extend(function.clauses.iter().map(|clause| clause.handler.0));
            }
            edges.starts.push(edges.targets.len() as u32);
        }
        edges
    }
}

impl FlowGraph for Edges {
    fn node_count(&self) -> usize {
        self.starts.len() - 1
    }

    fn successor(&self, node: u32, index: u32) -> Successor {
        let place = self.starts[node as usize] + index;
        if place < self.starts[node as usize + 1] {
            Successor::Node(self.targets[place as usize])
        } else {
            Successor::End
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dominators;
    use crate::ir::{Block, BlockId, Function, Terminator, ValueId, verify::successors};

    /// A function with these edges.
    fn function(edges: &[Vec<u32>]) -> Function {
        let block = |targets: &Vec<u32>| Block {
            insts: Vec::new(),
            terminator: match targets.split_first() {
                None => Terminator::Unreachable,
                Some((first, rest)) => Terminator::Switch {
                    value: ValueId(0),
                    targets: rest.iter().map(|&target| BlockId(target)).collect(),
                    default: BlockId(*first),
                },
            },
            terminator_il_offset: 0,
            region: None,
            cold: false,
            then_is_likely: false,
            few_rounds: false,
        };
        Function { blocks: edges.iter().map(block).collect(), ..Function::default() }
    }

    /// Blocks that can be reached without passing through `without`.
    fn reachable(function: &Function, without: Option<u32>) -> Vec<bool> {
        let mut seen = vec![false; function.blocks.len()];
        let mut pending = vec![0];
        while let Some(block) = pending.pop() {
            if Some(block) != without && !std::mem::replace(&mut seen[block as usize], true) {
                successors(&function.blocks[block as usize].terminator, &mut |next| pending.push(next.0));
            }
        }
        seen
    }

    #[test]
    fn a_block_dominates_those_that_cannot_be_reached_without_it() {
        let mut state = 1u64;
        let mut random = |limit: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % limit) as u32
        };
        for round in 0..300 {
            let count = 1 + round % 13;
            let targets = |random: &mut dyn FnMut(u64) -> u32| (0..random(4)).map(|_| random(count)).collect();
            let edges: Vec<Vec<u32>> = (0..count).map(|_| targets(&mut random)).collect();
            let function = function(&edges);
            let dominators = Dominators::of(&function);
            let is_reached = reachable(&function, None);
            for a in 0..count as u32 {
                let is_reached_otherwise = reachable(&function, Some(a));
                for b in 0..count as u32 {
                    let expected = a == b || (is_reached[b as usize] && !is_reached_otherwise[b as usize]);
                    assert_eq!(dominators.dominates(a, b), expected, "{a} over {b} in {edges:?}");
                }
            }
        }
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        const COUNT: u32 = 100_000;
        let edges: Vec<Vec<u32>> =
            (0..COUNT).map(|block| if block + 1 < COUNT { vec![block + 1] } else { vec![] }).collect();
        let dominators = Dominators::of(&function(&edges));
        assert!(dominators.dominates(0, COUNT - 1) && dominators.dominates(500, 99_000));
        assert!(!dominators.dominates(99_000, 500));
    }
}
