//! Finds the locals that hold vectors which operations or calls use or define as a whole.
//!
//! The property spreads over copies: a local that is copied to or from such a local has it too, so that both sides of a
//! copy are split into the same parts.

use crate::ir::{BinOp, CallSig, CallTarget, Function, IrType, LocalId, LocalKind, Op, Terminator, ValueId};
use rustc_hash::FxHashMap;

/// By local, whether it holds a vector used as a whole; all false if the function has no vectors. `in_calls`:
/// parameters, arguments and results count as uses.
pub(super) fn used_whole(function: &Function, in_calls: bool) -> Vec<bool> {
    let mut whole = vec![false; function.locals.len()];
    if in_calls {
        mark_passed(function, &mut whole);
    }
    let mut copies = Vec::new();
    for value in function.blocks.iter().flat_map(|block| &block.insts) {
        match function.insts[value.0 as usize].op {
            Op::Load { addr, mem, .. } | Op::Store { addr, mem, .. } if mem.loaded() == IrType::V128 => {
                if let Some(local) = local_of(function, addr) {
                    whole[local.0 as usize] = true;
                }
            }
            Op::CopyStruct { dst, src, .. } => {
                if let (Some(to), Some(from)) = (local_of(function, dst), local_of(function, src)) {
                    copies.push((to.0 as usize, from.0 as usize));
                }
            }
            _ => {}
        }
    }
    if !whole.contains(&true) {
        return whole;
    }
    let mut copied_with: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (a, b) in copies {
        copied_with.entry(a).or_default().push(b);
        copied_with.entry(b).or_default().push(a);
    }
    let mut pending: Vec<usize> = (0..whole.len()).filter(|&local| whole[local]).collect();
    while let Some(local) = pending.pop() {
        for other in copied_with.remove(&local).unwrap_or_default() {
            if !std::mem::replace(&mut whole[other], true) {
                pending.push(other);
            }
        }
    }
    whole
}

/// Marks the locals that are passed or returned in registers by calls.
fn mark_passed(function: &Function, whole: &mut [bool]) {
    for (local, is_whole) in function.locals.iter().zip(&mut *whole) {
        *is_whole = matches!(local.kind, LocalKind::Param(_)) && local.ty.vector().is_some();
    }
    let mut mark = |operand: ValueId, ty: Option<IrType>| {
        if let Some(local) = local_of(function, operand)
            && ty.and_then(IrType::vector).is_some()
        {
            whole[local.0 as usize] = true;
        }
    };
    let arguments =
        |target: &CallTarget, sig: &CallSig, args: &[ValueId], mark: &mut dyn FnMut(ValueId, Option<IrType>)| {
            if target.is_managed() {
                args.iter().zip(&sig.params).for_each(|(arg, param)| mark(*arg, Some(*param)));
            }
        };
    for block in &function.blocks {
        for value in &block.insts {
            if let Op::Call { target, sig, args, struct_result } = &function.insts[value.0 as usize].op {
                arguments(target, sig, args, &mut mark);
                if let Some(place) = struct_result.filter(|_| target.is_managed()) {
                    mark(place, sig.ret);
                }
            }
        }
        match &block.terminator {
            Terminator::Ret(Some(value)) => mark(*value, function.sig.ret),
            Terminator::TailCall { target, sig, args } => arguments(target, sig, args, &mut mark),
            _ => {}
        }
    }
}

/// The local into which an address points.
fn local_of(function: &Function, mut addr: ValueId) -> Option<LocalId> {
    loop {
        match function.insts[addr.0 as usize].op {
            Op::LocalAddr(local) => return Some(local),
            Op::Bin(BinOp::Add, base, _) => addr = base,
            _ => return None,
        }
    }
}
