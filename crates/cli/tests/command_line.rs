//! The command's subcommands, errors and generated files. Needs `mcs` where programs run.

mod support;

use std::process::Command;
use support::{Outcome, compile, folder, run};

fn saki(arguments: &[&str]) -> Outcome {
    run(Command::new(env!("CARGO_BIN_EXE_saki")).args(arguments))
}

#[test]
fn everything_behind_the_program_is_the_programs() {
    let program = folder("command-line-arguments").join("echo.exe");
    if !compile("command_line/echo.cs", &program) {
        return;
    }
    let program = program.to_str().unwrap();
    for front in [&[][..], &["--no-cache"], &["run"], &["run", "--nursery", "8m"]] {
        let arguments: Vec<&str> = front.iter().copied().chain([program, "--help", "info", "--", "-x"]).collect();
        let done = saki(&arguments);
        assert_eq!(done.stdout, "<--help>\n<info>\n<-->\n<-x>\n", "{front:?}: {}", done.stderr);
        assert_eq!(done.exit_code, Some(4));
    }
}

#[test]
fn a_file_with_the_name_of_a_command_runs_by_its_path() {
    let folder = folder("command-line-names");
    if !compile("command_line/echo.cs", &folder.join("info")) {
        return;
    }
    let saki = |arguments: &[&str]| run(Command::new(env!("CARGO_BIN_EXE_saki")).args(arguments).current_dir(&folder));
    assert_eq!(saki(&["./info", "a"]).stdout, "<a>\n");
    assert_eq!(saki(&["run", "info", "a"]).stdout, "<a>\n");
    let shown = saki(&["info", "info"]);
    assert!(shown.exit_code == Some(0) && shown.stdout.contains("mscorlib"), "{shown:?}");
}

/// Also of a command line that is a program alone, which is read without the definitions of the options.
#[test]
fn variables_of_options_count_in_front_of_a_program() {
    let program = folder("command-line-variables").join("echo.exe");
    if !compile("command_line/echo.cs", &program) {
        return;
    }
    for variable in ["SAKI_TIERS", "SAKI_NO_NET", "SAKI_NO_CACHE", "SAKI_THREADS", "SAKI_PROFILE"] {
        let done = run(Command::new(env!("CARGO_BIN_EXE_saki")).arg(&program).env(variable, "what?"));
        assert_eq!((done.exit_code, &*done.stdout), (Some(2), ""), "{variable}: {}", done.stderr);
    }
}

#[test]
fn errors_name_the_subcommand_and_the_file() {
    for (arguments, expected) in [
        (&["nothere.exe"][..], "saki: nothere.exe: no such file\n"),
        (&["run", "nothere.exe"], "saki run: nothere.exe: no such file\n"),
        (&["run", "nothere.cs"], "saki run: nothere.cs: No such file or directory (os error 2)\n"),
        (&["info", "nothere"], "saki info: nothere: no such file\n"),
        (
            &["--stats", "info", "nothere"],
            "saki: info: no such file (a command comes before all options: saki info ...)\n",
        ),
        (&["exec"], "saki exec: the following required arguments were not provided:\n"),
        (&["exec", "nothere.dll"], "saki exec: nothere.dll: no such file\n"),
        (&["exec", "--frob", "x.dll"], "saki exec: unexpected argument '--frob' found\n"),
        (&["exec", "--no-net", "x.dll"], "saki exec: --no-net: 'exec' runs programs on an installed .NET\n"),
        (
            &["--stats", "exec", "x.dll"],
            "saki: exec: no such file (a command comes before all options: saki exec ...)\n",
        ),
        (&["info"], "saki info: the following required arguments were not provided:\n"),
        (&["doctor", "x"], "saki doctor: unexpected argument 'x' found\n"),
        (&["cache", "x"], "saki cache: unrecognized subcommand 'x'\n"),
        (&["cache", "seed", "--framework", "/nothere"], "saki cache seed: /nothere/4.5/mcs.exe: no such file"),
        (&["repl", "--framework", "/nothere"], "saki repl: /nothere/4.5/csharp.exe: no such file"),
        (&["--no-such-option", "x.exe"], "saki: unexpected argument '--no-such-option' found\n"),
    ] {
        let done = saki(arguments);
        assert!(done.stderr.starts_with(expected), "{arguments:?}: {}", done.stderr);
        assert_eq!((done.exit_code, &*done.stdout), (Some(2), ""), "{arguments:?}");
    }
}

#[test]
fn each_subcommand_has_help_of_its_own() {
    for name in ["run", "repl", "info", "doctor", "cache", "cache seed"] {
        let words: Vec<&str> = name.split(' ').collect();
        let by_option = saki(&[&words[..], &["--help"]].concat());
        let by_command = saki(&[&["help"], &words[..]].concat());
        for done in [by_option, by_command] {
            assert_eq!(done.exit_code, Some(0), "{name}: {}", done.stderr);
            assert!(done.stdout.contains(&format!("Usage: saki {name}")), "{name}: {}", done.stdout);
        }
    }
    let all = saki(&["--help"]).stdout;
    for name in ["run", "repl", "info", "doctor", "cache", "help"] {
        assert!(all.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))), "{name}: {all}");
    }
    assert!(!all.contains("generate"), "{all}");
}

#[test]
fn the_version_names_the_commit_of_a_checkout() {
    let version = saki(&["--version"]).stdout;
    let head = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    assert!(version.starts_with(concat!("saki ", env!("CARGO_PKG_VERSION"))), "{version}");
    match head {
        Ok(head) if head.status.success() && std::env::var_os("SAKI_COMMIT").is_none() => {
            let commit = version.split(['(', ')']).nth(1).expect("a commit in parentheses").to_owned();
            // The program may be of the commit before; cargo builds it anew when HEAD moves.
            assert!(commit.len() == 12 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{version}");
        }
        _ => eprintln!("skipped: no checkout"),
    }
}

#[test]
fn pages_and_completions_are_written_below_a_prefix() {
    let prefix = folder("command-line-prefix");
    let done = saki(&["generate", prefix.to_str().unwrap()]);
    assert_eq!(done.exit_code, Some(0), "{}", done.stderr);
    let page = std::fs::read_to_string(prefix.join("share/man/man1/saki-run.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("NAME"), "{page}");
    for shell in ["bash-completion/completions/saki", "zsh/site-functions/_saki", "fish/vendor_completions.d/saki.fish"]
    {
        assert!(prefix.join("share").join(shell).is_file(), "{shell}");
    }
}

/// man and its macros find nothing to complain of, and every option has its text in what readers see.
#[test]
fn man_formats_the_pages() {
    let prefix = folder("command-line-man");
    assert_eq!(saki(&["generate", prefix.to_str().unwrap()]).exit_code, Some(0));
    for page in std::fs::read_dir(prefix.join("share/man/man1")).unwrap() {
        let page = page.unwrap().path();
        let done = Command::new("groff").args(["-man", "-Tutf8", "-P-cbu", "-ww", "-rLL=100n"]).arg(&page).output();
        let Ok(done) = done else { return eprintln!("skipped: groff") };
        let (text, warnings) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success() && warnings.is_empty(), "{}: {warnings}", page.display());
        assert!(text.contains("SYNOPSIS") && text.contains("EXIT STATUS"), "{}: {text}", page.display());
    }
}

/// Each was "no such file" without a hint.
#[test]
fn mistyped_commands_and_kinds_are_recognised() {
    for (arguments, expected) in [
        (&["docter"][..], "saki: docter: no such file, and no command; did you mean 'doctor'?\n"),
        (&["rnu", "x.exe"], "saki: rnu: no such file, and no command; did you mean 'run'?\n"),
        (&["test"], "saki: test: no such file, and no command ('saki help' lists the commands)\n"),
        (&["version"], "saki: version: no such file, and no command; 'saki --version' shows the version\n"),
        (&["docter.exe"], "saki: docter.exe: no such file\n"),
        (
            &["profile", "cpuu", "x.exe"],
            "saki profile: cpuu: no such file, and no kind of profile; did you mean 'cpu'?\n",
        ),
        (&["run", "docter"], "saki run: docter: no such file\n"),
    ] {
        let done = saki(arguments);
        assert_eq!((done.exit_code, &*done.stderr), (Some(2), expected), "{arguments:?}");
    }
    let list = saki(&["profile", "cpu,aloc", "x.exe"]).stderr;
    assert!(list.ends_with("; did you mean 'alloc'?\n"), "{list}");
    // "To pass '--frob' as a value, use '-- --frob'" would run a program of that name.
    let option = saki(&["--frob", "x.exe"]).stderr;
    assert!(!option.contains("tip:"), "{option}");
    assert!(saki(&["--thread", "mn", "x.exe"]).stderr.contains("a similar argument exists: '--threads'"));
}

#[test]
fn help_of_help_is_the_same_both_ways() {
    for words in [&["help"][..], &["cache", "help"], &["profile", "help"]] {
        let by_command = saki(&[words, &["help"]].concat());
        for option in ["--help", "-h"] {
            let by_option = saki(&[words, &[option]].concat());
            assert_eq!((by_option.exit_code, &by_option.stdout), (Some(0), &by_command.stdout), "{words:?}");
        }
    }
}

#[test]
fn doctor_speaks_of_what_users_ask_for() {
    let report = saki(&["doctor"]).stdout;
    for what in ["saki", "instruction sets", "native helpers", "C# compiler", "C# shell", "debug symbols", "code cache"]
    {
        assert!(report.lines().any(|line| line[5..].starts_with(what)), "{what}: {report}");
    }
    assert!(!report.contains("has_sse"), "{report}");
    // Tests are not stripped.
    assert!(report.contains("of Saki: names of functions"), "{report}");
}
