//! Calls with a `constrained.` prefix that .NET refuses: of default implementations, in code that it shares among
//! instantiations.
//!
//! Shared code decides at run time whether such a call reaches a method of the struct, for which the struct is not
//! boxed, or a default implementation of the interface, for which it must be. .NET does not make the second call where
//! it could have been the first: if the struct has several instantiations of the interface that the shared code cannot
//! tell apart, and a method of its own for one of them.

use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::member_texts::method_over;
use crate::method::Method;
use crate::names::NameStyle;
use crate::ty::{GenericContext, Ty};

/// Whether .NET shares code for this type argument: it is a reference, or has one among its own arguments.
fn is_shared(argument: Ty) -> bool {
    !argument.is_value_type() || argument.args.iter().any(|inner| is_shared(inner))
}

/// Whether code that is shared among instantiations takes the two types for one.
fn are_one_when_shared(left: Ty, right: Ty) -> bool {
    if left == right {
        return true;
    }
    match (left.generic_definition(), right.generic_definition()) {
        (Some(own), Some(other)) if own == other => left.args.iter().zip(right.args).all(|(left, right)| {
            let are_references = !left.is_value_type() && !right.is_value_type();
            are_references || are_one_when_shared(left, right)
        }),
        _ => false,
    }
}

/// The type arguments that shared code has in place of a type's own: "System.__Canon,System.Int32".
fn shared_arguments(ty: Ty) -> String {
    let name = |argument: Ty| match argument.generic_definition() {
        _ if !argument.is_value_type() => "System.__Canon".to_owned(),
        Some(definition) => format!("{}[{}]", definition.name_in(NameStyle::Reflection), shared_arguments(argument)),
        None => argument.full_name(),
    };
    ty.args.iter().map(|argument| name(argument)).collect::<Vec<_>>().join(",")
}

/// Refuses a call of interface method `method` on struct `ty` that reaches a default implementation, where .NET does.
/// `caller`: the type arguments of the code that calls. Left out: a struct that this code names without its own
/// parameters, which .NET knows exactly.
///
/// # Errors
/// `NotSupported`, with .NET's message; the errors of loading interfaces.
pub fn require_supported(ty: Ty, method: &'static Method, caller: &GenericContext) -> LoadResult<()> {
    let mut arguments = caller.class_args.iter().chain(caller.method_args);
    let (true, true, Some(rid)) = (arguments.any(|ty| is_shared(ty)), is_shared_struct(ty), method.rid()) else {
        return Ok(());
    };
    for &interface in ty.interfaces()? {
        if interface == method.owner || !are_one_when_shared(interface, method.owner) {
            continue;
        }
        // A method without an implementation fails when it is called.
        if let Ok(other) = ty.resolve_virtual(interface.method_by_rid(rid)?)
            && other.owner.is_value_type()
        {
            return Err(unsupported(ty, method));
        }
    }
    Ok(())
}

fn is_shared_struct(ty: Ty) -> bool {
    ty.args.iter().any(|argument| is_shared(argument))
}

fn unsupported(ty: Ty, method: &'static Method) -> LoadError {
    let message = format!(
        "Could not make constrained call to method '{}' on interface '{}' with type '{}' from assembly '{}'. \
         Dispatch to default interface methods is not supported in this situation.",
        method_over(&shared_arguments(method.owner), method),
        method.owner.full_name(),
        ty.full_name(),
        ty.image().assembly().display_name(),
    );
    LoadError::new(LoadErrorKind::NotSupported, message, ty.full_name())
}
