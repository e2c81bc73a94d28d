//! ret and jmp, in the method itself and in inlined bodies. ECMA-335 §III.3.37, §III.3.57.

use super::call_sites::PlannedCall;
use super::emitter::Emitter;
use super::kinds::{ir_type, is_exact_class, this_type};
use super::scope::Return;
use super::stack::{StackEntry, Val};
use crate::ir::{CallTarget, IrType, LocalKind, Terminator};
use saki_metadata::opcodes::Instruction;
use saki_types::{LoadError, LoadResult};

impl Emitter<'_> {
    pub(super) fn ret(&mut self) -> LoadResult<()> {
        let ret = self.s.sig.ret;
        let entry = if ir_type(ret)? == IrType::Void { None } else { Some(self.pop()?) };
        // ECMA-335 §III.3.57.
        if !self.s.stack.is_empty() {
            return Err(LoadError::invalid_program("ret with more on the stack than the method's value"));
        }
        match self.s.ret {
            Return::Method => {
                let value = match &entry {
                    Some(entry) => Some(self.coerce(entry, ret)?),
                    None => None,
                };
                self.b.terminate(Terminator::Ret(value));
            }
            Return::Exit { block, result } => {
                if let (Some(entry), Some(local)) = (&entry, result) {
                    self.store_local(local, entry, ret)?;
                }
                self.b.terminate(Terminator::Jump(block));
            }
            Return::InlineOnce { .. } | Return::InlineJoin { .. } => self.inline_return(entry)?,
            Return::Never => return Err(LoadError::invalid_program("ret in a filter")),
        }
        Ok(())
    }

    pub(super) fn jmp(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let method = self.facts.resolve_method(self.s.image, self.operand_token(instruction)?, &self.s.context)?;
        for index in 0..self.s.arg_count() {
            self.load_var(super::vars::VarRef::Arg(index))?;
        }
        let sig = self.closed_sig(method)?;
        let args = self.pop_args(sig, !method.is_static())?;
        self.s.prefixes.tail = true;
        let call = PlannedCall {
            target: CallTarget::Direct(method),
            this: this_type(method),
            params: &sig.params,
            ret: sig.ret,
        };
        let result = self.emit_call(&call, &args)?;
        if self.b.current.is_some() {
            self.push_result(result);
            self.ret()?;
        }
        Ok(())
    }

    /// `ret` in an inlined body.
    pub(super) fn inline_return(&mut self, entry: Option<StackEntry>) -> LoadResult<()> {
        let ret = self.s.sig.ret;
        let first_own = self.s.first_own_local;
        if let Return::InlineOnce { .. } = self.s.ret {
            let entry = match entry {
                None => None,
                Some(entry) => Some(self.returned_entry(&entry, ret, first_own)?),
            };
            let block = self.b.current.take();
            self.s.ret = Return::InlineOnce { end: block.map(|b| (b, entry)) };
            return Ok(());
        }
        let Return::InlineJoin { mut result, continuation } = self.s.ret else {
            return Err(LoadError::invalid_program("ret in a body that is not inlined"));
        };
        if let Some(entry) = entry {
            let local = match result {
                Some(local) => local,
                None => self.variable(ret, LocalKind::Normal, false)?,
            };
            result = Some(local);
            self.store_local(local, &entry, ret)?;
        }
        let block = match continuation {
            Some(block) => block,
            None => self.b.block(self.s.base_region),
        };
        self.b.terminate(Terminator::Jump(block));
        self.s.ret = Return::InlineJoin { result, continuation: Some(block) };
        Ok(())
    }

    fn returned_entry(
        &mut self,
        entry: &StackEntry,
        ret: saki_types::Ty,
        first_own_local: u32,
    ) -> LoadResult<StackEntry> {
        let ir = ir_type(ret)?;
        if let IrType::Struct(ty) = ir {
            let val = match entry.val {
                // The callee no longer uses its own variable, so that the caller can take it over.
                Val::InLocal(local, 0) if local.0 >= first_own_local && self.b.local_type(local) == ir => {
                    Val::Temp(local)
                }
                Val::Scalar(_) => return Err(LoadError::invalid_program("a scalar is returned as a value type")),
                val => val,
            };
            return Ok(StackEntry::of_struct(val, ty));
        }
        let value = self.coerce(entry, ret)?;
        let mut returned = StackEntry { val: Val::Scalar(value), ir, ..*entry };
        if !(entry.is_exact && entry.ir == IrType::Ref) {
            returned.ty = Some(ret);
            returned.is_exact = ir == IrType::Ref && is_exact_class(ret);
        }
        Ok(returned)
    }
}
