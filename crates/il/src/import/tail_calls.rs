//! Which calls replace the caller's frame. ECMA-335 §III.2.4, §III.3.37.
//!
//! Only an explicit `tail.` counts (and `jmp`), before `ret`. It is ignored, as the standard allows, where the frame is
//! still needed: in protected regions and synchronized methods, in methods with `localloc` or pinned locals, in inlined
//! bodies, for vararg callees (their argument block is in the frame), when the result is not yet what the caller
//! returns, and when a managed or unmanaged pointer argument may point into the frame. Integers do not count as
//! pointers, even if a program converts addresses of locals to them.
//!
//! Struct arguments are not an obstacle here: the code generator moves them (`jit`, the calls module). Invariant: a
//! tail call of a method that itself has tail calls is not inlined (`inline`), since the inlined tail calls would keep
//! this frame; so no chain of tail calls grows the stack.

use super::call_sites::PlannedCall;
use super::emitter::Emitter;
use super::kinds::{ir_type, mem_type};
use super::scope::Return;
use super::stack::{StackEntry, Val};
use crate::ir::{BinOp, IrType, LocalKind, MemType, Op, ValueId};
use saki_metadata::opcodes::{Opcode, decode_at};
use saki_types::{LibraryType, LoadResult, Ty};

impl Emitter<'_> {
    /// Whether the call being imported replaces the frame.
    pub(super) fn is_tail_call(&self, call: &PlannedCall<'_>, args: &[StackEntry]) -> LoadResult<bool> {
        if !self.s.prefixes.tail
            || self.s.is_inlined
            || self.parent.is_some()
            || !matches!(self.s.ret, Return::Method)
            || self.b.region().is_some()
            || self.s.scan.has_localloc
            || self.s.local_sigs.iter().any(|local| local.pinned)
            || !self.is_last_instruction()
            || !same_result(call.ret, self.s.sig.ret)?
        {
            return Ok(false);
        }
        let is_exposed = self.frame_is_exposed();
        let mut args = args.iter();
        if call.this.is_some()
            && let Some(this) = args.next()
            && this.ir != IrType::Ref
            && self.may_point_into_frame(this, is_exposed)
        {
            return Ok(false);
        }
        for (entry, ty) in args.zip(call.params) {
            let points = ty.is_byref() || ty.is_pointer();
            if (points && self.may_point_into_frame(entry, is_exposed)) || ty.is(LibraryType::TypedReference) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The current instruction is `jmp`, or a call with `ret` after it.
    fn is_last_instruction(&self) -> bool {
        let at = |offset| decode_at(self.s.body.code, offset).next().and_then(Result::ok).map(|i| i.opcode);
        match at(self.s.offset) {
            Some(Opcode::Jmp) => true,
            Some(Opcode::Call | Opcode::Callvirt | Opcode::Calli) => at(self.s.next_offset) == Some(Opcode::Ret),
            _ => false,
        }
    }

    /// Whether there may be pointers into this frame.
    fn frame_is_exposed(&self) -> bool {
        let scan = &self.s.scan;
        scan.args.iter().chain(&scan.locals).any(|v| v.address_taken)
            || self.b.f.locals.iter().any(|l| l.address_exposed)
    }

    fn may_point_into_frame(&self, entry: &StackEntry, is_exposed: bool) -> bool {
        match entry.val {
            Val::Scalar(value) => self.value_may_point_into_frame(value, is_exposed),
            _ => true,
        }
    }

    fn value_may_point_into_frame(&self, mut value: ValueId, is_exposed: bool) -> bool {
        loop {
            match *self.b.op(value) {
                Op::LocalAddr(_) => return true,
                Op::ConstI32(_) | Op::ConstI64(_) | Op::Null | Op::SymbolAddr(_) | Op::ElementAddr { .. } => {
                    return false;
                }
                Op::Unbox(..) => return false,
                Op::Conv { value: inner, .. } => value = inner,
                Op::Bin(BinOp::Add, base, amount) if matches!(self.b.op(amount), Op::ConstI64(_)) => value = base,
                Op::LocalGet(local) => {
                    let local = &self.b.f.locals[local.0 as usize];
                    return match local.kind {
                        LocalKind::Param(index) => {
                            let usage = self.s.scan.args.get(index as usize);
                            is_exposed && usage.is_none_or(|usage| usage.is_written || usage.address_taken)
                        }
                        _ => is_exposed || self.b.f.locals.iter().any(|l| matches!(l.ty, IrType::Struct(_))),
                    };
                }
                _ => return is_exposed,
            }
        }
    }

    /// Operands of a tail call; for a struct the address of its value, which the code generator copies.
    pub(super) fn tail_operands(&mut self, call: &PlannedCall<'_>, args: &[StackEntry]) -> LoadResult<Vec<ValueId>> {
        let mut values = Vec::with_capacity(args.len() + 1);
        let mut args = args.iter();
        if call.this.is_some()
            && let Some(entry) = args.next()
        {
            values.push(self.this_operand(entry)?);
        }
        for (entry, ty) in args.zip(call.params) {
            values.push(self.coerce(entry, ty)?);
        }
        Ok(values)
    }
}

/// Whether a callee's result of type `from` can be returned as it is where `to` is to be returned.
fn same_result(from: Ty, to: Ty) -> LoadResult<bool> {
    let (from_ir, to_ir) = (ir_type(from)?, ir_type(to)?);
    let is_word = |ir: IrType| matches!(ir, IrType::I64 | IrType::Ref | IrType::ByRef);
    if from_ir != to_ir {
        return Ok(is_word(from_ir) && is_word(to_ir));
    }
    let is_small = |mem| matches!(mem, MemType::I8 | MemType::U8 | MemType::I16 | MemType::U16);
    Ok(match mem_type(to)? {
        Some(mem) if is_small(mem) => mem_type(from)? == Some(mem),
        _ => true,
    })
}
