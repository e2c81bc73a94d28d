//! Programs that fill a heap of limited size. Needs `mcs`.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn large_arrays_fail_when_they_find_no_room_between_others() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/heap_limit/gaps.cs");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gaps.exe");
    let mut mcs = Command::new("mcs");
    mcs.arg("-nologo").arg(format!("-out:{}", program.display())).arg(source);
    match mcs.output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout)),
        Err(error) => return eprintln!("skipped: mcs: {error}"),
    }
    let saki = Command::new(env!("CARGO_BIN_EXE_saki"))
        .args(["--max-heap", "64m"])
        .arg(&program)
        .output()
        .expect("saki starts");
    let stderr = String::from_utf8_lossy(&saki.stderr);
    assert!(saki.status.success(), "{}\n{stderr}", saki.status);
    assert_eq!(String::from_utf8_lossy(&saki.stdout), "full\n".repeat(5), "{stderr}");
}
