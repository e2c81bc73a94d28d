//! Finds the object into which a store through a managed pointer writes.
//!
//! After `ref Entry entry = ref entries[i]` a reference stored into `entry.key` would need the barrier for memory of
//! unknown owner, which is a call. Where the pointer is a local that is set once, and the set dominates the store, the
//! store is annotated with the object from which the address was computed; its barrier is then a test of that object's
//! log bit.
//!
//! Left out: functions with handlers (they are entered from the middle of blocks), copies of structs.

use crate::ir::dominators::Dominators;
use crate::ir::{BinOp, Function, IrType, LocalId, LocalKind, Op, ValueId};
use rustc_hash::FxHashMap;

/// Steps of address arithmetic that are followed back, at most.
const STEPS: usize = 8;

/// Where a local is set; `is_only` if that is the only place.
struct Set {
    block: u32,
    position: usize,
    value: ValueId,
    is_only: bool,
}

/// Runs the pass.
pub(super) fn run(function: &mut Function) {
    let is_unowned = |op: &Op| matches!(op, Op::StoreRef { object: None, .. });
    let mut insts = function.blocks.iter().flat_map(|b| &b.insts);
    if !function.clauses.is_empty() || !insts.any(|v| is_unowned(&function.insts[v.0 as usize].op)) {
        return;
    }
    let sets = sets(function);
    if sets.is_empty() {
        return;
    }
    let sources = sources(function, &sets);
    let mut owned = Vec::new();
    for value in function.blocks.iter().flat_map(|b| &b.insts) {
        if let Op::StoreRef { object: None, addr, .. } = function.insts[value.0 as usize].op
            && let Some(owner) = owner(function, &sources, addr)
        {
            owned.push((*value, owner));
        }
    }
    for (store, owner) in owned {
        if let Op::StoreRef { object, .. } = &mut function.insts[store.0 as usize].op {
            *object = Some(owner);
        }
    }
}

/// The sets of the locals that hold managed pointers and whose address is not taken.
fn sets(function: &Function) -> FxHashMap<LocalId, Set> {
    let mut sets: FxHashMap<LocalId, Set> = FxHashMap::default();
    for (block, body) in function.blocks.iter().enumerate() {
        for (position, inst) in body.insts.iter().enumerate() {
            let Op::LocalSet(local, value) = function.insts[inst.0 as usize].op else { continue };
            let info = &function.locals[local.0 as usize];
            if info.ty != IrType::ByRef
                || info.address_exposed
                || info.pinned
                || !matches!(info.kind, LocalKind::Normal)
            {
                continue;
            }
            let set = Set { block: block as u32, position, value, is_only: true };
            sets.entry(local).and_modify(|first| first.is_only = false).or_insert(set);
        }
    }
    sets.retain(|_, set| set.is_only);
    sets
}

/// For each value read from one of those locals, the value to which the local was set, if the set dominates the read.
fn sources(function: &Function, sets: &FxHashMap<LocalId, Set>) -> FxHashMap<ValueId, ValueId> {
    let dominators = Dominators::of(function);
    let mut sources = FxHashMap::default();
    for (block, body) in function.blocks.iter().enumerate() {
        for (position, inst) in body.insts.iter().enumerate() {
            let Op::LocalGet(local) = function.insts[inst.0 as usize].op else { continue };
            let Some(set) = sets.get(&local) else { continue };
            let is_after = match set.block == block as u32 {
                true => set.position < position,
                false => dominators.dominates(set.block, block as u32),
            };
            if is_after {
                sources.insert(*inst, set.value);
            }
        }
    }
    sources
}

/// The object into which an address points, if the computation of the address, followed through those locals, shows it.
fn owner(function: &Function, sources: &FxHashMap<ValueId, ValueId>, mut addr: ValueId) -> Option<ValueId> {
    let inst = |value: ValueId| &function.insts[value.0 as usize];
    let is_object = |value: ValueId| inst(value).ty == IrType::Ref;
    for _ in 0..STEPS {
        addr = match inst(addr).op {
            Op::ElementAddr { array, .. } if is_object(array) => return Some(array),
            Op::Unbox(object, _) => return Some(object),
            Op::Bin(BinOp::Add, base, _) if is_object(base) => return Some(base),
            Op::Bin(BinOp::Add, base, offset) if matches!(inst(offset).op, Op::ConstI32(_) | Op::ConstI64(_)) => base,
            Op::LocalGet(_) => *sources.get(&addr)?,
            _ => return None,
        };
    }
    None
}
