//! How CLI types map to IR types, and other questions of the importer about types and methods.
//!
//! Left out: layouts, which `types` computes.

use crate::ir::{CallSig, IrType, MemType};
use saki_types::{ElementType, LoadError, LoadResult, Method, MethodSig, Ty};

/// The IR type of a value of `ty`. Enums have that of their underlying type.
pub(super) fn ir_type(ty: Ty) -> LoadResult<IrType> {
    use ElementType as E;
    Ok(match ty.underlying().element_type {
        E::Void => IrType::Void,
        E::Boolean | E::Char | E::I1 | E::U1 | E::I2 | E::U2 | E::I4 | E::U4 => IrType::I32,
        E::I8 | E::U8 | E::I | E::U | E::Ptr | E::FnPtr => IrType::I64,
        E::R4 => IrType::F32,
        E::R8 => IrType::F64,
        E::ByRef => IrType::ByRef,
        E::ValueType | E::TypedByRef => IrType::Struct(ty),
        E::Var | E::MVar => {
            return Err(LoadError::invalid_program(format!("{} is not an instantiated type", ty.full_name())));
        }
        _ => IrType::Ref,
    })
}

/// The memory type of a value of `ty`; None for structs and void.
pub(crate) fn mem_type(ty: Ty) -> LoadResult<Option<MemType>> {
    use ElementType as E;
    Ok(match ty.underlying().element_type {
        E::Boolean | E::U1 => Some(MemType::U8),
        E::I1 => Some(MemType::I8),
        E::Char | E::U2 => Some(MemType::U16),
        E::I2 => Some(MemType::I16),
        _ => match ir_type(ty)? {
            IrType::I32 => Some(MemType::I32),
            IrType::I64 => Some(MemType::I64),
            IrType::F32 => Some(MemType::F32),
            IrType::F64 => Some(MemType::F64),
            IrType::Ref => Some(MemType::Ref),
            IrType::ByRef => Some(MemType::ByRef),
            IrType::Void | IrType::V128 | IrType::Struct(_) | IrType::Block(_) => None,
        },
    })
}

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
