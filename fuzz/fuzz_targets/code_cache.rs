//! Reads arbitrary bytes as a file of the code cache (the whole virtual machine is built for it):
//! `cargo +nightly fuzz run --features runtime code_cache`
#![no_main]

use libfuzzer_sys::fuzz_target;
use saki_runtime::exec::code_cache::read_anything;

fuzz_target!(|data: &[u8]| {
    read_anything(data);
});
