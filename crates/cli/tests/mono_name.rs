//! Saki called by the name `mono`: Mono's options, variables, texts and exit codes. Needs `mcs` where programs run.

mod support;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Outcome, compile, folder, run};

/// A link called `mono` to the program, and the echo program beside it; None without a compiler.
fn set_up(name: &str) -> Option<(PathBuf, PathBuf)> {
    let folder = folder(name);
    let (link, program) = (folder.join("mono"), folder.join("echo.exe"));
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_saki"), &link).unwrap();
    compile("command_line/echo.cs", &program).then_some((link, program))
}

fn mono(link: &Path, arguments: &[&str]) -> Outcome {
    run(Command::new(link).args(arguments))
}

#[test]
fn options_of_mono_come_before_the_program() {
    let Some((link, program)) = set_up("mono-options") else { return };
    let program = program.to_str().unwrap();
    for options in [
        "",
        "--debug",
        "--debug=casts --gc=sgen -O=all,-inline --server",
        "--runtime=v4.0.30319 --llvm --attach=disable",
    ] {
        let arguments: Vec<&str> = options.split_whitespace().chain([program, "--debug", "x"]).collect();
        let done = mono(&link, &arguments);
        assert_eq!((done.exit_code, &*done.stdout), (Some(2), "<--debug>\n<x>\n"), "{options}: {}", done.stderr);
        assert_eq!(done.stderr, "", "{options}");
    }
}

#[test]
fn options_of_the_environment_come_first_and_have_monos_quoting() {
    let Some((link, program)) = set_up("mono-environment") else { return };
    let done = run(Command::new(&link).env("MONO_ENV_OPTIONS", "--debug  '-O=all'").arg(&program).arg("x"));
    assert_eq!((done.exit_code, &*done.stdout), (Some(1), "<x>\n"), "{}", done.stderr);
    let done = run(Command::new(&link).env("MONO_ENV_OPTIONS", "\"--debug").arg(&program));
    assert_eq!((done.exit_code, &*done.stderr), (Some(1), "Unmatched quotes in value: [\"--debug]\n"));
    // The program is Saki's again under its own name.
    let saki =
        Command::new(env!("CARGO_BIN_EXE_saki")).env("MONO_ENV_OPTIONS", "--no-such").arg(&program).output().unwrap();
    assert_eq!(saki.status.code(), Some(0));
}

#[test]
fn what_cannot_be_run_gives_monos_lines_and_exit_codes() {
    let folder = folder("mono-refusals");
    let link = folder.join("mono");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_saki"), &link).unwrap();
    for (arguments, exit_code, expected) in [
        (&["nothere.exe"][..], 2, "Cannot open assembly 'nothere.exe': No such file or directory.\n"),
        (&["/bin/true"], 2, "Cannot open assembly '/bin/true': File does not contain a valid CIL image.\n"),
        (&["--no-such-option", "x.exe"], 1, "Unknown command line option: '--no-such-option'\n"),
        (&["--profile=aot", "x.exe"], 1, "The 'aot' profiler is not there"),
        (&["--trace=Q:x", "x.exe"], 1, "Syntax error at or around 'Q:x'\n"),
        (&["--response=/nothere", "x.exe"], 1, "The specified response file can not be read\n"),
    ] {
        let done = mono(&link, arguments);
        assert!(done.stderr.starts_with(expected), "{arguments:?}: {}", done.stderr);
        assert_eq!((done.exit_code, &*done.stdout), (Some(exit_code), ""), "{arguments:?}");
    }
    let library = Path::new("/usr/lib/mono/4.5/mscorlib.dll");
    if library.exists() {
        let done = mono(&link, &[library.to_str().unwrap()]);
        assert_eq!(done.exit_code, Some(1));
        assert_eq!(done.stderr, format!("Assembly '{}' doesn't have an entry point.\n", library.display()));
    }
    let nothing = mono(&link, &[]);
    assert_eq!(nothing.exit_code, Some(1));
    assert!(nothing.stdout.starts_with("Usage is: mono [options] program [program-options]\n"), "{nothing:?}");
}

#[test]
fn the_version_suits_scripts_that_read_monos() {
    let folder = folder("mono-version");
    let link = folder.join("mono");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_saki"), &link).unwrap();
    let version = mono(&link, &["--version"]);
    let first = version.stdout.lines().next().unwrap_or_default();
    let number = mono(&link, &["--version=number"]).stdout;
    let number = number.strip_suffix('\n').expect("a line");
    assert!(first.starts_with(&format!("Mono JIT compiler version {number} (Saki ")), "{first}");
    assert_eq!(mono(&link, &["-V"]).stdout, version.stdout);
    // The class libraries' own.
    let corlib = std::fs::read("/usr/lib/mono/4.5/mscorlib.dll").expect("mscorlib");
    let in_utf_16: Vec<u8> = number.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(number.starts_with("6.") && corlib.windows(in_utf_16.len()).any(|bytes| bytes == in_utf_16), "{number}");
}

#[test]
fn heap_sizes_of_the_environment_count_under_either_name() {
    let folder = folder("mono-heap");
    let program = folder.join("gaps.exe");
    if !compile("heap_limit/gaps.cs", &program) {
        return;
    }
    let link = folder.join("mono");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_saki"), &link).unwrap();
    for command in [&link, &PathBuf::from(env!("CARGO_BIN_EXE_saki"))] {
        let done = run(Command::new(command).env("MONO_GC_PARAMS", "max-heap-size=64m").arg(&program));
        assert_eq!((done.exit_code, done.stdout), (Some(0), "full\n".repeat(5)), "{}", done.stderr);
    }
    let done = run(Command::new(&link).arg("--gc-params=max-heap-size=64m,no-such").arg(&program));
    assert_eq!((done.exit_code, done.stdout), (Some(0), "full\n".repeat(5)));
    assert_eq!(
        done.stderr,
        "Warning: In environment variable `MONO_GC_PARAMS': Unknown option `no-such`. - Ignoring.\n"
    );
}

#[test]
fn arguments_in_another_encoding_are_converted_or_refused() {
    let Some((link, program)) = set_up("mono-encodings") else { return };
    let argument = OsStr::from_bytes(b"caf\xe9");
    let done = run(Command::new(&link)
        .arg(&program)
        .arg(argument)
        .env("MONO_EXTERNAL_ENCODINGS", "utf8:ISO-8859-1")
        .env("LC_ALL", "C.UTF-8"));
    assert_eq!((done.exit_code, &*done.stdout), (Some(1), "<café>\n"), "{}", done.stderr);
    let done = run(Command::new(&link).arg(&program).arg(argument));
    assert_eq!(done.exit_code, Some(255));
    assert!(done.stderr.contains("Cannot determine the text encoding for argument 1"), "{}", done.stderr);
}

#[test]
fn a_config_file_maps_native_libraries() {
    let folder = folder("mono-config");
    let program = folder.join("mapped.exe");
    if !compile("command_line/mapped.cs", &program) {
        return;
    }
    let link = folder.join("mono");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_saki"), &link).unwrap();
    let config = folder.join("other.config");
    std::fs::write(&config, "<configuration><dllmap dll=\"no-such-library\" target=\"libc.so.6\"/></configuration>")
        .unwrap();
    let done = run(Command::new(&link).arg("--config").arg(&config).arg(&program));
    assert_eq!((done.exit_code, &*done.stdout), (Some(0), "3\n"), "{}", done.stderr);
    assert_eq!(run(Command::new(&link).arg(&program)).stdout, "DllNotFoundException\n");
}
