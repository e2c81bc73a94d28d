//! C symbols that native libraries of Mono expect from the program that loads them.
//!
//! libmono-native.so is linked so that it loads only where the first four of `EXPORTED_SYMBOLS` exist; the `saki`
//! executable exports them to the dynamic linker (its build script lists them), a library in its host's process shows
//! or gives them (`show_symbols`, `make_symbols_known`). /etc/mono/config maps some kernel32
//! functions to the last four. Invariant: none of them needs more than the current thread. Left out: every other symbol
//! of libmono.

mod symbols_library;

use saki_runtime::exec::host_calls;
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;

/// The names that the executable must export.
pub const EXPORTED_SYMBOLS: [&str; 8] = [
    "mono_add_internal_call_with_flags",
    "mono_marshal_set_last_error",
    "mono_threads_enter_gc_safe_region_internal",
    "mono_threads_exit_gc_safe_region_internal",
    "mono_win32_compat_CopyMemory",
    "mono_win32_compat_FillMemory",
    "mono_win32_compat_MoveMemory",
    "mono_win32_compat_ZeroMemory",
];

fn exported_functions() -> [*const (); 8] {
    [
        mono_add_internal_call_with_flags as *const (),
        mono_marshal_set_last_error as *const (),
        mono_threads_enter_gc_safe_region_internal as *const (),
        mono_threads_exit_gc_safe_region_internal as *const (),
        mono_win32_compat_CopyMemory as *const (),
        mono_win32_compat_FillMemory as *const (),
        mono_win32_compat_MoveMemory as *const (),
        mono_win32_compat_ZeroMemory as *const (),
    ]
}

/// Keeps the symbols in a link that otherwise names none of them.
pub fn keep_exports() -> usize {
    exported_functions().iter().filter(|s| !std::hint::black_box(**s).is_null()).count()
}

/// Makes libraries that are loaded later find the symbols, in a program or library whose link does not export them.
///
/// # Errors
/// One line: why the dynamic linker cannot be told.
pub fn make_symbols_known() -> Result<(), String> {
    let functions: Vec<(&str, usize)> =
        EXPORTED_SYMBOLS.into_iter().zip(exported_functions().map(<*const ()>::addr)).collect();
    symbols_library::make_known(&functions)
}

/// Puts this library's symbols into the global scope, where libmono-native.so looks for some of them
/// (`EXPORTED_SYMBOLS`): a host may have loaded the library that this is linked into for itself alone.
pub fn show_symbols() {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the function only compares the address, and writes to `found`.
    let is_found = unsafe { libc::dladdr(show_symbols as *const c_void, found.as_mut_ptr()) } != 0;
    // SAFETY: zeroed, then filled by the call.
    let file = unsafe { found.assume_init() }.dli_fname;
    if is_found && !file.is_null() {
        // SAFETY: the name ends in NUL; RTLD_NOLOAD opens what is loaded already, so no initialiser runs. The handle is
        // kept: the library is never unloaded. Without it, `file` being the program, nothing changes.
        unsafe { libc::dlopen(file, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_GLOBAL) };
    }
}

/// Functions of the crates below that have C's names take no one else's place in the host's process (the collector's
/// `mmap`), and are nobody else's business: a library for hosts hides them. A symbol is hidden if one object says so.
#[macro_export]
macro_rules! hide_c_names {
    () => {
        std::arch::global_asm!(
            ".pushsection .note.saki_hidden, \"\", @progbits",
            ".hidden mmap",
            ".quad mmap",
            ".hidden mmtk_debug_print_object",
            ".quad mmtk_debug_print_object",
            ".hidden __jit_debug_descriptor",
            ".quad __jit_debug_descriptor",
            ".hidden __jit_debug_register_code",
            ".quad __jit_debug_register_code",
            ".popsection",
        );
    };
}

/// Registers an internal call of a host or a native library. libmono-native has one on this system,
/// `Interop/Sys::Read`, for which the machine has a function of its own, that parks the thread where a read waits.
///
/// # Safety
/// `name` is NUL-terminated; `function` has the type that the name implies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_add_internal_call_with_flags(
    name: *const c_char,
    function: *const c_void,
    _cooperative: i32,
) {
    // SAFETY: a text of C's, which ends in NUL.
    let name = unsafe { CStr::from_ptr(name) };
    host_calls::add(&name.to_string_lossy(), function.expose_provenance());
}

/// Saves errno as the thread's last P/Invoke error.
#[unsafe(no_mangle)]
pub extern "C" fn mono_marshal_set_last_error() {
    let errno = saki_os::error::errno();
    set_last_error(errno);
}

/// Sets the value of `Marshal.GetLastWin32Error` for this thread.
pub fn set_last_error(errno: i32) {
    if let Some(thread) = saki_thread::current() {
        // SAFETY: the current thread's own struct; only this thread touches the field.
        unsafe { (*thread.abi()).last_error = errno };
    }
}

/// Begins a safe region, in which the thread touches no managed object. Not null if the thread was not in one already.
///
/// # Safety
/// The caller holds no object references, and ends the region by the function below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_threads_enter_gc_safe_region_internal(_stack_data: *mut c_void) -> *mut c_void {
    match saki_thread::current() {
        Some(thread) if thread.is_running() => {
            // SAFETY: the current thread, running; the C caller holds no references.
            unsafe { saki_thread::enter_native(thread.abi()) };
            // The C frames continue after the region and must do so on this OS thread.
            thread.pin();
            std::ptr::dangling_mut::<c_void>()
        }
        _ => std::ptr::null_mut(),
    }
}

/// Ends the safe region that the function above began; errno stays as it was.
///
/// # Safety
/// `cookie` came from the function above, on this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_threads_exit_gc_safe_region_internal(cookie: *mut c_void, _stack_data: *mut c_void) {
    if cookie.is_null() {
        return;
    }
    if let Some(thread) = saki_thread::current() {
        let errno = saki_os::error::errno();
        // SAFETY: the cookie says that `enter_native` was called.
        unsafe { saki_thread::leave_native(thread.abi()) };
        thread.unpin();
        saki_os::error::set_errno(errno);
    }
}

/// kernel32 `CopyMemory`.
///
/// # Safety
/// `bytes` bytes can be read at `source` and written at `destination`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_win32_compat_CopyMemory(destination: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: both ranges have `bytes` bytes, as for `memcpy`; overlap is tolerated.
    unsafe { std::ptr::copy(source, destination, bytes) };
}

/// kernel32 `MoveMemory`.
///
/// # Safety
/// `bytes` bytes can be read at `source` and written at `destination`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_win32_compat_MoveMemory(destination: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: both ranges have `bytes` bytes, as for `memmove`.
    unsafe { std::ptr::copy(source, destination, bytes) };
}

/// kernel32 `FillMemory`.
///
/// # Safety
/// `bytes` bytes can be written at `destination`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_win32_compat_FillMemory(destination: *mut u8, bytes: usize, value: u8) {
    // SAFETY: `bytes` bytes can be written at `destination`, as for `memset`.
    unsafe { std::ptr::write_bytes(destination, value, bytes) };
}

/// kernel32 `ZeroMemory`.
///
/// # Safety
/// `bytes` bytes can be written at `destination`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_win32_compat_ZeroMemory(destination: *mut u8, bytes: usize) {
    // SAFETY: `bytes` bytes can be written at `destination`, as for `memset`.
    unsafe { std::ptr::write_bytes(destination, 0, bytes) };
}

#[cfg(test)]
mod tests {
    use saki_contract::{Contract, LineKind};

    #[test]
    fn the_contract_lists_the_exported_symbols() {
        let contract = Contract::own();
        let exports = contract.section("native").iter().filter(|line| line.kind == LineKind::Export);
        let mut exports: Vec<&str> = exports.map(|line| line.text).collect();
        exports.sort_unstable();
        let mut own = super::EXPORTED_SYMBOLS;
        own.sort_unstable();
        assert_eq!(exports, own);
    }
}
