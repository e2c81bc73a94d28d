//! Whether code of one method may name another method or field: ECMA-335 §I.8.5.3, §II.15.2, §II.22.2.
//!
//! Generic types and methods are judged by their definitions: access to the generic arguments is checked where the
//! instantiation is named. Members of arrays are public. A nested type has the access of its enclosing types. Friend
//! assemblies are those named by `InternalsVisibleToAttribute`. Left out: the rule that a family member may be reached
//! only through instances of the accessing class.

use crate::attributes::attribute_class;
use crate::domain::Assembly;
use crate::error::{LoadErrorKind, LoadResult};
use crate::field::Field;
use crate::identity::AssemblyName;
use crate::method::Method;
use crate::ty::{Ty, type_flags};
use saki_metadata::{TableId, Token};
use std::sync::atomic::Ordering;

/// The value of `[RuntimeCompatibility(WrapNonExceptionThrows = true)]`.
pub const WRAP_NON_EXCEPTIONS: &[u8] = b"\x01\x00\x01\x00\x54\x02\x16WrapNonExceptionThrows\x01";

/// Values of the access bits of fields and methods.
mod member_access {
    pub const COMPILER_CONTROLLED: u16 = 0;
    pub const PRIVATE: u16 = 1;
    pub const FAMILY_AND_ASSEMBLY: u16 = 2;
    pub const ASSEMBLY: u16 = 3;
    pub const FAMILY: u16 = 4;
    pub const FAMILY_OR_ASSEMBLY: u16 = 5;
    pub const MASK: u16 = 7;
}

/// Values of the visibility bits of types.
mod visibility {
    pub const NOT_PUBLIC: u32 = 0;
    pub const PUBLIC: u32 = 1;
    pub const NESTED_PUBLIC: u32 = 2;
    pub const NESTED_PRIVATE: u32 = 3;
    pub const NESTED_FAMILY: u32 = 4;
    pub const NESTED_ASSEMBLY: u32 = 5;
    pub const NESTED_FAMILY_AND_ASSEMBLY: u32 = 6;
}

/// Whether code in `from` may call `to`. Mono lets dynamic methods call everything.
///
/// # Errors
/// `BadImageFormat`; the errors of loading base classes.
pub fn can_call(from: &'static Method, to: &'static Method) -> LoadResult<bool> {
    Ok(from.owner == to.owner || from.is_dynamic() || member(from.owner, to.owner, to.flags)?)
}

/// Whether code in `from` may use `to`.
///
/// # Errors
/// `BadImageFormat`; the errors of loading base classes.
pub fn can_use_field(from: &'static Method, to: &'static Field) -> LoadResult<bool> {
    let Some(scope) = from.access_scope() else { return Ok(true) };
    Ok(scope == to.owner || member(scope, to.owner, to.flags)?)
}

/// The enclosing type of `ty`. None while a TypeBuilder has not finished it: such a type has no members that could
/// matter.
fn outer_of(ty: Ty) -> LoadResult<Option<Ty>> {
    match ty.enclosing_type() {
        Err(error) if error.kind == LoadErrorKind::UnfinishedType => Ok(None),
        found => found,
    }
}

fn definition(ty: Ty) -> Ty {
    ty.generic_definition().unwrap_or(ty)
}

fn member(from: Ty, owner: Ty, flags: u16) -> LoadResult<bool> {
    let (from, owner) = (definition(from), definition(owner));
    if from == owner {
        return Ok(true);
    }
    let access = flags & member_access::MASK;
    let mut at = Some(from);
    while let Some(ty) = at {
        if member_from(ty, owner, access)? {
            return from_nest(from, owner);
        }
        at = outer_of(ty)?;
    }
    Ok(false)
}

fn member_from(from: Ty, owner: Ty, access: u16) -> LoadResult<bool> {
    use member_access as m;
    Ok(match access {
        m::COMPILER_CONTROLLED => from.image() == owner.image(),
        m::PRIVATE => from == owner,
        m::FAMILY_AND_ASSEMBLY => is_family(from, owner)? && sees_internals(from, owner)?,
        m::ASSEMBLY => sees_internals(from, owner)?,
        m::FAMILY => is_family(from, owner)?,
        m::FAMILY_OR_ASSEMBLY => is_family(from, owner)? || sees_internals(from, owner)?,
        _ => true,
    })
}

/// Whether `from` or one of its enclosing types has access to the type `to`; both are definitions.
fn from_nest(from: Ty, to: Ty) -> LoadResult<bool> {
    let mut at = Some(from);
    while let Some(ty) = at {
        if can_name(ty, to)? {
            return Ok(true);
        }
        at = outer_of(ty)?;
    }
    Ok(false)
}

fn can_name(from: Ty, to: Ty) -> LoadResult<bool> {
    let Some(def) = to.def() else { return Ok(true) };
    if from == to || encloses(from, to)? {
        return Ok(true);
    }
    if let Some(outer) = outer_of(from)?
        && encloses(outer, to)?
    {
        return Ok(true);
    }
    let level = def.flags & type_flags::VISIBILITY_MASK;
    let outer = outer_of(to)?;
    let sees_outer = || match outer {
        Some(outer) => can_name(from, outer),
        None => Ok(false),
    };
    let is_family = || match outer {
        Some(outer) => is_family(from, outer),
        None => Ok(false),
    };
    use visibility as v;
    Ok(match level {
        v::NOT_PUBLIC => sees_internals(from, to)?,
        v::PUBLIC => true,
        v::NESTED_PUBLIC => sees_outer()?,
        v::NESTED_PRIVATE => encloses(to, from)? && sees_outer()?,
        v::NESTED_FAMILY => is_family()?,
        v::NESTED_ASSEMBLY => sees_internals(from, to)? && sees_outer()?,
        v::NESTED_FAMILY_AND_ASSEMBLY => sees_internals(from, to)? && is_family()?,
        _ => sees_internals(from, to)? || is_family()?,
    })
}

/// Whether `outer` is one of the enclosing types of `inner`.
fn encloses(outer: Ty, inner: Ty) -> LoadResult<bool> {
    let mut at = outer_of(inner)?;
    while let Some(ty) = at {
        if ty == outer {
            return Ok(true);
        }
        at = outer_of(ty)?;
    }
    Ok(false)
}

/// Whether `ty` is `ancestor`, derives from an instantiation of it, or implements one.
fn is_family(ty: Ty, ancestor: Ty) -> LoadResult<bool> {
    if ancestor.is_interface() {
        return Ok(definition(ty) == ancestor || ty.interfaces()?.iter().any(|&i| definition(i) == ancestor));
    }
    let mut at = Some(ty);
    while let Some(ty) = at {
        if definition(ty) == ancestor {
            return Ok(true);
        }
        at = ty.parent()?;
    }
    Ok(false)
}

fn sees_internals(from: Ty, to: Ty) -> LoadResult<bool> {
    let (from, to) = (from.image().assembly(), to.image().assembly());
    Ok(from == to || to.is_friend(from)? || from.is_unchecked_for(to)?)
}

impl Assembly {
    /// Whether `other` is a friend of this assembly (`InternalsVisibleToAttribute`).
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn is_friend(&'static self, other: &Assembly) -> LoadResult<bool> {
        let friends =
            self.friends.get(&|| self.name.to_string(), || names_in_attributes(self, INTERNALS_VISIBLE_TO))?;
        Ok(names(friends, other) || self.is_dynamic && names(&self.emitted.read().friends, other))
    }

    /// Whether code of this assembly uses the internals of `other` without being its friend.
    fn is_unchecked_for(&'static self, other: &Assembly) -> LoadResult<bool> {
        let unchecked =
            self.unchecked.get(&|| self.name.to_string(), || names_in_attributes(self, IGNORES_ACCESS_CHECKS_TO))?;
        Ok(names(unchecked, other) || self.is_dynamic && names(&self.emitted.read().unchecked, other))
    }

    /// Heeds an attribute of System.Runtime.CompilerServices that a program gives to an assembly which is made at run
    /// time: one that names a friend or an assembly whose internals it uses. Others change nothing.
    pub fn open_by_attribute(&self, class: &str, value: &[u8]) {
        let Some(name) = first_string(value).and_then(parse_friend) else { return };
        let mut parts = self.emitted.write();
        match class {
            INTERNALS_VISIBLE_TO => parts.friends.push(name),
            IGNORES_ACCESS_CHECKS_TO => parts.unchecked.push(name),
            _ => {}
        }
    }
}

impl Assembly {
    /// Whether objects that its code throws and that are not exceptions are wrapped in a RuntimeWrappedException:
    /// `[assembly: RuntimeCompatibility(WrapNonExceptionThrows = true)]`.
    pub fn wraps_thrown_objects(&'static self) -> bool {
        let image = self.image;
        // Relaxed: a flag of its own, set before code of the assembly runs.
        if self.is_dynamic {
            return self.wraps_thrown.load(Ordering::Relaxed);
        }
        image.meta.custom_attributes(Token::new(TableId::Assembly, 1)).flatten().any(|row| {
            let class = attribute_class(image.meta, row.constructor).ok().flatten();
            class == Some(("System.Runtime.CompilerServices", "RuntimeCompatibilityAttribute"))
                && image.meta.blob(row.value).is_ok_and(|blob| blob == WRAP_NON_EXCEPTIONS)
        })
    }
}

/// Attributes of System.Runtime.CompilerServices whose argument is the name of an assembly.
const INTERNALS_VISIBLE_TO: &str = "InternalsVisibleToAttribute";
const IGNORES_ACCESS_CHECKS_TO: &str = "IgnoresAccessChecksToAttribute";

/// Whether one of the names, whose key may be missing, is that of the assembly.
fn names(list: &[AssemblyName], assembly: &Assembly) -> bool {
    list.iter().any(|name| {
        name.name.eq_ignore_ascii_case(assembly.name)
            && (name.public_key_token.is_empty() || name.public_key_token == assembly.public_key_token)
    })
}

/// The assemblies that attributes of this class name.
fn names_in_attributes(assembly: &'static Assembly, class: &str) -> LoadResult<&'static [AssemblyName]> {
    let image = assembly.image;
    let mut friends = Vec::new();
    for row in image.meta.custom_attributes(Token::new(TableId::Assembly, 1)) {
        let row = row?;
        if attribute_class(image.meta, row.constructor)? != Some(("System.Runtime.CompilerServices", class)) {
            continue;
        }
        if let Some(text) = first_string(image.meta.blob(row.value)?)
            && let Some(name) = parse_friend(text)
        {
            friends.push(name);
        }
    }
    Ok(crate::collectible::keep_beside(assembly, friends))
}

/// The first argument of an attribute, a string. ECMA-335 §II.23.3.
fn first_string(blob: &[u8]) -> Option<&str> {
    let rest = blob.strip_prefix(&[1, 0])?;
    let (length, rest) = match *rest {
        [a, ref rest @ ..] if a < 0x80 => (usize::from(a), rest),
        [a, b, ref rest @ ..] if a < 0xc0 => (usize::from(a & 0x3f) << 8 | usize::from(b), rest),
        _ => return None,
    };
    std::str::from_utf8(rest.get(..length)?).ok()
}

/// A friend's name: an assembly name, but with the whole public key instead of its token.
fn parse_friend(text: &str) -> Option<AssemblyName> {
    let mut name = AssemblyName { name: text.split(',').next()?.trim().to_string(), ..AssemblyName::default() };
    for part in text.split(',').skip(1) {
        let (key, value) = part.split_once('=')?;
        if key.trim().eq_ignore_ascii_case("PublicKey") {
            let digits = value.trim();
            let bytes = (0..digits.len() / 2).map(|i| u8::from_str_radix(digits.get(2 * i..2 * i + 2)?, 16).ok());
            name.public_key_token = crate::identity::token_of_key(&bytes.collect::<Option<Vec<u8>>>()?);
        }
    }
    Some(name)
}

impl Method {
    /// As Mono's messages about access write a method: "Ns.Type.Method(int,string)".
    pub fn reflection_name(&'static self) -> String {
        let mut out = format!("{}.{}", self.owner.full_name(), self.name);
        if !self.generic_args().is_empty() {
            let args: Vec<String> = self.generic_args().iter().map(|arg| arg.full_name()).collect();
            out.push_str(&format!("[{}]", args.join(",")));
        }
        let params = self.sig().map(|sig| sig.params.iter().map(|p| p.signature_name()).collect::<Vec<_>>());
        format!("{out}({})", params.unwrap_or_default().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friends_are_named_with_or_without_key() {
        assert_eq!(first_string(b"\x01\x00\x03abc\x00\x00"), Some("abc"));
        assert_eq!(first_string(b"\x01\x00\xff"), None);
        let plain = parse_friend("Lib.Tests").expect("a name");
        assert_eq!((plain.name.as_str(), plain.public_key_token.len()), ("Lib.Tests", 0));
        let keyed = parse_friend("Lib, PublicKey=0024").expect("a name");
        assert_eq!((keyed.name.as_str(), keyed.public_key_token.len()), ("Lib", 8));
    }
}
