//! Calls on `EqualityComparer<T>.Default`, replaced by `Equals` and `GetHashCode` of the values themselves.
//!
//! The default comparer of a value type that implements `IEquatable<T>`, of an enum and of string is known to call the
//! type's own methods. On the simulated stack the comparer is a placeholder (`Val::DefaultComparer`), which becomes an
//! object only if something other than such a call uses it. Left out: reference types other than string, where null
//! needs care.

use super::emitter::Emitter;
use super::kinds::{ir_type, mem_type};
use super::next_step::NextStep;
use super::stack::{StackEntry, Val};
use crate::ir::{CmpOp, IrType, Op};
use saki_types::{LibraryType, LoadResult, Method, Ty, universe};

/// Whether the default comparer of `ty` is known to use the type's own `Equals(T)`.
pub(super) fn has_known_comparer(ty: Ty) -> LoadResult<bool> {
    if ty == universe().string() {
        return Ok(true);
    }
    if !ty.is_value_type() || ty.is_nullable() || ty.is_open {
        return Ok(false);
    }
    if ty.is_enum() {
        return Ok(true);
    }
    let equatable = universe().instantiate(universe().library_type(LibraryType::IEquatable)?, &[ty])?;
    ty.is_assignable_to(equatable)
}

impl Emitter<'_> {
    /// Imports a call on the default comparer that `get_default` returns. None: not handled, without effect.
    pub(super) fn call_default_comparer(
        &mut self,
        get_default: &'static Method,
        method: &'static Method,
        args: &[StackEntry],
    ) -> LoadResult<Option<NextStep>> {
        let [ty] = get_default.owner.args else { return Ok(None) };
        let params = &method.sig()?.params;
        if params.iter().any(|p| p != ty) {
            return Ok(None);
        }
        match (method.name, &args[1..]) {
            ("Equals", [a, b]) => self.values_equal(ty, a, b),
            ("GetHashCode", [value]) if ty.is_value_type() => self.hash_of_value(ty, value),
            _ => Ok(None),
        }
    }

    fn values_equal(&mut self, ty: Ty, a: &StackEntry, b: &StackEntry) -> LoadResult<Option<NextStep>> {
        if ty.is_enum() {
            let (a, b) = (self.coerce(a, ty)?, self.coerce(b, ty)?);
            let value = self.b.inst(Op::Cmp(CmpOp::Eq, a, b), IrType::I32);
            self.push_scalar(value, IrType::I32);
            return Ok(Some(NextStep::Done));
        }
        if !ty.is_value_type() {
            let Some(equals) = ty.find_method_sig("Equals", &[ty, ty])?.filter(|m| m.is_static()) else {
                return Ok(None);
            };
            return Ok(Some(NextStep::call(equals, vec![*a, *b])));
        }
        let Some(equals) = ty.find_method_sig("Equals", &[ty])?.filter(|m| !m.is_static()) else { return Ok(None) };
        let this = self.address_of_copy(a, ty)?;
        Ok(Some(NextStep::call(equals, vec![this, *b])))
    }

    fn hash_of_value(&mut self, ty: Ty, value: &StackEntry) -> LoadResult<Option<NextStep>> {
        let Some(hash) = ty.underlying().find_method("GetHashCode", 0)? else { return Ok(None) };
        let this = self.address_of_copy(value, ty)?;
        Ok(Some(NextStep::call(hash, vec![this])))
    }

    /// The address of a local that holds the value.
    fn address_of_copy(&mut self, entry: &StackEntry, ty: Ty) -> LoadResult<StackEntry> {
        let local = match mem_type(ty)? {
            None => self.own_struct(entry)?,
            Some(mem) => {
                let value = self.coerce(entry, ty)?;
                let local = self.b.temp(ir_type(ty)?);
                self.b.expose(local);
                let addr = self.b.addr_of(local);
                let flags = super::builder::plain(crate::ir::AliasClass::Any);
                self.b.store(addr, 0, value, mem, flags);
                local
            }
        };
        let addr = self.b.addr_of(local);
        Ok(StackEntry::scalar(addr, IrType::ByRef).non_null())
    }

    /// Pushes a placeholder for `EqualityComparer<T>.Default`; the getter is called only if the object is needed.
    pub(super) fn push_default_comparer(&mut self, get_default: &'static Method) {
        let mut entry = StackEntry::scalar(crate::ir::ValueId(0), IrType::Ref).with_type(get_default.owner).non_null();
        entry.val = Val::DefaultComparer(get_default);
        self.push(entry);
    }
}
