//! Assignability: ECMA-335 §I.8.7, with the variance and array rules of .NET.

use crate::collectible;
use crate::error::{LoadError, LoadResult};
use crate::interfaces::array_interfaces;
use crate::signature::reduced_element;
use crate::ty::{Ty, Type, TypeKind};
use saki_metadata::ElementType;

const VARIANCE_MASK: u32 = 3;
const COVARIANT: u32 = 1;
const CONTRAVARIANT: u32 = 2;

impl Type {
    /// Whether other instantiations of the same definition convert to this one: some parameter marked `in` or `out` has
    /// a reference type as argument.
    pub fn has_variant_arguments(&'static self) -> bool {
        let Some(definition) = self.generic_definition() else { return false };
        self.args.iter().zip(definition.args).any(|(argument, param)| {
            !argument.is_value_type() && param.generic_param().is_some_and(|p| p.flags & VARIANCE_MASK != 0)
        })
    }

    /// Whether a parameter of the generic definition is marked `in` or `out`.
    pub fn has_variant_parameters(&'static self) -> bool {
        let Some(definition) = self.generic_definition() else { return false };
        definition.args.iter().any(|param| param.generic_param().is_some_and(|p| p.is_variant()))
    }

    /// Own ancestors from Object (index 0) to the type itself.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn supertypes(&'static self) -> LoadResult<&'static [Ty]> {
        let supertypes = self.supertypes.get(&|| self.full_name(), || {
            let mut chain = vec![self];
            let mut at: Ty = self;
            while let Some(parent) = at.parent()? {
                chain.push(parent);
                at = parent;
            }
            chain.reverse();
            let supertypes = collectible::keep_slice_with(collectible::owner_of(self), chain);
            Ok(collectible::keep_beside(self, supertypes))
        });
        supertypes.copied()
    }

    /// Whether `ancestor` is the type or one of its base classes.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn is_subclass_of(&'static self, ancestor: Ty) -> LoadResult<bool> {
        Ok(self.supertypes()?.contains(&ancestor))
    }

    /// The interface `System.Runtime.InteropServices.IDynamicInterfaceCastable`, if the type implements it: its objects
    /// decide themselves to which other interfaces they can be cast. It is recognised by name, so that programs can
    /// define it. Boxed value types do not decide, nor do they in .NET.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn dynamic_castable(&'static self) -> LoadResult<Option<Ty>> {
        if self.is_value_type() {
            return Ok(None);
        }
        let is_wanted = |ty: &&Ty| {
            let def = ty.def().filter(|_| ty.args.is_empty());
            def.is_some_and(|def| {
                def.name == "IDynamicInterfaceCastable" && def.namespace == "System.Runtime.InteropServices"
            })
        };
        Ok(self.interfaces()?.iter().find(is_wanted).copied())
    }

    /// Whether an object of this exact type may be used as `target`: `isinst`. Value types count as their boxed form.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn is_assignable_to(&'static self, target: Ty) -> LoadResult<bool> {
        is_assignable(self, target, None)
    }
}

/// A question of assignability that is being answered. Through variance a question may depend on itself (`C : I<I<C>>`
/// asked for `I<C>`, I contravariant); the answer is then no.
struct OpenQuestion<'a> {
    from: Ty,
    to: Ty,
    depth: u32,
    outer: Option<&'a OpenQuestion<'a>>,
}

/// Depth of nested questions. Some types lead to questions about ever larger types (`C<T> : I<I<C<C<T>>>>`, I
/// contravariant), which never end; real types nest a few levels.
const MAX_QUESTIONS: u32 = 64;

fn is_assignable(from: Ty, target: Ty, asked: Option<&OpenQuestion>) -> LoadResult<bool> {
    if from == target || target == from.universe().object() {
        return Ok(!from.is_byref() && !from.is_pointer() || from == target);
    }
    if target.is_nullable() && !target.is_open && !from.is_nullable() {
        return Ok(from == target.args[0]);
    }
    match (&from.kind, &target.kind) {
        (TypeKind::SzArray(from), TypeKind::SzArray(to)) => return array_element_assignable(from, to, asked),
        (TypeKind::Array { element: from, rank: r1 }, TypeKind::Array { element: to, rank: r2 }) => {
            return Ok(r1 == r2 && array_element_assignable(from, to, asked)?);
        }
        (TypeKind::SzArray(from), TypeKind::Array { element: to, rank: 1 }) => {
            return array_element_assignable(from, to, asked);
        }
        (TypeKind::SzArray(_), TypeKind::Array { .. }) | (TypeKind::Array { .. }, TypeKind::SzArray(_)) => {
            return Ok(false);
        }
        (TypeKind::Ptr(from), TypeKind::Ptr(to)) if !from.universe().profile().casts_as_mono => {
            return Ok(is_same_number(from, to));
        }
        (TypeKind::Var(_) | TypeKind::MVar(_), _) => return param_assignable(from, target, asked),
        _ => {}
    }
    if target.is_interface() {
        return implements(from, target, asked);
    }
    // Besides base classes, variant delegates.
    Ok(from.is_subclass_of(target)? || is_variant(from, target, asked)?)
}

/// A type parameter converts to the types to which its constraints convert.
fn param_assignable(param_ty: Ty, target: Ty, asked: Option<&OpenQuestion>) -> LoadResult<bool> {
    let Some(param) = param_ty.generic_param() else { return Ok(false) };
    let context = crate::class::context_of_param(param)?;
    for token in param.image.meta.generic_param_constraints(param.rid) {
        let constraint = param.image.resolve_type(token?, &context)?;
        if constraint != param_ty && is_assignable(constraint, target, asked)? {
            return Ok(true);
        }
    }
    Ok(target == param_ty.universe().value_type() && param.flags & 8 != 0)
}

fn array_element_assignable(from: Ty, to: Ty, asked: Option<&OpenQuestion>) -> LoadResult<bool> {
    if from == to {
        return Ok(true);
    }
    if from.is_reference_type() && !from.is_generic_param() {
        return Ok(to.is_reference_type() && is_assignable(from, to, asked)?);
    }
    if from.is_generic_param() {
        return Ok(to.is_reference_type()
            && is_assignable(from, to, asked)?
            && from.generic_param().is_some_and(|p| p.flags & 4 != 0));
    }
    if from.is_pointer() || to.is_pointer() {
        return Ok(false);
    }
    // Integers of one size, and enums over them, are interchangeable here; bool and char are not.
    let (a, b) = (from.underlying(), to.underlying());
    if a.element_type == ElementType::ValueType || b.element_type == ElementType::ValueType || !to.is_value_type() {
        return Ok(false);
    }
    Ok(is_same_number(a, b))
}

/// Whether both are integers of one size, or enumerations over such, or the same type.
fn is_same_number(a: Ty, b: Ty) -> bool {
    let (a, b) = (a.underlying(), b.underlying());
    if a.element_type == ElementType::ValueType || !a.is_value_type() || !b.is_value_type() {
        return a == b;
    }
    // Native integers are 64-bit ones in Mono.
    let machine = |ty: Ty| match reduced_element(ty.element_type) {
        ElementType::I if a.universe().profile().casts_as_mono => ElementType::I8,
        other => other,
    };
    machine(a) == machine(b)
}

/// Whether `ty` implements `interface`, exactly or by variance.
fn implements(ty: Ty, interface: Ty, asked: Option<&OpenQuestion>) -> LoadResult<bool> {
    let interfaces = ty.interfaces()?;
    if interfaces.contains(&interface) {
        return Ok(true);
    }
    let Some(definition) = interface.generic_definition() else { return Ok(false) };
    if let (TypeKind::SzArray(element), [wanted]) = (&ty.kind, interface.args)
        && array_interfaces(ty.universe()).contains(&definition)
    {
        return array_element_assignable(element, wanted, asked);
    }
    if !interface.has_variant_parameters() {
        return Ok(false);
    }
    for &candidate in std::iter::once(&ty).chain(interfaces) {
        if candidate.generic_definition() == Some(definition) && is_variant(candidate, interface, asked)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether `from` is `to` or converts to it by variance of the parameters of their common definition.
///
/// # Errors
/// `TypeLoad`.
pub fn is_variant_of(from: Ty, to: Ty) -> LoadResult<bool> {
    is_variant(from, to, None)
}

fn is_variant(from: Ty, to: Ty, asked: Option<&OpenQuestion>) -> LoadResult<bool> {
    let Some(definition) = from.generic_definition() else { return Ok(false) };
    if to.generic_definition() != Some(definition) {
        return Ok(false);
    }
    let mut at = asked;
    while let Some(question) = at {
        if question.from == from && question.to == to {
            return Ok(false);
        }
        at = question.outer;
    }
    let question = OpenQuestion { from, to, depth: asked.map_or(0, |outer| outer.depth + 1), outer: asked };
    if question.depth > MAX_QUESTIONS {
        let message = format!("Could not load type '{}': its variance leads to ever larger types", from.full_name());
        return Err(LoadError::type_load(message, from.full_name()));
    }
    for ((&a, &b), param) in from.args.iter().zip(to.args).zip(definition.args) {
        if a == b {
            continue;
        }
        let variance = param.generic_param().map_or(0, |p| p.flags) & VARIANCE_MASK;
        let reference = a.is_reference_type() && b.is_reference_type();
        let fits = match variance {
            COVARIANT => reference && is_assignable(a, b, Some(&question))?,
            CONTRAVARIANT => reference && is_assignable(b, a, Some(&question))?,
            _ => false,
        };
        if !fits {
            return Ok(false);
        }
    }
    Ok(true)
}
