//! Terminators of basic blocks.

use super::calls::{Callee, Copies};
use super::{Lowered, Lowering};
use crate::error::CompileError;
use crate::signatures::{self, machine_type};
use crate::type_facts::value_layout;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{InstBuilder, InstructionData, JumpTableData, Opcode, Value, types};
use saki_abi::HelperId;
use saki_il::ir::{BlockId, CallSig, CallTarget, IrType, MemType, Terminator, ValueId};

impl Lowering<'_, '_> {
    pub(super) fn jump_to(&mut self, target: BlockId) -> Lowered {
        let block = self.edge(target)?;
        self.b.ins().jump(block, &[]);
        Ok(())
    }

    /// The Cranelift block of `target`; counts the edge.
    fn edge(&mut self, target: BlockId) -> Lowered<cranelift_codegen::ir::Block> {
        self.incoming_edges[target.0 as usize] += 1;
        self.clif_block(target)
    }

    pub(super) fn terminator(&mut self, terminator: &Terminator) -> Lowered {
        match terminator {
            Terminator::Jump(target) => self.jump_to(*target),
            Terminator::Brif { cond, then, otherwise } => {
                let condition = self.value(*cond)?;
                // Cranelift places the block to which a branch falls through behind the branch. That should be the rest of the loop, unless the
                // loop ends here.
                let stays_by_then = self.loops.stays_by(self.flow, self.current, *then, *otherwise)
                    && self.flow.position[then.0 as usize] > self.flow.position[self.current.0 as usize];
                let then = self.edge(*then)?;
                let otherwise = self.edge(*otherwise)?;
                if stays_by_then {
                    let opposite = self.complement(condition);
                    self.branch(opposite, otherwise, then);
                } else {
                    self.branch(condition, then, otherwise);
                }
                Ok(())
            }
            Terminator::Switch { value, targets, default } => self.switch(*value, targets, *default),
            Terminator::Ret(value) => self.ret(*value),
            Terminator::TailCall { target, sig, args } => self.tail_call(target, sig, args),
            Terminator::Throw(exception) => {
                let exception = self.value(*exception)?;
                self.call_helper_noreturn(HelperId::Throw, &[exception]);
                Ok(())
            }
            Terminator::Rethrow(exception) => {
                let exception = self.value(*exception)?;
                self.call_helper_noreturn(HelperId::Rethrow, &[exception]);
                Ok(())
            }
            Terminator::ResumeUnwind { clause } => self.resume_unwind(*clause),
            Terminator::EndFilter(value) => {
                let value = self.value_as(*value, types::I32)?;
                self.b.ins().return_(&[value]);
                Ok(())
            }
            Terminator::Unreachable => {
                self.unreachable();
                Ok(())
            }
        }
    }

    /// The opposite of a truth value.
    fn complement(&mut self, condition: Value) -> Value {
        let dfg = &self.b.func.dfg;
        let made_by = |value| dfg.value_def(value).inst().map(|inst| dfg.insts[inst]);
        let compare = match made_by(condition) {
            Some(InstructionData::Unary { opcode: Opcode::Uextend, arg }) => made_by(arg),
            other => other,
        };
        match compare {
            Some(InstructionData::IntCompare { cond, args: [a, b], .. }) => self.b.ins().icmp(cond.complement(), a, b),
            Some(InstructionData::FloatCompare { cond, args: [a, b], .. }) => {
                self.b.ins().fcmp(cond.complement(), a, b)
            }
            _ => self.b.ins().icmp_imm_s(IntCC::Equal, condition, 0),
        }
    }

    fn switch(&mut self, value: ValueId, targets: &[BlockId], default: BlockId) -> Lowered {
        let mut value = self.value(value)?;
        if targets.is_empty() {
            return self.jump_to(default);
        }
        if self.type_of(value) == types::I64 {
            // Values beyond 32 bits go to the default like any other that is too large.
            let limit = self.i64_const(i64::from(u32::MAX));
            let clamped = self.b.ins().umin(value, limit);
            value = self.b.ins().ireduce(types::I32, clamped);
        }
        let default = self.edge(default)?;
        let default = self.b.func.dfg.block_call(default, &[]);
        let mut table = Vec::with_capacity(targets.len());
        for &target in targets {
            let block = self.edge(target)?;
            table.push(self.b.func.dfg.block_call(block, &[]));
        }
        let table = self.b.create_jump_table(JumpTableData::new(default, &table));
        self.b.ins().br_table(value, table);
        Ok(())
    }

    fn ret(&mut self, value: Option<ValueId>) -> Lowered {
        self.free_localloc();
        match (self.func.sig.ret, value) {
            (Some(ty), Some(value)) if ty.vector().is_some() => {
                let mem = ty.vector().unwrap_or(MemType::V128);
                let value = self.vector_operand(value, mem)?;
                self.b.ins().return_(&[value]);
            }
            (Some(IrType::Struct(ty)), Some(source)) => {
                let source = self.value(source)?;
                let Some(destination) = self.struct_result else {
                    return Err(CompileError::invalid_ir("a struct result without a place"));
                };
                let layout = value_layout(ty)?;
                self.copy_memory(destination, source, layout);
                self.b.ins().return_(&[]);
            }
            (Some(ty), Some(value)) if machine_type(ty).is_some() => {
                let ty = machine_type(ty).unwrap_or(types::I64);
                let value = self.value_as(value, ty)?;
                self.b.ins().return_(&[value]);
            }
            (Some(ty), None) if machine_type(ty).is_some() && !matches!(ty, IrType::Struct(_)) => {
                return Err(CompileError::invalid_ir("a return without the value that the signature asks for"));
            }
            _ => {
                self.b.ins().return_(&[]);
            }
        }
        Ok(())
    }

    /// Emits a call that replaces the frame, where possible; else an ordinary call and a return.
    fn tail_call(&mut self, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Lowered {
        let same_result = match (sig.ret, self.func.sig.ret) {
            (Some(IrType::Struct(a)), Some(IrType::Struct(b))) => a == b,
            (a, b) => a.and_then(machine_type) == b.and_then(machine_type),
        };
        let managed = matches!(
            target,
            CallTarget::Direct(_) | CallTarget::Virtual { .. } | CallTarget::Interface { .. } | CallTarget::Indirect(_)
        );
        let replaces = managed
            && same_result
            && self.region.is_none()
            && self.localloc_flag.is_none()
            && Self::fits_tail_args(sig)?;
        if replaces {
            let prepared = self.prepare_call(target, sig, args, self.struct_result, Copies::TailArgs)?;
            match prepared.callee {
                Callee::Function(function) => self.b.ins().return_call(function, &prepared.args),
                Callee::Address(signature, code) => self.b.ins().return_call_indirect(signature, code, &prepared.args),
            };
            return Ok(());
        }
        let result = self.managed_call(target, sig, args, self.struct_result)?;
        self.free_localloc();
        match (signatures::result_type(&self.func.sig), result) {
            (None, _) => self.b.ins().return_(&[]),
            (Some(ty), Some(value)) => {
                let value = self.coerce(value, ty)?;
                self.b.ins().return_(&[value])
            }
            (Some(_), None) => return Err(CompileError::invalid_ir("a tail call without the result that is needed")),
        };
        Ok(())
    }
}
