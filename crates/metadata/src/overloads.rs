//! Parameter lists of methods as text, by which people tell overloads apart: brief, or as Mono's tools write them.
//!
//! Invariant: read from this image alone; nothing is loaded, so any thread may ask, and the answer is the same in every
//! run. In brief lists generic parameters are shown by name, nested types without their enclosing types. Left out:
//! return types, in which overloads hardly ever differ.

use crate::element_type::ElementType;
use crate::error::BadImage;
use crate::image::Image;
use crate::signature::{TypeSig, parse_type_spec};
use crate::token::{Rid, TableId, Token};
use std::fmt::Write;

/// Limit of TypeSpecs nested in TypeSpecs; real images have none.
const MAX_DEPTH: u32 = 8;

impl Image {
    /// The parameters of an overloaded method: "int,string[]". None if its type has no other method of its name, or if
    /// the image is damaged.
    pub fn overload(&self, method_rid: Rid) -> Option<String> {
        let name = self.method_def(method_rid).ok()?.name;
        let owner = self.type_of_method(method_rid).ok()?;
        let name = self.string_bytes(name).ok()?;
        let is_namesake = |rid: &Rid| {
            *rid != method_rid
                && self.method_def(*rid).and_then(|row| self.string_bytes(row.name)).is_ok_and(|n| n == name)
        };
        if !self.type_def_methods(owner).ok()?.any(|rid| is_namesake(&rid)) {
            return None;
        }
        self.spell_parameters(&Spelling { image: self, owner, method: method_rid, argument: None })
    }

    /// The parameters as Mono's tools write them: "int,System.Collections.Generic.List`1<string>". `argument` gives
    /// generic arguments by their index, of the method if its first parameter is true, else of the type. None if the
    /// image is damaged.
    pub fn parameters(&self, method_rid: Rid, argument: &dyn Fn(bool, usize) -> Option<String>) -> Option<String> {
        let owner = self.type_of_method(method_rid).ok()?;
        self.spell_parameters(&Spelling { image: self, owner, method: method_rid, argument: Some(argument) })
    }

    fn spell_parameters(&self, spelling: &Spelling<'_>) -> Option<String> {
        let signature = self.parse_method_sig(self.method_def(spelling.method).ok()?.signature).ok()?;
        let parameters = signature.params.iter().map(|sig| spelling.spell(sig, 0)).collect::<Result<Vec<_>, _>>();
        Some(parameters.ok()?.join(","))
    }
}

/// Spells types in the context of a method, whose generic parameters and whose type's it names.
struct Spelling<'a> {
    image: &'a Image,
    owner: Rid,
    method: Rid,
    /// As Mono's tools do it, with these generic arguments.
    argument: Option<&'a dyn Fn(bool, usize) -> Option<String>>,
}

impl Spelling<'_> {
    fn spell(&self, sig: &TypeSig, depth: u32) -> Result<String, BadImage> {
        let inner = |sig: &TypeSig| self.spell(sig, depth);
        Ok(match sig {
            TypeSig::Prim(element) => keyword(*element, self.argument.is_some()).to_owned(),
            TypeSig::Class(token) | TypeSig::ValueType(token) => self.name_of(*token, depth)?,
            TypeSig::Var(index) => self.parameter(Token::new(TableId::TypeDef, self.owner), *index, "!"),
            TypeSig::MVar(index) => self.parameter(Token::new(TableId::MethodDef, self.method), *index, "!!"),
            TypeSig::Ptr(of) => inner(of)? + "*",
            TypeSig::ByRef(of) => inner(of)? + "&",
            TypeSig::SzArray(of) => inner(of)? + "[]",
            TypeSig::Array { elem, rank, .. } => {
                format!("{}[{}]", inner(elem)?, ",".repeat(rank.saturating_sub(1).min(31) as usize))
            }
            TypeSig::GenericInst { token, args, .. } => {
                let mut text = self.name_of(*token, depth)?;
                if self.argument.is_some() {
                    let args = args.iter().map(inner).collect::<Result<Vec<_>, _>>()?;
                    return Ok(format!("{text}<{}>", args.join(", ")));
                }
                // The arity suffix ("`2") says less than the arguments that follow.
                text.truncate(text.find('`').unwrap_or(text.len()));
                let args = args.iter().map(inner).collect::<Result<Vec<_>, _>>()?;
                let _ = write!(text, "<{}>", args.join(","));
                text
            }
            TypeSig::FnPtr(_) => "*()".to_owned(),
            TypeSig::Pinned(of) | TypeSig::Modified { inner: of, .. } => inner(of)?,
        })
    }

    fn name_of(&self, token: Token, depth: u32) -> Result<String, BadImage> {
        let (namespace, name, outer) = match token.table() {
            TableId::TypeDef => {
                let row = self.image.type_def(token.rid())?;
                let outer = self.image.enclosing_class(token.rid()).map(|rid| Token::new(TableId::TypeDef, rid));
                (row.namespace, row.name, outer)
            }
            TableId::TypeRef => {
                let row = self.image.type_ref(token.rid())?;
                (row.namespace, row.name, Some(row.resolution_scope).filter(|scope| scope.table() == TableId::TypeRef))
            }
            _ if depth < MAX_DEPTH => {
                let spec = self.image.type_spec(token.rid())?.signature;
                return self.spell(&parse_type_spec(self.image.blob(spec)?)?, depth + 1);
            }
            _ => return Ok("?".to_owned()),
        };
        let name = self.image.string(name)?;
        if self.argument.is_none() {
            return Ok(name.to_owned());
        }
        let namespace = self.image.string(namespace)?;
        Ok(match outer {
            Some(outer) if depth < MAX_DEPTH => format!("{}/{name}", self.name_of(outer, depth + 1)?),
            _ if namespace.is_empty() => name.to_owned(),
            _ => format!("{namespace}.{name}"),
        })
    }

    fn parameter(&self, owner: Token, index: u32, prefix: &str) -> String {
        let is_of_method = owner.table() == TableId::MethodDef;
        if let Some(argument) = self.argument.and_then(|argument| argument(is_of_method, index as usize)) {
            return argument;
        }
        let mut rids = self.image.generic_params(owner).into_iter().flatten();
        let row = rids.find_map(|rid| self.image.generic_param(rid).ok().filter(|row| u32::from(row.number) == index));
        let name = row.and_then(|row| self.image.string(row.name).ok().map(str::to_owned));
        name.unwrap_or_else(|| format!("{prefix}{index}"))
    }
}

fn keyword(element: ElementType, is_mono: bool) -> &'static str {
    match element {
        ElementType::I2 if is_mono => "int16",
        ElementType::U2 if is_mono => "uint16",
        ElementType::I if is_mono => "intptr",
        ElementType::U if is_mono => "uintptr",
        ElementType::R4 if is_mono => "single",
        ElementType::TypedByRef if is_mono => "typedbyref",
        ElementType::Void => "void",
        ElementType::Boolean => "bool",
        ElementType::Char => "char",
        ElementType::I1 => "sbyte",
        ElementType::U1 => "byte",
        ElementType::I2 => "short",
        ElementType::U2 => "ushort",
        ElementType::I4 => "int",
        ElementType::U4 => "uint",
        ElementType::I8 => "long",
        ElementType::U8 => "ulong",
        ElementType::R4 => "float",
        ElementType::R8 => "double",
        ElementType::I => "IntPtr",
        ElementType::U => "UIntPtr",
        ElementType::String => "string",
        ElementType::Object => "object",
        _ => "TypedReference",
    }
}
