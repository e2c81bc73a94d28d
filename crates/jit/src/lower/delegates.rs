//! The constructor of delegates in line, where everything that its stores depend on is known at compile time.

use super::clif_builder::MemoryKind;
use super::context::Lowering;
use crate::error::Lowered;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use saki_abi::HelperId;
use saki_il::ir::{Op, Symbol, ValueId};
use saki_il::synth::delegate::{DelegateFields, DelegateKind, delegate_kind, is_made_in_line};
use saki_types::{Method, MethodRuntime, Ty, collectible};
use std::mem::offset_of;

/// Offset in `Method` of the address of its code, which is 0 before the method is compiled, and if the code may be replaced.
const METHOD_CODE_OFFSET: i32 = (offset_of!(Method, runtime) + offset_of!(MethodRuntime, lasting_code)) as i32;

/// `DelegateInit(delegate, target, code, method)`. The helper does it for targets that may be proxies or boxed values,
/// and for null as `this`.
pub(super) fn delegate_init(cx: &mut Lowering<'_, '_>, args: [ValueId; 4]) -> Lowered {
    let [delegate_id, target_id, code_id, method_id] = args;
    let mut values = [cx.i64_const(0); 4];
    for (value, id) in values.iter_mut().zip(args) {
        *value = cx.value_as(id, types::I64)?;
    }
    let [delegate, target, code, handle] = values;
    let Some((ty, method)) = known_delegate(cx, delegate_id, code_id, method_id) else {
        cx.call_helper(HelperId::DelegateInit, &values);
        return Ok(());
    };
    let kind = delegate_kind(ty, method, true)?;
    let is_null = cx.constant(target_id) == Some(0);
    if kind == DelegateKind::ClosedInstance && is_null {
        cx.call_helper(HelperId::DelegateInit, &values);
        return Ok(());
    }
    let (fast, slow, next) = (cx.new_block(false), cx.new_block(true), cx.new_block(false));
    if kind == DelegateKind::ClosedInstance {
        cx.branch(target, fast, slow);
        cx.continue_in(slow);
        cx.call_helper(HelperId::DelegateInit, &values);
        cx.jump_clif(next, &[]);
    } else {
        cx.jump_clif(fast, &[]);
    }
    cx.continue_in(fast);
    let fields = DelegateFields::load()?;
    let code = code_or_entry(cx, method, handle, code);
    let flags = cx.trusted(MemoryKind::Program);
    cx.b.ins().store(flags, code, delegate, fields.method_ptr);
    if let Some(open_code) = fields.open_code.filter(|_| kind.passes_no_target()) {
        cx.b.ins().store(flags, code, delegate, open_code);
    }
    if kind != DelegateKind::ClosedInstance {
        let kind = cx.i64_const(kind as i64);
        cx.b.ins().store(flags, kind, delegate, fields.invoke_impl);
    }
    cx.b.ins().store(flags, handle, delegate, fields.method);
    if !is_null {
        // No barrier: the delegate has been allocated just before.
        cx.b.ins().store(flags, target, delegate, fields.target);
    }
    cx.jump_clif(next, &[]);
    cx.continue_in(next);
    Ok(())
}

/// The delegate's type and its method, if the code is that of the method's entry and no proxy can be its target.
fn known_delegate(
    cx: &Lowering<'_, '_>,
    delegate: ValueId,
    code: ValueId,
    method: ValueId,
) -> Option<(Ty, &'static Method)> {
    let op = |id: ValueId| cx.inst(id).map(|inst| &inst.op);
    let (
        &Op::NewObject(ty),
        &Op::SymbolAddr(Symbol::MethodEntry(called)),
        &Op::SymbolAddr(Symbol::MethodHandle(method)),
    ) = (op(delegate)?, op(code)?, op(method)?)
    else {
        return None;
    };
    (std::ptr::eq(called, method) && is_made_in_line(method)).then_some((ty, method))
}

/// The method's code if it is compiled and lasts, else the address of its entry, `entry`.
fn code_or_entry(cx: &mut Lowering<'_, '_>, method: &'static Method, handle: Value, entry: Value) -> Value {
    if collectible::ends_alone(method) {
        return entry;
    }
    // Both values are right at any time.
    let flags = cx.trusted(MemoryKind::ClassData);
    let code = cx.b.ins().load(types::I64, flags, handle, METHOD_CODE_OFFSET);
    let is_compiled = cx.b.ins().icmp_imm_u(IntCC::NotEqual, code, 0);
    cx.b.ins().select(is_compiled, code, entry)
}
