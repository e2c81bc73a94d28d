//! Reads arbitrary bytes as a method body:
//! `cargo +nightly fuzz run bodies fuzz/corpus/bodies fuzz/seeds/bodies`
#![no_main]

use libfuzzer_sys::fuzz_target;
use saki_metadata::walk::read_method_body;

fuzz_target!(|data: &[u8]| {
    read_method_body(data);
});
