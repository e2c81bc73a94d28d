//! Layers within a crate: sets of modules, each of which names only files of its own and of those below it.
//!
//! A crate of layers can be read one layer after the other. A layer is a folder, or some of the files beside each
//! other. `lib.rs` counts as the top: it hands names on, and nothing below names what it defines. `modules` says what
//! counts as naming. Left out: crates of one layer.

use std::path::Path;

use super::findings::{Findings, SourceFile};
use super::modules;

/// A layer: what findings call it, and its modules, which are files or folders of the crate's `src`.
struct Layer {
    name: &'static str,
    modules: &'static [&'static str],
}

/// Folder of the crate → its layers, the lowest first. A module for tests alone belongs to the highest: tests of every
/// layer may name it.
const LAYERS: &[(&str, &[Layer])] = &[
    (
        "crates/runtime",
        &[
            Layer { name: "object", modules: &["object"] },
            Layer { name: "exec", modules: &["exec"] },
            Layer { name: "vm", modules: &["vm"] },
        ],
    ),
    (
        "crates/types",
        &[
            Layer {
                name: "records",
                modules: &[
                    "app_config",
                    "collectible",
                    "computation",
                    "current",
                    "domain",
                    "dynamic_code",
                    "emitted_records",
                    "error",
                    "field",
                    "identity",
                    "lazy",
                    "lazy_word",
                    "library",
                    "load_texts",
                    "method",
                    "names",
                    "requests",
                    "ty",
                    "type_name",
                    "well_known",
                ],
            },
            Layer {
                name: "facts",
                modules: &[
                    "assumptions",
                    "attributes",
                    "byref_like",
                    "cast",
                    "class",
                    "constructed",
                    "emitted",
                    "image_types",
                    "interfaces",
                    "interop_attributes",
                    "layout",
                    "library_members",
                    "member_texts",
                    "modifiers",
                    "resolve",
                    "signature",
                    "variance",
                    "vtable",
                ],
            },
            Layer {
                name: "assemblies and their users",
                modules: &[
                    "access",
                    "accessors",
                    "assembly",
                    "binder",
                    "constrained_calls",
                    "dynamic",
                    "dynamic_records",
                    "files",
                    "fixture",
                    "native_call",
                    "remoting",
                    "stand_ins",
                    "universe",
                ],
            },
        ],
    ),
];

/// Checks the crates that have layers.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    check_layers(files, LAYERS, findings);
}

fn check_layers(files: &[SourceFile], crates: &[(&str, &[Layer])], findings: &mut Findings) {
    for (folder, layers) in crates {
        let sources = Path::new(folder).join("src");
        let root = sources.join("lib.rs");
        let module = |file: &Path| Some(file.strip_prefix(&sources).ok()?.with_extension("").iter().next()?.to_owned());
        let height = |file: &Path| {
            let module = module(file)?;
            layers.iter().position(|layer| layer.modules.iter().any(|name| module == **name))
        };
        for name in layers.iter().flat_map(|layer| layer.modules) {
            if !files.iter().any(|file| module(&file.path).is_some_and(|module| module == **name)) {
                findings.error(Path::new(file!()), 1, format!("LAYERS names {folder}/src/{name}, which is not there"));
            }
        }
        for file in files.iter().filter(|file| file.path.starts_with(&sources) && file.path != root) {
            if height(&file.path).is_none() {
                let names: Vec<&str> = layers.iter().map(|layer| layer.name).collect();
                findings.error(&file.path, 1, format!("lies in no layer of {folder} ({})", names.join(", ")));
            }
        }
        for edge in modules::edges(&root, files) {
            let top = layers.len();
            let (from, to) = (height(&edge.from).unwrap_or(top), height(&edge.to).unwrap_or(top));
            if from < to {
                let above = layers.get(to).map_or("the crate's root", |layer| layer.name);
                let message = format!("{} names {}, which lies above it, in {above}", layers[from].name, edge.names);
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
        let layers = [Layer { name: "low", modules: &["low"] }, Layer { name: "high", modules: &["high", "beside"] }];
        check_layers(&files, &[("crates/a", &layers)], &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    #[test]
    fn a_layer_names_none_above_it() {
        let root = ("lib.rs", "mod low; mod high; mod beside; pub use low::l; pub use high::h; pub fn made_here() {}");
        let [low, high, beside] = [("low/mod.rs", "pub mod l;"), ("high/mod.rs", "pub mod h;"), ("beside.rs", "")];
        // Downwards, and within a layer.
        check(
            &[root, low, high, beside, ("low/l.rs", "use super::m; fn f() {}"), ("high/h.rs", "use crate::low::l::f;")],
            &[],
        );
        // Upwards: by the layer's name, and through what the root hands on.
        let up = "crates/a/src/low/l.rs:1: low names crate::high::h::g, which lies above it, in high";
        check(&[root, low, high, beside, ("low/l.rs", "use crate::high::h::g;"), ("high/h.rs", "")], &[up]);
        check(
            &[root, low, high, beside, ("low/l.rs", "\nuse crate::h::g;"), ("high/h.rs", "")],
            &["low/l.rs:2: low names"],
        );
        // Upwards, to a file that is part of a layer.
        let up = "low/l.rs:1: low names crate::beside::b, which lies above it, in high";
        check(&[root, low, high, beside, ("low/l.rs", "use crate::beside::b;"), ("high/h.rs", "")], &[up]);
        // In tests, everything may be named.
        check(
            &[root, low, high, beside, ("low/l.rs", "#[cfg(test)] mod tests { use crate::h::g; }"), ("high/h.rs", "")],
            &[],
        );
    }

    #[test]
    fn every_file_lies_in_a_layer_and_every_layer_is_there() {
        check(
            &[("lib.rs", "mod low; mod other; mod beside;"), ("low/mod.rs", ""), ("other.rs", ""), ("beside.rs", "")],
            &["names crates/a/src/high, which is not there", "other.rs:1: lies in no layer"],
        );
    }
}
