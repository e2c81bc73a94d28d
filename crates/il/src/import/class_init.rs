//! When class constructors are triggered. ECMA-335 §II.10.5.3.
//!
//! Types marked beforefieldinit: before an access to their static fields. Others: at the start of their static methods
//! and constructors (value types: of all methods), and before accesses to their static fields from other types. A
//! module's constructor runs before accesses to the static fields of the module's classes, and before the module's
//! methods (`compile_method` triggers the latter). Nothing is emitted for types that are already initialised: every
//! core passes a barrier before it runs such code, so it sees what the constructor has written.

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
        if self.is_certainly_initialised(ty)? {
            return Ok(());
        }
        self.b.effect(Op::ClassInit(ty));
        self.has_calls = true;
        self.known.initialised_here.insert(ty);
        Ok(())
    }

    fn is_certainly_initialised(&self, ty: Ty) -> LoadResult<bool> {
        let is_own = |m: &Method| m.owner == ty && m.is_class_constructor();
        Ok(self.known.initialised_at_entry.contains(&ty)
            || self.known.initialised_here.contains(&ty)
            || is_own(self.method)
            || !ty.has_initializer()?
            || self.facts.is_initialised(ty))
    }

    /// Emits the check that runs the class constructor of `ty` before an access to one of its static fields, unless it
    /// has certainly run.
    pub(super) fn class_init_for_field(&mut self, ty: Ty) -> LoadResult<()> {
        let method = self.s.method;
        if ty.is_before_field_init() || method.owner != ty || method.is_static() || ty.is_value_type() {
            return self.class_init(ty);
        }
        // In an instance method of a class, an instance exists, whose constructor has made the check, perhaps on
        // another thread. No check here: that thread may be in the class constructor still, and this one need not wait
        // for it.
        if !self.is_certainly_initialised(ty)? {
            self.b.effect(Op::ClassInitSeen(ty));
        }
        Ok(())
    }
}
