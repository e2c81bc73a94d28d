//! Mapped files that another program shortens in place while Saki runs: cached bodies count as absent, and a program's
//! file is named before the process ends. Both ended in SIGBUS without a word.

use super::Setup;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Waits for a line before it runs the larger part of its code.
const PROGRAM: &str = r#"
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;

class Program {
    static void Main() {
        Console.WriteLine("ready");
        Console.ReadLine();
        var words = Regex.Matches("one two three two one two", @"\w+").Cast<Match>().Select(m => m.Value);
        foreach (var group in words.GroupBy(w => w).OrderByDescending(g => g.Count()).ThenBy(g => g.Key))
            Console.WriteLine(group.Key + " " + group.Count());
        var text = new StringBuilder();
        foreach (var n in new SortedDictionary<string, int> { { "b", 2 }, { "a", 1 } }) text.Append(n.Key).Append(n.Value);
        Console.WriteLine(text + " " + Convert.ToBase64String(Encoding.UTF8.GetBytes(text.ToString())));
        Console.WriteLine(new Version(1, 2).CompareTo(new Version(1, 3)) + " " + TimeSpan.FromSeconds(90));
    }
}
"#;

const FIRST_PAGE_BYTES: u64 = 4096;

fn shorten(path: &Path) {
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("opens the file");
    assert!(file.metadata().expect("has a length").len() > FIRST_PAGE_BYTES, "{} is small", path.display());
    file.set_len(FIRST_PAGE_BYTES).expect("shortens the file");
}

/// Runs the program, calls `meanwhile` when it has written its first line, and lets it go on. How it ended, its other
/// lines and its errors.
fn run_with(setup: &Setup, options: &[&str], meanwhile: impl FnOnce()) -> (ExitStatus, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.args(options).arg(&setup.program).current_dir(&setup.folder);
    command.env_remove("SAKI_NO_CACHE").env("XDG_CACHE_HOME", setup.folder.join("cache"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("saki starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    meanwhile();
    child.stdin.take().expect("piped").write_all(b"\n").expect("the program reads");
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("UTF-8");
    let done = child.wait_with_output().expect("saki ends");
    (done.status, rest, String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn cache_files_shortened_during_a_run_are_passed_over() {
    let Some(setup) = Setup::of("shortened", PROGRAM) else { return };
    let (status, expected, errors) = run_with(&setup, &[], || {});
    assert!(status.success(), "{status}: {errors}");
    for mode in ["--threads=native", "--threads=green", "--threads=mn"] {
        let files = setup.files();
        let is_large = |path: &&std::path::PathBuf| path.metadata().is_ok_and(|m| m.len() > FIRST_PAGE_BYTES);
        let large: Vec<_> = files.iter().filter(is_large).collect();
        assert!(large.len() > 1, "{files:?}");
        let (status, output, errors) = run_with(&setup, &[mode], || large.iter().for_each(|path| shorten(path)));
        assert!(status.success(), "{mode}: {status}: {errors}");
        assert_eq!((output, errors), (expected.clone(), String::new()), "{mode}");
    }
}

#[test]
fn a_program_shortened_during_its_run_is_named() {
    // Its methods fill many pages.
    let mut program = String::from("using System; using System.Runtime.CompilerServices; class Program {\n");
    for n in 0..2000 {
        let _ = writeln!(
            program,
            "[MethodImpl (MethodImplOptions.NoInlining)] static int M{n} (int x) {{ return x * {n} + {}; }}",
            n * 7
        );
    }
    program.push_str(
        "static void Main() { Console.WriteLine(\"ready\"); Console.ReadLine(); Console.WriteLine(M1999(1)); } }",
    );
    let Some(setup) = Setup::of("shortened-program", &program) else { return };
    let (status, _, errors) = run_with(&setup, &["--no-cache"], || shorten(&setup.program));
    let named = format!("saki: {}: the file was shortened while it was in use\n", setup.program.display());
    assert!(errors.contains(&named), "{status}: {errors}");
    assert!(matches!(status.signal(), Some(libc::SIGBUS | libc::SIGABRT)), "{status}");
}
