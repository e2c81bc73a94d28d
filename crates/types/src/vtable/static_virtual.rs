//! Static virtual methods of interfaces: which body a call that is constrained to a type runs, and what a type must
//! implement. ECMA-335 augments, "Static Interface Methods" (§II.10.3.2, §II.22.27, §III.2.1).
//!
//! Only a MethodImpl row implements such a method: no method does by its name, and none has a slot. Code is compiled
//! for exact types, so a call is resolved when it is compiled, and no table is kept. The most derived class that has a
//! row wins, for a variant interface also by a row for a compatible instantiation; without one the default body of the
//! interface counts, or the most specific override of it in another interface. Types of the class libraries are taken
//! to be complete: they implement thousands of these methods.

use super::{DefaultImplementation, OverrideKind, default_implementation, method_impls};
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::load_texts;
use crate::member_texts;
use crate::method::Method;
use crate::modifiers::ModifierComparison;
use crate::resolve::signatures_match;
use crate::ty::{Ty, Type, TypeKind};

impl Type {
    /// The method that a `constrained.` call of the static virtual `method` runs on this type. A type that does not
    /// implement the interface has its default body.
    ///
    /// # Errors
    /// `AmbiguousImplementation` where no implementation is more specific than all others, or there is none;
    /// `EntryPointNotFound` where the most specific one is abstract again; errors of loading the types behind the rows.
    pub fn resolve_static_virtual(&'static self, method: &'static Method) -> LoadResult<&'static Method> {
        // .NET has one message for no implementation and for several.
        let found = self.static_virtual_implementation(method)?.ok_or_else(|| ambiguous(self, method))?;
        if found.is_abstract() {
            let message = format!(
                "Could not call method '{}' on type '{}' with an instance of '{}' because there is no implementation \
                 for the method.",
                method.reflection_name(),
                method.owner.full_name(),
                self.full_name()
            );
            return Err(LoadError::new(LoadErrorKind::EntryPointNotFound, message, self.full_name()));
        }
        Ok(found)
    }

    /// The implementation of the static virtual `method` by this type, which may be abstract again; None if there is
    /// none.
    ///
    /// # Errors
    /// `AmbiguousImplementation` where no implementation is more specific than all others; errors of loading the types
    /// behind the rows.
    pub fn static_virtual_implementation(
        &'static self,
        method: &'static Method,
    ) -> LoadResult<Option<&'static Method>> {
        let wanted = method.definition().unwrap_or(method);
        let Some(found) = find(self, wanted)? else { return Ok(None) };
        match method.generic_args() {
            [] => Ok(Some(found)),
            arguments => self.universe().instantiate_method(found, arguments).map(Some),
        }
    }
}

/// The parameters of a generic type's definition, by name.
fn open_arguments(ty: Ty) -> String {
    let definition = ty.generic_definition().unwrap_or(ty);
    definition.args.iter().map(|parameter| parameter.full_name()).collect::<Vec<_>>().join(",")
}

/// The error of a call whose default implementations are several, of which none is the most specific.
pub(super) fn ambiguous(ty: Ty, wanted: &'static Method) -> LoadError {
    let (method, assembly) = match load_texts::are_mono() {
        true => (wanted.reflection_name(), String::new()),
        false => (
            member_texts::method_over(&open_arguments(wanted.owner), wanted.definition().unwrap_or(wanted)),
            format!(" from assembly '{}'", ty.image().assembly().display_name()),
        ),
    };
    let message = format!(
        "Could not call method '{method}' on interface '{}' with type '{}'{assembly} because there are multiple \
         incompatible interface methods overriding this method.",
        wanted.owner.full_name(),
        ty.full_name()
    );
    LoadError::new(LoadErrorKind::AmbiguousImplementation, message, ty.full_name())
}

fn find(ty: Ty, wanted: &'static Method) -> LoadResult<Option<&'static Method>> {
    let variants = variants_of(ty, wanted)?;
    let mut class = Some(ty);
    while let Some(at) = class {
        for declaration in std::iter::once(wanted).chain(variants.iter().copied()) {
            if let Some(body) = own_body(at, declaration)? {
                return Ok(Some(body));
            }
        }
        class = at.parent()?;
    }
    if ty == wanted.owner || ty.interfaces()?.contains(&wanted.owner) {
        match default_implementation(ty.interfaces()?.iter().copied(), wanted)? {
            DefaultImplementation::One(found) => return Ok(Some(found)),
            DefaultImplementation::Ambiguous => return Err(ambiguous(ty, wanted)),
            DefaultImplementation::None => {}
        }
    }
    for declaration in variants {
        if let DefaultImplementation::One(found) =
            default_implementation(ty.interfaces()?.iter().copied(), declaration)?
        {
            return Ok(Some(found));
        }
    }
    Ok((!wanted.is_abstract()).then_some(wanted))
}

/// The counterparts of an interface method in the other interfaces of the type that convert to its interface by
/// variance, in the order of the interfaces.
fn variants_of(ty: Ty, wanted: &'static Method) -> LoadResult<Vec<&'static Method>> {
    let interface = wanted.owner;
    let mut found = Vec::new();
    let Some(rid) = wanted.rid().filter(|_| interface.has_variant_parameters()) else { return Ok(found) };
    for &candidate in ty.interfaces()? {
        if candidate != interface && crate::cast::is_variant_of(candidate, interface)? {
            found.push(candidate.method_by_rid(rid)?);
        }
    }
    Ok(found)
}

/// The body that a MethodImpl row of this type itself gives the declaration.
fn own_body(ty: Ty, declaration: &'static Method) -> LoadResult<Option<&'static Method>> {
    if !matches!(ty.kind, TypeKind::Def(_) | TypeKind::Inst { .. }) {
        return Ok(None);
    }
    let rows = method_impls(ty, OverrideKind::Static, Some(declaration.name))?;
    Ok(rows.into_iter().find(|&(_, other)| other == declaration).map(|(body, _)| body))
}

/// Checks the static methods of a type definition: only interfaces may have virtual ones, its rows must be valid, and a
/// class that is not abstract must implement those of its interfaces.
///
/// # Errors
/// `TypeLoad`, `MissingMethod`; errors of loading the types behind the rows.
pub(super) fn check(ty: Ty) -> LoadResult<()> {
    if ty.is_of_class_libraries() {
        return Ok(());
    }
    let is_interface = ty.is_interface();
    if !is_interface && ty.virtual_methods()?.iter().any(|method| method.is_static()) {
        return Err(refusal(ty, "a static method of a class is virtual"));
    }
    let overrides = method_impls(ty, OverrideKind::Static, None)?;
    let modifiers = ModifierComparison::seen_from(ty);
    for (index, &(body, declaration)) in overrides.iter().enumerate() {
        if !declaration.is_virtual() {
            let subject = declaration.full_name();
            let message = format!("Method not found: {subject} is not virtual, but {} overrides it", body.full_name());
            return Err(LoadError::new(LoadErrorKind::MissingMethod, message, subject));
        }
        if !declaration.is_static() || !signatures_match(body, declaration)? || !modifiers.is_same(body, declaration)? {
            return Err(refusal(ty, "signature of the body and declaration in a method implementation do not match"));
        }
        if !ty.interfaces()?.contains(&declaration.owner) {
            let what = format!("overrides method '{}' but does not implement or inherit it", declaration.name);
            return Err(refusal(ty, &what));
        }
        if overrides[..index].iter().any(|&(_, other)| other == declaration) {
            return Err(refusal(ty, &format!("it overrides method '{}' twice", declaration.name)));
        }
    }
    if is_interface || ty.is_abstract() {
        return Ok(());
    }
    for &interface in ty.interfaces()? {
        // Static methods that are virtual and final make another interface's abstract again, and have no callers.
        let must_be_there = |m: &&'static Method| m.is_abstract() && !m.is_final();
        for wanted in interface.static_virtual_methods()?.into_iter().filter(must_be_there) {
            let is_own = overrides.iter().any(|&(_, declaration)| declaration == wanted);
            if !is_own && !is_implemented(ty, wanted)? {
                return Err(refusal(ty, &format!("virtual static method '{}' is not implemented", wanted.name)));
            }
        }
    }
    Ok(())
}

/// Whether the method has an implementation in this class, an ancestor or an interface, be they several or abstract
/// again: then calls fail, not the type.
fn is_implemented(ty: Ty, wanted: &'static Method) -> LoadResult<bool> {
    let mut class = Some(ty);
    while let Some(at) = class {
        if own_body(at, wanted)?.is_some() {
            return Ok(true);
        }
        class = at.parent()?;
    }
    Ok(!matches!(default_implementation(ty.interfaces()?.iter().copied(), wanted)?, DefaultImplementation::None))
}

fn refusal(ty: Ty, what: &str) -> LoadError {
    let name = ty.full_name();
    LoadError::type_load(format!("Could not load type '{name}': {what}"), name)
}
