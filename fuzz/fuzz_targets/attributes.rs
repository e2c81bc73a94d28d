//! Reads arbitrary bytes as the values of attributes:
//! `cargo +nightly fuzz run attributes fuzz/corpus/attributes fuzz/seeds/attributes`
#![no_main]

use libfuzzer_sys::fuzz_target;
use saki_metadata::walk::read_attribute;
use saki_metadata::{CaEnumType, ElementType};

fuzz_target!(|data: &[u8]| {
    read_attribute(data, &|_: &CaEnumType| Some(ElementType::I4));
});
