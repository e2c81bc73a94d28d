//! Which values of a loop can be computed before it, with the same result.
//!
//! A value does not change if it is made of constants, of variables that the loop does not write, and of words that
//! nothing writes: classes of objects and lengths of what is an array. Other words count if no instruction of the copy
//! may write them. Such a load is done before the loop only if the first round is certain to do it, after at most
//! checks that are tested before the loop too: a load behind a test of an object's class would read beyond the end of
//! other objects.

use super::ranges::Ranges;
use super::{Condition, Loop, Places, Plan, Term};
use crate::ir::verify::operands;
use crate::ir::{AliasClass, BinOp, Function, IrType, LocalId, MemFlags, NullCheck, Op, Terminator, UnOp, ValueId};
use crate::opt::dead::arithmetic_throws;
use crate::opt::unroll::weight_of;
use rustc_hash::FxHashSet;

/// How deep an expression may be that is computed before the loop.
const MAX_DEPTH: u32 = 12;

/// A load that is done before the loop.
pub(super) struct HoistedLoad {
    pub value: ValueId,
    pub conditions: Vec<Condition>,
}

pub(super) struct Invariants<'f> {
    function: &'f Function,
    l: &'f Loop,
    places: &'f Places,
    written: FxHashSet<LocalId>,
    loads: Vec<HoistedLoad>,
}

impl<'f> Invariants<'f> {
    /// Those of a loop, without loads of words that something may write (`find_loads`).
    pub fn new(function: &'f Function, l: &'f Loop, places: &'f Places) -> Invariants<'f> {
        let mut written = FxHashSet::default();
        for &block in &l.blocks {
            for value in &function.blocks[block as usize].insts {
                if let Op::LocalSet(local, _) = function.insts[value.0 as usize].op {
                    written.insert(local);
                }
            }
        }
        Invariants { function, l, places, written, loads: Vec::new() }
    }

    fn op(&self, value: ValueId) -> &'f Op {
        &self.function.insts[value.0 as usize].op
    }

    /// Whether the value is computed in the loop.
    pub fn is_inside(&self, value: ValueId) -> bool {
        self.l.contains(self.places.block(value))
    }

    /// The variable that a value was read from, if the variable is no memory.
    pub fn local(&self, value: ValueId) -> Option<LocalId> {
        match *self.op(value) {
            Op::LocalGet(local) => {
                let is_memory = |l: &crate::ir::Local| {
                    l.address_exposed || l.kind.is_elsewhere() || matches!(l.ty, IrType::Struct(_) | IrType::Block(_))
                };
                (!is_memory(&self.function.locals[local.0 as usize])).then_some(local)
            }
            _ => None,
        }
    }

    /// Whether the value is the same in each round, and can be computed before the loop.
    pub fn holds(&self, value: ValueId) -> bool {
        self.holds_to(value, MAX_DEPTH)
    }

    fn holds_to(&self, value: ValueId, depth: u32) -> bool {
        if !self.is_inside(value) {
            return self.places.block(value) != u32::MAX;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let op = self.op(value);
        let is_computed = match op {
            Op::ConstI32(_) | Op::ConstI64(_) | Op::Null | Op::SymbolAddr(_) => true,
            Op::LocalGet(_) => return self.local(value).is_some_and(|local| !self.written.contains(&local)),
            Op::ArrayLen(_) => true,
            Op::Load { flags, addr, .. } => is_class_word(flags) && self.is_object(*addr) || self.is_hoisted(value),
            Op::Bin(op, ..) => {
                matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor)
                    && matches!(self.function.insts[value.0 as usize].ty, IrType::I32 | IrType::I64)
            }
            Op::Un(op, _) => matches!(op, UnOp::Neg | UnOp::Not),
            Op::Cmp(_, a, _) => !matches!(self.function.insts[a.0 as usize].ty, IrType::F32 | IrType::F64),
            // An address into an object that may move is not computed for itself.
            Op::ElementAddr { .. } => true,
            Op::Conv { checked: false, .. } => {
                matches!(self.function.insts[value.0 as usize].ty, IrType::I32 | IrType::I64)
            }
            _ => false,
        };
        let mut holds = is_computed;
        operands(op, &mut |operand| holds = holds && self.holds_to(operand, depth));
        holds
    }

    fn is_object(&self, value: ValueId) -> bool {
        self.function.insts[value.0 as usize].ty == IrType::Ref
    }

    fn is_hoisted(&self, value: ValueId) -> bool {
        self.loads.iter().any(|load| load.value == value)
    }

    /// The load that is done before the loop for the value, or for another length of the same array.
    fn load_of(&self, value: ValueId) -> Option<&HoistedLoad> {
        let is_same = |load: &&HoistedLoad| match (self.op(load.value), self.op(value)) {
            (Op::ArrayLen(a), Op::ArrayLen(b)) => self.are_same(*a, *b),
            _ => load.value == value,
        };
        self.loads.iter().find(is_same)
    }

    /// What must hold before the value can be computed before the loop, in this order: objects that are read are not
    /// null, and loads are those of the first round.
    pub fn requirements(&self, value: ValueId) -> Vec<Condition> {
        let mut found = Vec::new();
        self.find_requirements(value, &mut found);
        found
    }

    fn find_requirements(&self, value: ValueId, found: &mut Vec<Condition>) {
        if !self.is_inside(value) || !self.holds(value) {
            return;
        }
        let load = self.load_of(value);
        if let Some(load) = load {
            for condition in &load.conditions {
                condition.values().into_iter().for_each(|value| self.find_requirements(value, found));
                if !found.contains(condition) {
                    found.push(*condition);
                }
            }
        }
        let op = self.op(value);
        operands(op, &mut |operand| self.find_requirements(operand, found));
        if let Op::ArrayLen(base) | Op::Load { addr: base, .. } | Op::ElementAddr { array: base, .. } = *op
            && self.is_object(base)
        {
            let is_known = |c: &Condition| matches!(c, Condition::NonNull(known) if self.are_same(*known, base));
            if !found.iter().any(is_known) {
                found.push(Condition::NonNull(base));
            }
            let is_array = |c: &Condition| matches!(c, Condition::IsArray(known) if self.are_same(*known, base));
            if load.is_none() && matches!(op, Op::ArrayLen(_)) && !found.iter().any(is_array) {
                found.push(Condition::IsArray(base));
            }
        }
    }

    /// The loads that are done before the loop to compute the value, and for what they require.
    pub fn loads_in(&self, value: ValueId) -> Vec<ValueId> {
        let mut found = Vec::new();
        self.find_loads_in(value, &mut found);
        found
    }

    fn find_loads_in(&self, value: ValueId, found: &mut Vec<ValueId>) {
        if !self.is_inside(value) || found.contains(&value) || !self.holds(value) {
            return;
        }
        operands(self.op(value), &mut |operand| self.find_loads_in(operand, found));
        if let Some(load) = self.loads.iter().find(|load| load.value == value) {
            let needed = load.conditions.iter().flat_map(Condition::values);
            needed.for_each(|value| self.find_loads_in(value, found));
            found.push(value);
        }
    }

    /// Whether two values that do not change are surely equal.
    pub fn are_same(&self, a: ValueId, b: ValueId) -> bool {
        a == b || (self.local(a).is_some() && self.local(a) == self.local(b) && self.holds(a) && self.holds(b))
    }

    /// Whether `high + offset < length` is certain to fail: the number is the length, or more.
    pub fn is_never_below(&self, high: Term, offset: Option<Term>, length: ValueId) -> bool {
        let (Op::ArrayLen(counted), Op::ArrayLen(indexed)) = (self.op(high.value), self.op(length)) else {
            return false;
        };
        let number = match offset {
            None => Some(0),
            Some(offset) => match *self.op(offset.value) {
                Op::ConstI32(n) => Some(if offset.is_negated { -i64::from(n) } else { i64::from(n) }),
                _ => None,
            },
        };
        self.are_same(*counted, *indexed) && number.is_some_and(|n| n + i64::from(high.plus) >= 0)
    }

    /// Finds the loads that are done before the loop.
    pub fn find_loads(&mut self, plan: &Plan, ranges: &Ranges) {
        self.loads.clear();
        let clobbers = Clobbers::of(self.function, plan);
        let mut conditions = Vec::new();
        let mut checked: Vec<(ValueId, ValueId)> = Vec::new();
        let mut block = self.l.header;
        let mut seen = Vec::new();
        while self.l.contains(block) && !seen.contains(&block) {
            seen.push(block);
            for &value in &self.function.blocks[block as usize].insts {
                match *self.op(value) {
                    Op::Load { addr, ref flags, .. } => {
                        let is_free = !flags.volatile && !clobbers.may_write(flags.alias);
                        if let Some(more) = self.conditions_of(addr, &checked).filter(|_| is_free && self.holds(addr)) {
                            let conditions = conditions.iter().copied().chain(more).collect();
                            self.loads.push(HoistedLoad { value, conditions });
                        } else if flags.null_check == NullCheck::Needed && !self.holds(addr) {
                            return;
                        }
                    }
                    Op::BoundsCheck { index, length } => {
                        if self.holds(index) && self.holds(length) {
                            checked.push((index, length));
                        } else if !self.holds(length) || ranges.of(index, self).is_none() {
                            return;
                        }
                    }
                    Op::NullCheck(object) | Op::ArrayLen(object) if !self.holds(object) => return,
                    // The first round reads the length, so it need not be asked whether there is one.
                    Op::ArrayLen(_) => self.loads.push(HoistedLoad { value, conditions: conditions.clone() }),
                    Op::Store { ref flags, addr, .. } if flags.null_check == NullCheck::Needed && !self.holds(addr) => {
                        return;
                    }
                    ref op if ends_certainty(op) => return,
                    _ => {}
                }
            }
            block = match self.function.blocks[block as usize].terminator {
                Terminator::Jump(next) => next.0,
                // Objects of other classes may lack what is read behind the guard.
                Terminator::Brif { cond, .. } if plan.folded.contains_key(&block) => {
                    conditions.push(Condition::Holds(cond));
                    plan.folded[&block].0
                }
                _ => match ranges.round(block, self) {
                    Some((condition, next)) => {
                        conditions.push(condition);
                        next
                    }
                    None => return,
                },
            };
        }
    }

    /// What must be tested before a load from this address. None: it cannot be done before the loop.
    fn conditions_of(&self, addr: ValueId, checked: &[(ValueId, ValueId)]) -> Option<Vec<Condition>> {
        if self.is_object(addr) {
            return Some(Vec::new());
        }
        let Op::ElementAddr { index, array, .. } = *self.op(addr) else { return None };
        let is_its_length = |length: ValueId| matches!(*self.op(length), Op::ArrayLen(of) if self.are_same(of, array));
        let (index, length) =
            checked.iter().copied().find(|&(known, length)| self.are_same(known, index) && is_its_length(length))?;
        Some(vec![Condition::Inside { index, length }])
    }
}

/// Whether a load reads the class of an object, which all objects have.
fn is_class_word(flags: &MemFlags) -> bool {
    flags.alias == AliasClass::VTable && !flags.volatile
}

/// Whether the code behind the operation need not be reached, or need not be reached with the same memory.
fn ends_certainty(op: &Op) -> bool {
    arithmetic_throws(op) || weight_of(op).is_none()
}

/// What the copy of a loop may write.
struct Clobbers {
    everything: bool,
    classes: FxHashSet<AliasClass>,
}

impl Clobbers {
    fn of(function: &Function, plan: &Plan) -> Clobbers {
        let mut found = Clobbers { everything: false, classes: FxHashSet::default() };
        for &block in &plan.blocks {
            for value in &function.blocks[block as usize].insts {
                match &function.insts[value.0 as usize].op {
                    Op::Store { flags, .. } | Op::StoreRef { flags, .. } => {
                        found.everything |= flags.alias == AliasClass::Any || flags.volatile;
                        found.classes.insert(flags.alias);
                    }
                    // What other threads have written is seen behind these.
                    op => found.everything |= writes_memory(op),
                }
            }
        }
        found
    }

    fn may_write(&self, alias: AliasClass) -> bool {
        self.everything
            || self.classes.contains(&alias)
            || (alias == AliasClass::Any && !self.classes.is_empty())
            || alias == AliasClass::Runtime
    }
}

fn writes_memory(op: &Op) -> bool {
    match op {
        Op::Load { flags, .. } => flags.volatile,
        _ => weight_of(op).is_none(),
    }
}
