//! `mono/metadata/mono-debug.h`: lines of source code. Symbols are read when they are asked for.

use crate::call::{call, load};
use crate::text::given;
use crate::type_names;
use saki_runtime::object::entries;
use saki_runtime::vm::{host_settings, source_lines};
use saki_types::{Image, Method};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// `MonoDebugSourceLocation`, of the C heap, with a text of the C heap.
#[repr(C)]
pub struct MonoDebugSourceLocation {
    file: *mut c_char,
    row: u32,
    column: u32,
    il_offset: u32,
}

/// Symbols are always used: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_init(_format: c_int) {}

/// Symbols are always used: 1.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_enabled() -> c_int {
    1
}

/// There is nothing to clean up: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_cleanup() {}

/// Symbols live as long as their image: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_close_image(_image: *const c_void) {}

/// Domains need no preparation: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_domain_create(_domain: *const c_void) {}

/// Symbols live as long as their image: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_domain_unload(_domain: *const c_void) {}

/// What stands for the method's symbols: the method itself; null if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_lookup_method(method: &'static Method) -> Option<&'static Method> {
    call("mono_debug_lookup_method", |_| source_lines::source_position(method, 0).map(|_| method))
}

/// The place in CIL of an address in the method's code; None if the method is not compiled.
fn il_offset(method: &'static Method, native_offset: u32) -> Option<u32> {
    // The body stays until the walk ends.
    let _walk = saki_code::walks().enter();
    let start = entries::compiled_code(method)?;
    saki_code::lookup(start)?.il_offset(native_offset)
}

/// The line of an instruction of CIL; null without symbols.
fn location(method: &'static Method, il_offset: u32) -> *mut MonoDebugSourceLocation {
    let Some(position) = source_lines::source_position(method, il_offset) else { return ptr::null_mut() };
    // SAFETY: no preconditions.
    let room = unsafe { libc::calloc(1, size_of::<MonoDebugSourceLocation>()) }.cast::<MonoDebugSourceLocation>();
    if !room.is_null() {
        let file = given(position.file.as_bytes());
        // SAFETY: room for it.
        unsafe { room.write(MonoDebugSourceLocation { file, row: position.line, column: position.column, il_offset }) };
    }
    room
}

/// The line of an instruction of CIL, for [`mono_debug_free_source_location`]; null without symbols.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_method_lookup_location(
    method: Option<&'static Method>,
    il_offset: c_int,
) -> *mut MonoDebugSourceLocation {
    let Some(method) = method else { return ptr::null_mut() };
    call("mono_debug_method_lookup_location", |_| location(method, il_offset as u32))
}

/// The line of an address in the method's code, counted from its start, for [`mono_debug_free_source_location`]; null
/// without symbols, and if the method is not compiled.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_lookup_source_location(
    method: &'static Method,
    native_offset: u32,
    _domain: *const c_void,
) -> *mut MonoDebugSourceLocation {
    call("mono_debug_lookup_source_location", |_| {
        il_offset(method, native_offset).map_or(ptr::null_mut(), |offset| location(method, offset))
    })
}

/// File and line of an address in the method's code, counted from its start.
pub(crate) fn source_place(method: &'static Method, native_offset: u32) -> Option<(String, u32)> {
    let position = source_lines::source_position(method, il_offset(method, native_offset)?)?;
    Some((position.file.to_string(), position.line))
}

/// The place in CIL of an address in the method's code, counted from its start; -1 if that is not known.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_il_offset_from_address(
    method: &'static Method,
    _domain: *const c_void,
    native_offset: u32,
) -> i32 {
    call("mono_debug_il_offset_from_address", |_| il_offset(method, native_offset).map_or(-1, |offset| offset as i32))
}

/// Frees a line.
///
/// # Safety
/// `location` is null or one that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_debug_free_source_location(location: *mut MonoDebugSourceLocation) {
    if !location.is_null() {
        // SAFETY: `location` made its text by the C heap.
        unsafe { libc::free((*location).file.cast()) };
        // SAFETY: `location` made it by the C heap.
        unsafe { libc::free(location.cast()) };
    }
}

/// "at Namespace.Class.Method (int) [0x00012] in /some/file.cs:7", or without the line, for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_print_stack_frame(
    method: &'static Method,
    native_offset: u32,
    _domain: *const c_void,
) -> *mut c_char {
    load("mono_debug_print_stack_frame", || {
        let name = type_names::method_name(method, true).replace(':', ".");
        let Some(offset) = il_offset(method, native_offset) else {
            return Ok(given(format!("at {name} <0x{native_offset:05x}>").as_bytes()));
        };
        let line = match source_lines::source_position(method, offset) {
            Some(position) => format!("{}:{}", position.file, position.line),
            None => {
                let guid = crate::tables::guid_text(&method.image().meta.mvid()).replace('-', "").to_lowercase();
                format!("<{guid}>:0")
            }
        };
        Ok(given(format!("at {name} [0x{offset:05x}] in {line}").as_bytes()))
    })
}

/// What [`mono_set_is_debugger_attached`] has set; 0 at first.
#[unsafe(no_mangle)]
pub extern "C" fn mono_is_debugger_attached() -> c_int {
    c_int::from(host_settings::is_debugger_attached())
}

/// Sets what `Debugger.IsAttached` gives.
#[unsafe(no_mangle)]
pub extern "C" fn mono_set_is_debugger_attached(is_attached: c_int) {
    host_settings::set_debugger_attached(is_attached != 0);
}

/// Gives an image the content of its symbol file, which is copied. Nothing happens if symbols of the image have been
/// asked for, and for those of another build.
///
/// # Safety
/// `content` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_debug_open_image_from_memory(image: &'static Image, content: *const u8, size: c_int) {
    // SAFETY: the host's bytes.
    let content = unsafe { std::slice::from_raw_parts(content, usize::try_from(size).unwrap_or(0)) }.to_vec();
    call("mono_debug_open_image_from_memory", |_| source_lines::set_symbols(image, content));
}

/// What stands for the symbols of an image: the image itself; null if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_get_handle(image: &'static Image) -> Option<&'static Image> {
    call("mono_debug_get_handle", |_| source_lines::has_symbols(image).then_some(image))
}

/// Gives an image the content of its symbol file, or looks for the file if there is no content. What stands for the
/// symbols: the image itself; null without symbols.
///
/// # Safety
/// `content` is null or has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_debug_open_mono_symbols(
    handle: &'static Image,
    content: *const u8,
    size: c_int,
    _is_in_debugger: c_int,
) -> Option<&'static Image> {
    if !content.is_null() {
        // SAFETY: not null, so the host's bytes.
        unsafe { mono_debug_open_image_from_memory(handle, content, size) };
    }
    mono_debug_get_handle(handle)
}

/// Symbols live as long as their image: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_close_mono_symbol_file(_symbols: *const c_void) {}

/// Whether these are symbols: those that are there were read.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_symfile_is_loaded(symbols: *const c_void) -> c_int {
    c_int::from(!symbols.is_null())
}

/// [`mono_debug_lookup_method`], in the symbols of this image.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_symfile_lookup_method(
    handle: &'static Image,
    method: &'static Method,
) -> Option<&'static Method> {
    if method.image() == handle { mono_debug_lookup_method(method) } else { None }
}

/// The line of an instruction of CIL, for [`mono_debug_symfile_free_location`]; null without symbols. The method is
/// what [`mono_debug_lookup_method`] gives.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_symfile_lookup_location(
    method: &'static Method,
    il_offset: u32,
) -> *mut MonoDebugSourceLocation {
    call("mono_debug_symfile_lookup_location", |_| location(method, il_offset))
}

/// [`mono_debug_free_source_location`].
///
/// # Safety
/// That of [`mono_debug_free_source_location`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_debug_symfile_free_location(location: *mut MonoDebugSourceLocation) {
    // SAFETY: null or the host's.
    unsafe { mono_debug_free_source_location(location) };
}

/// Debuggers are told of no such code, as under Mono: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_add_delegate_trampoline(_code: *const c_void, _size: c_int) {}

/// `MonoDebugLineNumberEntry`: a place in CIL, and the place in the code.
#[repr(C)]
struct MonoDebugLineNumberEntry {
    il_offset: u32,
    native_offset: u32,
}

/// `MonoDebugMethodJitInfo`, of the C heap. What the machine does not record is 0: the ends of prologue and epilogue,
/// places of variables.
#[repr(C)]
pub struct MonoDebugMethodJitInfo {
    code: *const u8,
    size_bytes: u32,
    prologue_end: u32,
    epilogue_start: u32,
    wrapper: *const u8,
    place_count: u32,
    /// An array of the C heap.
    places: *mut MonoDebugLineNumberEntry,
    has_variables: u32,
    parameter_count: u32,
    this_variable: *const c_void,
    parameters: *const c_void,
    local_count: u32,
    locals: *const c_void,
    shared_variables: [*const c_void; 2],
}

/// Where the method's code lies, and its places in CIL, for [`mono_debug_free_method_jit_info`]; all 0 if the method is
/// not compiled.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_find_method(
    method: &'static Method,
    _domain: *const c_void,
) -> *mut MonoDebugMethodJitInfo {
    // SAFETY: no preconditions; zeros are a value of the type.
    let made = unsafe { libc::calloc(1, size_of::<MonoDebugMethodJitInfo>()) }.cast::<MonoDebugMethodJitInfo>();
    call("mono_debug_find_method", |_| {
        // The body stays until the walk ends.
        let _walk = saki_code::walks().enter();
        // SAFETY: null without memory, else zeros of the right size.
        let Some(info) = (unsafe { made.as_mut() }) else { return };
        let Some(code) = entries::compiled_code(method).and_then(saki_code::lookup) else { return };
        info.code = ptr::with_exposed_provenance(code.start);
        info.size_bytes = code.len_bytes;
        let places: Vec<MonoDebugLineNumberEntry> = code
            .positions()
            .filter_map(|(at, _)| Some(MonoDebugLineNumberEntry { il_offset: code.il_offset(at)?, native_offset: at }))
            .collect();
        // SAFETY: no preconditions.
        let room = unsafe { libc::calloc(places.len().max(1), size_of::<MonoDebugLineNumberEntry>()) };
        if !room.is_null() {
            info.place_count = places.len() as u32;
            info.places = room.cast();
            // SAFETY: room for so many.
            unsafe { ptr::copy_nonoverlapping(places.as_ptr(), info.places, places.len()) };
        }
    });
    made
}

/// Frees what [`mono_debug_find_method`] has given.
///
/// # Safety
/// `info` is null or one that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_debug_free_method_jit_info(info: *mut MonoDebugMethodJitInfo) {
    // SAFETY: null or the host's.
    if let Some(known) = unsafe { info.as_ref() } {
        // SAFETY: an array of the C heap, or null.
        unsafe { libc::free(known.places.cast()) };
    }
    // SAFETY: of the C heap, or null.
    unsafe { libc::free(info.cast()) };
}

/// No records of dynamic methods are kept for debuggers: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debug_remove_method(_method: &'static Method, _domain: *const c_void) {}
