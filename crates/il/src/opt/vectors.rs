//! Which locals hold vectors that operations take or give as a whole.
//!
//! Copies spread it: what is copied to or from such a local is one, too, so that both sides of a copy have the same parts.

use crate::ir::{BinOp, Function, IrType, LocalId, Op, ValueId};

/// By local. False where vectors are nowhere in the function.
pub(super) fn used_whole(function: &Function) -> Vec<bool> {
    let mut whole = vec![false; function.locals.len()];
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
    loop {
        let mut is_changed = false;
        for &(a, b) in &copies {
            if whole[a] != whole[b] {
                (whole[a], whole[b], is_changed) = (true, true, true);
            }
        }
        if !is_changed {
            return whole;
        }
    }
}

/// The local that an address points into.
fn local_of(function: &Function, mut addr: ValueId) -> Option<LocalId> {
    loop {
        match function.insts[addr.0 as usize].op {
            Op::LocalAddr(local) => return Some(local),
            Op::Bin(BinOp::Add, base, _) => addr = base,
            _ => return None,
        }
    }
}
