//! What depends on the processor has rooms of its own: `code::arch`, `jit`, `fiber`, `thread` (spilled registers and
//! native transitions) and `os`. Elsewhere no code asks for `target_arch`.
//!
//! The list below names the files that ask all the same, and why; it may only shrink. Left out: tests, models,
//! benchmarks, examples and xtask.

use super::findings::{Findings, SourceFile};
use super::modules::machine_files;
use super::rust_text::tokens;
use std::path::Path;

/// Files, and folders that end with a slash.
const ROOMS: [&str; 7] = [
    "crates/code/src/arch.rs",
    "crates/code/src/arch/",
    "crates/fiber/src/switch.rs",
    "crates/jit/src/",
    "crates/os/src/",
    "crates/thread/src/native_transition.rs",
    "crates/thread/src/spill.rs",
];

/// A file that asks, and why.
type Place = (&'static str, &'static str);

const PLACES: [Place; 12] = [
    ("crates/abi/src/native.rs", "which calling convention of C functions is this processor's"),
    ("crates/code/src/frame_liveness.rs", "which decoder of instructions the analysis takes"),
    ("crates/code/src/frame_liveness/dataflow.rs", "an instruction that one of the decoders never gives"),
    ("crates/corelib/src/diagnostics.rs", "managed code asks for CPUID"),
    ("crates/dotnet/src/places.rs", "the processor's name in folders and variables"),
    ("crates/icall/src/mono/runtime.rs", "the processor's name as Mono's users know it"),
    ("crates/icall/src/runtime_services/runtime_information.rs", "the processor's number in an enumeration"),
    ("crates/interop/src/dllmap.rs", "the processor's name in configuration files"),
    ("crates/interop/src/host/symbols_library.rs", "the processor's number in a file that the linker reads"),
    ("crates/loops/src/compare.rs", "loops with AVX, which have a portable sibling"),
    ("crates/loops/src/search.rs", "loops with AVX, which have a portable sibling"),
    ("crates/sampler/src/machine.rs", "where a signal's context has the registers that a walk begins with"),
];

/// Checks that only the rooms and what is listed ask for the processor.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    check_places(files, &PLACES, findings);
}

fn check_places(files: &[SourceFile], places: &[Place], findings: &mut Findings) {
    let this = Path::new("xtask/src/tidy/processors.rs");
    let mut unseen: Vec<&Place> = places.iter().collect();
    for file in machine_files(files) {
        let path = file.path.to_string_lossy();
        if ROOMS.iter().any(|room| *room == path || room.ends_with('/') && path.starts_with(room)) {
            continue;
        }
        let Some(line) = tokens(&file.text).iter().find(|token| token.text == "target_arch").map(|token| token.line)
        else {
            continue;
        };
        let before = unseen.len();
        unseen.retain(|(place, _)| *place != path);
        if unseen.len() == before {
            findings.error(&file.path, line, "let code::arch, jit, fiber, thread or os ask for the processor");
        }
    }
    for (place, _) in unseen {
        findings.error(this, 1, format!("{place} is listed, but does not ask for the processor (any more)"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_files(sources: &[(&str, &str)], expected: &[&str]) {
        let file = |(path, text): &(&str, &str)| SourceFile { path: path.into(), text: (*text).to_owned() };
        let roots = [("crates/a/src/lib.rs", "mod b; mod c;"), ("crates/os/src/lib.rs", "mod b;")];
        let files: Vec<SourceFile> = roots.iter().chain(sources).map(file).collect();
        let mut findings = Findings::default();
        check_places(&files, &[("crates/a/src/b.rs", "a reason")], &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{sources:?}: {:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    #[test]
    fn the_processor_is_asked_for_in_its_rooms() {
        let asks = "#[cfg(target_arch = \"x86_64\")]\nfn f() {}";
        let listed = ("crates/a/src/b.rs", asks);
        check_files(&[listed, ("crates/os/src/b.rs", asks)], &[]);
        check_files(&[listed, ("crates/a/src/c.rs", "// target_arch\nfn f() { g(\"target_arch\") }")], &[]);
        check_files(
            &[listed, ("crates/a/src/c.rs", "fn f() { cfg!(target_arch = \"x\") }")],
            &["c.rs:1: let code::arch"],
        );
        check_files(&[("crates/a/src/b.rs", "fn f() {}")], &["b.rs is listed, but does not ask"]);
    }
}
