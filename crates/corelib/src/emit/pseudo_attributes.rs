//! Attributes that are no attributes in metadata: .NET turns them into flags and rows of what they are given to, and
//! reflection shows them by these. ECMA-335 §II.21.2.1.

use super::tables::{Import, Tables, record_mut};
use rustc_hash::FxHashMap;
use saki_metadata::native_type::native;
use saki_metadata::writer::put_compressed;
use saki_metadata::{SigReader, TableId, Token};
use saki_types::LoadResult;

/// Flags of rows. ECMA-335 §II.23.1.
mod flags {
    pub(super) const TYPE_LAYOUT_MASK: u32 = 0x18;
    pub(super) const TYPE_SEQUENTIAL: u32 = 8;
    pub(super) const TYPE_EXPLICIT: u32 = 0x10;
    pub(super) const TYPE_CHARSET_MASK: u32 = 0x3_0000;
    pub(super) const TYPE_UNICODE: u32 = 0x1_0000;
    pub(super) const TYPE_AUTO_CHARSET: u32 = 0x2_0000;
    pub(super) const TYPE_SPECIAL_NAME: u32 = 0x400;
    pub(super) const TYPE_IMPORT: u32 = 0x1000;
    pub(super) const TYPE_SERIALIZABLE: u32 = 0x2000;
    pub(super) const FIELD_NOT_SERIALIZED: u32 = 0x80;
    pub(super) const MEMBER_SPECIAL_NAME: u32 = 0x200;
    pub(super) const METHOD_SPECIAL_NAME: u32 = 0x800;
    pub(super) const METHOD_PINVOKE: u32 = 0x2000;
    pub(super) const IMPL_PRESERVE_SIG: u32 = 0x80;
    pub(super) const IMPL_CODE_TYPE_MASK: u32 = 3;
    pub(super) const PARAM_IN: u32 = 1;
    pub(super) const PARAM_OUT: u32 = 2;
    pub(super) const PARAM_OPTIONAL: u32 = 0x10;
    pub(super) const IMPORT_EXACT_NAME: u32 = 1;
    pub(super) const IMPORT_ANSI: u32 = 2;
    pub(super) const IMPORT_UNICODE: u32 = 4;
    pub(super) const IMPORT_AUTO: u32 = 6;
    pub(super) const IMPORT_LAST_ERROR: u32 = 0x40;
    pub(super) const IMPORT_BEST_FIT_ON: u32 = 0x10;
    pub(super) const IMPORT_BEST_FIT_OFF: u32 = 0x20;
    pub(super) const IMPORT_UNMAPPABLE_ON: u32 = 0x1000;
    pub(super) const IMPORT_UNMAPPABLE_OFF: u32 = 0x2000;
}

/// A value in the blob of one of these attributes.
enum Value {
    Number(u32),
    Text(String),
}

/// The arguments of an attribute. ECMA-335 §II.23.3.
struct Arguments<'a> {
    rest: &'a [u8],
}

impl<'a> Arguments<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    /// A number of this size.
    fn number(&mut self, size_bytes: usize) -> Option<u32> {
        let bytes = self.bytes(size_bytes)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    /// A text; null is empty.
    fn text(&mut self) -> Option<String> {
        const NULL: u8 = 0xff;
        if self.rest.first() == Some(&NULL) {
            self.bytes(1)?;
            return Some(String::new());
        }
        let mut reader = SigReader::new(self.rest);
        let length = reader.read_compressed_u32().ok()?;
        self.bytes(reader.offset_bytes())?;
        self.bytes(length as usize).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The named arguments, which follow the others.
    fn named(&mut self) -> Option<FxHashMap<String, Value>> {
        const ENUM: u8 = 0x55;
        const STRING: u8 = 0x0e;
        const TYPE: u8 = 0x50;
        let count = self.number(2)?;
        let mut named = FxHashMap::default();
        for _ in 0..count {
            let [_, kind] = *self.bytes(2)? else { return None };
            if kind == ENUM {
                self.text()?;
            }
            let name = self.text()?;
            let value = match kind {
                STRING | TYPE => Value::Text(self.text()?),
                0x02 | 0x04 | 0x05 => Value::Number(self.number(1)?),
                0x06 | 0x07 => Value::Number(self.number(2)?),
                _ => Value::Number(self.number(4)?),
            };
            named.insert(name, value);
        }
        Some(named)
    }
}

fn number(named: &FxHashMap<String, Value>, name: &str) -> Option<u32> {
    match named.get(name)? {
        Value::Number(number) => Some(*number),
        Value::Text(_) => None,
    }
}

fn text(named: &FxHashMap<String, Value>, name: &str) -> Option<String> {
    match named.get(name)? {
        Value::Text(text) => Some(text.clone()),
        Value::Number(_) => None,
    }
}

/// The descriptor of a MarshalAsAttribute. ECMA-335 §II.23.4.
fn marshalling(kind: u32, named: &FxHashMap<String, Value>) -> Vec<u8> {
    const UNKNOWN_ELEMENT: u32 = 0x50;
    let mut out = vec![kind as u8];
    let mut put = |number: u32| put_compressed(&mut out, number);
    let size = number(named, "SizeConst");
    let element = number(named, "ArraySubType");
    match kind as u8 {
        native::BYVALTSTR => put(size.unwrap_or(0)),
        native::BYVALARRAY => {
            put(size.unwrap_or(1));
            if let Some(element) = element {
                put(element);
            }
        }
        native::LPARRAY => {
            let parameter = number(named, "SizeParamIndex");
            if element.is_some() || parameter.is_some() || size.is_some() {
                put(element.unwrap_or(UNKNOWN_ELEMENT));
            }
            if parameter.is_some() || size.is_some() {
                put(parameter.unwrap_or(0));
                put(size.unwrap_or(0));
                put(u32::from(parameter.is_some()));
            }
        }
        native::SAFEARRAY => {
            if let Some(element) = number(named, "SafeArraySubType") {
                put(element);
            }
        }
        native::CUSTOM => {
            let marshaller = text(named, "MarshalTypeRef").or_else(|| text(named, "MarshalType"));
            let cookie = text(named, "MarshalCookie").unwrap_or_default();
            for part in ["", "", &marshaller.unwrap_or_default(), &cookie] {
                put_compressed(&mut out, part.len() as u32);
                out.extend(part.as_bytes());
            }
        }
        _ => {
            if let Some(parameter) = number(named, "IidParameterIndex") {
                put(parameter);
            }
        }
    }
    out
}

fn import(library: String, named: &FxHashMap<String, Value>, method_name: &str) -> Import {
    const THIS_SYSTEM: u32 = 1;
    let mut bits = match number(named, "CharSet") {
        Some(2) => flags::IMPORT_ANSI,
        Some(3) => flags::IMPORT_UNICODE,
        Some(4) => flags::IMPORT_AUTO,
        _ => 0,
    };
    bits |= number(named, "CallingConvention").unwrap_or(THIS_SYSTEM) << 8;
    for (name, on, off) in [
        ("ExactSpelling", flags::IMPORT_EXACT_NAME, 0),
        ("SetLastError", flags::IMPORT_LAST_ERROR, 0),
        ("BestFitMapping", flags::IMPORT_BEST_FIT_ON, flags::IMPORT_BEST_FIT_OFF),
        ("ThrowOnUnmappableChar", flags::IMPORT_UNMAPPABLE_ON, flags::IMPORT_UNMAPPABLE_OFF),
    ] {
        match number(named, name) {
            Some(0) => bits |= off,
            Some(_) => bits |= on,
            None => {}
        }
    }
    let name = text(named, "EntryPoint").filter(|name| !name.is_empty());
    Import {
        library: library.into_boxed_str(),
        name: name.unwrap_or_else(|| method_name.to_string()),
        flags: bits as u16,
    }
}

/// The layout kind, which is the constructor's argument: an enum, or a 16-bit number.
fn layout_flags(kind: u32, named: &FxHashMap<String, Value>) -> u32 {
    const SEQUENTIAL: u32 = 0;
    const EXPLICIT: u32 = 2;
    let layout = match kind {
        SEQUENTIAL => flags::TYPE_SEQUENTIAL,
        EXPLICIT => flags::TYPE_EXPLICIT,
        _ => 0,
    };
    layout
        | match number(named, "CharSet") {
            Some(3) => flags::TYPE_UNICODE,
            Some(4) => flags::TYPE_AUTO_CHARSET,
            _ => 0,
        }
}

/// The first argument, a number, and the named ones.
fn number_and_named(mut arguments: Arguments, size_bytes: usize) -> Option<(u32, FxHashMap<String, Value>)> {
    Some((arguments.number(size_bytes)?, arguments.named()?))
}

impl Tables {
    /// Applies an attribute of this class. Returns whether it stands for something else than an attribute, so that it
    /// is not kept.
    ///
    /// # Errors
    /// `BadImageFormat`: the token names nothing.
    pub(super) fn apply_attribute(&mut self, of: Token, namespace: &str, class: &str, blob: &[u8]) -> LoadResult<bool> {
        const SYSTEM: &str = "System";
        const COMPILER: &str = "System.Runtime.CompilerServices";
        const INTEROP: &str = "System.Runtime.InteropServices";
        let Some(rest) = blob.strip_prefix(&[1, 0]) else { return Ok(false) };
        let mut arguments = Arguments { rest };
        // The constructors with one argument take an enum or a 16-bit number; two bytes count the named arguments.
        let wide = if rest.len() == 4 { 2 } else { 4 };
        let table = of.table();
        if (namespace, class) == (INTEROP, "MarshalAsAttribute") {
            if !matches!(table, TableId::Field | TableId::Param) {
                return Ok(false);
            }
            let Some((kind, named)) = number_and_named(arguments, wide) else { return Ok(false) };
            self.marshalling.insert(of, marshalling(kind, &named));
            return Ok(true);
        }
        match table {
            TableId::TypeDef => {
                let ty = record_mut(&mut self.types, of)?;
                ty.flags |= match (namespace, class) {
                    (SYSTEM, "SerializableAttribute") => flags::TYPE_SERIALIZABLE,
                    (INTEROP, "ComImportAttribute") => flags::TYPE_IMPORT,
                    (COMPILER, "SpecialNameAttribute") => flags::TYPE_SPECIAL_NAME,
                    (INTEROP, "StructLayoutAttribute") => {
                        let Some((kind, named)) = number_and_named(arguments, wide) else { return Ok(false) };
                        ty.flags &= !(flags::TYPE_LAYOUT_MASK | flags::TYPE_CHARSET_MASK);
                        let (packing, size) = (number(&named, "Pack"), number(&named, "Size"));
                        if packing.is_some() || size.is_some() {
                            ty.layout = Some((packing.unwrap_or(0), size.unwrap_or(0)));
                        }
                        layout_flags(kind, &named)
                    }
                    _ => return Ok(false),
                };
            }
            TableId::Field => {
                let field = record_mut(&mut self.fields, of)?;
                match (namespace, class) {
                    (SYSTEM, "NonSerializedAttribute") => field.flags |= flags::FIELD_NOT_SERIALIZED,
                    (COMPILER, "SpecialNameAttribute") => field.flags |= flags::MEMBER_SPECIAL_NAME,
                    (INTEROP, "FieldOffsetAttribute") => field.offset = arguments.number(4),
                    _ => return Ok(false),
                }
            }
            TableId::MethodDef => {
                let method = record_mut(&mut self.methods, of)?;
                match (namespace, class) {
                    (COMPILER, "SpecialNameAttribute") => method.flags |= flags::METHOD_SPECIAL_NAME,
                    (INTEROP, "PreserveSigAttribute") => method.impl_flags |= flags::IMPL_PRESERVE_SIG,
                    (COMPILER, "MethodImplAttribute") => {
                        let kind = if rest.len() == 2 { Some(0) } else { arguments.number(wide) };
                        let (Some(kind), Some(named)) = (kind, arguments.named()) else { return Ok(false) };
                        let code_type = number(&named, "MethodCodeType").unwrap_or(0) & flags::IMPL_CODE_TYPE_MASK;
                        method.impl_flags |= kind | code_type;
                    }
                    (INTEROP, "DllImportAttribute") => {
                        let (Some(library), Some(named)) = (arguments.text(), arguments.named()) else {
                            return Ok(false);
                        };
                        method.import = Some(import(library, &named, &method.name));
                        method.flags |= flags::METHOD_PINVOKE;
                        if number(&named, "PreserveSig") != Some(0) {
                            method.impl_flags |= flags::IMPL_PRESERVE_SIG;
                        }
                    }
                    _ => return Ok(false),
                }
            }
            TableId::Param => {
                record_mut(&mut self.params, of)?.flags |= match (namespace, class) {
                    (INTEROP, "InAttribute") => flags::PARAM_IN,
                    (INTEROP, "OutAttribute") => flags::PARAM_OUT,
                    (INTEROP, "OptionalAttribute") => flags::PARAM_OPTIONAL,
                    _ => return Ok(false),
                };
            }
            TableId::Property | TableId::Event if (namespace, class) == (COMPILER, "SpecialNameAttribute") => {
                let list = if table == TableId::Event { &mut self.events } else { &mut self.properties };
                record_mut(list, of)?.flags |= flags::MEMBER_SPECIAL_NAME;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
