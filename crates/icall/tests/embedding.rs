//! A host other than the command: it starts a machine, runs a program in it and is notified of the program's end.
//!
//! One test: a process has one machine.

use saki_runtime::vm::VmOptions;
use saki_runtime::{HostEvents, Vm};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

const PROGRAM: &str = r#"
using System;
using System.Threading;

static class Program
{
    static int Main (string[] arguments)
    {
        AppDomain.CurrentDomain.ProcessExit += (sender, e) => Environment.ExitCode += 1;
        var thread = new Thread (() => Environment.ExitCode = arguments.Length);
        thread.Start ();
        thread.Join ();
        return Environment.ExitCode * 10;
    }
}
"#;

static IS_OVER: AtomicBool = AtomicBool::new(false);

#[test]
fn a_host_runs_a_program_and_is_told_of_its_end() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("embedding.cs"), folder.join("embedding.exe"));
    std::fs::write(&source, PROGRAM).expect("written");
    let compiler = Command::new("mcs").arg("-nologo").arg(format!("-out:{}", program.display())).arg(&source).status();
    match compiler {
        Ok(status) => assert!(status.success()),
        Err(error) => return eprintln!("skipped: mcs: {error}"),
    }
    // The thread that starts the machine becomes its main thread; the machine asks for a larger stack than a test's
    // thread has by default.
    let host = std::thread::Builder::new().stack_size(8 << 20).spawn(move || run(&program)).expect("a thread");
    assert_eq!(host.join().expect("no panic"), 21, "what Main gave, and the handler of ProcessExit added");
    assert!(IS_OVER.load(Ordering::Relaxed), "the host was told");
}

fn run(program: &Path) -> i32 {
    let host = HostEvents { before_exit: || IS_OVER.store(true, Ordering::Relaxed), ..HostEvents::default() };
    let machine = Vm::builder(saki_icall::upper_layers()).host(host).start().expect("a machine");
    let error = Vm::builder(saki_icall::upper_layers()).options(VmOptions::default()).start().err();
    assert!(error.is_some(), "there is one machine in a process");
    let missing = machine.load_program(Path::new("/no/such/program.exe"));
    assert!(missing.err().is_some_and(|error| error.0.contains("/no/such/program.exe")));
    let assembly = machine.load_program(program).expect("a program");
    machine.run(assembly, &["one".to_owned(), "two".to_owned()])
}
