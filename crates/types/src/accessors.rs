//! The members to which methods with UnsafeAccessorAttribute give access, by the rules of .NET 9.
//!
//! An accessor names a member by its own signature: the first parameter is the type that has the member (constructors:
//! the result), the rest must be the member's signature. Invariant: signatures are compared as they are written,
//! generic parameters by position, so that an accessor fits all instantiations of its class or none. Only the type's
//! own members count. A parameter or result of type object may stand for a class that the accessor cannot name:
//! UnsafeAccessorTypeAttribute (.NET 10) has its name, with its assembly's and those of its generic arguments, among
//! which `!0` is the first type parameter of the accessor's class and `!!0` that of the accessor. Left out: the
//! accessor's body (`il::synth::accessor`), and whether generic constraints are the same.

use crate::binder::not_found;
use crate::domain::Image;
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::field::Field;
use crate::identity::AssemblyName;
use crate::interop_attributes::{Accessor, AccessorKind};
use crate::method::{Method, MethodKind};
use crate::modifiers::{spell_field, spell_method};
use crate::requests::{self, Leave, Request};
use crate::signature::raw_method_sig;
use crate::ty::{GenericContext, Ty};
use crate::type_name::{Modifier, TypeName, parse_type_name};
use saki_metadata::{MethodSigRaw, Rid, TypeSig};

/// A member that an accessor reaches.
#[derive(Clone, Copy)]
pub enum AccessedMember {
    Constructor(&'static Method),
    Method(&'static Method),
    StaticMethod(&'static Method),
    Field(&'static Field),
    StaticField(&'static Field),
}

/// The declaration of an accessor.
struct Declaration {
    method: &'static Method,
    image: &'static Image,
    raw: MethodSigRaw,
    /// The classes for which the result and the parameters stand, in this order.
    stands_for: Vec<Option<Ty>>,
}

impl Declaration {
    fn invalid(&self) -> LoadError {
        let message = "Invalid usage of UnsafeAccessorAttribute.";
        LoadError::new(LoadErrorKind::BadImageFormat, message, self.method.full_name())
    }

    /// The type that a type of the declaration names: itself, or by reference. Type parameters and pointers have no
    /// members.
    fn target(&self, written: &TypeSig, ty: Ty) -> LoadResult<Ty> {
        let (mut written, mut ty) = (unmodified(written), ty);
        if let (TypeSig::ByRef(of), Some(referent)) = (written, ty.element()) {
            (written, ty) = (unmodified(of), referent);
        }
        match written {
            TypeSig::Var(_) | TypeSig::MVar(_) | TypeSig::Ptr(_) | TypeSig::FnPtr(_) => Err(self.invalid()),
            _ => Ok(ty),
        }
    }

    /// The first parameter: as written, and resolved.
    fn first(&self) -> LoadResult<(&TypeSig, Ty)> {
        match (self.raw.params.first(), self.method.sig()?.params.first()) {
            (Some(written), Some(ty)) => Ok((written, ty)),
            _ => Err(self.invalid()),
        }
    }

    /// The class for which a parameter stands.
    fn named(&self, parameter: usize) -> Option<Ty> {
        self.stands_for.get(parameter + 1).copied().flatten()
    }

    /// The method of `target` that has this name and the declaration's signature. `skipped`: the number of the
    /// declaration's parameters that are not the method's.
    fn find_method(&self, target: Ty, name: &str, kind: AccessorKind, skipped: usize) -> LoadResult<&'static Method> {
        let is_static = kind == AccessorKind::StaticMethod;
        let mut found = Vec::new();
        for candidate in target.methods()? {
            if candidate.name == name
                && candidate.is_static() == is_static
                && self.has_signature_of(candidate, kind, skipped)?
            {
                found.push(candidate);
            }
        }
        if found.len() > 1 {
            let own = self.modifiers(skipped, kind == AccessorKind::Constructor)?;
            let mut precise = Vec::new();
            for candidate in found {
                if modifiers_of(candidate)? == own {
                    precise.push(candidate);
                }
            }
            if precise.len() != 1 {
                let message = "Ambiguity in binding of UnsafeAccessorAttribute.";
                return Err(LoadError::new(LoadErrorKind::AmbiguousMatch, message, self.method.full_name()));
            }
            found = precise;
        }
        let Some(&method) = found.first() else {
            let subject = format!("{}.{name}", name_of(target));
            let message = format!("Method not found: '{subject}'.");
            return Err(LoadError::new(LoadErrorKind::MissingMethod, message, subject));
        };
        if target.generic_definition().is_some() && target.args.len() != self.method.owner.args.len() {
            let message = "Generic type constraints do not match.";
            return Err(LoadError::new(LoadErrorKind::InvalidAccessor, message, self.method.full_name()));
        }
        if method.is_generic_definition() {
            return target.universe().instantiate_method(method, self.method.generic_args());
        }
        Ok(method)
    }

    fn has_signature_of(&self, candidate: &'static Method, kind: AccessorKind, skipped: usize) -> LoadResult<bool> {
        let Some(rid) = candidate.rid() else {
            // The methods of arrays have no written signatures.
            let (own, other) = (self.method.sig()?, candidate.sig()?);
            let is_result_same = kind == AccessorKind::Constructor || own.ret == other.ret;
            return Ok(is_result_same && own.params[skipped..] == other.params[..]);
        };
        let image = candidate.image();
        let other = raw_method_sig(image, rid)?;
        if self.raw.generic_param_count != other.generic_param_count
            || self.raw.params.len() != other.params.len() + skipped
            || self.raw.call_conv != other.call_conv
        {
            return Ok(false);
        }
        // The classes are those of this instance of the accessor.
        let instance = match candidate.is_generic_definition() {
            true => candidate.owner.universe().instantiate_method(candidate, self.method.generic_args())?,
            false => candidate,
        };
        let pairs = self.raw.params[skipped..].iter().zip(&other.params);
        for (index, (own, other)) in pairs.enumerate() {
            let is_same = match self.named(skipped + index) {
                Some(class) => stands_for(class, own, instance.sig()?.params[index]),
                None => is_same(self.image, own, image, other)?,
            };
            if !is_same {
                return Ok(false);
            }
        }
        Ok(match self.stands_for.first().copied().flatten() {
            _ if kind == AccessorKind::Constructor => true,
            Some(class) => stands_for(class, &self.raw.ret, instance.sig()?.ret),
            None => is_same(self.image, &self.raw.ret, image, &other.ret)?,
        })
    }

    /// The modifiers of the declaration without the parameters that are not the member's.
    fn modifiers(&self, skipped: usize, is_constructor: bool) -> LoadResult<String> {
        let mut own = self.raw.clone();
        own.params.drain(..skipped);
        if is_constructor {
            own.ret = TypeSig::Prim(saki_metadata::ElementType::Void);
        }
        spell_method(self.image, &own, &[])
    }

    /// The field of `target` that has this name and the type to which the declaration's result refers.
    fn find_field(&self, target: Ty, name: &str, is_static: bool) -> LoadResult<&'static Field> {
        let TypeSig::ByRef(wanted) = unmodified(&self.raw.ret) else { return Err(self.invalid()) };
        let mut found = Vec::new();
        for &field in target.fields()? {
            if field.name == name && field.is_static() == is_static && !field.is_literal() {
                let written = written_type(field)?;
                let is_wanted = match self.stands_for.first().copied().flatten() {
                    Some(class) => field.ty()? == class,
                    None => is_same(self.image, wanted, field.image(), &written)?,
                };
                if is_wanted {
                    found.push((field, spell_field(field.image(), &written)?));
                }
            }
        }
        if found.len() > 1 {
            let own = spell_field(self.image, wanted)?;
            found.retain(|(_, modifiers)| *modifiers == own);
        }
        match found.first() {
            Some((field, _)) => Ok(field),
            None => {
                let subject = format!("{}.{name}", name_of(target));
                let message = format!("Field not found: '{subject}'.");
                Err(LoadError::new(LoadErrorKind::MissingField, message, subject))
            }
        }
    }
}

/// The member that an accessor reaches, with the arguments of this instantiation of the accessor.
///
/// # Errors
/// `BadImageFormat` for a declaration that cannot name a member of the kind; `MissingMethod`, `MissingField`,
/// `AmbiguousMatch`; `InvalidTypeName`; `InvalidAccessor` when the accessor's class has another number of generic
/// parameters than the type; the errors of the signatures' types.
pub fn accessed_member(method: &'static Method, accessor: &Accessor) -> LoadResult<AccessedMember> {
    let (MethodKind::Def { image, rid }, Some(kind)) = (&method.kind, accessor.kind) else {
        let message = "Invalid usage of UnsafeAccessorAttribute.";
        return Err(LoadError::new(LoadErrorKind::BadImageFormat, message, method.full_name()));
    };
    let context = GenericContext { class_args: method.owner.args, method_args: method.generic_args() };
    let stands_for = classes_of_attributes(image, *rid, &context)?;
    let declaration = Declaration { method, image, raw: raw_method_sig(image, *rid)?, stands_for };
    let name = accessor.name.as_deref();
    if !method.is_static() {
        return Err(declaration.invalid());
    }
    if kind == AccessorKind::Constructor {
        let ret = method.sig()?.ret;
        let is_named = name.is_some_and(|name| !name.is_empty());
        if ret.element_type == saki_metadata::ElementType::Void || ret.is_byref() || is_named {
            return Err(declaration.invalid());
        }
        let target = match declaration.stands_for.first().copied().flatten() {
            Some(class) => class,
            None => declaration.target(&declaration.raw.ret, ret)?,
        };
        return declaration.find_method(target, ".ctor", kind, 0).map(AccessedMember::Constructor);
    }
    let (written, first) = declaration.first()?;
    let target = match declaration.named(0) {
        Some(class) => class,
        None => declaration.target(written, first)?,
    };
    let is_of_instance = matches!(kind, AccessorKind::Method | AccessorKind::Field);
    // The instance of a struct is passed by reference, that of a class is not.
    if is_of_instance && first.is_byref() != target.is_value_type() {
        return Err(declaration.invalid());
    }
    let name = name.unwrap_or(method.name);
    if matches!(kind, AccessorKind::Method | AccessorKind::StaticMethod) {
        let found = declaration.find_method(target, name, kind, 1)?;
        return Ok(match kind {
            AccessorKind::Method => AccessedMember::Method(found),
            _ => AccessedMember::StaticMethod(found),
        });
    }
    if declaration.raw.params.len() != 1 {
        return Err(declaration.invalid());
    }
    let found = declaration.find_field(target, name, kind == AccessorKind::StaticField)?;
    Ok(if found.is_static() { AccessedMember::StaticField(found) } else { AccessedMember::Field(found) })
}

/// The classes for which the accessor's parameters of type object stand, by their numbers.
///
/// # Errors
/// Those of finding the classes.
pub fn named_parameters(method: &'static Method) -> LoadResult<Vec<(usize, Ty)>> {
    let MethodKind::Def { image, rid } = method.kind else { return Ok(Vec::new()) };
    let context = GenericContext { class_args: method.owner.args, method_args: method.generic_args() };
    let classes = classes_of_attributes(image, rid, &context)?;
    let parameters = &method.sig()?.params;
    let of_parameters = classes.into_iter().skip(1).enumerate();
    let is_object = |index: usize| parameters.get(index).is_some_and(|ty| *ty == image.universe.object());
    Ok(of_parameters.filter_map(|(index, class)| Some((index, class.filter(|_| is_object(index))?))).collect())
}

/// Whether a type is that for which a type of the declaration stands, by reference if that is one.
fn stands_for(class: Ty, written: &TypeSig, ty: Ty) -> bool {
    match unmodified(written) {
        TypeSig::ByRef(_) => ty.is_byref() && ty.element() == Some(class),
        _ => ty == class,
    }
}

/// The classes that UnsafeAccessorTypeAttribute names for the result and the parameters, as far as it stands at them.
fn classes_of_attributes(image: &'static Image, rid: Rid, context: &GenericContext) -> LoadResult<Vec<Option<Ty>>> {
    let mut found = Vec::new();
    for parameter in image.meta.method_params(rid)? {
        let index = usize::from(image.meta.param(parameter)?.sequence);
        if let Some(class) = class_at(image, parameter, context)? {
            if found.len() <= index {
                found.resize(index + 1, None);
            }
            found[index] = Some(class);
        }
    }
    Ok(found)
}

/// The class that UnsafeAccessorTypeAttribute names at a Param row, such as "Namespace.Outer+Inner`1[[!0]], Assembly".
fn class_at(image: &'static Image, parameter: Rid, context: &GenericContext) -> LoadResult<Option<Ty>> {
    let Some(text) = image.accessor_type_name(parameter)? else { return Ok(None) };
    let invalid = || LoadError::new(LoadErrorKind::InvalidTypeName, "The name of the type is invalid.", text.clone());
    let name = parse_type_name(&text).ok_or_else(invalid)?;
    NamedClass { image, parameter, text: &text, context }.resolve(&name).map(Some)
}

fn cannot_load(text: &str) -> LoadError {
    LoadError::type_load(format!("Could not load type '{text}'."), text)
}

/// Where the name of a class, or a part of it, stands.
struct NamedClass<'a> {
    image: &'static Image,
    parameter: Rid,
    text: &'a str,
    context: &'a GenericContext,
}

impl NamedClass<'_> {
    fn resolve(&self, name: &TypeName) -> LoadResult<Ty> {
        let mut ty = self.unmodified(name)?;
        let universe = self.image.universe;
        for modifier in &name.modifiers {
            ty = match modifier {
                Modifier::ByRef => universe.byref_to(ty),
                Modifier::Pointer => universe.pointer_to(ty),
                Modifier::SzArray => universe.sz_array_of(ty),
                Modifier::Array(rank) => universe.array_of(ty, *rank),
            };
        }
        Ok(ty)
    }

    fn unmodified(&self, name: &TypeName) -> LoadResult<Ty> {
        if let Some(number) = name.name.strip_prefix('!') {
            let (number, arguments) = match number.strip_prefix('!') {
                Some(number) => (number, self.context.method_args),
                None => (number, self.context.class_args),
            };
            let argument = number.parse().ok().and_then(|number: usize| arguments.get(number));
            return argument.copied().ok_or_else(|| cannot_load(self.text));
        }
        let definition = self.definition(name)?;
        if name.arguments.is_empty() {
            return Ok(definition);
        }
        if !definition.is_generic_definition() || definition.args.len() != name.arguments.len() {
            return Err(cannot_load(self.text));
        }
        let arguments = name.arguments.iter().map(|argument| self.resolve(argument)).collect::<LoadResult<Vec<_>>>()?;
        self.image.universe.instantiate(definition, &arguments)
    }

    /// In the assembly that the name has; without one in the accessor's assembly or the core assembly.
    fn definition(&self, name: &TypeName) -> LoadResult<Ty> {
        let path = name.definition_name();
        let found = match name.assembly.as_deref().map(AssemblyName::parse) {
            Some(assembly) => self.home(&assembly.ok_or_else(|| cannot_load(self.text))?)?.find_type_by_path(&path)?,
            None => match self.image.find_type_by_path(&path)? {
                Some(own) => Some(own),
                None => self.image.universe.corlib().find_type_by_path(&path)?,
            },
        };
        found.ok_or_else(|| cannot_load(self.text))
    }

    fn home(&self, assembly: &AssemblyName) -> LoadResult<&'static Image> {
        let binder = self.image.universe.binder();
        Ok(match binder.find_bound(assembly, Some(self.image)) {
            Some(found) => found.image,
            None => match requests::ask(Request::AccessorType(self.image, self.parameter, load_assemblies_at))? {
                Leave::Ask => binder.resolve(assembly, Some(self.image))?.image,
                Leave::HasNoAnswer => return Err(not_found(assembly)),
            },
        })
    }
}

/// Loads the assemblies that are named at a Param row.
fn load_assemblies_at(image: &'static Image, parameter: Rid) -> LoadResult<()> {
    fn load(image: &'static Image, name: &TypeName) -> LoadResult<()> {
        if let Some(assembly) = name.assembly.as_deref().and_then(AssemblyName::parse) {
            image.universe.binder().resolve(&assembly, Some(image))?;
        }
        name.arguments.iter().try_for_each(|argument| load(image, argument))
    }
    let name = image.accessor_type_name(parameter)?.and_then(|text| parse_type_name(&text));
    name.map_or(Ok(()), |name| load(image, &name))
}

/// The type's name as .NET's messages write it: without generic arguments.
fn name_of(ty: Ty) -> String {
    match ty.generic_definition() {
        Some(definition) => definition.full_name().split('[').next().unwrap_or_default().to_owned(),
        None => ty.full_name(),
    }
}

fn unmodified(mut sig: &TypeSig) -> &TypeSig {
    while let TypeSig::Modified { inner, .. } = sig {
        sig = inner;
    }
    sig
}

fn written_type(field: &'static Field) -> LoadResult<TypeSig> {
    let row = field.image().meta.field(field.rid)?;
    Ok(saki_metadata::parse_field_sig(field.image().meta.blob(row.signature)?)?)
}

/// The modifiers of a method, as written. Empty for methods of arrays.
fn modifiers_of(method: &'static Method) -> LoadResult<String> {
    match method.rid() {
        Some(rid) => spell_method(method.image(), &raw_method_sig(method.image(), rid)?, &[]),
        None => Ok(String::new()),
    }
}

/// Whether two types are the same as they are written, apart from modifiers.
fn is_same(image: &'static Image, one: &TypeSig, other_image: &'static Image, other: &TypeSig) -> LoadResult<bool> {
    let inner = |one: &TypeSig, other: &TypeSig| is_same(image, one, other_image, other);
    let all = |ones: &[TypeSig], others: &[TypeSig]| -> LoadResult<bool> {
        if ones.len() != others.len() {
            return Ok(false);
        }
        for (one, other) in ones.iter().zip(others) {
            if !inner(one, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    Ok(match (unmodified(one), unmodified(other)) {
        (TypeSig::Var(one), TypeSig::Var(other)) | (TypeSig::MVar(one), TypeSig::MVar(other)) => one == other,
        (TypeSig::Ptr(one), TypeSig::Ptr(other))
        | (TypeSig::ByRef(one), TypeSig::ByRef(other))
        | (TypeSig::SzArray(one), TypeSig::SzArray(other)) => inner(one, other)?,
        (TypeSig::Array { elem, rank, .. }, TypeSig::Array { elem: other, rank: other_rank, .. }) => {
            rank == other_rank && inner(elem, other)?
        }
        (TypeSig::GenericInst { token, args, .. }, TypeSig::GenericInst { token: other, args: others, .. }) => {
            image.resolve_type(*token, &GenericContext::NONE)?
                == other_image.resolve_type(*other, &GenericContext::NONE)?
                && all(args, others)?
        }
        (TypeSig::FnPtr(one), TypeSig::FnPtr(other)) => {
            one.call_conv == other.call_conv && inner(&one.ret, &other.ret)? && all(&one.params, &other.params)?
        }
        (one, other) => match (named(image, one)?, named(other_image, other)?) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        },
    })
}

/// The type that is written as a name; None for other forms.
fn named(image: &'static Image, sig: &TypeSig) -> LoadResult<Option<Ty>> {
    match sig {
        TypeSig::Prim(element) => Ok(Some(image.universe.primitive(*element))),
        TypeSig::Class(token) | TypeSig::ValueType(token) => {
            image.resolve_type(*token, &GenericContext::NONE).map(Some)
        }
        _ => Ok(None),
    }
}
