//! The words that the program was started with, for titles and names of files.

use std::path::Path;
use std::sync::OnceLock;

static WORDS: OnceLock<Vec<String>> = OnceLock::new();

/// Remembers the program and its arguments.
pub fn remember(words: &[String]) {
    let _ = WORDS.set(words.to_vec());
}

/// The program and its arguments, for titles; empty before `remember`.
pub fn title() -> String {
    WORDS.get().map_or(&[][..], Vec::as_slice).join(" ")
}

/// The beginning of the names of files about this process: "PROGRAM-PID".
pub fn file_stem() -> String {
    let program = WORDS.get().and_then(|words| words.first()).map_or("program", String::as_str);
    let stem = Path::new(program).file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy());
    format!("{stem}-{}", std::process::id())
}
