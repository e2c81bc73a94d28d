//! Emitting calls: arguments to operands, results to entries. ECMA-335 §III.3.19.

use super::builder::conv_type;
use super::emitter::Emitter;
use super::kinds::{ir_type, is_exact_class, mem_type};
use super::operand_kinds::require_kind;
use super::stack::{Effect, Note, StackEntry, Val};
use crate::ir::{
    CallSig, CallTarget, ConvTarget, IrType, LocalId, LocalKind, MemType, NullCheck, Op, Terminator, ValueId,
};
use crate::opt::may_be_variables;
use saki_types::{LoadError, LoadResult, Method, MethodSig, RemotingStub, Ty};

/// A call about to be emitted.
pub(super) struct PlannedCall<'a> {
    pub target: CallTarget,
    /// IR type of `this`, if the first argument is `this`.
    pub this: Option<IrType>,
    pub params: &'a [Ty],
    pub ret: Ty,
}

impl Emitter<'_> {
    /// Pops the arguments of a call, `this` first.
    pub(super) fn pop_args(&mut self, sig: &MethodSig, has_this: bool) -> LoadResult<Vec<StackEntry>> {
        let count = sig.params.len() + usize::from(has_this);
        let Some(first) = self.s.stack.len().checked_sub(count) else {
            return Err(LoadError::invalid_program(format!("a call wants {count} arguments, the stack is less deep")));
        };
        Self::require_arguments(sig, has_this, &self.s.stack[first..])?;
        Ok(self.s.stack.split_off(first))
    }

    /// Operand for `this`.
    pub(super) fn this_operand(&mut self, entry: &StackEntry) -> LoadResult<ValueId> {
        if let IrType::Struct(_) = entry.ir {
            let local = self.own_struct(entry)?;
            return Ok(self.b.addr_of(local));
        }
        let value = self.value(entry)?;
        Ok(self.fit(value, IrType::I64))
    }

    /// Operands of a call. A struct is passed as a `LocalKind::Argument`; for other structs the code generator makes
    /// the callee's copy.
    pub(super) fn operands(&mut self, this: bool, params: &[Ty], args: &[StackEntry]) -> LoadResult<Vec<ValueId>> {
        let mut values = Vec::with_capacity(args.len() + 1);
        let mut args = args.iter();
        if this && let Some(entry) = args.next() {
            values.push(self.this_operand(entry)?);
        }
        for (entry, ty) in args.zip(params) {
            values.push(match ir_type(ty)? {
                ir @ IrType::Struct(_) => {
                    require_kind(entry, ir)?;
                    self.struct_operand(entry)?
                }
                _ => self.coerce(entry, ty)?,
            });
        }
        Ok(values)
    }

    /// The address of a struct argument. A struct that may be kept in variables is copied to a temp, so that its own
    /// address is not taken; others are read from their place when the call is made.
    fn struct_operand(&mut self, entry: &StackEntry) -> LoadResult<ValueId> {
        let is_at_hand = match entry.val {
            Val::InMemory { flags, .. } => !flags.volatile && !flags.unaligned,
            Val::InLocal(..) => matches!(entry.ir, IrType::Struct(ty) if !may_be_variables(ty)),
            _ => false,
        };
        if is_at_hand {
            return self.struct_addr(entry);
        }
        let local = match (entry.val, entry.ir) {
            (Val::Temp(local), _) => local,
            (_, IrType::Struct(ty)) => {
                let copy = self.call_temp(ty, LocalKind::Argument);
                let dst = self.b.addr_of(copy);
                self.copy_entry_to(dst, 0, entry, ty, false)?;
                copy
            }
            _ => self.own_struct(entry)?,
        };
        if let IrType::Struct(ty) = entry.ir {
            self.temps.of_arguments.push((ty, local));
        }
        Ok(self.b.addr_of(local))
    }

    /// A local for a call's argument or result: a temp that earlier calls no longer use, if there is one.
    fn call_temp(&mut self, ty: Ty, kind: LocalKind) -> LocalId {
        let locals = &self.b.f.locals;
        let found =
            self.temps.free.iter().position(|(free, local)| *free == ty && locals[local.0 as usize].kind == kind);
        match found {
            Some(position) => self.temps.free.swap_remove(position).1,
            None => self.b.local(IrType::Struct(ty), kind),
        }
    }

    /// Frees the temps that held a call's struct arguments: callees do not keep their addresses.
    fn release_temps(&mut self) {
        self.temps.free.append(&mut self.temps.of_arguments);
    }

    /// Emits a call and returns its result; the arguments have been popped. Ends the block after a tail call.
    pub(super) fn emit_call(&mut self, call: &PlannedCall<'_>, args: &[StackEntry]) -> LoadResult<Option<StackEntry>> {
        let mut params: Vec<IrType> = call.this.into_iter().collect();
        for param in call.params {
            params.push(ir_type(param)?);
        }
        let ret = ir_type(call.ret)?;
        let sig = CallSig { params, ret: (ret != IrType::Void).then_some(ret), has_this: call.this.is_some() };
        if self.is_tail_call(call, args)? {
            let operands = self.tail_operands(call, args)?;
            self.has_calls = true;
            self.b.terminate(Terminator::TailCall { target: call.target, sig: Box::new(sig), args: operands });
            return Ok(None);
        }
        self.spill(Effect::Memory)?;
        let operands = self.operands(call.this.is_some(), call.params, args)?;
        self.emit_raw_call(call.target, sig, operands, call.ret)
    }

    /// Emits an ordinary call with these operands, of which `this` comes first, and returns its result of type `ret`.
    pub(super) fn emit_raw_call(
        &mut self,
        target: CallTarget,
        sig: CallSig,
        args: Vec<ValueId>,
        ret: Ty,
    ) -> LoadResult<Option<StackEntry>> {
        self.has_calls = true;
        let ir = sig.ret.unwrap_or(IrType::Void);
        if let IrType::Struct(ty) = ir {
            let temp = self.call_temp(ty, LocalKind::Normal);
            let addr = self.b.addr_of(temp);
            self.release_temps();
            let call = Op::Call { target, sig: Box::new(sig), args, struct_result: Some(addr) };
            self.b.effect(call);
            return Ok(Some(StackEntry::of_struct(Val::Temp(temp), ty)));
        }
        self.release_temps();
        let value = self.b.inst(Op::Call { target, sig: Box::new(sig), args, struct_result: None }, ir);
        if ir == IrType::Void {
            return Ok(None);
        }
        Ok(Some(self.scalar_result(value, ir, ret)?))
    }

    /// The entry for a call's scalar result.
    pub(super) fn scalar_result(&mut self, value: ValueId, ir: IrType, ret: Ty) -> LoadResult<StackEntry> {
        let range = match mem_type(ret)? {
            Some(MemType::I8) => Some((-0x80, 0x7f)),
            Some(MemType::U8) => Some((0, 0xff)),
            Some(MemType::I16) => Some((-0x8000, 0x7fff)),
            Some(MemType::U16) => Some((0, 0xffff)),
            _ => None,
        };
        if let Some(range) = range {
            self.known.narrow_calls.insert(value, range);
        }
        let mut entry = StackEntry::scalar(value, ir).with_type(ret);
        entry.is_exact = ir == IrType::Ref && is_exact_class(ret);
        Ok(entry)
    }

    /// Pushes a call's result, if any.
    pub(super) fn push_result(&mut self, result: Option<StackEntry>) {
        self.s.stack.extend(result);
    }

    /// Pushes the result, of type `ret`, that several ways have left in a local.
    pub(super) fn push_joined(&mut self, local: LocalId, ret: Ty) {
        let entry = match self.b.local_type(local) {
            IrType::Struct(ty) => StackEntry::of_struct(Val::Temp(local), ty),
            ir => {
                let value = self.b.get(local);
                let mut entry = StackEntry::scalar(value, ir).with_type(ret);
                entry.is_exact = ir == IrType::Ref && is_exact_class(ret);
                entry
            }
        };
        self.push(entry);
    }

    /// Pushes the result of native code, if any; narrow integers are extended, since their upper bits are undefined.
    pub(super) fn push_native_result(&mut self, result: Option<StackEntry>, ret: Ty) -> LoadResult<()> {
        let Some(mut entry) = result else { return Ok(()) };
        if let Val::Scalar(value) = entry.val {
            self.known.narrow_calls.remove(&value);
            entry.val = Val::Scalar(self.native_result(value, ret)?);
        }
        self.push(entry);
        Ok(())
    }

    fn native_result(&mut self, value: ValueId, ret: Ty) -> LoadResult<ValueId> {
        let target = match mem_type(ret)? {
            Some(MemType::I8) => ConvTarget::I1,
            Some(MemType::U8) => ConvTarget::U1,
            Some(MemType::I16) => ConvTarget::I2,
            Some(MemType::U16) => ConvTarget::U2,
            _ => return Ok(value),
        };
        debug_assert!(conv_type(target) == IrType::I32);
        Ok(self.b.conv(value, target))
    }

    /// Throws NullReferenceException if the entry may be and is null.
    pub(super) fn null_check(&mut self, entry: &mut StackEntry) -> LoadResult<()> {
        if entry.is_non_null || entry.ir != IrType::Ref {
            return Ok(());
        }
        let value = self.value(entry)?;
        self.b.effect(Op::NullCheck(value));
        self.note_non_null(value);
        entry.is_non_null = true;
        Ok(())
    }

    /// The signature of `method`, which must not be open (have unbound generic parameters).
    pub(super) fn closed_sig(&self, method: &'static Method) -> LoadResult<&'static MethodSig> {
        if method.is_open() {
            let name = method.full_name();
            return Err(LoadError::invalid_program(format!("{name} has unassigned generic parameters")));
        }
        method.sig()
    }

    /// Whether `entry`, used as an `owner`, may be a transparent proxy.
    pub(super) fn may_be_proxy(entry: &StackEntry, owner: Ty) -> bool {
        entry.ir == IrType::Ref && !entry.is_exact && entry.note != Note::This && owner.is_marshal_by_ref()
    }

    /// Calls a stub for objects that may be proxies.
    pub(super) fn call_stub(&mut self, stub: RemotingStub, args: &[StackEntry]) -> LoadResult<()> {
        let method = stub.method();
        let sig = self.closed_sig(method)?;
        let call = PlannedCall {
            target: CallTarget::Direct(method),
            this: Some(IrType::Ref),
            params: &sig.params,
            ret: sig.ret,
        };
        let result = self.emit_call(&call, args)?;
        self.push_result(result);
        Ok(())
    }

    /// Null check of a reference used as the base of an access.
    pub(super) fn check_of(entry: &StackEntry) -> NullCheck {
        if entry.is_non_null { NullCheck::None } else { NullCheck::Needed }
    }
}
