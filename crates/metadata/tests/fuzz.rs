//! No changed copy of a seed makes a parser panic or hang: the readers of `fuzz/`, on any toolchain. `saki_mutation`
//! documents the variables that make the run longer.

use saki_metadata::walk::{read_attribute, read_method_body, read_resources, read_signature, walk, walk_symbols};
use saki_metadata::{CaEnumType, ElementType, Image, dump};
use saki_mutation::{read_seeds, survive};
use std::path::Path;

fn enums(_: &CaEnumType) -> Option<ElementType> {
    Some(ElementType::I2)
}

/// Number of methods whose symbols are read.
const METHOD_COUNT: u32 = 20;

/// Runs one target over the files of a folder of `fuzz/seeds`. The seeds themselves must parse: `read` returns how much
/// it found in a file.
fn check(target: &str, folder: &str, extensions: &[&str], read: fn(&[u8]) -> usize) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(folder);
    let seeds = read_seeds(&seeds, extensions);
    let bad = seeds.iter().position(|seed| read(seed) == 0);
    assert_eq!(bad, None, "a seed of {target} that its parser does not take");
    survive(target, &seeds, |bytes| {
        read(bytes);
    });
}

fn image_of(bytes: &[u8]) -> Option<Image> {
    Image::from_bytes("changed".to_owned(), bytes.to_vec()).ok()
}

#[test]
fn fuzz_images() {
    check("images", "", &["exe"], |bytes| {
        image_of(bytes).map_or(0, |image| {
            dump(&image);
            walk(&image, &enums).row_count as usize
        })
    });
}

#[test]
fn fuzz_symbols() {
    check("symbols", "", &["mdb", "pdb"], |bytes| walk_symbols(bytes.to_vec(), METHOD_COUNT));
}

#[test]
fn fuzz_signatures() {
    check("signatures", "signatures", &[], read_signature);
}

#[test]
fn fuzz_attributes() {
    check("attributes", "attributes", &[], |bytes| read_attribute(bytes, &enums));
}

#[test]
fn fuzz_bodies() {
    check("bodies", "bodies", &[], read_method_body);
}

#[test]
fn fuzz_resources() {
    check("resources", "resources", &[], |bytes| image_of(bytes).map_or(0, |image| read_resources(&image)));
}

#[test]
fn the_seeds_have_no_problem() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for seed in read_seeds(&folder, &["exe"]) {
        let report = walk(&image_of(&seed).expect("a valid image"), &enums);
        assert_eq!(report.problem_count, 0, "{:#?}", report.problems);
    }
}
