//! Rust text line by line, code apart from comments.
//!
//! The checks that weigh comments against the code beside them (`lists`) look at this. Literals keep their quotes and
//! lose their content, so that nothing inside is taken for code. Left out: whatever needs a parser.

use super::rust_text::{comment_or_literal_len, test_lines};

/// A line of a file.
pub struct RustLine<'a> {
    /// The line to the letter.
    pub text: &'a str,
    /// Its code: comments are left out, literals are `""`.
    pub code: String,
    /// Its comment, with the marks (`//`, `///`, `//!`) in front.
    pub comment: String,
    /// Whether the line belongs to an item of the file's tests.
    pub is_test: bool,
}

impl RustLine<'_> {
    /// Whether the line has a comment and no code.
    pub fn is_comment(&self) -> bool {
        !self.comment.trim().is_empty() && self.code.trim().is_empty()
    }

    /// Whether the line has code that is not an attribute.
    pub fn is_statement(&self) -> bool {
        let code = self.code.trim();
        !code.is_empty() && !code.starts_with("#[") && !code.starts_with("#![")
    }

    /// The comment's words, without its marks.
    pub fn words(&self) -> &str {
        self.comment.trim().trim_start_matches('/').trim_start_matches('!').trim()
    }
}

/// All lines of the text.
pub fn lines(text: &str) -> Vec<RustLine<'_>> {
    let (mut code, mut comments) = (String::with_capacity(text.len()), String::new());
    let mut at = 0;
    let mut in_word = false;
    while let Some(first) = text[at..].chars().next() {
        let found = if in_word && first != '"' && first != '/' { None } else { comment_or_literal_len(&text[at..]) };
        let (len, is_comment) = found.unwrap_or((first.len_utf8(), false));
        let part = &text[at..at + len];
        match (found, is_comment) {
            (Some(_), true) => {
                comments.push_str(part);
                code.extend(part.chars().filter(|c| *c == '\n'));
            }
            (Some(_), false) if part.starts_with('\'') && !part.ends_with('\'') => code.push_str(part),
            (Some(_), false) => {
                code.push_str("\"\"");
                for _ in part.matches('\n') {
                    code.push('\n');
                    comments.push('\n');
                }
            }
            (None, _) => {
                code.push(first);
                if first == '\n' {
                    comments.push('\n');
                }
            }
        }
        in_word = found.is_none() && (first.is_alphanumeric() || first == '_');
        at += len;
    }
    let tests = test_lines(text);
    let is_test = |number: usize| tests.iter().any(|(first, last)| (*first..=*last).contains(&number));
    let all = text.lines().zip(code.split('\n')).zip(comments.split('\n'));
    let line = |(index, ((text, code), comment)): (usize, ((_, &str), &str))| RustLine {
        text,
        code: code.to_owned(),
        comment: comment.to_owned(),
        is_test: is_test(index + 1),
    };
    all.enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_apart() {
        let text = "a(\"x // y\"); // b\n/* c\nd */ e\nlet s = \"\n\"; f // g\n#[cfg(test)]\nmod tests { h }\n'a i\n";
        let expected = [
            ("a(\"\"); ", "// b"),
            ("", "/* c"),
            (" e", "d */"),
            ("let s = \"\"", ""),
            ("; f ", "// g"),
            ("#[cfg(test)]", ""),
            ("mod tests { h }", ""),
            ("'a i", ""),
        ];
        let found = lines(text);
        let parts: Vec<(&str, &str)> = found.iter().map(|line| (line.code.as_str(), line.comment.as_str())).collect();
        assert_eq!(parts, expected);
        let is_test: Vec<usize> = (0..8).filter(|index| found[*index].is_test).collect();
        assert_eq!(is_test, [5, 6]);
    }

    #[test]
    fn words_have_no_marks() {
        let found = lines("//! Says.\n/// Doc.\n// As.\n");
        assert_eq!(found.iter().map(RustLine::words).collect::<Vec<_>>(), ["Says.", "Doc.", "As."]);
    }
}
