//! Removes null and bounds checks that an earlier check makes redundant.
//!
//! Works on extended basic blocks: a block with one predecessor starts with the facts that hold at the predecessor's
//! end. Values are numbered so that two reads of an unchanged local, or two lengths of one array, count as equal; the
//! condition of a branch is a fact in the block that it leads to. Left out: facts common to several predecessors; loops
//! (see `bounds`).

use super::flow::Predecessors;
use crate::ir::{AliasClass, CmpOp, Function, MemFlags, MemType, NullCheck, Op, Terminator, ValueId, verify};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::object::STRING_LENGTH_OFFSET;

/// Number of a value; equal numbers are equal values.
type Number = u32;

/// The constant or length that a number stands for; other numbers stand for values.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Shape {
    Const(i64),
    ArrayLength(Number),
    StringLength(Number),
}

/// The facts that hold at a point of the code.
#[derive(Clone, Default)]
struct CheckState {
    /// The number of each local's current value.
    locals: FxHashMap<u32, Number>,
    non_null: FxHashSet<Number>,
    /// (index, length) pairs that were checked.
    in_bounds: FxHashSet<(Number, Number)>,
}

/// Larger states are not copied to the next block, so that long chains of blocks stay cheap.
const MAX_INHERITED: usize = 200;
/// Facts of all blocks together that are kept at a time; each takes some 20 bytes.
const MAX_KEPT: usize = 500_000;

impl CheckState {
    fn size(&self) -> usize {
        self.locals.len() + self.non_null.len() + self.in_bounds.len()
    }
}

/// The facts at the ends of blocks, until the last block that starts with them has taken them.
struct Ends {
    /// By block: the facts, and how many blocks start with them that are still to come.
    of: Vec<Option<(CheckState, u32)>>,
    /// Sizes of those that are kept.
    kept: usize,
}

impl Ends {
    fn keep(&mut self, block: usize, state: CheckState, heirs: u32) {
        let size = state.size();
        if heirs > 0 && (1..=MAX_INHERITED).contains(&size) && self.kept + size <= MAX_KEPT {
            self.kept += size;
            self.of[block] = Some((state, heirs));
        }
    }

    /// The facts with which a block starts whose only predecessor is `from`.
    fn inherit(&mut self, from: usize) -> CheckState {
        match &mut self.of[from] {
            None => CheckState::default(),
            Some((state, heirs)) if *heirs > 1 => {
                *heirs -= 1;
                state.clone()
            }
            last => {
                let (state, _) = last.take().unwrap_or_default();
                self.kept -= state.size();
                state
            }
        }
    }
}

struct Checks<'f> {
    function: &'f mut Function,
    numbers: Vec<Option<Number>>,
    shapes: FxHashMap<Shape, Number>,
    constants: FxHashMap<Number, i64>,
    next: Number,
    state: CheckState,
    non_null_lengths: Vec<ValueId>,
}

/// Runs the pass; returns the `ArrayLen`s of arrays that are certainly not null.
pub(super) fn run(function: &mut Function) -> Vec<ValueId> {
    let has_checks = function.blocks.iter().flat_map(|b| &b.insts).any(|v| {
        let op = &function.insts[v.0 as usize].op;
        matches!(op, Op::NullCheck(_) | Op::BoundsCheck { .. } | Op::ArrayLen(_)) || access_check(op).is_some()
    });
    if !has_checks {
        return Vec::new();
    }
    let predecessors = Predecessors::of(function);
    let mut checks = Checks {
        numbers: vec![None; function.insts.len()],
        shapes: FxHashMap::default(),
        constants: FxHashMap::default(),
        next: 0,
        state: CheckState::default(),
        non_null_lengths: Vec::new(),
        function,
    };
    let mut ends = Ends { of: Vec::new(), kept: 0 };
    ends.of.resize_with(checks.function.blocks.len(), || None);
    for block in 0..checks.function.blocks.len() {
        let from = predecessors.only(block).filter(|p| *p < block);
        checks.state = from.map(|from| ends.inherit(from)).unwrap_or_default();
        if let Some(from) = from {
            checks.learn_from_branch(from, block);
        }
        checks.block(block);
        let mut heirs = 0;
        verify::successors(&checks.function.blocks[block].terminator, &mut |b| {
            heirs += u32::from(b.0 as usize > block && predecessors.only(b.0 as usize) == Some(block));
        });
        ends.keep(block, std::mem::take(&mut checks.state), heirs);
    }
    checks.non_null_lengths
}

/// The base that an access checks for null.
fn access_check(op: &Op) -> Option<ValueId> {
    match op {
        Op::Load { addr, flags, .. } | Op::Store { addr, flags, .. } | Op::StoreRef { addr, flags, .. }
            if flags.null_check == NullCheck::Needed =>
        {
            Some(*addr)
        }
        _ => None,
    }
}

fn flags_of(op: &mut Op) -> Option<&mut MemFlags> {
    match op {
        Op::Load { flags, .. } | Op::Store { flags, .. } | Op::StoreRef { flags, .. } => Some(flags),
        _ => None,
    }
}

impl Checks<'_> {
    fn fresh(&mut self) -> Number {
        self.next += 1;
        self.next
    }

    fn shaped(&mut self, shape: Shape) -> Number {
        if let Some(number) = self.shapes.get(&shape) {
            return *number;
        }
        let number = self.fresh();
        self.shapes.insert(shape, number);
        if let Shape::Const(value) = shape {
            self.constants.insert(number, value);
        }
        number
    }

    fn number(&mut self, value: ValueId) -> Number {
        if let Some(number) = self.numbers[value.0 as usize] {
            return number;
        }
        let number = self.fresh();
        self.numbers[value.0 as usize] = Some(number);
        number
    }

    fn block(&mut self, block: usize) {
        let insts = std::mem::take(&mut self.function.blocks[block].insts);
        let kept = insts.into_iter().filter(|value| self.keep(*value)).collect();
        self.function.blocks[block].insts = kept;
    }

    /// Adds the facts implied by the branch at the end of `from`, the single predecessor of `block`.
    fn learn_from_branch(&mut self, from: usize, block: usize) {
        let Terminator::Brif { cond, then, otherwise } = self.function.blocks[from].terminator else { return };
        if then == otherwise {
            return;
        }
        let is_then = then.0 as usize == block;
        match self.function.insts[cond.0 as usize].op {
            Op::Cmp(op, a, b) => {
                let is_null = matches!(self.function.insts[b.0 as usize].op, Op::Null);
                let (a, b) = (self.number(a), self.number(b));
                match (op, is_then) {
                    (CmpOp::LtUn, true) | (CmpOp::GeUn, false) => {
                        self.state.in_bounds.insert((a, b));
                    }
                    (CmpOp::GtUn, true) | (CmpOp::LeUn, false) if !is_null => {
                        self.state.in_bounds.insert((b, a));
                    }
                    (CmpOp::NeUn, true) | (CmpOp::Eq, false) if is_null => {
                        self.state.non_null.insert(a);
                    }
                    _ => {}
                }
            }
            _ if is_then => {
                let number = self.number(cond);
                self.state.non_null.insert(number);
            }
            _ => {}
        }
    }

    /// Numbers the instruction's value and returns whether the instruction is needed.
    fn keep(&mut self, value: ValueId) -> bool {
        let op = self.function.insts[value.0 as usize].op.clone();
        let number = match op {
            Op::ConstI32(n) => Some(self.shaped(Shape::Const(i64::from(n)))),
            Op::ConstI64(n) => Some(self.shaped(Shape::Const(n))),
            Op::LocalGet(local) if !self.function.locals[local.0 as usize].address_exposed => {
                let known = self.state.locals.get(&local.0).copied();
                let number = known.unwrap_or_else(|| self.fresh());
                self.state.locals.insert(local.0, number);
                Some(number)
            }
            Op::LocalSet(local, stored) => {
                let number = self.number(stored);
                self.state.locals.insert(local.0, number);
                None
            }
            Op::ArrayLen(array) => {
                let array_number = self.number(array);
                if !self.state.non_null.insert(array_number) {
                    self.non_null_lengths.push(value);
                }
                Some(self.shaped(Shape::ArrayLength(array_number)))
            }
            Op::NewObject(_) | Op::NewArray(..) | Op::NewString(_) | Op::LocalAddr(_) => {
                let number = self.number(value);
                self.state.non_null.insert(number);
                if let Op::NewArray(_, length) = op {
                    // Later lengths of this array are equal to the number with which it was made, which then must have
                    // been in range.
                    let length = self.number(length);
                    if self.constants.contains_key(&length) {
                        self.shapes.insert(Shape::ArrayLength(number), length);
                    }
                }
                Some(number)
            }
            Op::NullCheck(checked) => {
                let number = self.number(checked);
                return self.state.non_null.insert(number);
            }
            Op::BoundsCheck { index, length } => {
                let (index, length) = (self.number(index), self.number(length));
                if let (Some(i), Some(n)) = (self.constants.get(&index), self.constants.get(&length))
                    && (0..*n).contains(i)
                {
                    return false;
                }
                return self.state.in_bounds.insert((index, length));
            }
            _ => {
                if let Some(base) = access_check(&op) {
                    let base = self.number(base);
                    if !self.state.non_null.insert(base)
                        && let Some(flags) = flags_of(&mut self.function.insts[value.0 as usize].op)
                    {
                        flags.null_check = NullCheck::None;
                    }
                }
                self.string_length(&op)
            }
        };
        if let Some(number) = number {
            self.numbers[value.0 as usize] = Some(number);
        }
        true
    }

    fn string_length(&mut self, op: &Op) -> Option<Number> {
        match op {
            Op::Load { addr, offset: STRING_LENGTH_OFFSET, mem: MemType::I32, flags }
                if flags.alias == AliasClass::Length && !flags.volatile =>
            {
                let string = self.number(*addr);
                Some(self.shaped(Shape::StringLength(string)))
            }
            _ => None,
        }
    }
}
