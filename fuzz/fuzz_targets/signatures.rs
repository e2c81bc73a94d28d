//! Reads arbitrary bytes as each form of signature and as a marshalling descriptor:
//! `cargo +nightly fuzz run signatures fuzz/corpus/signatures fuzz/seeds/signatures`
#![no_main]

use libfuzzer_sys::fuzz_target;
use saki_metadata::walk::read_signature;

fuzz_target!(|data: &[u8]| {
    read_signature(data);
});
