//! `saki run` of C# sources in their forms: with `#!`, from standard input, without `run`, with libraries. Needs `mcs`.

mod support;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::{Outcome, folder, run};

/// Writes its arguments in angles; an unknown name where `wrong` is inserted.
const ECHO: &str = "using System;\nclass Echo {\n\tstatic int Main (string[] args)\n\t{\n\t\tforeach (var a in args) Console.Write (\"<\" + a + \">\");\n\t\tif (args.Length == 0) throw new Exception (\"none\");\n\t\treturn args.Length;\n\t}\n}\n";

/// None without the compiler.
fn place(name: &str) -> Option<PathBuf> {
    if let Err(error) = Command::new("mcs").arg("--version").output() {
        eprintln!("skipped: mcs: {error}");
        return None;
    }
    Some(folder(&format!("sources/{name}")))
}

fn saki(folder: &Path, arguments: &[&str]) -> Outcome {
    run(command(folder).args(arguments))
}

/// With a cache of the test's own.
fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    command
}

fn with_input(folder: &Path, arguments: &[&str], input: &str) -> Outcome {
    let mut child = command(folder)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("saki starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("saki reads");
    let done = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Outcome { exit_code: done.status.code(), stdout: text(done.stdout), stderr: text(done.stderr) }
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// `CS1024: Wrong preprocessor directive`, and "not a PE file" without `.cs`.
#[test]
fn a_source_runs_by_its_name() {
    let Some(folder) = place("interpreter") else { return };
    let first_line = format!("#!/usr/bin/env -S {} run\n", env!("CARGO_BIN_EXE_saki"));
    for name in ["echo", "echo.cs"] {
        let script = write(&folder, name, &(first_line.clone() + ECHO));
        // All words are the program's, sources and `--` among them.
        let done =
            run(Command::new(&script).args(["one", "x.cs", "--", "-r:x"]).env("XDG_CACHE_HOME", folder.join("cache")));
        assert_eq!((done.exit_code, &*done.stdout, &*done.stderr), (Some(4), "<one><x.cs><--><-r:x>", ""), "{name}");
        for words in [&["run", name, "a"][..], &["run", "-unsafe", name, "a"], &[name, "a"], &["--stats", name, "a"]] {
            let done = saki(&folder, words);
            assert_eq!((done.exit_code, &*done.stdout), (Some(1), "<a>"), "{words:?}: {}", done.stderr);
        }
        // Lines and the name are the source's.
        let done = saki(&folder, &["run", name]);
        let place = format!("in {}:7", script.display());
        assert!(done.exit_code == Some(1) && done.stderr.contains(&place), "{place}: {}", done.stderr);
        let wrong =
            write(&folder, &format!("wrong-{name}"), &(first_line.clone() + &ECHO.replace("args.Length;", "wrong;")));
        let done = saki(&folder, &["run", wrong.to_str().unwrap()]);
        let place = format!("{}(8,10): error CS0103", wrong.display());
        assert!(done.exit_code == Some(1) && done.stderr.contains(&place), "{place}: {}", done.stderr);
    }
    let done = saki(&folder, &["run", "-unsafe", "nothere"]);
    assert!(done.stderr.starts_with("saki run: -unsafe is an option of the C# compiler"), "{}", done.stderr);
}

#[test]
fn a_source_takes_the_place_of_a_program() {
    let Some(folder) = place("default") else { return };
    write(&folder, "echo.cs", ECHO);
    for words in
        [&["echo.cs", "a"][..], &["--threads=mn", "echo.cs", "a"], &["profile", "--format=folded", "echo.cs", "a"]]
    {
        let done = saki(&folder, words);
        assert_eq!((done.exit_code, &*done.stdout), (Some(1), "<a>"), "{words:?}: {}", done.stderr);
    }
}

#[test]
fn a_source_comes_by_standard_input() {
    let Some(folder) = place("input") else { return };
    for (words, input) in [
        (&["run", "-", "a", "b"][..], ECHO.to_owned()),
        (&["-", "a", "b"], ECHO.to_owned()),
        (&["run", "--no-cache", "-", "a", "b"], format!("#!/usr/bin/env -S saki run\n{ECHO}")),
    ] {
        let done = with_input(&folder, words, &input);
        assert_eq!((done.exit_code, &*done.stdout), (Some(2), "<a><b>"), "{words:?}: {}", done.stderr);
    }
    let done = with_input(&folder, &["run", "-"], ECHO);
    assert!(done.stderr.contains("in /dev/stdin:6"), "{}", done.stderr);
    let done = with_input(&folder, &["run", "-"], "class {");
    assert!(done.exit_code == Some(1) && done.stderr.contains("/dev/stdin(1,"), "{}", done.stderr);
}

/// `-r:L -lib:lib` compiled and did not find L when it ran.
#[test]
fn libraries_in_the_compilers_folders_are_found() {
    let Some(folder) = place("libraries") else { return };
    std::fs::create_dir(folder.join("lib")).unwrap();
    write(&folder, "l.cs", "public class L { public static int X () { return 7; } }");
    let compiled =
        Command::new("mcs").args(["-target:library", "-out:lib/L.dll", "l.cs"]).current_dir(&folder).status();
    assert!(compiled.expect("mcs").success());
    write(&folder, "p.cs", "class P { static int Main () { return L.X (); } }");
    for words in [&["run", "-r:L", "-lib:lib", "p.cs"][..], &["run", "-lib:nothere,lib", "-r:L.dll", "p.cs"]] {
        let done = saki(&folder, words);
        assert_eq!((done.exit_code, &*done.stderr), (Some(7), ""), "{words:?}");
    }
    // Behind the source the option is the program's, which is said unless it was meant.
    let done = saki(&folder, &["run", "p.cs", "-r:lib/L.dll"]);
    let first = done.stderr.lines().next().unwrap_or_default();
    assert!(first.starts_with("saki run: -r:lib/L.dll goes to the program: "), "{}", done.stderr);
    assert!(done.exit_code == Some(1) && done.stderr.contains("error CS0103"), "{}", done.stderr);
    let done = saki(&folder, &["run", "p.cs", "--", "-r:lib/L.dll"]);
    assert!(!done.stderr.contains("goes to the program"), "{}", done.stderr);
}

#[test]
fn projects_are_explained() {
    let folder = folder("sources/projects");
    write(&folder, "old.csproj", "<Project DefaultTargets=\"Build\">");
    write(&folder, "new.csproj", "<Project Sdk=\"Microsoft.NET.Sdk\">");
    write(&folder, "all.sln", "");
    for (words, expected) in [
        (
            &["run", "old.csproj"][..],
            "saki run: old.csproj: a project, not a program: make one with 'xbuild old.csproj'",
        ),
        (&["run", "new.csproj"], "saki run: new.csproj: a project, not a program: make one with 'dotnet build'"),
        (&["run", "-unsafe", "old.csproj"], "saki run: old.csproj: a project"),
        (&["all.sln"], "saki: all.sln: a project, not a program: make one with 'xbuild all.sln'"),
        (&["run", "nothere.csproj"], "saki run: nothere.csproj: no such file"),
    ] {
        let done = saki(&folder, words);
        assert_eq!(done.exit_code, Some(2), "{words:?}");
        assert!(done.stderr.starts_with(expected) && done.stderr.lines().count() == 1, "{words:?}: {}", done.stderr);
    }
}
