//! Whether the variance that an interface or delegate declares for its parameters holds. ECMA-335 §II.9.7.
//!
//! A parameter marked `out` may only be used in output positions (results, inherited interfaces), one marked `in` only
//! in input positions. Positions that are both read and written (byrefs, pointers, invariant parameters of other types)
//! take neither.

use crate::class::context_of_param;
use crate::error::{LoadError, LoadResult};
use crate::method::Method;
use crate::ty::{GenericParam, Ty, Type, TypeKind};

const COVARIANT: u32 = 1;
const CONTRAVARIANT: u32 = 2;
const VARIANCE_MASK: u32 = COVARIANT | CONTRAVARIANT;

/// Position of a type in a signature: input, output or both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Out,
    In,
    Both,
}

impl Position {
    /// The position of the argument for `param`, where the generic type itself is in this position.
    fn of_argument(self, param: &GenericParam) -> Position {
        match (param.flags & VARIANCE_MASK, self) {
            (COVARIANT, here) => here,
            (CONTRAVARIANT, Position::Out) => Position::In,
            (CONTRAVARIANT, Position::In) => Position::Out,
            _ => Position::Both,
        }
    }

    fn allows(self, param: &GenericParam) -> bool {
        match param.flags & VARIANCE_MASK {
            COVARIANT => self == Position::Out,
            CONTRAVARIANT => self == Position::In,
            _ => true,
        }
    }
}

impl GenericParam {
    pub(crate) fn is_variant(&self) -> bool {
        self.flags & VARIANCE_MASK != 0
    }
}

impl Type {
    /// Checks a generic definition; nothing to check for other types.
    ///
    /// # Errors
    /// `TypeLoad` for a variant parameter in a position that its variance forbids, or of a class or struct.
    pub(crate) fn require_valid_variance(&'static self) -> LoadResult<()> {
        if !self.is_generic_definition() || !self.has_variant_parameters() {
            return Ok(());
        }
        let is_valid = if self.is_interface() {
            are_methods_valid(self.methods()?)? && {
                let declared = &self.interface_list()?.declared;
                declared.iter().all(|interface| is_valid_at(interface, Position::Out))
            }
        } else {
            self.is_delegate() && are_methods_valid(self.methods_named("Invoke")?.into_iter())?
        };
        if is_valid {
            return Ok(());
        }
        let message = format!("Could not load type '{}': a variant type parameter is used invalidly", self.full_name());
        Err(LoadError::type_load(message, self.full_name()))
    }
}

fn are_methods_valid(methods: impl Iterator<Item = &'static Method>) -> LoadResult<bool> {
    for method in methods.filter(|method| !method.is_static()) {
        let sig = method.sig()?;
        if !is_valid_at(sig.ret, Position::Out) || !sig.params.iter().all(|param| is_valid_at(param, Position::In)) {
            return Ok(false);
        }
        for param in method.generic_args().iter().filter_map(|arg| arg.generic_param()) {
            let context = context_of_param(param)?;
            for token in param.image.meta.generic_param_constraints(param.rid) {
                // The caller chooses the argument, so constraints are input positions.
                if !is_valid_at(param.image.resolve_type(token?, &context)?, Position::In) {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

fn is_valid_at(ty: Ty, position: Position) -> bool {
    if !ty.is_open {
        return true;
    }
    match &ty.kind {
        TypeKind::Var(param) => position.allows(param),
        TypeKind::MVar(_) => true,
        TypeKind::SzArray(element) | TypeKind::Array { element, .. } => is_valid_at(element, position),
        TypeKind::Ptr(element) | TypeKind::ByRef(element) => is_valid_at(element, Position::Both),
        _ => {
            let Some(definition) = ty.generic_definition() else { return true };
            ty.args.iter().zip(definition.args).all(|(argument, param)| match param.generic_param() {
                Some(param) => is_valid_at(argument, position.of_argument(param)),
                None => true,
            })
        }
    }
}
