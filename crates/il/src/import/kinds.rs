//! Questions of the importer about types and methods. How CLI types map to IR types, `type_map` says.
//!
//! Left out: layouts, which `types` computes.

use crate::ir::{CallSig, IrType};
pub(crate) use crate::type_map::{ir_type, mem_type};
use saki_types::{LoadResult, Method, MethodSig, Ty};

/// `this`, parameters and result of a method or call site as IR types.
pub(super) fn call_sig(sig: &MethodSig, this: Option<IrType>) -> LoadResult<CallSig> {
    let mut params = Vec::with_capacity(sig.params.len() + 1);
    params.extend(this);
    for param in &sig.params {
        params.push(ir_type(param)?);
    }
    let ret = ir_type(sig.ret)?;
    Ok(CallSig { params, ret: (ret != IrType::Void).then_some(ret), has_this: this.is_some() })
}

/// IR type of a method's `this`; None for static methods.
pub(super) fn this_type(method: &'static Method) -> Option<IrType> {
    if method.is_static() {
        None
    } else if method.owner.is_value_type() {
        Some(IrType::ByRef)
    } else {
        Some(IrType::Ref)
    }
}

/// Whether every object of static type `ty` has exactly the type `ty`.
pub(super) fn is_exact_class(ty: Ty) -> bool {
    if let Some(element) = ty.element().filter(|_| ty.is_array()) {
        // An SZ array may be used where an array with one dimension and bounds is declared.
        if ty.array_rank() == 1 && !ty.is_sz_array() {
            return false;
        }
        // Arrays of value types are exact up to signedness and enums, which make no difference to the code.
        return element.is_value_type() || (element.is_sealed() && !element.is_interface() && is_exact_class(element));
    }
    // An object of a class that is marshalled by reference may be a proxy, which has no exact class; an Action<object>
    // may be used where an Action<string> is declared.
    ty.is_value_type()
        || (ty.is_sealed() && !ty.is_interface() && !ty.is_marshal_by_ref() && !ty.has_variant_arguments())
}

/// Whether a value of the type holds object references.
pub(super) fn has_references(ty: Ty) -> LoadResult<bool> {
    if ty.is_reference_type() { Ok(true) } else { ty.contains_references() }
}
