//! Orderings of atomics without a reason.
//!
//! A reason is a comment that speaks of ordering, in the statement, in the five lines above it, or in the function's
//! documentation; or one that stands once for many uses: the file's header or a table of states in the file that names
//! the ordering, or a comment on the declaration of the field or static that names it. Left out: whether it is true.

use super::{Place, Program, RustLine};
use std::collections::HashMap;

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
/// How far above a statement its reason may stand.
const REACH_LINES: usize = 5;
/// Longer statements are not looked through to their end.
const STATEMENT_LINES: usize = 14;

/// Each ordering without a reason.
pub fn places<'a>(programs: &'a [Program<'a>]) -> Vec<Place<'a>> {
    let declared = declarations(programs);
    let mut found = Vec::new();
    for program in programs {
        let tables = tables(&program.lines);
        let mut in_use = false;
        for (index, line) in program.lines.iter().enumerate() {
            let code = line.code.trim();
            in_use |= code.starts_with("use ") || code.starts_with("pub use ");
            for (at, ordering) in orderings(&line.code).filter(|_| !in_use && !line.is_test) {
                let says = |text: &String| text.contains(ordering);
                let on_field = receiver(&program.lines, index, at).is_some_and(|name| {
                    let here = declared.get(&(program.path.to_str().unwrap_or_default(), name.clone()));
                    here.or_else(|| declared.get(&(program.krate, name))).is_some_and(says)
                });
                if !on_field && !says(&tables) && !is_explained(&program.lines, index) {
                    found.push(program.place(index, ordering.to_owned()));
                }
            }
            in_use &= !code.ends_with(';');
        }
    }
    found
}

/// Column and name of each ordering in the code.
fn orderings(code: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let find = move |name: &'static str| {
        let is_whole = move |at: &usize| {
            let (before, behind) = (&code[..*at], &code[*at + name.len()..]);
            let is_of_another = before.ends_with("::") && !before.ends_with("Ordering::");
            !is_of_another && !before.ends_with(is_part) && !behind.starts_with(is_part)
        };
        code.match_indices(name).map(|(at, _)| at).filter(is_whole).map(move |at| (at, name))
    };
    ORDERINGS.into_iter().flat_map(find)
}

/// Whether a comment in reach speaks of ordering.
fn is_explained(lines: &[RustLine<'_>], index: usize) -> bool {
    let first = statement(lines, index);
    let last = (index..lines.len().min(index + STATEMENT_LINES)).find(|at| ends_statement(lines[*at].code.trim()));
    let speaks = |line: &RustLine<'_>| speaks_of_ordering(line.words());
    if lines[first..=last.unwrap_or(index)].iter().any(speaks) {
        return true;
    }
    // The lines above, until the function begins.
    for line in lines[first.saturating_sub(REACH_LINES)..first].iter().rev() {
        if is_function(&line.code) {
            break;
        }
        if speaks(line) {
            return true;
        }
    }
    let Some(function) = lines[..=first].iter().rposition(|line| is_function(&line.code)) else { return false };
    let docs =
        lines[..function].iter().rev().take_while(|line| line.is_comment() || line.code.trim().starts_with("#["));
    docs.into_iter().any(speaks) || speaks(&lines[function])
}

/// The first line of the statement to which the line belongs.
fn statement(lines: &[RustLine<'_>], index: usize) -> usize {
    let mut first = index;
    for at in (index.saturating_sub(STATEMENT_LINES)..index).rev() {
        let code = lines[at].code.trim();
        if ends_statement(code) {
            break;
        }
        if !code.is_empty() {
            first = at;
        }
    }
    first
}

fn ends_statement(code: &str) -> bool {
    code.ends_with([';', '{', '}'])
}

fn is_function(code: &str) -> bool {
    code.split_whitespace().take_while(|word| !word.contains('{')).any(|word| word == "fn")
}

fn speaks_of_ordering(words: &str) -> bool {
    const WORDS: [&str; 11] = [
        "acquire",
        "release",
        "acqrel",
        "relaxed",
        "seqcst",
        "order",
        "pairs",
        "publish",
        "fence",
        "barrier",
        "synchroni",
    ];
    let words = words.to_lowercase();
    WORDS.iter().any(|word| words.contains(word))
}

/// The file's header and the rows of tables in its comments.
fn tables(lines: &[RustLine<'_>]) -> String {
    let counts = |line: &&RustLine<'_>| line.comment.trim().starts_with("//!") || line.words().starts_with('|');
    lines.iter().filter(counts).map(RustLine::words).collect()
}

/// What comments say on each declaration of an atomic, by its name and its file, and by its name and its crate.
fn declarations<'a>(programs: &'a [Program<'a>]) -> HashMap<(&'a str, String), String> {
    let mut found: HashMap<(&str, String), String> = HashMap::new();
    for program in programs {
        for (index, line) in program.lines.iter().enumerate() {
            let Some((name, ty)) = line.code.split_once(':') else { continue };
            if !ty.contains("Atomic") && !ty.contains("Cell") || line.code.trim_start().starts_with("fn ") {
                continue;
            }
            let Some(name) = name.split_whitespace().next_back() else { continue };
            let above = program.lines[..index].iter().rev();
            let above = above.take_while(|line| line.is_comment() || line.code.trim().starts_with("#["));
            let mut words: String = above.map(|line| format!("{} ", line.words())).collect();
            words.push_str(line.words());
            for scope in [program.path.to_str().unwrap_or_default(), program.krate] {
                found.entry((scope, name.to_owned())).or_default().push_str(&words);
            }
        }
    }
    found
}

/// The field or static on which the method is called whose arguments have the ordering at this line and column.
fn receiver(lines: &[RustLine<'_>], index: usize, at: usize) -> Option<String> {
    let above: String = lines[statement(lines, index)..index].iter().map(|line| line.code.as_str()).collect();
    let code = above + &lines[index].code[..at];
    let code = before_group(&code)?;
    // `name.load`, `name[index].load`, `name ().load`.
    let (mut object, _method) = code.trim_end().rsplit_once('.')?;
    object = object.trim_end();
    while object.ends_with([')', ']']) {
        object = before_group(&object[..object.len() - 1])?.trim_end();
    }
    let name = object.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// The code before the bracket that is open at its end.
fn before_group(code: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, c) in code.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth == 0 => return Some(&code[..at]),
            '(' | '[' | '{' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::places_in;

    fn check(text: &str, expected: &[&str]) {
        let found = places_in("orderings", &[("crates/a/src/b.rs", text)]);
        let expected: Vec<String> = expected.iter().map(|at| format!("crates/a/src/b.rs:{at}")).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_reason_nearby() {
        check("fn f() {\n    a.load(Ordering::Acquire);\n}", &["2 Acquire"]);
        check("fn f() {\n    // Acquire: pairs with the Release in `g`.\n    a.load(Ordering::Acquire);\n}", &[]);
        check(
            "fn f() {\n    a.load(Acquire); // pairs with `g`\n    a\n        // Relaxed: a counter.\n        .load(Relaxed);\n}",
            &[],
        );
        check("/// It publishes.\n#[inline]\nfn f() {\n    let b = 1;\n\n\n\n\n\n    a.store(b, Release);\n}", &[]);
        check(
            "fn f() {\n    // The number.\n    a.load(Acquire);\n}\nfn g() {\n    a.swap(1, AcqRel)\n}",
            &["3 Acquire", "6 AcqRel"],
        );
        check("fn f() {\n    // Relaxed: a counter.\n}\nfn g() {\n    a.load(Relaxed);\n}", &["5 Relaxed"]);
    }

    #[test]
    fn a_reason_for_an_atomic() {
        let of_file = "//! | FREE | TAKEN | owner, Release |\nuse a::b;\n";
        check(&format!("{of_file}fn f() {{\n    a.store(1, Release);\n    a.load(Acquire);\n}}"), &["5 Acquire"]);
        let field =
            "struct S {\n    /// How many. Relaxed: a counter.\n    count: AtomicU32,\n    other: AtomicU32,\n}\n";
        check(&format!("{field}fn f() {{\n    self.count.load(Relaxed);\n}}"), &[]);
        check(&format!("{field}fn f() {{\n    S::all()[1].count()\n        .fetch_add(g(2), Relaxed);\n}}"), &[]);
        check(&format!("{field}fn f() {{\n    s.other.load(Relaxed);\n}}"), &["7 Relaxed"]);
        check(&format!("{field}fn f() {{\n    s.count.load(Acquire);\n}}"), &["7 Acquire"]);
    }

    #[test]
    fn what_is_no_use_of_an_ordering() {
        check("use std::sync::atomic::Ordering::{\n    Acquire, Relaxed,\n};\n// Acquire\nlet s = \"Relaxed\";", &[]);
        check("#[cfg(test)]\nmod tests {\n    fn f() { a.load(Relaxed); }\n}\nfn f(a: ReleaseRelaxed) {}", &[]);
        check("fn f() { match a { Command::Release(b) => b } }", &[]);
    }
}
