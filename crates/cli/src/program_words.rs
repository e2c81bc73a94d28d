//! The words that the program was started with, for titles and names of files.

use std::path::Path;
use std::sync::OnceLock;

static WORDS: OnceLock<Vec<String>> = OnceLock::new();
static SOURCE: OnceLock<String> = OnceLock::new();

/// Remembers the program and its arguments.
pub fn remember(words: &[String]) {
    let _ = WORDS.set(words.to_vec());
}

/// Titles name the program by this source file: its executable is somewhere in the cache.
pub fn show_as(source: &Path) {
    let _ = SOURCE.set(source.display().to_string());
}

/// The program and its arguments, for titles; empty before `remember`.
pub fn title() -> String {
    let words = WORDS.get().map_or(&[][..], Vec::as_slice);
    match (SOURCE.get(), words) {
        (Some(source), [_, arguments @ ..]) => [std::slice::from_ref(source), arguments].concat().join(" "),
        _ => words.join(" "),
    }
}

/// The beginning of the names of files about this process: "PROGRAM-PID".
pub fn file_stem() -> String {
    let program = WORDS.get().and_then(|words| words.first()).map_or("program", String::as_str);
    let stem = Path::new(program).file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy());
    format!("{stem}-{}", std::process::id())
}
