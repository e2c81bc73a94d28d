//! MONO_LOG_LEVEL and related variables: messages about native libraries. Needs `mcs`.

mod support;

use std::process::Command;
use support::{compile, folder, run};

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
