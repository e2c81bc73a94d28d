//! The smallest image with an assembly identity: for assemblies made at run time. ECMA-335 §II.24, §II.25.
//!
//! It has rows in Module, TypeDef (the global type, perhaps one more), MethodDef and Assembly, and nothing else.

const FILE_ALIGNMENT: u32 = 0x200;
const SECTION_RVA: u32 = 0x2000;
const CLI_HEADER_BYTES: u32 = 72;
/// Offset of the PE signature; the DOS header holds nothing but its own mark and this.
const PE_OFFSET: u32 = 0x40;
const OPTIONAL_HEADER_BYTES: u16 = 224;

fn put16(out: &mut Vec<u8>, value: u16) {
    out.extend(value.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_le_bytes());
}

fn pad4(bytes: &mut Vec<u8>) {
    bytes.resize((bytes.len() + 3) & !3, 0);
}

/// A type without fields whose methods have no code.
#[derive(Default)]
pub struct MinimalType {
    pub name: String,
    pub namespace: String,
    pub flags: u32,
    /// It extends the type of TypeSpec row 1, which the image lacks: the reader knows what that and other rows mean.
    pub methods: Vec<MinimalMethod>,
}

/// A method of a `MinimalType`.
pub struct MinimalMethod {
    pub name: String,
    pub flags: u16,
    pub impl_flags: u16,
    /// The signature blob without its length.
    pub signature: Vec<u8>,
}

/// An unsigned number as blobs hold it, below 2²⁹. ECMA-335 §II.23.2.
pub fn put_compressed(out: &mut Vec<u8>, value: u32) {
    match value {
        0..0x80 => out.push(value as u8),
        0x80..0x4000 => out.extend((value as u16 | 0x8000).to_be_bytes()),
        _ => out.extend((value | 0xc000_0000).to_be_bytes()),
    }
}

/// The metadata root with its streams.
fn metadata(assembly: &str, version: [u16; 4], culture: &str, module: &str, ty: Option<&MinimalType>) -> Vec<u8> {
    let mut strings = vec![0];
    let mut name = |text: &str| -> u32 {
        if text.is_empty() {
            return 0;
        }
        let at = strings.len() as u32;
        strings.extend(text.bytes().filter(|&byte| byte != 0));
        strings.push(0);
        at
    };
    let (module, global, assembly, culture) = (name(module), name("<Module>"), name(assembly), name(culture));
    let type_names = ty.map(|ty| (name(&ty.name), name(&ty.namespace)));
    let methods: &[MinimalMethod] = ty.map_or(&[], |ty| &ty.methods);
    let method_names: Vec<u32> = methods.iter().map(|method| name(&method.name)).collect();
    pad4(&mut strings);
    let mut blobs = vec![0];
    let mut signatures = Vec::new();
    for method in methods {
        signatures.push(blobs.len() as u32);
        put_compressed(&mut blobs, method.signature.len() as u32);
        blobs.extend(&method.signature);
    }
    pad4(&mut blobs);

    // String and blob indexes take 4 bytes, the others 2. §II.24.2.6.
    let mut tables = Vec::new();
    put32(&mut tables, 0);
    tables.extend([2, 0, 1 | 4, 1]);
    let has_methods = u64::from(!methods.is_empty());
    tables.extend((1u64 | 1 << 0x02 | has_methods << 0x06 | 1 << 0x20).to_le_bytes());
    tables.extend(0u64.to_le_bytes());
    put32(&mut tables, 1);
    put32(&mut tables, 1 + u32::from(ty.is_some()));
    if !methods.is_empty() {
        put32(&mut tables, methods.len() as u32);
    }
    put32(&mut tables, 1);
    // Module: generation, name, mvid, two more GUIDs.
    put16(&mut tables, 0);
    put32(&mut tables, module);
    for guid in [1, 0, 0] {
        put16(&mut tables, guid);
    }
    // TypeDef: flags, name, namespace, extends, first field, first method.
    put32(&mut tables, 0);
    put32(&mut tables, global);
    put32(&mut tables, 0);
    for index in [0, 1, 1] {
        put16(&mut tables, index);
    }
    if let (Some(ty), Some((name, namespace))) = (ty, type_names) {
        for word in [ty.flags, name, namespace] {
            put32(&mut tables, word);
        }
        // Extends TypeSpec 1: a coded index with tag 2.
        for index in [1 << 2 | 2, 1, 1] {
            put16(&mut tables, index);
        }
    }
    // MethodDef: no address, flags, name, signature, first parameter.
    for ((method, name), signature) in methods.iter().zip(method_names).zip(signatures) {
        put32(&mut tables, 0);
        put16(&mut tables, method.impl_flags);
        put16(&mut tables, method.flags);
        put32(&mut tables, name);
        put32(&mut tables, signature);
        put16(&mut tables, 1);
    }
    // Assembly: SHA-1, version, flags, public key, name, culture.
    put32(&mut tables, 0x8004);
    version.iter().for_each(|&part| put16(&mut tables, part));
    put32(&mut tables, 0);
    put32(&mut tables, 0);
    put32(&mut tables, assembly);
    put32(&mut tables, culture);
    pad4(&mut tables);

    let streams: [(&[u8], Vec<u8>); 4] =
        [(b"#~\0\0", tables), (b"#Strings\0\0\0\0", strings), (b"#GUID\0\0\0", vec![0; 16]), (b"#Blob\0\0\0", blobs)];
    let mut out = Vec::from(*b"BSJB\x01\0\x01\0\0\0\0\0\x0c\0\0\0v4.0.30319\0\0\0\0");
    put16(&mut out, streams.len() as u16);
    let headers_bytes: usize = streams.iter().map(|(name, _)| 8 + name.len()).sum();
    let mut offset = out.len() + headers_bytes;
    for (name, content) in &streams {
        put32(&mut out, offset as u32);
        put32(&mut out, content.len() as u32);
        out.extend(*name);
        offset += content.len();
    }
    streams.iter().for_each(|(_, content)| out.extend(content));
    out
}

/// A PE file of the assembly with a module of this name. NUL characters in names are left out.
pub fn minimal_image(
    assembly: &str,
    version: [u16; 4],
    culture: &str,
    module: &str,
    ty: Option<&MinimalType>,
) -> Vec<u8> {
    let metadata = metadata(assembly, version, culture, module, ty);
    let content_bytes = CLI_HEADER_BYTES + metadata.len() as u32;
    let mut out = vec![0; PE_OFFSET as usize];
    out[..2].copy_from_slice(b"MZ");
    out[0x3c..0x40].copy_from_slice(&PE_OFFSET.to_le_bytes());
    out.extend(b"PE\0\0");
    // Machine i386 (any), one section, a 32-bit library.
    for half in [0x14c, 1, 0, 0, 0, 0, 0, 0, OPTIONAL_HEADER_BYTES, 0x2102] {
        put16(&mut out, half);
    }
    let optional = out.len();
    out.resize(optional + usize::from(OPTIONAL_HEADER_BYTES), 0);
    let mut field = |offset: usize, value: u32| {
        out[optional + offset..optional + offset + 4].copy_from_slice(&value.to_le_bytes());
    };
    field(0, 0x10b);
    field(28, 0x40_0000);
    field(32, SECTION_RVA);
    field(36, FILE_ALIGNMENT);
    field(68, 3);
    field(92, 16);
    // Data directory 14: the CLI header.
    field(96 + 14 * 8, SECTION_RVA);
    field(96 + 14 * 8 + 4, CLI_HEADER_BYTES);
    out.extend(b".text\0\0\0");
    let raw_bytes = content_bytes.next_multiple_of(FILE_ALIGNMENT);
    for word in [content_bytes, SECTION_RVA, raw_bytes, FILE_ALIGNMENT, 0, 0, 0, 0x6000_0020] {
        put32(&mut out, word);
    }
    out.resize(FILE_ALIGNMENT as usize, 0);
    // CLI header: size, runtime 2.5, metadata, IL only. §II.25.3.3.
    let cli = out.len();
    for word in [CLI_HEADER_BYTES, 5 << 16 | 2, SECTION_RVA + CLI_HEADER_BYTES, metadata.len() as u32, 1] {
        put32(&mut out, word);
    }
    out.resize(cli + CLI_HEADER_BYTES as usize, 0);
    out.extend(metadata);
    out.resize((FILE_ALIGNMENT + raw_bytes) as usize, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::{MinimalMethod, MinimalType, minimal_image};
    use crate::{Image, TableId, Token};

    #[test]
    fn opens_with_its_identity() {
        let bytes = minimal_image("Some.Name", [1, 2, 3, 4], "", "Main Module", None);
        let image = Image::from_bytes("x".to_string(), bytes).expect("valid");
        let row = image.assembly().expect("an assembly row");
        assert_eq!(image.string(row.name), Ok("Some.Name"));
        assert_eq!((row.major_version, row.revision_number), (1, 4));
        let module = image.module().expect("a module row");
        assert_eq!(image.string(module.name), Ok("Main Module"));
        assert_eq!(image.row_count(TableId::TypeDef), 1);
        let global = image.type_def(1).expect("the global type");
        assert_eq!(image.string(global.name), Ok("<Module>"));
    }

    #[test]
    fn has_its_type() {
        let method = MinimalMethod { name: "Invoke".to_string(), flags: 6, impl_flags: 3, signature: vec![0x20, 0, 1] };
        let ty = MinimalType { name: "D".to_string(), flags: 0x101, methods: vec![method], ..Default::default() };
        let bytes = minimal_image("A", [0; 4], "", "M", Some(&ty));
        let image = Image::from_bytes("x".to_string(), bytes).expect("valid");
        assert_eq!(image.find_type_def("", "D", None), Some(2));
        assert_eq!(image.type_def(2).map(|row| row.extends), Ok(Token::new(TableId::TypeSpec, 1)));
        assert_eq!(image.type_def_methods(2), Ok(1..2));
        let row = image.method_def(1).expect("a row");
        assert_eq!((image.string(row.name), image.blob(row.signature)), (Ok("Invoke"), Ok(&[0x20, 0, 1][..])));
        assert_eq!(image.assembly().map(|row| row.major_version), Some(0));
    }
}
