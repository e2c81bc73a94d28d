//! With `--tiers=1` the baseline compiler compiles every method, whatever it does.
//!
//! Needs `mcs`; without it the test says so and passes.

mod support;

use std::process::Command;

#[test]
fn no_method_is_left_to_the_second_tier() {
    let folder = support::folder("first-tier");
    let program = folder.join("All.exe");
    if !support::compile_with(
        &["-unsafe", "-checked-", "-r:System.Numerics.dll", "-r:System.Numerics.Vectors.dll"],
        "first_tier/All.cs",
        &program,
    ) {
        return;
    }
    let run = |options: &[&str]| {
        let mut saki = Command::new(env!("CARGO_BIN_EXE_saki"));
        let outcome = support::run(saki.args(["--no-cache", "--stats"]).args(options).arg(&program));
        assert_eq!(outcome.exit_code, Some(0), "{}", outcome.stderr);
        outcome
    };
    let first = run(&["--tiers=1"]);
    let count = |label: &str| {
        let line = first.stderr.lines().find(|line| line.starts_with(label)).expect("statistics");
        line[label.len()..].trim().parse::<u32>().expect("a number")
    };
    let compiled = count("methods compiled");
    assert!(compiled > 100, "{}", first.stderr);
    assert_eq!(count("first tier"), compiled, "{}", first.stderr);
    assert_eq!(first.stdout, run(&["--tiers=2"]).stdout);
}
