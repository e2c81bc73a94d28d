//! Hosts in C and C++, in each thread mode and with collections all the time. Skipped without `cc`, `c++` or `mcs`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The file that cargo builds beside this test.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().expect("a folder");
    let places = [folder.join("libsaki_capi.so"), folder.parent().expect("a folder").join("libsaki_capi.so")];
    places.into_iter().find(|file| file.is_file()).expect("cargo test -p saki-capi builds it")
}

fn succeeds(command: &mut Command) -> bool {
    match command.stdin(Stdio::null()).output() {
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

const FLAGS: [&str; 7] = ["-O1", "-g", "-pthread", "-Wall", "-Wextra", "-pedantic", "-Werror"];
const C: [&str; 3] = ["cc", "-std=c99", "-D_DEFAULT_SOURCE"];
const CPP: [&str; 2] = ["c++", "-std=c++17"];

/// Compiles a host and the library of C# for it; compares what the host prints.
fn prints(source: &str, compiler: &[&str], expected: &str) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capi-hosts").join(source);
    std::fs::create_dir_all(&folder).expect("a folder");
    let (assembly, program) = (folder.join("some.dll"), folder.join("host"));
    let out = format!("-out:{}", assembly.display());
    let of_assembly = ["-nologo", "-nowarn:0649", "-target:library", &out];
    if !succeeds(Command::new("mcs").args(of_assembly).arg(here.join("tests/api.cs"))) {
        return;
    }
    // By the name that hosts are linked with, and the one that they look for.
    for name in ["libsaki.so", "libsaki.so.0"] {
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(built(), &link).expect("linked");
    }
    let mut compile = Command::new(compiler[0]);
    compile.args(&compiler[1..]).args(FLAGS).arg("-I").arg(here.join("include")).arg("-o").arg(&program);
    compile.arg(here.join("tests").join(source)).arg("-L").arg(&folder).args(["-Wl,--as-needed", "-lsaki", "-ldl"]);
    if !succeeds(compile.arg(format!("-Wl,-rpath,{}", folder.display()))) {
        return;
    }
    for (mode, stress) in [("native", "0"), ("green", "0"), ("mn:2", "0"), ("native", "60"), ("mn:2", "60")] {
        let mut command = Command::new(&program);
        command.arg(&assembly).arg(mode).env("SAKI_NO_CACHE", "1").env("SAKI_GC_STRESS", stress);
        let output = command.output().expect("run");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        if let Some(place) = std::env::var_os("UPDATE_EXPECT") {
            assert_eq!(place, "1", "UPDATE_EXPECT");
            let name = Path::new(source).with_extension("txt");
            return std::fs::write(here.join("tests").join(name), text.as_bytes()).expect("written");
        }
        assert!(output.status.success(), "{mode}, stress {stress}: {:?}: {text}\n{errors}", output.status);
        assert_eq!(text, expected, "{mode}, stress {stress}: {errors}");
    }
}

#[test]
fn a_host_in_c_uses_classes_objects_and_values_and_wrong_arguments_are_errors() {
    prints("objects.c", &C, include_str!("objects.txt"));
}

#[test]
fn managed_code_and_functions_in_c_call_each_other_on_many_threads() {
    prints("functions.c", &C, include_str!("functions.txt"));
}

#[test]
fn a_host_in_c_that_never_ends_the_machine_exits() {
    prints("host_without_end.c", &C, include_str!("host_without_end.txt"));
}

#[test]
fn a_host_in_cpp_uses_the_wrapper() {
    prints("wrapper.cpp", &CPP, include_str!("wrapper.txt"));
}

#[test]
fn the_machine_leaves_its_hosts_process_as_it_is_but_for_handlers_of_faults() {
    prints("process.c", &C, include_str!("process.txt"));
}

#[test]
fn a_host_in_c_loads_the_library_for_itself_alone() {
    prints("local.c", &C, include_str!("local.txt"));
}

#[test]
fn classes_members_and_values_that_do_not_go_together_are_errors() {
    prints("refused.c", &C, include_str!("refused.txt"));
}

#[test]
fn the_machine_ends_while_threads_of_the_host_call() {
    prints("ends.c", &C, include_str!("ends.txt"));
}

#[test]
fn objects_of_a_host_in_cpp_may_outlive_their_thread_and_main() {
    prints("globals.cpp", &CPP, include_str!("globals.txt"));
}
