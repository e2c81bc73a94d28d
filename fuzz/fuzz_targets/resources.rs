//! Asks an arbitrary image for its resources:
//! `cargo +nightly fuzz run resources fuzz/corpus/resources fuzz/seeds/resources`
#![no_main]

use libfuzzer_sys::fuzz_target;
use saki_metadata::Image;
use saki_metadata::walk::read_resources;

fuzz_target!(|data: &[u8]| {
    if let Ok(image) = Image::from_bytes("fuzzed".to_owned(), data.to_vec()) {
        read_resources(&image);
    }
});
