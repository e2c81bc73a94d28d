//! Rules about one Rust file: its header, its length, and constructions that are not used here.
//!
//! The rules look at lines of text, not at a syntax tree: they are for people who forget, not for
//! people who hide. Comment lines are skipped where a rule is about code.

use regex::Regex;
use std::path::Path;

use super::findings::{Findings, SourceFile};

/// A longer file must be split.
const MAX_LINES: usize = 1500;

/// A longer file should be split, or say in its header why not.
const LONG_LINES: usize = 800;

/// How far above an unsafe block its SAFETY comment may begin; long reasons and multi-line statements fit.
const SAFETY_REACH_LINES: usize = 10;

/// The one file that makes threads: each begins and ends with the program's signals blocked, and has a stack for them
/// in between.
const DOOR_OF_THREADS: &str = "crates/os/src/thread.rs";

/// The one file that reads `errno`, in functions that are never inlined: its header says why.
const DOOR_OF_ERRNO: &str = "crates/os/src/error.rs";

/// File names that say nothing about their content.
const VAGUE_NAMES: [&str; 4] = ["util.rs", "utils.rs", "misc.rs", "stuff.rs"];

/// The rules, with their expressions compiled.
pub struct Rules {
    /// Constructions that no code line may contain, with the reason.
    banned: Vec<(Regex, &'static str)>,
    thread_making: Regex,
    errno_reading: Regex,
    unsafe_block: Regex,
    machine_path: Regex,
    string_literal: Regex,
}

impl Rules {
    /// Errors: a rule's own expression is malformed.
    pub fn new() -> Result<Rules, String> {
        let regex = |text: &str| Regex::new(text).map_err(|e| e.to_string());
        Ok(Rules {
            banned: vec![
                (regex(r"\b(?:todo|unimplemented)!\s*[(\[{]")?, "raise a clear error instead of a placeholder macro"),
                (regex(r"#!?\[allow\b")?, "use #[expect(lint, reason = \"...\")]"),
                (regex(r"\bpub(?:\([a-z: ]+\))?\s+use\s+[^;]*::\*")?, "name what is re-exported"),
            ],
            // Not `saki_thread::spawn` and `saki_os::thread::start`, which go through the door.
            thread_making: regex(
                r"(?:^|[^\w.])(?:std::)?thread::(?:spawn|scope|Builder)\b|\bpthread_create\b|\bSYS_clone",
            )?,
            errno_reading: regex(r"\blast_os_error\b|\b__errno_location\b")?,
            unsafe_block: regex(r"\bunsafe\s*\{|\bunsafe\s+impl\b")?,
            machine_path: regex(r#"["'` ](?:/work|/tmp|/root)/\w"#)?,
            string_literal: regex(r#""(?:[^"\\]|\\.)*""#)?,
        })
    }

    /// Checks one file by itself.
    pub fn check(&self, file: &SourceFile, findings: &mut Findings) {
        let path = &file.path;
        let lines: Vec<&str> = file.text.lines().collect();
        let first = lines.iter().find(|l| !l.trim().is_empty() && !l.starts_with("#!["));
        if !first.is_some_and(|line| line.starts_with("//!")) {
            findings.error(path, 1, "the file does not begin with a //! header");
        }
        if path.file_name().and_then(|n| n.to_str()).is_some_and(|name| VAGUE_NAMES.contains(&name)) {
            findings.error(path, 1, "name the file after what it holds");
        }
        if path.ends_with("mod.rs") && path.iter().any(|part| part == "src") {
            findings.error(path, 1, "a module's file lies beside its folder and has its name (x.rs and x/)");
        }
        if lines.len() > MAX_LINES {
            findings.error(path, MAX_LINES, format!("{} lines; {MAX_LINES} are the limit", lines.len()));
        } else if lines.len() > LONG_LINES {
            findings.warning(
                path,
                LONG_LINES,
                format!("{} lines; split it, or say in the header why not", lines.len()),
            );
        }
        let mut is_test = is_for_tests(path);
        for (index, line) in lines.iter().enumerate() {
            let number = index + 1;
            // Unit tests end a file.
            is_test |= line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
            if self.machine_path.is_match(line) {
                findings.error(path, number, "a path of one machine");
            }
            if line.trim_start().starts_with("//") {
                continue;
            }
            let code = self.string_literal.replace_all(line, "\"\"");
            for (pattern, reason) in &self.banned {
                // An attribute with a reason on the same line has been thought about.
                if pattern.is_match(&code) && !code.contains("reason =") {
                    findings.error(path, number, reason);
                }
            }
            if !is_test && self.thread_making.is_match(&code) {
                findings.error(
                    path,
                    number,
                    "threads are made by saki_os::thread (a stack for signals) or saki_thread::spawn",
                );
            }
            if !is_test && path != Path::new(DOOR_OF_ERRNO) && self.errno_reading.is_match(&code) {
                findings.error(path, number, "errno is read by saki_os::error: green threads change their OS thread");
            }
            if self.unsafe_block.is_match(&code) {
                let above = &lines[index.saturating_sub(SAFETY_REACH_LINES)..=index];
                if !above.iter().any(|l| l.contains("SAFETY:")) {
                    findings.error(path, number, "unsafe without a SAFETY comment");
                }
            }
        }
    }
}

/// Tests, models and tools may make threads as they like: no program's signals meet them. So may the door itself.
fn is_for_tests(path: &Path) -> bool {
    let is_ours = path.starts_with("crates") && path != Path::new(DOOR_OF_THREADS);
    let folders = ["tests", "benches", "examples"];
    let names = ["tests.rs", "model.rs"];
    !is_ours
        || path.iter().any(|part| folders.iter().any(|folder| part == *folder))
        || path.file_name().is_some_and(|name| names.iter().any(|test| name == *test))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn check(path: &str, text: &str, expected: &[&str]) {
        let mut findings = Findings::default();
        let rules = Rules::new().expect("the rules are well-formed");
        rules.check(&SourceFile { path: PathBuf::from(path), text: text.to_owned() }, &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    #[test]
    fn a_tidy_file_passes() {
        check("a.rs", "//! Says why.\n\n// SAFETY: checked above.\nlet x = unsafe { f() };\n", &[]);
        check("a.rs", "#![forbid(unsafe_code)]\n//! Says why.\n", &[]);
        check("a.rs", "//! Says why.\n// a comment may say todo!() and pub use a::*;\n", &[]);
        check("crates/a/src/b.rs", "//! H.\nsaki_thread::spawn(f);\nservices::machine().start(s, f);\n", &[]);
        check("crates/a/src/b.rs", "//! H.\n#[cfg(all(test, loom))]\nmod tests {\nstd::thread::spawn(f);\n}\n", &[]);
        check("crates/a/tests/b.rs", "//! H.\nstd::thread::spawn(f);\n", &[]);
        check("a.rs", "//! Says why.\nlet text = \"\\\"todo!()\";\n", &[]);
    }

    #[test]
    fn each_rule_finds_its_fault() {
        check("a.rs", "fn main() {}\n", &["header"]);
        check("util.rs", "//! Odds and ends.\n", &["name the file"]);
        check("crates/a/src/b/mod.rs", "//! H.\n", &["beside its folder"]);
        check("crates/a/tests/support/mod.rs", "//! H.\n", &[]);
        check("a.rs", "//! H.\nfn f() { todo!() }\n", &["placeholder"]);
        check("a.rs", "//! H.\n#[allow(dead_code)]\nfn f() {}\n", &["expect"]);
        check("a.rs", "//! H.\npub use inner::*;\n", &["re-exported"]);
        check("a.rs", &format!("//! H.\nlet p = \"/{}/x\";\n", "tmp"), &["one machine"]);
        check("a.rs", "//! H.\nfn f() { unsafe { g() } }\n", &["SAFETY"]);
        for made in ["std::thread::spawn(f)", "thread::Builder::new()", "libc::pthread_create(a)", "thread::scope(f)"] {
            check("crates/a/src/b.rs", &format!("//! H.\nlet a = {made};\n"), &["threads are made"]);
        }
        check("crates/a/src/b.rs", "//! H.\nlet e = io::Error::last_os_error();\n", &["errno"]);
        check("a.rs", &format!("//! H.\n{}", "x\n".repeat(1600)), &["1601 lines"]);
    }
}
