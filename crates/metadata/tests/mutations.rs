//! No mutation of an image makes a reader panic.

use proptest::prelude::*;
use saki_metadata::walk::walk;
use saki_metadata::{CaEnumType, ElementType, Image, dump};

const SEED: &[u8] = include_bytes!("../../../fuzz/seeds/seed.exe");

fn read_everything(bytes: Vec<u8>) {
    if let Ok(image) = Image::from_bytes("mutated".to_owned(), bytes) {
        walk(&image, &|_: &CaEnumType| Some(ElementType::I2));
        dump(&image);
    }
}

#[test]
fn the_seed_has_no_problem() {
    let image = Image::from_bytes("seed.exe".to_owned(), SEED.to_vec()).expect("a valid image");
    let report = walk(&image, &|_: &CaEnumType| Some(ElementType::I2));
    assert_eq!(report.problem_count, 0, "{:#?}", report.problems);
    println!("{report:?}\n{}", dump(&image));
}

#[test]
fn every_truncation() {
    for len in 0..SEED.len() {
        read_everything(SEED[..len].to_vec());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replaced_bytes(changes in prop::collection::vec((0..SEED.len(), any::<u8>()), 1..24)) {
        let mut bytes = SEED.to_vec();
        for (offset, value) in changes {
            bytes[offset] = value;
        }
        read_everything(bytes);
    }

    #[test]
    fn removed_and_inserted_bytes(at in 0..SEED.len(), removed in 0..64_usize, inserted in any::<Vec<u8>>()) {
        let mut bytes = SEED.to_vec();
        let end = (at + removed).min(bytes.len());
        bytes.splice(at..end, inserted);
        read_everything(bytes);
    }

    #[test]
    fn arbitrary_blobs(blob in any::<Vec<u8>>()) {
        let hints = [saki_metadata::CaTypeHint::Object];
        let _ = saki_metadata::parse_custom_attribute(&blob, &hints, &|_: &CaEnumType| Some(ElementType::I4));
        let _ = saki_metadata::parse_native_type(&blob);
        let _ = saki_metadata::parse_stand_alone_sig(&blob);
        let _ = saki_metadata::parse_type_spec(&blob);
        let _ = saki_metadata::parse_property_sig(&blob);
        let _ = saki_metadata::parse_method_body(&blob);
        let _ = saki_metadata::opcodes::decode(&blob).count();
    }
}
