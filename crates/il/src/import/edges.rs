//! Edges between basic blocks, and the stack where control flow joins.
//!
//! A block with a single predecessor takes over that block's stack entries unchanged. At joins each stack slot gets a
//! local, written by every predecessor and read at the start of the block. ECMA-335 §III.1.8.1.3.

use super::emitter::Emitter;
use super::kinds::is_exact_class;
use super::profile::Odds;
use super::stack::{Effect, Note, StackEntry, Val};
use super::state::BlockLabel;
use crate::ir::{BlockId, IrType, LocalId, Op, Terminator, ValueId};
use rustc_hash::FxHashSet;
use saki_types::{LoadError, LoadResult};
use std::cmp::Reverse;

impl Emitter<'_> {
    /// Makes the block at this label current, with the label's stack. False: the block has been imported.
    pub(super) fn begin_block(&mut self, offset: u32) -> LoadResult<bool> {
        let label = self.s.labels.get_mut(&offset).expect("worklist offsets have labels");
        if std::mem::replace(&mut label.is_imported, true) {
            return Ok(false);
        }
        let block = label.block;
        let (mut entries, joins, exception) = (label.entries.clone(), label.joins.clone(), label.exception);
        let is_cold = label.is_cold;
        if self.b.current != Some(block) {
            self.b.current = Some(block);
            self.known.forget_block();
        }
        self.s.offset = offset;
        self.s.block_start = offset;
        self.b.is_cold = is_cold;
        self.b.f.blocks[block.0 as usize].cold = is_cold && block.0 != 0;
        self.set_il_offset(offset);
        self.note_rounds(offset, block);
        if self.s.labels.get(&offset).is_some_and(|label| label.is_counted) {
            self.count_block();
        }
        if let Some(local) = exception {
            let value = self.b.get(local);
            entries[0].val = Val::Scalar(value);
        } else if let Some(joins) = joins {
            for (entry, local) in entries.iter_mut().zip(joins) {
                entry.val = match self.b.local_type(local) {
                    IrType::Struct(_) => Val::InLocal(local, 0),
                    ir => {
                        entry.ir = ir;
                        Val::Scalar(self.b.get(local))
                    }
                };
            }
        }
        self.s.stack.set(entries);
        self.s.enter_handlers_of(offset);
        self.count_loop(offset);
        Ok(true)
    }

    /// The block at `offset`, prepared for an edge from here with the current stack.
    pub(super) fn jump_target(&mut self, offset: u32) -> LoadResult<BlockId> {
        let target = self.edge_target(offset)?;
        let is_cold = self.b.is_cold;
        if let Some(label) = self.s.labels.get_mut(&offset) {
            // Cold as long as no other edge leads there.
            label.is_cold = is_cold && (label.is_cold || !label.is_entered);
            label.is_entered = true;
        }
        Ok(target)
    }

    fn edge_target(&mut self, offset: u32) -> LoadResult<BlockId> {
        self.s.check_not_into_handler(offset)?;
        if !self.s.labels.contains_key(&offset) {
            let region = self.s.region_at(offset);
            let block = self.b.block(region);
            let is_single = self.s.scan.has_one_way_in(offset);
            let entries = self.s.stack.to_vec();
            let mut label = BlockLabel::new(block, entries);
            if !is_single && !label.entries.is_empty() {
                let mut joins = Vec::with_capacity(label.entries.len());
                for entry in &mut label.entries {
                    joins.push(self.b.temp(entry.ir));
                    *entry = self.s.scan.joined(offset, entry);
                }
                label.joins = Some(joins);
            }
            self.s.labels.insert(offset, label);
            self.s.worklist.push(Reverse(offset));
            self.write_joins(offset)?;
            return Ok(block);
        }
        let depth = self.s.stack.len();
        let label = &self.s.labels[&offset];
        if label.entries.len() != depth || label.exception.is_some() {
            return Err(LoadError::invalid_program(format!(
                "the stack is {depth} deep on one way to IL_{offset:04x}, {} on another",
                label.entries.len()
            )));
        }
        let block = label.block;
        if depth > 0 {
            if label.joins.is_none() {
                return Err(LoadError::invalid_program(format!("IL_{offset:04x} is entered in an unforeseen way")));
            }
            self.merge_types(offset)?;
            self.write_joins(offset)?;
        }
        Ok(block)
    }

    /// Weakens the facts about the label's entries to those that also hold on this edge.
    fn merge_types(&mut self, offset: u32) -> LoadResult<()> {
        for index in 0..self.s.stack.len() {
            let here = self.s.stack[index];
            let label = self.s.labels.get_mut(&offset).expect("checked by the caller");
            let local = label.joins.as_ref().expect("checked by the caller")[index];
            let is_imported = label.is_imported;
            let there = &mut label.entries[index];
            if here.ty != there.ty {
                let null_here = is_null_entry(&here, &self.b);
                if there.ty.is_none() || (here.ty.is_none() && !null_here) {
                    there.ty = None;
                } else if let (Some(a), Some(b)) = (here.ty, there.ty) {
                    there.ty = match (a.is_assignable_to(b), b.is_assignable_to(a)) {
                        (Ok(true), _) => Some(b),
                        (_, Ok(true)) => Some(a),
                        _ => None,
                    };
                }
                there.is_exact = there.ty.is_some_and(|t| there.ir == IrType::Ref && is_exact_class(t));
            } else {
                there.is_exact &= here.is_exact;
            }
            there.is_non_null &= here.is_non_null;
            there.note = Note::None;
            let there_ir = self.b.local_type(local);
            match (there_ir, here.ir) {
                // The code behind the join has been imported already and expects the narrower number; `write_joins`
                // converts to it.
                (IrType::I32, IrType::I64) | (IrType::F32, IrType::F64) if is_imported => {}
                // The other predecessors' values are widened by `widen_joins`.
                (IrType::I32, IrType::I64 | IrType::ByRef) | (IrType::F32, IrType::F64) => {
                    if is_imported {
                        return Err(LoadError::invalid_program("a pointer meets a number that was used already"));
                    }
                    self.b.f.locals[local.0 as usize].ty = here.ir;
                    self.widened_joins.push(local);
                }
                // A value that may be a managed pointer counts as one, and a value that may be a number does not count
                // as a reference.
                (IrType::I64 | IrType::Ref, IrType::ByRef) => self.b.f.locals[local.0 as usize].ty = IrType::ByRef,
                (IrType::Ref, IrType::I64) => self.b.f.locals[local.0 as usize].ty = IrType::I64,
                (IrType::Struct(a), IrType::Struct(b)) if a != b => {
                    return Err(LoadError::invalid_program("different value types meet where control flow joins"));
                }
                (IrType::Struct(_), IrType::Struct(_)) => {}
                (IrType::Struct(_), _) | (_, IrType::Struct(_)) => {
                    return Err(LoadError::invalid_program("a value type meets a scalar where control flow joins"));
                }
                (IrType::I32, IrType::Ref) | (IrType::Ref, IrType::I32) => {
                    return Err(LoadError::invalid_program("a number meets a reference where control flow joins"));
                }
                (a, b) if is_float(a) != is_float(b) => {
                    return Err(LoadError::invalid_program("an integer meets a float where control flow joins"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn write_joins(&mut self, offset: u32) -> LoadResult<()> {
        let Some(joins) = self.s.labels[&offset].joins.clone() else { return Ok(()) };
        for local in &joins {
            if let IrType::Struct(_) = self.b.local_type(*local) {
                self.spill(Effect::Local(*local))?;
            }
        }
        for (index, local) in joins.into_iter().enumerate() {
            let entry = self.s.stack[index];
            match self.b.local_type(local) {
                IrType::Struct(ty) => {
                    let dst = self.b.addr_of(local);
                    self.copy_entry_to(dst, 0, &entry, ty, false)?;
                }
                ir => {
                    let value = self.value(&entry)?;
                    let value = self.fit(value, ir);
                    self.b.set(local, value);
                }
            }
        }
        Ok(())
    }

    /// Adds the conversions that are missing in predecessors which were imported before the join got its final type.
    pub(super) fn widen_joins(&mut self) {
        if self.widened_joins.is_empty() {
            return;
        }
        let widened: FxHashSet<LocalId> = self.widened_joins.drain(..).collect();
        let is_widened = |op: &Op| matches!(op, Op::LocalSet(local, _) if widened.contains(local));
        for block in 0..self.b.f.blocks.len() {
            if !self.b.f.blocks[block].insts.iter().any(|inst| is_widened(self.b.op(*inst))) {
                continue;
            }
            let insts = std::mem::take(&mut self.b.f.blocks[block].insts);
            let mut converting = Vec::with_capacity(insts.len() + 1);
            for inst in insts {
                if let Op::LocalSet(local, value) = *self.b.op(inst)
                    && widened.contains(&local)
                {
                    let (from, to) = (self.b.ty(value), self.b.local_type(local));
                    self.b.current = None;
                    let converted = self.fit(value, to);
                    if from != to && converted != value {
                        self.b.f.insts[inst.0 as usize].op = Op::LocalSet(local, converted);
                        converting.push(converted);
                    }
                }
                converting.push(inst);
            }
            self.b.f.blocks[block].insts = converting;
        }
    }

    /// Emits the safepoint of a branch to `target`, if the branch goes backward.
    fn poll_before(&mut self, target: u32) {
        if target <= self.s.offset {
            self.has_loops = true;
            if self.options.emit_polls {
                self.b.effect(Op::Poll);
            }
        }
    }

    pub(super) fn jump(&mut self, target: u32) -> LoadResult<()> {
        self.poll_before(target);
        let block = self.jump_target(target)?;
        self.b.terminate(Terminator::Jump(block));
        Ok(())
    }

    /// Branches to `target` when `cond` is non-zero (`on_zero`: zero); both successors get the current stack.
    pub(super) fn branch(&mut self, cond: ValueId, target: u32, on_zero: bool) -> LoadResult<()> {
        let next = self.s.next_offset;
        let known = match *self.b.op(cond) {
            Op::ConstI32(n) => Some(n != 0),
            Op::ConstI64(n) => Some(n != 0),
            Op::Null => Some(false),
            Op::NewObject(_) | Op::NewArray(..) | Op::NewString(_) | Op::LocalAddr(_) => Some(true),
            _ => None,
        };
        match known {
            Some(is_set) => return self.jump(if is_set != on_zero { target } else { next }),
            None if target == next => return self.jump(next),
            None => {}
        }
        // The comparison stays next to the branch, so that the code generator can fuse the two.
        let emits = target <= self.s.offset || self.options.count;
        let last = self.b.last_inst().filter(|last| *last == cond && emits);
        if let (Some(_), Some(block)) = (last, self.b.current) {
            self.b.f.blocks[block.0 as usize].insts.pop();
        }
        self.poll_before(target);
        self.count_branch(target, next);
        if let (Some(last), Some(block)) = (last, self.b.current) {
            self.b.f.blocks[block.0 as usize].insts.push(last);
        }
        let odds = self.odds(target, next);
        let is_cold = self.b.is_cold;
        self.b.is_cold |= odds == Odds::HardlyTaken;
        let there = self.jump_target(target)?;
        self.b.is_cold = is_cold | (odds == Odds::HardlyNotTaken);
        let here = self.jump_target(next)?;
        self.b.is_cold = is_cold;
        self.count_arms(target, next);
        let (then, otherwise) = if on_zero { (here, there) } else { (there, here) };
        self.b.set_likely_then(if on_zero { odds.is_seldom() } else { odds.is_usual() });
        self.b.terminate(Terminator::Brif { cond, then, otherwise });
        Ok(())
    }

    pub(super) fn switch(&mut self, targets: Vec<u32>) -> LoadResult<()> {
        let value = self.pop_int()?;
        let next = self.s.next_offset;
        if let Some(known) = self.b.const_i32(value) {
            return self.jump(targets.get(known as u32 as usize).copied().unwrap_or(next));
        }
        let value = self.fit(value, IrType::I32);
        if targets.iter().any(|t| *t <= self.s.offset) {
            self.poll_before(0);
        }
        let mut blocks = Vec::with_capacity(targets.len());
        for target in targets {
            blocks.push(self.jump_target(target)?);
        }
        let default = self.jump_target(next)?;
        self.b.terminate(Terminator::Switch { value, targets: blocks, default });
        Ok(())
    }
}

fn is_float(ir: IrType) -> bool {
    matches!(ir, IrType::F32 | IrType::F64)
}

fn is_null_entry(entry: &StackEntry, b: &super::builder::FnBuilder) -> bool {
    matches!(entry.val, Val::Scalar(v) if matches!(b.op(v), Op::Null))
}
