//! Hardware faults of compiled code, stack overflow, and walks of interrupted contexts.

use crate::common::{Kind, Stmt, Thunks, call, current_thread, endless_recursion, fault_exception, method, run, try_};
use saki_abi::stubs::trap;
use saki_os::FaultContext;
use saki_os::signal::{self, AlternateStack, Disposition};
use saki_unwind::{FaultKind, Frames, fault};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

fn set_up() -> (Thunks, AlternateStack) {
    let thunks = Thunks::new();
    fault::install_handlers().unwrap();
    (thunks, AlternateStack::install().unwrap())
}

#[test]
fn faults_become_exceptions_of_their_kind() {
    let (t, _stack) = set_up();
    let check = |name: &str, statement: Stmt, kind: FaultKind| {
        let faulting = method(name, &[t.log(1), statement, t.log(99)]);
        let middle = method("middle", &[try_(vec![call(faulting)], Kind::Finally, vec![t.log(2)])]);
        let caught = try_(vec![call(middle)], Kind::Catch(fault_exception(kind)), vec![t.log(3)]);
        let outcome = run(method("outer", &[caught, Stmt::Return(4)]));
        assert_eq!((outcome.result, outcome.log), (Ok(4), vec![1, 2, 3]), "{name}");
        assert_eq!(outcome.trace, [name, "middle", "outer"]);
    };
    check("null", Stmt::LoadNull, FaultKind::NullReference);
    check("min / -1", Stmt::Divide(i64::MIN, -1), FaultKind::Overflow);
    check("1 / 0", Stmt::Divide(1, 0), FaultKind::DivideByZero);
    check("null trap", Stmt::Trap(trap::NULL_REFERENCE), FaultKind::NullReference);
    check("index trap", Stmt::Trap(trap::INDEX_OUT_OF_RANGE), FaultKind::IndexOutOfRange);
    check("cast trap", Stmt::Trap(trap::INVALID_CAST), FaultKind::InvalidCast);
}

#[test]
fn a_fault_may_come_again_and_again() {
    let (t, _stack) = set_up();
    let faulting = method("faulting", &[Stmt::LoadNull]);
    let caught = try_(vec![call(faulting)], Kind::Catch(0), vec![]);
    let outcome = run(method("outer", &[Stmt::Loop(1000, vec![caught]), t.log(1)]));
    assert_eq!((outcome.result, outcome.log), (Ok(0), vec![1]));
}

/// Runs one test of this program alone in a child process, with an environment variable that makes the test fault.
fn run_child(test: &str) -> (std::process::ExitStatus, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture", "--test-threads=1"]).env("SAKI_TEST_CHILD", "1");
    let output = child.output().unwrap();
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn is_child() -> bool {
    std::env::var_os("SAKI_TEST_CHILD").is_some()
}

#[test]
fn a_stack_overflow_is_reported_with_its_frames() {
    if is_child() {
        let (_, _stack) = set_up();
        let deep = endless_recursion("Deep.Recursion");
        run(method("Program.Main", &[call(deep)]));
        return;
    }
    let (status, report) = run_child("faults::a_stack_overflow_is_reported_with_its_frames");
    assert_eq!(status.signal(), Some(libc::SIGABRT), "{report}");
    assert!(report.starts_with("Stack overflow.\n   at Deep.Recursion [0x11]\n"), "{report}");
    assert!(report.contains("previous frame repeated") && report.contains("   at Program.Main [0x11]\n"), "{report}");
    assert!(report.lines().count() < 150, "{report}");
}

/// # Safety
/// The function faults, so it may only be called in a child process.
unsafe extern "C" fn fault_in_rust(_: *mut saki_abi::ThreadAbi, _: i64) {
    // SAFETY: the fault is the point.
    unsafe { std::arch::asm!("mov byte ptr [rax], 1", in("rax") 8) };
}

#[test]
fn a_fault_in_native_code_is_not_an_exception() {
    if is_child() {
        let (_, _stack) = set_up();
        let thunk = crate::common::helper_thunk("faulty", fault_in_rust);
        run(method("Program.Main", &[try_(vec![Stmt::Helper(thunk, 0)], Kind::Catch(0), vec![])]));
        return;
    }
    let (status, report) = run_child("faults::a_fault_in_native_code_is_not_an_exception");
    assert_eq!(status.signal(), Some(libc::SIGSEGV), "{report}");
    assert!(report.contains("signal 11 at address 0x8") && report.contains("   at Program.Main [0x11]\n"), "{report}");
}

static SAMPLES: AtomicUsize = AtomicUsize::new(0);
static BAD_SAMPLES: AtomicUsize = AtomicUsize::new(0);

fn sample(context: &mut FaultContext) -> Disposition {
    let thread = current_thread();
    if thread.is_null() || !saki_code::contains(context.pc()) {
        return Disposition::Handled;
    }
    // SAFETY: the current thread's own context.
    let frames = unsafe { Frames::of_context(thread, (&*context).into()) };
    let mut names = frames.map(|frame| frame.code().map_or("entry", |info| info.name()));
    let stack: [&str; 5] = std::array::from_fn(|_| names.next().unwrap_or(""));
    SAMPLES.fetch_add(1, Ordering::Relaxed);
    let is_good = matches!(
        stack,
        ["leaf", "middle", "loop", "entry", ""] | ["middle", "loop", "entry", "", ""] | ["loop", "entry", "", "", ""]
    );
    if !is_good {
        BAD_SAMPLES.fetch_add(1, Ordering::Relaxed);
    }
    Disposition::Handled
}

#[test]
fn interrupted_contexts_walk_to_the_boundary() {
    if !is_child() {
        let (status, report) = run_child("faults::interrupted_contexts_walk_to_the_boundary");
        assert!(status.success(), "{report}");
        return;
    }
    let (_, _stack) = set_up();
    let leaf = method("leaf", &[]);
    let middle = method("middle", &[call(leaf)]);
    let looping = method("loop", &[Stmt::Loop(200_000, vec![call(middle)])]);
    signal::install(libc::SIGPROF, sample).unwrap();
    let interval = libc::timeval { tv_sec: 0, tv_usec: 200 };
    let timer = libc::itimerval { it_interval: interval, it_value: interval };
    // SAFETY: the timer is initialised; the handler is installed.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) };
    let start = std::time::Instant::now();
    while SAMPLES.load(Ordering::Relaxed) < 100 && start.elapsed().as_secs() < 20 {
        run(looping);
    }
    let off = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 0, tv_usec: 0 },
    };
    // SAFETY: as above.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &off, std::ptr::null_mut()) };
    assert!(SAMPLES.load(Ordering::Relaxed) > 20);
    assert_eq!(BAD_SAMPLES.load(Ordering::Relaxed), 0, "of {}", SAMPLES.load(Ordering::Relaxed));
}
