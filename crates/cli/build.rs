//! Exports to the dynamic linker the C symbols that libmono-native.so and /etc/mono/config expect from the program.
//!
//! The list equals `saki_interop::host::EXPORTED_SYMBOLS`; `host::keep_exports` keeps them in the link. `-rdynamic` would
//! do too, but exports everything.

const SYMBOLS: [&str; 8] = [
    "mono_add_internal_call_with_flags",
    "mono_marshal_set_last_error",
    "mono_threads_enter_gc_safe_region_internal",
    "mono_threads_exit_gc_safe_region_internal",
    "mono_win32_compat_CopyMemory",
    "mono_win32_compat_FillMemory",
    "mono_win32_compat_MoveMemory",
    "mono_win32_compat_ZeroMemory",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for symbol in SYMBOLS {
        println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol={symbol}");
    }
}
