//! Reads everything in an arbitrary image. Start with the seeds:
//! `cargo +nightly fuzz run images fuzz/corpus/images fuzz/seeds`
#![no_main]

use libfuzzer_sys::fuzz_target;
use saki_metadata::walk::walk;
use saki_metadata::{CaEnumType, ElementType, Image, dump};

fuzz_target!(|data: &[u8]| {
    if let Ok(image) = Image::from_bytes("fuzzed".to_owned(), data.to_vec()) {
        walk(&image, &|_: &CaEnumType| Some(ElementType::I4));
        dump(&image);
    }
});
