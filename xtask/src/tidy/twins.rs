//! No type is defined twice.
//!
//! Two crates do not define public structs with the same field names, nor public enums with the same variants. And no
//! two structs at all, of one crate or of two, public or not, have fields of the same types: so twins are found whose
//! fields have got other names. That holds from three fields on if one is not a number, `bool` or `char`, and from five
//! on if they are not all of one type: "two counts and a flag" is not a twin. Twins are copied field by field where one
//! part hands its values to the other, and a field that is added to one of them is lost there. The type belongs into
//! the lower crate of the two, or into `abi` if neither lies below the other.
//!
//! Structs that hold the same types and mean different things stand in `DIFFERENT`, with what they mean. Left out:
//! structs and enums with fewer members, the lengths of arrays, and types of tests.

use super::findings::{Findings, SourceFile, source_crate_of};
use super::rust_text::{Token, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Structs with fields of the same types, and what tells them apart: more than names.
const DIFFERENT: [(&[&str], &str); 0] = [];

/// A struct or enum.
struct Type {
    line: usize,
    name: String,
    is_public: bool,
    /// Names of fields, or variants with what they hold. Empty for tuples.
    members: Vec<String>,
    /// Types of a struct's fields.
    fields: Vec<String>,
}

/// Types that have something in common: crate and place of each.
type Places<'a> = Vec<(&'a str, &'a Path, usize, String)>;

/// Checks all crates together.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    check_with(files, &DIFFERENT, findings);
}

fn check_with(files: &[SourceFile], different: &[(&[&str], &str)], findings: &mut Findings) {
    let mut by_names: BTreeMap<Vec<String>, Places<'_>> = BTreeMap::new();
    let mut by_types: BTreeMap<Vec<String>, Places<'_>> = BTreeMap::new();
    for file in files {
        let Some(name) = source_crate_of(&file.path) else { continue };
        for Type { line, name: ty, is_public, mut members, mut fields } in types(&tokens(&file.text)) {
            let place = (name, file.path.as_path(), line, ty);
            members.sort();
            fields.sort();
            if is_public && members.len() >= MIN_MEMBERS {
                by_names.entry(members).or_default().push(place.clone());
            }
            if is_telling(&fields) {
                by_types.entry(fields).or_default().push(place);
            }
        }
    }
    let mut found = BTreeSet::new();
    for places in by_names.values() {
        let (first_crate, first_path, first_line, first) = &places[0];
        for (name, path, line, ty) in &places[1..] {
            if name != first_crate {
                let place = format!("{}:{first_line}", first_path.display());
                findings.error(path, *line, format!("{ty} has the same members as {first} ({place}): define it once"));
                found.insert((*path, *line));
            }
        }
    }
    let mut used = BTreeSet::new();
    for places in by_types.values() {
        let names: BTreeSet<&str> = places.iter().map(|(_, _, _, ty)| ty.as_str()).collect();
        if let Some(row) = different.iter().position(|(row, _)| row.iter().copied().collect::<BTreeSet<_>>() == names) {
            used.insert(row);
            continue;
        }
        let (_, first_path, first_line, first) = &places[0];
        for (_, path, line, ty) in &places[1..] {
            if found.insert((*path, *line)) {
                let place = format!("{}:{first_line}", first_path.display());
                let message = format!("{ty} has fields of the same types as {first} ({place}): define it once");
                findings.error(path, *line, message);
            }
        }
    }
    for (_, (names, _)) in different.iter().enumerate().filter(|(row, _)| !used.contains(row)) {
        let message = format!("{} are listed, but do not have the same types (any more)", names.join(", "));
        findings.error(Path::new("xtask/src/tidy/twins.rs"), 1, message);
    }
}

/// Fewer members are alike by chance.
const MIN_MEMBERS: usize = 2;
/// Fewer types are alike by chance. Measured on this workspace: of some 450 structs with three fields or more, four
/// pairs of three or four primitive fields are alike, and mean different things.
const MIN_FIELDS: usize = 3;
const MIN_PRIMITIVE_FIELDS: usize = 5;

/// Whether fields of these types, sorted, are more than chance.
fn is_telling(fields: &[String]) -> bool {
    match fields.iter().all(|field| is_primitive(field)) {
        true => fields.len() >= MIN_PRIMITIVE_FIELDS && fields.iter().any(|field| *field != fields[0]),
        false => fields.len() >= MIN_FIELDS,
    }
}

fn is_primitive(ty: &str) -> bool {
    const PRIMITIVES: [&str; 16] = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
        "usize",
    ];
    PRIMITIVES.contains(&ty)
}

/// All structs and enums with members.
fn types(tokens: &[Token<'_>]) -> Vec<Type> {
    let mut found = Vec::new();
    for (index, window) in tokens.windows(2).enumerate() {
        let [keyword, name] = window else { continue };
        if !matches!(keyword.text, "struct" | "enum") || !name.is_word() {
            continue;
        }
        let Some((is_tuple, body)) = body(&tokens[index + 2..]) else { continue };
        let is_struct = keyword.text == "struct";
        let parts = split(body).into_iter().map(without_attributes).filter(|part| !part.is_empty());
        let (mut members, mut fields) = (Vec::new(), Vec::new());
        for part in parts {
            let text = |tokens: &[Token<'_>]| tokens.iter().map(|token| token.text).collect::<String>();
            match (is_struct, is_tuple) {
                (true, true) => fields.push(text(part)),
                (true, false) => {
                    members.push(part[0].text.to_owned());
                    fields.push(text(part.get(2..).unwrap_or_default()));
                }
                (false, _) => members.push(text(part)),
            }
        }
        let is_public = index > 0 && tokens[index - 1].text == "pub";
        found.push(Type { line: keyword.line, name: name.text.to_owned(), is_public, members, fields });
    }
    found
}

/// What stands between the braces of a type, or for a tuple between the brackets; None for units.
fn body<'a, 'b>(tokens: &'a [Token<'b>]) -> Option<(bool, &'a [Token<'b>])> {
    let mut depth = 0i32;
    let mut start = None;
    let mut is_bound = false;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            ";" if depth == 0 => return None,
            "where" if depth == 0 => is_bound = true,
            "{" if depth == 0 => start = Some((false, index + 1)),
            "(" if depth == 0 && !is_bound => start = Some((true, index + 1)),
            _ => {}
        }
        depth += step(tokens, index);
        if matches!(token.text, "}" | ")")
            && depth == 0
            && let Some((is_tuple, start)) = start
        {
            return Some((is_tuple, &tokens[start..index]));
        }
    }
    None
}

/// By how much the token changes the depth of brackets; the end of an arrow is none.
fn step(tokens: &[Token<'_>], index: usize) -> i32 {
    match tokens[index].text {
        "{" | "(" | "[" | "<" => 1,
        ">" if index > 0 && tokens[index - 1].text == "-" => 0,
        "}" | ")" | "]" | ">" => -1,
        _ => 0,
    }
}

/// The parts between commas that are in no brackets.
fn split<'a, 'b>(tokens: &'a [Token<'b>]) -> Vec<&'a [Token<'b>]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for index in 0..tokens.len() {
        if tokens[index].text == "," && depth == 0 {
            parts.push(&tokens[start..index]);
            start = index + 1;
        }
        depth += step(tokens, index);
    }
    parts.push(&tokens[start..]);
    parts
}

/// The member without attributes and visibility.
fn without_attributes<'a, 'b>(mut member: &'a [Token<'b>]) -> &'a [Token<'b>] {
    loop {
        let skipped = match member {
            [first, ..] if first.text == "#" => 1 + bracketed(&member[1..]),
            [first, second, ..] if first.text == "pub" && second.text == "(" => 1 + bracketed(&member[1..]),
            [first, ..] if first.text == "pub" => 1,
            _ => return member,
        };
        member = &member[skipped..];
    }
}

/// Number of tokens up to the end of the bracket with which these begin.
fn bracketed(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0;
    for index in 0..tokens.len() {
        depth += step(tokens, index);
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(sources: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| SourceFile { path: path.into(), text: (*text).to_owned() };
        let files: Vec<SourceFile> = sources.iter().map(file).collect();
        let mut findings = Findings::default();
        check(&files, &mut findings);
        findings.errors
    }

    #[test]
    fn a_struct_copied_into_another_crate_is_found() {
        let low = "/// Doc.\n#[repr(C)]\npub struct Site<'a, T: Fn() -> u32> { pub at: u32, pub(crate) what: Vec<(u32, T)>, }";
        let high = "pub struct Place {\n    #[serde(skip)]\n    pub what: Option<u8>,\n    at: u64,\n}";
        let found = errors(&[("crates/low/src/a.rs", low), ("crates/high/src/b.rs", high)]);
        assert_eq!(
            found,
            ["crates/high/src/b.rs:1: Place has the same members as Site (crates/low/src/a.rs:3): define it once"]
        );
    }

    #[test]
    fn enums_are_twins_if_their_variants_hold_the_same() {
        let check = |low: &str, high: &str, expect: usize| {
            let found = errors(&[("crates/low/src/a.rs", low), ("crates/high/src/b.rs", high)]);
            assert_eq!(found.len(), expect, "{found:?}");
        };
        check("pub enum A { X, Y(u8) }", "pub enum B { Y(u8), X, }", 1);
        check("pub enum A { X, Y(u8) }", "pub enum B { X, Y(u16) }", 0);
        check("pub enum A { X, Y }", "pub enum B { X, Y, Z }", 0);
    }

    #[test]
    fn a_twin_with_renamed_fields_is_found() {
        let low = "pub struct Line { at: u32, pub file: Vec<&'static str>, pub(crate) no: u32 }";
        for high in [
            "pub struct Place { column: u32, path: Vec<&'a str>, line: u32, }",
            "struct Place<'a> where A: B { /// Doc.\n pub path: Vec<&'a str>, x: u32, #[cfg(y)] y: u32 }",
            "struct Place(u32, pub u32, Vec<&'static str>);",
            "fn f() { struct Place(pub(crate) Vec<&'static str>, u32, u32); }",
        ] {
            for path in ["crates/high/src/b.rs", "crates/low/src/b.rs"] {
                let found = errors(&[("crates/low/src/a.rs", low), (path, high)]);
                assert_eq!(found.len(), 1, "{high}: {found:?}");
                assert!(
                    found[0].contains("Place has fields of the same types as Line (crates/low/src/a.rs:1)"),
                    "{found:?}"
                );
            }
        }
        let numbers =
            "struct A { a: u8, b: u8, c: u8, d: u8, e: bool } struct B { f: u8, g: bool, h: u8, i: u8, j: u8 }";
        assert_eq!(errors(&[("crates/low/src/a.rs", numbers)]).len(), 1);
    }

    #[test]
    fn structs_that_are_listed_differ_and_the_list_has_no_others() {
        let text = "struct A { a: T, b: T, c: T } struct B { d: T, e: T, f: T }";
        let files = [SourceFile { path: "crates/a/src/a.rs".into(), text: text.to_owned() }];
        let mut findings = Findings::default();
        check_with(&files, &[(&["B", "A"], "the one is early, the other late")], &mut findings);
        assert!(findings.errors.is_empty(), "{:?}", findings.errors);
        check_with(&files, &[(&["B", "A"], "as above"), (&["C", "D"], "gone")], &mut findings);
        assert_eq!(findings.errors.len(), 1, "{:?}", findings.errors);
    }

    #[test]
    fn what_is_no_twin() {
        let check = |low: &str, high: &str| {
            assert_eq!(errors(&[("crates/low/src/a.rs", low), ("crates/high/src/b.rs", high)]), Vec::<String>::new());
        };
        check("pub struct A { a: X, b: u8, c: Y }", "pub struct B { d: X, e: u8 }");
        check("pub struct A { a: u32, b: u32, c: bool }", "pub struct B { d: u32, e: u32, f: bool }");
        check(
            "pub struct A { a: u8, b: u8, c: u8, d: u8, e: u8 }",
            "pub struct B { f: u8, g: u8, h: u8, i: u8, j: u8 }",
        );
        check("pub enum A { X(u8), Y(T), Z(U) }", "pub enum B { K(u8), L(T), M(U) }");
        check("pub struct A { a: u8, b: u8 }", "struct B { a: u8, b: u8 }");
        check("pub struct A { a: u8, b: u8 }", "pub(crate) struct B { a: u8, b: u8 }");
        check("pub struct A(u8, u8);", "pub struct B(u8, u8);");
        check("pub struct A { a: u8 }", "pub struct B { a: u8 }");
        check("pub struct A { a: u8, b: u8 }", "#[cfg(test)] mod t { pub struct B { a: u8, b: u8 } }");
        assert!(
            errors(&[
                ("crates/a/src/a.rs", "pub struct A { a: u8, b: u8 }"),
                ("crates/a/src/b.rs", "pub struct B { a: u8, b: u8 }")
            ])
            .is_empty()
        );
        assert!(
            errors(&[
                ("crates/a/src/a.rs", "pub struct A { a: u8, b: u8 }"),
                ("crates/b/tests/b.rs", "pub struct B { a: u8, b: u8 }")
            ])
            .is_empty()
        );
    }
}
