//! The natural loops of an IR function, for placing code.
//!
//! Invariant: a loop is identified by the position of its header in `ControlFlow::order`, and inner headers come after
//! outer ones. Only the order of code depends on this, so wrong results for irreducible flow are harmless. Left out:
//! exception edges.

use crate::cfg::{ControlFlow, targets};
use saki_il::ir::{BlockId, Function};

/// Not in a loop.
const NONE: u32 = u32::MAX;
/// After this many visits per block the remaining loops are ignored: a bound for nests of hundreds of loops.
const MAX_VISITS_PER_BLOCK: usize = 32;

/// See the module header.
pub(crate) struct Loops {
    /// By position of the block: position of the innermost loop's header.
    innermost: Vec<u32>,
    /// By position of a header: the loop that encloses its loop.
    around: Vec<u32>,
}

impl Loops {
    pub(crate) fn compute(func: &Function, flow: &ControlFlow) -> Loops {
        let count = flow.order.len();
        let mut loops = Loops { innermost: vec![NONE; count], around: Vec::new() };
        let mut predecessors: Vec<Vec<u32>> = Vec::new();
        // Headers with the ends of their back edges, in order of position.
        let mut back_edges: Vec<(u32, u32)> = Vec::new();
        for (position, block) in flow.order.iter().enumerate() {
            for target in targets(&func.blocks[block.0 as usize].terminator) {
                let target = flow.position[target.0 as usize];
                if target as usize <= position {
                    back_edges.push((target, position as u32));
                }
            }
        }
        if back_edges.is_empty() {
            return loops;
        }
        back_edges.sort_unstable();
        predecessors.resize_with(count, Vec::new);
        for (position, block) in flow.order.iter().enumerate() {
            for target in targets(&func.blocks[block.0 as usize].terminator) {
                predecessors[flow.position[target.0 as usize] as usize].push(position as u32);
            }
        }
        loops.around = vec![NONE; count];
        let mut visits = count * MAX_VISITS_PER_BLOCK;
        let mut work = Vec::new();
        for (header, end) in back_edges {
            if loops.innermost[header as usize] != header {
                loops.around[header as usize] = loops.innermost[header as usize];
                loops.innermost[header as usize] = header;
            }
            work.push(end);
            while let Some(position) = work.pop() {
                // A block before the header is not part of a reducible loop.
                if position < header || loops.innermost[position as usize] == header {
                    continue;
                }
                loops.innermost[position as usize] = header;
                visits = visits.saturating_sub(predecessors[position as usize].len() + 1);
                if visits == 0 {
                    return loops;
                }
                work.extend(&predecessors[position as usize]);
            }
        }
        loops
    }

    /// Whether, for a branch at the end of `from`, the edge to `one` stays in the innermost loop of `from` and the edge
    /// to `other` leaves it.
    pub(crate) fn stays_by(&self, flow: &ControlFlow, from: BlockId, one: BlockId, other: BlockId) -> bool {
        let position = |block: BlockId| flow.position[block.0 as usize];
        let header = self.innermost[position(from) as usize];
        header != NONE && self.contains(header, position(one)) && !self.contains(header, position(other))
    }

    fn contains(&self, header: u32, position: u32) -> bool {
        let mut at = self.innermost[position as usize];
        while at != NONE && at > header {
            at = self.around[at as usize];
        }
        at == header
    }
}
