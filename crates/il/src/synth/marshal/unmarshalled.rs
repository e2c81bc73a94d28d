//! Plans for assemblies with DisableRuntimeMarshallingAttribute: all values pass as they are, `bool` as one byte and
//! `char` as two, whatever MarshalAs says. What holds references, or has no fixed layout, is refused, as in .NET 9.

use super::native_type::NativeType;
use super::plan::{MarshalAction, MethodPlan, ParamPlan, pinvoke_flags};
use saki_types::method::impl_flags;
use saki_types::ty::type_flags;
use saki_types::{ElementType, LoadResult, Method, Ty};

const MANAGED: &str = "Cannot marshal managed types when the runtime marshalling system is disabled.";

/// The plan of a P/Invoke method or a delegate's `Invoke`, whose ImplMap row has these flags.
///
/// # Errors
/// The errors of the signature and of the types' layouts.
pub(super) fn plan(method: &'static Method, flags: u16) -> LoadResult<MethodPlan> {
    let sig = method.sig()?;
    let mut ret = param_plan(0, sig.ret)?;
    let refused = if flags & pinvoke_flags::SUPPORTS_LAST_ERROR != 0 {
        Some("Setting SetLastError to 'true' is not supported when runtime marshalling is disabled.")
    } else if method.is_pinvoke() && method.impl_flags & impl_flags::PRESERVE_SIG == 0 {
        Some("Setting PreserveSig to false for a P/Invoke is not supported when runtime marshalling is disabled.")
    } else {
        None
    };
    if let Some(why) = refused {
        ret.action = MarshalAction::Refused;
        ret.native = NativeType::Refused(why.to_owned());
    }
    let mut params = Vec::with_capacity(sig.params.len());
    for (position, ty) in sig.params.iter().enumerate() {
        params.push(param_plan(position as u32 + 1, ty)?);
    }
    Ok(MethodPlan { params, ret, set_last_error: false, suppresses_gc_transition: false })
}

fn param_plan(index: u32, ty: Ty) -> LoadResult<ParamPlan> {
    let native = match refusal(ty)? {
        Some(why) => {
            let what = if index == 0 { "return value".to_owned() } else { format!("parameter #{index}") };
            NativeType::Refused(format!("Cannot marshal '{what}': {why}"))
        }
        None if ty.element_type == ElementType::Void => NativeType::Void,
        None => {
            let size_bytes = ty.value_size_bytes()?;
            NativeType::Same { size_bytes, align_bytes: ty.value_align_bytes()? }
        }
    };
    let action = match native {
        NativeType::Refused(_) => MarshalAction::Refused,
        _ => MarshalAction::Same,
    };
    Ok(ParamPlan { index, ty, by_ref: false, is_in: true, is_out: false, native, action })
}

/// The plan of a call of a host's function: all values pass as they are, references as the addresses of objects, which
/// are pinned; `this` first, if `has_this`.
///
/// # Errors
/// The errors of the signature and of the types' layouts.
pub fn raw_plan(method: &'static Method, has_this: bool) -> LoadResult<MethodPlan> {
    let sig = method.sig()?;
    let owner = method.owner;
    // The address of a value type's value is a word like an object's.
    let this_type = if owner.is_value_type() { owner.universe().intptr() } else { owner };
    let this = has_this.then_some(this_type);
    let mut params = Vec::with_capacity(sig.params.len() + 1);
    for (position, ty) in this.into_iter().chain(sig.params.iter().copied()).enumerate() {
        params.push(raw(position as u32 + 1, ty)?);
    }
    Ok(MethodPlan { params, ret: raw(0, sig.ret)?, set_last_error: false, suppresses_gc_transition: false })
}

fn raw(index: u32, ty: Ty) -> LoadResult<ParamPlan> {
    let native = match ty.element_type {
        ElementType::Void => NativeType::Void,
        _ => NativeType::Same { size_bytes: ty.value_size_bytes()?, align_bytes: ty.value_align_bytes()? },
    };
    let is_pinned = index != 0 && (ty.is_reference_type() || ty.is_byref());
    let action = if is_pinned { MarshalAction::Address } else { MarshalAction::Same };
    Ok(ParamPlan { index, ty, by_ref: false, is_in: true, is_out: false, native, action })
}

/// Why values of the type cannot be passed.
fn refusal(ty: Ty) -> LoadResult<Option<&'static str>> {
    use ElementType as E;
    Ok(match ty.underlying().element_type {
        E::Ptr | E::FnPtr | E::Void => None,
        _ if !ty.is_value_type() || ty.is_byref_like()? || ty.contains_references()? => Some(MANAGED),
        _ if ty.is_nullable() => Some("Non-blittable generic types cannot be marshaled."),
        _ if has_automatic_layout(ty)? => {
            Some("Structures marked with [StructLayout(LayoutKind.Auto)] cannot be marshaled.")
        }
        _ => None,
    })
}

/// Whether the type, or the type of one of its fields, leaves its layout to the runtime.
fn has_automatic_layout(ty: Ty) -> LoadResult<bool> {
    let is_struct = matches!(ty.element_type, ElementType::ValueType | ElementType::GenericInst) && ty.is_value_type();
    if !is_struct || ty.is_enum() {
        return Ok(false);
    }
    if ty.flags() & type_flags::LAYOUT_MASK == 0 {
        return Ok(true);
    }
    for field in ty.fields()? {
        if !field.is_static() && has_automatic_layout(field.ty()?)? {
            return Ok(true);
        }
    }
    Ok(false)
}
