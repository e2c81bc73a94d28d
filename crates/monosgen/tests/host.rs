//! A host in C calls methods of a library by Mono's embedding API. Skipped without `cc` or `mcs`.

use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = r#"
using System;

namespace Some
{
    public class Thing
    {
        public class Failure : Exception { }

        string name;
        public Thing () { name = "thing "; }
        public static int Add (int number, string text) { return number + text.Length; }
        public string Name (string more) { return name + more; }
        public static void Throw () { throw new Failure (); }
        public static void Collect ()
        {
            for (int i = 0; i < 100000; i++)
                new byte[100].ToString ();
            GC.Collect ();
        }
    }
}
"#;

/// The file that cargo builds beside this test.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().expect("a folder");
    let places = [folder.join("libmonosgen.so"), folder.parent().expect("a folder").join("libmonosgen.so")];
    places.into_iter().find(|file| file.is_file()).expect("cargo test -p saki-monosgen builds it")
}

fn succeeds(command: &mut Command) -> bool {
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{command:?}: {output:?}");
            true
        }
        Err(error) => {
            eprintln!("skipped: {:?}: {error}", command.get_program());
            false
        }
    }
}

#[test]
fn a_host_in_c_calls_methods_and_gets_what_they_throw() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("monosgen");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, assembly) = (folder.join("thing.cs"), folder.join("thing.dll"));
    std::fs::write(&source, LIBRARY).expect("written");
    let out = format!("-out:{}", assembly.display());
    if !succeeds(Command::new("mcs").args(["-nologo", "-target:library", &out]).arg(&source)) {
        return;
    }
    let library = folder.join("libmonosgen-2.0.so.1");
    std::fs::copy(built(), &library).expect("copied");
    let (host, code) = (folder.join("host"), Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host.c"));
    let rpath = format!("-Wl,-rpath,{}", folder.display());
    if !succeeds(Command::new("cc").arg("-o").arg(&host).arg(code).arg(&library).arg(rpath)) {
        return;
    }
    for stress in ["0", "50"] {
        let mut command = Command::new(&host);
        command.arg(&assembly).env("SAKI_NO_CACHE", "1").env("SAKI_GC_STRESS", stress);
        let output = command.output().expect("run");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(text, "missing: 1 1\nstatic: 42 1\ninstance: thing hé 8\nthrown: 1 1\n", "stress {stress}");
    }
}
