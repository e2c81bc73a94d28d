//! MONO_LOG_LEVEL and related variables: messages about native libraries, assemblies, and other parts of the machine.
//! Needs `mcs`.

mod support;

use std::process::Command;
use support::{compile, compile_with, folder, run};

#[test]
fn libraries_are_logged_at_the_levels_and_to_the_file_that_mono_has() {
    let folder = folder("native-library-log");
    let program = folder.join("mapped.exe");
    if !compile("command_line/mapped.cs", &program) {
        return;
    }
    let log = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        for name in ["MONO_LOG_LEVEL", "MONO_LOG_MASK", "MONO_LOG_DEST", "MONO_LOG_HEADER"] {
            command.env_remove(name);
        }
        let done = run(command.envs(variables.iter().copied()).arg(&program));
        assert_eq!(done.exit_code, Some(0), "{}", done.stderr);
        done.stdout.strip_suffix("DllNotFoundException\n").expect("what the program prints").to_owned()
    };
    assert_eq!(log(&[]), "");
    assert_eq!(log(&[("MONO_LOG_MASK", "dll")]), "", "the level is `error` unless it is set");
    let unable = "Mono: DllImport unable to load library 'no-such-library'.\n";
    assert_eq!(log(&[("MONO_LOG_LEVEL", "warning"), ("MONO_LOG_MASK", "dll")]), unable);
    let info = log(&[("MONO_LOG_LEVEL", "info"), ("MONO_LOG_MASK", "dll")]);
    assert!(info.starts_with("Mono: DllImport attempting to load: 'no-such-library'.\n"), "{info}");
    assert!(info.contains("Mono: DllImport error loading library ") && info.ends_with(unable), "{info}");
    let configuration = log(&[("MONO_LOG_LEVEL", "debug"), ("MONO_LOG_MASK", "cfg")]);
    assert!(configuration.contains("Mono: Config attempting to parse: '"), "{configuration}");
    assert!(!configuration.contains("DllImport"), "{configuration}");
    let file = folder.join("log");
    let to_file = [
        ("MONO_LOG_LEVEL", "warning"),
        ("MONO_LOG_MASK", "dll"),
        ("MONO_LOG_HEADER", "1"),
        ("MONO_LOG_DEST", file.to_str().unwrap()),
    ];
    assert_eq!(log(&to_file), "");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains(" level[W] mono[") && written.contains("]: DllImport unable to load"), "{written}");
}

#[test]
fn the_log_shows_each_place_where_an_assembly_is_looked_for() {
    let folder = folder("assembly-log");
    let (library, program) = (folder.join("library.dll"), folder.join("user.exe"));
    if !compile_with(&["-t:library"], "native_library_log/library.cs", &library) {
        return;
    }
    assert!(compile_with(&[&format!("-r:{}", library.display())], "native_library_log/user.cs", &program));
    let log = |level: &str, mask: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        run(command.env("MONO_LOG_LEVEL", level).env("MONO_LOG_MASK", mask).env_remove("MONO_LOG_DEST").arg(&program))
    };
    let place = library.canonicalize().unwrap();
    let found = log("info", "asm").stdout;
    assert!(found.contains("Mono: Assembly Loader looks for 'library, Version=0.0.0.0"), "{found}");
    assert!(found.contains(&format!("Mono: Assembly Loader probing location: '{}'.\n", place.display())), "{found}");
    assert!(
        found.contains(&format!("Mono: Assembly Loader loaded assembly from location: '{}'.\n", place.display())),
        "{found}"
    );
    assert_eq!(log("error", "all").stdout, "5\n");
    assert!(log("debug", "type").stdout.contains("Mono: Class Library of library is in use.\n"));
    assert!(log("info", "gc").stdout.contains("Mono: GC_MAJOR: time "), "the program collects");
    assert!(log("debug", "threadpool").stdout.contains("] worker starting\n"), "the program uses the pool");
    std::fs::remove_file(&library).unwrap();
    let missing = log("info", "asm");
    assert_eq!(missing.exit_code, Some(1), "{missing:?}");
    assert!(
        missing.stdout.contains(&format!("probing location: '{}': no such file.\n", place.display())),
        "{missing:?}"
    );
    assert!(missing.stdout.contains("Mono: The event AssemblyResolve did not give it ('library').\n"), "{missing:?}");
    let warned = log("warning", "asm").stdout;
    assert!(warned.starts_with("Mono: The following assembly referenced from "), "{warned}");
    assert!(
        warned.contains("     Assembly:   library\n     Version:    0.0.0.0\n     Public Key: (none)\n"),
        "{warned}"
    );
    let unknown = log("info", "asn").stdout;
    assert!(unknown.starts_with("Unknown trace flag: asn\n"), "{unknown}");
}
