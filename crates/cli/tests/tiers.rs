//! Methods move from the first tier to the second, and loops into continuations, while threads call them in all ways,
//! stacks are walked from signals at 5 kHz and collections run.
//!
//! The program checks its results. That bodies are replaced at all, the report of `--stats` says.

mod support;

use std::process::Command;
use support::{compile, folder, run};

/// The number in front of a word of a line such as "second tier 5 methods, 3 loops".
fn count(report: &str, what: &str) -> u64 {
    let words: Vec<&str> = report.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|word| *word == what).unwrap_or_else(|| panic!("{what} in {report}"));
    words[at - 1].parse().unwrap_or_else(|_| panic!("a number of {what} in {report}"))
}

#[test]
fn methods_become_hot_under_collections_and_walks() {
    let program = folder("tiers").join("load.exe");
    if !compile("versions/load.cs", &program) {
        return;
    }
    for mode in ["native", "green", "mn"] {
        for hot_after in ["2", "50"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
            command
                .args(["--no-cache", "--threads", mode, "--tiers", "both", "--hot-after", hot_after, "--stats"])
                .args(["--check-walks", "5000", "--gc-stress", "5000"])
                .arg(&program)
                .args(["2", "3"]);
            let ended = run(&mut command);
            let stderr = ended.stderr;
            assert_eq!((ended.exit_code, &*ended.stdout), (Some(0), "ok\n"), "{mode}, {hot_after}: {stderr}");
            let report =
                |start: &str| stderr.lines().find(|line| line.starts_with(start)).expect("a report").to_string();
            let (walks, tier) = (report("walks:"), report("second tier"));
            eprintln!("{mode}, {hot_after}: {walks}; {tier}");
            assert_eq!(count(&walks, "wrong"), 0, "{mode}: {walks}");
            assert!(count(&walks, "frames") > 500, "{mode}: too few to mean much: {walks}");
            assert!(count(&tier, "methods") > 20, "{mode}: {tier}");
            assert_eq!(count(&tier, "failed"), 0, "{mode}: {tier}");
        }
    }
}

#[test]
fn a_loop_goes_on_in_the_second_tier() {
    let program = folder("loops").join("loop.exe");
    if !compile("tiers/loop.cs", &program) {
        return;
    }
    for mode in ["native", "green", "mn"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        command.args(["--no-cache", "--threads", mode, "--tiers", "both", "--stats"]).arg(&program);
        let ended = run(&mut command);
        assert_eq!((ended.exit_code, &*ended.stdout), (Some(0), "done\n"), "{mode}: {}", ended.stderr);
        let tier = ended.stderr.lines().find(|line| line.starts_with("second tier")).expect("a report").to_string();
        assert!(count(&tier, "continued") > 0, "{mode}: {tier}");
    }
}

#[test]
fn what_becomes_of_a_method_is_explained() {
    let program = folder("explained").join("explained.exe");
    if !compile("tiers/explained.cs", &program) {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.args(["--explain", "Program:Work"]).arg(&program);
    let ended = run(&mut command);
    assert_eq!((ended.exit_code, &*ended.stdout), (Some(0), "17600000\n"), "{}", ended.stderr);
    let second = ended.stderr.split("Program:Work ").find(|part| part.contains(": second tier")).expect("a report");
    for line in [
        "inlined: Program:Small (System.Int32)",
        "called: Program:Caught (System.Int32), it has exception handlers",
        "guarded: IStep:Next (System.Int32), nearly always of a Adder",
        "inlined: Adder:Next (System.Int32)",
        "guarded: a delegate, nearly always of Program:<Main>m__0 (System.Int32)",
        "unrolled: this loop has 4 bodies",
        "checks of indices: 0",
    ] {
        assert!(second.contains(line), "{line} in {}", ended.stderr);
    }
}

#[test]
fn what_hardly_ever_ran_is_not_inlined() {
    let program = folder("profiled").join("profiled.exe");
    if !compile("tiers/profiled.cs", &program) {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.args(["--no-cache", "--explain", "Program:Work"]).arg(&program);
    let ended = run(&mut command);
    assert_eq!(ended.exit_code, Some(0), "{}", ended.stderr);
    let second = ended.stderr.split("Program:Work ").find(|part| part.contains(": second tier")).expect("a report");
    for (line, times) in [
        ("hardly ever passed: ", 2),
        ("called: Program:Medium (System.Int32), its body is long", 2),
        // It is shorter than the call.
        ("inlined: Program:Small (System.Int32)", 2),
    ] {
        assert_eq!(second.matches(line).count(), times, "{line} in {}", ended.stderr);
    }
}

#[test]
fn loops_of_few_rounds_get_no_second_version() {
    let program = folder("rounds").join("rounds.exe");
    if !compile("tiers/rounds.cs", &program) {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.args(["--no-cache", "--explain", "Program:Sum"]).arg(&program);
    let ended = run(&mut command);
    assert_eq!((ended.exit_code, &*ended.stdout), (Some(0), "19100000\n"), "{}", ended.stderr);
    for (method, has_versions) in [("Program:SumShort ", false), ("Program:SumLong ", true)] {
        let is_second = |part: &&str| part.lines().next().is_some_and(|line| line.contains(": second tier"));
        let second = ended.stderr.split(method).find(is_second).expect("a report");
        let second = second.split("Program:Sum").next().expect("a part");
        assert_eq!(second.contains("few rounds of this loop: "), !has_versions, "{method}: {}", ended.stderr);
        assert_eq!(second.contains("two versions of this loop"), has_versions, "{method}: {}", ended.stderr);
    }
}
