//! No two crates define the same type: public structs with the same field names, or public enums with the same variants.
//!
//! Such twins are copied field by field where one crate hands its values to the other, and a field that is added to one of them is lost
//! there. The type belongs into the lower crate of the two, or into `abi` if neither lies below the other.
//!
//! Left out: structs and enums with fewer than two members, tuple structs, types that are not `pub`.

use super::findings::{Findings, SourceFile};
use super::rust_text::{Token, tokens};
use std::collections::BTreeMap;
use std::path::Path;

/// Types that have the same members: crate and place of each.
type Places<'a> = Vec<(&'a str, &'a Path, usize, String)>;

/// Checks all crates together.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    let mut known: BTreeMap<Vec<String>, Places<'_>> = BTreeMap::new();
    for file in files {
        let Some(name) = crate_of(&file.path) else { continue };
        for (line, ty, mut members) in types(&tokens(&file.text)) {
            members.sort();
            if members.len() >= 2 {
                known.entry(members).or_default().push((name, &file.path, line, ty));
            }
        }
    }
    for places in known.values() {
        let (first_crate, first_path, first_line, first) = &places[0];
        for (name, path, line, ty) in &places[1..] {
            if name != first_crate {
                let place = format!("{}:{first_line}", first_path.display());
                findings.error(path, *line, format!("{ty} has the same members as {first} ({place}): define it once"));
            }
        }
    }
}

/// The folder of the crate to whose sources the file belongs.
fn crate_of(path: &Path) -> Option<&str> {
    let mut parts = path.iter().filter_map(|part| part.to_str());
    let (folder, name, sources) = (parts.next()?, parts.next()?, parts.next()?);
    (folder == "crates" && sources == "src").then_some(name)
}

/// Line, name and members of each public struct and enum.
fn types(tokens: &[Token<'_>]) -> Vec<(usize, String, Vec<String>)> {
    let mut found = Vec::new();
    for (index, window) in tokens.windows(3).enumerate() {
        let [visibility, keyword, name] = window else { continue };
        if visibility.text != "pub" || !matches!(keyword.text, "struct" | "enum") {
            continue;
        }
        let Some(body) = body(&tokens[index + 3..]) else { continue };
        let is_struct = keyword.text == "struct";
        let members = split(body).into_iter().filter_map(|member| describe(member, is_struct)).collect();
        found.push((keyword.line, name.text.to_owned(), members));
    }
    found
}

/// What stands between the braces of a type; None for tuples and units.
fn body<'a, 'b>(tokens: &'a [Token<'b>]) -> Option<&'a [Token<'b>]> {
    let mut depth = 0i32;
    let mut start = None;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | ";" if depth == 0 => return None,
            "{" if depth == 0 => start = Some(index + 1),
            _ => {}
        }
        depth += step(tokens, index);
        if token.text == "}" && depth == 0 {
            return start.map(|start| &tokens[start..index]);
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

/// The name of a struct's field, or a variant with what it holds. None for what is left behind the last comma.
fn describe(mut member: &[Token<'_>], is_struct: bool) -> Option<String> {
    // Attributes, and for fields a visibility.
    loop {
        let skipped = match member {
            [first, ..] if first.text == "#" => 1 + bracketed(&member[1..]),
            [first, second, ..] if first.text == "pub" && second.text == "(" => 1 + bracketed(&member[1..]),
            [first, ..] if first.text == "pub" => 1,
            _ => break,
        };
        member = &member[skipped..];
    }
    let name = member.first()?.text;
    if is_struct {
        return Some(name.to_owned());
    }
    Some(format!("{name}{}", member[1..].iter().map(|token| token.text).collect::<String>()))
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
    fn what_is_no_twin() {
        let check = |low: &str, high: &str| {
            assert_eq!(errors(&[("crates/low/src/a.rs", low), ("crates/high/src/b.rs", high)]), Vec::<String>::new());
        };
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
