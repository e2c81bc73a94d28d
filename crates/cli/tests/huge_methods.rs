//! Methods of 100,000 instructions compile in bounded memory, whatever they consist of, and compute what they should.
//! `bench/huge/Generate.cs` makes them. Needs `mcs`; without it the tests say so and pass.

#[path = "support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{compile, folder, run};

const INSTRUCTIONS: &str = "100000";
/// Of the whole process, of which 30 MiB are there without the method. Before the memory was bounded, it was 0.4 to
/// 2.2 GiB for clauses, conditions, cross-jumps, filters, loop and objects.
const MAX_MIB: u64 = 300;

/// What the methods of each shape return, which is what Mono says.
const RESULTS: [(&str, i32); 21] = [
    ("arithmetic", 1584841551),
    ("array-checks", 975275754),
    ("array-initialiser", 74997),
    ("calls", 467847589),
    ("clauses", 159864),
    ("conditions", 1882823045),
    ("cross-jumps", 596582423),
    ("exposed", 17986832),
    ("filters", 270656),
    ("floats", 277917404),
    ("inlining", 513708265),
    ("leaves", 1282),
    ("long-expression", 661631),
    ("loop", 134456816),
    ("nested-clauses", 265947007),
    ("nested-loops", 130182481),
    ("objects", 211769676),
    ("struct-calls", 846845222),
    ("structs", -1129529865),
    ("switch", 4913072),
    ("virtual-calls", 363574),
];

fn saki() -> Command {
    Command::new(env!("CARGO_BIN_EXE_saki"))
}

/// The program that writes the others; None without a compiler.
fn generator(folder: &Path) -> Option<PathBuf> {
    let generator = folder.join("Generate.exe");
    compile("../../../bench/huge/Generate.cs", &generator).then_some(generator)
}

/// Runs a method of this shape in these tiers.
fn check(folder: &Path, generator: &Path, (shape, result): (&str, i32), tiers: &[&str]) {
    let program = folder.join(format!("{shape}.exe"));
    let written = run(saki().arg(generator).args([shape, INSTRUCTIONS]).arg(&program));
    assert_eq!(written.exit_code, Some(0), "{shape}: {}", written.stderr);
    for tiers in tiers {
        let tiers_option = format!("--tiers={tiers}");
        let outcome = run(saki().args(["--no-cache", &tiers_option]).arg(&program).arg("/proc/self/status"));
        assert_eq!(outcome.exit_code, Some(0), "{shape} in {tiers}: {}", outcome.stderr);
        let mut lines = outcome.stdout.lines();
        assert_eq!(lines.next(), Some(result.to_string().as_str()), "{shape} in {tiers}");
        let peak_kib = lines.find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak of resident memory");
        let peak_kib: u64 = peak_kib.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(peak_kib < MAX_MIB << 10, "{shape} in {tiers}: {} MiB", peak_kib >> 10);
    }
    std::fs::remove_file(program).expect("the program is there");
}

#[test]
fn memory_of_huge_methods_is_bounded_in_the_second_tier() {
    let folder = folder("huge-methods-2");
    let Some(generator) = generator(&folder) else { return };
    for shape in RESULTS {
        check(&folder, &generator, shape, &["2"]);
    }
}

#[test]
fn memory_of_huge_methods_is_bounded_in_the_first_tier() {
    let folder = folder("huge-methods-1");
    let Some(generator) = generator(&folder) else { return };
    for shape in RESULTS {
        check(&folder, &generator, shape, &["1"]);
    }
}

/// The loops ask for the second tier, which does not take them.
#[test]
fn huge_loops_stay_in_the_first_tier() {
    let folder = folder("huge-methods-both");
    let Some(generator) = generator(&folder) else { return };
    for shape in RESULTS.into_iter().filter(|(shape, _)| matches!(*shape, "loop" | "switch" | "cross-jumps")) {
        check(&folder, &generator, shape, &["both"]);
    }
}
