//! `mono/metadata/assembly.h` and images of `image.h`: assemblies, loaded and asked.
//!
//! An image that a host opens is that of an assembly, which its opening loads.

use crate::assembly_hooks;
use crate::assembly_names::{MonoAssemblyName, kept_name};
use crate::call::{call, load, put};
use crate::config;
use crate::host_records;
use crate::tables::guid_text;
use crate::text::{given, kept, path, text};
use saki_runtime::vm::domains::{self, Domain};
use saki_types::binder::AssemblyName;
use saki_types::{Assembly, Image, LoadErrorKind, LoadResult, universe};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr;

/// `MonoImageOpenStatus`.
const OK: c_int = 0;
const NO_FILE: c_int = 1;
const NO_REFERENCE: c_int = 2;
const INVALID: c_int = 3;

/// Runs a function that loads an assembly, and tells how it went.
///
/// # Safety
/// `status` is null or the host's variable.
unsafe fn loading(
    function: &str,
    status: *mut c_int,
    body: impl FnOnce() -> LoadResult<&'static Assembly>,
) -> Option<&'static Assembly> {
    call(function, |_| {
        let (found, outcome) = match body() {
            Ok(found) => (Some(found), OK),
            Err(error) if error.kind == LoadErrorKind::FileNotFound => (None, NO_FILE),
            Err(_) => (None, INVALID),
        };
        // SAFETY: null or the host's variable.
        unsafe { put(status, outcome) };
        found
    })
}

/// Loads the assembly of a bundle, or that in a file, into the current domain.
fn load_file(path: &Path) -> LoadResult<&'static Assembly> {
    assembly_hooks::bundle_of_file(path).unwrap_or_else(|| universe().binder().load_from(path))
}

/// Loads the assembly of a bundle, or that in a file, into a domain.
fn load_in(domain: &'static Domain, path: &Path) -> LoadResult<&'static Assembly> {
    let _entered = saki_types::universe::enter(domain.universe);
    load_file(path)
}

/// Loads an assembly from a file, as `Assembly.LoadFrom`; null if that fails.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_domain_assembly_open(
    domain: Option<&'static Domain>,
    name: *const c_char,
) -> Option<&'static Assembly> {
    // SAFETY: the host's text, which ends in NUL.
    let path = unsafe { path(name) };
    load("mono_domain_assembly_open", || load_in(domain.unwrap_or_else(domains::current), &path).map(Some))
}

/// Loads an assembly from a file; null if that fails, and why.
///
/// # Safety
/// `name` ends in NUL, `status` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_open(name: *const c_char, status: *mut c_int) -> Option<&'static Assembly> {
    // SAFETY: the host's text, which ends in NUL.
    let path = unsafe { path(name) };
    // SAFETY: null or the host's variable.
    unsafe { loading("mono_assembly_open", status, || load_file(&path)) }
}

/// [`mono_assembly_open`]; `is_for_reflection`: for inspection only.
///
/// # Safety
/// That of [`mono_assembly_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_open_full(
    name: *const c_char,
    status: *mut c_int,
    is_for_reflection: c_int,
) -> Option<&'static Assembly> {
    if is_for_reflection == 0 {
        // SAFETY: the host's text and variable.
        return unsafe { mono_assembly_open(name, status) };
    }
    // SAFETY: the host's text, which ends in NUL.
    let path = unsafe { path(name) };
    // SAFETY: null or the host's variable.
    unsafe { loading("mono_assembly_open_full", status, || universe().binder().load_reflection_only_file(&path)) }
}

/// Loads the assembly of a name; null if that fails, and why. A folder is looked into first.
///
/// # Safety
/// `base` is null or ends in NUL, `status` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_load(
    name: &MonoAssemblyName,
    base: *const c_char,
    status: *mut c_int,
) -> Option<&'static Assembly> {
    // SAFETY: not null, so the host's text, which ends in NUL.
    let base = (!base.is_null()).then(|| unsafe { path(base) });
    let find = || {
        let binder = universe().binder();
        let in_base = base
            .iter()
            .flat_map(|base| ["dll", "exe"].map(|extension| base.join(format!("{}.{extension}", name.identity.name))));
        for file in in_base {
            if file.is_file() {
                return binder.load_from(&file);
            }
        }
        binder.resolve(&name.identity, None)
    };
    // SAFETY: null or the host's variable.
    unsafe { loading("mono_assembly_load", status, find) }
}

/// [`mono_assembly_load`]; `is_for_reflection`: for inspection only.
///
/// # Safety
/// That of [`mono_assembly_load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_load_full(
    name: &MonoAssemblyName,
    base: *const c_char,
    status: *mut c_int,
    is_for_reflection: c_int,
) -> Option<&'static Assembly> {
    if is_for_reflection == 0 {
        // SAFETY: the host's text and variable.
        return unsafe { mono_assembly_load(name, base, status) };
    }
    let find = || universe().binder().load_reflection_only(&name.identity);
    // SAFETY: null or the host's variable.
    unsafe { loading("mono_assembly_load_full", status, find) }
}

/// Loads the assembly whose name begins so; null if that fails, and why.
///
/// # Safety
/// `name` ends in NUL, `status` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_load_with_partial_name(
    name: *const c_char,
    status: *mut c_int,
) -> Option<&'static Assembly> {
    // SAFETY: the host's text, which ends in NUL.
    let identity = AssemblyName::parse(&unsafe { text(name) }).unwrap_or_default();
    let known = || {
        let loaded = universe().binder().loaded();
        let found = loaded.iter().find(|assembly| assembly.name == identity.name).copied();
        found.map_or_else(|| universe().binder().resolve(&identity, None), Ok)
    };
    // SAFETY: null or the host's variable.
    unsafe { loading("mono_assembly_load_with_partial_name", status, known) }
}

/// The assembly of an image that the host has opened.
///
/// # Safety
/// `status` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_load_from(
    image: &'static Image,
    _name: *const c_char,
    status: *mut c_int,
) -> Option<&'static Assembly> {
    // SAFETY: null or the host's variable.
    unsafe { put(status, OK) };
    Some(image.assembly())
}

/// [`mono_assembly_load_from`].
///
/// # Safety
/// That of [`mono_assembly_load_from`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_load_from_full(
    image: &'static Image,
    name: *const c_char,
    status: *mut c_int,
    _is_for_reflection: c_int,
) -> Option<&'static Assembly> {
    // SAFETY: null or the host's variable.
    unsafe { mono_assembly_load_from(image, name, status) }
}

/// What the host's search hooks have for a name, or else the loaded assembly; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_loaded(name: &MonoAssemblyName) -> Option<&'static Assembly> {
    call("mono_assembly_loaded", |_| {
        let wanted = &name.identity;
        if let Some(found) = assembly_hooks::search_loaded(wanted, false) {
            return Some(found);
        }
        let fits = |assembly: &&&'static Assembly| {
            !assembly.reflection_only
                && assembly.name.eq_ignore_ascii_case(&wanted.name)
                && (wanted.version == [0; 4] || wanted.version == assembly.version)
                && (wanted.public_key_token.is_empty() || wanted.public_key_token == assembly.public_key_token)
        };
        universe().binder().loaded().iter().find(fits).copied()
    })
}

/// [`mono_assembly_loaded`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_loaded_full(
    name: &MonoAssemblyName,
    _is_for_reflection: c_int,
) -> Option<&'static Assembly> {
    mono_assembly_loaded(name)
}

/// Calls the host's function with each assembly of the current domain.
///
/// # Safety
/// The function may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_foreach(
    function: unsafe extern "C" fn(&'static Assembly, *mut c_void),
    data: *mut c_void,
) {
    let all = call("mono_assembly_foreach", |_| universe().binder().loaded().to_vec());
    for assembly in all {
        // SAFETY: the host's function and its data.
        unsafe { function(assembly, data) };
    }
}

/// Loads what the reference after `index` others names, if it can be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_load_reference(image: &'static Image, index: c_int) {
    load("mono_assembly_load_reference", || image.assembly_ref(index as u32 + 1).map(drop));
}

/// Loads what all references name, and tells whether it could be.
///
/// # Safety
/// `status` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_load_references(image: &'static Image, status: *mut c_int) {
    call("mono_assembly_load_references", |_| {
        let mut rows = 1..=image.meta.row_count(saki_metadata::TableId::AssemblyRef);
        let outcome = if rows.all(|rid| image.assembly_ref(rid).is_ok()) { OK } else { NO_REFERENCE };
        // SAFETY: null or the host's variable.
        unsafe { put(status, outcome) };
    });
}

/// Assemblies live as long as their domain: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_close(_assembly: *const c_void) {}

/// There is nothing to prepare: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assemblies_init() {}

/// There is nothing to clean up: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assemblies_cleanup() {}

/// Sets the program's assembly, if it was not set.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_set_main(assembly: &'static Assembly) {
    call("mono_assembly_set_main", |_| domains::root_domain().set_entry_assembly(assembly));
}

/// The program's assembly; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_get_main() -> Option<&'static Assembly> {
    call("mono_assembly_get_main", |_| domains::root_domain().entry_assembly())
}

/// The image of an assembly.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_get_image(assembly: &'static Assembly) -> &'static Image {
    assembly.image
}

/// The name of an assembly; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_get_name(assembly: &'static Assembly) -> *mut MonoAssemblyName {
    host_records::name_of(assembly)
}

/// The folder of the class libraries' folder, as `/usr/lib`; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_getrootdir() -> *const c_char {
    kept(&config::library_folder().display().to_string())
}

/// The folder of native libraries, for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_native_getrootdir() -> *mut c_char {
    given(config::library_folder().display().to_string().as_bytes())
}

/// Opens the image in a file, and loads its assembly; null if that fails, and why.
///
/// # Safety
/// `name` ends in NUL, `status` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_open(name: *const c_char, status: *mut c_int) -> Option<&'static Image> {
    // SAFETY: the host's text and variable.
    unsafe { mono_assembly_open(name, status) }.map(|assembly| assembly.image)
}

/// [`mono_image_open`]; `is_for_reflection`: for inspection only.
///
/// # Safety
/// That of [`mono_image_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_open_full(
    name: *const c_char,
    status: *mut c_int,
    is_for_reflection: c_int,
) -> Option<&'static Image> {
    // SAFETY: the host's text and variable.
    unsafe { mono_assembly_open_full(name, status, is_for_reflection) }.map(|assembly| assembly.image)
}

/// Opens the image in memory, and loads its assembly; null if that fails, and why. The bytes are copied.
///
/// # Safety
/// `data` has so many bytes, `status` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_open_from_data(
    data: *const u8,
    length: u32,
    must_copy: c_int,
    status: *mut c_int,
) -> Option<&'static Image> {
    // SAFETY: the host's bytes and variable.
    unsafe { mono_image_open_from_data_full(data, length, must_copy, status, 0) }
}

/// [`mono_image_open_from_data`]; `is_for_reflection`: for inspection only.
///
/// # Safety
/// That of [`mono_image_open_from_data`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_open_from_data_full(
    data: *const u8,
    length: u32,
    _must_copy: c_int,
    status: *mut c_int,
    is_for_reflection: c_int,
) -> Option<&'static Image> {
    if data.is_null() || length == 0 {
        // SAFETY: null or the host's variable.
        unsafe { put(status, INVALID) };
        return None;
    }
    // SAFETY: the host's bytes.
    let bytes = unsafe { std::slice::from_raw_parts(data, length as usize) }.to_vec();
    let load = || {
        let binder = universe().binder();
        if is_for_reflection == 0 { binder.load_bytes(bytes) } else { binder.load_reflection_only_bytes(bytes) }
    };
    // SAFETY: null or the host's variable.
    unsafe { loading("mono_image_open_from_data", status, load) }.map(|assembly| assembly.image)
}

/// [`mono_image_open_from_data_full`]. The name is not kept.
///
/// # Safety
/// That of [`mono_image_open_from_data`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_open_from_data_with_name(
    data: *const u8,
    length: u32,
    must_copy: c_int,
    status: *mut c_int,
    is_for_reflection: c_int,
    _name: *const c_char,
) -> Option<&'static Image> {
    // SAFETY: the host's bytes and variable.
    unsafe { mono_image_open_from_data_full(data, length, must_copy, status, is_for_reflection) }
}

/// A text for a `MonoImageOpenStatus`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_strerror(status: c_int) -> *const c_char {
    let text = match status {
        OK => c"success",
        NO_FILE => c"No such file or directory",
        NO_REFERENCE => c"An assembly was referenced, but could not be found",
        INVALID => c"File does not contain a valid CIL image",
        _ => c"Internal error",
    };
    text.as_ptr()
}

/// The loaded image whose assembly has this name, or which is in this file; null if there is none.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_loaded(name: *const c_char) -> Option<&'static Image> {
    // SAFETY: the host's text, which ends in NUL.
    let name = unsafe { text(name) };
    call("mono_image_loaded", |_| {
        let is_it = |assembly: &&&'static Assembly| assembly.name == name || assembly.path == Path::new(&name);
        universe().binder().loaded().iter().find(is_it).map(|assembly| assembly.image)
    })
}

/// [`mono_image_loaded`].
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_loaded_full(
    name: *const c_char,
    _is_for_reflection: c_int,
) -> Option<&'static Image> {
    // SAFETY: the host's text.
    unsafe { mono_image_loaded(name) }
}

/// The loaded image with this GUID; null if there is none.
///
/// # Safety
/// `guid` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_loaded_by_guid(guid: *const c_char) -> Option<&'static Image> {
    // SAFETY: the host's text, which ends in NUL.
    let guid = unsafe { text(guid) };
    call("mono_image_loaded_by_guid", |_| {
        let is_it = |assembly: &&&'static Assembly| guid_text(&assembly.image.meta.mvid()) == guid;
        universe().binder().loaded().iter().find(is_it).map(|assembly| assembly.image)
    })
}

/// [`mono_image_loaded_by_guid`].
///
/// # Safety
/// `guid` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_loaded_by_guid_full(
    guid: *const c_char,
    _is_for_reflection: c_int,
) -> Option<&'static Image> {
    // SAFETY: the host's text.
    unsafe { mono_image_loaded_by_guid(guid) }
}

/// There is nothing to prepare: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_images_init() {}

/// There is nothing to clean up: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_images_cleanup() {}

/// There is nothing to prepare: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_init() {}

/// Images are ready when they are opened: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_init(_image: *const c_void) {}

/// Images live as long as their domain: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_addref(_image: *const c_void) {}

/// Images live as long as their domain: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_close(_image: *const c_void) {}

/// Sections are always there: 1.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_ensure_section(_image: *const c_void, _section: *const c_char) -> c_int {
    1
}

/// Sections are always there: 1.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_ensure_section_idx(_image: *const c_void, _section: c_int) -> c_int {
    1
}

/// The name of the image's assembly; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_get_name(image: &'static Image) -> *const c_char {
    kept_name(image.assembly())
}

/// The image's file; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_get_filename(image: &'static Image) -> *const c_char {
    kept(&image.meta.path().display().to_string())
}

/// The image's GUID; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_get_guid(image: &'static Image) -> *const c_char {
    kept(&guid_text(&image.meta.mvid()))
}

/// The image's assembly.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_get_assembly(image: &'static Image) -> &'static Assembly {
    image.assembly()
}

/// Whether the image was made at run time.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_is_dynamic(image: &'static Image) -> c_int {
    c_int::from(image.assembly().is_dynamic)
}

/// The token of `Main`; 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_get_entry_point(image: &'static Image) -> u32 {
    image.meta.entry_point_token().0
}

/// The memory at an address of the image; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_rva_map(image: &'static Image, rva: u32) -> *const u8 {
    image.meta.rva_to_tail(rva).map_or(ptr::null(), <[u8]>::as_ptr)
}

/// The resource at an offset of the image's resources, and its size; null if there is none.
///
/// # Safety
/// `size` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_get_resource(image: &'static Image, offset: u32, size: *mut u32) -> *const u8 {
    let directory = image.meta.resources_dir();
    let bytes = image.meta.rva_to_slice(directory.rva, directory.size_bytes as usize).unwrap_or_default();
    let Some((length, rest)) = bytes.get(offset as usize..).and_then(|bytes| bytes.split_first_chunk::<4>()) else {
        return ptr::null();
    };
    // SAFETY: null or the host's variable.
    unsafe { put(size, u32::from_le_bytes(*length)) };
    rest.as_ptr()
}

/// The public key of the image's assembly, and its size; null without one.
///
/// # Safety
/// `size` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_get_public_key(image: &'static Image, size: *mut u32) -> *const u8 {
    let row = image.meta.assembly();
    let key = row.and_then(|row| image.meta.blob(row.public_key).ok()).filter(|key| !key.is_empty());
    // SAFETY: null or the host's variable.
    unsafe { put(size, key.map_or(0, <[u8]>::len) as u32) };
    key.map_or(ptr::null(), <[u8]>::as_ptr)
}

/// The strong name's signature, and its size; null without one.
///
/// # Safety
/// `size` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_get_strong_name(image: &'static Image, size: *mut u32) -> *const u8 {
    let directory = image.meta.strong_name_dir();
    // SAFETY: null or the host's variable.
    unsafe { put(size, directory.size_bytes) };
    if directory.rva == 0 {
        return ptr::null();
    }
    image.meta.rva_to_tail(directory.rva).map_or(ptr::null(), <[u8]>::as_ptr)
}

/// Where the strong name's signature lies in the file, and its size; 0 without one.
///
/// # Safety
/// `size` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_image_strong_name_position(image: &'static Image, size: *mut u32) -> u32 {
    let directory = image.meta.strong_name_dir();
    // SAFETY: null or the host's variable.
    unsafe { put(size, directory.size_bytes) };
    if directory.rva == 0 { 0 } else { image.meta.rva_to_offset(directory.rva).unwrap_or(0) as u32 }
}

/// The module of the File row with this number; null if it has no metadata or cannot be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_load_file_for_image(image: &'static Image, row: c_int) -> Option<&'static Image> {
    load("mono_image_load_file_for_image", || module_of_file(image, row as u32))
}

fn module_of_file(image: &'static Image, row: u32) -> LoadResult<Option<&'static Image>> {
    const CONTAINS_NO_METADATA: u32 = 1;
    let file = image.meta.file(row)?;
    if file.flags & CONTAINS_NO_METADATA != 0 {
        return Ok(None);
    }
    image.load_modules()?;
    let name = image.meta.string(file.name)?;
    let modules = image.assembly().module_images.read();
    Ok(modules.iter().find(|module| module.meta.path().file_name().is_some_and(|file| file == name)).copied())
}

/// [`mono_image_load_file_for_image`] of an assembly's image.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_load_module(assembly: &'static Assembly, row: c_uint) -> Option<&'static Image> {
    mono_image_load_file_for_image(assembly.image, row as c_int)
}

/// The module of the ModuleRef row with this number; null if it has no metadata or cannot be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_load_module(image: &'static Image, row: c_int) -> Option<&'static Image> {
    load("mono_image_load_module", || {
        let name = image.meta.string(image.meta.module_ref(row as u32)?.name)?;
        for file in 1..=image.meta.row_count(saki_metadata::TableId::File) {
            if image.meta.string(image.meta.file(file)?.name)? == name {
                return module_of_file(image, file);
            }
        }
        Ok(None)
    })
}
