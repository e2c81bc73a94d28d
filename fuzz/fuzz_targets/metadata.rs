//! Reads everything in an arbitrary image. Start with the seeds:
//! `cargo +nightly fuzz run metadata fuzz/corpus/metadata fuzz/seeds`
#![no_main]

use libfuzzer_sys::fuzz_target;
use saki_metadata::walk::{walk, walk_symbols};
use saki_metadata::{CaEnumType, CaTypeHint, ElementType, Image, dump};

fuzz_target!(|data: &[u8]| {
    let enums = |_: &CaEnumType| Some(ElementType::I4);
    if let Ok(image) = Image::from_bytes("fuzzed".to_owned(), data.to_vec()) {
        walk(&image, &enums);
        dump(&image);
    } else {
        walk_symbols(data.to_vec(), 16);
        // Bytes that are no image still exercise the blob parsers.
        let _ = saki_metadata::parse_custom_attribute(data, &[CaTypeHint::Object], &enums);
        let _ = saki_metadata::parse_stand_alone_sig(data);
        let _ = saki_metadata::parse_type_spec(data);
        let _ = saki_metadata::parse_native_type(data);
        let _ = saki_metadata::parse_method_body(data);
        let _ = saki_metadata::opcodes::decode(data).count();
    }
});
