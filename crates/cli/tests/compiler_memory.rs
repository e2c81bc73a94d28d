//! The compiler's working memory goes back to the system after large methods. Needs `mcs`; without it the test says so
//! and passes.

#[path = "support/mod.rs"]
mod support;

use std::process::Command;
use support::{compile, folder, run};

/// Contexts of the compiler that had seen a large method were kept for ever: 50 to 90 MiB in this program, 5 to 12 now.
const MAX_MIB: u64 = 40;

#[test]
fn working_memory_of_large_methods_is_given_back() {
    let folder = folder("compiler-memory");
    let program = folder.join("large-methods.exe");
    if !compile("compiler_memory/large-methods.cs", &program) {
        return;
    }
    for mode in ["native", "mn"] {
        let outcome = run(Command::new(env!("CARGO_BIN_EXE_saki")).arg(format!("--threads={mode}")).arg(&program));
        assert_eq!(outcome.exit_code, Some(0), "{}", outcome.stderr);
        let kept_mib: u64 = outcome.stdout.trim().parse().expect("a number");
        assert!(kept_mib < MAX_MIB, "{mode}: {kept_mib} MiB");
    }
}
