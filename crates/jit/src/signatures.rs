//! Cranelift signatures of managed calls, helpers and stubs.
//!
//! Managed order: `this` if there is one, the struct-result pointer if the result is a struct, then the rest.

use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::{AbiType, HelperId};
use saki_il::ir::{CallSig, CallTarget, IrType};

/// Machine type of a value; structs are addresses. `Void` has none.
pub(crate) fn machine_type(ty: IrType) -> Option<Type> {
    match ty {
        IrType::Void | IrType::Block(_) => None,
        IrType::I32 => Some(types::I32),
        IrType::I64 | IrType::Ref | IrType::ByRef | IrType::Struct(_) => Some(types::I64),
        IrType::F32 => Some(types::F32),
        IrType::F64 => Some(types::F64),
        IrType::V128 => Some(types::I8X16),
    }
}

fn helper_type(ty: AbiType) -> Option<Type> {
    match ty {
        AbiType::Void => None,
        AbiType::I32 => Some(types::I32),
        AbiType::I64 | AbiType::Ref | AbiType::Ptr => Some(types::I64),
        AbiType::F32 => Some(types::F32),
        AbiType::F64 => Some(types::F64),
    }
}

/// Whether the result goes through a pointer.
pub(crate) fn returns_struct(sig: &CallSig) -> bool {
    matches!(sig.ret, Some(IrType::Struct(_)))
}

/// Where the struct-result pointer stands among the machine parameters.
pub(crate) fn struct_result_index(sig: &CallSig, has_this: bool) -> usize {
    usize::from(has_this && !sig.params.is_empty())
}

/// Whether a call of `target` passes a `this` first.
pub(crate) fn call_has_this(target: &CallTarget, sig: &CallSig) -> bool {
    match target {
        CallTarget::Direct(method) | CallTarget::InternalCall(method) => sig.has_this || !method.is_static(),
        CallTarget::Virtual { .. } | CallTarget::Interface { .. } => true,
        CallTarget::Indirect(_) | CallTarget::Helper(_) | CallTarget::Native(_) => sig.has_this,
    }
}

/// Signature with everything in registers or stack words, in managed order.
pub(crate) fn managed(sig: &CallSig, has_this: bool, convention: CallConv) -> Signature {
    let mut result = Signature::new(convention);
    let mut params: Vec<AbiParam> = sig.params.iter().filter_map(|&ty| machine_type(ty)).map(AbiParam::new).collect();
    if returns_struct(sig) {
        params.insert(struct_result_index(sig, has_this), AbiParam::new(types::I64));
    } else if let Some(ty) = sig.ret.and_then(machine_type) {
        result.returns.push(AbiParam::new(ty));
    }
    result.params = params;
    result
}

/// Signature of a helper's thunk (Tail), or with `thread` first of its Rust function (System V).
pub(crate) fn helper(id: HelperId, convention: CallConv, thread: bool) -> Signature {
    let (params, ret) = id.signature();
    let mut result = Signature::new(convention);
    if thread {
        result.params.push(AbiParam::new(types::I64));
    }
    result.params.extend(params.iter().filter_map(|&ty| helper_type(ty)).map(AbiParam::new));
    result.returns.extend(helper_type(ret).map(AbiParam::new));
    result
}
