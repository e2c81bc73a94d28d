//! Copies of `System.Numerics.Vectors.dll` that come with programs: their types are vectors, too, if they have the size
//! of a vector. Needs `mcs`.

mod support;

use std::path::Path;
use std::process::Command;

/// Compiles `vector_libraries/SOURCE.cs`; false without a compiler.
fn compile(source: &str, options: &[String]) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/vector_libraries/{source}.cs"));
    match Command::new("mcs").arg("-nologo").arg("-noconfig").arg("-r:System.Core").args(options).arg(source).output() {
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
            true
        }
        Err(error) => {
            eprintln!("skipped: mcs: {error}");
            false
        }
    }
}

#[test]
fn types_of_a_copy_beside_the_program_are_vectors() {
    let folder = support::folder("vector-libraries");
    let (library, program) = (folder.join("System.Numerics.Vectors.dll"), folder.join("program.exe"));
    let has_compiler = compile("library", &["-t:library".to_owned(), format!("-out:{}", library.display())])
        && compile("program", &[format!("-r:{}", library.display()), format!("-out:{}", program.display())]);
    if !has_compiler {
        return;
    }
    let run = |options: &[&str]| {
        let mut saki = Command::new(env!("CARGO_BIN_EXE_saki"));
        let outcome = support::run(saki.arg("--no-cache").args(options).arg(&program).env_remove("SAKI_NO_SIMD"));
        assert_eq!(outcome.exit_code, Some(0), "{}", outcome.stderr);
        outcome.stdout
    };
    let own = "False\nthe library's own code\nthe library's own code\n7 least 1 2 7\n10 18 28\n";
    assert_eq!(run(&["--no-simd"]), own);
    let in_place = "True\n11 22 33 44\n39 15 9 21\n7 least 1 2 7\n10 18 28\n";
    assert_eq!(run(&[]), if saki_has_vectors() { in_place } else { own });
}

fn saki_has_vectors() -> bool {
    let doctor = support::run(Command::new(env!("CARGO_BIN_EXE_saki")).arg("doctor"));
    doctor.stdout.lines().any(|line| line.contains("vectors") && line.contains("16 bytes"))
}
