//! Names of assemblies: `MonoAssemblyName` of `mono/metadata/assembly.h`.

use crate::call::put;
use crate::text::{given, kept, text};
use saki_types::binder::AssemblyName;
use saki_types::{Assembly, Image};
use std::ffi::{CString, c_char, c_int};
use std::ptr;

/// A name, with its parts as C texts.
pub struct MonoAssemblyName {
    pub(crate) identity: AssemblyName,
    name: CString,
    /// None if the name does not say.
    culture: Option<CString>,
    /// The token's digits; None without a token.
    token: Option<CString>,
}

impl MonoAssemblyName {
    pub(crate) fn new(identity: AssemblyName) -> MonoAssemblyName {
        let c_text = |text: &str| CString::new(text).unwrap_or_default();
        let digits: String = identity.public_key_token.iter().map(|byte| format!("{byte:02x}")).collect();
        MonoAssemblyName {
            name: c_text(&identity.name),
            culture: (!identity.culture.is_empty()).then(|| c_text(&identity.culture)),
            token: (!digits.is_empty()).then(|| c_text(&digits)),
            identity,
        }
    }

    /// The name of an assembly.
    pub(crate) fn of(assembly: &Assembly) -> MonoAssemblyName {
        let identity = AssemblyName {
            name: assembly.name.to_owned(),
            version: assembly.version,
            culture: assembly.culture.to_owned(),
            public_key_token: assembly.public_key_token.clone(),
        };
        let culture = CString::new(assembly.culture).ok();
        MonoAssemblyName { culture, ..MonoAssemblyName::new(identity) }
    }
}

/// Reads a name: "Name, Version=1.0.0.0, Culture=neutral, PublicKeyToken=…"; null for a text that is none. The host
/// frees it by `mono_free`.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_name_new(name: *const c_char) -> *mut MonoAssemblyName {
    // SAFETY: the host's text, which ends in NUL.
    let Some(identity) = AssemblyName::parse(&unsafe { text(name) }) else { return ptr::null_mut() };
    // SAFETY: `malloc` gives room for the record, or null; the record is made in it.
    unsafe {
        let room = libc::malloc(size_of::<MonoAssemblyName>()).cast::<MonoAssemblyName>();
        if !room.is_null() {
            room.write(MonoAssemblyName::new(identity));
        }
        room
    }
}

/// Empties a name. Its room stays, as the header says: it may be that of an assembly.
///
/// # Safety
/// `name` is null or a name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_name_free(_name: *mut MonoAssemblyName) {}

/// The name without what follows it; it lives as long as the name.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_name_get_name(name: &MonoAssemblyName) -> *const c_char {
    name.name.as_ptr()
}

/// The culture, empty for none, or null if the name does not say; it lives as long as the name.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_name_get_culture(name: &MonoAssemblyName) -> *const c_char {
    name.culture.as_ref().map_or(ptr::null(), |culture| culture.as_ptr())
}

/// The parts of the version: the first is the result.
///
/// # Safety
/// The places are null or the host's variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_name_get_version(
    name: &MonoAssemblyName,
    minor: *mut u16,
    build: *mut u16,
    revision: *mut u16,
) -> u16 {
    let version = name.identity.version;
    for (place, part) in [(minor, version[1]), (build, version[2]), (revision, version[3])] {
        // SAFETY: null or the host's variable.
        unsafe { put(place, part) };
    }
    version[0]
}

/// The digits of the public key's token; null without one.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_name_get_pubkeytoken(name: &MonoAssemblyName) -> *const c_char {
    name.token.as_ref().map_or(ptr::null(), |token| token.as_ptr())
}

/// The whole name, for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_stringify_assembly_name(name: &MonoAssemblyName) -> *mut c_char {
    given(name.identity.display().as_bytes())
}

/// Whether two names are the same; what one leaves out may be anything.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_names_equal(a: Option<&MonoAssemblyName>, b: Option<&MonoAssemblyName>) -> c_int {
    let (Some(a), Some(b)) = (a.map(|name| &name.identity), b.map(|name| &name.identity)) else { return 0 };
    let open = |parts: &[u8]| parts.is_empty();
    let versions = a.version == b.version || a.version == [0; 4] || b.version == [0; 4];
    let tokens = open(&a.public_key_token) || open(&b.public_key_token) || a.public_key_token == b.public_key_token;
    c_int::from(a.name == b.name && a.culture == b.culture && versions && tokens)
}

/// Fills a name with that of an image's assembly: 1.
///
/// # Safety
/// `name` is a name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_fill_assembly_name(image: &'static Image, name: *mut MonoAssemblyName) -> c_int {
    // SAFETY: the host's name, whose parts are replaced.
    unsafe { *name = MonoAssemblyName::of(image.assembly()) };
    1
}

/// Fills a name with that of the reference after `index` others.
///
/// # Safety
/// `name` is a name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_get_assemblyref(
    image: &'static Image,
    index: c_int,
    name: *mut MonoAssemblyName,
) {
    let Ok(row) = image.meta.assembly_ref(index as u32 + 1) else { return };
    let part = |index| image.meta.string(index).unwrap_or_default().to_owned();
    let token = image.meta.blob(row.public_key_or_token).unwrap_or_default();
    let identity = AssemblyName {
        name: part(row.name),
        version: [row.major_version, row.minor_version, row.build_number, row.revision_number],
        culture: part(row.culture),
        public_key_token: saki_types::binder::token_of_reference(token, row.flags),
    };
    // SAFETY: the host's name, whose parts are replaced.
    unsafe { *name = MonoAssemblyName::new(identity) };
}

/// A name that lives as long as the process, for texts that Mono keeps in its images.
pub(crate) fn kept_name(assembly: &'static Assembly) -> *const c_char {
    kept(assembly.name)
}
