//! `Mono.MonoAssemblyName`: the native form of assembly names that AssemblyName reads.

use crate::assembly_loading::{INVALID_IMAGE, throw_invalid_file};
use crate::handles::Handle;
use crate::native_memory::{NativeText, allocate, byte_block, c_string};
use crate::objects::text;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, InternalCall, Managed, Place, RefPlace, Str};
use saki_types::binder::{token_of_key, token_of_reference};
use saki_types::{Assembly, LoadErrorKind, LoadResult};
use std::ffi::{c_char, c_void};
use std::path::Path;

/// 8 bytes as hexadecimal digits, and NUL.
const TOKEN_CHARS: usize = 17;

/// The managed structure of the same name; strings and keys are malloc'ed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MonoAssemblyName {
    pub name: *mut c_char,
    pub culture: *mut c_char,
    pub hash_value: *mut u8,
    /// The key after its length, which is compressed as in a blob heap.
    pub public_key: *mut u8,
    pub public_key_token: [u8; TOKEN_CHARS],
    pub hash_alg: u32,
    pub hash_len: u32,
    pub flags: u32,
    pub major: u16,
    pub minor: u16,
    pub build: u16,
    pub revision: u16,
    pub arch: u16,
}

/// System.Reflection.ProcessorArchitecture.
mod processor {
    /// Not said.
    pub const NONE: u16 = 0;
    /// Any processor.
    pub const MSIL: u16 = 1;
    /// 32-bit x86.
    pub const X86: u16 = 2;
    /// Itanium.
    pub const IA64: u16 = 3;
    /// x86-64.
    pub const AMD64: u16 = 4;
    /// 32-bit ARM.
    pub const ARM: u16 = 5;
}

/// `ASSEMBLY_HASH_SHA1`
const HASH_SHA1: u32 = 0x8004;

impl MonoAssemblyName {
    fn empty() -> MonoAssemblyName {
        MonoAssemblyName {
            name: std::ptr::null_mut(),
            culture: std::ptr::null_mut(),
            hash_value: std::ptr::null_mut(),
            public_key: std::ptr::null_mut(),
            public_key_token: [0; TOKEN_CHARS],
            hash_alg: 0,
            hash_len: 0,
            flags: 0,
            major: 0,
            minor: 0,
            build: 0,
            revision: 0,
            arch: processor::NONE,
        }
    }

    fn set_token(&mut self, token: &[u8]) {
        for (place, byte) in self.public_key_token.chunks_exact_mut(2).zip(token) {
            place.copy_from_slice(format!("{byte:02x}").as_bytes());
        }
    }

    fn set_public_key(&mut self, key: &[u8]) {
        let mut blob = match key.len() {
            short @ 0..=0x7f => vec![short as u8],
            medium => vec![(medium >> 8) as u8 | 0x80, medium as u8],
        };
        blob.extend_from_slice(key);
        self.public_key = byte_block(&blob);
        self.set_token(&token_of_key(key));
    }

    fn set_version(&mut self, version: [u16; 4]) {
        [self.major, self.minor, self.build, self.revision] = version;
    }
}

/// The name in an assembly's manifest; None for a module without one.
fn name_of_image(meta: &saki_metadata::Image) -> LoadResult<Option<MonoAssemblyName>> {
    const CLI_FLAGS_32_BIT: u32 = 0x2 | 0x20000;
    let Some(row) = meta.assembly() else { return Ok(None) };
    let mut out = MonoAssemblyName::empty();
    out.name = c_string(meta.string(row.name)?);
    out.culture = c_string(meta.string(row.culture)?);
    out.flags = row.flags;
    out.hash_alg = row.hash_alg_id;
    out.set_version([row.major_version, row.minor_version, row.build_number, row.revision_number]);
    let key = meta.blob(row.public_key)?;
    if !key.is_empty() {
        out.set_public_key(key);
    }
    out.arch = match meta.machine() {
        0x14c if meta.cli_flags() & CLI_FLAGS_32_BIT != 0 => processor::X86,
        0x14c if meta.cli_flags() & 0x70 == 0x70 => processor::NONE,
        0x14c => processor::MSIL,
        0x200 => processor::IA64,
        0x8664 => processor::AMD64,
        0x1c0 | 0x1c4 => processor::ARM,
        _ => processor::NONE,
    };
    Ok(Some(out))
}

/// The native name of each assembly, made once; it lives for ever.
static NAMES: Mutex<rank::AssemblyNames, Option<FxHashMap<usize, usize>>> = Mutex::new(None);

/// Drops the names of assemblies that are dead or belong to dead domains. Their memory stays: a few words each.
pub(crate) fn forget_dead() {
    if let Some(names) = NAMES.lock().as_mut() {
        names.retain(|assembly, _| !saki_types::collectible::is_dead(*assembly));
    }
}

/// `AssemblyName.GetNativeName(assembly pointer)`
fn get_native_name(t: CurrentThread, assembly: Handle<Assembly>) -> Managed<*const MonoAssemblyName> {
    let Some(found) = assembly.get() else {
        return Err(exceptions::throw_argument_null(t, "assembly"));
    };
    if let Some(&known) = NAMES.lock().as_ref().and_then(|names| names.get(&assembly.address())) {
        return Ok(std::ptr::with_exposed_provenance(known));
    }
    let name = name_of_image(found.image.meta).to_managed(t)?.unwrap_or_else(MonoAssemblyName::empty);
    let made = Box::leak(Box::new(name)) as *mut MonoAssemblyName as usize;
    let made = *NAMES.lock().get_or_insert_default().entry(assembly.address()).or_insert(made);
    Ok(std::ptr::with_exposed_provenance(made))
}

/// The names of an assembly's references, each malloc'ed for `FreeAssemblyName`.
///
/// # Errors
/// `BadImageFormat`.
pub fn referenced_names(meta: &saki_metadata::Image) -> LoadResult<Vec<usize>> {
    let mut out = Vec::new();
    for rid in 1..=meta.row_count(saki_metadata::TableId::AssemblyRef) {
        let row = meta.assembly_ref(rid)?;
        let mut name = MonoAssemblyName::empty();
        name.name = c_string(meta.string(row.name)?);
        name.culture = c_string(meta.string(row.culture)?);
        name.flags = row.flags;
        name.hash_alg = HASH_SHA1;
        name.set_version([row.major_version, row.minor_version, row.build_number, row.revision_number]);
        name.set_token(&token_of_reference(meta.blob(row.public_key_or_token)?, row.flags));
        let memory = allocate(size_of::<MonoAssemblyName>()) as *mut MonoAssemblyName;
        // SAFETY: just allocated with that size.
        unsafe { memory.write(name) };
        out.push(memory as usize);
    }
    Ok(out)
}

/// `RuntimeMarshal.FreeAssemblyName(ref MonoAssemblyName, bool freeStruct)`
fn free_assembly_name(_t: CurrentThread, place: Place<MonoAssemblyName>, free_struct: bool) {
    let name = place.get();
    for part in [name.name as *mut c_void, name.culture.cast(), name.hash_value.cast(), name.public_key.cast()] {
        // SAFETY: the parts of a name that this module filled are malloc'ed or null, and no other code frees them.
        unsafe { libc::free(part) };
    }
    let null = std::ptr::null_mut();
    place.set(MonoAssemblyName {
        name: null,
        culture: null.cast(),
        hash_value: null.cast(),
        public_key: null.cast(),
        ..name
    });
    if free_struct {
        // SAFETY: AssemblyName frees with the structure only names that `referenced_names` allocated.
        unsafe { libc::free(place.as_ptr().cast()) };
    }
}

/// The parts of a display name.
struct ParsedName {
    name: MonoAssemblyName,
    has_version: bool,
    has_token: bool,
}

fn parse_version(text: &str) -> Option<[u16; 4]> {
    let parts: Vec<&str> = text.split('.').collect();
    if !(2..=4).contains(&parts.len()) {
        return None;
    }
    let mut out = [0; 4];
    for (slot, part) in out.iter_mut().zip(parts) {
        *slot = part.parse().ok()?;
    }
    Some(out)
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len() / 2).map(|i| u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()).collect()
}

/// A part of a display name without the quotes around it; None if they do not match.
fn unquoted(text: &str) -> Option<&str> {
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].strip_suffix(quote),
        _ => Some(text),
    }
}

/// The standard public key, which stands for the key of the platform's own libraries. ECMA-335 §II.6.2.1.3.
const STANDARD_KEY: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];

/// Whether the bytes are an RSA key as assemblies have it: two algorithms and a length, then a PUBLICKEYBLOB.
fn is_public_key(key: &[u8]) -> bool {
    const BLOB: usize = 12;
    const MODULUS: usize = BLOB + 20;
    let word = |at: usize| key.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    key.get(BLOB..BLOB + 4) == Some(&[6, 2, 0, 0])
        && key.get(BLOB + 8..BLOB + 12) == Some(b"RSA1")
        && word(8) == u32::try_from(key.len() - BLOB).ok()
        && word(BLOB + 12).is_some_and(|bits| key.len() == MODULUS + bits as usize / 8)
}

fn parse(text: &str) -> Option<ParsedName> {
    const RETARGETABLE: u32 = 0x100;
    let mut parts = text.split(',');
    let simple = unquoted(parts.next()?.trim())?;
    if simple.is_empty() || simple.contains(['/', '\\', ':', '=']) {
        return None;
    }
    let (mut version, mut culture, mut token, mut key, mut retargetable, mut arch) =
        (None, None, None, None, None, processor::NONE);
    for part in parts {
        let (what, value) = part.split_once('=')?;
        let (what, value) = (what.trim(), value.trim());
        if what.is_empty() || value.is_empty() {
            return None;
        }
        let value = unquoted(value)?;
        match what.to_ascii_lowercase().as_str() {
            "version" => version = Some(parse_version(value)?),
            "culture" | "language" => culture = Some(if value.eq_ignore_ascii_case("neutral") { "" } else { value }),
            "publickeytoken" if value.eq_ignore_ascii_case("null") => token = Some(Vec::new()),
            "publickeytoken" => token = Some(hex_bytes(value).filter(|bytes| bytes.len() == 8)?),
            "publickey" => match hex_bytes(value)? {
                standard if standard == STANDARD_KEY => token = Some(token_of_key(&standard).to_vec()),
                bytes => key = Some(bytes).filter(|bytes| is_public_key(bytes)).map(Some)?,
            },
            "retargetable" => {
                retargetable = match value.to_ascii_lowercase().as_str() {
                    "yes" => Some(true),
                    "no" => Some(false),
                    _ => return None,
                }
            }
            "processorarchitecture" => {
                arch = match value.to_ascii_lowercase().as_str() {
                    "msil" => processor::MSIL,
                    "x86" => processor::X86,
                    "ia64" => processor::IA64,
                    "amd64" => processor::AMD64,
                    "arm" => processor::ARM,
                    _ => return None,
                }
            }
            _ => {}
        }
    }
    let has_token = token.is_some() || key.is_some();
    // `Retargetable`, yes or no, is valid in a full name only.
    if retargetable.is_some() && !(version.is_some() && culture.is_some() && has_token) {
        return None;
    }
    let flags = if retargetable == Some(true) { RETARGETABLE } else { 0 };
    let mut name = MonoAssemblyName::empty();
    name.name = c_string(simple);
    name.flags = flags;
    name.arch = arch;
    if let Some(culture) = culture {
        name.culture = c_string(culture);
    }
    if let Some(version) = version {
        name.set_version(version);
    }
    match (&key, &token) {
        (Some(key), _) => name.set_public_key(key),
        (None, Some(token)) => name.set_token(token),
        (None, None) => {}
    }
    Some(ParsedName { name, has_version: version.is_some(), has_token })
}

/// `ParseAssemblyName(char* name, out MonoAssemblyName, out bool hasVersion, out bool hasToken)`
fn parse_assembly_name(
    _t: CurrentThread,
    text: NativeText,
    name: Place<MonoAssemblyName>,
    has_version: Place<bool>,
    has_token: Place<bool>,
) -> bool {
    let parsed = text.get().and_then(|text| parse(&text.to_string_lossy()));
    let is_valid = parsed.is_some();
    let parsed = parsed.unwrap_or(ParsedName { name: MonoAssemblyName::empty(), has_version: false, has_token: false });
    name.set(parsed.name);
    has_version.set(parsed.has_version);
    has_token.set(parsed.has_token);
    is_valid
}

/// `get_public_token(byte* token, byte* key, int length)`: writes 8 bytes.
fn get_public_token(_t: CurrentThread, token: *mut u8, key: *const u8, length: i32) {
    // SAFETY: AssemblyName passes pinned arrays, of which `token` has 8 bytes and `key` has `length`.
    unsafe {
        let found = token_of_key(std::slice::from_raw_parts(key, length.max(0) as usize));
        std::ptr::copy_nonoverlapping(found.as_ptr(), token, found.len());
    }
}

/// `Assembly.InternalGetAssemblyName(string file, out MonoAssemblyName, out string codeBase)`
fn name_of_file(
    t: CurrentThread,
    file: Option<Str>,
    name: Place<MonoAssemblyName>,
    code_base: RefPlace,
) -> Managed<()> {
    let path = text(file);
    let opened = saki_metadata::Image::open(Path::new(&path));
    let meta = opened.map_err(|error| {
        let error = saki_types::error::open_error(&error, Path::new(&path));
        match error.kind {
            LoadErrorKind::FileNotFound => throw_invalid_file(t, error.kind, "", &path),
            LoadErrorKind::BadImageFormat => throw_invalid_file(t, error.kind, INVALID_IMAGE, &path),
            _ => exceptions::throw_load_error(t, &error),
        }
    })?;
    let Some(found) = name_of_image(&meta).to_managed(t)? else {
        let message = "The file does not contain a manifest";
        return Err(exceptions::throw_argument(t, message, "assemblyFile"));
    };
    name.set(found);
    code_base.set(t, Str::new(t, &format!("file://{path}"))?);
    Ok(())
}

/// The internal calls of `System.Reflection.AssemblyName`, `System.Reflection.Assembly` and `Mono.RuntimeMarshal`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.AssemblyName::GetNativeName", &get_native_name),
    InternalCall::new("System.Reflection.AssemblyName::ParseAssemblyName", &parse_assembly_name),
    InternalCall::new("System.Reflection.AssemblyName::get_public_token", &get_public_token),
    InternalCall::new("System.Reflection.Assembly::InternalGetAssemblyName", &name_of_file),
    InternalCall::new("Mono.RuntimeMarshal::FreeAssemblyName", &free_assembly_name),
];

#[cfg(test)]
mod tests {
    use super::parse;
    use std::ffi::CStr;

    #[test]
    fn display_names() {
        let parsed = parse("My.Lib, Version=1.2.3.4, Culture=neutral, PublicKeyToken=b77a5c561934e089").unwrap();
        assert!(parsed.has_version && parsed.has_token);
        assert_eq!((parsed.name.major, parsed.name.revision), (1, 4));
        assert_eq!(&parsed.name.public_key_token[..16], b"b77a5c561934e089");
        // SAFETY: filled by `parse`.
        let (name, culture) = unsafe { (CStr::from_ptr(parsed.name.name), CStr::from_ptr(parsed.name.culture)) };
        assert_eq!((name.to_bytes(), culture.to_bytes()), (&b"My.Lib"[..], &b""[..]));
        let bare = parse("Lib").unwrap();
        assert!(!bare.has_version && !bare.has_token && bare.name.culture.is_null());
        for text in ["", "A, Version=x", "A, Version=1", "A, PublicKeyToken=12", "A, junk"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
    #[test]
    fn parts_of_names_follow_net() {
        let check = |text: &str, is_valid: bool| assert_eq!(parse(text).is_some(), is_valid, "{text}");
        check("A, Version=1.2", true);
        check("A, Version=1.2.3.4.5", false);
        check("A, Version=1.65536", false);
        check("A, Culture=de, Version=1.0", true);
        check("A, Language=neutral", true);
        check("'A', Culture=\"de\"", true);
        check("'A", false);
        check("A, Culture='de", false);
        check("A, PublicKeyToken=null", true);
        check("A, PublicKeyToken=b77a5c561934e08", false);
        check("A, PublicKeyToken=b77a5c561934e0zz", false);
        check("A, PublicKey=1234", false);
        check("A, Unknown=part", true);
        check("A, Unknown=", false);
        check("A/B", false);
        check(r"A\B", false);
        check("A, ProcessorArchitecture=MSIL", true);
        check("A, ProcessorArchitecture=z80", false);
        // Only a full name can be retargetable.
        check("A, Retargetable=Yes", false);
        check("A, Version=1.0, Culture=neutral, PublicKeyToken=null, Retargetable=Yes", true);
        check("A, Version=1.0, Culture=neutral, PublicKeyToken=null, Retargetable=perhaps", false);
    }

    #[test]
    fn the_standard_key_stands_for_the_platforms() {
        let parsed = parse("A, PublicKey=00000000000000000400000000000000").expect("ECMA's key");
        assert!(parsed.has_token);
        assert_eq!(&parsed.name.public_key_token[..16], b"b77a5c561934e089");
    }
}
