//! `--suite profile`: what profiling costs: each program with and without it, and the same of Mono's log profiler.
//!
//! A figure is the time of the whole process as a multiple of the same runtime's without a profiler (medians of interleaved runs); with `--cpu` its processor time,
//! the thread that reads samples included. Left out: Go's pprof and Java's JFR, which have no common program with these.

use std::path::Path;

use super::{Options, Runtime, compile, measure};
use crate::Outcome;

/// Kernels, and the loop that only allocates.
const PROGRAMS: [&str; 5] = ["alloc", "fib", "nbody", "binary-trees", "spectral-norm"];

/// Name, and the words in front of the program.
const SAKI: [(&str, &[&str]); 5] = [
    ("off", &[]),
    ("cpu, 1 kHz", &["profile", "cpu", "--format=folded", "--output=/dev/null"]),
    ("cpu, 10 kHz", &["profile", "cpu", "--hz=10000", "--format=folded", "--output=/dev/null"]),
    ("wall, 100 Hz", &["profile", "wall", "--format=folded", "--output=/dev/null"]),
    ("allocations, 512 KiB", &["profile", "alloc", "--format=folded", "--output=/dev/null"]),
];

const MONO: [(&str, &[&str]); 2] =
    [("mono, off", &[]), ("mono, sample=1000", &["--profile=log:nodefaults,sample=1000,output=/dev/null"])];

/// Runs the suite on `runtimes`, of which those of other names than these two do not count. Errors: a program does not compile.
pub fn run(root: &Path, options: &Options, runtimes: &[Runtime], output: &Path) -> Outcome {
    let mut variants = Vec::new();
    for runtime in runtimes {
        let kinds: &[(&'static str, &[&str])] = match runtime.name {
            "saki" => &SAKI,
            "mono" => &MONO,
            _ => continue,
        };
        variants.extend(kinds.iter().map(|(name, words)| {
            let argv = runtime.argv.iter().cloned().chain(words.iter().map(|word| (*word).to_owned())).collect();
            Runtime { name, version: String::new(), argv, environment: runtime.environment.clone() }
        }));
    }
    print!("{:16}", "");
    variants.iter().for_each(|variant| print!(" {:>20}", variant.name));
    println!();
    let mut all_ran = true;
    for program in PROGRAMS {
        if options.filter.as_ref().is_some_and(|filter| !filter.is_match(program)) {
            continue;
        }
        let executable = compile(root, program, output)?;
        let row = measure(program, &executable, &variants, options)?;
        print!("{program:16}");
        let mut off = None;
        for (variant, cell) in variants.iter().zip(&row.cells) {
            let median = cell.median();
            if variant.name.ends_with("off") {
                off = median;
            }
            let text = match (median, off) {
                (Some(median), _) if variant.name.ends_with("off") => format!("{median:.3} s"),
                (Some(median), Some(off)) => format!("{:.3} ×", median / off),
                _ => {
                    all_ran = false;
                    cell.failure.clone().unwrap_or_else(|| "-".to_owned())
                }
            };
            print!(" {text:>20}");
        }
        println!();
    }
    Ok(all_ran)
}
