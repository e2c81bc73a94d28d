//! What tests with hosts share. A test binary need not use all of it.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The file that cargo builds beside this test.
pub fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().expect("a folder");
    let places = [folder.join("libmonosgen.so"), folder.parent().expect("a folder").join("libmonosgen.so")];
    places.into_iter().find(|file| file.is_file()).expect("cargo test -p saki-monosgen builds it")
}

fn succeeds(command: &mut Command) -> bool {
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{command:?}: {output:?}");
            true
        }
        Err(error) => {
            eprintln!("skipped: {:?}: {error}", command.get_program());
            false
        }
    }
}

/// Where Mono's headers are, if they are installed.
pub const HEADERS: &str = "/usr/include/mono-2.0";

/// Whether hosts can be compiled with Mono's headers.
pub fn has_headers() -> bool {
    let is_there = Path::new(HEADERS).is_dir();
    if !is_there {
        eprintln!("skipped: no {HEADERS}");
    }
    is_there
}

/// Where a host is compiled and finds libraries.
fn folder_of(host: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("monosgen-hosts").join(host);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Compiles a shared library in C, `tests/NAME.c`, which the host finds as `libmono-profiler-NAME.so`.
pub fn has_profiler(host: &str, name: &str) -> bool {
    let code = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{name}.c"));
    let library = folder_of(host).join(format!("libmono-profiler-{name}.so"));
    succeeds(Command::new("cc").args(["-O1", "-shared", "-fPIC", "-I", HEADERS, "-o"]).arg(library).arg(code))
}

/// Compiles the library and a host, and compares what the host prints: also under GC stress.
pub fn prints(host: &str, library: &str, expected: &str) {
    prints_without(host, library, None, expected);
}

/// As [`prints`]; the library refers to an assembly, by its name and its code, that is not there when the host runs.
pub fn prints_without(host: &str, library: &str, missing: Option<(&str, &str)>, expected: &str) {
    let folder = folder_of(host);
    let mut references = Vec::new();
    if let Some((name, code)) = missing {
        let (source, assembly) = (folder.join(format!("{name}.cs")), folder.join(format!("{name}.dll")));
        std::fs::write(&source, code).expect("written");
        let out = format!("-out:{}", assembly.display());
        if !succeeds(Command::new("mcs").args(["-nologo", "-target:library", &out]).arg(&source)) {
            return;
        }
        references.push(assembly);
    }
    let (source, assembly) = (folder.join("some.cs"), folder.join("some.dll"));
    std::fs::write(&source, library).expect("written");
    let out = format!("-out:{}", assembly.display());
    let target = if library.contains("class Program\n") { "-target:exe" } else { "-target:library" };
    if !succeeds(
        Command::new("mcs")
            .args(["-nologo", "-unsafe", "-nowarn:0067,0169,0414,0649", target, &out])
            .args(references.iter().map(|reference| format!("-r:{}", reference.display())))
            .arg(&source),
    ) {
        return;
    }
    for reference in references {
        std::fs::remove_file(reference).expect("removed");
    }
    let library = folder.join("libmonosgen-2.0.so.1");
    std::fs::copy(built(), &library).expect("copied");
    let (program, code) = (folder.join("host"), Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{host}.c")));
    let rpath = format!("-Wl,-rpath,{}", folder.display());
    if !succeeds(
        Command::new("cc")
            .args(["-O1", "-pthread", "-rdynamic", "-Wl,--as-needed", "-I", HEADERS, "-o"])
            .arg(&program)
            .arg(code)
            .arg(&library)
            .arg(rpath)
            .arg("-ldl"),
    ) {
        return;
    }
    for stress in ["0", "50"] {
        let mut command = Command::new(&program);
        command.arg(&assembly).env("SAKI_NO_CACHE", "1").env("SAKI_GC_STRESS", stress);
        command.env("LD_LIBRARY_PATH", &folder);
        let output = command.output().expect("run");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?}: {text}\n{errors}", output.status);
        assert_eq!(text, expected, "stress {stress}: {errors}");
    }
}
