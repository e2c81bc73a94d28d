//! Which types have objects, and which methods a host can call: what compiled code and the loader take for granted.
//!
//! Invariant: what passes here can be made, boxed or called without breaking the heap. Left out: whether arguments fit
//! (`calls`), and methods that do as they like with addresses (`Marshal`, constructors of handles).

use saki_reflect::generic_constraints::arguments_fit;
use saki_types::{ElementType, LoadResult, Method, Ty};

/// Why there can be no value of the type on the heap; None if there can be.
pub(crate) fn no_value(ty: Ty) -> LoadResult<Option<&'static str>> {
    Ok(if ty.is_open || ty.is_generic_param() || ty.is_generic_definition() {
        Some("it has open type parameters")
    } else if ty.element_type == ElementType::Void {
        Some("void has no values")
    } else if ty.is_byref() || ty.is_pointer() || ty.element_type == ElementType::FnPtr || ty.is_byref_like()? {
        Some("its values are addresses, or live on stacks alone")
    } else {
        None
    })
}

/// Why there can be no object of exactly the class, made by a constructor; None if there can be.
pub(crate) fn no_object(ty: Ty) -> LoadResult<Option<&'static str>> {
    Ok(if ty.is_interface() {
        Some("it is an interface")
    } else if ty.is_abstract() {
        Some("it is abstract")
    } else if ty.is_delegate() {
        Some("its objects are made of functions")
    } else {
        no_value(ty)?
    })
}

/// Why a host cannot call the method; None if it can. Parameters are looked at with their arguments.
pub(crate) fn no_call(method: &'static Method, is_static: bool) -> LoadResult<Option<&'static str>> {
    let sig = method.sig()?;
    Ok(if method.is_open() || method.is_generic_definition() {
        Some("it has open type parameters")
    } else if sig.is_vararg {
        Some("it takes any number of arguments")
    } else if is_static && method.is_abstract() {
        Some("it is static and abstract")
    } else if method.is_constructor() && method.owner.is_delegate() {
        Some("delegates are made of functions")
    } else if sig.ret.element_type != ElementType::Void && no_value(sig.ret)?.is_some() {
        Some("its result is an address, or lives on stacks alone")
    } else {
        None
    })
}

/// Why the definition has no instance with these arguments, as many as it has parameters; None if it has.
pub(crate) fn no_instance(definition: Ty, arguments: &[Ty]) -> LoadResult<Option<&'static str>> {
    for &argument in arguments {
        if let Some(why) = no_value(argument)? {
            return Ok(Some(why));
        }
    }
    let fit = arguments_fit(definition.args, arguments, arguments, &[])?;
    Ok((!fit).then_some("the arguments violate a constraint"))
}
