//! Reads arbitrary bytes as a portable PDB or as Mono's .mdb, and asks for positions:
//! `cargo +nightly fuzz run symbols fuzz/corpus/symbols fuzz/seeds`
#![no_main]

use libfuzzer_sys::fuzz_target;
use saki_metadata::walk::walk_symbols;

fuzz_target!(|data: &[u8]| {
    walk_symbols(data.to_vec(), 20);
});
