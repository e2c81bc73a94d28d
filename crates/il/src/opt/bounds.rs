//! Removes bounds checks in counting loops.
//!
//! In `for (i = start; i < a.Length; i++)`, with `i` and `a` locals that nothing else in the loop changes, `a[i]` needs
//! no check: `i` starts non-negative, only grows, and was compared with the length in this very iteration. The same
//! holds for spans and strings, and for a limit kept in a local. The facts used: a block that a comparison's edge
//! dominates knows the comparison's outcome; an innermost loop's blocks repeat only through its header. Left out: index
//! arithmetic (`a[i + 1]`), loops that count down, arrays in fields.

use super::flow::{Loop, Predecessors, loops};
use crate::ir::dominators::Dominators;
use crate::ir::{AliasClass, BinOp, CmpOp, Function, LocalId, MemType, Op, Terminator, ValueId, verify};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::object::STRING_LENGTH_OFFSET;
use std::cell::Cell;

/// The upper bound with which an index is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum IndexLimit {
    ArrayLength(LocalId),
    StringLength(LocalId),
    Local(LocalId),
}

/// Position of an instruction.
#[derive(Clone, Copy)]
struct InstPosition {
    block: usize,
    position: usize,
}

struct BoundsAnalysis<'f> {
    function: &'f Function,
    predecessors: Predecessors,
    dominators: Dominators,
    loops: Vec<Loop>,
    places: FxHashMap<ValueId, InstPosition>,
    /// The places of all writes, by local.
    writes: Vec<Vec<(InstPosition, ValueId)>>,
    steps_left: Cell<usize>,
}

/// `index < limit` holds in every block that `block` dominates, until the index changes.
struct Guard {
    /// The block of the comparison.
    from: usize,
    block: usize,
    limit: IndexLimit,
    /// The comparison was unsigned, with a limit that is never negative: the index is non-negative too.
    is_unsigned: bool,
}

/// Larger functions are skipped: each loop takes a byte per block.
const MAX_BLOCKS: usize = 4000;
/// Blocks, writes and loops that may be looked at for all checks together. A check costs as many as the body has, and a
/// large body has many of each. The checks for which none are left stay.
const MAX_STEPS: usize = 40_000_000;

/// Instructions that the pass has found redundant.
#[derive(Default)]
struct Covered {
    /// Bounds checks, with their blocks.
    checks: Vec<(usize, ValueId)>,
    /// Comparisons, with their outcomes.
    comparisons: Vec<(ValueId, bool)>,
}

/// Runs the pass.
pub(super) fn run(function: &mut Function) {
    let is_check = |v: &ValueId| {
        matches!(function.insts[v.0 as usize].op, Op::BoundsCheck { .. } | Op::Cmp(CmpOp::LtUn | CmpOp::GeUn, ..))
    };
    if function.blocks.len() > MAX_BLOCKS || !function.blocks.iter().flat_map(|b| &b.insts).any(is_check) {
        return;
    }
    let predecessors = Predecessors::of(function);
    let dominators = Dominators::of(function);
    let loops = loops(function, &predecessors, &dominators);
    if loops.is_empty() {
        return;
    }
    let analysis = BoundsAnalysis::new(function, predecessors, dominators, loops);
    let Covered { checks, comparisons } = analysis.covered();
    let redundant: FxHashSet<ValueId> = checks.iter().map(|(_, value)| *value).collect();
    let mut changed: Vec<usize> = checks.into_iter().map(|(block, _)| block).collect();
    changed.dedup();
    for block in changed {
        function.blocks[block].insts.retain(|value| !redundant.contains(value));
    }
    for (value, outcome) in comparisons {
        function.insts[value.0 as usize].op = Op::ConstI32(i32::from(outcome));
    }
}

impl<'f> BoundsAnalysis<'f> {
    fn new(
        function: &'f Function,
        predecessors: Predecessors,
        dominators: Dominators,
        loops: Vec<Loop>,
    ) -> BoundsAnalysis<'f> {
        let mut places = FxHashMap::default();
        let mut writes = vec![Vec::new(); function.locals.len()];
        for (block, b) in function.blocks.iter().enumerate() {
            for (position, value) in b.insts.iter().enumerate() {
                let place = InstPosition { block, position };
                places.insert(*value, place);
                if let Op::LocalSet(local, stored) = function.insts[value.0 as usize].op {
                    writes[local.0 as usize].push((place, stored));
                }
            }
        }
        let steps_left = Cell::new(MAX_STEPS);
        BoundsAnalysis { function, predecessors, dominators, loops, places, writes, steps_left }
    }

    fn op(&self, value: ValueId) -> &Op {
        &self.function.insts[value.0 as usize].op
    }

    /// The variable from which a value was read.
    fn read_local(&self, value: ValueId) -> Option<LocalId> {
        match *self.op(value) {
            Op::LocalGet(local) if !self.function.locals[local.0 as usize].address_exposed => Some(local),
            _ => None,
        }
    }

    fn limit(&self, value: ValueId) -> Option<IndexLimit> {
        match self.op(value) {
            Op::ArrayLen(array) => Some(IndexLimit::ArrayLength(self.read_local(*array)?)),
            Op::Load { addr, offset: STRING_LENGTH_OFFSET, mem: MemType::I32, flags }
                if flags.alias == AliasClass::Length =>
            {
                Some(IndexLimit::StringLength(self.read_local(*addr)?))
            }
            _ => {
                let local = self.read_local(value)?;
                // A local that is written once, with a length, equals that length.
                if let [(_, stored)] = self.writes[local.0 as usize][..]
                    && let Some(limit @ (IndexLimit::ArrayLength(_) | IndexLimit::StringLength(_))) =
                        self.direct_length(stored)
                    && self.is_written_at_most_once(limit)
                {
                    return Some(limit);
                }
                Some(IndexLimit::Local(local))
            }
        }
    }

    fn direct_length(&self, value: ValueId) -> Option<IndexLimit> {
        match self.op(value) {
            Op::ArrayLen(_) | Op::Load { .. } => self.limit(value),
            _ => None,
        }
    }

    fn limit_local(limit: IndexLimit) -> LocalId {
        let (IndexLimit::ArrayLength(local) | IndexLimit::StringLength(local) | IndexLimit::Local(local)) = limit;
        local
    }

    /// Whether the local of the array or string is written at most once, so that its length is constant: reading the
    /// length before the write (null) throws.
    fn is_written_at_most_once(&self, limit: IndexLimit) -> bool {
        let local = Self::limit_local(limit);
        let is_param = matches!(self.function.locals[local.0 as usize].kind, crate::ir::LocalKind::Param(_));
        self.writes[local.0 as usize].len() <= usize::from(!is_param)
    }

    fn covered(&self) -> Covered {
        let mut covered = Covered::default();
        for (block, b) in self.function.blocks.iter().enumerate() {
            for value in &b.insts {
                match *self.op(*value) {
                    Op::BoundsCheck { index, length } if self.is_below(index, length) => {
                        covered.checks.push((block, *value));
                    }
                    Op::Cmp(op @ (CmpOp::LtUn | CmpOp::GeUn), index, length) if self.is_below(index, length) => {
                        covered.comparisons.push((*value, op == CmpOp::LtUn));
                    }
                    _ => {}
                }
            }
        }
        covered
    }

    /// Whether `0 <= index < length` is certain where `index` was read.
    fn is_below(&self, index: ValueId, length: ValueId) -> bool {
        let (Some(local), Some(limit), Some(read)) =
            (self.read_local(index), self.limit(length), self.places.get(&index).copied())
        else {
            return false;
        };
        let writes = self.writes[local.0 as usize].len() + self.writes[Self::limit_local(limit).0 as usize].len();
        let steps = self.loops.len() + self.function.blocks.len() * (1 + writes);
        let Some(left) = self.steps_left.get().checked_sub(steps) else { return false };
        self.steps_left.set(left);
        // The innermost loop around the read in which the index is written once.
        for l in self.loops.iter().filter(|l| l.contains[read.block]) {
            let inside: Vec<&(InstPosition, ValueId)> =
                self.writes[local.0 as usize].iter().filter(|(p, _)| l.contains[p.block]).collect();
            let limit_changes =
                self.writes[Self::limit_local(limit).0 as usize].iter().any(|(p, _)| l.contains[p.block]);
            let [(step_place, stepped)] = inside[..] else { continue };
            if limit_changes || !self.is_increment(*stepped, local) {
                return false;
            }
            let innermost = self.loops.iter().find(|l| l.contains[step_place.block]).expect("the step is in a loop");
            if innermost.header != l.header {
                return false;
            }
            return self.guards(local, limit, l).iter().any(|guard| {
                self.dominates(guard.block, step_place.block)
                    && self.dominates(guard.block, read.block)
                    && !self.reaches_without(*step_place, read, guard.from)
                    && (guard.is_unsigned || self.starts_non_negative(local, l))
            });
        }
        false
    }

    fn dominates(&self, a: usize, b: usize) -> bool {
        self.dominators.dominates(a as u32, b as u32)
    }

    /// Whether the value is `local + 1`, read in the same block as it is written back.
    fn is_increment(&self, value: ValueId, local: LocalId) -> bool {
        let Op::Bin(BinOp::Add | BinOp::AddOvf, base, amount) = *self.op(value) else { return false };
        self.read_local(base) == Some(local)
            && *self.op(amount) == Op::ConstI32(1)
            && self.places.get(&base).map(|p| p.block) == self.places.get(&value).map(|p| p.block)
    }

    /// The comparisons in the loop that bound the index by this limit.
    fn guards(&self, local: LocalId, limit: IndexLimit, l: &Loop) -> Vec<Guard> {
        let mut found = Vec::new();
        for (from, block) in self.function.blocks.iter().enumerate().filter(|(b, _)| l.contains[*b]) {
            let Terminator::Brif { cond, then, otherwise } = block.terminator else { continue };
            let Op::Cmp(op, a, b) = *self.op(cond) else { continue };
            // Find the edge on which `index < limit` holds.
            let is_index = |v: ValueId| self.read_local(v) == Some(local) && self.is_current_at_end(v, local, from);
            let is_limit = |v: ValueId| self.limit(v) == Some(limit);
            let (edge, is_unsigned) = match op {
                CmpOp::Lt | CmpOp::LtUn if is_index(a) && is_limit(b) => (then, op == CmpOp::LtUn),
                CmpOp::Gt | CmpOp::GtUn if is_limit(a) && is_index(b) => (then, op == CmpOp::GtUn),
                CmpOp::Ge | CmpOp::GeUn if is_index(a) && is_limit(b) => (otherwise, op == CmpOp::GeUn),
                CmpOp::Le | CmpOp::LeUn if is_limit(a) && is_index(b) => (otherwise, op == CmpOp::LeUn),
                _ => continue,
            };
            let is_unsigned = is_unsigned && !matches!(limit, IndexLimit::Local(_));
            if then != otherwise && self.predecessors.only(edge.0 as usize) == Some(from) {
                found.push(Guard { from, block: edge.0 as usize, limit, is_unsigned });
            }
        }
        debug_assert!(found.iter().all(|g| g.limit == limit));
        found
    }

    /// Whether the value was read in `block`, with no write of the local behind it in that block.
    fn is_current_at_end(&self, value: ValueId, local: LocalId, block: usize) -> bool {
        let Some(read) = self.places.get(&value).filter(|p| p.block == block) else { return false };
        !self.writes[local.0 as usize].iter().any(|(p, _)| p.block == block && p.position > read.position)
    }

    /// Whether a path leads from behind `from` to `to` without passing through block `barrier`.
    fn reaches_without(&self, from: InstPosition, to: InstPosition, barrier: usize) -> bool {
        if from.block == to.block && from.position < to.position {
            return true;
        }
        let mut seen = vec![false; self.function.blocks.len()];
        let mut pending = Vec::new();
        let mut visit = |block: usize, pending: &mut Vec<usize>| {
            verify::successors(&self.function.blocks[block].terminator, &mut |s| {
                if s.0 as usize != barrier && !std::mem::replace(&mut seen[s.0 as usize], true) {
                    pending.push(s.0 as usize);
                }
            });
        };
        visit(from.block, &mut pending);
        while let Some(block) = pending.pop() {
            if block == to.block {
                return true;
            }
            visit(block, &mut pending);
        }
        false
    }

    /// Whether the index is non-negative whenever the loop is entered.
    fn starts_non_negative(&self, local: LocalId, l: &Loop) -> bool {
        let mut seen = vec![false; self.function.blocks.len()];
        let mut pending: Vec<usize> =
            self.predecessors.list(l.header).iter().copied().filter(|p| !l.contains[*p]).collect();
        if pending.is_empty() || self.predecessors.is_entry(l.header) {
            return false;
        }
        while let Some(block) = pending.pop() {
            if std::mem::replace(&mut seen[block], true) {
                continue;
            }
            let last =
                self.writes[local.0 as usize].iter().filter(|(p, _)| p.block == block).max_by_key(|(p, _)| p.position);
            match last {
                Some((_, value)) if self.is_non_negative(*value) => {}
                Some(_) => return false,
                None if block == 0 => {
                    let l = &self.function.locals[local.0 as usize];
                    if !l.zero_init || matches!(l.kind, crate::ir::LocalKind::Param(_)) {
                        return false;
                    }
                }
                None if self.predecessors.is_entry(block) || l.contains[block] => return false,
                None => pending.extend(self.predecessors.list(block)),
            }
        }
        true
    }

    fn is_non_negative(&self, value: ValueId) -> bool {
        match self.op(value) {
            Op::ConstI32(n) => *n >= 0,
            Op::ArrayLen(_) | Op::Cmp(..) | Op::Load { mem: MemType::U8 | MemType::U16, .. } => true,
            _ => false,
        }
    }
}
