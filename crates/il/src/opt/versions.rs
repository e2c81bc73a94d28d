//! Two versions of a loop: one without the checks that a test before it makes superfluous, and the loop as it is.
//!
//! Innermost loops alone. The test holds if no index that the loop counts can leave its array (`ranges`), and if the
//! objects that do not change in the loop have the classes that its calls guess (`import::guards`). Then the loop runs
//! without those checks, and without the code for wrong guesses; what it loads from places that nothing in it writes
//! is loaded once (`invariants`). Else the loop as it is runs, which throws in the round in which it always did, with
//! the same effects before.
//!
//! Invariant: the test has no effect and cannot fail. It reads no object that the first round would not read, and
//! looks for null before it reads. A copy's values are used in the copy alone, so a loop whose values are used behind
//! it stays as it is.
//!
//! Left out: loops that have few rounds, as far as that is known or was counted (`import::profile`), loops around
//! loops, loops entered at two places, checks of rectangular arrays.

mod invariants;
mod ranges;
#[cfg(test)]
mod tests;

use super::flow::{Predecessors, loops};
use super::unroll::{crossings, redirect};
use crate::ir::dominators::Dominators;
use crate::ir::verify::{operands_mut, successors, terminator_operands_mut};
use crate::ir::{
    AliasClass, BinOp, Block, BlockId, CmpOp, Decision, Function, Inst, IrType, MemFlags, MemType, NullCheck, Op,
    Symbol, Terminator, ValueId,
};
use invariants::Invariants;
use ranges::{Range, Ranges};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::object::{ARRAY_LENGTH_OFFSET, OBJECT_VTABLE_OFFSET};
use saki_abi::vtable::VTABLE_RANK_OFFSET;

/// Functions with more blocks are left as they are.
const MAX_BLOCKS: usize = 400;
const MAX_LOOP_BLOCKS: usize = 24;
const MAX_LOOP_INSTRUCTIONS: usize = 160;
/// Instructions that are added to a function at most.
const BUDGET: usize = 1600;
/// Parts of a test: more are not worth it for a loop of few rounds.
const MAX_CONDITIONS: usize = 16;
/// Loops that are known to have fewer rounds stay as they are: the test costs them more than the copy gains. With two
/// arrays, six rounds gain nothing (docs/design/code-generation.md).
const MIN_ROUNDS: i64 = 6;

/// An innermost loop with one entry.
struct Loop {
    header: u32,
    /// Ascending.
    blocks: Vec<u32>,
}

impl Loop {
    fn contains(&self, block: u32) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }
}

/// Where each instruction stands, and in which blocks locals are written.
struct Places {
    /// By instruction: block and position; `u32::MAX`: nowhere.
    of: Vec<(u32, u32)>,
}

impl Places {
    fn of(function: &Function) -> Places {
        let mut of = vec![(u32::MAX, 0); function.insts.len()];
        for (block, b) in function.blocks.iter().enumerate() {
            for (position, value) in b.insts.iter().enumerate() {
                of[value.0 as usize] = (block as u32, position as u32);
            }
        }
        Places { of }
    }

    fn block(&self, value: ValueId) -> u32 {
        self.of[value.0 as usize].0
    }
}

/// Runs the pass. `explain`: what it does is noted.
pub(super) fn run(function: &mut Function, explain: bool) {
    let is_checked = |op: &Op| matches!(op, Op::BoundsCheck { .. } | Op::Cmp(CmpOp::LtUn | CmpOp::GeUn, ..));
    let ops = || function.blocks.iter().flat_map(|b| &b.insts).map(|v| &function.insts[v.0 as usize].op);
    if function.blocks.len() < 2
        || function.blocks.len() > MAX_BLOCKS
        || (function.guards == 0 && !ops().any(is_checked))
    {
        return;
    }
    let predecessors = Predecessors::of(function);
    let dominators = Dominators::of(function);
    let found = innermost(function, &predecessors, &dominators);
    if found.is_empty() {
        return;
    }
    let crossings = crossings(function);
    let leaves = |l: &Loop| crossings.iter().any(|(from, to)| l.contains(*from) && !l.contains(*to));
    let before = function.insts.len();
    for l in found.iter().filter(|l| !leaves(l)) {
        if function.insts.len() - before > BUDGET {
            break;
        }
        // What earlier loops have become changes nothing about this one but who enters it.
        let places = Places::of(function);
        let Some(plan) = Plan::make(function, l, &predecessors, &dominators, &places) else { continue };
        plan.carry_out(function, l, explain);
    }
}

fn innermost(function: &Function, predecessors: &Predecessors, dominators: &Dominators) -> Vec<Loop> {
    let all = loops(function, predecessors, dominators);
    let headers: Vec<usize> = all.iter().map(|l| l.header).collect();
    let mut found = Vec::new();
    for l in &all {
        let is_outer = headers.iter().any(|&header| header != l.header && l.contains[header]);
        if is_outer || l.size > MAX_LOOP_BLOCKS || l.header == 0 || function.blocks[l.header].cold {
            continue;
        }
        let blocks: Vec<u32> = (0..function.blocks.len() as u32).filter(|&b| l.contains[b as usize]).collect();
        let region = function.blocks[l.header].region;
        if blocks.iter().any(|&b| function.blocks[b as usize].few_rounds) {
            continue;
        }
        let is_plain = |&b: &u32| function.blocks[b as usize].region == region && !predecessors.is_entry(b as usize);
        let size: usize = blocks.iter().map(|&b| function.blocks[b as usize].insts.len()).sum();
        let l = Loop { header: l.header as u32, blocks };
        if size <= MAX_LOOP_INSTRUCTIONS && l.blocks.iter().all(is_plain) && is_acyclic(function, &l) {
            found.push(l);
        }
    }
    found
}

/// Whether each way round passes the header.
fn is_acyclic(function: &Function, l: &Loop) -> bool {
    let inner = |block: u32| {
        let mut found = Vec::new();
        successors(&function.blocks[block as usize].terminator, &mut |to| {
            if to.0 != l.header && l.contains(to.0) {
                found.push(to.0);
            }
        });
        found
    };
    let mut ways_in: FxHashMap<u32, usize> = FxHashMap::default();
    l.blocks.iter().flat_map(|&block| inner(block)).for_each(|to| *ways_in.entry(to).or_default() += 1);
    let mut ready = vec![l.header];
    let mut done = 0;
    while let Some(block) = ready.pop() {
        done += 1;
        for to in inner(block) {
            let left = ways_in.get_mut(&to).expect("counted above");
            *left -= 1;
            if *left == 0 {
                ready.push(to);
            }
        }
    }
    done == l.blocks.len()
}

/// A part of the test before the loop.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Condition {
    /// The value is not null.
    NonNull(ValueId),
    /// The object is an array: what the loop reads its length behind may be a cast. Other objects end before it.
    IsArray(ValueId),
    /// The comparison of two values of the loop, which gives I32, holds.
    Holds(ValueId),
    /// `low + offset >= 0`, in 64 bits; the numbers are I32.
    NotNegative { low: Term, offset: Option<Term> },
    /// `high + offset < length`, in 64 bits; `high <= MAX - more`.
    Below { high: Term, offset: Option<Term>, length: ValueId },
    /// `high <= i32::MAX - step`, in 64 bits.
    CanStep { high: Term, step: i32 },
    /// `low <= high`: the loop has a round. It has one for each `step` between them.
    HasRound { low: Term, high: Term, step: u32 },
    /// `index < length`, unsigned.
    Inside { index: ValueId, length: ValueId },
}

impl Condition {
    /// Whether the loop is known to have few rounds.
    fn is_too_short(&self, function: &Function, l: &Loop) -> bool {
        let Condition::HasRound { low, high, step } = *self else { return false };
        let ends = low.first_number(function, l).zip(high.first_number(function, l));
        ends.is_some_and(|(low, high)| high - low < (MIN_ROUNDS - 1) * i64::from(step))
    }

    /// The values of the loop that it names.
    fn values(&self) -> Vec<ValueId> {
        match *self {
            Condition::NonNull(value) | Condition::IsArray(value) | Condition::Holds(value) => vec![value],
            Condition::NotNegative { low, offset } => [low].into_iter().chain(offset).map(|term| term.value).collect(),
            Condition::Below { high, offset, length } => {
                [high].into_iter().chain(offset).map(|term| term.value).chain([length]).collect()
            }
            Condition::CanStep { high, .. } => vec![high.value],
            Condition::HasRound { low, high, .. } => vec![low.value, high.value],
            Condition::Inside { index, length } => vec![index, length],
        }
    }
}

/// An I32 value that does not change in the loop, or that has its first value before it; with its sign changed if
/// `is_negated`; plus a small number.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Term {
    value: ValueId,
    is_negated: bool,
    plus: i32,
}

impl Term {
    fn of(value: ValueId) -> Term {
        Term { value, is_negated: false, plus: 0 }
    }

    fn constant(self, function: &Function) -> Option<i64> {
        let Op::ConstI32(n) = function.insts[self.value.0 as usize].op else { return None };
        let n = i64::from(n);
        Some((if self.is_negated { -n } else { n }) + i64::from(self.plus))
    }

    /// The number before the loop, if it is a constant, or a variable that becomes one just before.
    fn first_number(self, function: &Function, l: &Loop) -> Option<i64> {
        let Op::LocalGet(local) = function.insts[self.value.0 as usize].op else { return self.constant(function) };
        let mut found = entries(function, l).into_iter().map(|block| {
            let before = function.blocks[block as usize].insts.iter().rev();
            let mut stored = before.filter_map(|value| match function.insts[value.0 as usize].op {
                Op::LocalSet(to, stored) if to == local => Some(stored),
                _ => None,
            });
            Term { value: stored.next()?, ..self }.constant(function)
        });
        let first = found.next()??;
        found.all(|other| other == Some(first)).then_some(first)
    }
}

/// What the other version of a loop is like.
struct Plan {
    /// In this order.
    conditions: Vec<Condition>,
    /// Blocks of the copy; ascending.
    blocks: Vec<u32>,
    /// Branches that always go to this block.
    folded: FxHashMap<u32, BlockId>,
    /// Checks that the copy lacks.
    dropped: FxHashSet<ValueId>,
    /// Comparisons that are constant in the copy.
    decided: FxHashMap<ValueId, i32>,
    /// Values that the copy takes from before the loop.
    hoisted: Vec<ValueId>,
    checks: usize,
    guards: usize,
    loads: usize,
}

impl Plan {
    fn make(
        function: &Function,
        l: &Loop,
        predecessors: &Predecessors,
        dominators: &Dominators,
        places: &Places,
    ) -> Option<Plan> {
        let mut plan = Plan {
            conditions: Vec::new(),
            blocks: Vec::new(),
            folded: FxHashMap::default(),
            dropped: FxHashSet::default(),
            decided: FxHashMap::default(),
            hoisted: Vec::new(),
            checks: 0,
            guards: 0,
            loads: 0,
        };
        let mut invariants = Invariants::new(function, l, places);
        let ranges = Ranges::new(function, l, predecessors, dominators, places);
        if !plan.fold_guards(function, l, &mut invariants, &ranges, true) {
            plan.fold_guards(function, l, &mut invariants, &ranges, false);
        }
        plan.drop_checks(function, &ranges, &invariants);
        let is_worth_it = plan.checks + plan.guards > 0 && plan.conditions.len() <= MAX_CONDITIONS;
        let is_short = plan.conditions.iter().any(|condition| condition.is_too_short(function, l));
        (is_worth_it && !is_short).then_some(plan)
    }

    fn require(&mut self, condition: Condition) {
        if !self.conditions.contains(&condition) {
            self.conditions.push(condition);
        }
    }

    /// Requires what must hold before the value can be computed before the loop.
    fn require_for(&mut self, invariants: &Invariants, value: ValueId) {
        for condition in invariants.requirements(value) {
            self.require(condition);
        }
        for load in invariants.loads_in(value) {
            if !self.hoisted.contains(&load) {
                self.hoisted.push(load);
                self.loads += 1;
            }
        }
    }

    /// Requires the condition, and first what must hold before it can be tested.
    fn require_first(&mut self, invariants: &Invariants, condition: Condition) {
        for value in condition.values() {
            self.require_for(invariants, value);
        }
        self.require(condition);
    }

    /// Finds the guesses that are tested before the loop. Those of delegates rely on words that nothing in the copy
    /// writes, so they are taken for granted first; false if one cannot be.
    fn fold_guards(
        &mut self,
        function: &Function,
        l: &Loop,
        invariants: &mut Invariants,
        ranges: &Ranges,
        with_delegates: bool,
    ) -> bool {
        let guards: Vec<(u32, ValueId, BlockId)> = l
            .blocks
            .iter()
            .filter_map(|&block| match function.blocks[block as usize].terminator {
                Terminator::Brif { cond, then, otherwise }
                    if then != otherwise && function.blocks[otherwise.0 as usize].cold && {
                        is_class_guard(function, cond) || (with_delegates && is_delegate_guard(function, cond))
                    } =>
                {
                    Some((block, cond, then))
                }
                _ => None,
            })
            .collect();
        let is_taken = |invariants: &Invariants, cond| is_delegate_guard(function, cond) || invariants.holds(cond);
        let taken: Vec<_> = guards.into_iter().filter(|(_, cond, _)| is_taken(invariants, *cond)).collect();
        self.folded = taken.iter().map(|(block, _, then)| (*block, *then)).collect();
        self.blocks = self.reached(function, l);
        invariants.find_loads(self, ranges);
        let reached = taken.iter().filter(|(block, ..)| self.blocks.contains(block));
        let reached: Vec<ValueId> = reached.map(|(_, cond, _)| *cond).collect();
        if !reached.iter().all(|&cond| invariants.holds(cond)) {
            return false;
        }
        self.guards = reached.len();
        for cond in reached {
            self.require_first(invariants, Condition::Holds(cond));
        }
        true
    }

    /// The blocks of the loop to which the copy still comes.
    fn reached(&self, function: &Function, l: &Loop) -> Vec<u32> {
        let mut found = vec![l.header];
        let mut work = vec![l.header];
        while let Some(block) = work.pop() {
            let mut visit = |to: BlockId| {
                if l.contains(to.0) && !found.contains(&to.0) {
                    found.push(to.0);
                    work.push(to.0);
                }
            };
            match self.folded.get(&block) {
                Some(to) => visit(*to),
                None => successors(&function.blocks[block as usize].terminator, &mut visit),
            }
        }
        found.sort_unstable();
        found
    }

    fn drop_checks(&mut self, function: &Function, ranges: &Ranges, invariants: &Invariants) {
        for &block in &self.blocks.clone() {
            let is_cold = function.blocks[block as usize].cold;
            for &value in &function.blocks[block as usize].insts {
                match function.insts[value.0 as usize].op {
                    Op::BoundsCheck { index, length }
                        if !is_cold && self.require_inside(ranges, invariants, index, length) =>
                    {
                        self.dropped.insert(value);
                    }
                    Op::Cmp(op @ (CmpOp::LtUn | CmpOp::GeUn), index, length)
                        if is_check(function, block, value, op)
                            && self.require_inside(ranges, invariants, index, length) =>
                    {
                        self.decided.insert(value, i32::from(op == CmpOp::LtUn));
                    }
                    Op::ArrayLen(array) if !is_cold && invariants.holds(array) => {
                        self.require_for(invariants, value);
                        self.hoisted.push(value);
                    }
                    _ => {}
                }
            }
        }
        // A null check goes if the object is asked about anyway.
        for &block in &self.blocks {
            for &value in &function.blocks[block as usize].insts {
                if let Op::NullCheck(object) = function.insts[value.0 as usize].op
                    && self.is_non_null(invariants, object)
                {
                    self.dropped.insert(value);
                }
            }
        }
    }

    fn is_non_null(&self, invariants: &Invariants, object: ValueId) -> bool {
        let is_object = |c: &Condition| matches!(c, Condition::NonNull(known) if invariants.are_same(*known, object));
        self.conditions.iter().any(is_object)
    }

    /// Requires that an index is always inside; false if that cannot be asked before the loop.
    fn require_inside(&mut self, ranges: &Ranges, invariants: &Invariants, index: ValueId, length: ValueId) -> bool {
        if !invariants.holds(length) {
            return false;
        }
        if invariants.holds(index) {
            self.checks += 1;
            self.require_first(invariants, Condition::Inside { index, length });
            return true;
        }
        let Some(Range { low, high, offset, step_to_check }) = ranges.of(index, invariants) else { return false };
        if invariants.is_never_below(high, offset, length) {
            return false;
        }
        self.checks += 1;
        self.require_first(invariants, Condition::NotNegative { low, offset });
        if let Some(step) = step_to_check {
            self.require_first(invariants, Condition::CanStep { high, step });
        }
        self.require_first(invariants, Condition::Below { high, offset, length });
        true
    }

    fn carry_out(&self, function: &mut Function, l: &Loop, explain: bool) {
        if explain {
            let il_offset = function.blocks[l.header as usize].terminator_il_offset;
            let text = format!(
                "two versions of this loop: one without {} checks of indices, {} guards and {} loads",
                self.checks, self.guards, self.loads
            );
            function.decisions.push(Decision { method: function.method, il_offset, text });
        }
        let entered_from = entries(function, l);
        let mut test = Test::new(function, l);
        for condition in &self.conditions {
            test.require(condition);
        }
        for &value in &self.hoisted {
            test.clone_of(value);
        }
        let Test { clones, first, .. } = test.finish();
        let first_copy = function.blocks.len() as u32;
        let in_copy = |block: BlockId| match self.blocks.binary_search(&block.0) {
            Ok(place) => BlockId(first_copy + place as u32),
            Err(_) => block,
        };
        // The last block of the test leads to the copy.
        function.blocks[first_copy as usize - 1].terminator = Terminator::Jump(in_copy(BlockId(l.header)));
        let mut values: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        values.extend(self.hoisted.iter().map(|value| (*value, clones[value])));
        for &number in &self.blocks {
            let block = self.copy_block(function, number, &mut values, &in_copy);
            function.blocks.push(block);
        }
        for from in entered_from {
            redirect(&mut function.blocks[from as usize].terminator, &|to| match to.0 == l.header {
                true => first,
                false => to,
            });
        }
        for &block in &l.blocks {
            function.blocks[block as usize].cold = true;
        }
    }

    fn copy_block(
        &self,
        function: &mut Function,
        number: u32,
        values: &mut FxHashMap<ValueId, ValueId>,
        in_copy: &dyn Fn(BlockId) -> BlockId,
    ) -> Block {
        let mut block = function.blocks[number as usize].clone();
        let ids = std::mem::take(&mut block.insts);
        for id in ids {
            if self.dropped.contains(&id) || self.hoisted.contains(&id) {
                continue;
            }
            let Inst { mut op, ty, il_offset } = function.insts[id.0 as usize].clone();
            if let Some(&outcome) = self.decided.get(&id) {
                op = Op::ConstI32(outcome);
            }
            operands_mut(&mut op, &mut |value| *value = values.get(value).copied().unwrap_or(*value));
            let copied = ValueId(function.insts.len() as u32);
            function.insts.push(Inst { op, ty, il_offset });
            values.insert(id, copied);
            block.insts.push(copied);
        }
        if let Some(&to) = self.folded.get(&number) {
            block.terminator = Terminator::Jump(to);
        }
        terminator_operands_mut(&mut block.terminator, &mut |value| {
            *value = values.get(value).copied().unwrap_or(*value);
        });
        redirect(&mut block.terminator, in_copy);
        block
    }
}

/// Whether the comparison is the check of an index: its block ends with a branch on it, to a cold block if it fails.
fn is_check(function: &Function, block: u32, comparison: ValueId, op: CmpOp) -> bool {
    match function.blocks[block as usize].terminator {
        Terminator::Brif { cond, then, otherwise } if cond == comparison => {
            let failed = if op == CmpOp::LtUn { otherwise } else { then };
            function.blocks[failed.0 as usize].cold
        }
        _ => false,
    }
}

/// Whether the condition compares the method of a delegate with a guess.
fn is_delegate_guard(function: &Function, cond: ValueId) -> bool {
    let op = |value: ValueId| &function.insts[value.0 as usize].op;
    let Op::Cmp(CmpOp::Eq, a, _) = *op(cond) else { return false };
    let Op::Bin(BinOp::Or, differs, _) = *op(a) else { return false };
    let Op::Bin(BinOp::Xor, _, method) = *op(differs) else { return false };
    matches!(op(method), Op::SymbolAddr(Symbol::MethodHandle(_)))
}

/// Whether the condition compares the class of an object with a guess.
fn is_class_guard(function: &Function, cond: ValueId) -> bool {
    let op = |value: ValueId| &function.insts[value.0 as usize].op;
    let Op::Cmp(CmpOp::Eq, a, b) = *op(cond) else { return false };
    matches!(op(a), Op::Load { offset: OBJECT_VTABLE_OFFSET, flags: MemFlags { alias: AliasClass::VTable, .. }, .. })
        && matches!(op(b), Op::SymbolAddr(Symbol::VTable(_)))
}

/// The blocks outside the loop that lead to its header.
fn entries(function: &Function, l: &Loop) -> Vec<u32> {
    let mut found = Vec::new();
    for (number, block) in function.blocks.iter().enumerate() {
        let mut leads_here = false;
        successors(&block.terminator, &mut |to| leads_here |= to.0 == l.header);
        if leads_here && !l.contains(number as u32) {
            found.push(number as u32);
        }
    }
    found
}

/// The blocks that test before the loop, while they are made.
struct Test<'f> {
    function: &'f mut Function,
    header: BlockId,
    first: BlockId,
    current: BlockId,
    il_offset: u32,
    /// By value of the loop: what stands for it here.
    clones: FxHashMap<ValueId, ValueId>,
    /// What was made here; equal operations are one.
    made: Vec<ValueId>,
    /// Which of the loop's blocks holds each value; others are used as they are.
    is_inside: FxHashSet<ValueId>,
    tested: Vec<ValueId>,
}

impl<'f> Test<'f> {
    fn new(function: &'f mut Function, l: &Loop) -> Test<'f> {
        let is_inside =
            l.blocks.iter().flat_map(|&block| function.blocks[block as usize].insts.iter().copied()).collect();
        let il_offset = function.blocks[l.header as usize].terminator_il_offset;
        let mut test = Test {
            function,
            header: BlockId(l.header),
            first: BlockId(0),
            current: BlockId(0),
            il_offset,
            clones: FxHashMap::default(),
            made: Vec::new(),
            is_inside,
            tested: Vec::new(),
        };
        test.first = test.block();
        test.current = test.first;
        test
    }

    fn block(&mut self) -> BlockId {
        let id = BlockId(self.function.blocks.len() as u32);
        self.function.blocks.push(Block {
            insts: Vec::new(),
            terminator: Terminator::Unreachable,
            terminator_il_offset: self.il_offset,
            region: self.function.blocks[self.header.0 as usize].region,
            cold: false,
            then_is_likely: false,
            few_rounds: false,
        });
        id
    }

    fn emit(&mut self, op: Op, ty: IrType) -> ValueId {
        let is_same = |value: &&ValueId| {
            let made = &self.function.insts[value.0 as usize];
            made.ty == ty && made.op == op
        };
        if let Some(&value) = self.made.iter().find(is_same) {
            return value;
        }
        let value = ValueId(self.function.insts.len() as u32);
        self.function.insts.push(Inst { op, ty, il_offset: self.il_offset });
        self.function.blocks[self.current.0 as usize].insts.push(value);
        self.made.push(value);
        value
    }

    /// The value of the loop, computed here.
    fn clone_of(&mut self, value: ValueId) -> ValueId {
        if !self.is_inside.contains(&value) {
            return value;
        }
        if let Some(&clone) = self.clones.get(&value) {
            return clone;
        }
        let Inst { mut op, ty, .. } = self.function.insts[value.0 as usize].clone();
        let mut operands = Vec::new();
        crate::ir::verify::operands(&op, &mut |operand| operands.push(operand));
        let operands: FxHashMap<ValueId, ValueId> =
            operands.into_iter().map(|operand| (operand, self.clone_of(operand))).collect();
        operands_mut(&mut op, &mut |operand| *operand = operands[operand]);
        match &mut op {
            // Nothing here is null that is read.
            Op::ArrayLen(array) => {
                let length = self.load(*array, ARRAY_LENGTH_OFFSET, MemType::I32, AliasClass::Length);
                self.clones.insert(value, length);
                return length;
            }
            Op::Load { flags, .. } => flags.null_check = NullCheck::None,
            _ => {}
        }
        let clone = self.emit(op, ty);
        self.clones.insert(value, clone);
        clone
    }

    fn load(&mut self, addr: ValueId, offset: i32, mem: MemType, alias: AliasClass) -> ValueId {
        let flags = MemFlags { null_check: NullCheck::None, alias, volatile: false, unaligned: false };
        self.emit(Op::Load { addr, offset, mem, flags }, mem.loaded())
    }

    /// The number in 64 bits.
    fn term(&mut self, term: Term) -> ValueId {
        let value = self.clone_of(term.value);
        if let Some(n) = (Term { value, ..term }).constant(self.function) {
            return self.emit(Op::ConstI64(n), IrType::I64);
        }
        let conv = Op::Conv { value, target: saki_abi::ConvTarget::I8, checked: false, source_unsigned: false };
        let mut wide = self.emit(conv, IrType::I64);
        if term.is_negated {
            let zero = self.emit(Op::ConstI64(0), IrType::I64);
            wide = self.emit(Op::Bin(BinOp::Sub, zero, wide), IrType::I64);
        }
        self.plus(wide, i64::from(term.plus))
    }

    fn plus(&mut self, value: ValueId, n: i64) -> ValueId {
        if n == 0 {
            return value;
        }
        if let Op::ConstI64(m) = self.function.insts[value.0 as usize].op {
            return self.emit(Op::ConstI64(m + n), IrType::I64);
        }
        let n = self.emit(Op::ConstI64(n), IrType::I64);
        self.sum(value, n)
    }

    fn sum(&mut self, a: ValueId, b: ValueId) -> ValueId {
        match (&self.function.insts[a.0 as usize].op, &self.function.insts[b.0 as usize].op) {
            (Op::ConstI64(a), Op::ConstI64(b)) => self.emit(Op::ConstI64(a + b), IrType::I64),
            (Op::ConstI64(n), _) if *n == 0 => b,
            (_, Op::ConstI64(n)) if *n == 0 => a,
            _ => self.emit(Op::Bin(BinOp::Add, a, b), IrType::I64),
        }
    }

    fn with_offset(&mut self, term: Term, offset: Option<Term>) -> ValueId {
        let number = self.term(term);
        match offset {
            Some(offset) => {
                let offset = self.term(offset);
                self.sum(number, offset)
            }
            None => number,
        }
    }

    fn compare(&mut self, op: CmpOp, a: ValueId, b: ValueId) -> ValueId {
        let number = |value: ValueId| match self.function.insts[value.0 as usize].op {
            Op::ConstI64(n) => Some(n),
            _ => None,
        };
        if let (Some(a), Some(b)) = (number(a), number(b)) {
            let holds = if op == CmpOp::Lt { a < b } else { a <= b };
            return self.emit(Op::ConstI32(i32::from(holds)), IrType::I32);
        }
        self.emit(Op::Cmp(op, a, b), IrType::I32)
    }

    /// Goes on only where the condition holds.
    fn require(&mut self, condition: &Condition) {
        let cond = match *condition {
            Condition::NonNull(value) | Condition::Holds(value) => self.clone_of(value),
            Condition::IsArray(value) => {
                let object = self.clone_of(value);
                let vtable = self.load(object, OBJECT_VTABLE_OFFSET, MemType::I64, AliasClass::VTable);
                self.load(vtable, VTABLE_RANK_OFFSET, MemType::I32, AliasClass::Runtime)
            }
            Condition::NotNegative { low, offset } => {
                let number = self.with_offset(low, offset);
                let zero = self.emit(Op::ConstI64(0), IrType::I64);
                self.compare(CmpOp::Le, zero, number)
            }
            Condition::Below { high, offset, length } => {
                let number = self.with_offset(high, offset);
                let length = self.term(Term::of(length));
                self.compare(CmpOp::Lt, number, length)
            }
            Condition::CanStep { high, step } => {
                let number = self.term(high);
                let limit = self.emit(Op::ConstI64(i64::from(i32::MAX - step)), IrType::I64);
                self.compare(CmpOp::Le, number, limit)
            }
            Condition::HasRound { low, high, .. } => {
                let (low, high) = (self.term(low), self.term(high));
                self.compare(CmpOp::Le, low, high)
            }
            Condition::Inside { index, length } => {
                let (index, length) = (self.clone_of(index), self.clone_of(length));
                self.emit(Op::Cmp(CmpOp::LtUn, index, length), IrType::I32)
            }
        };
        let is_certain = matches!(self.function.insts[cond.0 as usize].op, Op::ConstI32(1..));
        if is_certain || self.tested.contains(&cond) {
            return;
        }
        self.tested.push(cond);
        let next = self.block();
        let end = &mut self.function.blocks[self.current.0 as usize];
        end.terminator = Terminator::Brif { cond, then: next, otherwise: self.header };
        self.current = next;
    }

    /// The last block gets its end from the caller.
    fn finish(self) -> Test<'f> {
        debug_assert_eq!(self.current.0 as usize, self.function.blocks.len() - 1);
        self
    }
}
