//! A host other than the command: it starts a machine, runs a program in it and is notified of the program's end. It
//! lives on, and the machine leaves no thread of its own behind.
//!
//! One test, which runs itself for each mode: a process has one machine.

use saki_os::services::{self, Service};
use saki_runtime::vm::VmOptions;
use saki_runtime::{HostEvents, Vm};
use saki_sched::ThreadMode;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

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
        ThreadPool.QueueUserWorkItem (unused => Thread.Sleep (Timeout.Infinite));
        GC.Collect ();
        return Environment.ExitCode * 10;
    }
}
"#;

/// The variable that tells a host how threads are executed.
const MODE: &str = "SAKI_EMBEDDING_MODE";

static IS_OVER: AtomicBool = AtomicBool::new(false);

#[test]
fn a_host_runs_a_program_and_is_told_of_its_end() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("embedding.cs"), folder.join("embedding.exe"));
    // A process has one machine, so each mode has a process of its own.
    if std::env::var_os(MODE).is_none() {
        std::fs::write(&source, PROGRAM).expect("written");
        let compiler =
            Command::new("mcs").arg("-nologo").arg(format!("-out:{}", program.display())).arg(&source).status();
        match compiler {
            Ok(status) => assert!(status.success()),
            Err(error) => return eprintln!("skipped: mcs: {error}"),
        }
        for mode in ["native", "green", "mn"] {
            let host =
                Command::new(std::env::current_exe().expect("a name")).env(MODE, mode).output().expect("started");
            assert!(host.status.success(), "{mode}: {}", String::from_utf8_lossy(&host.stdout));
        }
        return;
    }
    // The thread that starts the machine becomes its main thread; the machine asks for a larger stack than a test's
    // thread has by default.
    let (tell, told) = channel();
    let host = std::thread::Builder::new().stack_size(8 << 20).spawn(move || {
        let _ = tell.send(run(&program));
    });
    host.expect("a thread");
    // Not joined: where threads are green, the OS thread that started the machine does not end before the process.
    assert_eq!(told.recv().expect("no panic"), 21, "what Main gave, and the handler of ProcessExit added");
    assert!(IS_OVER.load(Ordering::Relaxed), "the host was told");
}

fn run(program: &Path) -> i32 {
    let threads = match std::env::var(MODE).as_deref() {
        Ok("green") => ThreadMode::Green,
        Ok("mn") => ThreadMode::Mn { carriers: 2 },
        _ => ThreadMode::Native,
    };
    let options = VmOptions { threads, thread_dumps: true, check_walks_hz: Some(1), ..VmOptions::default() };
    let host = HostEvents { before_exit: || IS_OVER.store(true, Ordering::Relaxed), ..HostEvents::default() };
    let machine = Vm::builder(saki_icall::upper_layers()).options(options).host(host).start().expect("a machine");
    let error = Vm::builder(saki_icall::upper_layers()).options(VmOptions::default()).start().err();
    assert!(error.is_some(), "there is one machine in a process");
    let missing = machine.load_program(Path::new("/no/such/program.exe"));
    assert!(missing.err().is_some_and(|error| error.0.contains("/no/such/program.exe")));
    let assembly = machine.load_program(program).expect("a program");
    let exit_code = machine.run_and_end(assembly, &["one".to_owned(), "two".to_owned()]);
    let services = services::machine();
    let left: Vec<_> = Service::ALL.iter().filter(|kind| services.running(**kind) != 0).collect();
    assert!(left.is_empty(), "threads that the machine has left behind: {left:?}");
    // SAFETY: the child ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: no preconditions.
        unsafe { libc::_exit(7) };
    }
    let mut status = 0;
    // SAFETY: a child of ours, and a place for its status.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 7, "a process whose machine has ended forks");
    exit_code
}
