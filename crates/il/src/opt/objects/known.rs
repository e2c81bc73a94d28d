//! Folds what is known of objects whose allocation is known, whether they escape or not.
//!
//! Known are the class of such an object, that it is not null, and what a delegate was made of, since nothing changes
//! that. A call of a delegate's code becomes a direct one.

use super::aliases::Aliases;
use super::sites::{Delegate, Sites};
use crate::ir::dominators::Dominators;
use crate::ir::{
    BinOp, CallTarget, CmpOp, Function, IrType, MemFlags, MemType, Op, Symbol, Terminator, ValueId, verify,
};
use rustc_hash::FxHashMap;
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_types::{Ty, universe};

/// Runs the pass; false: there was nothing to fold.
pub(super) fn fold(function: &mut Function, sites: &Sites, aliases: &Aliases) -> bool {
    let mut folding = Folding { function, sites, aliases, targets: Vec::new(), has_changed: false };
    for block in 0..folding.function.blocks.len() {
        if aliases.is_reachable(block) {
            folding.block(block);
        }
    }
    let Folding { targets, mut has_changed, .. } = folding;
    has_changed |= substitute(function, &targets);
    has_changed
}

struct Folding<'a> {
    function: &'a mut Function,
    sites: &'a Sites,
    aliases: &'a Aliases,
    /// Loads of delegates' targets, with the targets.
    targets: Vec<(ValueId, ValueId)>,
    has_changed: bool,
}

/// The integer, or null, that a value is.
fn constant(function: &Function, value: ValueId) -> Option<i64> {
    match function.insts[value.0 as usize].op {
        Op::ConstI32(n) => Some(i64::from(n)),
        Op::ConstI64(n) => Some(n),
        Op::Null => Some(0),
        _ => None,
    }
}

impl Folding<'_> {
    fn op(&self, value: ValueId) -> &Op {
        &self.function.insts[value.0 as usize].op
    }

    fn block(&mut self, block: usize) {
        for index in 0..self.function.blocks[block].insts.len() {
            let value = self.function.blocks[block].insts[index];
            if let Some((op, ty)) = self.folded(value) {
                let inst = &mut self.function.insts[value.0 as usize];
                (inst.op, inst.ty) = (op, ty);
                self.has_changed = true;
            }
        }
        if let Terminator::Brif { cond, then, otherwise } = self.function.blocks[block].terminator {
            let is_object = self.aliases.object(cond).is_some();
            if let Some(is_then) = is_object.then_some(true).or(constant(self.function, cond).map(|n| n != 0)) {
                let to = if is_then { then } else { otherwise };
                self.function.blocks[block].terminator = Terminator::Jump(to);
                self.has_changed = true;
            }
        }
    }

    /// What an instruction is, if it is known to be something simpler.
    fn folded(&mut self, value: ValueId) -> Option<(Op, IrType)> {
        match *self.op(value) {
            Op::Load { addr, offset, mem, flags } => self.loaded(value, addr, offset, mem, flags),
            Op::IsInst(object, ty) => {
                let site = self.sites.get(self.aliases.object(object)?)?;
                is_certainly_not(site.ty, ty).then_some((Op::Null, IrType::Ref))
            }
            Op::Cmp(op @ (CmpOp::Eq | CmpOp::NeUn | CmpOp::GtUn), a, b) => {
                let are_equal = self.are_equal(a, b)?;
                // Of two words, `GtUn` is only known here if the second one is null.
                if op == CmpOp::GtUn && constant(self.function, b) != Some(0) {
                    return None;
                }
                Some((Op::ConstI32(i32::from(are_equal == (op == CmpOp::Eq))), IrType::I32))
            }
            Op::Bin(op @ (BinOp::Xor | BinOp::Or), a, b) if self.function.insts[value.0 as usize].ty == IrType::I64 => {
                let folded = match (constant(self.function, a), constant(self.function, b)) {
                    (Some(a), Some(b)) if op == BinOp::Or => a | b,
                    (Some(a), Some(b)) => a ^ b,
                    _ if op == BinOp::Xor && self.are_equal(a, b) == Some(true) => 0,
                    _ => return None,
                };
                Some((Op::ConstI64(folded), IrType::I64))
            }
            Op::Call { target: CallTarget::Indirect(code), .. } => {
                let Op::SymbolAddr(Symbol::MethodEntry(method)) = *self.op(code) else { return None };
                let inst = &mut self.function.insts[value.0 as usize];
                if let Op::Call { target, .. } = &mut inst.op {
                    *target = CallTarget::Direct(method);
                }
                self.has_changed = true;
                None
            }
            _ => None,
        }
    }

    fn loaded(
        &mut self,
        value: ValueId,
        addr: ValueId,
        offset: i32,
        mem: MemType,
        flags: MemFlags,
    ) -> Option<(Op, IrType)> {
        let alias = self.aliases.get(addr)?;
        let site = self.sites.get(alias.site)?;
        let at = alias.offset + offset;
        if at == OBJECT_VTABLE_OFFSET && mem == MemType::I64 {
            return Some((Op::SymbolAddr(Symbol::VTable(site.ty)), IrType::I64));
        }
        let delegate = site.delegate.as_ref()?;
        if flags.volatile {
            return None;
        }
        match known_field(delegate, at, mem)? {
            DelegateField::Value(known) => {
                let op = self.op(known).clone();
                if matches!(op, Op::SymbolAddr(_) | Op::Null) {
                    return Some((op, self.function.insts[known.0 as usize].ty));
                }
                self.targets.push((value, known));
                None
            }
            DelegateField::Number(number) if mem == MemType::I32 => Some((Op::ConstI32(number), IrType::I32)),
            DelegateField::Number(number) => Some((Op::ConstI64(i64::from(number)), IrType::I64)),
        }
    }

    /// Whether two values are equal, if that is known.
    fn are_equal(&self, a: ValueId, b: ValueId) -> Option<bool> {
        if let (Some(a), Some(b)) = (constant(self.function, a), constant(self.function, b)) {
            return Some(a == b);
        }
        match (self.op(a), self.op(b)) {
            (Op::SymbolAddr(Symbol::VTable(a)), Op::SymbolAddr(Symbol::VTable(b))) => return a.is_same_in_all(b),
            (Op::SymbolAddr(a), Op::SymbolAddr(b)) => return (a == b).then_some(true),
            _ => {}
        }
        let is_null = |value: ValueId| matches!(self.op(value), Op::Null) || constant(self.function, value) == Some(0);
        match (self.aliases.object(a), self.aliases.object(b)) {
            (Some(a), Some(b)) if a == b => Some(true),
            (Some(_), _) if is_null(b) => Some(false),
            (_, Some(_)) if is_null(a) => Some(false),
            _ => None,
        }
    }
}

/// A field of a delegate whose value is known.
enum DelegateField {
    Value(ValueId),
    Number(i32),
}

fn known_field(delegate: &Delegate, offset: i32, mem: MemType) -> Option<DelegateField> {
    let fields = &delegate.fields;
    let is_word = matches!(mem, MemType::I64 | MemType::Ref);
    if !is_word && mem != MemType::I32 {
        return None;
    }
    match offset {
        _ if offset == fields.invoke_impl => Some(DelegateField::Number(delegate.kind as i32)),
        _ if offset == fields.delegates || Some(offset) == fields.count => Some(DelegateField::Number(0)),
        _ if !is_word => None,
        _ if offset == fields.target => Some(DelegateField::Value(delegate.target)),
        _ if offset == fields.method_ptr => Some(DelegateField::Value(delegate.code)),
        _ if offset == fields.method => Some(DelegateField::Value(delegate.method)),
        _ => None,
    }
}

/// Whether an object of exactly the class `ty` is no instance of `target`.
fn is_certainly_not(ty: Ty, target: Ty) -> bool {
    if target == universe().object() || ty.is_array() || target.mentions_stand_in() {
        return false;
    }
    // Some objects decide themselves which interfaces they have.
    let may_decide = target.is_interface() && !matches!(ty.dynamic_castable(), Ok(None));
    !may_decide && matches!(ty.is_assignable_to(target), Ok(false))
}

/// Replaces values by others where those are available.
fn substitute(function: &mut Function, pairs: &[(ValueId, ValueId)]) -> bool {
    if pairs.is_empty() {
        return false;
    }
    let mut block_of = vec![0u32; function.insts.len()];
    for (index, block) in function.blocks.iter().enumerate() {
        block.insts.iter().for_each(|value| block_of[value.0 as usize] = index as u32);
    }
    let dominators = Dominators::of(function);
    let by: FxHashMap<ValueId, ValueId> = pairs
        .iter()
        .copied()
        .filter(|(value, by)| dominators.dominates(block_of[by.0 as usize], block_of[value.0 as usize]))
        .collect();
    let mut has_changed = false;
    let mut replace = |used: &mut ValueId| {
        while let Some(&other) = by.get(used) {
            *used = other;
            has_changed = true;
        }
    };
    for block in &mut function.blocks {
        for value in &block.insts {
            verify::operands_mut(&mut function.insts[value.0 as usize].op, &mut replace);
        }
        verify::terminator_operands_mut(&mut block.terminator, &mut replace);
    }
    // Nothing uses these loads any more.
    for (value, _) in pairs.iter().filter(|(value, _)| by.contains_key(value)) {
        function.insts[value.0 as usize].op = Op::Null;
    }
    has_changed || !by.is_empty()
}
