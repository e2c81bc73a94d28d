//! The text of source lines that frames name, for pages that show it beside the lines' shares.
//!
//! The debug symbols of the program name the files, and anybody may have made them: so only files with the extension of
//! a source file are read, and only near lines that were measured. Missing files have no text. Left out: whether a file
//! changed since the program was compiled.

use crate::model::{Frame, Function};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// Endings of files that are read.
const ENDINGS: [&str; 7] = ["cs", "fs", "il", "vb", "c", "cpp", "rs"];
/// Lines shown before and after a measured one.
const AROUND: u32 = 3;
/// Larger files are hardly written by hand.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Characters of a line, and lines in all.
const MAX_LINE_CHARACTERS: usize = 200;
const MAX_LINES: usize = 20_000;

/// Line numbers, from 1, and their text.
pub type Lines = Vec<(u32, String)>;

/// By file.
pub fn lines(functions: &[Function], frames: &[Frame]) -> BTreeMap<String, Lines> {
    let mut wanted: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for frame in frames.iter().filter(|frame| frame.line > 0) {
        let file = &*functions[frame.function as usize].file;
        let around = frame.line.saturating_sub(AROUND).max(1)..=frame.line.saturating_add(AROUND);
        wanted.entry(file).or_default().extend(around);
    }
    let mut left = MAX_LINES;
    let mut found = BTreeMap::new();
    for (file, lines) in wanted {
        let Some(text) = read(Path::new(file)) else { continue };
        let numbered = (1..).zip(text.lines()).filter(|(line, _)| lines.contains(line));
        let cut = |text: &str| text.chars().take(MAX_LINE_CHARACTERS).collect();
        let kept: Lines = numbered.map(|(line, text)| (line, cut(text))).take(left).collect();
        left -= kept.len();
        if !kept.is_empty() {
            found.insert(file.to_owned(), kept);
        }
    }
    found
}

fn read(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    if !path.is_absolute() || !ENDINGS.contains(&&*ending) {
        return None;
    }
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut text = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).trim_start_matches('\u{feff}').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_near_those_that_were_measured_are_read_of_sources_only() {
        let folder = std::env::temp_dir().join(format!("saki-profile-sources-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let text: String = (1..=20).map(|line| format!("line {line}\r\n")).collect();
        let functions: Vec<Function> = ["a.cs", "secret.key", "missing.cs"]
            .iter()
            .map(|name| Function { file: folder.join(name).display().to_string(), ..Function::default() })
            .collect();
        std::fs::write(&functions[0].file, &text).unwrap();
        std::fs::write(&functions[1].file, &text).unwrap();
        let frames = [(0, 2), (0, 19), (1, 2), (2, 2), (0, 0)].map(|(function, line)| Frame { function, line });
        let found = lines(&functions, &frames);
        std::fs::remove_dir_all(&folder).unwrap();
        let shown: Vec<_> = found.iter().map(|(file, lines)| (file, lines.iter().map(|l| l.0).collect())).collect();
        assert_eq!(shown, [(&functions[0].file, vec![1, 2, 3, 4, 5, 16, 17, 18, 19, 20])]);
        assert_eq!(found[&functions[0].file][1].1, "line 2");
    }
}
