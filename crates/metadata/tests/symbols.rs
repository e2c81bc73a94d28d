//! Source positions from all three kinds of symbols: an embedded portable PDB, a portable PDB beside the image, and an
//! .mdb.

use saki_metadata::{Image, SourcePosition, SymbolFile, TableId};
use std::path::{Path, PathBuf};

const MDB: &[u8] = include_bytes!("../../../fuzz/seeds/lines.exe.mdb");
const PDB: &[u8] = include_bytes!("../../../fuzz/seeds/portable.pdb");

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds")
}

fn position(symbols: &SymbolFile, image: &Image, method: &str, il_offset: u32) -> Option<SourcePosition> {
    let is_named = |&rid: &u32| {
        let row = image.method_def(rid).expect("a row");
        image.string(row.name) == Ok(method)
    };
    let rid = (1..=image.row_count(TableId::MethodDef)).find(is_named).expect("the method exists");
    symbols.line(rid, il_offset)
}

/// Checks positions as mcs wrote them; `lines.cs` says how the files were made.
fn check_lines(program: &str) {
    let image = Image::open(&seeds().join(program)).expect("a valid image");
    let symbols = SymbolFile::find_for(&image).expect("symbols");
    let check = |method: &str, il_offset: u32, expected: (&str, u32, u32)| {
        let found = position(&symbols, &image, method, il_offset).expect("a position");
        assert_eq!((found.file.as_str(), found.line, found.column), expected, "{method} at {il_offset}");
    };
    check("get_Sum", 0, ("/src/lines.cs", 5, 26));
    check("Choose", 0, ("/src/lines.cs", 15, 30));
    check("Choose", 1, ("/src/lines.cs", 16, 9));
    check("Choose", 4, ("/src/lines.cs", 16, 9));
    check("Choose", 22, ("/src/lines.cs", 19, 19));
    check("Choose", 23, ("/src/generated.y", 100, 9));
    check("Choose", 31, ("/src/lines.cs", 23, 9));
    check("Choose", u32::MAX, ("/src/lines.cs", 24, 5));
    check("<Main>m__0", 11, ("/src/lines.cs", 35, 31));
    check("MoveNext", 46, ("/src/lines.cs", 28, 13));
    assert_eq!(position(&symbols, &image, "MoveNext", 32), None, "before the first sequence point");
    assert_eq!(position(&symbols, &image, "Reset", 0), None, "a method without lines");
    assert_eq!(symbols.line(0, 0), None);
    assert_eq!(symbols.line(1000, 0), None);
}

#[test]
fn mono_symbol_file() {
    check_lines("lines.exe");
}

#[test]
fn portable_pdb_beside_the_image() {
    check_lines("portable.exe");
}

#[test]
fn portable_pdb_inside_the_image() {
    check_lines("embedded.exe");
}

#[test]
fn symbols_of_another_build_are_refused() {
    let image = Image::open(&seeds().join("seed.exe")).expect("a valid image");
    assert!(SymbolFile::find_for(&image).is_none());
    for bytes in [MDB, PDB, b"", b"BSJB", b"nonsense"] {
        assert!(SymbolFile::from_bytes(&image, bytes.to_vec()).is_err());
    }
}
