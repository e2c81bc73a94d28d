//! Calls on `EqualityComparer<T>.Default`, replaced by `Equals` and `GetHashCode` of the values themselves.
//!
//! The default comparer of a value type that implements `IEquatable<T>`, of an enum and of string is known to call the type's
//! own methods. On the simulated stack the comparer is a placeholder (`Val::DefaultComparer`), which becomes an object only if
//! something other than such a call uses it. Left out: reference types other than string, where null needs care.

use super::importer::Importer;
use super::kinds::{ir_type, mem_type};
use super::stack::{Entry, Val};
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

impl Importer<'_> {
    /// Imports a call on the default comparer that `get_default` returns. False: not handled, without effect.
    pub(super) fn call_default_comparer(
        &mut self,
        get_default: &'static Method,
        method: &'static Method,
        args: &[Entry],
    ) -> LoadResult<bool> {
        let [ty] = get_default.owner.args else { return Ok(false) };
        let params = &method.sig()?.params;
        if params.iter().any(|p| p != ty) {
            return Ok(false);
        }
        match (method.name, &args[1..]) {
            ("Equals", [a, b]) => self.values_equal(ty, a, b),
            ("GetHashCode", [value]) if ty.is_value_type() => self.hash_of_value(ty, value),
            _ => Ok(false),
        }
    }

    fn values_equal(&mut self, ty: Ty, a: &Entry, b: &Entry) -> LoadResult<bool> {
        if ty.is_enum() {
            let (a, b) = (self.coerce(a, ty)?, self.coerce(b, ty)?);
            let value = self.b.inst(Op::Cmp(CmpOp::Eq, a, b), IrType::I32);
            self.push_scalar(value, IrType::I32);
            return Ok(true);
        }
        if !ty.is_value_type() {
            let Some(equals) = ty.find_method_sig("Equals", &[ty, ty])?.filter(|m| m.is_static()) else {
                return Ok(false);
            };
            self.call_direct(equals, vec![*a, *b])?;
            return Ok(true);
        }
        let Some(equals) = ty.find_method_sig("Equals", &[ty])?.filter(|m| !m.is_static()) else { return Ok(false) };
        let this = self.address_of_copy(a, ty)?;
        self.call_direct(equals, vec![this, *b])?;
        Ok(true)
    }

    fn hash_of_value(&mut self, ty: Ty, value: &Entry) -> LoadResult<bool> {
        let Some(hash) = ty.underlying().find_method("GetHashCode", 0)? else { return Ok(false) };
        let this = self.address_of_copy(value, ty)?;
        self.call_direct(hash, vec![this])?;
        Ok(true)
    }

    /// The address of a local that holds the value.
    fn address_of_copy(&mut self, entry: &Entry, ty: Ty) -> LoadResult<Entry> {
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
        Ok(Entry::scalar(addr, IrType::ByRef).non_null())
    }

    /// Pushes a placeholder for `EqualityComparer<T>.Default`; the getter is called only if the object is needed.
    pub(super) fn push_default_comparer(&mut self, get_default: &'static Method) {
        let mut entry = Entry::scalar(crate::ir::ValueId(0), IrType::Ref).with_type(get_default.owner).non_null();
        entry.val = Val::DefaultComparer(get_default);
        self.push(entry);
    }
}
