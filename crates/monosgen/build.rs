//! Tells the linker what the library must be like.
//!
//! - It never leaves the process again, whatever the host does: its threads, signal handlers and exit actions stay.
//! - Only the functions of this crate are exported. Functions of C's names in the crates below it (the collector's
//!   `mmap`) take no one else's place, and no one takes theirs.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmonosgen-2.0.so.1");
}
