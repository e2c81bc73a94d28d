//! Layers within a crate: folders, each of which names only files of its own and of those below it.
//!
//! A crate of layers can be read one folder after the other. Files beside the folders (`lib.rs`) count as the top: they hand names on, and nothing below
//! names what they define. `modules` says what counts as naming. Left out: crates of one layer.

use std::path::Path;

use super::findings::{Findings, SourceFile};
use super::modules;

/// Folder of the crate → its layers, the lowest first.
const LAYERS: &[(&str, &[&str])] = &[("crates/runtime", &["object", "exec", "vm"])];

/// Checks the crates that have layers.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    check_layers(files, LAYERS, findings);
}

fn check_layers(files: &[SourceFile], crates: &[(&str, &[&str])], findings: &mut Findings) {
    for (folder, layers) in crates {
        let sources = Path::new(folder).join("src");
        let root = sources.join("lib.rs");
        let height = |file: &Path| {
            let first = file.strip_prefix(&sources).ok()?.components().next()?;
            layers.iter().position(|layer| first.as_os_str() == *layer)
        };
        for layer in *layers {
            if !files.iter().any(|file| file.path.starts_with(sources.join(layer))) {
                findings.error(Path::new(file!()), 1, format!("LAYERS names {folder}/src/{layer}, which is not there"));
            }
        }
        for file in files.iter().filter(|file| file.path.starts_with(&sources) && file.path != root) {
            if height(&file.path).is_none() {
                findings.error(&file.path, 1, format!("lies in no layer of {folder} ({})", layers.join(", ")));
            }
        }
        for edge in modules::edges(&root, files) {
            let top = layers.len();
            let (from, to) = (height(&edge.from).unwrap_or(top), height(&edge.to).unwrap_or(top));
            if from < to {
                let above = layers.get(to).map_or("the crate's root", |layer| layer);
                let message = format!("{} names {}, which lies above it, in {above}", layers[from], edge.names);
                findings.error(&edge.from, edge.line, message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[(&str, &str)], expected: &[&str]) {
        let file = |(name, text): &(&str, &str)| SourceFile {
            path: Path::new("crates/a/src").join(name),
            text: (*text).to_owned(),
        };
        let files: Vec<SourceFile> = texts.iter().map(file).collect();
        let mut findings = Findings::default();
        check_layers(&files, &[("crates/a", &["low", "high"])], &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    #[test]
    fn a_layer_names_none_above_it() {
        let root = ("lib.rs", "mod low; mod high; pub use low::l; pub use high::h; pub fn made_here() {}");
        let [low, high] = [("low/mod.rs", "pub mod l;"), ("high/mod.rs", "pub mod h;")];
        // Downwards, and within a layer.
        check(&[root, low, high, ("low/l.rs", "use super::m; fn f() {}"), ("high/h.rs", "use crate::low::l::f;")], &[]);
        // Upwards: by the layer's name, and through what the root hands on.
        let up = "crates/a/src/low/l.rs:1: low names crate::high::h::g, which lies above it, in high";
        check(&[root, low, high, ("low/l.rs", "use crate::high::h::g;"), ("high/h.rs", "")], &[up]);
        check(&[root, low, high, ("low/l.rs", "\nuse crate::h::g;"), ("high/h.rs", "")], &["low/l.rs:2: low names"]);
        // In tests, everything may be named.
        check(&[root, low, high, ("low/l.rs", "#[cfg(test)] mod tests { use crate::h::g; }"), ("high/h.rs", "")], &[]);
    }

    #[test]
    fn every_file_lies_in_a_layer_and_every_layer_is_there() {
        check(
            &[("lib.rs", "mod low; mod other;"), ("low/mod.rs", ""), ("other.rs", "")],
            &["names crates/a/src/high, which is not there", "other.rs:1: lies in no layer"],
        );
    }
}
