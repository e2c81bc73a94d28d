//! Cranelift signatures of managed calls, helpers and stubs.
//!
//! Managed order: `this` if there is one, the struct-result pointer if the result is a struct, then the rest. Vector
//! types are not passed like structs: they are in vector registers. The Rust functions of internal calls have the
//! system's convention and take vectors by address.

use crate::vector_memory::VECTOR;
use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::{AbiType, HelperId};
use saki_il::ir::{CallSig, CallTarget, IrType, MemType};

/// Machine type of a value; that of an address for structs. `Void` has none.
pub(crate) fn machine_type(ty: IrType) -> Option<Type> {
    match ty {
        IrType::Void | IrType::Block(_) => None,
        IrType::I32 => Some(types::I32),
        IrType::I64 | IrType::Ref | IrType::ByRef | IrType::Struct(_) => Some(types::I64),
        IrType::F32 => Some(types::F32),
        IrType::F64 => Some(types::F64),
        IrType::V128 => Some(VECTOR),
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

/// The memory type of a value that is passed in a vector register; None for others.
pub(crate) fn vector(ty: IrType, convention: CallConv) -> Option<MemType> {
    if convention == CallConv::Tail { ty.vector() } else { None }
}

/// Machine type in which a value is passed.
fn passed_type(ty: IrType, convention: CallConv) -> Option<Type> {
    if vector(ty, convention).is_some() { Some(VECTOR) } else { machine_type(ty) }
}

/// Calling convention of a target other than native code.
pub(crate) fn convention_of(target: &CallTarget) -> CallConv {
    if let CallTarget::InternalCall(_) = target { CallConv::SystemV } else { CallConv::Tail }
}

/// Whether the result is returned through a pointer.
pub(crate) fn returns_struct(sig: &CallSig, convention: CallConv) -> bool {
    sig.ret.is_some_and(|ret| matches!(ret, IrType::Struct(_)) && vector(ret, convention).is_none())
}

/// Machine type of the result of a managed function; None if there is no result, or if it is returned through a
/// pointer.
pub(crate) fn result_type(sig: &CallSig) -> Option<Type> {
    let ret = sig.ret.filter(|_| !returns_struct(sig, CallConv::Tail))?;
    passed_type(ret, CallConv::Tail)
}

/// Index of the struct-result pointer among the machine parameters.
pub(crate) fn struct_result_index(sig: &CallSig, has_this: bool) -> usize {
    usize::from(has_this && !sig.params.is_empty())
}

/// Whether a call of `target` passes a `this` first.
pub(crate) fn call_has_this(target: &CallTarget, sig: &CallSig) -> bool {
    match target {
        CallTarget::Direct(method) | CallTarget::InternalCall(method) => sig.has_this || !method.is_static(),
        CallTarget::Virtual { .. } | CallTarget::Interface { .. } => true,
        CallTarget::Indirect(_) | CallTarget::Helper(_) | CallTarget::Native { .. } => sig.has_this,
    }
}

/// Machine signature with the parameters in managed order.
pub(crate) fn managed(sig: &CallSig, has_this: bool, convention: CallConv) -> Signature {
    let mut result = Signature::new(convention);
    let passed = |ty: IrType| passed_type(ty, convention).map(AbiParam::new);
    let mut params: Vec<AbiParam> = sig.params.iter().filter_map(|&ty| passed(ty)).collect();
    if returns_struct(sig, convention) {
        params.insert(struct_result_index(sig, has_this), AbiParam::new(types::I64));
    } else {
        result.returns.extend(sig.ret.and_then(passed));
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
