//! `mono/metadata/mono-config.h` and where class libraries lie. What a host sets before the machine starts counts; what
//! it sets afterwards does not, as under Mono.

use crate::text::{kept, path, text};
use saki_base::locks::{Mutex, rank};
use saki_runtime::vm::profile_log::callspec::CallSpec;
use saki_runtime::vm::{VmOptions, host_settings, source_lines};
use saki_types::{Assembly, Image, universe};
use std::ffi::{CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;

/// What the host has set.
#[derive(Default)]
struct Settings {
    /// Where `mono/4.5` is.
    library_folder: Option<PathBuf>,
    config_folder: Option<PathBuf>,
    config_file: Option<PathBuf>,
    assembly_folders: Vec<PathBuf>,
    message_level: Option<String>,
    message_mask: Option<String>,
    trace: Option<CallSpec>,
    /// Texts of configurations, by the names of modules' files: the last one first. The addresses are the host's.
    assembly_configs: Vec<(String, usize)>,
    /// The address of the host's text.
    machine_config: usize,
    /// Contents of symbol files, by the names of modules' files.
    symbol_files: Vec<(String, Vec<u8>)>,
}

static SETTINGS: Mutex<rank::HostSettings, Option<Settings>> = Mutex::new(None);

const DEFAULT_LIBRARY_FOLDER: &str = "/usr/lib";
const DEFAULT_CONFIG_FOLDER: &str = "/etc";

/// Puts what the host has set into the machine's options.
pub(crate) fn apply(options: &mut VmOptions) {
    let mut settings = SETTINGS.lock();
    let settings = settings.get_or_insert_default();
    if let Some(folder) = &settings.library_folder {
        options.framework_root = folder.join("mono");
    }
    if let Some(folder) = &settings.config_folder {
        options.configuration.folder = Some(folder.clone());
    }
    if let Some(file) = &settings.config_file {
        options.configuration.file = Some(file.clone());
    }
    options.mono_path.extend(settings.assembly_folders.iter().cloned());
    if let Some(level) = &settings.message_level {
        options.messages.level = Some(level.clone());
    }
    if let Some(spec) = &settings.trace {
        options.trace = Some(spec.clone());
    }
    if let Some(mask) = &settings.message_mask {
        options.messages.mask = Some(mask.clone());
    }
}

/// Sets which calls are written.
pub(crate) fn set_trace(spec: CallSpec) {
    set(|settings| settings.trace = Some(spec));
}

/// Where `mono/4.5` is: `/usr/lib`.
pub(crate) fn library_folder() -> PathBuf {
    if crate::machine::is_started() {
        let root = universe().binder().paths().framework_root;
        return root.parent().unwrap_or(&root).to_path_buf();
    }
    let set = SETTINGS.lock().get_or_insert_default().library_folder.clone();
    set.unwrap_or_else(|| PathBuf::from(DEFAULT_LIBRARY_FOLDER))
}

/// The folders that [`mono_set_assemblies_path`] has set.
pub(crate) fn assembly_folders() -> Vec<CString> {
    let mut settings = SETTINGS.lock();
    let folders = &settings.get_or_insert_default().assembly_folders;
    folders.iter().filter_map(|folder| CString::new(folder.as_os_str().as_encoded_bytes()).ok()).collect()
}

/// Sets the least important level of messages that are shown.
pub(crate) fn set_message_level(level: String) {
    set(|settings| settings.message_level = Some(level));
}

/// Sets the subjects of messages that are shown.
pub(crate) fn set_message_mask(mask: String) {
    set(|settings| settings.message_mask = Some(mask));
}

fn set(change: impl FnOnce(&mut Settings)) {
    change(SETTINGS.lock().get_or_insert_default());
}

/// A path of the host's, if it is one.
///
/// # Safety
/// `folder` is null or ends in NUL.
unsafe fn some_path(folder: *const c_char) -> Option<PathBuf> {
    // SAFETY: not null, so the host's text, which ends in NUL.
    (!folder.is_null()).then(|| unsafe { path(folder) })
}

/// Sets the folder of the class libraries' folder, and that of the configuration; null is the usual one.
///
/// # Safety
/// The texts are null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_set_dirs(libraries: *const c_char, configuration: *const c_char) {
    // SAFETY: null or the host's texts, which end in NUL.
    let (libraries, configuration) = unsafe { (some_path(libraries), some_path(configuration)) };
    set(|settings| {
        settings.library_folder = libraries;
        settings.config_folder = configuration;
    });
}

/// Sets the folder of the class libraries' folder.
///
/// # Safety
/// `folder` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_assembly_setrootdir(folder: *const c_char) {
    // SAFETY: null or the host's text, which ends in NUL.
    let folder = unsafe { some_path(folder) };
    set(|settings| settings.library_folder = folder);
}

/// The folders are the usual ones: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_set_rootdir() {}

/// Sets folders that are searched for assemblies first, with colons between them.
///
/// # Safety
/// `folders` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_set_assemblies_path(folders: *const c_char) {
    // SAFETY: not null, so the host's text, which ends in NUL.
    let folders = if folders.is_null() { String::new() } else { unsafe { text(folders) } };
    let folders = folders.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from).collect();
    set(|settings| settings.assembly_folders = folders);
}

/// Reads maps of native libraries from this file in place of the usual ones, or from those for null.
///
/// # Safety
/// `file` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_config_parse(file: *const c_char) {
    // SAFETY: null or the host's text, which ends in NUL.
    let file = unsafe { some_path(file) };
    set(|settings| settings.config_file = file);
}

/// Adds the maps of native libraries in a text.
///
/// # Safety
/// `config` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_config_parse_memory(config: *const c_char) {
    // SAFETY: the host's text, which ends in NUL.
    saki_interop::host_maps::add_text(None, &unsafe { text(config) });
}

/// Registers a text that stands for the file machine.config; it lives as long as the process. Null: no text.
///
/// # Safety
/// `config` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_register_machine_config(config: *const c_char) {
    // SAFETY: not null, so the host's text, which ends in NUL.
    host_settings::set_machine_config((!config.is_null()).then(|| unsafe { text(config) }));
    set(|settings| settings.machine_config = config.expose_provenance());
}

/// The text of [`mono_register_machine_config`]; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_machine_config() -> *const c_char {
    let address = SETTINGS.lock().get_or_insert_default().machine_config;
    ptr::with_exposed_provenance(address)
}

/// Registers a text that counts as the configuration of assemblies in files of this name, which are loaded from now on.
/// It lives as long as the process.
///
/// # Safety
/// The texts end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_register_config_for_assembly(file: *const c_char, config: *const c_char) {
    // SAFETY: the host's text, which ends in NUL.
    let file = unsafe { text(file) };
    set(|settings| settings.assembly_configs.insert(0, (file, config.expose_provenance())));
}

/// The text of [`mono_register_config_for_assembly`] for a file; null if there is none.
///
/// # Safety
/// `file` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_config_string_for_assembly_file(file: *const c_char) -> *const c_char {
    // SAFETY: the host's text, which ends in NUL.
    config_of(&unsafe { text(file) })
}

fn config_of(file: &str) -> *const c_char {
    let mut settings = SETTINGS.lock();
    let configs = &settings.get_or_insert_default().assembly_configs;
    let found = configs.iter().find(|(known, _)| known == file);
    found.map_or(ptr::null(), |(_, address)| ptr::with_exposed_provenance(*address))
}

/// Uses the text that was registered for the image's file. Files beside assemblies are always used.
#[unsafe(no_mangle)]
pub extern "C" fn mono_config_for_assembly(image: &'static Image) {
    let config = config_of(module_file(image));
    if !config.is_null() {
        // SAFETY: the host's text, which lives as long as the process.
        saki_interop::host_maps::add_text(Some(image), &unsafe { text(config) });
    }
}

/// The name of the module's file, as it says itself.
fn module_file(image: &Image) -> &str {
    image.meta.module().and_then(|row| image.meta.string(row.name)).unwrap_or_default()
}

/// Registers the content of a symbol file for assemblies in files of this name, which are loaded from now on. It is
/// copied.
///
/// # Safety
/// `file` ends in NUL; `content` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_register_symfile_for_assembly(file: *const c_char, content: *const u8, size: c_int) {
    // SAFETY: the host's text, which ends in NUL.
    let file = unsafe { text(file) };
    // SAFETY: the host's bytes.
    let content = unsafe { std::slice::from_raw_parts(content, usize::try_from(size).unwrap_or(0)) }.to_vec();
    set(|settings| settings.symbol_files.insert(0, (file, content)));
}

/// Uses what was registered for an assembly that is loaded.
pub(crate) fn assembly_loaded(assembly: &'static Assembly) {
    let has_any = |settings: &Settings| !settings.assembly_configs.is_empty() || !settings.symbol_files.is_empty();
    if !SETTINGS.lock().as_ref().is_some_and(has_any) {
        return;
    }
    let image = assembly.image;
    mono_config_for_assembly(image);
    let file = module_file(image);
    let symbols = SETTINGS.lock().as_ref().and_then(|settings| {
        settings.symbol_files.iter().find(|(known, _)| known == file).map(|(_, content)| content.clone())
    });
    if let Some(content) = symbols {
        source_lines::set_symbols(image, content);
    }
}

/// Maps a native library, or one function of it, to another; for all assemblies if `image` is null.
///
/// # Safety
/// The texts end in NUL; those after `library` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_dllmap_insert(
    image: Option<&'static Image>,
    library: *const c_char,
    function: *const c_char,
    target: *const c_char,
    target_function: *const c_char,
) {
    // SAFETY: not null, so the host's text, which ends in NUL.
    let some = |name: *const c_char| (!name.is_null()).then(|| unsafe { text(name) });
    let Some(library) = some(library) else { return };
    saki_interop::host_maps::add(image, &library, some(function), some(target), some(target_function));
}

/// The folder of the configuration; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_config_dir() -> *const c_char {
    let set = SETTINGS.lock().get_or_insert_default().config_folder.clone();
    kept(&set.as_deref().unwrap_or(Path::new(DEFAULT_CONFIG_FOLDER)).display().to_string())
}

/// Sets the folder of the configuration.
///
/// # Safety
/// `folder` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_set_config_dir(folder: *const c_char) {
    // SAFETY: null or the host's text, which ends in NUL.
    let folder = unsafe { some_path(folder) };
    set(|settings| settings.config_folder = folder);
}

/// "linux".
#[unsafe(no_mangle)]
pub extern "C" fn mono_config_get_os() -> *const c_char {
    c"linux".as_ptr()
}

/// "x86-64".
#[unsafe(no_mangle)]
pub extern "C" fn mono_config_get_cpu() -> *const c_char {
    c"x86-64".as_ptr()
}

/// "64".
#[unsafe(no_mangle)]
pub extern "C" fn mono_config_get_wordsize() -> *const c_char {
    c"64".as_ptr()
}

/// There is nothing to clean up: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_config_cleanup() {}

/// The collector adapts to the program: never 1.
#[unsafe(no_mangle)]
pub extern "C" fn mono_config_is_server_mode() -> c_int {
    0
}

/// The collector adapts to the program: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_config_set_server_mode(_is_server: c_int) {}
