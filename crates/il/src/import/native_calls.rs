//! Calls of native code in line: `calli` of unmanaged code, and P/Invokes whose values need no conversion.
//!
//! Invariant: what is passed in line means the same on both sides (numbers, pointers, plain structs, and for `calli`
//! the addresses of arrays of these, which stay in place). All other calls go through a wrapper (`synth::pinvoke`).
//! Left out: how the thread leaves managed state, which is the code generator's (`ir::Transition`).

use super::builder::plain;
use super::call_sites::PlannedCall;
use super::class_init::needs_check_at_entry;
use super::emitter::Emitter;
use super::kinds::ir_type;
use super::stack::{Effect, StackEntry};
use crate::ir::{
    AliasClass, CallSig, CallTarget, CmpOp, ConvTarget, InlineSite, IrType, MemType, Op, Symbol, Terminator,
    Transition, ValueId, position,
};
use crate::synth::marshal::{
    CharSet, MarshalAction, MarshalPosition, MethodPlan, NativeType, ParamPlan, method_plan, native_type,
};
use saki_abi::HelperId;
use saki_abi::object::ARRAY_DATA_OFFSET;
use saki_types::native_call::native_call_method;
use saki_types::{ElementType, LoadResult, Method, MethodSig, Ty};

/// Whether an array of this type is passed to native code as the address of its elements.
fn is_plain_array(ty: Ty) -> LoadResult<bool> {
    let native = native_type(ty, None, CharSet::Ansi, MarshalPosition::Param)?;
    Ok(matches!(native, NativeType::Array { element, .. } if element.is_same()))
}

/// Whether a value of this type, or for a byref the value it refers to, contains object references, which native code
/// cannot read.
fn holds_objects(ty: Ty) -> LoadResult<bool> {
    let ty = ty.element().filter(|_| ty.is_byref()).unwrap_or(ty);
    ty.contains_references()
}

/// The plan of a P/Invoke method that can be called in line. An error is met again by the call of the wrapper.
fn plan_in_line(method: &'static Method) -> Option<MethodPlan> {
    if !method.is_static() || method.is_unmanaged_callers_only().ok()? {
        return None;
    }
    let plan = method_plan(method).ok()?;
    let is_plain = |param: &ParamPlan| param.action == MarshalAction::Same && !param.by_ref;
    (plan.refused_by_calls().is_none() && plan.params.iter().chain([&plan.ret]).all(is_plain)).then_some(plan)
}

impl Emitter<'_> {
    /// Calls a P/Invoke in line if none of its values needs a conversion. False: nothing was emitted.
    pub(super) fn call_native_in_line(&mut self, method: &'static Method, args: &[StackEntry]) -> LoadResult<bool> {
        let sites = self.b.f.inline_sites.len();
        if self.s.prefixes.tail || sites >= position::MAX_SITES {
            return Ok(false);
        }
        let Some(plan) = plan_in_line(method) else { return Ok(false) };
        if plan.transition() == Transition::None && plan.set_last_error {
            return Ok(false);
        }
        let sig = self.closed_sig(method)?;
        self.spill(Effect::Memory)?;
        if needs_check_at_entry(method) {
            self.class_init(method.owner)?;
        }
        let call_position = self.b.il_offset;
        self.b.f.inline_sites.push(InlineSite { method, call_position });
        self.b.il_offset = position::pack(sites as u32 + 1, 0);
        let function = self.native_function(method);
        let result = self.emit_native_call(function, sig, args, &[], plan.transition())?;
        self.b.il_offset = call_position;
        self.push_native_result(result, sig.ret)?;
        Ok(true)
    }

    /// The address of a P/Invoke's function, which the first call looks for.
    fn native_function(&mut self, method: &'static Method) -> ValueId {
        let cell = self.b.symbol(Symbol::NativeCell(method));
        let known = self.b.load(cell, 0, MemType::I64, plain(AliasClass::Runtime));
        let address = self.b.temp(IrType::I64);
        self.b.set(address, known);
        let (resolve, call) = (self.b.block(self.b.region()), self.b.block(self.b.region()));
        self.b.terminate(Terminator::Brif { cond: known, then: call, otherwise: resolve });
        self.b.current = Some(resolve);
        self.b.mark_cold();
        let handle = self.b.symbol(Symbol::MethodHandle(method));
        let found = self.b.helper(HelperId::ResolveNative, vec![handle]);
        self.b.set(address, found);
        self.b.terminate(Terminator::Jump(call));
        self.b.current = Some(call);
        self.b.get(address)
    }

    /// `calli` of unmanaged code. Numbers, pointers, plain structs, and arrays of these (as addresses of their
    /// elements) are passed in line; with other arguments the call goes through a wrapper that converts them.
    /// `stays_managed`: the thread need not leave managed code for the call, which is short and never blocks.
    pub(super) fn call_native_indirect(
        &mut self,
        function: ValueId,
        sig: &'static MethodSig,
        args: &[StackEntry],
        stays_managed: bool,
    ) -> LoadResult<()> {
        let mut arrays = Vec::new();
        for (index, ty) in sig.params.iter().chain([&sig.ret]).enumerate() {
            if index < sig.params.len() && is_plain_array(ty)? {
                arrays.push(index);
            } else if holds_objects(ty)? {
                let wrapper = native_call_method(sig);
                let mut args = args.to_vec();
                args.push(StackEntry::scalar(function, IrType::I64));
                let params = &wrapper.sig()?.params;
                let call = PlannedCall { target: CallTarget::Direct(wrapper), this: None, params, ret: sig.ret };
                let result = self.emit_call(&call, &args)?;
                self.push_result(result);
                return Ok(());
            }
        }
        self.spill(Effect::Memory)?;
        let transition = if stays_managed { Transition::None } else { Transition::Leave };
        let result = self.emit_native_call(function, sig, args, &arrays, transition)?;
        self.push_native_result(result, sig.ret)
    }

    /// The call itself, and its result as native code gives it. `arrays`: parameters passed as addresses of elements.
    fn emit_native_call(
        &mut self,
        function: ValueId,
        sig: &MethodSig,
        args: &[StackEntry],
        arrays: &[usize],
        transition: Transition,
    ) -> LoadResult<Option<StackEntry>> {
        let mut operands = self.operands(false, &sig.params, args)?;
        let mut params = sig.params.iter().map(|p| ir_type(p)).collect::<LoadResult<Vec<_>>>()?;
        for (index, ty) in sig.params.iter().enumerate() {
            if arrays.contains(&index) {
                operands[index] = self.pinned_elements(operands[index]);
                params[index] = IrType::I64;
            } else if ty.underlying().element_type == ElementType::U4 {
                // Signed integers are extended by the call.
                operands[index] = self.b.conv(operands[index], ConvTarget::U8);
                params[index] = IrType::I64;
            }
        }
        let ret = ir_type(sig.ret)?;
        let call_sig = CallSig { params, ret: (ret != IrType::Void).then_some(ret), has_this: false };
        self.emit_raw_call(CallTarget::Native { code: function, transition }, call_sig, operands, sig.ret)
    }

    /// Address of an array's first element, or 0 for null; the array stays in place for the rest of the method.
    fn pinned_elements(&mut self, array: ValueId) -> ValueId {
        let data = self.b.offset(array, ARRAY_DATA_OFFSET);
        let pinned = self.b.pinned(IrType::ByRef);
        self.b.set(pinned, data);
        let null = self.b.inst(Op::Null, IrType::Ref);
        let is_there = self.b.inst(Op::Cmp(CmpOp::NeUn, array, null), IrType::I32);
        let address = self.b.conv(data, ConvTarget::U);
        let zero = self.b.i64(0);
        self.b.inst(Op::Select(is_there, address, zero), IrType::I64)
    }
}
