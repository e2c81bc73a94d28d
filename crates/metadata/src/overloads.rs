//! Parameter lists of methods as text, by which people tell overloads apart.
//!
//! Invariant: read from this image alone; nothing is loaded, so any thread may ask, and the answer is the same in every run. Generic parameters are shown by
//! name, nested types without their enclosing types. Left out: return types, in which overloads hardly ever differ.

use crate::element_type::ElementType;
use crate::error::BadImage;
use crate::image::Image;
use crate::signature::{TypeSig, parse_type_spec};
use crate::token::{Rid, TableId, Token};
use std::fmt::Write;

/// Limit of TypeSpecs nested in TypeSpecs; real images have none.
const MAX_DEPTH: u32 = 8;

impl Image {
    /// The parameters of an overloaded method: "int,string[]". None if its type has no other method of its name, or if the image is damaged.
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
        let signature = self.parse_method_sig(self.method_def(method_rid).ok()?.signature).ok()?;
        let spelling = Spelling { image: self, owner, method: method_rid };
        let parameters = signature.params.iter().map(|sig| spelling.spell(sig, 0)).collect::<Result<Vec<_>, _>>();
        Some(parameters.ok()?.join(","))
    }
}

/// Spells types in the context of a method, whose generic parameters and whose type's it names.
struct Spelling<'a> {
    image: &'a Image,
    owner: Rid,
    method: Rid,
}

impl Spelling<'_> {
    fn spell(&self, sig: &TypeSig, depth: u32) -> Result<String, BadImage> {
        let inner = |sig: &TypeSig| self.spell(sig, depth);
        Ok(match sig {
            TypeSig::Prim(element) => keyword(*element).to_owned(),
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
        let name = match token.table() {
            TableId::TypeDef => self.image.type_def(token.rid())?.name,
            TableId::TypeRef => self.image.type_ref(token.rid())?.name,
            _ if depth < MAX_DEPTH => {
                let spec = self.image.type_spec(token.rid())?.signature;
                return self.spell(&parse_type_spec(self.image.blob(spec)?)?, depth + 1);
            }
            _ => return Ok("?".to_owned()),
        };
        Ok(self.image.string(name)?.to_owned())
    }

    fn parameter(&self, owner: Token, index: u32, prefix: &str) -> String {
        let mut rids = self.image.generic_params(owner).into_iter().flatten();
        let row = rids.find_map(|rid| self.image.generic_param(rid).ok().filter(|row| u32::from(row.number) == index));
        let name = row.and_then(|row| self.image.string(row.name).ok().map(str::to_owned));
        name.unwrap_or_else(|| format!("{prefix}{index}"))
    }
}

fn keyword(element: ElementType) -> &'static str {
    match element {
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
