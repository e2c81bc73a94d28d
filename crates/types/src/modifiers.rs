//! Custom modifiers (modopt, modreq), which decoded signatures do not contain: methods whose signatures differ only in
//! modifiers are distinct, and do not override or implement one another. ECMA-335 §II.7.1.1. Also texts of undecoded
//! signatures, for messages.
//!
//! Two signatures that are equal without modifiers are compared by texts of their modifiers. Such a text holds the
//! modifiers and, only where a modifier is nested, the shape of the type around it; it is empty without modifiers.
//! Modifiers that come from the generic arguments of a base class or interface follow those of the signature itself.
//! Required and optional modifiers differ, as in Mono.

use crate::domain::Image;
use crate::error::LoadError;
use crate::error::LoadResult;
use crate::identity::qualified;
use crate::method::Method;
use crate::signature::raw_method_sig;
use crate::ty::GenericContext;
use crate::ty::Ty;
use saki_metadata::{ElementType, MethodSigRaw, TableId, Token, TypeSig};
use std::cell::OnceCell;
use std::fmt::Write;

/// The modifiers in a type. `class_args` are those of the arguments for `!n`, empty where there is none.
fn spell(image: &'static Image, sig: &TypeSig, class_args: &[String]) -> LoadResult<String> {
    let inner = |sig: &TypeSig| spell(image, sig, class_args);
    let shaped = |of: &TypeSig, suffix: &str| inner(of).map(|text| if text.is_empty() { text } else { text + suffix });
    Ok(match sig {
        TypeSig::Prim(_) | TypeSig::Class(_) | TypeSig::ValueType(_) | TypeSig::MVar(_) => String::new(),
        TypeSig::Var(index) => class_args.get(*index as usize).cloned().unwrap_or_default(),
        TypeSig::Ptr(of) => shaped(of, "*")?,
        TypeSig::ByRef(of) => shaped(of, "&")?,
        TypeSig::SzArray(of) | TypeSig::Array { elem: of, .. } => shaped(of, "[]")?,
        TypeSig::GenericInst { args, .. } => {
            let args = args.iter().map(inner).collect::<LoadResult<Vec<_>>>()?;
            if args.iter().all(String::is_empty) { String::new() } else { format!("<{}>", args.join(",")) }
        }
        TypeSig::FnPtr(raw) => {
            let text = spell_method(image, raw, class_args)?;
            if text.is_empty() { text } else { format!("({text})") }
        }
        TypeSig::Pinned(of) => inner(of)?,
        TypeSig::Modified { required, token, inner: of } => {
            // Tokens of definitions need no context. A type that cannot be loaded is identified by the subject of the
            // error.
            let modifier = match image.resolve_type(*token, &GenericContext::NONE) {
                Ok(ty) => format!("{ty:p}"),
                Err(error) => error.message,
            };
            format!("{} {}({modifier})", inner(of)?, if *required { "modreq" } else { "modopt" })
        }
    })
}

/// The modifiers in a method signature.
///
/// # Errors
/// The errors of resolving the tokens.
pub(crate) fn spell_method(image: &'static Image, raw: &MethodSigRaw, class_args: &[String]) -> LoadResult<String> {
    let mut text = String::new();
    for (index, sig) in std::iter::once(&raw.ret).chain(&raw.params).enumerate() {
        let modifiers = spell(image, sig, class_args)?;
        if !modifiers.is_empty() {
            let _ = write!(text, "{index}:{modifiers};");
        }
    }
    Ok(text)
}

/// The modifiers in a field's type, as written.
///
/// # Errors
/// The errors of resolving the tokens.
pub(crate) fn spell_field(image: &'static Image, sig: &TypeSig) -> LoadResult<String> {
    spell(image, sig, &[])
}

/// The modifiers in the generic arguments of a TypeSpec; nothing for other types.
fn spell_arguments(image: &'static Image, token: Token, class_args: &[String]) -> LoadResult<Vec<String>> {
    if token.table() != TableId::TypeSpec {
        return Ok(Vec::new());
    }
    match saki_metadata::parse_type_spec(type_spec_blob(image, token)?)? {
        TypeSig::GenericInst { args, .. } => args.iter().map(|arg| spell(image, arg, class_args)).collect(),
        _ => Ok(Vec::new()),
    }
}

fn type_spec_blob(image: &'static Image, token: Token) -> LoadResult<&'static [u8]> {
    Ok(image.meta.blob(image.meta.type_spec(token.rid())?.signature)?)
}

/// Whether the signature may contain modifiers. Conservative: `false` means certainly none.
fn may_have_modifiers(signature: &[u8]) -> bool {
    const CMOD_REQD: u8 = 0x1f;
    const CMOD_OPT: u8 = 0x20;
    signature.iter().any(|byte| matches!(*byte, CMOD_REQD | CMOD_OPT))
}

fn method_may_have_modifiers(method: &'static Method) -> LoadResult<bool> {
    let Some(rid) = method.rid() else { return Ok(false) };
    let meta = &method.image().meta;
    let signature = meta.blob(meta.method_def(rid)?.signature)?;
    // The first byte is the calling convention.
    Ok(may_have_modifiers(signature.get(1..).unwrap_or(&[])))
}

/// Compares the modifiers of methods of a type, its ancestors and its interfaces, under the type's generic arguments.
pub(crate) struct ModifierComparison {
    ty: Ty,
    arguments_may_have: OnceCell<bool>,
}

impl ModifierComparison {
    pub(crate) fn seen_from(ty: Ty) -> Self {
        Self { ty, arguments_may_have: OnceCell::new() }
    }

    /// Whether the two methods, whose signatures are equal without modifiers, have the same ones.
    ///
    /// # Errors
    /// `BadImageFormat`; what the base classes and interfaces of the type give.
    pub(crate) fn is_same(&self, one: &'static Method, other: &'static Method) -> LoadResult<bool> {
        let may_differ = method_may_have_modifiers(one)?
            || method_may_have_modifiers(other)?
            || self.arguments_may_have_modifiers(one.owner)?
            || self.arguments_may_have_modifiers(other.owner)?;
        Ok(!may_differ || self.spell(one)? == self.spell(other)?)
    }

    /// Whether `owner` is a generic base class or interface of the type, and one of these may be named with modifiers
    /// in generic arguments.
    fn arguments_may_have_modifiers(&self, owner: Ty) -> LoadResult<bool> {
        if owner.args.is_empty() || owner == self.ty {
            return Ok(false);
        }
        if let Some(&known) = self.arguments_may_have.get() {
            return Ok(known);
        }
        let mut may_have = false;
        let mut class = Some(self.ty);
        while let Some(ty) = class {
            may_have |= names_with_modifiers(ty)?;
            class = ty.parent()?;
        }
        for interface in self.ty.interfaces()? {
            may_have |= names_with_modifiers(interface)?;
        }
        Ok(*self.arguments_may_have.get_or_init(|| may_have))
    }

    fn spell(&self, method: &'static Method) -> LoadResult<String> {
        let Some(rid) = method.rid() else { return Ok(String::new()) };
        let args = self.arguments_of(method.owner)?;
        spell_method(method.image(), &raw_method_sig(method.image(), rid)?, &args)
    }

    /// The modifiers in the generic arguments of an ancestor or interface; nothing for other types.
    fn arguments_of(&self, owner: Ty) -> LoadResult<Vec<String>> {
        let definition = |ty: Ty| ty.generic_definition().unwrap_or(ty);
        if owner.args.is_empty() {
            return Ok(Vec::new());
        }
        let (mut at, mut args) = (self.ty, Vec::new());
        loop {
            if definition(at) == definition(owner) {
                return Ok(args);
            }
            if owner.is_interface()
                && let Some(found) = arguments_of_interface(at, &args, owner)?
            {
                return Ok(found);
            }
            let (Some(def), Some(parent)) = (at.def(), at.parent()?) else { return Ok(Vec::new()) };
            args = spell_arguments(def.image, def.extends, &args)?;
            at = parent;
        }
    }
}

/// Whether the type may name its base class or an interface with modifiers in generic arguments. Conservative: `false`
/// means certainly not.
fn names_with_modifiers(ty: Ty) -> LoadResult<bool> {
    let Some(def) = ty.def() else { return Ok(false) };
    for token in std::iter::once(Ok(def.extends)).chain(def.image.meta.interface_impls(def.rid)) {
        let token = token?;
        if token.table() == TableId::TypeSpec && may_have_modifiers(type_spec_blob(def.image, token)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The modifiers in the generic arguments of `wanted`, if `ty` itself declares that interface or an interface that
/// inherits it.
fn arguments_of_interface(ty: Ty, args: &[String], wanted: Ty) -> LoadResult<Option<Vec<String>>> {
    let Some(def) = ty.def() else { return Ok(None) };
    let context = GenericContext { class_args: ty.args, method_args: &[] };
    for token in def.image.meta.interface_impls(def.rid) {
        let token = token?;
        let interface = def.image.resolve_type(token, &context)?;
        if interface != wanted && !interface.interfaces()?.contains(&wanted) {
            continue;
        }
        let own = spell_arguments(def.image, token, args)?;
        if interface == wanted {
            return Ok(Some(own));
        }
        if let Some(found) = arguments_of_interface(interface, &own, wanted)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// A type of an undecoded signature in .NET's words: "Int32", "System.String", "Ns.List`1<Int32>", "Int32 ByRef".
/// Parameters of generic types and methods for which `arguments` has none are written by number.
pub(crate) fn written_type(image: &'static Image, sig: &TypeSig, arguments: &GenericContext) -> LoadResult<String> {
    let write = |sig: &TypeSig| written_type(image, sig, arguments);
    let named = |token| {
        let ty = image.resolve_type(token, &GenericContext::NONE)?;
        Ok::<_, LoadError>(ty.def().map_or_else(|| ty.message_name(), |def| qualified(def.namespace, def.name)))
    };
    Ok(match sig {
        TypeSig::Prim(element) => written_argument(crate::universe().primitive(*element)),
        TypeSig::Class(token) | TypeSig::ValueType(token) => named(*token)?,
        TypeSig::Var(index) => match arguments.class_args.get(*index as usize) {
            Some(argument) => written_argument(argument),
            None => format!("!{index}"),
        },
        TypeSig::MVar(index) => match arguments.method_args.get(*index as usize) {
            Some(argument) => written_argument(argument),
            None => format!("!!{index}"),
        },
        TypeSig::Ptr(of) => write(of)? + "*",
        TypeSig::ByRef(of) => write(of)? + " ByRef",
        TypeSig::SzArray(of) => write(of)? + "[]",
        TypeSig::Array { elem, rank, .. } => {
            format!("{}[{}]", write(elem)?, ",".repeat(*rank as usize - 1))
        }
        TypeSig::GenericInst { token, args, .. } => {
            let args = args.iter().map(write).collect::<LoadResult<Vec<_>>>()?;
            format!("{}<{}>", named(*token)?, args.join(","))
        }
        TypeSig::FnPtr(_) => "FNPTR".to_owned(),
        TypeSig::Pinned(of) | TypeSig::Modified { inner: of, .. } => write(of)?,
    })
}

/// A type as the messages write it in a list of parameters: primitives without their namespace.
fn written_argument(ty: Ty) -> String {
    use ElementType as E;
    match ty.def() {
        Some(def) if !matches!(ty.element_type, E::ValueType | E::Class | E::String | E::Object | E::TypedByRef) => {
            def.name.to_owned()
        }
        _ => ty.message_name(),
    }
}

/// A type of an undecoded signature as Mono's messages write it: generic parameters by number, no modifiers.
///
/// # Errors
/// The errors of resolving the tokens.
pub(crate) fn describe(image: &'static Image, sig: &TypeSig) -> LoadResult<String> {
    let named = |token| Ok::<_, crate::LoadError>(image.resolve_type(token, &GenericContext::NONE)?.signature_name());
    Ok(match sig {
        TypeSig::Prim(element) => crate::universe().primitive(*element).signature_name(),
        TypeSig::Class(token) | TypeSig::ValueType(token) => named(*token)?,
        TypeSig::Var(index) => format!("!{index}"),
        TypeSig::MVar(index) => format!("!!{index}"),
        TypeSig::Ptr(of) => describe(image, of)? + "*",
        TypeSig::ByRef(of) => describe(image, of)? + "&",
        TypeSig::SzArray(of) => describe(image, of)? + "[]",
        TypeSig::Array { elem, rank, .. } => {
            format!("{}[{}]", describe(image, elem)?, ",".repeat(*rank as usize - 1))
        }
        TypeSig::GenericInst { token, args, .. } => {
            let args = args.iter().map(|arg| describe(image, arg)).collect::<LoadResult<Vec<_>>>()?;
            format!("{}<{}>", named(*token)?, args.join(", "))
        }
        TypeSig::FnPtr(_) => "*()".to_string(),
        TypeSig::Pinned(of) | TypeSig::Modified { inner: of, .. } => describe(image, of)?,
    })
}
