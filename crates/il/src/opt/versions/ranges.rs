//! The numbers through which a loop counts.
//!
//! A variable that the loop changes once in each round, by a constant, and compares with a limit that does not change,
//! runs through the numbers between its first value and the limit, where the comparison has held in the same round.

use super::invariants::Invariants;
use super::{Condition, Loop, Places, Term};
use crate::ir::dominators::Dominators;
use crate::ir::verify::successors;
use crate::ir::{BinOp, CmpOp, Function, IrType, LocalId, Op, Terminator, ValueId};
use crate::opt::flow::Predecessors;

/// A variable that a loop counts with.
struct Counter {
    local: LocalId,
    step: i32,
    /// Where it is written.
    step_block: u32,
    step_position: u32,
    /// The block that compares it with the limit, and the one behind, in which the comparison holds.
    guard: u32,
    body: u32,
    /// A value of the variable, read in the loop: before the loop, its first value.
    read: ValueId,
    limit: ValueId,
    /// The last value is the limit itself.
    is_inclusive: bool,
}

/// The values of an index: from `low + offset` to `high + offset`, in 64 bits.
pub(super) struct Range {
    pub low: Term,
    pub high: Term,
    pub offset: Option<Term>,
    /// The variable does not wrap around if `high` is at most `i32::MAX` less this.
    pub step_to_check: Option<i32>,
}

pub(super) struct Ranges<'f> {
    function: &'f Function,
    l: &'f Loop,
    dominators: &'f Dominators,
    places: &'f Places,
    counters: Vec<Counter>,
}

impl<'f> Ranges<'f> {
    /// Finds what the loop counts with.
    pub fn new(
        function: &'f Function,
        l: &'f Loop,
        predecessors: &Predecessors,
        dominators: &'f Dominators,
        places: &'f Places,
    ) -> Ranges<'f> {
        let mut ranges = Ranges { function, l, dominators, places, counters: Vec::new() };
        let mut writes: Vec<(LocalId, ValueId, ValueId)> = Vec::new();
        for &block in &l.blocks {
            for &value in &function.blocks[block as usize].insts {
                if let Op::LocalSet(local, stored) = function.insts[value.0 as usize].op {
                    writes.push((local, value, stored));
                }
            }
        }
        for &(local, write, stored) in &writes {
            let is_number = function.locals[local.0 as usize].ty == IrType::I32
                && !function.locals[local.0 as usize].address_exposed
                && !function.locals[local.0 as usize].kind.is_elsewhere();
            let is_only_write = writes.iter().filter(|(other, ..)| *other == local).count() == 1;
            if is_number
                && is_only_write
                && let Some(step) = ranges.step(local, write, stored)
            {
                ranges.find_guards(local, step, write, predecessors);
            }
        }
        ranges
    }

    fn op(&self, value: ValueId) -> &'f Op {
        &self.function.insts[value.0 as usize].op
    }

    /// The constant by which the variable changes: it is read in the block that writes it.
    fn step(&self, local: LocalId, write: ValueId, stored: ValueId) -> Option<i32> {
        let (op, base, amount) = match *self.op(stored) {
            Op::Bin(op @ (BinOp::Add | BinOp::AddOvf | BinOp::Sub | BinOp::SubOvf), a, b) => (op, a, b),
            _ => return None,
        };
        let Op::ConstI32(amount) = *self.op(amount) else { return None };
        let is_own = *self.op(base) == Op::LocalGet(local) && self.places.block(base) == self.places.block(write);
        let amount = match op {
            BinOp::Add | BinOp::AddOvf => amount,
            _ => amount.checked_neg()?,
        };
        (is_own && (amount > 0 || amount == -1)).then_some(amount)
    }

    fn find_guards(&mut self, local: LocalId, step: i32, write: ValueId, predecessors: &Predecessors) {
        for &guard in &self.l.blocks {
            let Terminator::Brif { cond, then, otherwise } = self.function.blocks[guard as usize].terminator else {
                continue;
            };
            let Op::Cmp(op, a, b) = *self.op(cond) else { continue };
            let is_read = |value: ValueId| {
                *self.op(value) == Op::LocalGet(local)
                    && self.places.block(value) == guard
                    && (self.places.block(write) != guard
                        || self.places.of[write.0 as usize].1 < self.places.of[value.0 as usize].1)
            };
            let (read, limit, op) = match op {
                _ if is_read(a) => (a, b, op),
                CmpOp::Lt => (b, a, CmpOp::Gt),
                CmpOp::Le => (b, a, CmpOp::Ge),
                CmpOp::Gt => (b, a, CmpOp::Lt),
                CmpOp::Ge => (b, a, CmpOp::Le),
                _ => continue,
            };
            if !is_read(read) || self.function.insts[limit.0 as usize].ty != IrType::I32 {
                continue;
            }
            // The edge on which the variable is on the right side of the limit.
            let (body, is_inclusive) = match (op, step > 0) {
                (CmpOp::Lt, true) | (CmpOp::Gt, false) => (then, false),
                (CmpOp::Le, true) | (CmpOp::Ge, false) => (then, true),
                (CmpOp::Ge, true) | (CmpOp::Le, false) => (otherwise, false),
                (CmpOp::Gt, true) | (CmpOp::Lt, false) => (otherwise, true),
                _ => continue,
            };
            let (step_block, step_position) = self.places.of[write.0 as usize];
            if then == otherwise
                || !self.l.contains(body.0)
                || predecessors.only(body.0 as usize) != Some(guard as usize)
                || !self.dominators.dominates(body.0, step_block)
            {
                continue;
            }
            let body = body.0;
            self.counters.push(Counter {
                local,
                step,
                step_block,
                step_position,
                guard,
                body,
                read,
                limit,
                is_inclusive,
            });
        }
    }

    /// If the block ends with a comparison that lets the loop go on: what is to hold before the loop so that the first
    /// round goes on, and where.
    pub fn round(&self, block: u32, invariants: &Invariants) -> Option<(Condition, u32)> {
        let counter = self.counters.iter().find(|c| c.guard == block && invariants.holds(c.limit))?;
        let (low, high) = counter.ends();
        Some((Condition::HasRound { low, high, step: counter.step.unsigned_abs() }, counter.body))
    }

    /// The numbers that an index may be, where it was read.
    pub fn of(&self, index: ValueId, invariants: &Invariants) -> Option<Range> {
        if self.function.insts[index.0 as usize].ty != IrType::I32 {
            return None;
        }
        if let Some(counter) = self.counter_of(index, invariants) {
            return Some(counter.range(None));
        }
        let Op::Bin(op, a, b) = *self.op(index) else { return None };
        let (counted, offset, is_negated) = match op {
            BinOp::Add | BinOp::AddOvf if self.counter_of(a, invariants).is_some() => (a, b, false),
            BinOp::Add | BinOp::AddOvf => (b, a, false),
            BinOp::Sub | BinOp::SubOvf => (a, b, true),
            _ => return None,
        };
        let counter = self.counter_of(counted, invariants)?;
        // Downward to the least number, the variable may wrap around, which an offset of 2^31 would hide.
        if is_negated && counter.step < 0 && counter.is_inclusive {
            return None;
        }
        invariants.holds(offset).then(|| counter.range(Some(Term { value: offset, is_negated, plus: 0 })))
    }

    /// The counter from which the value was read, at a place where its comparison has held in the same round and it has
    /// not been changed since.
    fn counter_of(&self, value: ValueId, invariants: &Invariants) -> Option<&Counter> {
        let Op::LocalGet(local) = *self.op(value) else { return None };
        let (block, position) = self.places.of[value.0 as usize];
        self.counters.iter().find(|c| {
            c.local == local
                && self.l.contains(block)
                && self.dominators.dominates(c.body, block)
                && invariants.holds(c.limit)
                && !self.is_behind_step(c, block, position)
        })
    }

    /// Whether a way leads from where the variable changes to the place, without the comparison between them.
    fn is_behind_step(&self, counter: &Counter, block: u32, position: u32) -> bool {
        if counter.step_block == block {
            return counter.step_position < position;
        }
        let mut seen = vec![counter.step_block];
        let mut work = vec![counter.step_block];
        while let Some(from) = work.pop() {
            let mut reaches = false;
            successors(&self.function.blocks[from as usize].terminator, &mut |to| {
                reaches |= to.0 == block;
                if to.0 != counter.guard && self.l.contains(to.0) && !seen.contains(&to.0) {
                    seen.push(to.0);
                    work.push(to.0);
                }
            });
            if reaches {
                return true;
            }
        }
        false
    }
}

impl Counter {
    /// The least and the greatest value behind the comparison.
    fn ends(&self) -> (Term, Term) {
        let first = Term::of(self.read);
        let last = |by: i32| Term { plus: if self.is_inclusive { 0 } else { by }, ..Term::of(self.limit) };
        if self.step > 0 { (first, last(-1)) } else { (last(1), first) }
    }

    fn range(&self, offset: Option<Term>) -> Range {
        let (low, high) = self.ends();
        // One below a number there is room for a step of 1.
        let is_safe = self.step < 0 || (self.step == 1 && !self.is_inclusive);
        Range { low, high, offset, step_to_check: (!is_safe).then_some(self.step) }
    }
}
