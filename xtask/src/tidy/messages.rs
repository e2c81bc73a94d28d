//! One door for messages: code of the virtual machine writes to standard output and standard error through
//! `saki_base::messages` only.
//!
//! The standard library's macros panic when the stream is closed or full, and a panic ends the process: the program
//! would lose its exit code to a message of Saki's. A handle of the stream would go past the door, too. Left out:
//! tests, benchmarks, examples and build scripts, whose messages are for us; system calls in signal handlers, which
//! must not take the streams' locks.

use super::findings::{Findings, SourceFile};
use super::modules::machine_files;
use super::rust_text::{Token, tokens};
use std::path::Path;

/// The door itself.
const DOOR: &str = "crates/base/src/messages.rs";

/// Macros that panic where they cannot write.
const MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// The streams' handles.
const HANDLES: [&str; 4] = ["stdout", "stderr", "Stdout", "Stderr"];

/// Checks that nothing but the door writes to the standard streams.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    for file in machine_files(files).into_iter().filter(|file| file.path != Path::new(DOOR)) {
        for (line, what) in writes(&tokens(&file.text)) {
            let message =
                format!("{what} goes past saki_base::messages: a closed or full stream must not end the process");
            findings.error(&file.path, line, message);
        }
    }
}

/// Line and text of each macro and handle.
fn writes(tokens: &[Token<'_>]) -> Vec<(usize, String)> {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text);
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if MACROS.contains(&token.text) && text(index + 1) == "!" {
            found.push((token.line, format!("{}!", token.text)));
        }
        // `io::stdout()`, and `use std::io::{stderr, ...}`; not `.stdout(...)` of a child process.
        let is_named = index.checked_sub(1).is_some_and(|before| matches!(text(before), "::" | "{" | ","));
        if HANDLES.contains(&token.text) && is_named && is_of_io(tokens, index) {
            found.push((token.line, format!("io::{}", token.text)));
        }
    }
    found
}

/// Whether the path that ends at `index`, perhaps in braces, leads through `io`.
fn is_of_io(tokens: &[Token<'_>], index: usize) -> bool {
    let statement = tokens[..index].iter().rposition(|token| matches!(token.text, ";" | "(" | ")" | "=" | "}" | "."));
    let path = &tokens[statement.map_or(0, |at| at + 1)..index];
    path.windows(2).any(|two| two[0].text == "io" && two[1].text == "::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_files(sources: &[(&str, &str)], expected: &[&str]) {
        let file = |(path, text): &(&str, &str)| SourceFile { path: path.into(), text: (*text).to_owned() };
        let files: Vec<SourceFile> = sources.iter().map(file).collect();
        let mut findings = Findings::default();
        check(&files, &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{sources:?}: {:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    #[test]
    fn what_goes_past_the_door_is_found() {
        for (text, expected) in [
            ("fn f() { println!(\"x\"); }", "println!"),
            ("fn f() { std::eprint!(\"x\") }", "eprint!"),
            ("fn f() -> u8 { dbg!(1) }", "dbg!"),
            ("fn f() { let _ = std::io::stdout().write_all(b\"x\"); }", "io::stdout"),
            ("use std::io::{self, Write}; fn f() { let mut out = io::stderr().lock(); }", "io::stderr"),
            ("use std::io::{Write, stdout};", "io::stdout"),
        ] {
            check_files(&[("crates/a/src/lib.rs", text)], &[expected]);
        }
        let below = ("crates/a/src/b.rs", "fn f() { print!(\"x\") }");
        check_files(&[("crates/a/src/lib.rs", "mod b;"), below], &["crates/a/src/b.rs:1: print!"]);
    }

    #[test]
    fn what_is_not_the_machines_is_free() {
        let print = "fn f() { println!(\"x\"); }";
        for path in
            ["crates/mutation/src/lib.rs", "crates/a/tests/b.rs", "crates/a/build.rs", "xtask/src/main.rs", DOOR]
        {
            check_files(&[(path, print)], &[]);
        }
        for text in [
            "#[cfg(test)] mod tests { fn f() { println!(\"x\"); } }",
            "// println!(\"x\")",
            "fn f(c: Command) { c.stdout(Stdio::null()).stderr(x); let Output { stdout, stderr } = c.output(); }",
            "macro_rules! print_all { () => {} }",
        ] {
            check_files(&[("crates/a/src/lib.rs", text)], &[]);
        }
        check_files(&[("crates/a/src/lib.rs", "#[cfg(test)] mod fixture;"), ("crates/a/src/fixture.rs", print)], &[]);
    }
}
