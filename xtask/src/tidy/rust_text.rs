//! Rust text cut into the tokens that tell which module names which: words, `::`, braces, plain strings (for `#[path =
//! "…"]`) and single marks.
//!
//! Comments, other literals and lifetimes are dropped, and so are items behind a `cfg` that asks for `test`: what is
//! left is the code of the program. Left out: whatever needs a parser. A text that rustc refuses gives some tokens or
//! other.

/// A token with its line, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token<'a> {
    pub text: &'a str,
    pub line: usize,
}

impl Token<'_> {
    /// A word, `crate`, `super` and `self` among them. Raw words keep their `r#`.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// The tokens of a file, without those of its tests.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    without_tests(&all_tokens(text)).0
}

/// First and last line of each item behind a `cfg` that asks for `test`.
pub fn test_lines(text: &str) -> Vec<(usize, usize)> {
    without_tests(&all_tokens(text)).1
}

/// Length of the comment or literal with which the text begins, and whether it is a comment. None for code.
pub fn comment_or_literal_len(text: &str) -> Option<(usize, bool)> {
    let first = text.chars().next()?;
    match first {
        _ if text.starts_with("//") => Some((text.find('\n').unwrap_or(text.len()), true)),
        _ if text.starts_with("/*") => Some((block_comment_len(text), true)),
        '"' => Some((quoted_len(text, '"'), false)),
        '\'' => Some((quote_len(text), false)),
        'b' | 'r' | 'c' => {
            let word = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
            literal_len(text, word).map(|len| (len, false))
        }
        _ => None,
    }
}

fn all_tokens(text: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => block_comment_len(rest),
            '"' => {
                let len = quoted_len(rest, '"');
                out.push(Token { text: &rest[..len], line });
                len
            }
            '\'' => quote_len(rest),
            '0'..='9' => rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()),
            c if c.is_alphabetic() || c == '_' => {
                let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                match literal_len(rest, word) {
                    Some(len) => len,
                    None => {
                        out.push(Token { text: &rest[..word], line });
                        word
                    }
                }
            }
            _ if rest.starts_with("::") => {
                out.push(Token { text: "::", line });
                2
            }
            c => {
                if !c.is_whitespace() {
                    out.push(Token { text: &rest[..c.len_utf8()], line });
                }
                c.len_utf8()
            }
        };
        line += rest[..len].matches('\n').count();
        at += len;
    }
    out
}

/// Comments nest.
fn block_comment_len(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Length of a literal that begins with `quote` and may have escapes.
fn quoted_len(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of a character or of a lifetime.
fn quote_len(text: &str) -> usize {
    let mut chars = text.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted_len(text, '\''),
        _ => 1 + text[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - 1),
    }
}

/// Length of a literal with a prefix (`b"…"`, `r#"…"#`, `c"…"`, `b'…'`) whose first `word` bytes look like a word.
fn literal_len(text: &str, word: usize) -> Option<usize> {
    let prefix = &text[..word];
    let behind = &text[word..];
    if !matches!(prefix, "b" | "r" | "c" | "br" | "cr") {
        return None;
    }
    if prefix.ends_with('r') {
        let hashes = behind.len() - behind.trim_start_matches('#').len();
        let end = format!("\"{}", &behind[..hashes]);
        let body = behind[hashes..].strip_prefix('"')?;
        return Some(text.len() - body.len() + body.find(&end).map_or(body.len(), |at| at + end.len()));
    }
    match behind.chars().next()? {
        quote @ ('"' | '\'') => Some(word + quoted_len(behind, quote)),
        _ => None,
    }
}

/// The tokens without items whose attributes have a `cfg` that asks for `test`, and the lines of those items.
fn without_tests<'a>(tokens: &[Token<'a>]) -> (Vec<Token<'a>>, Vec<(usize, usize)>) {
    let mut out: Vec<Token<'a>> = Vec::new();
    let mut dropped = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(end) = attribute_end(tokens, at) else {
            out.push(tokens[at]);
            at += 1;
            continue;
        };
        if !asks_for_test(&tokens[at..end]) {
            out.extend(&tokens[at..end]);
            at = end;
            continue;
        }
        let first = tokens[at].line;
        at = end;
        while let Some(end) = attribute_end(tokens, at) {
            at = end;
        }
        at = item_end(tokens, at);
        dropped.push((first, tokens[at - 1].line));
    }
    (out, dropped)
}

/// Where an outer attribute that begins at `at` ends.
fn attribute_end(tokens: &[Token], at: usize) -> Option<usize> {
    let is = |index: usize, text: &str| tokens.get(index).is_some_and(|token| token.text == text);
    (is(at, "#") && is(at + 1, "[")).then(|| group_end(tokens, at + 1))
}

/// The first position behind the bracket that closes the one at `at`.
fn group_end(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// Behind the `;`, the block or the comma with which an item, a statement or a field ends.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.text {
            ";" | "," => return at + 1,
            "{" => return group_end(tokens, at),
            "(" | "[" => at = group_end(tokens, at),
            // Of a field without a comma: the brace belongs to what is around it.
            "}" => return at,
            _ => at += 1,
        }
    }
    at
}

/// `#[cfg(test)]`, `#[cfg(all(test, loom))]`; not `#[cfg(not(test))]`, whose item is the program's.
fn asks_for_test(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute.iter().map(|token| token.text).collect();
    let is_negated = words.windows(3).any(|three| three == ["not", "(", "test"]);
    words.get(2) == Some(&"cfg") && words.contains(&"test") && !is_negated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found: Vec<&str> = tokens(text).into_iter().map(|token| token.text).collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }

    #[test]
    fn what_is_no_code_is_dropped() {
        check("a::b // c::d\n; /* e /* f */ g */ h", "a :: b ; h");
        check(r##"f("x\"y", r#"a"b"#, b"z", c"w", 'q', '\'', b'"', 0x1f_u32)"##, r#"f ( "x\"y" , , , , , , , )"#);
        check("fn f<'a>(x: &'a str) -> &'static T {}", "fn f < > ( x : & str ) - > & T { }");
        check("let r = b; r#type", "let r = b ; r # type");
    }

    #[test]
    fn items_for_tests_are_dropped() {
        check("a; #[cfg(test)] mod tests { b { c } } d", "a ; d");
        check("#[cfg(all(test, loom))] #[path = \"x.rs\"] mod model; d", "d");
        check("#[cfg(test)] fn f(x: [u8; 2]) -> u8 { 1 } d", "d");
        check("#[cfg(not(test))] mod a; d", "# [ cfg ( not ( test ) ) ] mod a ; d");
        check("struct S { #[cfg(test)] a: A, b: B }", "struct S { b : B }");
        check("struct S { #[cfg(test)] a: A }", "struct S { }");
    }

    #[test]
    fn the_lines_of_tests_are_told() {
        assert_eq!(test_lines("a;\n#[cfg(test)]\nmod tests {\n b\n}\nd;\n#[cfg(test)]\nmod model;"), [(2, 5), (7, 8)]);
    }

    #[test]
    fn comments_and_literals_are_measured() {
        let check = |text: &str, expected| assert_eq!(comment_or_literal_len(text), expected, "{text}");
        check("// a\nb", Some((4, true)));
        check("/* a */ b", Some((7, true)));
        check("r#\"a\"# b", Some((6, false)));
        check("'a' b", Some((3, false)));
        check("&'a b", None);
        check("bcd", None);
    }

    #[test]
    fn lines_are_counted_through_everything() {
        let text = "a\n/* \n */ r\"\n\" b";
        assert_eq!(tokens(text), [Token { text: "a", line: 1 }, Token { text: "b", line: 4 }]);
    }
}
