//! The PE file: a `.text` section with everything but native resources, the import of `mscoree.dll` that Windows wants,
//! and relocations for it.
//! ECMA-335 §II.25.

use super::bodies::{BodySpec, put_body};
use super::native_resources::{self, NativeResource};
use super::{Heaps, TableWriter, pad, put16, put32};
use crate::token::Token;

/// Alignment of sections in the file, as operating systems require.
const FILE_ALIGNMENT: u32 = 0x200;
const SECTION_ALIGNMENT: u32 = 0x2000;
const TEXT_RVA: u32 = SECTION_ALIGNMENT;
const CLI_HEADER_BYTES: u32 = 72;
/// The import address table comes first, as old loaders expect: one entry and the terminator.
const IMPORT_ADDRESSES_BYTES: u32 = 8;
/// Where the section's own content begins.
const CONTENT_RVA: u32 = TEXT_RVA + IMPORT_ADDRESSES_BYTES + CLI_HEADER_BYTES;
/// Offset of the PE signature; the DOS header holds only its own signature and this offset.
const PE_OFFSET: u32 = 0x40;
const OPTIONAL_HEADER_BYTES: u16 = 224;
const IMAGE_BASE: u32 = 0x40_0000;

/// Resources, metadata and the like begin at multiples of this many bytes.
const PART_ALIGNMENT: usize = 4;

/// Appends a part of the section and returns its RVA and size; RVA 0 for an empty part.
fn append(text: &mut Vec<u8>, part: &[u8]) -> (u32, u32) {
    pad(text, PART_ALIGNMENT);
    let rva = if part.is_empty() { 0 } else { CONTENT_RVA + text.len() as u32 };
    text.extend(part);
    (rva, part.len() as u32)
}

/// Facts about the file as a whole.
pub struct ImageSpec {
    pub is_library: bool,
    /// 2 = windows program, 3 = console program.
    pub subsystem: u16,
    /// MethodDef or File; nil for a library.
    pub entry_point: Token,
    /// Flags of the CLI header: 1 = CIL only, 2 = 32-bit.
    pub cli_flags: u32,
    /// Managed resources: for each its length and its bytes (§II.24.2.4).
    pub resources: Vec<u8>,
    /// Windows resources, in a section of their own.
    pub native_resources: Vec<NativeResource>,
    /// Room for a strong-name signature, in bytes.
    pub signature_bytes: u32,
    /// `v4.0.30319` and the like.
    pub version: String,
}

impl Default for ImageSpec {
    fn default() -> Self {
        ImageSpec {
            is_library: true,
            subsystem: 3,
            entry_point: Token::NIL,
            cli_flags: 1,
            resources: Vec::new(),
            native_resources: Vec::new(),
            signature_bytes: 0,
            version: "v4.0.30319".to_string(),
        }
    }
}

/// An image under construction.
#[derive(Default)]
pub struct ImageWriter {
    pub tables: TableWriter,
    pub heaps: Heaps,
    /// Bodies and initial values, from `CONTENT_RVA` on.
    content: Vec<u8>,
}

impl ImageWriter {
    /// Adds a method body and returns its RVA.
    pub fn body(&mut self, body: &BodySpec) -> u32 {
        CONTENT_RVA + put_body(&mut self.content, body) as u32
    }

    /// Adds the initial value of a static field and returns its RVA.
    pub fn field_data(&mut self, data: &[u8]) -> u32 {
        const ALIGNMENT: usize = 8;
        pad(&mut self.content, ALIGNMENT);
        let at = self.content.len() as u32;
        self.content.extend(data);
        CONTENT_RVA + at
    }

    /// The metadata root with its streams. §II.24.2.1.
    fn metadata(tables: TableWriter, heaps: Heaps, version: &str) -> Vec<u8> {
        let streams: [(&[u8], Vec<u8>); 5] = [
            (b"#~\0\0", tables.finish(&heaps)),
            (b"#Strings\0\0\0\0", heaps.strings),
            (b"#US\0", heaps.user_strings),
            (b"#GUID\0\0\0", heaps.guids),
            (b"#Blob\0\0\0", heaps.blobs),
        ];
        let mut out = Vec::from(*b"BSJB\x01\0\x01\0\0\0\0\0");
        let mut version = version.as_bytes().to_vec();
        version.push(0);
        pad(&mut version, 4);
        put32(&mut out, version.len() as u32);
        out.extend(version);
        put16(&mut out, 0);
        put16(&mut out, streams.len() as u16);
        let headers_bytes: usize = streams.iter().map(|(name, _)| 8 + name.len()).sum();
        let mut offset = out.len() + headers_bytes;
        for (name, content) in &streams {
            let size = content.len().next_multiple_of(4);
            put32(&mut out, offset as u32);
            put32(&mut out, size as u32);
            out.extend(*name);
            offset += size;
        }
        for (_, content) in streams {
            out.extend(content);
            pad(&mut out, 4);
        }
        out
    }

    /// An image that stays in memory, for `Image::from_bytes`: without the parts that only operating systems' loaders
    /// read, and without gaps.
    pub fn finish_for_loader(self) -> Vec<u8> {
        let mut image = self.write(&ImageSpec::default(), false);
        image.shrink_to_fit();
        image
    }

    /// The file.
    pub fn finish(self, spec: &ImageSpec) -> Vec<u8> {
        self.write(spec, true)
    }

    fn write(self, spec: &ImageSpec, is_file: bool) -> Vec<u8> {
        let ImageWriter { tables, heaps, content } = self;
        let mut text = content;
        let resources = append(&mut text, &spec.resources);
        let signature = append(&mut text, &vec![0; spec.signature_bytes as usize]);
        let metadata = append(&mut text, &Self::metadata(tables, heaps, &spec.version));
        pad(&mut text, PART_ALIGNMENT);
        let imports_rva = CONTENT_RVA + text.len() as u32;
        let imports = if is_file { Imports::new(imports_rva, spec.is_library) } else { Imports::default() };
        append(&mut text, &imports.bytes);

        let mut section = Vec::new();
        put32(&mut section, imports.name_rva);
        put32(&mut section, 0);
        // CLI header: size, runtime 2.5, metadata, flags, entry point, resources, strong name. §II.25.3.3.
        let cli = section.len();
        for word in [CLI_HEADER_BYTES, 5 << 16 | 2, metadata.0, metadata.1, spec.cli_flags, spec.entry_point.0] {
            put32(&mut section, word);
        }
        for word in [resources.0, resources.1, signature.0, signature.1] {
            put32(&mut section, word);
        }
        section.resize(cli + CLI_HEADER_BYTES as usize, 0);
        section.extend(text);
        let reloc = if is_file { relocations(imports.stub_rva + 2) } else { Vec::new() };
        let file_alignment = if is_file { FILE_ALIGNMENT } else { PART_ALIGNMENT as u32 };
        Self::file(spec, &section, &imports, &reloc, file_alignment)
    }

    /// Headers and sections.
    fn file(spec: &ImageSpec, text: &[u8], imports: &Imports, reloc: &[u8], file_alignment: u32) -> Vec<u8> {
        const I386: u16 = 0x14c;
        const CODE: u32 = 0x6000_0020;
        const READABLE_DATA: u32 = 0x4000_0040;
        const DISCARDABLE_DATA: u32 = 0x4200_0040;
        const SECTION_HEADER_BYTES: usize = 40;
        let characteristics = if spec.is_library { 0x2102 } else { 0x0102 };
        let after = |rva: u32, content: &[u8]| rva + (content.len() as u32).next_multiple_of(SECTION_ALIGNMENT);
        let resources_rva = after(TEXT_RVA, text);
        let resources = match &spec.native_resources[..] {
            [] => Vec::new(),
            list => native_resources::section(list, resources_rva),
        };
        let reloc_rva = after(resources_rva, &resources);
        let sections: [(&[u8; 8], &[u8], u32, u32); 3] = [
            (b".text\0\0\0", text, TEXT_RVA, CODE),
            (b".rsrc\0\0\0", &resources, resources_rva, READABLE_DATA),
            (b".reloc\0\0", reloc, reloc_rva, DISCARDABLE_DATA),
        ];
        let sections = || sections.iter().filter(|(_, content, ..)| !content.is_empty());
        let raw_bytes = |content: &[u8]| (content.len() as u32).next_multiple_of(file_alignment);
        let mut out = vec![0; PE_OFFSET as usize];
        out[..2].copy_from_slice(b"MZ");
        out[0x3c..0x40].copy_from_slice(&PE_OFFSET.to_le_bytes());
        out.extend(b"PE\0\0");
        for half in [I386, sections().count() as u16, 0, 0, 0, 0, 0, 0, OPTIONAL_HEADER_BYTES, characteristics] {
            put16(&mut out, half);
        }
        let optional = out.len();
        out.resize(optional + usize::from(OPTIONAL_HEADER_BYTES), 0);
        let headers_bytes = (out.len() + sections().count() * SECTION_HEADER_BYTES) as u32;
        let headers_bytes = headers_bytes.next_multiple_of(file_alignment);
        let mut field = |offset: usize, value: u32| {
            out[optional + offset..optional + offset + 4].copy_from_slice(&value.to_le_bytes());
        };
        // Magic and linker version 8.0; sizes of code and data; entry point; bases. §II.25.2.3.1.
        field(0, 0x0008_010b);
        field(4, raw_bytes(text));
        field(8, raw_bytes(&resources) + raw_bytes(reloc));
        field(16, imports.stub_rva);
        field(20, TEXT_RVA);
        field(24, resources_rva);
        field(28, IMAGE_BASE);
        field(32, SECTION_ALIGNMENT);
        field(36, file_alignment);
        // Versions of the system and subsystem: 4.0.
        field(40, 4);
        field(48, 4);
        field(56, after(reloc_rva, reloc));
        field(60, headers_bytes);
        field(68, u32::from(spec.subsystem) | 0x8540 << 16);
        for (offset, size) in [(72, 0x10_0000), (76, 0x1000), (80, 0x10_0000), (84, 0x1000), (92, 16)] {
            field(offset, size);
        }
        let mut directory = |number: usize, rva: u32, size: u32| {
            field(96 + number * 8, rva);
            field(96 + number * 8 + 4, size);
        };
        directory(1, imports.rva, imports.directory_bytes);
        if !resources.is_empty() {
            directory(2, resources_rva, resources.len() as u32);
        }
        directory(5, reloc_rva, reloc.len() as u32);
        directory(12, TEXT_RVA, IMPORT_ADDRESSES_BYTES);
        directory(14, TEXT_RVA + IMPORT_ADDRESSES_BYTES, CLI_HEADER_BYTES);
        let mut raw_at = headers_bytes;
        for (name, content, rva, characteristics) in sections() {
            out.extend(*name);
            let raw = raw_bytes(content);
            for word in [content.len() as u32, *rva, raw, raw_at, 0, 0, 0, *characteristics] {
                put32(&mut out, word);
            }
            raw_at += raw;
        }
        for (_, content, ..) in sections() {
            pad(&mut out, file_alignment as usize);
            out.extend(*content);
        }
        pad(&mut out, file_alignment as usize);
        out
    }
}

/// The import table for `mscoree.dll` and the jump to it. §II.25.3.1. Empty by default.
#[derive(Default)]
struct Imports {
    rva: u32,
    bytes: Vec<u8>,
    directory_bytes: u32,
    /// Hint and name of the imported function.
    name_rva: u32,
    stub_rva: u32,
}

impl Imports {
    fn new(rva: u32, is_library: bool) -> Imports {
        /// One descriptor and the empty descriptor that ends the list.
        const DESCRIPTORS_BYTES: u32 = 40;
        let function: &[u8] = if is_library { b"_CorDllMain\0" } else { b"_CorExeMain\0" };
        let lookup_rva = rva + DESCRIPTORS_BYTES;
        let name_rva = lookup_rva + 8;
        let library_rva = name_rva + 2 + function.len() as u32;
        let mut bytes = Vec::new();
        for word in [lookup_rva, 0, 0, library_rva, TEXT_RVA] {
            put32(&mut bytes, word);
        }
        bytes.resize(DESCRIPTORS_BYTES as usize, 0);
        put32(&mut bytes, name_rva);
        put32(&mut bytes, 0);
        put16(&mut bytes, 0);
        bytes.extend(function);
        bytes.extend(b"mscoree.dll\0");
        let directory_bytes = bytes.len() as u32;
        // `jmp [import address]`, its operand aligned.
        bytes.resize(bytes.len().next_multiple_of(4) + 2, 0);
        let stub_rva = rva + bytes.len() as u32;
        bytes.extend([0xff, 0x25]);
        put32(&mut bytes, IMAGE_BASE + TEXT_RVA);
        Imports { rva, bytes, directory_bytes, name_rva, stub_rva }
    }
}

/// One 32-bit address to relocate. §II.25.3.2.
fn relocations(rva: u32) -> Vec<u8> {
    const PAGE: u32 = 0x1000;
    const BLOCK_BYTES: u32 = 12;
    let mut out = Vec::new();
    put32(&mut out, rva & !(PAGE - 1));
    put32(&mut out, BLOCK_BYTES);
    put16(&mut out, 3 << 12 | (rva & (PAGE - 1)) as u16);
    put16(&mut out, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::{BodySpec, ImageSpec, ImageWriter};
    use crate::{EhClause, EhKind, Image, TableId, Token};

    /// Adds the rows that every module has.
    fn module(writer: &mut ImageWriter) {
        let name = writer.heaps.string("m.dll").0;
        let mvid = writer.heaps.guid([7; 16]).0;
        writer.tables.add(TableId::Module, &[0, name, mvid, 0, 0]);
        let global = writer.heaps.string("<Module>").0;
        writer.tables.add(TableId::TypeDef, &[0, global, 0, 0, 1, 1]);
    }

    #[test]
    fn reads_back_what_was_written() {
        let mut writer = ImageWriter::default();
        module(&mut writer);
        let (name, space) = (writer.heaps.string("T").0, writer.heaps.string("N").0);
        let ty = writer.tables.add(TableId::TypeDef, &[1, name, space, 0, 1, 1]);
        let clause = EhClause {
            kind: EhKind::Catch,
            try_offset: 0,
            try_len: 1,
            handler_offset: 1,
            handler_len: 2,
            class_token_or_filter_offset: 0x0100_0001,
        };
        let body = BodySpec { code: vec![0, 0, 0, 0x2a], max_stack: 9, clauses: vec![clause], ..Default::default() };
        let rva = writer.body(&body);
        let signature = writer.heaps.blob(&[0, 0, 1]).0;
        let method_name = writer.heaps.string("M").0;
        writer.tables.add(TableId::MethodDef, &[rva, 0, 0x16, method_name, signature, 1]);
        // Sorted by owner: the row added first comes second, and its constraint follows.
        let owner = |rid| Token::new(TableId::TypeDef, rid).0;
        let second = writer.tables.add(TableId::GenericParam, &[1, 0, owner(ty), name]);
        writer.tables.add(TableId::GenericParam, &[0, 0, owner(ty), space]);
        writer.tables.add(TableId::GenericParamConstraint, &[second, owner(1)]);
        let literal = writer.heaps.user_string(&[0x41, 0x20ac]);
        let bytes = writer.finish(&ImageSpec { resources: vec![1, 2, 3, 4], ..ImageSpec::default() });

        let image = Image::from_bytes("x".to_string(), bytes).expect("valid");
        assert_eq!(image.find_type_def("N", "T", None), Some(2));
        assert_eq!(image.mvid(), [7; 16]);
        assert_eq!(image.type_def_methods(2), Ok(1..2));
        let read = image.method_body(image.method_def(1).expect("a row").rva).expect("a body");
        assert_eq!((read.code, read.max_stack, read.eh_clauses), (&body.code[..], 9, vec![clause]));
        assert_eq!(image.generic_params(Token(owner(2))), Ok(1..3));
        assert_eq!(image.generic_param(2).map(|row| row.number), Ok(1));
        assert_eq!(image.generic_param_constraints(2).collect::<Vec<_>>(), [Ok(Token(owner(1)))]);
        assert_eq!(image.user_string(literal), Ok(vec![0x41, 0x20ac]));
        let resources = image.resources_dir();
        assert_eq!(image.rva_to_slice(resources.rva, 4), Ok(&[1, 2, 3, 4][..]));
        assert_eq!(image.assembly(), None);
    }

    #[test]
    fn small_bodies_have_tiny_headers() {
        let write = || {
            let mut writer = ImageWriter::default();
            module(&mut writer);
            let rva = writer.body(&BodySpec { code: vec![0x2a], max_stack: 1, ..BodySpec::default() });
            (writer, rva)
        };
        let in_memory = write().0.finish_for_loader();
        assert!(in_memory.len() < 1000, "{} bytes for nothing", in_memory.len());
        for bytes in [write().0.finish(&ImageSpec::default()), in_memory] {
            let image = Image::from_bytes("x".to_string(), bytes).expect("valid");
            let body = image.method_body(write().1).expect("a body");
            assert_eq!((body.code, body.max_stack), (&[0x2a][..], 8));
        }
    }
}
