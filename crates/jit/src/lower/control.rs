//! Terminators of basic blocks.

use super::context::Lowering;
use crate::error::{CompileError, Lowered};
use crate::loops::Loops;
use crate::signatures::machine_type;
use crate::type_facts::value_layout;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{InstBuilder, InstructionData, JumpTableData, Opcode, Value, types};
use saki_abi::HelperId;
use saki_il::ir::{BlockId, IrType, MemType, Terminator, ValueId};

pub(super) fn terminator(cx: &mut Lowering<'_, '_>, loops: &Loops, terminator: &Terminator) -> Lowered {
    match terminator {
        Terminator::Jump(target) => cx.jump_to(*target),
        Terminator::Brif { cond, then, otherwise } => {
            let condition = cx.value(*cond)?;
            // Cranelift places the block to which a branch falls through behind the branch. That should be the rest of
            // the loop, unless the loop ends here; or else the block to which the branch usually leads.
            let (flow, block) = (cx.flow(), cx.block());
            let stays_by_then = (loops.stays_by(flow, block, *then, *otherwise)
                || (cx.func().blocks[block.0 as usize].then_is_likely
                    && !loops.stays_by(flow, block, *otherwise, *then)))
                && flow.position[then.0 as usize] > flow.position[block.0 as usize];
            let then = cx.edge(*then)?;
            let otherwise = cx.edge(*otherwise)?;
            if stays_by_then {
                let opposite = complement(cx, condition);
                cx.branch(opposite, otherwise, then);
            } else {
                cx.branch(condition, then, otherwise);
            }
            Ok(())
        }
        Terminator::Switch { value, targets, default } => switch(cx, *value, targets, *default),
        Terminator::Ret(value) => ret(cx, *value),
        Terminator::TailCall { .. } => Err(CompileError::invalid_ir("a tail call is a call")),
        Terminator::Throw(exception) => {
            let exception = cx.value(*exception)?;
            cx.call_helper_noreturn(HelperId::Throw, &[exception]);
            Ok(())
        }
        Terminator::Rethrow(exception) => {
            let exception = cx.value(*exception)?;
            cx.call_helper_noreturn(HelperId::Rethrow, &[exception]);
            Ok(())
        }
        Terminator::ResumeUnwind { clause } => cx.resume_unwind(*clause),
        Terminator::EndFilter(value) => {
            let value = cx.value_as(*value, types::I32)?;
            cx.b.ins().return_(&[value]);
            Ok(())
        }
        Terminator::Unreachable => {
            cx.unreachable();
            Ok(())
        }
    }
}

/// The opposite of a truth value.
fn complement(cx: &mut Lowering<'_, '_>, condition: Value) -> Value {
    let dfg = &cx.b.func.dfg;
    let made_by = |value| dfg.value_def(value).inst().map(|inst| dfg.insts[inst]);
    let compare = match made_by(condition) {
        Some(InstructionData::Unary { opcode: Opcode::Uextend, arg }) => made_by(arg),
        other => other,
    };
    match compare {
        Some(InstructionData::IntCompare { cond, args: [a, b], .. }) => cx.b.ins().icmp(cond.complement(), a, b),
        Some(InstructionData::FloatCompare { cond, args: [a, b], .. }) => cx.b.ins().fcmp(cond.complement(), a, b),
        _ => cx.b.ins().icmp_imm_s(IntCC::Equal, condition, 0),
    }
}

fn switch(cx: &mut Lowering<'_, '_>, value: ValueId, targets: &[BlockId], default: BlockId) -> Lowered {
    let mut value = cx.value(value)?;
    if targets.is_empty() {
        return cx.jump_to(default);
    }
    if cx.type_of(value) == types::I64 {
        // Values beyond 32 bits go to the default like any other that is too large.
        let limit = cx.i64_const(i64::from(u32::MAX));
        let clamped = cx.b.ins().umin(value, limit);
        value = cx.b.ins().ireduce(types::I32, clamped);
    }
    let default = cx.edge(default)?;
    let default = cx.b.func.dfg.block_call(default, &[]);
    let mut table = Vec::with_capacity(targets.len());
    for &target in targets {
        let block = cx.edge(target)?;
        table.push(cx.b.func.dfg.block_call(block, &[]));
    }
    let table = cx.b.create_jump_table(JumpTableData::new(default, &table));
    cx.b.ins().br_table(value, table);
    Ok(())
}

fn ret(cx: &mut Lowering<'_, '_>, value: Option<ValueId>) -> Lowered {
    cx.free_localloc();
    match (cx.func().sig.ret, value) {
        (Some(ty), Some(value)) if ty.vector().is_some() => {
            let mem = ty.vector().unwrap_or(MemType::V128);
            let value = cx.vector_operand(value, mem)?;
            cx.b.ins().return_(&[value]);
        }
        (Some(IrType::Struct(ty)), Some(source)) => {
            let source = cx.value(source)?;
            let Some(destination) = cx.struct_result else {
                return Err(CompileError::invalid_ir("a struct result without a place"));
            };
            let layout = value_layout(ty)?;
            cx.copy_memory(destination, source, layout);
            cx.b.ins().return_(&[]);
        }
        (Some(ty), Some(value)) if machine_type(ty).is_some() => {
            let ty = machine_type(ty).unwrap_or(types::I64);
            let value = cx.value_as(value, ty)?;
            cx.b.ins().return_(&[value]);
        }
        (Some(ty), None) if machine_type(ty).is_some() && !matches!(ty, IrType::Struct(_)) => {
            return Err(CompileError::invalid_ir("a return without the value that the signature asks for"));
        }
        _ => {
            cx.b.ins().return_(&[]);
        }
    }
    Ok(())
}
