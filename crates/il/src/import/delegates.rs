//! Making delegates (`ldftn`/`ldvirtftn` and `newobj`) and calling them. ECMA-335 §II.14.6.1.
//!
//! A call of `Invoke` handles the common cases in line: a single target that is an instance method or a static method,
//! as of lambdas. All other delegates are called through the body of `Invoke`.

use super::builder::plain;
use super::emitter::Emitter;
use super::kinds::call_sig;
use super::operand_kinds::require_kind;
use super::stack::{Effect, Note, StackEntry};
use crate::ir::{AliasClass, BinOp, CallSig, CallTarget, IrType, LocalKind, MemFlags, MemType, Op, Symbol, Terminator};
use crate::synth::delegate::{DelegateFields, DelegateKind, is_made_in_line};
use saki_abi::HelperId;
use saki_types::{LoadResult, Method, Ty};

impl Emitter<'_> {
    pub(super) fn new_delegate(&mut self, ty: Ty) -> LoadResult<()> {
        let function = self.pop()?;
        require_kind(&function, IrType::I64)?;
        let (_, target) = self.pop_reference()?;
        let mut code = self.value(&function)?;
        code = self.fit(code, IrType::I64);
        let is_entry =
            |op: &Op, method| matches!(op, Op::SymbolAddr(Symbol::MethodEntry(of)) if std::ptr::eq(*of, method));
        let note = match function.note {
            Note::Function(method) if is_made_in_line(method) && is_entry(self.b.op(code), method) => {
                Note::Delegate(method)
            }
            _ => Note::None,
        };
        let method = match function.note {
            Note::Function(method) => {
                // A delegate calls with the boxed object; the method wants the value's address.
                if !method.is_static() && method.owner.is_value_type() {
                    code = self.b.symbol(Symbol::UnboxEntry(method));
                }
                self.b.symbol(Symbol::MethodHandle(method))
            }
            // The runtime finds the method by its code address.
            _ => self.b.i64(0),
        };
        self.has_calls = true;
        let delegate = self.b.inst(Op::NewObject(ty), IrType::Ref);
        self.b.helper(HelperId::DelegateInit, vec![delegate, target, code, method]);
        let entry = StackEntry::scalar(delegate, IrType::Ref).exact(ty).non_null();
        self.push(StackEntry { note, ..entry });
        Ok(())
    }

    /// Calls `Invoke` of a delegate; `args[0]` is the delegate, not null-checked yet.
    pub(super) fn invoke_delegate(&mut self, method: &'static Method, args: &[StackEntry]) -> LoadResult<()> {
        const _: () = assert!(DelegateKind::ClosedInstance as i32 == 0);
        const OPEN_STATIC: i64 = DelegateKind::OpenStatic as i64;
        let sig = self.closed_sig(method)?;
        let fields = DelegateFields::load()?;
        self.spill(Effect::Memory)?;
        self.has_calls = true;
        let operands = self.operands(true, &sig.params, args)?;
        let delegate = operands[0];
        let call_sig = call_sig(sig, Some(IrType::Ref))?;
        let checked = MemFlags { null_check: Self::check_of(&args[0]), ..plain(AliasClass::Field) };
        let kind = self.b.load(delegate, fields.invoke_impl, MemType::I64, checked);
        if self.options.count {
            let target = self.b.load(delegate, fields.method, MemType::I64, plain(AliasClass::Field));
            self.note(target);
        }
        let (mark, mark_type) = fields.multicast_mark();
        let list = self.b.load(delegate, mark, mark_type, plain(AliasClass::Field));
        // Zero when the kind is ClosedInstance and there is no list of delegates.
        let is_other = self.b.inst(Op::Bin(BinOp::Or, kind, list), IrType::I64);
        let result = match call_sig.ret {
            Some(_) => Some(self.variable(sig.ret, LocalKind::Normal, false)?),
            None => None,
        };
        let struct_result = match (result, call_sig.ret) {
            (Some(local), Some(IrType::Struct(_))) => Some(self.b.addr_of(local)),
            _ => None,
        };
        let region = self.b.region();
        let [closed, not_closed, open, other, next] = [(); 5].map(|()| self.b.block(region));
        self.b.terminate(Terminator::Brif { cond: is_other, then: not_closed, otherwise: closed });

        self.b.current = Some(not_closed);
        let wanted = self.b.i64(OPEN_STATIC);
        let difference = self.b.inst(Op::Bin(BinOp::Xor, kind, wanted), IrType::I64);
        let is_other = self.b.inst(Op::Bin(BinOp::Or, difference, list), IrType::I64);
        self.b.terminate(Terminator::Brif { cond: is_other, then: other, otherwise: open });

        self.b.current = Some(closed);
        let mut closed_args = operands.clone();
        closed_args[0] = self.b.load(delegate, fields.target, MemType::Ref, plain(AliasClass::Field));
        let closed_code = self.b.load(delegate, fields.method_ptr, MemType::I64, plain(AliasClass::Field));
        self.b.current = Some(open);
        let open_args = operands[1..].to_vec();
        let open_code = self.b.load(delegate, fields.method_ptr, MemType::I64, plain(AliasClass::Field));
        let open_sig = CallSig { has_this: false, params: call_sig.params[1..].to_vec(), ret: call_sig.ret };
        for (block, target, args, sig) in [
            (closed, CallTarget::Indirect(closed_code), closed_args, call_sig.clone()),
            (open, CallTarget::Indirect(open_code), open_args, open_sig),
            (other, CallTarget::Direct(method), operands, call_sig.clone()),
        ] {
            self.b.current = Some(block);
            let ir = match (struct_result, call_sig.ret) {
                (None, Some(ir)) => ir,
                _ => IrType::Void,
            };
            let value = self.b.inst(Op::Call { target, sig: Box::new(sig), args, struct_result }, ir);
            if let (Some(local), None) = (result, struct_result) {
                self.b.set(local, value);
            }
            self.b.terminate(Terminator::Jump(next));
        }
        self.b.current = Some(next);
        if let Some(local) = result {
            self.push_joined(local, sig.ret);
        }
        Ok(())
    }
}
