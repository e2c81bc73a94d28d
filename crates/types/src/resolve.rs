//! Resolving metadata tokens to types, methods, fields and signatures.

use crate::collectible;
use crate::domain::DynamicRef;
use crate::domain::Image;
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::field::Field;
use crate::identity::qualified;
use crate::load_texts::are_mono;
use crate::method::{Method, MethodSig, method_flags};
use crate::modifiers::{describe, spell_method, written_type};
use crate::signature::{method_sig_with, resolve_method_sig, resolve_type_sig};
use crate::ty::{Ty, TypeKind};
use saki_metadata::{MethodSigRaw, Rid, StandAloneSigRaw, TableId, Token};

pub use crate::domain::Member;
pub use crate::method::LocalSig;
pub use crate::ty::GenericContext;

impl Image {
    /// The type of a TypeDef, TypeRef or TypeSpec token.
    ///
    /// # Errors
    /// `TypeLoad`, `BadImageFormat`, the binder's errors.
    pub fn resolve_type(&'static self, token: Token, context: &GenericContext) -> LoadResult<Ty> {
        if let Some(code) = &self.dynamic {
            return code.ty(token);
        }
        match token.table() {
            TableId::TypeDef => self.type_def(token.rid()),
            TableId::TypeRef => self.type_ref(token.rid()),
            TableId::TypeSpec => {
                let row = self.meta.type_spec(token.rid())?;
                let sig = saki_metadata::parse_type_spec(self.meta.blob(row.signature)?)?;
                resolve_type_sig(self, &sig, context)
            }
            _ => Err(self.bad_token(token)),
        }
    }

    /// The method of a MethodDef, MemberRef or MethodSpec token.
    ///
    /// # Errors
    /// `MissingMethod`, and the errors of loading the parent type.
    pub fn resolve_method(&'static self, token: Token, context: &GenericContext) -> LoadResult<&'static Method> {
        if let Some(code) = &self.dynamic {
            return code.method(token);
        }
        match token.table() {
            TableId::MethodDef => self.method_def_in(token.rid(), context),
            TableId::MemberRef => match self.resolve_member(token.rid(), context)? {
                Member::Method(method) => Ok(method),
                Member::Field(field) => Err(method_missing(field.owner, field.name, None)),
            },
            TableId::MethodSpec => {
                let row = self.meta.method_spec(token.rid())?;
                let generic = self.resolve_method(row.method, context)?;
                let args = saki_metadata::parse_method_spec(self.meta.blob(row.instantiation)?)?;
                let args = args.iter().map(|a| resolve_type_sig(self, a, context)).collect::<LoadResult<Vec<_>>>()?;
                self.universe.instantiate_method(generic, &args)
            }
            _ => Err(self.bad_token(token)),
        }
    }

    /// The name of the method that a MethodDef or MemberRef token means, without resolving it; None for other tokens.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub(crate) fn method_token_name(&self, token: Token) -> LoadResult<Option<&str>> {
        Ok(match token.table() {
            TableId::MethodDef => Some(self.meta.string(self.meta.method_def(token.rid())?.name)?),
            TableId::MemberRef => Some(self.meta.string(self.meta.member_ref(token.rid())?.name)?),
            _ => None,
        })
    }

    /// Whether the token is a MethodDef token of a static method.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub(crate) fn is_static_method_def(&self, token: Token) -> LoadResult<bool> {
        Ok(token.table() == TableId::MethodDef && self.meta.method_def(token.rid())?.flags & method_flags::STATIC != 0)
    }

    /// A method with the call site's own signature where it is a vararg call.
    ///
    /// # Errors
    /// `MissingMethod`, and the errors of loading the parent type and the types of the signatures.
    pub fn resolve_method_call(
        &'static self,
        token: Token,
        context: &GenericContext,
    ) -> LoadResult<(&'static Method, Option<&'static MethodSig>)> {
        let method = self.resolve_method(token, context)?;
        if token.table() == TableId::MemberRef && method.sig()?.is_vararg {
            let raw = self.member_ref_sig(token.rid())?;
            let sig = resolve_method_sig(self, &raw, context)?;
            return Ok((method, Some(collectible::keep_beside(self, sig))));
        }
        Ok((method, None))
    }

    /// The field of a Field or MemberRef token.
    ///
    /// # Errors
    /// `MissingField`, and the errors of loading the parent type.
    pub fn resolve_field(&'static self, token: Token, context: &GenericContext) -> LoadResult<&'static Field> {
        if let Some(code) = &self.dynamic {
            return code.field(token);
        }
        match token.table() {
            TableId::Field => {
                let owner = self.type_def(self.meta.type_of_field(token.rid())?)?;
                in_context(owner, context)?.field_by_rid(token.rid())
            }
            TableId::MemberRef => match self.resolve_member(token.rid(), context)? {
                Member::Field(field) => Ok(field),
                Member::Method(method) => Err(field_missing(method.owner, method.name, None)),
            },
            _ => Err(self.bad_token(token)),
        }
    }

    /// A `calli` signature.
    ///
    /// # Errors
    /// `BadImageFormat`, `TypeLoad`.
    pub fn resolve_standalone_sig(
        &'static self,
        token: Token,
        context: &GenericContext,
    ) -> LoadResult<&'static MethodSig> {
        if let Some(code) = &self.dynamic {
            return code.call_sig(token);
        }
        let row = self.meta.stand_alone_sig(token.rid())?;
        match saki_metadata::parse_stand_alone_sig(self.meta.blob(row.signature)?)? {
            StandAloneSigRaw::Method(raw) => {
                Ok(collectible::keep_beside(self, resolve_method_sig(self, &raw, context)?))
            }
            _ => Err(self.bad_token(token)),
        }
    }

    /// Local variables of a body; the nil token gives none.
    ///
    /// # Errors
    /// `BadImageFormat`, `TypeLoad`.
    pub fn resolve_locals(&'static self, token: Token, context: &GenericContext) -> LoadResult<Vec<LocalSig>> {
        if let Some(code) = &self.dynamic {
            return Ok(code.locals());
        }
        if token.is_nil() {
            return Ok(Vec::new());
        }
        let row = self.meta.stand_alone_sig(token.rid())?;
        let StandAloneSigRaw::Locals(sigs) = saki_metadata::parse_stand_alone_sig(self.meta.blob(row.signature)?)?
        else {
            return Err(self.bad_token(token));
        };
        sigs.iter()
            .map(|sig| Ok(LocalSig { ty: resolve_type_sig(self, sig, context)?, pinned: is_pinned(sig) }))
            .collect()
    }

    /// The referent of a token of a dynamic method; None for images of files.
    ///
    /// # Errors
    /// `InvalidProgram` for a token that names nothing.
    pub fn dynamic_reference(&'static self, token: Token) -> LoadResult<Option<DynamicRef>> {
        self.dynamic.as_ref().map(|code| code.reference(token)).transpose()
    }

    fn method_def_in(&'static self, rid: Rid, context: &GenericContext) -> LoadResult<&'static Method> {
        let owner = self.type_def(self.meta.type_of_method(rid)?)?;
        in_context(owner, context)?.method_by_rid(rid)
    }

    fn member_ref_sig(&'static self, rid: Rid) -> LoadResult<MethodSigRaw> {
        let row = self.meta.member_ref(rid)?;
        Ok(saki_metadata::parse_method_sig(self.meta.blob(row.signature)?)?)
    }

    /// The member of MemberRef row `rid`.
    fn resolve_member(&'static self, rid: Rid, context: &GenericContext) -> LoadResult<Member> {
        let cell = (rid as usize).checked_sub(1).and_then(|i| self.member_refs.get(i));
        let cell = cell.ok_or_else(|| self.bad_token(Token::new(TableId::MemberRef, rid)))?;
        if let Some(member) = cell.get_if_ready() {
            return Ok(member);
        }
        let row = self.meta.member_ref(rid)?;
        let name = self.meta.string(row.name)?;
        let parent = match row.class.table() {
            TableId::MethodDef => {
                // A vararg call site of a method of this module.
                return Ok(Member::Method(self.method_def_in(row.class.rid(), context)?));
            }
            TableId::ModuleRef => self.type_def(1)?,
            _ => self.resolve_type(row.class, context)?,
        };
        let blob = self.meta.blob(row.signature)?;
        let member = if saki_metadata::is_field_sig(blob) {
            self.find_field_ref(parent, name, blob).map(Member::Field)?
        } else {
            Member::Method(self.find_method_ref(parent, name, &saki_metadata::parse_method_sig(blob)?, context)?)
        };
        if row.class.table() != TableId::TypeSpec {
            return cell.find(|| Ok(member));
        }
        Ok(member)
    }

    /// A field by name and type, in the type or an ancestor. Field types are compared like the signatures of methods.
    fn find_field_ref(&'static self, parent: Ty, name: &str, signature: &[u8]) -> LoadResult<&'static Field> {
        let sig = saki_metadata::parse_field_sig(signature)?;
        let definition = parent.generic_definition().unwrap_or(parent);
        let mut chain = Some((definition, parent));
        while let Some((open, exact)) = chain {
            let mut candidates = open.fields()?.iter().enumerate().filter(|(_, field)| field.name == name).peekable();
            if candidates.peek().is_some() {
                let context = GenericContext { class_args: definition.args, method_args: &[] };
                let wanted = resolve_type_sig(self, &sig, &context)?;
                for (index, field) in candidates {
                    if field.ty()? == wanted {
                        return Ok(exact.fields()?[index]);
                    }
                }
            }
            chain = match (open.parent()?, exact.parent()?) {
                (Some(open), Some(exact)) => Some((open, exact)),
                _ => None,
            };
        }
        let ty = describe(self, &sig)?;
        Err(field_missing(parent, name, Some(&ty)))
    }

    /// A method by name and signature, in the type or an ancestor (for interfaces: Object). The signature is compared
    /// between generic *definitions*, where no two methods can coincide by instantiation. Signatures of array members
    /// are written in terms of the place that names them, `caller`.
    fn find_method_ref(
        &'static self,
        parent: Ty,
        name: &str,
        raw: &MethodSigRaw,
        caller: &GenericContext,
    ) -> LoadResult<&'static Method> {
        let definition = parent.generic_definition().unwrap_or(parent);
        let mut chain = Some((definition, parent));
        while let Some((open, exact)) = chain {
            let mut found: Option<(usize, &'static Method)> = None;
            for (index, candidate) in open.methods_named(name)?.into_iter().enumerate() {
                if candidate.generic_args().len() != raw.generic_param_count as usize {
                    continue;
                }
                let context = match parent.is_array() {
                    true => *caller,
                    false => GenericContext { class_args: definition.args, method_args: candidate.generic_args() },
                };
                let wanted = resolve_method_sig(self, raw, &context)?;
                if !same_signature(candidate.sig()?, &wanted) {
                    continue;
                }
                // Overloads that differ in custom modifiers only: the one with the same modifiers.
                match found {
                    Some((_, first)) if same_modifiers(first, self, raw)? => {}
                    _ => found = Some((index, candidate)),
                }
            }
            if let Some((index, candidate)) = found {
                return match candidate.rid() {
                    Some(rid) => exact.method_by_rid(rid),
                    None => Ok(exact.methods_named(name)?[index]),
                };
            }
            chain = match (open.parent()?, exact.parent()?) {
                (Some(open), Some(exact)) => Some((open, exact)),
                _ if open.is_interface() => {
                    let object = open.universe().object();
                    Some((object, object))
                }
                _ => None,
            };
        }
        Err(method_missing(parent, name, Some((self, raw))))
    }
}

/// `owner`, or its instantiation over the context when a body names its own generic type by definition.
fn in_context(owner: Ty, context: &GenericContext) -> LoadResult<Ty> {
    if owner.is_generic_definition() && owner.args.len() == context.class_args.len() {
        return owner.universe().instantiate(owner, context.class_args);
    }
    Ok(owner)
}

fn is_pinned(sig: &saki_metadata::TypeSig) -> bool {
    match sig {
        saki_metadata::TypeSig::Pinned(_) => true,
        saki_metadata::TypeSig::Modified { inner, .. } => is_pinned(inner),
        _ => false,
    }
}

/// Whether the signatures are equal, apart from the variable arguments that a vararg call site adds.
pub fn same_signature(candidate: &MethodSig, wanted: &MethodSig) -> bool {
    let fixed = wanted.sentinel.unwrap_or(wanted.params.len());
    candidate.has_this == wanted.has_this
        && candidate.ret == wanted.ret
        && candidate.params[..] == wanted.params[..fixed]
        && candidate.is_vararg == wanted.is_vararg
}

/// Whether `candidate` has the signature of `wanted`, generic parameters matched by position.
///
/// # Errors
/// `BadImageFormat`, `TypeLoad`.
pub fn signatures_match(candidate: &'static Method, wanted: &'static Method) -> LoadResult<bool> {
    if candidate.generic_args().len() != wanted.generic_args().len() {
        return Ok(false);
    }
    if wanted.generic_args().is_empty() {
        return Ok(same_signature(candidate.sig()?, wanted.sig()?));
    }
    Ok(same_signature(candidate.sig()?, &method_sig_with(wanted, candidate.generic_args())?))
}

/// "Method not found: 'Void Ns.Type.Name(System.String)'.", or Mono's "Method not found: void Ns.Type.Name(string)".
fn method_missing(owner: Ty, name: &str, sig: Option<(&'static Image, &MethodSigRaw)>) -> LoadError {
    let subject = format!("{}.{name}", short_owner(owner));
    let written = sig.and_then(|(image, raw)| match are_mono() {
        true => signature_as_mono(image, raw, &subject),
        false => signature_as_net(image, raw, &subject),
    });
    let text = written.unwrap_or_else(|| subject.clone());
    let message = match are_mono() {
        true if owner.is_array() => format!("Method not found: {text} Due to: Failed to load due to unknown reasons"),
        true => format!("Method not found: {text}"),
        false => format!("Method not found: '{text}'."),
    };
    LoadError::new(LoadErrorKind::MissingMethod, message, subject)
}

/// "Field not found: 'Ns.Type.name'.", or Mono's "Field not found: string Ns.Type.name Due to: …".
fn field_missing(owner: Ty, name: &str, ty: Option<&str>) -> LoadError {
    let subject = format!("{}.{name}", short_owner(owner));
    let message = match are_mono() {
        true => {
            let ty = ty.map_or(String::new(), |ty| format!("{ty} "));
            format!("Field not found: {ty}{subject} Due to: Could not find field in class")
        }
        false => format!("Field not found: '{subject}'."),
    };
    LoadError::new(LoadErrorKind::MissingField, message, subject)
}

/// Namespace and name without enclosing types and arguments: the class of a missing member.
fn short_owner(owner: Ty) -> String {
    match owner.def() {
        Some(def) if are_mono() => format!("{}.{}", def.namespace, def.name),
        Some(def) => qualified(def.namespace, def.name),
        None => owner.full_name(),
    }
}

fn signature_as_mono(image: &'static Image, raw: &MethodSigRaw, subject: &str) -> Option<String> {
    let numbers: Vec<String> = (0..raw.generic_param_count).map(|n| format!("!{n}")).collect();
    let generic = if numbers.is_empty() { String::new() } else { format!("<{}>", numbers.join(",")) };
    let params = raw.params.iter().map(|p| describe(image, p)).collect::<LoadResult<Vec<_>>>().ok()?;
    Some(format!("{} {subject}{generic}({})", describe(image, &raw.ret).ok()?, params.join(",")))
}

fn signature_as_net(image: &'static Image, raw: &MethodSigRaw, subject: &str) -> Option<String> {
    let params = raw
        .params
        .iter()
        .map(|p| written_type(image, p, &GenericContext::NONE))
        .collect::<LoadResult<Vec<_>>>()
        .ok()?;
    Some(format!("{} {subject}({})", written_type(image, &raw.ret, &GenericContext::NONE).ok()?, params.join(", ")))
}

/// Whether `candidate` has the custom modifiers of the reference's signature `raw`.
fn same_modifiers(candidate: &'static Method, image: &'static Image, raw: &MethodSigRaw) -> LoadResult<bool> {
    let Some(rid) = candidate.rid() else { return Ok(true) };
    let own = crate::signature::raw_method_sig(candidate.image(), rid)?;
    Ok(spell_method(candidate.image(), &own, &[])? == spell_method(image, raw, &[])?)
}

/// Whether the type is a definition of this module with no instantiation.
pub fn is_plain_definition(ty: Ty) -> bool {
    matches!(ty.kind, TypeKind::Def(_)) && ty.args.is_empty()
}

#[cfg(test)]
mod tests;
