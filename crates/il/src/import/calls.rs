//! call, callvirt, calli, ldftn, ldvirtftn. ECMA-335 §III.3.19–3.20, §III.4.2, §III.4.18.
//!
//! Virtual calls become direct where the target is certain. A `constrained.` call passes the value's address, without
//! boxing, where the value's type implements the method.

use super::builder::plain;
use super::call_sites::PlannedCall;
use super::emitter::Emitter;
use super::kinds::this_type;
use super::next_step::{GuardedCall, NextStep};
use super::operand_kinds::{require_kind, require_reference};
use super::stack::{Note, StackEntry, Val};
use crate::ir::{AliasClass, CallTarget, IrType, Symbol, ValueId};
use saki_abi::HelperId;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_metadata::opcodes::Instruction;
use saki_types::method::MethodKind;
use saki_types::{LibraryMethod, LoadError, LoadErrorKind, LoadResult, Method, RemotingStub, Ty, load_texts};

impl Emitter<'_> {
    pub(super) fn call(&mut self, instruction: &Instruction<'static>) -> LoadResult<NextStep> {
        let token = self.operand_token(instruction)?;
        let (method, site_sig) = self.facts.resolve_method_call(self.s.image, token, &self.s.context)?;
        self.check_method(method)?;
        let method = self.static_target(method)?;
        if method.is_static() && !method.is_pinvoke() && method.is_unmanaged_callers_only()? {
            let message = "Invalid Program: attempted to call a UnmanagedCallersOnly method from managed code.";
            return Err(LoadError::new(LoadErrorKind::InvalidProgram, message, method.full_name()));
        }
        let sig = self.closed_sig(method)?;
        if sig.is_vararg {
            return self.call_vararg(method, site_sig.unwrap_or(sig), token, false).map(|()| NextStep::Done);
        }
        if let MethodKind::Array(kind) = method.kind
            && self.array_accessor(method, kind)?
        {
            return Ok(NextStep::Done);
        }
        if self.try_intrinsic(method)? {
            return Ok(NextStep::Done);
        }
        if method.is_abstract() && !method.is_static() && self.s.method.owner.is_interface() {
            // Default implementations of interfaces may call methods of the class this way.
            let args = self.pop_args(sig, true)?;
            return self.call_on_object(method, args);
        }
        if method.is_abstract() {
            let name = method.full_name();
            let message = match load_texts::are_mono() {
                true => format!("{name} is abstract and has no code"),
                false => "Bad IL format.".to_owned(),
            };
            return Err(LoadError::new(LoadErrorKind::BadImageFormat, message, name));
        }
        let args = self.pop_args(sig, !method.is_static())?;
        Ok(NextStep::call(method, args))
    }

    /// The method that `call` or `ldftn` reaches by naming `method`: for a static virtual one with a `constrained.` prefix
    /// its implementation for that type, to which no access is needed. §III.2.1.
    fn static_target(&self, method: &'static Method) -> LoadResult<&'static Method> {
        match self.s.prefixes.constrained {
            Some(ty) if method.is_static() && method.is_virtual() => {
                if ty.is_generic_param() {
                    let message = format!("{}, a stand-in, has no static members", ty.full_name());
                    return Err(LoadError::invalid_program(message));
                }
                self.facts.resolve_static_virtual(ty, method)
            }
            _ => Ok(method),
        }
    }

    /// Calls this method non-virtually, not inlined.
    pub(super) fn emit_direct_call(&mut self, method: &'static Method, args: &[StackEntry]) -> LoadResult<()> {
        if method.is_static() && method.name.starts_with("Throw") {
            self.b.mark_cold();
        }
        let sig = self.closed_sig(method)?;
        let this = this_type(method);
        let call = PlannedCall { target: CallTarget::Direct(method), this, params: &sig.params, ret: sig.ret };
        let result = self.emit_call(&call, args)?;
        self.push_result(result);
        Ok(())
    }

    /// Calls the stub of a method whose object may be a transparent proxy. False: it cannot be one.
    pub(super) fn call_if_proxy(&mut self, method: &'static Method, args: &[StackEntry]) -> LoadResult<bool> {
        let may_be_proxy = !method.is_static() && Self::may_be_proxy(&args[0], method.owner);
        if may_be_proxy {
            self.call_stub(RemotingStub::Call(method), args)?;
        }
        Ok(may_be_proxy)
    }

    pub(super) fn call_virtual(&mut self, instruction: &Instruction<'static>) -> LoadResult<NextStep> {
        let token = self.operand_token(instruction)?;
        let (method, site_sig) = self.facts.resolve_method_call(self.s.image, token, &self.s.context)?;
        self.check_method(method)?;
        let sig = self.closed_sig(method)?;
        if sig.is_vararg {
            return self.call_vararg(method, site_sig.unwrap_or(sig), token, true).map(|()| NextStep::Done);
        }
        if method.is_static() {
            return Err(LoadError::invalid_program(format!("callvirt of {}, which is static", method.full_name())));
        }
        if let Some(ty) = self.s.prefixes.constrained {
            return self.call_constrained(method, ty);
        }
        if let MethodKind::Array(kind) = method.kind
            && self.array_accessor(method, kind)?
        {
            return Ok(NextStep::Done);
        }
        if !method.is_virtual() && self.try_intrinsic(method)? {
            return Ok(NextStep::Done);
        }
        let args = self.pop_args(sig, true)?;
        if !method.owner.is_value_type() && !matches!(args[0].ir, IrType::Ref | IrType::I64) {
            require_reference(&args[0])?;
        }
        self.call_on_object(method, args)
    }

    /// A virtual call; `args[0]` is the object (or, for value types' methods, the managed pointer).
    pub(super) fn call_on_object(
        &mut self,
        method: &'static Method,
        mut args: Vec<StackEntry>,
    ) -> LoadResult<NextStep> {
        if method.owner.is_delegate() && method.name == "Invoke" && !self.s.prefixes.tail {
            if let Note::Delegate(target) = args[0].note
                && self.options.inline
                && let Some(known) = self.guessed_delegate(method, target)?
            {
                let call = GuardedCall { method, args, guesses: vec![known], is_certain: true };
                return Ok(NextStep::Guarded(Box::new(call)));
            }
            let guesses = self.guess_delegate(method)?;
            if !guesses.is_empty() {
                return Ok(NextStep::Guarded(Box::new(GuardedCall { method, args, guesses, is_certain: false })));
            }
            return self.invoke_delegate(method, &args).map(|()| NextStep::Done);
        }
        if let Val::DefaultComparer(getter) = args[0].val
            && let Some(next) = self.call_default_comparer(getter, method, &args)?
        {
            return Ok(next);
        }
        if let Some(target) = self.devirtualized(method, &args[0])? {
            self.null_check(&mut args[0])?;
            if target.owner.is_value_type() && args[0].ir == IrType::Ref {
                let object = self.value(&args[0])?;
                let addr = self.b.offset(object, OBJECT_HEADER_BYTES as i32);
                args[0] = StackEntry::scalar(addr, IrType::ByRef).non_null();
            }
            if self.intrinsic_of(target).is_some() {
                self.s.stack.extend(args);
                if self.try_intrinsic(target)? {
                    return Ok(NextStep::Done);
                }
                args = self.pop_args(target.sig()?, true)?;
            }
            return Ok(NextStep::call(target, args));
        }
        if self.options.count {
            self.note_receiver(&mut args[0])?;
        } else {
            let mut guesses = self.guess_receiver(method, &args[0])?;
            if guesses.is_empty() {
                guesses.extend(self.guess_not_overridden(method, &args[0])?);
            }
            if !guesses.is_empty() {
                return Ok(NextStep::Guarded(Box::new(GuardedCall { method, args, guesses, is_certain: false })));
            }
        }
        self.decide(|| format!("looked up: {}, the class of the object is not known", method.full_name()));
        self.dispatch(method, args).map(|()| NextStep::Done)
    }

    /// A virtual call through the object's tables.
    pub(super) fn dispatch(&mut self, method: &'static Method, mut args: Vec<StackEntry>) -> LoadResult<()> {
        let sig = self.closed_sig(method)?;
        let has_slot = method.generic_args().is_empty();
        let slot = if has_slot && !method.owner.is_interface() { method.vtable_slot()? } else { None };
        let target = match slot {
            Some(slot) => CallTarget::Virtual { method, slot },
            None if has_slot && method.owner.is_interface() => CallTarget::Interface { method },
            None => {
                self.null_check(&mut args[0])?;
                let object = self.value(&args[0])?;
                let handle = self.b.symbol(Symbol::MethodHandle(method));
                CallTarget::Indirect(self.b.helper(HelperId::ResolveVirtual, vec![object, handle]))
            }
        };
        let call = PlannedCall { target, this: Some(IrType::Ref), params: &sig.params, ret: sig.ret };
        let result = self.emit_call(&call, &args)?;
        self.push_result(result);
        Ok(())
    }

    /// ECMA-335 §III.2.1.
    fn call_constrained(&mut self, method: &'static Method, ty: Ty) -> LoadResult<NextStep> {
        let sig = self.closed_sig(method)?;
        let mut args = self.pop_args(sig, true)?;
        if args[0].ir == IrType::Ref {
            return Err(LoadError::invalid_program("a constrained call on a reference in place of an address"));
        }
        require_kind(&args[0], IrType::ByRef)?;
        let addr = self.value(&args[0])?;
        if !ty.is_value_type() {
            let flags = plain(AliasClass::Any);
            args[0] = self.entry_at(addr, 0, ty, flags)?;
            return self.call_on_object(method, args);
        }
        if method.owner.is_value_type() {
            return Ok(NextStep::call(method, args));
        }
        if !ty.is_assignable_to(method.owner)? {
            let (ty, method) = (ty.full_name(), method.full_name());
            return Err(LoadError::invalid_program(format!("{ty}, to which a call is constrained, has no {method}")));
        }
        let role = method.library_role()?;
        if role == Some(LibraryMethod::ObjectGetType) && !ty.is_nullable() {
            let entry = self.type_object(ty);
            self.push(entry);
            return Ok(NextStep::Done);
        }
        if role == Some(LibraryMethod::ObjectGetHashCode) && ty.is_enum() {
            // An enum's hash code is that of its underlying number.
            if let Some(target) = ty.underlying().find_method("GetHashCode", 0)? {
                return Ok(NextStep::call(target, args));
            }
        }
        let target = ty.resolve_virtual(method)?;
        if target.owner.is_value_type() {
            args[0].is_non_null = true;
            return Ok(NextStep::call(target, args));
        }
        if target.owner.is_interface() && !load_texts::are_mono() {
            saki_types::constrained_calls::require_supported(ty, method, &self.s.context)?;
        }
        let value = self.entry_at(addr, 0, ty, plain(AliasClass::Any))?;
        args[0] = self.boxed(&value, ty)?;
        self.call_on_object(method, args)
    }

    pub(super) fn call_indirect(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let token = self.operand_token(instruction)?;
        let sig = self.facts.resolve_standalone_sig(self.s.image, token, &self.s.context)?;
        let function = self.pop_native()?;
        let has_this = sig.has_this && !sig.explicit_this;
        let args = self.pop_args(sig, has_this)?;
        if sig.unmanaged_convention != 0 {
            let stays_managed = self.s.image.call_suppresses_gc_transition(token)?;
            return self.call_native_indirect(function, sig, &args, stays_managed);
        }
        let this = has_this.then(|| if args[0].ir == IrType::Ref { IrType::Ref } else { IrType::ByRef });
        let call = PlannedCall { target: CallTarget::Indirect(function), this, params: &sig.params, ret: sig.ret };
        let result = self.emit_call(&call, &args)?;
        self.push_result(result);
        Ok(())
    }

    /// The address that `ldftn` gives: of the method's entry, or of the native function through which native code calls
    /// the method.
    fn function_symbol(&mut self, method: &'static Method) -> LoadResult<ValueId> {
        let is_native = method.is_unmanaged_callers_only()?;
        let symbol = if is_native { Symbol::NativeEntry(method) } else { Symbol::MethodEntry(method) };
        Ok(self.b.symbol(symbol))
    }

    pub(super) fn load_function(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let method = self.facts.resolve_method(self.s.image, self.operand_token(instruction)?, &self.s.context)?;
        self.check_method(method)?;
        let method = self.static_target(method)?;
        self.closed_sig(method)?;
        let value = self.function_symbol(method)?;
        let mut entry = StackEntry::scalar(value, IrType::I64).non_null();
        entry.note = Note::Function(method);
        self.push(entry);
        Ok(())
    }

    pub(super) fn load_virtual_function(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let method = self.facts.resolve_method(self.s.image, self.operand_token(instruction)?, &self.s.context)?;
        self.check_method(method)?;
        self.closed_sig(method)?;
        let mut object = self.pop()?;
        require_reference(&object)?;
        self.null_check(&mut object)?;
        let target = if method.is_static() { Some(method) } else { self.devirtualized(method, &object)? };
        let value = match target {
            Some(target) if target.owner.is_value_type() => self.b.symbol(Symbol::UnboxEntry(target)),
            Some(target) => self.function_symbol(target)?,
            None => {
                let object = self.value(&object)?;
                let handle = self.b.symbol(Symbol::MethodHandle(method));
                self.has_calls = true;
                self.b.helper(HelperId::ResolveVirtual, vec![object, handle])
            }
        };
        let mut entry = StackEntry::scalar(value, IrType::I64).non_null();
        entry.note = Note::Function(target.unwrap_or(method));
        self.push(entry);
        Ok(())
    }
}
