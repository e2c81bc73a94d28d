//! Native loops that call managed code and are aborted meanwhile. Needs `cc` and `mcs`; without them the test says so
//! and passes.

mod support;

use std::path::Path;
use std::process::Command;
use support::{compile, folder, run};

/// The abort is thrown in a callback, and waits until the native code returns. Signals must go on to end the system
/// calls of the loop until then.
#[test]
fn an_abort_that_has_left_a_callback_goes_on_to_end_system_calls() {
    let folder = folder("callback-loops");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/callback_loops/loops.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(folder.join("libloops.so")).arg(source);
    match cc.output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr)),
        Err(error) => return eprintln!("skipped: cc: {error}"),
    }
    let program = folder.join("abort.exe");
    if !compile("callback_loops/abort.cs", &program) {
        return;
    }
    for threads in ["native", "green", "mn"] {
        let done = run(Command::new(env!("CARGO_BIN_EXE_saki")).args(["--threads", threads]).arg(&program));
        assert_eq!(done.stdout, "False True\nFalse True\nFalse True\n", "{threads}: {}", done.stderr);
    }
}
