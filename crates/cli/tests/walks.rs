//! Stack walks from signals at 5 kHz per thread while dynamic methods are made, run and collected, and their memory is
//! reused.
//!
//! The test demands that every managed program counter that a walk finds, and every stale one looked up later, belongs
//! to the method that the code map names (`--check-walks`). `SAKI_WALK_METHODS` is the number of methods (default
//! 20,000; 300,000 for a release).

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn walks_are_true_while_methods_come_and_go() {
    let methods: u64 = std::env::var("SAKI_WALK_METHODS").ok().and_then(|s| s.parse().ok()).unwrap_or(20_000);
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("walks.exe");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/walks/lambdas.cs");
    match Command::new("mcs")
        .args(["-nologo", "-optimize+"])
        .arg(format!("-out:{}", program.display()))
        .arg(source)
        .output()
    {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&[done.stdout, done.stderr].concat())),
        Err(error) => return eprintln!("skipped: mcs: {error}"),
    }
    let output = Command::new(env!("CARGO_BIN_EXE_saki"))
        .args(["--check-walks", "5000", "--stats"])
        .arg(&program)
        .args([methods.to_string(), "2".into()])
        .output()
        .expect("saki starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((output.status.code(), &*stdout), (Some(0), "ok\n"), "{stderr}");
    let report = stderr.lines().find(|line| line.starts_with("walks:")).expect("a report");
    eprintln!("{report}");
    let count = |what: &str| -> u64 {
        let mut words = report.split([' ', ',']).rev().skip_while(|word| *word != what);
        words.nth(1).and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{what} in {report}"))
    };
    assert_eq!(count("wrong"), 0, "{report}");
    assert!(count("frames") > 500 && count("dynamic") > 10 && count("hits") > 100, "too few to mean much: {report}");
    let freed = stderr.lines().find(|line| line.starts_with("dynamic methods")).expect("statistics");
    let freed: u64 = freed.split_whitespace().nth(4).and_then(|word| word.parse().ok()).expect("a number");
    assert!(freed > methods / 4, "{freed} of {methods} methods were collected");
}
