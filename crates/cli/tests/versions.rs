//! Bodies of running methods are replaced and taken back, ten thousand times in each thread mode, while threads call
//! the methods in all ways, stacks are walked from signals at 5 kHz and collections run.
//!
//! The machine checks at each replacement that nothing leads to the old body any more (`--replace-bodies`), the program
//! that its results are right. How many bodies a second can be replaced depends on the machine, so the program is run
//! until there are enough.

mod support;

use std::process::Command;
use support::{compile, folder, run};

const REPLACEMENTS: u64 = 10_000;
/// Runs of a mode before too few replacements are a failure.
const MAX_RUNS: u32 = 20;

/// The number in front of a word of the report, "walks: 5 signals, 3 frames".
fn count(report: &str, what: &str) -> u64 {
    let number = |part: &str| part.trim().strip_suffix(what)?.trim().parse().ok();
    report.split([':', ',']).find_map(number).unwrap_or_else(|| panic!("{what} in {report}"))
}

#[test]
fn bodies_of_running_methods_are_replaced_and_taken_back() {
    let program = folder("versions").join("load.exe");
    if !compile("versions/load.cs", &program) {
        return;
    }
    for mode in ["native", "green", "mn"] {
        let (mut made, mut taken_back) = (0, 0);
        for _ in 0..MAX_RUNS {
            if made + taken_back >= REPLACEMENTS {
                break;
            }
            let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
            command
                .args(["--threads", mode, "--replace-bodies", "5000", "--check-walks", "5000", "--gc-stress", "5000"])
                .arg(&program)
                .args(["3", "3"]);
            let ended = run(&mut command);
            let stderr = ended.stderr;
            assert_eq!((ended.exit_code, &*ended.stdout), (Some(0), "ok\n"), "{mode}: {stderr}");
            let report =
                |start: &str| stderr.lines().find(|line| line.starts_with(start)).expect("a report").to_string();
            let (walks, bodies) = (report("walks:"), report("bodies:"));
            eprintln!("{mode}: {walks}; {bodies}");
            assert_eq!((count(&walks, "wrong"), count(&bodies, "wrong")), (0, 0), "{mode}: {walks}; {bodies}");
            assert!(count(&walks, "frames") > 500, "{mode}: too few to mean much: {walks}");
            made += count(&bodies, "made");
            taken_back += count(&bodies, "taken back");
        }
        assert!(made + taken_back >= REPLACEMENTS && taken_back > 0, "{mode}: {made} made, {taken_back} taken back");
    }
}
