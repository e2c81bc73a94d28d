//! Undecoded signatures as texts: for messages, and to tell apart methods that differ in custom modifiers (modopt, modreq)
//! only, which are no part of a decoded signature. ECMA-335 §II.7.1.1.
//!
//! Signatures are compared here as texts with the modifiers written out, and only where leaving them out is ambiguous.
//! Modifiers that a base class's generic arguments bring with them come after those of the signature itself.

use crate::assembly::Image;
use crate::error::LoadResult;
use crate::method::Method;
use crate::resolve::GenericContext;
use crate::signature::raw_method_sig;
use crate::ty::Ty;
use saki_metadata::{MethodSigRaw, TableId, TypeSig};
use std::fmt::Write;

/// A type with its modifiers. `class_args` are the texts for `!n`.
fn spell(image: &'static Image, sig: &TypeSig, class_args: &[String]) -> LoadResult<String> {
    // Tokens of definitions need no context.
    let named = |token| Ok::<_, crate::LoadError>(format!("{:p}", image.resolve_type(token, &GenericContext::NONE)?));
    let inner = |sig: &TypeSig| spell(image, sig, class_args);
    Ok(match sig {
        TypeSig::Prim(element) => format!("{element:?}"),
        TypeSig::Class(token) | TypeSig::ValueType(token) => named(*token)?,
        TypeSig::Var(index) => class_args.get(*index as usize).cloned().unwrap_or_else(|| format!("!{index}")),
        TypeSig::MVar(index) => format!("!!{index}"),
        TypeSig::Ptr(of) => inner(of)? + "*",
        TypeSig::ByRef(of) => inner(of)? + "&",
        TypeSig::SzArray(of) => inner(of)? + "[]",
        TypeSig::Array { elem, rank, .. } => format!("{}[{rank}]", inner(elem)?),
        TypeSig::GenericInst { token, args, .. } => {
            let mut text = named(*token)? + "<";
            for arg in args {
                let _ = write!(text, "{},", inner(arg)?);
            }
            text + ">"
        }
        TypeSig::FnPtr(_) => "fnptr".to_string(),
        TypeSig::Pinned(of) => inner(of)?,
        TypeSig::Modified { required, token, inner: of } => {
            format!("{} {}({})", inner(of)?, if *required { "modreq" } else { "modopt" }, named(*token)?)
        }
    })
}

/// A method signature with its modifiers.
///
/// # Errors
/// What the tokens give.
pub(crate) fn spell_method(image: &'static Image, raw: &MethodSigRaw, class_args: &[String]) -> LoadResult<String> {
    let mut text = String::new();
    for sig in std::iter::once(&raw.ret).chain(&raw.params) {
        text += &spell(image, sig, class_args)?;
        text.push(';');
    }
    Ok(text)
}

/// The signature of `method` with its modifiers as `ty`, its owner or a class derived from it, sees it.
///
/// # Errors
/// What the tokens give; `TypeLoad` from base classes.
pub(crate) fn spell_seen_from(ty: Ty, method: &'static Method) -> LoadResult<String> {
    let owner = method.owner.generic_definition().unwrap_or(method.owner);
    let mut args = Vec::new();
    let mut at = ty.generic_definition().unwrap_or(ty);
    while at != owner {
        let (Some(def), Some(parent)) = (at.def(), at.parent()?) else { break };
        if def.extends.table() == TableId::TypeSpec {
            let row = def.image.meta.type_spec(def.extends.rid())?;
            if let TypeSig::GenericInst { args: given, .. } =
                saki_metadata::parse_type_spec(def.image.meta.blob(row.signature)?)?
            {
                args = given.iter().map(|arg| spell(def.image, arg, &args)).collect::<LoadResult<_>>()?;
            }
        } else {
            args.clear();
        }
        at = parent.generic_definition().unwrap_or(parent);
    }
    let Some(rid) = method.rid() else { return Ok(String::new()) };
    spell_method(method.image(), &raw_method_sig(method.image(), rid)?, &args)
}

/// A type of an undecoded signature as Mono's messages write it: generic parameters by number, no modifiers.
///
/// # Errors
/// What the tokens give.
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
