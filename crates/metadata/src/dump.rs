//! A summary of an image for people: `saki info app.exe`.

use std::fmt::Write;

use crate::error::BadImage;
use crate::image::Image;
use crate::pe::{
    CLI_FLAG_32BIT_PREFERRED, CLI_FLAG_32BIT_REQUIRED, CLI_FLAG_IL_LIBRARY, CLI_FLAG_IL_ONLY,
    CLI_FLAG_STRONG_NAME_SIGNED,
};
use crate::strong_name::public_key_token;
use crate::token::{BlobIdx, StringIdx, TableId, Token};

/// AssemblyRef flag: the key column holds the whole public key, not its token. §II.23.1.2.
const ASSEMBLY_FLAG_PUBLIC_KEY: u32 = 0x1;

/// The identity of an assembly or reference.
struct AssemblyIdentity {
    name: StringIdx,
    version: [u16; 4],
    culture: StringIdx,
    key: BlobIdx,
    has_full_key: bool,
}

/// Describes the assembly, its references, entry point, PE kind and metadata version, one fact a line.
/// Malformed parts are reported in their line.
pub fn dump(image: &Image) -> String {
    let mut text = String::new();
    write_dump(image, &mut text).unwrap_or_else(|_| text.push_str("(formatting failed)\n"));
    text
}

fn write_dump(image: &Image, out: &mut String) -> std::fmt::Result {
    writeln!(out, "File:             {}", image.path().display())?;
    match image.assembly() {
        Some(row) => {
            let identity = AssemblyIdentity {
                name: row.name,
                version: [row.major_version, row.minor_version, row.build_number, row.revision_number],
                culture: row.culture,
                key: row.public_key,
                has_full_key: true,
            };
            writeln!(out, "Assembly:         {}", or_error(identity_text(image, &identity)))?;
        }
        None => writeln!(out, "Assembly:         none (a module)")?,
    }
    let module_name = image.module().and_then(|row| image.string(row.name).map(str::to_owned));
    writeln!(out, "Module:           {} {{{}}}", or_error(module_name), guid_text(&image.mvid()))?;
    writeln!(out, "Entry point:      {}", entry_point_text(image))?;
    writeln!(out, "PE kind:          {}", pe_kind_text(image))?;
    let (major, minor) = image.runtime_version();
    writeln!(out, "Metadata version: {} (CLI header {major}.{minor})", image.metadata_version())?;
    writeln!(
        out,
        "Contents:         {} types, {} methods, {} fields",
        image.row_count(TableId::TypeDef),
        image.row_count(TableId::MethodDef),
        image.row_count(TableId::Field)
    )?;
    write_list(out, "References", image.row_count(TableId::AssemblyRef), |rid| {
        let row = image.assembly_ref(rid)?;
        let identity = AssemblyIdentity {
            name: row.name,
            version: [row.major_version, row.minor_version, row.build_number, row.revision_number],
            culture: row.culture,
            key: row.public_key_or_token,
            has_full_key: row.flags & ASSEMBLY_FLAG_PUBLIC_KEY != 0,
        };
        identity_text(image, &identity)
    })?;
    write_list(out, "Native libraries and modules", image.row_count(TableId::ModuleRef), |rid| {
        Ok(image.string(image.module_ref(rid)?.name)?.to_owned())
    })?;
    write_list(out, "Resources", image.row_count(TableId::ManifestResource), |rid| {
        let row = image.manifest_resource(rid)?;
        let name = image.string(row.name)?;
        if row.implementation.is_nil() {
            Ok(format!("{name} ({} bytes)", image.embedded_resource(rid)?.len()))
        } else {
            Ok(format!("{name} (in {:?})", row.implementation))
        }
    })
}

fn write_list(
    out: &mut String,
    title: &str,
    row_count: u32,
    line: impl Fn(u32) -> Result<String, BadImage>,
) -> std::fmt::Result {
    if row_count > 0 {
        writeln!(out, "{title}:")?;
    }
    for rid in 1..=row_count {
        writeln!(out, "  {}", or_error(line(rid)))?;
    }
    Ok(())
}

fn or_error(text: Result<String, BadImage>) -> String {
    text.unwrap_or_else(|error| format!("<{error}>"))
}

fn identity_text(image: &Image, identity: &AssemblyIdentity) -> Result<String, BadImage> {
    let name = image.string(identity.name)?;
    let [major, minor, build, revision] = identity.version;
    let culture = match image.string(identity.culture)? {
        "" => "neutral",
        culture => culture,
    };
    let key = image.blob(identity.key)?;
    let token = if identity.has_full_key {
        public_key_token(key).map(|token| token.to_vec())
    } else {
        Some(key.to_vec()).filter(|token| !token.is_empty())
    };
    let token = match token {
        Some(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        None => "null".to_owned(),
    };
    Ok(format!("{name}, Version={major}.{minor}.{build}.{revision}, Culture={culture}, PublicKeyToken={token}"))
}

fn guid_text(guid: &[u8; 16]) -> String {
    let [a, b, c, d, e, f, g, h, rest @ ..] = *guid;
    let first = u32::from_le_bytes([a, b, c, d]);
    let (second, third) = (u16::from_le_bytes([e, f]), u16::from_le_bytes([g, h]));
    let [i, j, tail @ ..] = rest;
    let tail: String = tail.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("{first:08X}-{second:04X}-{third:04X}-{i:02X}{j:02X}-{tail}")
}

fn entry_point_text(image: &Image) -> String {
    let token = image.entry_point_token();
    let name = match token.table() {
        _ if token.is_nil() => return "none (a library)".to_owned(),
        TableId::MethodDef => method_text(image, token),
        TableId::File => image.file(token.rid()).and_then(|row| Ok(format!("in file {}", image.string(row.name)?))),
        _ => Err(image.bad_image(0, "the entry point is neither a method nor a file")),
    };
    format!("{} ({token})", or_error(name))
}

fn method_text(image: &Image, token: Token) -> Result<String, BadImage> {
    let method = image.method_def(token.rid())?;
    let mut type_rid = image.type_of_method(token.rid())?;
    let mut name = String::new();
    // Nesting is finite in a valid image; the bound stops a cycle in an invalid one.
    for _ in 0..32 {
        let row = image.type_def(type_rid)?;
        let namespace = image.string(row.namespace)?;
        name.insert_str(0, image.string(row.name)?);
        if !namespace.is_empty() {
            name.insert_str(0, &format!("{namespace}."));
        }
        let Some(enclosing) = image.enclosing_class(type_rid) else { break };
        name.insert(0, '/');
        type_rid = enclosing;
    }
    Ok(format!("{name}::{}", image.string(method.name)?))
}

fn pe_kind_text(image: &Image) -> String {
    let flags = image.cli_flags();
    let mut text = String::from(if image.is_pe32_plus() { "PE32+" } else { "PE32" });
    let machine = match image.machine() {
        0x014c => "i386".to_owned(),
        0x8664 => "AMD64".to_owned(),
        0xaa64 => "ARM64".to_owned(),
        0x01c4 => "ARM".to_owned(),
        other => format!("machine {other:#x}"),
    };
    text.push_str(&format!(" {machine}"));
    // Characteristic 0x2000: a DLL; subsystem 2: a program without console.
    text.push_str(match (image.characteristics() & 0x2000 != 0, image.subsystem()) {
        (true, _) => " library",
        (false, 2) => " windows program",
        (false, _) => " console program",
    });
    for (flag, name) in [
        (CLI_FLAG_IL_ONLY, "ILOnly"),
        (CLI_FLAG_IL_LIBRARY, "ILLibrary"),
        (CLI_FLAG_32BIT_REQUIRED, "32BitRequired"),
        (CLI_FLAG_32BIT_PREFERRED, "32BitPreferred"),
        (CLI_FLAG_STRONG_NAME_SIGNED, "StrongNameSigned"),
    ] {
        if flags & flag != 0 {
            text.push_str(&format!(", {name}"));
        }
    }
    text
}
