//! The one machine of the host's process, as a guest there.
//!
//! The command owns its process; a guest finds one that has begun, with threads, signal handlers and open files. What
//! follows:
//!
//! - **Threads.** The thread that starts the machine becomes its main thread. Between calls of the host it is in native
//!   code, as a thread that a program's P/Invoke left, so that collections do not wait for it. Other threads of the
//!   host become managed when they call managed code. The thread that started the machine must live as long as the
//!   process: its stack is looked at in collections.
//!   A program whose native code ends the main thread (`pthread_exit`) ends badly if other threads' frames are on its
//!   stack; the command keeps a distance below its first frame for that.
//! - **Stack.** The main thread's stack is the host's. A start on a thread with less than [`LEAST_STACK_BYTES`] is
//!   refused.
//! - **Signals.** Handlers of faults pass on what is not the machine's to those that were there before; the main thread
//!   and all threads that become managed get an alternate stack of ours. SIGPIPE is ignored, as CoreCLR does it,
//!   because .NET programs expect EPIPE. SIGQUIT stays the program's. Where a program of .NET 9 runs, SIGTERM ends
//!   it by ProcessExit, as under CoreCLR (`saki_runtime::vm::termination`); a host that only calls methods keeps its
//!   own.
//! - **Streams, locale, working folder** stay as the host has them.
//! - **Allocator.** The C library's, since the process has one already.
//! - **End.** The host ends the process after the program. The exit actions (`os::exit_list`) run then; the library is
//!   never unloaded. `Environment.Exit` and unhandled exceptions end the process by the C library's `exit`, with the
//!   host's exit handlers.
//!
//! | `STATE` | meaning | who moves it |
//! |---|---|---|
//! | `NEW` | no machine | |
//! | `STARTING` | one thread starts it, and will have it for itself | the first caller of `start`, by compare-and-swap: AcqRel, with nothing to publish |
//! | `STARTED` | it runs on the thread that has it in `MACHINE` | that thread: Release; readers Acquire |
//! | `FAILED_TO_START` | there will be none: parts of it may have begun | that thread: Release |

use crate::status::{BAD_IMAGE, FAILED, FILE_NOT_FOUND, INVALID_ARGUMENT, INVALID_OPERATION};
use saki_hosting::contract::{HOST_CONTRACT, HostContract};
use saki_hosting::net::{self, NetStart};
use saki_hosting::properties::RuntimeProperties;
use saki_hosting::settings;
use saki_os::thread::stack_bounds;
use saki_runtime::vm::{self, VmOptions};
use saki_runtime::{CurrentThread, HostEvents, Vm};
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

const NEW: u32 = 0;
const STARTING: u32 = 1;
const STARTED: u32 = 2;
const FAILED_TO_START: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(NEW);

/// As the command wants for its main thread: reading an assembly and compiling a method take up to half of it.
const LEAST_STACK_BYTES: usize = 1 << 20;

thread_local! {
    /// The machine, on its main thread, until it runs a program.
    static MACHINE: RefCell<Option<Vm>> = const { RefCell::new(None) };
}

/// Why a call of the host fails.
pub(crate) struct Failure {
    /// The HRESULT.
    pub(crate) status: c_int,
    /// One line.
    pub(crate) text: String,
}

fn failure(status: c_int, text: impl Into<String>) -> Failure {
    Failure { status, text: text.into() }
}

/// What the host gets as its handle: an address of ours.
pub(crate) fn handle() -> *mut c_void {
    (&raw const STATE).cast_mut().cast()
}

/// Checks that the handle is the machine's, and that there is a machine.
pub(crate) fn check(given: *mut c_void) -> Result<(), Failure> {
    // Acquire: pairs with the Release of `start`.
    if STATE.load(Ordering::Acquire) != STARTED {
        return Err(failure(INVALID_OPERATION, "no machine runs"));
    }
    if given == handle() { Ok(()) } else { Err(failure(INVALID_ARGUMENT, "the host gives a handle that is not ours")) }
}

/// Starts the machine on the calling thread.
pub(crate) fn start(properties: RuntimeProperties) -> Result<(), Failure> {
    // AcqRel: one caller wins; nothing is published by it. Acquire on failure: only the state is looked at.
    if STATE.compare_exchange(NEW, STARTING, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return Err(failure(INVALID_OPERATION, "a machine was started in this process before"));
    }
    let started = start_machine(properties);
    let state = if started.is_ok() { STARTED } else { FAILED_TO_START };
    // Release: who sees the state sees the machine's parts.
    STATE.store(state, Ordering::Release);
    started
}

fn start_machine(properties: RuntimeProperties) -> Result<(), Failure> {
    let stack_bytes = stack_bounds().map_or(usize::MAX, |bounds| bounds.len());
    if stack_bytes < LEAST_STACK_BYTES {
        let (has, wants) = (stack_bytes >> 10, LEAST_STACK_BYTES >> 10);
        return Err(failure(FAILED, format!("the host's thread has a stack of {has} KiB; Saki takes {wants} KiB")));
    }
    let options = options(&properties).map_err(|text| failure(FAILED, text))?;
    // SAFETY: the value is what the host of this call gave.
    let contract = properties.value(HOST_CONTRACT).and_then(|value| unsafe { HostContract::read(value) });
    // SAFETY: SIG_IGN is async-signal-safe, and no handler of the host's is lost but one of SIGPIPE.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let machine = net::start(NetStart {
        properties,
        program: None,
        executable: None,
        contract,
        options,
        events: HostEvents::default(),
    })
    .map_err(|error| failure(FAILED, error.to_string()))?;
    go_native(machine.main_thread());
    MACHINE.set(Some(machine));
    Ok(())
}

/// The options of the environment, and those of the program's configuration.
fn options(properties: &RuntimeProperties) -> Result<VmOptions, String> {
    let mut options = settings::of_guest();
    let given = settings::apply_environment(&mut options)?;
    settings::apply_properties(&mut options, properties, |name| given.contains(&name))?;
    Ok(options)
}

/// The host goes on with the machine's main thread.
fn go_native(t: CurrentThread) {
    // SAFETY: the thread is RUNNING, and the frames above are those of this file and of the host, without references.
    unsafe { saki_thread::enter_native(t.abi()) };
}

/// The host has called the machine on its main thread.
fn come_back(t: CurrentThread) {
    // SAFETY: `go_native` was called before: at the end of `start_machine`, `execute` or `shut_down`.
    unsafe { saki_thread::leave_native(t.abi()) };
}

/// Takes the machine, which is on its main thread alone.
fn take() -> Result<Vm, Failure> {
    MACHINE.take().ok_or_else(|| {
        failure(INVALID_OPERATION, "a program has run already, or the call comes from another thread than the start")
    })
}

/// Runs a program; its exit code.
pub(crate) fn execute(program: &Path, arguments: &[String]) -> Result<c_int, Failure> {
    let machine = take()?;
    come_back(machine.main_thread());
    match machine.load_program(program) {
        Ok(assembly) => {
            let thread = machine.main_thread().abi();
            let code = machine.run(assembly, arguments);
            // SAFETY: the main thread is this one, and its structure lives as long as the process.
            go_native(unsafe { CurrentThread::from_abi(thread) });
            Ok(code)
        }
        Err(error) => {
            go_native(machine.main_thread());
            MACHINE.set(Some(machine));
            let status = if program.exists() { BAD_IMAGE } else { FILE_NOT_FOUND };
            Err(failure(status, error.to_string()))
        }
    }
}

/// Ends the program, if that has not been done; its exit code.
pub(crate) fn shut_down() -> Result<c_int, Failure> {
    if let Some(machine) = MACHINE.take() {
        // No program has run, but the host may have called methods: their handlers of ProcessExit.
        let t = machine.main_thread();
        come_back(t);
        vm::exit::run_exit_hooks(t);
        go_native(t);
    }
    Ok(vm::exit_code())
}
