//! Names of the class library lie in its profile: no code asks for a type by a text, or whether an assembly is the core
//! assembly in order to compare names.
//!
//! `is_corlib` is the word by which such tests began. Crate `contract` has the tables of roles (`LibraryType`,
//! `FIELDS`, `LibraryMethod`), by which code asks instead (`Type::is`, `Method::library_role`). Some code asks whether
//! an image is the core assembly as such: the list of these files, with their reasons, may only shrink. Left out: what
//! tests do, and names that are compared without this word.

use super::findings::{Findings, SourceFile};
use super::rust_text::tokens;
use std::path::Path;

/// The word that is refused, as a field or a method.
const WORD: &str = "is_corlib";

/// Files that ask whether an image is the core assembly, and why.
const USERS: [(&str, &str); 14] = [
    ("crates/types/src/assembly.rs", "opens images and says of each whether it is the core assembly"),
    ("crates/types/src/binder.rs", "the first assembly of a domain is the core assembly"),
    ("crates/types/src/class.rs", "the core assembly defines the primitive types"),
    ("crates/types/src/domain.rs", "the field itself"),
    ("crates/types/src/ty.rs", "gives types their roles"),
    ("crates/types/src/library_members.rs", "tells types of the class libraries from those of programs"),
    ("crates/il/src/import/positions.rs", "all exceptions of the core assembly, as Mono's traces show them"),
    ("crates/il/src/import/operands.rs", "types of the core assembly load completely"),
    ("crates/reflect/src/callers.rs", "whole namespaces of the core assembly are no callers"),
    ("crates/reflect/src/emit/attributes.rs", "names of the core assembly's types are written without an assembly"),
    (
        "crates/runtime/src/exec/code_cache/encode.rs",
        "references to the core assembly are not listed, since all code has them",
    ),
    ("crates/runtime/src/exec/code_cache/key.rs", "types of the core assembly belong to no other module"),
    ("crates/runtime/src/exec/code_cache.rs", "all code depends on the core assembly"),
    ("crates/runtime/src/vm/domain_copy.rs", "each domain has its core assembly already"),
];

/// Checks all files against `USERS`.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    check_with(files, &USERS, findings);
}

fn check_with(files: &[SourceFile], users: &[(&str, &str)], findings: &mut Findings) {
    let of_crates = files.iter().filter(|file| is_program(&file.path));
    for file in of_crates {
        let mut places = tokens(&file.text).into_iter().filter(|token| token.text == WORD).map(|token| token.line);
        let is_listed = users.iter().any(|(path, _)| Path::new(path) == file.path);
        match places.next() {
            Some(line) if !is_listed => {
                let message = format!("{WORD}: ask for a role (`Type::is`, `Method::library_role`) instead");
                findings.error(&file.path, line, message);
            }
            None if is_listed => {
                findings.error(
                    Path::new(file!()),
                    1,
                    format!("USERS names {}, which needs no {WORD}", file.path.display()),
                );
            }
            _ => {}
        }
    }
    for (path, _) in users.iter().filter(|(path, _)| !files.iter().any(|file| file.path == Path::new(path))) {
        findings.error(Path::new(file!()), 1, format!("USERS names {path}, which is not there"));
    }
}

/// Whether the file is a part of a crate of the virtual machine.
fn is_program(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    matches!(parts[..], ["crates", _, "src", ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_files(sources: &[(&str, &str)], users: &[(&str, &str)], expected: &[&str]) {
        let file = |(path, text): &(&str, &str)| SourceFile { path: path.into(), text: (*text).to_owned() };
        let files: Vec<SourceFile> = sources.iter().map(file).collect();
        let mut findings = Findings::default();
        check_with(&files, users, &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{sources:?}: {:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    #[test]
    fn names_outside_the_profile_are_found() {
        let asks = "fn f(ty: Ty) -> bool { ty.is_corlib(\"System\", \"Decimal\") }";
        check_files(&[("crates/a/src/b.rs", asks)], &[], &["crates/a/src/b.rs:1: is_corlib"]);
        check_files(&[("crates/a/src/b.rs", "fn f(i: &Image) -> bool { i.is_corlib }")], &[], &["is_corlib"]);
        check_files(&[("crates/a/src/b.rs", asks)], &[("crates/a/src/b.rs", "a reason")], &[]);
        check_files(&[("crates/a/src/b.rs", "// is_corlib")], &[], &[]);
        check_files(&[("crates/a/tests/b.rs", asks)], &[], &[]);
    }

    #[test]
    fn the_list_only_shrinks() {
        check_files(&[("crates/a/src/b.rs", "")], &[("crates/a/src/b.rs", "a reason")], &["needs no is_corlib"]);
        check_files(&[], &[("crates/a/src/b.rs", "a reason")], &["which is not there"]);
    }
}
