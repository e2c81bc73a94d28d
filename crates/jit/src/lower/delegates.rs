//! The constructor of delegates in line, where everything that its stores depend on is known at compile time.

use super::{Lowered, Lowering, MemoryKind};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use saki_abi::HelperId;
use saki_il::ir::{Op, Symbol, ValueId};
use saki_il::synth::delegate::{DelegateFields, DelegateKind, delegate_kind};
use saki_types::{Method, MethodRuntime, Ty, collectible};
use std::mem::offset_of;

/// Offset in `Method` of the address of its code, which is 0 before the method is compiled, and if the code may be replaced.
const METHOD_CODE_OFFSET: i32 = (offset_of!(Method, runtime) + offset_of!(MethodRuntime, lasting_code)) as i32;

impl Lowering<'_, '_> {
    /// `DelegateInit(delegate, target, code, method)`. The helper does it for targets that may be proxies or boxed values,
    /// and for null as `this`.
    pub(super) fn delegate_init(&mut self, args: [ValueId; 4]) -> Lowered {
        let [delegate_id, target_id, code_id, method_id] = args;
        let mut values = [self.i64_const(0); 4];
        for (value, id) in values.iter_mut().zip(args) {
            *value = self.value_as(id, types::I64)?;
        }
        let [delegate, target, code, handle] = values;
        let Some((ty, method)) = self.known_delegate(delegate_id, code_id, method_id) else {
            self.call_helper(HelperId::DelegateInit, &values);
            return Ok(());
        };
        let kind = delegate_kind(ty, method, true)?;
        let is_null = self.constant(target_id) == Some(0);
        if kind == DelegateKind::ClosedInstance && is_null {
            self.call_helper(HelperId::DelegateInit, &values);
            return Ok(());
        }
        let (fast, slow, next) = (self.new_block(false), self.new_block(true), self.new_block(false));
        if kind == DelegateKind::ClosedInstance {
            self.branch(target, fast, slow);
            self.continue_in(slow);
            self.call_helper(HelperId::DelegateInit, &values);
            self.jump_clif(next, &[]);
        } else {
            self.jump_clif(fast, &[]);
        }
        self.continue_in(fast);
        let fields = DelegateFields::load()?;
        let code = self.code_or_entry(method, handle, code);
        let flags = self.trusted(MemoryKind::Program);
        self.b.ins().store(flags, code, delegate, fields.method_ptr);
        if kind != DelegateKind::ClosedInstance {
            let kind = self.i64_const(kind as i64);
            self.b.ins().store(flags, kind, delegate, fields.invoke_impl);
        }
        self.b.ins().store(flags, handle, delegate, fields.method);
        if !is_null {
            // No barrier: the delegate has been allocated just before.
            self.b.ins().store(flags, target, delegate, fields.target);
        }
        self.jump_clif(next, &[]);
        self.continue_in(next);
        Ok(())
    }

    /// The delegate's type and its method, if the code is that of the method's entry and no proxy can be its target.
    fn known_delegate(&self, delegate: ValueId, code: ValueId, method: ValueId) -> Option<(Ty, &'static Method)> {
        let op = |id: ValueId| self.func.insts.get(id.0 as usize).map(|inst| &inst.op);
        let (
            &Op::NewObject(ty),
            &Op::SymbolAddr(Symbol::MethodEntry(called)),
            &Op::SymbolAddr(Symbol::MethodHandle(method)),
        ) = (op(delegate)?, op(code)?, op(method)?)
        else {
            return None;
        };
        let owner = method.owner;
        let has_plain_this = method.is_static()
            || !(owner.is_value_type()
                || owner.is_interface()
                || owner.is_marshal_by_ref()
                || matches!(owner.parent(), Ok(None) | Err(_)));
        (std::ptr::eq(called, method) && has_plain_this && !method.is_dynamic() && !method.is_abstract())
            .then_some((ty, method))
    }

    /// The method's code if it is compiled and lasts, else the address of its entry, `entry`.
    fn code_or_entry(&mut self, method: &'static Method, handle: Value, entry: Value) -> Value {
        if collectible::ends_alone(method) {
            return entry;
        }
        // Both values are right at any time.
        let flags = self.trusted(MemoryKind::ClassData);
        let code = self.b.ins().load(types::I64, flags, handle, METHOD_CODE_OFFSET);
        let is_compiled = self.b.ins().icmp_imm_u(IntCC::NotEqual, code, 0);
        self.b.ins().select(is_compiled, code, entry)
    }
}
