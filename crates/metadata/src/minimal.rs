//! The smallest image with an assembly identity: for assemblies made at run time. ECMA-335 §II.24, §II.25.
//!
//! It has rows in Module, TypeDef (the global type) and Assembly, and nothing else.

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

/// The metadata root with its streams.
fn metadata(assembly: &str, version: [u16; 4], culture: &str, module: &str) -> Vec<u8> {
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
    pad4(&mut strings);

    // All string indexes take 4 bytes, the others 2. §II.24.2.6.
    let mut tables = Vec::new();
    put32(&mut tables, 0);
    tables.extend([2, 0, 1, 1]);
    tables.extend((1u64 | 1 << 0x02 | 1 << 0x20).to_le_bytes());
    tables.extend(0u64.to_le_bytes());
    for _ in 0..3 {
        put32(&mut tables, 1);
    }
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
    // Assembly: SHA-1, version, flags, public key, name, culture.
    put32(&mut tables, 0x8004);
    version.iter().for_each(|&part| put16(&mut tables, part));
    put32(&mut tables, 0);
    put16(&mut tables, 0);
    put32(&mut tables, assembly);
    put32(&mut tables, culture);
    pad4(&mut tables);

    let streams: [(&[u8], Vec<u8>); 4] = [
        (b"#~\0\0", tables),
        (b"#Strings\0\0\0\0", strings),
        (b"#GUID\0\0\0", vec![0; 16]),
        (b"#Blob\0\0\0", vec![0; 4]),
    ];
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
pub fn minimal_image(assembly: &str, version: [u16; 4], culture: &str, module: &str) -> Vec<u8> {
    let metadata = metadata(assembly, version, culture, module);
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
    use super::minimal_image;
    use crate::{Image, TableId};

    #[test]
    fn opens_with_its_identity() {
        let bytes = minimal_image("Some.Name", [1, 2, 3, 4], "", "Main Module");
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
}
