//! When class constructors are triggered. ECMA-335 §II.10.5.3.
//!
//! Types marked beforefieldinit: before an access to their static fields. Others: at the start of their static methods
//! and constructors (value types: of all methods), and before accesses to their static fields from other types. A
//! module's constructor runs before accesses to the static fields of the module's classes, and before the module's
//! methods (`compile_method` triggers the latter). Nothing is emitted for types that are already initialised.

use super::emitter::Emitter;
use crate::ir::Op;
use saki_types::{LoadResult, Method, Ty};

/// Whether code of this method starts with the check, unless the type is initialised already.
pub(crate) fn needs_check_at_entry(method: &'static Method) -> bool {
    !method.owner.is_before_field_init()
        && (method.is_static() || method.is_constructor() || method.owner.is_value_type())
        && !method.is_class_constructor()
}

impl Emitter<'_> {
    /// Emits the check that runs the type's class constructor, unless it has certainly run.
    pub(super) fn class_init(&mut self, ty: Ty) -> LoadResult<()> {
        if self.known.initialised_at_entry.contains(&ty) || self.known.initialised_here.contains(&ty) {
            return Ok(());
        }
        let is_own = |m: &Method| m.owner == ty && m.is_class_constructor();
        if is_own(self.method) || !ty.has_initializer()? || self.facts.is_initialised(ty) {
            return Ok(());
        }
        self.b.effect(Op::ClassInit(ty));
        self.has_calls = true;
        self.known.initialised_here.insert(ty);
        Ok(())
    }

    /// Emits the check that runs the class constructor of `ty` before an access to one of its static fields, unless it
    /// has certainly run.
    pub(super) fn class_init_for_field(&mut self, ty: Ty) -> LoadResult<()> {
        // In an instance method of a class, an instance exists, whose constructor has made the check.
        let method = self.s.method;
        if !ty.is_before_field_init() && method.owner == ty && !method.is_static() && !ty.is_value_type() {
            return Ok(());
        }
        self.class_init(ty)
    }
}
