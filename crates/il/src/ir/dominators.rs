//! Which blocks every way to a block passes through.
//!
//! Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (1979), with path compression: the
//! time grows as the number of edges times its logarithm, whatever the function looks like. Whether one block dominates
//! another is then a comparison of numbers.

use super::verify::successors;
use super::{BlockId, Function};

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
        let walk = Walk::of(function);
        let immediate = walk.immediate_dominators();
        let count = walk.order.len();
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
        let mut dominators =
            Dominators { position: vec![NONE; function.blocks.len()], size: vec![1; function.blocks.len()] };
        for (number, &block) in walk.order.iter().enumerate() {
            dominators.position[block as usize] = position[number];
            dominators.size[block as usize] = size[number];
        }
        dominators
    }

    /// Whether block `a` dominates block `b`.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let (above, below) = (self.position[a as usize], self.position[b as usize]);
        a == b || (above != NONE && below != NONE && above <= below && below - above < self.size[a as usize])
    }
}

/// A depth-first walk; blocks go by their number in it.
struct Walk {
    /// By number: the block.
    order: Vec<u32>,
    /// By number: the number of the block from which the walk came.
    parent: Vec<u32>,
    /// By number, as a range of `predecessors`: the numbers of the blocks that go to it.
    first_predecessor: Vec<u32>,
    predecessors: Vec<u32>,
}

impl Walk {
    fn of(function: &Function) -> Walk {
        let each_successor = |block: u32, visit: &mut dyn FnMut(u32)| {
            successors(&function.blocks[block as usize].terminator, &mut |BlockId(next)| visit(next));
            if block == 0 {
                function.clauses.iter().for_each(|clause| visit(clause.handler.0));
            }
        };
        let mut number = vec![NONE; function.blocks.len()];
        let (mut order, mut parent) = (Vec::new(), Vec::new());
        // Blocks to visit, with the number of the block that goes there.
        let mut pending = vec![(0u32, 0u32)];
        while let Some((block, from)) = pending.pop() {
            if number[block as usize] != NONE {
                continue;
            }
            let own = order.len() as u32;
            number[block as usize] = own;
            order.push(block);
            parent.push(from);
            each_successor(block, &mut |next| {
                if number[next as usize] == NONE {
                    pending.push((next, own));
                }
            });
        }
        let mut first_predecessor = vec![0u32; order.len() + 1];
        for &block in &order {
            each_successor(block, &mut |next| first_predecessor[number[next as usize] as usize + 1] += 1);
        }
        for index in 1..first_predecessor.len() {
            first_predecessor[index] += first_predecessor[index - 1];
        }
        let mut free = first_predecessor.clone();
        let mut predecessors = vec![0; first_predecessor.last().copied().unwrap_or(0) as usize];
        for (own, &block) in order.iter().enumerate() {
            each_successor(block, &mut |next| {
                let slot = &mut free[number[next as usize] as usize];
                predecessors[*slot as usize] = own as u32;
                *slot += 1;
            });
        }
        Walk { order, parent, first_predecessor, predecessors }
    }

    fn predecessors_of(&self, number: usize) -> &[u32] {
        &self.predecessors[self.first_predecessor[number] as usize..self.first_predecessor[number + 1] as usize]
    }

    /// By number: the number of the immediate dominator; the entry is its own.
    fn immediate_dominators(&self) -> Vec<u32> {
        let count = self.order.len();
        let mut forest = Forest {
            semi: (0..count as u32).collect(),
            label: (0..count as u32).collect(),
            ancestor: vec![NONE; count],
            path: Vec::new(),
        };
        let mut dominator = vec![0u32; count];
        // The blocks with a certain semidominator, as lists by their first member and the next of each member.
        let (mut first, mut next) = (vec![NONE; count], vec![NONE; count]);
        for number in (1..count).rev() {
            for &predecessor in self.predecessors_of(number) {
                let least = forest.evaluate(predecessor);
                forest.semi[number] = forest.semi[number].min(forest.semi[least as usize]);
            }
            let semi = forest.semi[number] as usize;
            next[number] = std::mem::replace(&mut first[semi], number as u32);
            let parent = self.parent[number];
            forest.ancestor[number] = parent;
            let mut member = std::mem::replace(&mut first[parent as usize], NONE);
            while member != NONE {
                let least = forest.evaluate(member);
                let is_below = forest.semi[least as usize] < forest.semi[member as usize];
                dominator[member as usize] = if is_below { least } else { parent };
                member = next[member as usize];
            }
        }
        for number in 1..count {
            if dominator[number] != forest.semi[number] {
                dominator[number] = dominator[dominator[number] as usize];
            }
        }
        dominator
    }
}

/// The part of the walk's tree that has been linked.
struct Forest {
    semi: Vec<u32>,
    /// By number: the block with the least semidominator on the compressed path above it.
    label: Vec<u32>,
    ancestor: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The block with the least semidominator among `number` and those above it, without the root of its tree.
    fn evaluate(&mut self, number: u32) -> u32 {
        let mut at = number;
        while self.ancestor[at as usize] != NONE && self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        // From the top down, each block of the path is hung below the root.
        while let Some(below) = self.path.pop() {
            let above = self.ancestor[below as usize] as usize;
            let (own, inherited) = (self.label[below as usize], self.label[above]);
            if self.semi[inherited as usize] < self.semi[own as usize] {
                self.label[below as usize] = inherited;
            }
            self.ancestor[below as usize] = self.ancestor[above];
        }
        self.label[number as usize]
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
