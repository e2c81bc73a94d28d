//! `saki counters`: figures of a program, and of a running process, in all modes of threads.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use support::{compile, folder, run};

const SAKI: &str = env!("CARGO_BIN_EXE_saki");

/// The number behind `"name":` in the part of a line that begins with `part`.
fn number(line: &str, part: &str, name: &str) -> f64 {
    let rest = line.split_once(&format!("\"{part}\":{{")).unwrap_or_else(|| panic!("no {part}: {line}")).1;
    let rest = rest.split_once(&format!("\"{name}\":")).unwrap_or_else(|| panic!("no {name}: {line}")).1;
    rest.split([',', '}']).next().unwrap().parse().unwrap()
}

fn check_line(line: &str) {
    for growing in ["gen-0-gc-count", "gen-2-gc-count", "alloc-rate", "exception-count", "cpu-usage"] {
        assert!(number(line, "counters", growing) > 0.0, "{growing}: {line}");
    }
    for present in ["working-set", "gc-heap-size", "thread-count"] {
        assert!(number(line, "counters", present) > 0.0, "{present}: {line}");
    }
    assert!(number(line, "counters", "time-in-gc") > 0.0, "{line}");
    assert!(number(line, "totals", "monitor-lock-contention-count") > 0.0, "{line}");
    assert!(number(line, "totals", "alloc-rate") > 200_000.0, "{line}");
}

#[test]
fn a_running_process_tells_its_figures() {
    let program = folder("counters").join("busy.exe");
    if !compile("counters/busy.cs", &program) {
        return;
    }
    for mode in ["native", "green", "mn"] {
        let mut child = Command::new(SAKI)
            .args([&format!("--threads={mode}"), program.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let pid = child.id().to_string();
        let mut asked = Command::new(SAKI);
        asked.args(["counters", "--json", "--interval", "0.5", "--count", "2", "--pid", &pid]);
        let outcome = run(&mut asked);
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success(), "{mode}");
        assert_eq!(outcome.exit_code, Some(0), "{mode}: {}", outcome.stderr);
        let lines: Vec<&str> = outcome.stdout.lines().collect();
        assert_eq!(lines.len(), 2, "{mode}: {}", outcome.stdout);
        lines.into_iter().for_each(check_line);
    }
}

#[test]
fn a_program_runs_beside_its_figures_and_its_exit_code_is_its_own() {
    let folder = folder("counters-of-program");
    let (program, figures) = (folder.join("ends.exe"), folder.join("figures.txt"));
    if !compile("counters/ends.cs", &program) {
        return;
    }
    let mut command = Command::new(SAKI);
    command.args(["counters", "--interval", "0.1", "-o"]).arg(&figures).arg(&program);
    let outcome = run(&mut command);
    assert_eq!((outcome.exit_code, &*outcome.stdout, &*outcome.stderr), (Some(7), "1\n", ""));
    let text = std::fs::read_to_string(figures).unwrap();
    assert!(text.matches("\ngc-heap-size ").count() >= 2, "{text}");
    assert!(text.contains(" MiB\n") && text.contains(" /s "), "{text}");
}

#[test]
fn a_process_that_is_not_sakis_is_refused() {
    let mut command = Command::new(SAKI);
    command.args(["counters", "--pid", "1"]);
    let outcome = run(&mut command);
    let text = "saki counters: process 1 is no program that Saki runs for this user\n";
    assert_eq!((outcome.exit_code, &*outcome.stderr), (Some(2), text));
}
