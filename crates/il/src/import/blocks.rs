//! Goes over the reachable blocks of a body, lowest offset first, and over the instructions of each.
//!
//! Only here is it known what comes next: `dispatch` has one instruction emitted and says what is left of it to do
//! (`NextStep`), which may be another body to import (`inline`).

use super::importer::Importer;
use super::next_step::{AfterCall, DirectCall, NextStep};
use super::scope::Prefixes;
use super::state::BlockLabel;
use crate::ir::Terminator;
use saki_metadata::opcodes::{Instruction, decode_at};
use saki_types::{LoadError, LoadErrorKind, LoadResult};
use std::cmp::Reverse;

impl Importer<'_> {
    /// Imports everything reachable from `offset`, starting with the stack `self.emit.s.stack`.
    pub(super) fn import_from(&mut self, offset: u32) -> LoadResult<()> {
        let emit = &mut self.emit;
        let region = emit.s.region_at(offset);
        match emit.b.current {
            // Continue in the current block.
            Some(block) if emit.s.scan.has_one_way_in(offset) && emit.b.region() == region => {
                let entries = emit.s.stack.to_vec();
                let mut label = BlockLabel::new(block, entries);
                label.is_cold = emit.b.is_cold;
                emit.s.labels.insert(offset, label);
                emit.s.worklist.push(Reverse(offset));
            }
            _ => {
                let block = emit.jump_target(offset)?;
                emit.b.terminate(Terminator::Jump(block));
            }
        }
        while let Some(Reverse(offset)) = self.emit.s.worklist.pop() {
            if self.emit.begin_block(offset)? {
                self.import_block(offset)?;
            }
        }
        Ok(())
    }

    fn import_block(&mut self, offset: u32) -> LoadResult<()> {
        self.emit.s.next_offset = offset;
        // Positions are those that Mono's traces show: where the stack is empty, and behind calls.
        let mut behind_call = false;
        loop {
            let emit = &mut self.emit;
            let at = emit.s.next_offset;
            if at != offset && emit.s.scan.is_leader(at) && (at as usize) < emit.s.body.code.len() {
                let target = emit.jump_target(at)?;
                emit.b.terminate(Terminator::Jump(target));
                return Ok(());
            }
            let Some(instruction) = decode_at(emit.s.body.code, at).next() else {
                return Err(LoadError::invalid_program("control falls off the end of the method"));
            };
            let instruction = instruction.map_err(|e| LoadError::invalid_program(e.to_string()))?;
            emit.s.offset = instruction.offset;
            emit.s.next_offset = instruction.next_offset;
            if behind_call || emit.s.stack.is_empty() {
                emit.set_il_offset(instruction.offset);
            }
            emit.cover_statement(instruction.offset);
            behind_call = emit.is_positioned_call(&instruction);
            match self.import_instruction(&instruction) {
                Ok(()) => {}
                // A type that is not finished yet may be when the method is compiled for its next call.
                Err(error)
                    if matches!(error.kind, LoadErrorKind::InvalidProgram | LoadErrorKind::UnfinishedType)
                        && !self.emit.s.is_inlined =>
                {
                    return Err(error);
                }
                Err(error) => self.emit.throw_deferred(error),
            }
            if self.emit.b.current.is_none() {
                return Ok(());
            }
        }
    }

    /// # Errors
    /// `InvalidProgram` for a body without meaning; load errors, for which the caller emits code that throws them.
    fn import_instruction(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let result = match self.emit.emit_instruction(instruction) {
            Ok(NextStep::Prefixed) => return Ok(()),
            Ok(NextStep::Done) => Ok(()),
            Ok(NextStep::Call(call)) => self.make_call(*call),
            Ok(NextStep::Guarded(call)) => self.make_guarded_call(*call),
            Err(error) => Err(error),
        };
        self.emit.s.prefixes = Prefixes::default();
        result
    }

    /// Makes a call, by inlining the method if that is possible and worth it.
    pub(super) fn make_call(&mut self, call: DirectCall) -> LoadResult<()> {
        let DirectCall { method, args, after } = call;
        if !self.emit.call_if_proxy(method, &args)? && !self.try_inline(method, &args)? {
            self.emit.emit_direct_call(method, &args)?;
        }
        if self.emit.b.current.is_none() {
            return Ok(());
        }
        match after {
            AfterCall::Nothing => {}
            AfterCall::Push(entry) => self.emit.push(entry),
            AfterCall::PushLocal(local, ty) => self.emit.push_new_value(local, ty)?,
        }
        Ok(())
    }
}
