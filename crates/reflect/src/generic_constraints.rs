//! Whether generic arguments fit their parameters' constraints. ECMA-335 §II.10.1.7.
//!
//! Open arguments, which mention generic parameters, are accepted: constraints are checked once the parameters are
//! replaced.

use saki_types::class::context_of_param;
use saki_types::signature::inflate;
use saki_types::{LoadResult, Ty, universe};

/// `GenericParamAttributes`, §II.23.1.7.
mod param_flags {
    /// `class`.
    pub const REFERENCE_TYPE: u32 = 4;
    /// `struct`.
    pub const NOT_NULLABLE_VALUE_TYPE: u32 = 8;
    /// `new()`.
    pub const DEFAULT_CONSTRUCTOR: u32 = 0x10;
}

/// Whether `arguments` fit `params`. `class_args` and `method_args` replace the generic parameters that the constraints
/// mention.
///
/// # Errors
/// `TypeLoad`, `BadImageFormat`.
pub fn arguments_fit(params: &[Ty], arguments: &[Ty], class_args: &[Ty], method_args: &[Ty]) -> LoadResult<bool> {
    for (param, argument) in params.iter().zip(arguments) {
        if !argument_fits(param, argument, class_args, method_args)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn argument_fits(param: Ty, argument: Ty, class_args: &[Ty], method_args: &[Ty]) -> LoadResult<bool> {
    let Some(facts) = param.generic_param() else { return Ok(true) };
    if argument.is_open {
        return Ok(true);
    }
    if argument.is_byref() || argument == universe().void() {
        return Ok(false);
    }
    if argument.is_byref_like()? && !facts.allows_byref_like() {
        return Ok(false);
    }
    if facts.flags & param_flags::REFERENCE_TYPE != 0 && argument.is_value_type() {
        return Ok(false);
    }
    if facts.flags & param_flags::NOT_NULLABLE_VALUE_TYPE != 0 && (!argument.is_value_type() || argument.is_nullable())
    {
        return Ok(false);
    }
    if facts.flags & param_flags::DEFAULT_CONSTRUCTOR != 0 && !has_default_constructor(argument)? {
        return Ok(false);
    }
    let context = context_of_param(facts)?;
    for token in facts.image.meta.generic_param_constraints(facts.rid) {
        let constraint = facts.image.resolve_type(token?, &context)?;
        let constraint = inflate(constraint, class_args, method_args)?;
        if !constraint.is_open && !argument.is_assignable_to(constraint)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_default_constructor(ty: Ty) -> LoadResult<bool> {
    if ty.is_value_type() {
        return Ok(true);
    }
    if ty.is_abstract() {
        return Ok(false);
    }
    let ctor = ty.methods_named(".ctor")?;
    for method in ctor {
        if method.sig()?.params.is_empty() && method.flags & 7 == saki_types::method::method_flags::PUBLIC {
            return Ok(true);
        }
    }
    Ok(false)
}
