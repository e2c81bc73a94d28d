//! Guarded calls: if a guess holds (`callees`), the method is called directly, so that it can be inlined; else the
//! call is made as it stands. A guess that was wrong costs the comparison and nothing else, so nothing is undone when
//! it becomes wrong.

use super::builder::plain;
use super::emitter::Emitter;
use super::importer::Importer;
use super::kinds::ir_type;
use super::next_step::{GuardedCall, Guess, NextStep};
use super::stack::{Effect, StackEntry};
use crate::ir::{
    AliasClass, BinOp, BlockId, CmpOp, IrType, LocalId, LocalKind, MemFlags, MemType, Op, Symbol, Terminator, ValueId,
};
use crate::synth::delegate::DelegateFields;
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_types::method::OVERRIDDEN;
use saki_types::{Assumption, LoadResult, Ty};

impl Emitter<'_> {
    /// Whether a guess holds for this call: not zero if so. The first argument is null-checked.
    fn guard(&mut self, call: &mut GuardedCall, guess: Guess) -> LoadResult<ValueId> {
        self.b.f.guards += 1;
        match guess {
            Guess::Receiver(ty) => {
                self.facts.0.assume(Assumption::Type(ty));
                self.null_check(&mut call.args[0])?;
                let object = self.value(&call.args[0])?;
                let vtable = self.b.load(object, OBJECT_VTABLE_OFFSET, MemType::I64, plain(AliasClass::VTable));
                let wanted = self.b.symbol(Symbol::VTable(ty));
                Ok(self.b.inst(Op::Cmp(CmpOp::Eq, vtable, wanted), IrType::I32))
            }
            Guess::NotOverridden(target) => {
                self.facts.0.assume(Assumption::Method(target));
                // The object has been loaded before the byte is: `runtime::object::overrides` relies on it.
                self.null_check(&mut call.args[0])?;
                let byte = self.b.symbol(Symbol::Overrides(target));
                let flags = MemFlags { volatile: true, ..plain(AliasClass::Any) };
                let state = self.b.load(byte, 0, MemType::U8, flags);
                let overridden = self.b.i32(i32::from(OVERRIDDEN));
                let bit = self.b.inst(Op::Bin(BinOp::And, state, overridden), IrType::I32);
                let zero = self.b.i32(0);
                Ok(self.b.inst(Op::Cmp(CmpOp::Eq, bit, zero), IrType::I32))
            }
            Guess::Delegate(target) => {
                self.facts.0.assume(Assumption::Method(target));
                let fields = DelegateFields::load()?;
                let delegate = self.value(&call.args[0])?;
                let checked = MemFlags { null_check: Self::check_of(&call.args[0]), ..plain(AliasClass::Field) };
                call.args[0].is_non_null = true;
                let method = self.b.load(delegate, fields.method, MemType::I64, checked);
                let (mark, mark_type) = fields.multicast_mark();
                let list = self.b.load(delegate, mark, mark_type, plain(AliasClass::Field));
                let wanted = self.b.symbol(Symbol::MethodHandle(target));
                let other_method = self.b.inst(Op::Bin(BinOp::Xor, method, wanted), IrType::I64);
                let differs = self.b.inst(Op::Bin(BinOp::Or, other_method, list), IrType::I64);
                let zero = self.b.i64(0);
                Ok(self.b.inst(Op::Cmp(CmpOp::Eq, differs, zero), IrType::I32))
            }
        }
    }

    /// What a guarded call is if the guess holds.
    fn guessed(&mut self, call: &GuardedCall, guess: Guess) -> LoadResult<NextStep> {
        let mut args = call.args.clone();
        match guess {
            Guess::Receiver(ty) => {
                args[0] = args[0].exact(ty);
                self.call_on_object(call.method, args)
            }
            Guess::NotOverridden(target) => Ok(NextStep::call(target, args)),
            Guess::Delegate(target) => {
                let fields = DelegateFields::load()?;
                let delegate = self.value(&args[0])?;
                if target.is_static() {
                    args.remove(0);
                } else {
                    let this = self.b.load(delegate, fields.target, MemType::Ref, plain(AliasClass::Field));
                    args[0] = StackEntry::scalar(this, IrType::Ref).with_type(target.owner);
                }
                Ok(NextStep::call(target, args))
            }
        }
    }

    /// The call as it stands.
    fn unguessed(&mut self, call: &GuardedCall) -> LoadResult<()> {
        match call.guesses[..] {
            [Guess::Delegate(_), ..] => self.invoke_delegate(call.method, &call.args),
            _ => self.dispatch(call.method, call.args.clone()),
        }
    }
}

impl Importer<'_> {
    /// A call of the guessed method if a guess holds, else the call as it stands.
    pub(super) fn make_guarded_call(&mut self, call: GuardedCall) -> LoadResult<()> {
        if call.is_certain
            && let Some(&guess) = call.guesses.first()
        {
            return self.make_guessed_call(&call, guess);
        }
        self.emit.decide(|| {
            let of = |guess: &Guess| match guess {
                Guess::Receiver(ty) => format!("a {}", ty.full_name()),
                Guess::NotOverridden(target) | Guess::Delegate(target) => target.full_name(),
            };
            let guesses = call.guesses.iter().map(of).collect::<Vec<_>>().join(" or ");
            match call.guesses[..] {
                [Guess::Delegate(_), ..] => format!("guarded: a delegate, nearly always of {guesses}"),
                [Guess::NotOverridden(_), ..] => format!("guarded: {guesses}, which no class overrides"),
                _ => format!("guarded: {}, nearly always of {guesses}", call.method.full_name()),
            }
        });
        let guesses = call.guesses.clone();
        self.try_guesses(call, &guesses)
    }

    /// The call, if none of the guesses before these holds.
    fn try_guesses(&mut self, mut call: GuardedCall, guesses: &[Guess]) -> LoadResult<()> {
        let Some((&guess, others)) = guesses.split_first() else {
            self.emit.b.mark_cold();
            return self.emit.unguessed(&call);
        };
        let ret = self.emit.closed_sig(call.method)?.ret;
        // Both ways see the same stack.
        self.emit.spill(Effect::Memory)?;
        let holds = self.emit.guard(&mut call, guess)?;
        let result = match ir_type(ret)? {
            IrType::Void => None,
            _ => Some((self.emit.variable(ret, LocalKind::Normal, false)?, ret)),
        };
        let region = self.emit.b.region();
        let [usual, other] = [(); 2].map(|()| self.emit.b.block(region));
        self.emit.b.terminate(Terminator::Brif { cond: holds, then: usual, otherwise: other });

        // Temps of the arguments stay taken for the other way.
        let free_temps = self.emit.temps.free.clone();
        self.emit.known.forget_block();
        self.emit.b.current = Some(usual);
        if let Err(error) = self.make_guessed_call(&call, guess) {
            self.emit.throw_deferred(error);
        }
        let end_of_usual = self.keep_result(result)?;
        self.emit.temps.free = free_temps;
        self.emit.known.forget_block();
        self.emit.b.current = Some(other);
        self.try_guesses(call, others)?;
        let end_of_other = self.keep_result(result)?;
        self.emit.known.forget_block();
        if end_of_usual.is_none() && end_of_other.is_none() {
            return Ok(());
        }
        let next = self.emit.b.block(region);
        for end in [end_of_usual, end_of_other].into_iter().flatten() {
            self.emit.b.current = Some(end);
            self.emit.b.terminate(Terminator::Jump(next));
        }
        self.emit.b.current = Some(next);
        if let Some((local, ret)) = result {
            self.emit.push_joined(local, ret);
        }
        Ok(())
    }

    fn make_guessed_call(&mut self, call: &GuardedCall, guess: Guess) -> LoadResult<()> {
        match self.emit.guessed(call, guess)? {
            NextStep::Call(direct) => {
                self.is_guessed = true;
                let made = self.make_call(*direct);
                self.is_guessed = false;
                made
            }
            NextStep::Guarded(_) => saki_base::bug!("{} is guarded twice", call.method.full_name()),
            NextStep::Done | NextStep::Prefixed => Ok(()),
        }
    }

    /// Moves a call's result to the local where both ways leave it, and ends the current block, which is returned.
    fn keep_result(&mut self, result: Option<(LocalId, Ty)>) -> LoadResult<Option<BlockId>> {
        if self.emit.b.current.is_none() {
            return Ok(None);
        }
        if let Some((local, ret)) = result {
            let entry = self.emit.pop()?;
            self.emit.store_local(local, &entry, ret)?;
        }
        Ok(self.emit.b.current.take())
    }
}
