//! Tells the linker what the library must be like.
//!
//! - It never leaves the process again, whatever the host does: its threads, signal handlers and exit actions stay.
//! - It has the name under which hosts are linked with Mono's library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmonosgen-2.0.so.1");
}
