//! Which method a virtual call or a call of a delegate runs: certainly, or nearly always.
//!
//! At each call whose callee is not certain, code of the first tier notes the class of the object, or the method of the
//! delegate (`Op::Note`). The second tier asks for what was noted (`Facts`), and guards the call if that was nearly
//! always the same, or one of two (`guards`).
//!
//! Left out: guesses of three classes; guards of calls that replace the frame (`tail.`), and in filters.

use super::builder::plain;
use super::emitter::Emitter;
use super::kinds::{ir_type, is_exact_class};
use super::next_step::Guess;
use super::stack::StackEntry;
use crate::ir::{AliasClass, IrType, MemType, Op, Symbol, ValueId};
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_types::{LoadResult, Method};

/// Guards in one function at most: each has the call twice.
const MAX_GUARDS: u32 = 100;
/// Largest body that is called behind a test whether it is overridden.
const NOT_OVERRIDDEN_BODY_BYTES: usize = 64;

impl Emitter<'_> {
    /// The method that a virtual call on this receiver certainly runs, if known.
    pub(super) fn devirtualized(
        &self,
        method: &'static Method,
        this: &StackEntry,
    ) -> LoadResult<Option<&'static Method>> {
        if !method.is_virtual() || (!method.owner.is_interface() && (method.is_final() || method.owner.is_sealed())) {
            return Ok((!method.is_abstract()).then_some(method));
        }
        let Some(ty) = this.ty.filter(|_| this.ir == IrType::Ref) else { return Ok(None) };
        if !(this.is_exact || is_exact_class(ty)) || (ty.is_array() && method.owner.is_interface()) {
            return Ok(None);
        }
        if ty.is_interface() || !ty.is_assignable_to(method.owner)? {
            return Ok(None);
        }
        // Which of several instantiations of the interface it is found by may depend on what stand-ins are for.
        if method.owner.has_variant_parameters() && (ty.mentions_stand_in() || method.owner.mentions_stand_in()) {
            return Ok(None);
        }
        // A method that cannot be resolved now fails when the call is made.
        let Ok(target) = ty.resolve_virtual(method) else { return Ok(None) };
        Ok((!target.is_abstract() && !target.is_open()).then_some(target))
    }

    /// Notes a word for the next tier's code of the current instruction.
    pub(super) fn note(&mut self, word: ValueId) {
        let cell = self.b.symbol(Symbol::Noted(self.s.method, self.s.offset));
        self.b.effect(Op::Note { cell, word });
    }

    /// Notes the class of an object on which a virtual call is about to be made.
    pub(super) fn note_receiver(&mut self, this: &mut StackEntry) -> LoadResult<()> {
        if this.ir == IrType::Ref {
            self.null_check(this)?;
            let object = self.value(this)?;
            let vtable = self.b.load(object, OBJECT_VTABLE_OFFSET, MemType::I64, plain(AliasClass::Runtime));
            self.note(vtable);
        }
        Ok(())
    }

    pub(super) fn may_guess(&self) -> bool {
        self.options.inline && self.parent.is_none() && !self.s.prefixes.tail && self.b.f.guards < MAX_GUARDS
    }

    /// The classes, one or two, that the receiver of a virtual call nearly always has.
    pub(super) fn guess_receiver(&self, method: &'static Method, this: &StackEntry) -> LoadResult<Vec<Guess>> {
        let mut guesses = Vec::new();
        if !self.may_guess() || this.ir != IrType::Ref {
            return Ok(guesses);
        }
        for ty in self.facts.0.usual_classes(self.s.method, self.s.offset).into_iter().flatten() {
            let exact = StackEntry { ty: Some(ty), is_exact: true, ..*this };
            if self.devirtualized(method, &exact)?.is_some() {
                guesses.push(Guess::Receiver(ty));
            }
        }
        Ok(guesses)
    }

    /// The method that a virtual call runs as long as no class overrides it, if its body is small: a longer one gains
    /// too little from a direct call.
    pub(super) fn guess_not_overridden(&self, method: &'static Method, this: &StackEntry) -> LoadResult<Option<Guess>> {
        let Some(ty) = this.ty.filter(|_| this.ir == IrType::Ref && self.may_guess()) else { return Ok(None) };
        // A proxy, and an object that decides itself what it implements, are of no class with that method.
        if method.owner.is_interface() || ty.is_interface() || ty.is_array() || ty.is_marshal_by_ref() {
            return Ok(None);
        }
        if !method.generic_args().is_empty() || !ty.is_assignable_to(method.owner)? {
            return Ok(None);
        }
        // A method that cannot be resolved now fails when the call is made.
        let Ok(target) = ty.resolve_virtual(method) else { return Ok(None) };
        let is_callable = !target.is_abstract() && !target.is_open() && self.facts.0.is_never_overridden(target);
        let is_small = || {
            let body = target.body().ok().flatten();
            body.is_some_and(|body| body.code.len() <= NOT_OVERRIDDEN_BODY_BYTES)
        };
        Ok((is_callable && is_small()).then_some(Guess::NotOverridden(target)))
    }

    /// The methods, one or two, that a call of `Invoke` nearly always runs.
    pub(super) fn guess_delegate(&self, invoke: &'static Method) -> LoadResult<Vec<Guess>> {
        let mut guesses = Vec::new();
        if !self.may_guess() {
            return Ok(guesses);
        }
        for target in self.facts.0.usual_delegates(self.s.method, self.s.offset).into_iter().flatten() {
            guesses.extend(self.guessed_delegate(invoke, target)?);
        }
        Ok(guesses)
    }

    /// The call of a delegate's method in place of `Invoke`, if the two fit together.
    pub(super) fn guessed_delegate(
        &self,
        invoke: &'static Method,
        target: &'static Method,
    ) -> LoadResult<Option<Guess>> {
        // A delegate for a native function shows its own `Invoke`, and has no target.
        if target.owner.is_delegate() {
            return Ok(None);
        }
        // Boxed values and proxies are called through stubs; a method without body is only what the delegate shows.
        if target.is_abstract() || target.is_open() || target.owner.is_value_type() || target.owner.is_marshal_by_ref()
        {
            return Ok(None);
        }
        // A delegate for a method with as many parameters as `Invoke` passes on its arguments, behind the target if the
        // method is an instance's (`synth::delegate::delegate_kind`).
        let (wanted, has) = (self.closed_sig(invoke)?, self.closed_sig(target)?);
        if wanted.params.len() != has.params.len() || has.is_vararg || ir_type(wanted.ret)? != ir_type(has.ret)? {
            return Ok(None);
        }
        for (wanted, has) in wanted.params.iter().zip(&has.params) {
            if ir_type(wanted)? != ir_type(has)? {
                return Ok(None);
            }
        }
        Ok(Some(Guess::Delegate(target)))
    }
}
