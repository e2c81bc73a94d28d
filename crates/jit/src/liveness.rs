//! Liveness of locals per block, and which blocks are in loops. Only `lower::context::homes` needs this, so it is
//! computed on demand.
//!
//! Any instruction of a region may throw, so the locals that a handler reads are live throughout the blocks that it
//! protects. Left out: IR values, which live from their definition to their last use in the blocks that it dominates.

use crate::cfg::{ControlFlow, targets};
use saki_il::ir::{BlockId, Function, Op, RegionId, ValueId};

/// A set of locals by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LocalSet(Vec<u64>);

impl LocalSet {
    fn empty(local_count: usize) -> LocalSet {
        LocalSet(vec![0; local_count.div_ceil(64)])
    }

    pub(crate) fn insert(&mut self, local: u32) {
        self.0[local as usize / 64] |= 1 << (local % 64);
    }

    pub(crate) fn remove(&mut self, local: u32) {
        self.0[local as usize / 64] &= !(1 << (local % 64));
    }

    pub(crate) fn union(&mut self, other: &LocalSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let bits = std::iter::successors((word != 0).then_some(word), |&rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            });
            bits.map(move |rest| index as u32 * 64 + rest.trailing_zeros())
        })
    }
}

/// See the module header; indices are IR block numbers.
pub(crate) struct Liveness {
    live_in: Vec<LocalSet>,
    in_loop: Vec<bool>,
    has_loops: bool,
}

impl Liveness {
    pub(crate) fn compute(func: &Function, flow: &ControlFlow) -> Liveness {
        let mut result = Liveness {
            live_in: vec![LocalSet::empty(func.locals.len()); func.blocks.len()],
            in_loop: vec![false; func.blocks.len()],
            has_loops: false,
        };
        result.find_loops(func, flow);
        loop {
            let mut changed = false;
            for &block in flow.order.iter().rev() {
                let live = result.live_before(func, flow, block, &func.blocks[block.0 as usize].insts);
                let known = &mut result.live_in[block.0 as usize];
                if *known != live {
                    *known = live;
                    changed = true;
                }
            }
            if !changed {
                return result;
            }
        }
    }

    /// In reverse postorder the blocks of a loop lie between its header and the last block that jumps back.
    fn find_loops(&mut self, func: &Function, flow: &ControlFlow) {
        let mut loop_end = 0;
        let mut ends = vec![0; flow.order.len()];
        for (position, block) in flow.order.iter().enumerate() {
            for target in targets(&func.blocks[block.0 as usize].terminator) {
                let header = flow.position[target.0 as usize] as usize;
                if header <= position {
                    ends[header] = position + 1;
                    self.has_loops = true;
                }
            }
        }
        for (position, block) in flow.order.iter().enumerate() {
            loop_end = loop_end.max(ends[position]);
            self.in_loop[block.0 as usize] = position < loop_end;
        }
    }

    pub(crate) fn has_loops(&self) -> bool {
        self.has_loops
    }

    pub(crate) fn is_in_loop(&self, block: BlockId) -> bool {
        self.in_loop[block.0 as usize]
    }

    /// Locals that the block reads before it writes them.
    pub(crate) fn live_in(&self, block: BlockId) -> &LocalSet {
        &self.live_in[block.0 as usize]
    }

    /// Locals that are live at the handlers that protect code of `region`.
    pub(crate) fn live_in_handlers(&self, func: &Function, flow: &ControlFlow, region: Option<RegionId>) -> LocalSet {
        let mut live = LocalSet::empty(func.locals.len());
        for &clause in flow.handlers_of(region) {
            live.union(self.live_in(func.clauses[clause as usize].handler));
        }
        live
    }

    /// Locals live in `block` at the point before the instructions `rest`.
    pub(crate) fn live_before(
        &self,
        func: &Function,
        flow: &ControlFlow,
        block: BlockId,
        rest: &[ValueId],
    ) -> LocalSet {
        let data = &func.blocks[block.0 as usize];
        let mut live = LocalSet::empty(func.locals.len());
        for target in targets(&data.terminator) {
            live.union(self.live_in(target));
        }
        for inst in rest.iter().rev() {
            match func.insts[inst.0 as usize].op {
                Op::LocalSet(local, _) => live.remove(local.0),
                Op::LocalGet(local) => live.insert(local.0),
                _ => {}
            }
        }
        live.union(&self.live_in_handlers(func, flow, data.region));
        live
    }
}
