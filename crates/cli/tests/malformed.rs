//! Programs with malformed metadata that no compiler writes: they get exceptions, and the virtual machine goes on.
//! Needs `ilasm`. `cargo xtask mutate` looks for more such cases.

use saki_metadata::{Image, TableId};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A cell of a table and its new value.
type Change = (TableId, u32, usize, u32);

/// Assembles `malformed/NAME.il`, makes the changes and runs it; what it prints must be `expected`.
fn check(name: &str, test: &str, changes: impl Fn(&Image) -> Vec<Change>, expected: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/malformed/{name}.il"));
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}.exe"));
    let assembled =
        Command::new("ilasm").arg("/quiet").arg(format!("/output:{}", program.display())).arg(source).output();
    match assembled {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout)),
        Err(error) => return eprintln!("skipped: ilasm: {error}"),
    }
    let mut bytes = std::fs::read(&program).expect("ilasm wrote it");
    let image = Image::from_bytes(test.to_owned(), bytes.clone()).expect("ilasm's files open");
    for (table, rid, column, value) in changes(&image) {
        let place = image.cell_place(table, rid, column).expect("the row is there");
        let value = value.to_le_bytes();
        bytes[place.offset_bytes..][..place.width_bytes].copy_from_slice(&value[..place.width_bytes]);
    }
    std::fs::write(&program, bytes).expect("the folder is writable");
    let mut saki = Command::new("timeout");
    saki.arg("60").arg(env!("CARGO_BIN_EXE_saki")).arg("--no-cache").arg(&program);
    let done = saki.output().expect("timeout is there");
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(String::from_utf8_lossy(&done.stdout), expected, "{}\n{stderr}", done.status);
    assert!(done.status.success(), "{}\n{stderr}", done.status);
}

fn type_def(image: &Image, name: &str) -> u32 {
    (1..=image.row_count(TableId::TypeDef))
        .find(|&rid| image.type_def(rid).and_then(|row| image.string(row.name)).is_ok_and(|found| found == name))
        .expect("the type is there")
}

#[test]
fn unchanged() {
    check("types", "unchanged", |_| Vec::new(), "ran\nNullReferenceException\nran\nran\n");
}

#[test]
fn a_class_without_a_base_type() {
    let changes = |image: &Image| vec![(TableId::TypeDef, type_def(image, "Broken"), 3, 0)];
    check("types", "no-base", changes, "TypeLoadException\nTypeLoadException\nran\nran\n");
}

#[test]
fn a_type_nested_in_itself() {
    let changes = |image: &Image| vec![(TableId::NestedClass, 1, 1, type_def(image, "Nested"))];
    check("types", "nested-in-itself", changes, "ran\nNullReferenceException\nran\nTypeLoadException\n");
}

#[test]
fn a_signature_of_another_kind_of_method() {
    // That of the constructor becomes that of `Make`, which is static.
    let changes = |image: &Image| {
        let method = |name: &str| {
            (1..=image.row_count(TableId::MethodDef))
                .find(|&rid| {
                    image.method_def(rid).and_then(|row| image.string(row.name)).is_ok_and(|found| found == name)
                })
                .expect("the method is there")
        };
        let of_static = image.method_def(method("Make")).expect("the row is there").signature;
        vec![(TableId::MethodDef, method(".ctor"), 4, of_static.0)]
    };
    check("types", "static-signature", changes, "BadImageFormatException\nNullReferenceException\nran\nran\n");
}
