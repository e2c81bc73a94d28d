//! Tells the linker what the library must be like.
//!
//! - It never leaves the process again, whatever the host does: its threads, signal handlers and exit actions stay.
//! - Hosts are linked with the first version of its interface.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libsaki.so.0");
}
