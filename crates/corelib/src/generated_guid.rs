//! `Type.GUID`: the value of a type's GuidAttribute (`reflect::type_guid`), or without one a name-based UUID (RFC 4122
//! §4.3, MD5) in the runtime's name space.
//!
//! | type | the name that is hashed |
//! |---|---|
//! | class, struct, enum, delegate | full name in UTF-16, then the identity of the assembly as a type library |
//! | interface | full name in UTF-16, then the public members' signatures as text, each with its parameters' flags |
//!
//! Generic types have the number of their definition; arrays, pointers and type parameters have none. Invariant: the
//! numbers are those of .NET, so the oddities of its texts are kept: the version's major part stands in the minor one's
//! place, too, and the text of a field lacks its last letter.

use crate::type_handle::ty_of_table;
use saki_metadata::{Rid, TableId, Token};
use saki_reflect::type_guid::value_of_attribute;
use saki_runtime::object::type_objects;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place, ToManaged};
use saki_types::class::attribute_blob;
use saki_types::{Assembly, Image, LoadError, LoadResult, Ty, names::NameStyle};

/// The name space, as 16 bytes in network order.
const RUNTIME_NAMESPACE: [u8; 16] =
    [0x69, 0xf9, 0xcb, 0xc9, 0xda, 0x05, 0x11, 0xd1, 0x94, 0x08, 0x00, 0x00, 0xf8, 0x08, 0x34, 0x60];

/// Access bits of methods and fields, and their value for public ones. ECMA-335 §II.23.1.5, §II.23.1.10.
const ACCESS_MASK: u16 = 7;
const PUBLIC: u16 = 6;

/// The number of a type, in the order of `Guid.ToByteArray`; None: it has none.
///
/// # Errors
/// `BadImageFormat`.
fn generated_guid(ty: Ty) -> LoadResult<Option<[u8; 16]>> {
    let definition = ty.generic_definition().unwrap_or(ty);
    let Some(def) = definition.def() else { return Ok(None) };
    let mut name = utf16(&definition.name_in(NameStyle::Reflection));
    if definition.is_interface() {
        append_members(&mut name, def.image, def.rid)?;
    } else {
        append_type_library(&mut name, def.image.assembly())?;
    }
    // Whole UTF-16 units.
    if !name.len().is_multiple_of(2) {
        name.push(0);
    }
    Ok(Some(name_based(&name)))
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Version 3 of a UUID.
fn name_based(name: &[u8]) -> [u8; 16] {
    let mut bytes = md5::compute([&RUNTIME_NAMESPACE, name].concat()).0;
    bytes[6] = bytes[6] & 0x0f | 0x30;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    // From network order to that of `Guid.ToByteArray`.
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}

fn append_type_library(out: &mut Vec<u8>, assembly: &'static Assembly) -> LoadResult<()> {
    let lower = |unit: char| match unit {
        '.' | ' ' => '_',
        unit => unit.to_lowercase().next().unwrap_or(unit),
    };
    out.extend(utf16(&assembly.name.chars().map(lower).collect::<String>()));
    out.extend_from_slice(b"TypeLib");
    let [major, minor, build, revision] = assembly.version;
    for part in [major, major, build, revision] {
        out.extend(part.to_le_bytes());
    }
    if minor != 0 {
        out.extend(minor.to_le_bytes());
    }
    let meta = assembly.image.meta;
    if let Some(row) = meta.assembly() {
        out.extend_from_slice(meta.blob(row.public_key)?);
    }
    Ok(())
}

fn append_members(out: &mut Vec<u8>, image: &'static Image, type_def: Rid) -> LoadResult<()> {
    let meta = image.meta;
    for rid in meta.type_def_methods(type_def)? {
        let row = meta.method_def(rid)?;
        let signature = meta.blob(row.signature)?;
        let is_generic = signature.first().is_some_and(|convention| convention & GENERIC != 0);
        let token = Token::new(TableId::MethodDef, rid);
        if row.flags & ACCESS_MASK != PUBLIC || is_generic || is_hidden(image, token)? {
            continue;
        }
        out.extend(method_text(&|token| name_of(image, token), signature).into_bytes());
        for param in meta.method_params(rid)? {
            let row = meta.param(param)?;
            if row.sequence != 0 {
                out.push(row.flags as u8);
            }
        }
    }
    for rid in meta.type_def_fields(type_def)? {
        let row = meta.field(rid)?;
        if row.flags & ACCESS_MASK == PUBLIC && !is_hidden(image, Token::new(TableId::Field, rid))? {
            let signature = meta.blob(row.signature)?;
            // .NET drops the last letter of a field's text.
            let mut text = Cursor::new(&|token| name_of(image, token), signature.get(1..).unwrap_or_default()).ty();
            text.pop();
            out.extend(text.into_bytes());
        }
    }
    Ok(())
}

/// Whether the member has `[ComVisible (false)]`.
fn is_hidden(image: &'static Image, member: Token) -> LoadResult<bool> {
    let blob = attribute_blob(image, member, "System.Runtime.InteropServices", "ComVisibleAttribute")?;
    Ok(blob.is_some_and(|value| value.get(2) == Some(&0)))
}

/// Bits of a signature's first byte. ECMA-335 §II.23.2.1.
const GENERIC: u8 = 0x10;
const HAS_THIS: u8 = 0x20;
const CONVENTION_MASK: u8 = 0xf;

/// What is written for a calling convention.
const CONVENTIONS: [&str; 12] = [
    "",
    "unmanaged cdecl ",
    "unmanaged stdcall ",
    "unmanaged thiscall ",
    "unmanaged fastcall ",
    "vararg ",
    "<error> ",
    "<error> ",
    "",
    "",
    "",
    "native vararg ",
];

/// "instance void(class System.String,int32)".
fn method_text(name_of: &dyn Fn(Token) -> String, signature: &[u8]) -> String {
    Cursor::new(name_of, signature).method()
}

/// The name of a type, by a token of the module.
fn name_of(image: &Image, token: Token) -> String {
    let name = image.meta.type_name_of_token(token).map_err(LoadError::from);
    name.map_or_else(|_| String::new(), |(namespace, name)| saki_types::identity::qualified(namespace, name))
}

/// Types that may lie in one another in a signature; deeper ones are left out.
const MAX_DEPTH: u32 = 200;
/// Dimensions of an array that .NET loads.
const MAX_RANK: u32 = 32;

/// The rest of a signature, which is written as it is read: what cannot be read is left out.
struct Cursor<'a> {
    name_of: &'a dyn Fn(Token) -> String,
    rest: &'a [u8],
    /// Types around the one being read.
    depth: u32,
}

impl<'a> Cursor<'a> {
    fn new(name_of: &'a dyn Fn(Token) -> String, signature: &'a [u8]) -> Cursor<'a> {
        Cursor { name_of, rest: signature, depth: 0 }
    }

    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        first
    }

    /// A compressed number. ECMA-335 §II.23.2.
    fn number(&mut self) -> u32 {
        let first = u32::from(self.byte());
        match first >> 5 {
            0..=3 => first,
            4 | 5 => (first & 0x3f) << 8 | u32::from(self.byte()),
            _ => (0..3).fold(first & 0x1f, |number, _| number << 8 | u32::from(self.byte())),
        }
    }

    fn method(&mut self) -> String {
        let mut out = String::new();
        let convention = self.byte();
        if convention & HAS_THIS != 0 {
            out.push_str("instance ");
        }
        if convention & GENERIC != 0 {
            out.push_str("generic ");
            self.number();
        }
        out.push_str(CONVENTIONS.get(usize::from(convention & CONVENTION_MASK)).copied().unwrap_or_default());
        let count = self.number();
        out.push_str(&self.ty());
        out.push('(');
        out.push_str(&self.list(count));
        out.push(')');
        out
    }

    fn list(&mut self, count: u32) -> String {
        let mut items = Vec::new();
        for _ in 0..count {
            if self.rest.is_empty() {
                break;
            }
            items.push(self.ty());
        }
        items.join(",")
    }

    fn ty(&mut self) -> String {
        if self.depth == MAX_DEPTH {
            self.rest = &[];
            return String::new();
        }
        self.depth += 1;
        let text = self.ty_inside();
        self.depth -= 1;
        text
    }

    fn ty_inside(&mut self) -> String {
        match self.byte() {
            0x01 => "void".to_owned(),
            0x02 => "bool".to_owned(),
            0x03 => "wchar".to_owned(),
            0x04 => "int8".to_owned(),
            0x05 => "unsigned int8".to_owned(),
            0x06 => "int16".to_owned(),
            0x07 => "unsigned int16".to_owned(),
            0x08 => "int32".to_owned(),
            0x09 => "unsigned int32".to_owned(),
            0x0a => "int64".to_owned(),
            0x0b => "unsigned int64".to_owned(),
            0x0c => "float32".to_owned(),
            0x0d => "float64".to_owned(),
            0x0e => "class System.String".to_owned(),
            0x0f => self.ty() + "*",
            0x10 => self.ty() + "&",
            0x11 => format!("value class {}", self.named()),
            0x12 => format!("class {}", self.named()),
            0x13 => format!("!{}", self.number()),
            0x14 => self.array(),
            0x15 => {
                let definition = self.ty();
                let count = self.number();
                format!("{definition}<{}>", self.list(count))
            }
            0x16 => "refany".to_owned(),
            0x18 => "int".to_owned(),
            0x19 => "unsigned int".to_owned(),
            0x1b => format!("fnptr {}", self.method()),
            0x1c => "class System.Object".to_owned(),
            0x1d => self.ty() + "[]",
            0x1e => format!("!!{}", self.number()),
            0x1f => format!("required_modifier {} {}", self.named(), self.ty()),
            0x20 => format!("optional_modifier {} {}", self.named(), self.ty()),
            0x45 => self.ty() + " pinned",
            _ => String::new(),
        }
    }

    /// The name of a TypeDefOrRefOrSpecEncoded. ECMA-335 §II.23.2.8.
    fn named(&mut self) -> String {
        const TABLES: [TableId; 3] = [TableId::TypeDef, TableId::TypeRef, TableId::TypeSpec];
        let coded = self.number();
        let Some(&table) = TABLES.get(coded as usize & 3) else { return String::new() };
        (self.name_of)(Token::new(table, coded >> 2))
    }

    fn array(&mut self) -> String {
        let element = self.ty();
        let rank = self.number();
        if rank == 0 || rank > MAX_RANK {
            return element + "[??]";
        }
        let mut numbers = |count: u32| (0..count.min(rank)).map(|_| self.number()).collect::<Vec<_>>();
        let count = numbers(1).first().copied().unwrap_or_default();
        let sizes = numbers(count);
        let count = numbers(1).first().copied().unwrap_or_default();
        let lower_bounds = numbers(count);
        let dimension = |index: usize| match (sizes.get(index).copied(), lower_bounds.get(index).copied()) {
            (Some(size @ 1..), Some(bound @ 1..)) => format!("{bound}...{}", bound + size + 1),
            _ => String::new(),
        };
        format!("{element}[{}]", (0..rank as usize).map(dimension).collect::<Vec<_>>().join(","))
    }
}

/// The value of the attribute, or the number that follows from the type's name.
fn guid_of(t: CurrentThread, object: Option<Obj>) -> Managed<Option<[u8; 16]>> {
    if let Some(bytes) = value_of_attribute(t, object)? {
        return Ok(Some(bytes));
    }
    match object.and_then(type_objects::type_of_object) {
        Some(ty) => generated_guid(ty).to_managed(t),
        None => Ok(None),
    }
}

/// Of a type without a number the result stays 0, as the caller has set it.
fn get_guid(t: CurrentThread, ty: Option<Obj>, result: Place<[u8; 16]>) -> Managed<()> {
    if let Some(bytes) = guid_of(t, ty)? {
        result.set(bytes);
    }
    Ok(())
}

/// The same call of .NET 10.
fn guid_of_table(t: CurrentThread, table: *const (), result: *mut [u8; 16]) -> Managed<()> {
    let object = Obj::of_type(t, ty_of_table(table))?;
    if let Some(bytes) = guid_of(t, Some(object))? {
        // SAFETY: managed code passes the address of a Guid, which lives as long as the call.
        unsafe { result.write(bytes) };
    }
    Ok(())
}

/// The internal calls for `Type.GUID`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.RuntimeType::GetGUID", &get_guid),
    InternalCall::new("@net10 QCall::ReflectionInvocation_GetGuid", &guid_of_table),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn text(signature: &[u8]) -> String {
        method_text(&|token| format!("{token:?}"), signature)
    }

    #[test]
    fn signatures_are_written_as_net_writes_them() {
        assert_eq!(text(&[0x20, 2, 0x01, 0x0e, 0x08]), "instance void(class System.String,int32)");
        assert_eq!(text(&[0x00, 1, 0x08, 0x1d, 0x10, 0x1c]), "int32(class System.Object&[])");
        assert_eq!(text(&[0x00, 0, 0x14, 0x08, 2, 0, 0]), "int32[,]()");
    }

    #[test]
    fn malformed_signatures_end() {
        let mut nested = vec![0x00, 0];
        nested.resize(1 << 20, 0x1d);
        assert_eq!(text(&nested).len(), 2 * MAX_DEPTH as usize + 2);
        // A rank of 2²⁹ - 1.
        assert_eq!(text(&[0x00, 0, 0x14, 0x08, 0xdf, 0xff, 0xff, 0xff]), "int32[??]()");
    }
}
