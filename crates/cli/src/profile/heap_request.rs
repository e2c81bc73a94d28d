//! What is asked for of a heap snapshot: its formats and files, and whose reasons to be alive are reported.

use saki_profile::Format;
use std::path::{Path, PathBuf};

/// The formats in which a snapshot is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum HeapFormat {
    /// The snapshot, for `saki profile view` and `diff`
    Heap,
    /// A page for browsers
    Html,
}

impl HeapFormat {
    /// The extension of the format's files, where Saki chooses the name.
    fn extension(self) -> &'static str {
        match self {
            HeapFormat::Heap => "heap",
            // A profile of the same run has "html" for its own.
            HeapFormat::Html => "heap.html",
        }
    }
}

/// The options of a snapshot.
#[derive(Clone, PartialEq, Debug)]
pub struct HeapRequest {
    /// Types whose objects' paths from roots are reported.
    pub why: Vec<String>,
    pub formats: Vec<HeapFormat>,
    pub output: Option<PathBuf>,
}

impl Default for HeapRequest {
    fn default() -> HeapRequest {
        HeapRequest { why: Vec::new(), formats: vec![HeapFormat::Heap], output: None }
    }
}

impl HeapRequest {
    /// The files of a snapshot that goes with profiles: the snapshot itself, and a page if the profiles have one. They
    /// are named as the profiles are.
    pub fn place_beside(&mut self, formats: &[Format], output: Option<&Path>) {
        self.formats = vec![HeapFormat::Heap];
        self.formats.extend(formats.contains(&Format::Html).then_some(HeapFormat::Html));
        self.output = output.map(|output| {
            let name = output.display().to_string();
            let ending = formats.iter().find_map(|format| name.strip_suffix(&format!(".{}", format.extension())));
            let base = ending.map_or_else(|| output.to_owned(), PathBuf::from);
            // One file is named as it is to be called.
            if self.formats.len() == 1 { with_extension(&base, HeapFormat::Heap) } else { base }
        });
    }

    /// The file of this format; `base`: without an ending, where no name is asked for. With several formats each file
    /// gets its format's extension.
    pub fn path_of(&self, format: HeapFormat, base: &Path) -> PathBuf {
        match (&self.output, self.formats.len()) {
            (Some(output), 1) => output.clone(),
            (output, _) => with_extension(output.as_deref().unwrap_or(base), format),
        }
    }
}

/// Behind whatever the name ends with.
fn with_extension(base: &Path, format: HeapFormat) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(".");
    name.push(format.extension());
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_several_files_has_its_ending() {
        let both = vec![HeapFormat::Heap, HeapFormat::Html];
        let check = |formats: &[HeapFormat], output: Option<&str>, expect: &str| {
            let output = output.map(PathBuf::from);
            let request = HeapRequest { why: Vec::new(), formats: formats.to_vec(), output };
            assert_eq!(request.path_of(HeapFormat::Html, Path::new("app-1")), Path::new(expect));
        };
        check(&both, None, "app-1.heap.html");
        check(&both, Some("x"), "x.heap.html");
        check(&both[1..], Some("x"), "x");
    }
}
