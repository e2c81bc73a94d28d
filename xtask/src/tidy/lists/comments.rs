//! Lists of comments: reasons taken on trust, documentation that is not there, lines that are too long, and comments
//! that only point elsewhere.

use super::RustLine;

/// Where code wraps (`rustfmt.toml`), comments wrap as well.
const MAX_COLUMNS: usize = 120;

/// A comment line that is too long. Those of a file's tests count, too: they wrap like the others.
pub fn wide(lines: &[RustLine<'_>], index: usize) -> Option<String> {
    let columns = lines[index].text.chars().count();
    let is_wide = columns > MAX_COLUMNS && lines[index].text.trim_start().starts_with("//");
    is_wide.then(|| format!("{columns} columns"))
}

/// A SAFETY comment that points to another comment, or whose first line rests on the caller.
pub fn trust(lines: &[RustLine<'_>], index: usize) -> Option<String> {
    let (_, reason) = lines[index].comment.split_once("SAFETY:")?;
    let reason = reason.trim_start_matches([':', ' ']);
    (points_elsewhere(reason) || names_the_caller(reason)).then(|| reason.to_owned())
}

/// "as above", "see [`x`]", "the same as for y".
fn points_elsewhere(reason: &str) -> bool {
    const FIRST: [&str; 5] = ["same as ", "the same ", "as ", "see ", "like "];
    const THEN: [&str; 9] = ["above", "below", "before", "in", "for", "with", "there", "the one", "`"];
    let reason = reason.to_lowercase();
    FIRST
        .iter()
        .find_map(|first| reason.strip_prefix(first))
        .is_some_and(|rest| THEN.iter().any(|then| rest.trim_start_matches('[').starts_with(then)))
}

/// "the caller promises …", "by this function's contract". That the caller pins an object is a fact of the place: it
/// says who does.
fn names_the_caller(reason: &str) -> bool {
    let reason = reason.to_lowercase();
    let is_caller =
        reason.match_indices("the caller").any(|(at, found)| !reason[at + found.len()..].starts_with(" pins"));
    const CONTRACTS: [&str; 8] = [
        "this function's contract",
        "by the contract",
        "caller's promise",
        "caller's contract",
        "callers' promise",
        "callers' contract",
        "caller promise",
        "caller contract",
    ];
    is_caller || CONTRACTS.iter().any(|contract| reason.contains(contract))
}

/// A comment that begins with "As `y`".
pub fn as_another(lines: &[RustLine<'_>], index: usize) -> Option<String> {
    let words = lines[index].words();
    let begins = |index: usize| index == 0 || !lines[index - 1].is_comment() || ends_sentence(lines[index - 1].words());
    let is_found = words.strip_prefix("As ").is_some_and(|rest| rest.starts_with('`') || rest.starts_with("[`"));
    (is_found && begins(index)).then(|| words.to_owned())
}

fn ends_sentence(words: &str) -> bool {
    words.is_empty() || words.starts_with('#') || words.ends_with(['.', ':', ';', '|'])
}

/// A `pub` item without a doc comment above it.
pub fn without_docs(lines: &[RustLine<'_>], index: usize) -> Option<String> {
    const QUALIFIERS: [&str; 5] = ["const", "unsafe", "async", "extern", "\"\""];
    const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "const", "static", "type", "union"];
    if lines[index].is_test {
        return None;
    }
    let mut words = lines[index].code.split_whitespace().peekable();
    if words.next() != Some("pub") {
        return None;
    }
    let mut item = words.next()?;
    while QUALIFIERS.contains(&item)
        && words.peek().is_some_and(|next| QUALIFIERS.contains(next) || ITEMS.contains(next))
    {
        item = words.next()?;
    }
    let name = words.next().filter(|_| ITEMS.contains(&item))?;
    (!has_docs(lines, index))
        .then(|| format!("{item} {}", name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(name)))
}

/// Whether a doc comment stands above the item, attributes left aside.
fn has_docs(lines: &[RustLine<'_>], index: usize) -> bool {
    let mut in_attribute = false;
    for line in lines[..index].iter().rev() {
        let (code, comment) = (line.code.trim(), line.comment.trim());
        if comment.starts_with("///") || comment.starts_with("/**") || code.starts_with("#[doc") {
            return true;
        }
        // An attribute may be long: it is passed from its end to its beginning.
        let begins = code.starts_with("#[");
        in_attribute = !begins && (in_attribute || code.ends_with(']') && !code.contains(';'));
        if !begins && !in_attribute && !line.is_comment() {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::places_in;

    fn check(list: &str, text: &str, expected: &[&str]) {
        let found = places_in(list, &[("crates/a/src/b.rs", text)]);
        let expected: Vec<String> = expected.iter().map(|at| format!("crates/a/src/b.rs:{at}")).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn safety_by_trust() {
        check(
            "trust",
            "// SAFETY: as above.\nf();\n// SAFETY: as in `g`; it ends.",
            &["1 as above.", "3 as in `g`; it ends."],
        );
        check("trust", "// SAFETY: see [`g`].", &["1 see [`g`]."]);
        check("trust", "// SAFETY: the caller says so.", &["1 the caller says so."]);
        check("trust", "// SAFETY: by this function's contract.", &["1 by this function's contract."]);
        check("trust", "// SAFETY: the caller pins the object.\n// SAFETY: `index < len`, as `check` asserts.", &[]);
        check("trust", "// SAFETY: as long as the lock is held.\nlet s = \"SAFETY: as above\";", &[]);
    }

    #[test]
    fn comments_that_point_elsewhere() {
        check("as", "/// As `f`, for words.\nfn g() {}\n// As [`f`].", &["1 As `f`, for words.", "3 As [`f`]."]);
        check("as", "/// It does this. Well\n/// As `f` does.\n// As long as it holds.\nlet s = \"As `f`\";", &[]);
        check("as", "/// Does it.\n///\n/// As `f`.\n///\n/// # Errors\n/// As `g`.", &["3 As `f`.", "6 As `g`."]);
    }

    #[test]
    fn long_comment_lines() {
        let line = |len: usize| format!("    // {}\n", "x".repeat(len - 7));
        check("wide", &line(120), &[]);
        check("wide", &line(121), &["1 121 columns"]);
        check("wide", &format!("let a = \"{}\";", "x".repeat(130)), &[]);
        check("wide", &format!("// {}", "ü".repeat(117)), &[]);
    }

    #[test]
    fn public_items_without_docs() {
        check("docs", "pub fn f() {}\n/// Doc.\npub fn g() {}\n    pub const A: u8 = 1;", &["1 fn f", "4 const A"]);
        check("docs", "pub unsafe extern \"C\" fn f() {}\npub const fn g<T>() {}", &["1 fn f", "2 fn g"]);
        check(
            "docs",
            "/// Doc.\n#[derive(A)]\n#[repr(C)] // so\npub struct S;\npub(crate) struct T;\npub use a::b;\npub mod c;",
            &[],
        );
        check("docs", "/// Doc.\n#[expect(\n    lint,\n    reason = \"so\"\n)]\npub struct S { pub field: u8 }", &[]);
        check("docs", "#[cfg(test)]\nmod tests {\npub fn f() {}\n}\n// Not a doc.\npub type A = B;", &["6 type A"]);
    }
}
