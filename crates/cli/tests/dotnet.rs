//! Programs for modern .NET: finding one, compiling with its SDK, and `saki dotnet`. Most tests make up an
//! installation; those with a real one take DOTNET9 (its `dotnet`) or `target/net/9`.

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Outcome, folder, run};

const PROGRAM: &str = "static class Program { static int Main () => 42; }\n";

fn make_file(path: &Path, text: &str, mode: u32) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("written");
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("a mode");
}

/// An installation without anything that runs, but for `dotnet`, which is this script.
fn install(root: &Path, versions: &[&str], dotnet: &str) {
    make_file(&root.join("dotnet"), &format!("#!/bin/sh\n{dotnet}\n"), 0o755);
    for version in versions {
        make_file(&root.join("host/fxr").join(version).join("libhostfxr.so"), "", 0o644);
        let framework = root.join("shared/Microsoft.NETCore.App").join(version);
        for library in ["System.Private.CoreLib.dll", "System.Runtime.dll"] {
            make_file(&framework.join(library), "", 0o644);
        }
    }
}

/// Saki with nothing of the machine's own .NET.
fn saki(place: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    for name in ["DOTNET_ROOT", "DOTNET_ROOT_X64", "DOTNET_ROOT_ARM64", "DOTNET_ADDITIONAL_DEPS", "DOTNET_SHARED_STORE"]
    {
        command.env_remove(name);
    }
    command.current_dir(place).env("XDG_CACHE_HOME", place.join("cache"));
    command
}

/// A program for Mono's class libraries; None without a compiler.
fn program(place: &Path) -> Option<PathBuf> {
    let (source, program) = (place.join("app.cs"), place.join("app.dll"));
    std::fs::write(&source, PROGRAM).expect("written");
    let compiled = Command::new("mcs").arg("-nologo").arg(format!("-out:{}", program.display())).arg(source).status();
    match compiled {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            eprintln!("skipped: mcs: {error}");
            return None;
        }
    }
    Some(program)
}

fn one_line(outcome: &Outcome) -> &str {
    assert_eq!((outcome.exit_code, outcome.stderr.lines().count()), (Some(2), 1), "{outcome:?}");
    &outcome.stderr
}

#[test]
fn what_is_missing_is_one_line() {
    let place = folder("dotnet-missing");
    if program(&place).is_none() {
        return;
    }
    let root = place.join("root");
    let net = |root: &Path| run(saki(&place).env("DOTNET_ROOT", root).args(["--net", "app.dll"]));
    let outcome = net(&root);
    let line = one_line(&outcome);
    assert!(line.contains("no .NET is found: DOTNET_ROOT names") && line.contains("install its runtime"), "{line}");
    install(&root, &["9.0.5"], "");
    let outcome = net(&root);
    let line = one_line(&outcome);
    assert!(line.contains("without") && line.contains("app.runtimeconfig.json"), "{line}");
    std::fs::write(place.join("app.runtimeconfig.json"), "{}").expect("written");
    let outcome = net(&root);
    assert!(one_line(&outcome).contains("host/fxr/9.0.5/libhostfxr.so: "), "{outcome:?}");
    // Its references fit Mono's class libraries.
    assert_eq!(run(saki(&place).args(["--no-net", "app.dll"])).exit_code, Some(42));
}

#[test]
fn doctor_lists_what_is_found() {
    let place = folder("dotnet-doctor");
    let root = place.join("root");
    install(&root, &["9.0.5", "10.0.0-rc.2", "10.0.13"], "");
    make_file(&root.join("sdk/10.0.100/Roslyn/bincore/csc.dll"), "", 0o644);
    let report = run(saki(&place).env("DOTNET_ROOT", &root).arg("doctor")).stdout;
    let line = |what: &str| report.lines().find(|line| line.contains(what)).unwrap_or_default().to_owned();
    // Core libraries that are empty files are served by nobody.
    let found = line(".NET runtimes");
    for version in ["9.0.5", "10.0.0-rc.2", "10.0.13"] {
        assert!(found.starts_with("note") && found.contains(&format!("{version} (not served: ")), "{report}");
    }
    assert!(found.contains(&format!(" in {} (DOTNET_ROOT)", root.display())), "{report}");
    assert!(line("C# compiler of .NET").contains("10.0.100/Roslyn/bincore/csc.dll"), "{report}");
    let report = run(saki(&place).env("DOTNET_ROOT", place.join("none")).arg("doctor")).stdout;
    assert!(report.lines().any(|line| line.starts_with("note") && line.contains("DOTNET_ROOT names")), "{report}");
}

/// What `tools/net/setup` has fetched is served.
#[test]
fn doctor_says_which_runtimes_are_served() {
    let place = folder("dotnet-served");
    let net = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder").join("net");
    for (folder, version) in [("9", "9.0.5"), ("10", "10.0.13")] {
        let root = net.join(folder);
        if !root.join("stamp").exists() {
            eprintln!("skipped: {} is not here (tools/net/setup fetches it)", root.display());
            continue;
        }
        let report = run(saki(&place).env("DOTNET_ROOT", &root).arg("doctor")).stdout;
        let line = report.lines().find(|line| line.contains(".NET runtimes")).unwrap_or_default();
        assert!(line.starts_with("ok") && line.contains(&format!(" {version} in ")), "{report}");
    }
}

#[test]
fn sources_are_compiled_by_an_installed_sdk() {
    let place = folder("dotnet-run");
    let root = place.join("root");
    let Some(compiled) = program(&place) else { return };
    let run_net = || run(saki(&place).env("DOTNET_ROOT", &root).args(["run", "--net", "-unsafe", "x.cs", "one"]));
    std::fs::write(place.join("x.cs"), PROGRAM).expect("written");
    // The compiler's words go to a file; what it makes was made before.
    let script = format!(
        "printf '%s\\n' \"$@\" > {place}/words\nfor word; do case $word in -out:*) cp {compiled} \"${{word#-out:}}\" ;; esac; done",
        place = place.display(),
        compiled = compiled.display()
    );
    install(&root, &["9.0.5", "10.0.13"], &script);
    let outcome = run_net();
    assert!(one_line(&outcome).contains("sdk/VERSION/Roslyn/bincore/csc.dll: no such file"), "{outcome:?}");
    make_file(&root.join("sdk/9.0.203/Roslyn/bincore/csc.dll"), "", 0o644);
    let outcome = run_net();
    // What was made is a program for .NET, whose resolver is an empty file here.
    assert!(one_line(&outcome).contains("libhostfxr.so: "), "{outcome:?}");
    let words = std::fs::read_to_string(place.join("words")).expect("the compiler ran");
    let references = root.join("shared/Microsoft.NETCore.App/9.0.5");
    for expected in [
        root.join("sdk/9.0.203/Roslyn/bincore/csc.dll").display().to_string(),
        format!("-r:{}/System.Runtime.dll", references.display()),
        "-unsafe".to_owned(),
        "x.cs".to_owned(),
    ] {
        assert!(words.lines().any(|word| word == expected), "{expected}: {words}");
    }
    let kept = words.lines().find_map(|word| word.strip_prefix("-out:")).expect("a file");
    assert!(kept.ends_with("/x.dll"), "{kept}");
}

/// A command with a library beside it.
fn command_with(library: &Path, place: &Path) -> PathBuf {
    let command = place.join("bin/saki");
    std::fs::create_dir_all(place.join("bin")).expect("a folder");
    let built = env!("CARGO_BIN_EXE_saki");
    if std::fs::hard_link(built, &command).is_err() {
        std::fs::copy(built, &command).expect("copied");
    }
    let own = place.join("lib/saki-dotnet/libcoreclr.so");
    std::fs::create_dir_all(own.parent().expect("a folder")).expect("a folder");
    std::fs::copy(library, own).expect("copied");
    command
}

#[test]
fn dotnet_gets_its_words_and_two_variables() {
    let place = folder("dotnet-words");
    let root = place.join("root");
    install(&root, &["9.0.5"], "printf '%s\\n' \"$@\" \"$DOTNET_ADDITIONAL_DEPS\" \"$DOTNET_SHARED_STORE\"");
    std::fs::write(place.join("library"), "L").expect("written");
    let command = command_with(&place.join("library"), &place);
    let dotnet = |before: &str| {
        let mut dotnet = Command::new(&command);
        dotnet.env("XDG_CACHE_HOME", place.join("cache")).env("DOTNET_ROOT", &root).env("DOTNET_SHARED_STORE", before);
        dotnet.env("PATH", "/usr/bin:/bin").env_remove("DOTNET_ADDITIONAL_DEPS");
        dotnet.args(["dotnet", "run", "--help", "--", "-x"]);
        dotnet
    };
    let outcome = run(&mut dotnet("/other"));
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let [words @ .., dependencies, stores] = &lines[..] else { panic!("{outcome:?}") };
    assert_eq!(words, ["run", "--help", "--", "-x"]);
    let (store, other) = stores.split_once(':').expect("two");
    assert_eq!(other, "/other");
    assert!(Path::new(dependencies).is_file() && Path::new(store).is_dir());
    let asset = "saki/1.0.0/runtimes/linux-x64/native/libcoreclr.so";
    let text = std::fs::read(Path::new(store).join("x64/net9.0").join(asset)).expect("a library");
    assert_eq!(text, b"L");
    // Commands that start at the same time.
    std::fs::remove_dir_all(place.join("cache")).expect("removed");
    let children: Vec<_> =
        (0..8).map(|_| dotnet("").stdout(std::process::Stdio::piped()).spawn().expect("starts")).collect();
    for child in children {
        assert!(child.wait_with_output().expect("ends").status.success());
    }
    let doctor = run(Command::new(&command).env("XDG_CACHE_HOME", place.join("cache")).arg("doctor")).stdout;
    assert!(!doctor.contains("not used:"), "{doctor}");
}

/// `packaging/install` takes the library along, and the command finds it there.
#[test]
fn an_installed_command_finds_its_library() {
    let place = folder("dotnet-installed");
    let (build, prefix, root) = (place.join("build"), place.join("usr"), place.join("root"));
    install(&root, &["9.0.5"], "ls -L \"$DOTNET_SHARED_STORE\"/x64/net9.0/saki/1.0.0/runtimes/linux-x64/native");
    std::fs::create_dir_all(&build).expect("a folder");
    if std::fs::hard_link(env!("CARGO_BIN_EXE_saki"), build.join("saki")).is_err() {
        std::fs::copy(env!("CARGO_BIN_EXE_saki"), build.join("saki")).expect("copied");
    }
    // Any program that `strip` understands stands for the library.
    std::fs::copy("/bin/true", build.join("libcoreclr.so")).expect("copied");
    if Command::new("strip").arg("--version").output().is_err() {
        return eprintln!("skipped: no strip");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/install");
    let installed = run(Command::new(&script).arg("--without-cache").arg(build.join("saki")).arg(&prefix));
    assert_eq!(installed.exit_code, Some(0), "{installed:?}");
    let mut command = Command::new(prefix.join("bin/saki"));
    command.env("XDG_CACHE_HOME", place.join("cache")).env("DOTNET_ROOT", &root).env("PATH", "/usr/bin:/bin");
    let outcome = run(command.env_remove("DOTNET_SHARED_STORE").args(["dotnet", "x"]));
    assert_eq!((outcome.exit_code, &*outcome.stdout), (Some(0), "libcoreclr.so\n"), "{outcome:?}");
    assert_eq!(run(Command::new(script).arg("--remove").arg(&prefix)).exit_code, Some(0));
    assert!(!prefix.join("lib").exists());
}

/// The folder of a real .NET 9; None without one.
fn real_root() -> Option<PathBuf> {
    let named = std::env::var_os("DOTNET9").map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/net/9/dotnet");
    let Ok(dotnet) = std::fs::canonicalize(named.unwrap_or(here)) else {
        eprintln!("skipped: no .NET 9 (DOTNET9, target/net/9)");
        return None;
    };
    Some(dotnet.parent().expect("a folder").to_path_buf())
}

/// A program for .NET finds the bodies of its class library that `saki cache seed --net` has left.
#[test]
fn the_cache_is_seeded_for_net() {
    let place = folder("dotnet-seed");
    let missing = run(saki(&place).env("DOTNET_ROOT", place.join("none")).args(["cache", "seed", "--net"]));
    assert!(one_line(&missing).contains("no .NET is found"), "{missing:?}");
    let (Some(root), Some(_)) = (real_root(), program(&place)) else { return };
    let seeded = run(saki(&place).env("DOTNET_ROOT", &root).args(["cache", "seed", "--net"]));
    assert!(seeded.exit_code == Some(0) && seeded.stdout.contains("System.Private.CoreLib"), "{seeded:?}");
    std::fs::write(place.join("app.runtimeconfig.json"), CONFIGURATION).expect("written");
    let outcome = run(saki(&place).env("DOTNET_ROOT", root).args(["--stats", "--net", "app.dll"]));
    let found = outcome.stderr.lines().find_map(|line| line.strip_prefix("code cache")?.split_once(" bodies found"));
    let found: u32 = found.and_then(|(count, _)| count.trim().parse().ok()).unwrap_or_else(|| panic!("{outcome:?}"));
    assert!(outcome.exit_code == Some(42) && found > 100, "{outcome:?}");
}

const CONFIGURATION: &str =
    r#"{"runtimeOptions": {"tfm": "net9.0", "framework": {"name": "Microsoft.NETCore.App", "version": "9.0.0"}}}"#;

/// A program for .NET 8 runs on .NET 9 if its user or its configuration says so, as under .NET's own host.
#[test]
fn a_program_for_another_major_version_rolls_forward() {
    let place = folder("dotnet-roll-forward");
    let (Some(root), Some(_)) = (real_root(), program(&place)) else { return };
    let configure = |more: &str| {
        let config = CONFIGURATION.replace("net9.0", "net8.0").replace("9.0.0", "8.0.0");
        let config = config.replacen("{\"tfm\"", &format!("{{{more}\"tfm\""), 1);
        std::fs::write(place.join("app.runtimeconfig.json"), config).expect("written");
    };
    let net = |setting: &str| {
        let mut command = saki(&place);
        command.env("DOTNET_ROOT", &root).env("DOTNET_ROLL_FORWARD", setting).args(["--net", "app.dll"]);
        run(&mut command)
    };
    configure("");
    let refused = net("Minor");
    let line = one_line(&refused);
    assert!(line.contains("needs Microsoft.NETCore.App 8.0.0") && line.contains("DOTNET_ROLL_FORWARD=Major"), "{line}");
    for setting in ["Major", "LatestMajor"] {
        assert_eq!(net(setting).exit_code, Some(42), "{setting}");
    }
    configure("\"rollForward\": \"Major\", ");
    assert_eq!(net("").exit_code, Some(42));
}

/// A program says `PROCESS exec [OPTIONS] app.dll`, with the process that runs itself, as `dotnet` programs do.
#[test]
fn exec_is_that_of_dotnet() {
    let place = folder("dotnet-exec");
    if program(&place).is_none() {
        return;
    }
    let without = run(saki(&place).env("DOTNET_ROOT", place.join("none")).args(["exec", "app.dll"]));
    assert!(one_line(&without).starts_with("saki exec: app.dll: ") && without.stderr.contains("no .NET is found"));
    let Some(root) = real_root() else { return };
    let exec =
        |words: &[&str]| run(saki(&place).env("DOTNET_ROOT", &root).env("SAKI_NO_NET", "1").arg("exec").args(words));
    // A program of Mono's class libraries has no configuration.
    assert!(one_line(&exec(&["app.dll"])).contains("without"));
    let other = place.join("other.json");
    std::fs::write(&other, CONFIGURATION.replace("net9.0", "net8.0").replace("9.0.0", "8.0.0")).expect("written");
    let refused = exec(&["--runtimeconfig", "other.json", "app.dll"]);
    assert!(one_line(&refused).contains("needs Microsoft.NETCore.App 8.0.0"), "{refused:?}");
    // Behind the program the words are the program's: this one is not the host's.
    let forward =
        ["--runtimeconfig", "other.json", "--roll-forward", "Major", "--nursery", "8m", "app.dll", "--depsfile"];
    assert_eq!(exec(&forward).exit_code, Some(42));
    for (option, value) in [("--depsfile", "none.json"), ("--runtimeconfig", "none.json"), ("--roll-forward", "Never")]
    {
        let words = ["--runtimeconfig", "other.json", "--roll-forward", "Major", option, value, "app.dll"];
        let refused = exec(&words);
        assert!(one_line(&refused).contains("libhostfxr.so refuses it: "), "{option}: {refused:?}");
    }
    let newest = exec(&["--runtimeconfig", "other.json", "--fx-version", "99.0.0", "app.dll"]);
    assert!(one_line(&newest).contains("needs Microsoft.NETCore.App 99.0.0"), "{newest:?}");
    // A file of this name is no program's beginning, but for its path and under Mono's name.
    std::fs::copy(place.join("app.dll"), place.join("exec")).expect("copied");
    assert!(exec(&[]).stderr.starts_with("saki exec: the following required arguments"));
    assert_eq!(run(saki(&place).arg("./exec")).exit_code, Some(42));
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_saki"), place.join("mono")).expect("a link");
    let mono = run(Command::new(place.join("mono")).arg("exec").current_dir(&place));
    assert_eq!(mono.exit_code, Some(42), "{mono:?}");
}

/// A program for both that has a configuration runs on .NET, unless the variable says otherwise; an option counts more.
#[test]
fn a_variable_keeps_programs_on_monos_class_libraries() {
    let place = folder("dotnet-no-net");
    if program(&place).is_none() {
        return;
    }
    std::fs::write(place.join("app.runtimeconfig.json"), CONFIGURATION).expect("written");
    let with = |value: &str, words: &[&str]| {
        run(saki(&place).env("DOTNET_ROOT", place.join("none")).env("SAKI_NO_NET", value).args(words))
    };
    assert_eq!(with("1", &["app.dll"]).exit_code, Some(42));
    assert_eq!(with("true", &["--nursery", "8m", "app.dll"]).exit_code, Some(42));
    for (value, words) in [("0", &["app.dll"][..]), ("1", &["--net", "app.dll"]), ("1", &["run", "--net", "app.dll"])] {
        assert!(one_line(&with(value, words)).contains("no .NET is found"), "{value} {words:?}");
    }
    assert_eq!(with("0", &["--no-net", "app.dll"]).exit_code, Some(42));
    let both = with("0", &["run", "--net", "--no-net", "app.dll"]);
    assert_eq!(both.stderr, "saki run: the argument '--net' cannot be used with '--no-net'\n", "{both:?}");
}

/// The real host loads the real library.
#[test]
fn an_unchanged_dotnet_loads_saki() {
    let place = folder("dotnet-peer");
    let test = std::env::current_exe().expect("a path");
    let libraries = test.ancestors().skip(1).take(2).map(|folder| folder.join("libcoreclr.so"));
    let Some(library) = libraries.into_iter().find(|file| file.is_file()) else {
        return eprintln!("skipped: libcoreclr.so is not built");
    };
    let Some(root) = real_root() else { return };
    if program(&place).is_none() {
        return;
    }
    std::fs::write(place.join("app.runtimeconfig.json"), CONFIGURATION).expect("written");
    let mut command = Command::new(command_with(&library, &place));
    command.env("XDG_CACHE_HOME", place.join("cache")).env("DOTNET_ROOT", root);
    command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").current_dir(&place).args(["dotnet", "app.dll"]);
    let outcome = run(command.env("PATH", "/usr/bin:/bin"));
    assert_eq!(outcome.exit_code, Some(42), "{outcome:?}");
}
