//! System.Diagnostics.FileVersionInfo: what the version resource of a PE file says. A file without a complete resource
//! gives no information. Left out: names of languages other than English and neutral.

use super::version_resource::{parse, resource};
use crate::arguments::{non_null_this, units_at};
use crate::io::path::system_path_of;
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::LibraryType;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const fn field(name: &'static str) -> ManagedField {
    ManagedField::new(LibraryType::FileVersionInfo, name)
}

/// The strings of the resource and the fields they go to.
static TEXTS: [(&str, ManagedField); 12] = [
    ("Comments", field("comments")),
    ("CompanyName", field("companyname")),
    ("FileDescription", field("filedescription")),
    ("FileVersion", field("fileversion")),
    ("InternalName", field("internalname")),
    ("LegalCopyright", field("legalcopyright")),
    ("LegalTrademarks", field("legaltrademarks")),
    ("OriginalFilename", field("originalfilename")),
    ("PrivateBuild", field("privatebuild")),
    ("ProductName", field("productname")),
    ("ProductVersion", field("productversion")),
    ("SpecialBuild", field("specialbuild")),
];
static FILE_NAME: ManagedField = field("filename");
static LANGUAGE: ManagedField = field("language");
static NUMBERS: [ManagedField; 8] = [
    field("filemajorpart"),
    field("fileminorpart"),
    field("filebuildpart"),
    field("fileprivatepart"),
    field("productmajorpart"),
    field("productminorpart"),
    field("productbuildpart"),
    field("productprivatepart"),
];
/// Bits of the file flags.
static FLAGS: [(u32, ManagedField); 5] = [
    (0x01, field("isdebug")),
    (0x02, field("isprerelease")),
    (0x04, field("ispatched")),
    (0x08, field("isprivatebuild")),
    (0x20, field("isspecialbuild")),
];

/// Languages by their number; English when the resource names none.
fn language_name(language: Option<u16>) -> &'static str {
    match language {
        Some(0) => "Language Neutral",
        Some(0x007f) => "Invariant Language (Invariant Country)",
        None | Some(0x0409) => "English (United States)",
        Some(0x0809) => "English (United Kingdom)",
        Some(_) => "",
    }
}

fn get_version_info(t: CurrentThread, this: Option<Obj>, path: *const u16, length: i32) -> Managed<()> {
    let this = non_null_this(t, this)?;
    // SAFETY: the managed caller pins the string for the call.
    let path = unsafe { units_at(path, length) };
    let file = system_path_of(path)
        .ok()
        .and_then(|path| t.managed().blocking(|| std::fs::read(OsStr::from_bytes(path.as_bytes()))).ok());
    FILE_NAME.set_ref(t, this, Str::from_units(t, path)?);
    let version = file.as_deref().and_then(|file| parse(resource(file)?));
    let Some(version) = version else { return Ok(()) };
    for (field, number) in NUMBERS.iter().zip(version.numbers) {
        field.set(this, number);
    }
    for (bit, field) in &FLAGS {
        field.set(this, u8::from(version.flags & bit != 0));
    }
    for (key, field) in &TEXTS {
        let text = version.texts.get(*key).map_or("", String::as_str);
        field.set_ref(t, this, Str::new(t, text)?);
    }
    LANGUAGE.set_ref(t, this, Str::new(t, language_name(version.language))?);
    Ok(())
}

/// The internal calls of `System.Diagnostics.FileVersionInfo`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Diagnostics.FileVersionInfo::GetVersionInfo_icall", &get_version_info)];
