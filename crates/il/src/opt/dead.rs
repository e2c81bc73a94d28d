//! Folds branches on constants, empties unreachable blocks, and drops instructions whose values are unused, so that the
//! code generator has less to do. Writes to variables that are never read are dropped too; most such variables are
//! fields of promoted value types. Left out: instructions with an effect, including checks.

use crate::ir::{BinOp, Function, IrType, Local, NullCheck, Op, Terminator, UnOp, ValueId, verify};

/// Runs the pass. `non_null_lengths`: `ArrayLen`s whose null check is not needed.
pub(super) fn run(function: &mut Function, non_null_lengths: &[ValueId]) {
    fold(function);
    let mut is_non_null = Vec::new();
    if !non_null_lengths.is_empty() {
        is_non_null.resize(function.insts.len(), false);
    }
    for value in non_null_lengths {
        is_non_null[value.0 as usize] = true;
    }
    drop_unused(function, &is_non_null);
}

/// Folds branches on constants and empties the blocks to which nothing leads then.
pub(super) fn fold(function: &mut Function) {
    fold_branches(function);
    if function.blocks.len() > 1 {
        empty_unreachable(function);
    }
}

fn fold_branches(function: &mut Function) {
    for block in &mut function.blocks {
        if let Terminator::Brif { cond, then, otherwise } = block.terminator
            && let Op::ConstI32(n) = function.insts[cond.0 as usize].op
        {
            block.terminator = Terminator::Jump(if n != 0 { then } else { otherwise });
        }
    }
}

fn empty_unreachable(function: &mut Function) {
    let mut reachable = vec![false; function.blocks.len()];
    let mut pending = vec![0];
    pending.extend(function.clauses.iter().map(|c| c.handler.0 as usize));
    while let Some(block) = pending.pop() {
        if std::mem::replace(&mut reachable[block], true) {
            continue;
        }
        verify::successors(&function.blocks[block].terminator, &mut |b| pending.push(b.0 as usize));
    }
    for (block, _) in function.blocks.iter_mut().zip(reachable).filter(|(_, is_reachable)| !is_reachable) {
        block.insts.clear();
        block.terminator = Terminator::Unreachable;
        block.cold = true;
    }
}

/// Whether an instruction has no effect but to define its value.
fn is_pure(op: &Op) -> bool {
    match op {
        Op::ConstI32(_)
        | Op::ConstI64(_)
        | Op::ConstF32(_)
        | Op::ConstF64(_)
        | Op::ConstV128(_)
        | Op::Vector { .. }
        | Op::Null
        | Op::SymbolAddr(_)
        | Op::LocalGet(_)
        | Op::LocalAddr(_)
        | Op::Cmp(..)
        | Op::Select(..)
        | Op::ElementAddr { .. }
        | Op::CurrentThread
        | Op::FramePointer => true,
        Op::Conv { .. } | Op::Un(..) | Op::Bin(..) => !arithmetic_throws(op),
        Op::Load { flags, .. } => flags.null_check == NullCheck::None && !flags.volatile,
        _ => false,
    }
}

/// Whether arithmetic may throw an exception.
pub(super) fn arithmetic_throws(op: &Op) -> bool {
    match op {
        Op::Conv { checked, .. } => *checked,
        Op::Un(op, _) => *op == UnOp::CheckFinite,
        Op::Bin(op, ..) => matches!(
            op,
            BinOp::Div
                | BinOp::DivUn
                | BinOp::Rem
                | BinOp::RemUn
                | BinOp::AddOvf
                | BinOp::AddOvfUn
                | BinOp::SubOvf
                | BinOp::SubOvfUn
                | BinOp::MulOvf
                | BinOp::MulOvfUn
        ),
        _ => false,
    }
}

/// Whether `LocalGet` is the only way to read a local.
fn is_variable(local: &Local) -> bool {
    let is_in_memory = local.address_exposed || local.pinned || local.kind.is_elsewhere();
    !is_in_memory && !matches!(local.ty, IrType::Struct(_) | IrType::Block(_))
}

/// `non_null_lengths`: by value; empty if there are none.
fn drop_unused(function: &mut Function, non_null_lengths: &[bool]) {
    let mut uses = vec![0u32; function.insts.len()];
    let mut reads: Vec<u32> = function.locals.iter().map(|local| u32::from(!is_variable(local))).collect();
    for block in &function.blocks {
        for value in &block.insts {
            if let Op::LocalGet(local) = function.insts[value.0 as usize].op {
                reads[local.0 as usize] += 1;
            }
            verify::operands(&function.insts[value.0 as usize].op, &mut |used| uses[used.0 as usize] += 1);
        }
        verify::terminator_operands(&block.terminator, &mut |used| uses[used.0 as usize] += 1);
    }
    // Later blocks first: values are used in their own block or in later ones.
    for block in function.blocks.iter_mut().rev() {
        let insts = &function.insts;
        // The kept instructions are collected at the end.
        let mut first_kept = block.insts.len();
        for position in (0..block.insts.len()).rev() {
            let value = block.insts[position];
            let op = &insts[value.0 as usize].op;
            let is_known_length = || non_null_lengths.get(value.0 as usize).is_some_and(|&known| known);
            let is_removable = match op {
                Op::ArrayLen(_) => is_known_length(),
                Op::LocalSet(local, _) => reads[local.0 as usize] == 0,
                _ => is_pure(op),
            };
            if uses[value.0 as usize] == 0 && is_removable {
                if let Op::LocalGet(local) = op {
                    reads[local.0 as usize] -= 1;
                }
                verify::operands(op, &mut |used| uses[used.0 as usize] -= 1);
            } else {
                first_kept -= 1;
                block.insts[first_kept] = value;
            }
        }
        block.insts.drain(..first_kept);
    }
}
