//! Helpers that tests of the command share: a compiled program, folders, and the result of a run.
#![allow(dead_code, reason = "no test uses all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A new folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compiles `tests/SOURCE` to `program`; false without a compiler.
pub fn compile(source: &str, program: &Path) -> bool {
    compile_with(&[], source, program)
}

/// As `compile`, with options of the compiler.
pub fn compile_with(options: &[&str], source: &str, program: &Path) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let mut mcs = Command::new("mcs");
    mcs.arg("-nologo").args(options).arg(format!("-out:{}", program.display())).arg(source);
    match mcs.output() {
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
            true
        }
        Err(error) => {
            eprintln!("skipped: mcs: {error}");
            false
        }
    }
}

/// A run's exit code and texts.
#[derive(Debug)]
pub struct Outcome {
    pub exit_code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs it to its end, without the variables that would change what it does.
pub fn run(command: &mut Command) -> Outcome {
    for name in ["MONO_ENV_OPTIONS", "MONO_GC_PARAMS", "MONO_GC_DEBUG", "MONO_DEBUG", "MONO_EXTERNAL_ENCODINGS"] {
        if !command.get_envs().any(|(given, _)| given == name) {
            command.env_remove(name);
        }
    }
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Outcome { exit_code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}
