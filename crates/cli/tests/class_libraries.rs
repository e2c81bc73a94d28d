//! Class libraries of other versions than the known ones, made from the installed ones by changing bytes. Needs
//! `mcs`.

mod support;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Outcome, compile, folder, run};

const INSTALLED: &str = "/usr/lib/mono/4.5";

/// A framework folder with the program beside it; None without a compiler.
fn framework(name: &str) -> Option<PathBuf> {
    let folder = folder(name);
    std::fs::create_dir_all(folder.join("4.5")).expect("a folder");
    compile("class_libraries/versions.cs", &folder.join("program.exe")).then_some(folder)
}

/// Puts an installed assembly there, with each text replaced by one of the same length wherever it stands.
fn put(folder: &Path, assembly: &str, changes: &[(&[u8], &[u8])]) {
    let mut bytes = std::fs::read(Path::new(INSTALLED).join(assembly)).expect("an installed assembly");
    for (old, new) in changes {
        let places: Vec<usize> = (0..bytes.len() - old.len()).filter(|&at| bytes[at..].starts_with(old)).collect();
        assert!(!places.is_empty() && old.len() == new.len(), "{assembly} has no {}", String::from_utf8_lossy(old));
        for at in places {
            bytes[at..at + new.len()].copy_from_slice(new);
        }
    }
    std::fs::write(folder.join("4.5").join(assembly), bytes).expect("a file");
}

fn saki(folder: &Path) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    run(command.arg("--no-cache").arg("--framework").arg(folder).arg(folder.join("program.exe")))
}

fn doctor(folder: &Path) -> Outcome {
    run(Command::new(env!("CARGO_BIN_EXE_saki")).args(["doctor", "--framework"]).arg(folder))
}

fn utf_16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The installed mscorlib's own mark, and another one.
fn marks() -> (Vec<u8>, Vec<u8>) {
    let known = ["ABB721D6-116A-4555-B4FD-9248146D2051", "1A5E0066-58DC-428A-B21C-0AD6CDAE2789"];
    let corlib = std::fs::read(Path::new(INSTALLED).join("mscorlib.dll")).expect("mscorlib");
    let is_there = |mark: &&&str| corlib.windows(72).any(|bytes| bytes == utf_16(mark));
    let own = known.iter().find(is_there).expect("a known mscorlib is installed");
    (utf_16(own), utf_16("0BADF00D-0000-4000-8000-000000000000"))
}

#[test]
fn an_unknown_version_that_asks_the_same_of_the_machine_runs() {
    let Some(folder) = framework("libraries-near") else { return };
    let (own, other) = marks();
    put(&folder, "mscorlib.dll", &[(&own, &other)]);
    put(&folder, "System.dll", &[]);
    let outcome = saki(&folder);
    assert_eq!((outcome.stdout.as_str(), outcome.exit_code), ("True\nTrue\n", Some(0)), "{}", outcome.stderr);
    let doctor = doctor(&folder);
    assert!(doctor.stdout.contains("ok   class library"), "{}", doctor.stdout);
}

#[test]
fn a_version_that_asks_something_else_is_refused_in_a_line() {
    let Some(folder) = framework("libraries-other") else { return };
    let (own, other) = marks();
    put(&folder, "mscorlib.dll", &[(&own, &other), (b"GetTotalMemory", b"GetTotalMemorz")]);
    let outcome = saki(&folder);
    assert_eq!((outcome.stdout.as_str(), outcome.exit_code), ("", Some(2)));
    let mut lines = outcome.stderr.lines();
    let line = lines.next().unwrap_or_default();
    let corlib = folder.join("4.5/mscorlib.dll").display().to_string();
    for part in [
        corlib.as_str(),
        "of Mono 6.",
        "supported are the class libraries of Mono 6.8, 6.12 and 6.14",
        "new: call static System.GC::GetTotalMemorz",
    ] {
        assert!(line.contains(part), "{part} is not in: {}", outcome.stderr);
    }
    assert_eq!(lines.next(), None, "{}", outcome.stderr);
    let doctor = doctor(&folder);
    assert!(doctor.stdout.contains("BAD  class library") && doctor.exit_code == Some(1), "{}", doctor.stdout);
}

#[test]
fn something_else_of_mscorlibs_name_is_refused_in_a_line() {
    let Some(folder) = framework("libraries-none") else { return };
    std::fs::copy(folder.join("program.exe"), folder.join("4.5/mscorlib.dll")).expect("a file");
    let outcome = saki(&folder);
    assert_eq!((outcome.stdout.as_str(), outcome.exit_code), ("", Some(2)));
    assert!(
        outcome.stderr.contains("supported are the class libraries of Mono 6.8, 6.12 and 6.14"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
}

/// With a System.dll of another release the machine runs calls that both have in common; different ones are not
/// called.
#[test]
fn a_mixture_of_releases_is_told_by_name() {
    let Some(folder) = framework("libraries-mixed") else { return };
    put(&folder, "mscorlib.dll", &[]);
    put(&folder, "System.dll", &[(b"GetVersionInfo_icall", b"GetVersionInfo_other")]);
    let outcome = saki(&folder);
    let system = folder.join("4.5/System.dll").canonicalize().expect("a path").display().to_string();
    let text = outcome.stdout.strip_prefix("True\n").unwrap_or_default();
    for part in [system.as_str(), "GetVersionInfo_other", "All files must be of one release"] {
        assert!(text.contains(part), "{part} is not in: {outcome:?}");
    }
    let doctor = doctor(&folder);
    assert!(doctor.stdout.contains("BAD  class library") && doctor.stdout.contains(&system), "{}", doctor.stdout);
}

/// A native library goes with the class libraries that it was built with.
#[test]
fn native_libraries_come_from_beside_the_class_libraries() {
    let folder = folder("libraries-native").canonicalize().expect("a path");
    let (framework, program) = (folder.join("lib/mono"), folder.join("program.exe"));
    let runs = || {
        let outcome = run(Command::new(env!("CARGO_BIN_EXE_saki"))
            .arg("--no-cache")
            .arg("--framework")
            .arg(&framework)
            .arg(&program));
        assert_eq!(outcome.exit_code, Some(0), "{}", outcome.stderr);
        outcome.stdout
    };
    if !compile("class_libraries/native.cs", &program) {
        return;
    }
    link_assemblies(&framework);
    assert!(runs().starts_with("/usr/lib/"), "without one there, the installed one");
    let own = folder.join("lib/libmono-native.so");
    std::fs::copy("/usr/lib/libmono-native.so", &own).expect("a copy");
    assert_eq!(runs().trim_end(), own.display().to_string());
    // One that the dynamic linker refuses: the installed one again.
    std::fs::write(&own, "no library").expect("a file");
    assert!(runs().starts_with("/usr/lib/"));
}

/// The assemblies that programs of these tests load, as links to the installed ones.
fn link_assemblies(framework: &Path) {
    std::fs::create_dir_all(framework.join("4.5")).expect("a folder");
    for assembly in ["mscorlib.dll", "System.dll", "System.Core.dll"] {
        symlink(Path::new(INSTALLED).join(assembly), framework.join("4.5").join(assembly)).expect("a link");
    }
}

/// A small system lacks libraries that Mono's own need; a bundle has them, in whatever order its folder lists them.
#[test]
fn libraries_that_native_libraries_need_come_from_a_bundle_where_the_system_lacks_them() {
    let folder = folder("libraries-needed").canonicalize().expect("a path");
    let (framework, program, lib) = (folder.join("lib/mono"), folder.join("program.exe"), folder.join("lib"));
    link_assemblies(&framework);
    if !compile("class_libraries/needed.cs", &program) {
        return;
    }
    let needed = lib.join("needed");
    std::fs::create_dir(&needed).expect("a folder");
    let make = |name: &str, at: &Path, text: &str, others: &[&str]| {
        let source = folder.join("source.c");
        std::fs::write(&source, text).expect("a file");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", &format!("-Wl,-soname,{name}"), "-o"]).arg(at.join(name)).arg(&source);
        cc.args(others.iter().map(|other| needed.join(other))).output().is_ok_and(|done| done.status.success())
    };
    let (first, second) = ("libsaki-test-first.so.1", "libsaki-test-second.so.1");
    let is_made = make(second, &needed, "int second (void) { return 41; }", &[])
        && make(first, &needed, "int second (void); int first (void) { return second () + 1; }", &[second])
        && make("libMonoPosixHelper.so", &lib, "int first (void); int answer (void) { return first (); }", &[first]);
    if !is_made {
        return eprintln!("skipped: no C compiler");
    }
    let runs = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        run(command.args(["--no-cache", "--framework"]).arg(&framework).arg(&program)).stdout
    };
    assert_eq!(runs(), "42\n");
    std::fs::rename(&needed, folder.join("elsewhere")).expect("renamed");
    assert_eq!(runs(), "not loaded\n", "the installed library has no such function");
}

/// `./x bundle`: the command and the class libraries in one folder, wherever that is.
#[test]
fn a_bundle_runs_on_its_own_class_libraries_and_configuration() {
    let folder = folder("libraries bundle").canonicalize().expect("a path");
    let (program, saki) = (folder.join("program.exe"), folder.join("bin/saki"));
    link_assemblies(&folder.join("lib/mono"));
    for path in ["bin", "share/saki", "etc/mono"] {
        std::fs::create_dir_all(folder.join(path)).expect("a folder");
    }
    // The folder of the test may be on another file system than the program.
    let built = env!("CARGO_BIN_EXE_saki");
    std::fs::hard_link(built, &saki).or_else(|_| std::fs::copy(built, &saki).map(|_| ())).expect("a copy");
    std::fs::write(folder.join("etc/mono/config"), "<configuration><dllmap dll=\"x\" target=\"y\"/></configuration>")
        .expect("a file");
    let found = || run(Command::new(&saki).arg("doctor")).stdout;
    let own = folder.join("lib/mono/4.5/mscorlib.dll").display().to_string();
    assert!(!found().contains(&own), "a lib/mono alone makes no bundle");
    std::fs::write(folder.join("share/saki/bundle"), "").expect("a file");
    assert!(found().contains(&own), "{}", found());
    if compile("class_libraries/needed.cs", &program) {
        // Which file maps the names of native libraries; MONO_LOG_LEVEL tells.
        let mut command = Command::new(&saki);
        let outcome = run(command.arg("--no-cache").arg(&program).env("MONO_LOG_LEVEL", "info"));
        assert_eq!(outcome.exit_code, Some(0), "{}", outcome.stderr);
        let config = folder.join("etc/mono/config").display().to_string();
        let told = outcome.stderr + &outcome.stdout;
        assert!(told.contains(&config) && !told.contains("'/etc/mono/config'"), "{told}");
    }
}
