//! The questions of code generation about types, in one place.

use crate::error::CompileError;
use saki_types::{LibraryType, Ty};

/// Size and alignment in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ValueLayout {
    pub size_bytes: u32,
    pub align_bytes: u32,
}

/// Layout of a value of type `ty` in a slot.
pub(crate) fn value_layout(ty: Ty) -> Result<ValueLayout, CompileError> {
    Ok(ValueLayout { size_bytes: ty.value_size_bytes()?, align_bytes: ty.value_align_bytes()?.clamp(1, 16) })
}

/// How an exact-class or subclass test of `ty` can be done inline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CastKind {
    /// Every object passes.
    Always,
    /// The vtable must be this type's.
    Exact(Ty),
    /// Objects with this type's vtable pass; for others the runtime must decide (arrays, generic delegates).
    ExactOrRuntime(Ty),
    /// `display[index]` must be the type. `or_runtime`: other objects may be transparent proxies, for which the runtime
    /// must decide.
    Display { index: u32, or_runtime: bool },
    /// The runtime must decide: interfaces.
    Runtime,
}

/// See [`CastKind`].
pub(crate) fn cast_kind(ty: Ty) -> Result<CastKind, CompileError> {
    if ty.is_nullable() {
        // A boxed Nullable<T> is a boxed T.
        return Ok(CastKind::Exact(ty.args[0]));
    }
    if ty.is_array() || (ty.is_delegate() && !ty.args.is_empty()) {
        return Ok(CastKind::ExactOrRuntime(ty));
    }
    if ty.is_interface() || ty.def().is_none() {
        return Ok(CastKind::Runtime);
    }
    if ty.parent()?.is_none() {
        return Ok(CastKind::Always);
    }
    let may_be_proxy = ty.is_marshal_by_ref() || ty.is(LibraryType::TransparentProxy);
    if ty.is_value_type() || (ty.is_sealed() && !may_be_proxy) {
        return Ok(CastKind::Exact(ty));
    }
    Ok(CastKind::Display { index: ty.supertypes()?.len() as u32 - 1, or_runtime: may_be_proxy })
}
