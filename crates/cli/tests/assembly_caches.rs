//! MONO_GAC_PREFIX: assembly caches besides the framework's. Needs `mcs`, `sn` and `gacutil`.

mod support;

use std::path::Path;
use std::process::Command;
use support::{folder, run};

#[test]
fn assemblies_come_from_the_cache_below_a_prefix() {
    let folder = folder("assembly-caches");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/assembly_caches");
    let source = |name: &str| sources.join(name).display().to_string();
    let prefix = folder.join("prefix").display().to_string();
    let (library, program) = (source("library.cs"), source("program.cs"));
    for words in [
        &["sn", "-q", "-k", "key.snk"][..],
        &["mcs", "-target:library", "-keyfile:key.snk", "-out:cached.dll", &library],
        &["mcs", "-r:cached.dll", "-out:program.exe", &program],
        &["gacutil", "-i", "cached.dll", "-gacdir", &prefix],
    ] {
        match Command::new(words[0]).args(&words[1..]).current_dir(&folder).output() {
            Ok(done) => assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stdout)),
            Err(error) => return eprintln!("skipped: {}: {error}", words[0]),
        }
    }
    std::fs::remove_file(folder.join("cached.dll")).unwrap();
    let saki = |prefixes: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        run(command.arg(folder.join("program.exe")).env("MONO_GAC_PREFIX", prefixes))
    };
    let found = saki(&format!("/nothere:{prefix}"));
    let cache = Path::new(&prefix).canonicalize().unwrap().join("lib/mono/gac/cached");
    assert!(Path::new(found.stdout.trim_end()).starts_with(&cache), "{found:?}");
    assert_eq!(found.exit_code, Some(0), "{}", found.stderr);
    let missing = saki("/nothere");
    assert!(missing.exit_code == Some(1) && missing.stderr.contains("FileNotFoundException"), "{missing:?}");
}
