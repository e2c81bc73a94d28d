//! Programs that fill a heap of limited size, or would fill it without collections. Needs `mcs`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `heap_limit/NAME.cs` and gives what it prints under `saki OPTIONS`; `None` without `mcs`.
fn output_of(name: &str, options: &[&str]) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/heap_limit/{name}.cs"));
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.exe"));
    let mut mcs = Command::new("mcs");
    mcs.arg("-nologo").arg(format!("-out:{}", program.display())).arg(source);
    match mcs.output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout)),
        Err(error) => {
            eprintln!("skipped: mcs: {error}");
            return None;
        }
    }
    let saki = Command::new(env!("CARGO_BIN_EXE_saki")).args(options).arg(&program).output().expect("saki starts");
    assert!(saki.status.success(), "{}\n{}", saki.status, String::from_utf8_lossy(&saki.stderr));
    Some(String::from_utf8_lossy(&saki.stdout).into_owned())
}

#[test]
fn large_arrays_fail_when_they_find_no_room_between_others() {
    if let Some(output) = output_of("gaps", &["--max-heap", "64m"]) {
        assert_eq!(output, "full\n".repeat(5));
    }
}

#[test]
fn memory_is_free_again_after_a_caught_out_of_memory() {
    if let Some(output) = output_of("caught", &["--max-heap", "100m"]) {
        assert_eq!(output, "60000000\n50000\n");
    }
}

#[test]
fn the_method_that_caught_an_out_of_memory_holds_nothing_of_it() {
    for threads in ["native", "green", "mn"] {
        if let Some(output) = output_of("after_caught", &["--max-heap", "64m", "--threads", threads]) {
            assert!(!output.contains("held") && output.lines().count() == 11, "{threads}:\n{output}");
        }
    }
}

#[test]
fn dead_finalizable_objects_make_room_for_the_next_allocation() {
    for threads in ["native", "green", "mn"] {
        if let Some(output) = output_of("finalizable", &["--max-heap", "64m", "--threads", threads]) {
            assert_eq!(output, "20000\n40\nTrue\n", "{threads}");
        }
    }
}

/// Without collections between them they took 4.2 GB.
#[test]
fn dropped_large_arrays_are_reclaimed() {
    if let Some(output) = output_of("dropped", &[]) {
        let peak_kib: u64 = output.trim().parse().expect("a number");
        assert!(peak_kib < 400_000, "{peak_kib} KiB");
    }
}

/// Each took as much memory as its size. The heap may be larger than the machine's memory, of which they take little.
#[test]
fn untouched_large_arrays_take_no_memory() {
    if let Some(output) = output_of("untouched", &["--max-heap", "4g"]) {
        let peak_kib: u64 = output.trim().parse().expect("a number");
        assert!(peak_kib < 200_000, "{peak_kib} KiB");
    }
}

#[test]
fn large_arrays_in_used_memory_are_zero() {
    for options in [&["--max-heap", "200m"][..], &["--max-heap", "200m", "--gc-stress", "100"]] {
        if let Some(output) = output_of("reused", options) {
            assert_eq!(output, "60\n", "{options:?}");
        }
    }
}
