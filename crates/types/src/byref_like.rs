//! Types whose values may live on the stack only: where they may stand. ECMA-335 augments, "Ref Fields" and "ByRefLike
//! types in generics".
//!
//! Left out: boxes and arrays of them, which code that makes these refuses.

use crate::attributes::has_attribute;
use crate::error::{LoadError, LoadResult};
use crate::field::Field;
use crate::method::Method;
use crate::ty::{GenericParam, Ty, Type};
use saki_metadata::{ElementType as E, TableId, Token};

/// `GenericParamAttributes.AllowByRefLike`.
const ALLOW_BYREF_LIKE: u32 = 0x20;

impl GenericParam {
    /// Whether an argument may be a by-reference-like type (`allows ref struct`).
    pub fn allows_byref_like(&self) -> bool {
        self.flags & ALLOW_BYREF_LIKE != 0
    }
}

impl Type {
    /// Whether the type is a struct that may live on the stack only (`IsByRefLikeAttribute`), or TypedReference.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn is_byref_like(&'static self) -> LoadResult<bool> {
        match (self.element_type, self.def()) {
            (E::TypedByRef, _) => Ok(true),
            (E::ValueType, Some(def)) => {
                let token = Token::new(TableId::TypeDef, def.rid);
                has_attribute(def.image, token, "System.Runtime.CompilerServices", "IsByRefLikeAttribute")
            }
            _ => Ok(false),
        }
    }

    /// The parameter of an instantiated type whose argument is a by-reference-like type that it does not allow.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn refused_byref_like_argument(&'static self) -> LoadResult<Option<&'static GenericParam>> {
        match self.generic_definition() {
            Some(definition) => refused(definition.args, self.args),
            None => Ok(None),
        }
    }
}

impl Method {
    /// The parameter of an instantiated method whose argument is a by-reference-like type that it does not allow.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn refused_byref_like_argument(&'static self) -> LoadResult<Option<&'static GenericParam>> {
        match self.definition() {
            Some(definition) => refused(definition.generic_args(), self.generic_args()),
            None => Ok(None),
        }
    }
}

fn refused(params: &'static [Ty], arguments: &[Ty]) -> LoadResult<Option<&'static GenericParam>> {
    for (param, argument) in params.iter().zip(arguments) {
        if let Some(param) = param.generic_param().filter(|param| !param.allows_byref_like())
            && argument.is_byref_like()?
        {
            return Ok(Some(param));
        }
    }
    Ok(None)
}

/// Checks that the field's type may stand there: references to variables and by-reference-like types only as instance
/// fields of by-reference-like types.
///
/// # Errors
/// `TypeLoad`; `BadImageFormat`.
pub(crate) fn check_field(field: &'static Field, field_ty: Ty) -> LoadResult<()> {
    if !field_ty.is_byref() && !field_ty.is_byref_like()? || !field.is_static() && field.owner.is_byref_like()? {
        return Ok(());
    }
    let owner = field.owner.full_name();
    let message = format!(
        "Could not load type '{owner}': field '{}' is a reference to a variable, or of a type that may contain one",
        field.name
    );
    Err(LoadError::type_load(message, owner))
}
