//! The one machine of the host's process: its start and its end.
//!
//! - **Threads.** The thread that starts the machine becomes its main thread, and must live as long as the process,
//!   since its stack is looked at in collections. Other threads of the host become managed when they first call.
//!   Between calls all of them are in native code, and collections hold them there (`thread::hold`), since the host has
//!   addresses of objects in its hands.
//! - **Signals.** Handlers of faults pass on what is not the machine's to those that were there before. SIGPIPE, SIGINT
//!   and SIGQUIT stay the host's.
//! - **Streams, locale, working folder, allocator** stay as the host has them.
//! - **End.** `mono_jit_cleanup` runs the handlers of ProcessExit and the finalizers, and the process goes on without
//!   managed code. The library is never unloaded.
//!
//! | `STATE` | meaning | who moves it |
//! |---|---|---|
//! | `NEW` | no machine | |
//! | `STARTING` | one thread starts it | the first caller of `start`, by compare-and-swap: AcqRel |
//! | `STARTED` | it runs | that thread: Release; readers Acquire |
//! | `ENDED` | it has ended, or never began: there is none | that thread: Release |

use saki_hosting::settings;
use saki_interop::host;
use saki_os::thread::stack_bounds;
use saki_runtime::vm;
use saki_runtime::{CurrentThread, UpperLayers, Vm};
use saki_sched::ThreadMode;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};

const NEW: u32 = 0;
const STARTING: u32 = 1;
const STARTED: u32 = 2;
const ENDED: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(NEW);

/// As the command wants for its main thread: reading an assembly and compiling a method take up to half of it.
const LEAST_STACK_BYTES: usize = 1 << 20;

thread_local! {
    /// The machine, on its main thread.
    static MACHINE: RefCell<Option<Vm>> = const { RefCell::new(None) };
}

/// Ends the process with a message that names the function.
pub(crate) fn end(function: &str, why: &str) -> ! {
    saki_base::tell!("saki: {function} {why}");
    std::process::abort()
}

/// Whether the machine runs, or starts and has the calling thread: a profiler may call then.
pub(crate) fn is_started() -> bool {
    // Acquire: pairs with the Release of `start`.
    match STATE.load(Ordering::Acquire) {
        STARTED => true,
        STARTING => saki_thread::current().is_some(),
        _ => false,
    }
}

/// Starts the machine on the calling thread, with what lies above it, if that has not been done. `begin` is called
/// before it starts, `started` afterwards, when the API may be called.
///
/// # Errors
/// One line, for the host's user.
pub(crate) fn start(layers: fn() -> UpperLayers, begin: impl FnOnce(), started: impl FnOnce()) -> Result<(), String> {
    // AcqRel: one caller wins; nothing is published by it. Acquire on failure: the machine is there.
    match STATE.compare_exchange(NEW, STARTING, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {}
        Err(STARTED) => return Ok(()),
        Err(STARTING) => return Err("another thread starts the machine".to_owned()),
        Err(_) => return Err("the machine has ended, and a process has one".to_owned()),
    }
    begin();
    let outcome = start_machine(layers);
    // Release: who sees the state sees the machine's parts.
    STATE.store(if outcome.is_ok() { STARTED } else { ENDED }, Ordering::Release);
    if outcome.is_ok() {
        started();
    }
    outcome
}

fn start_machine(layers: fn() -> UpperLayers) -> Result<(), String> {
    let stack_bytes = stack_bounds().map_or(usize::MAX, |bounds| bounds.len());
    if stack_bytes < LEAST_STACK_BYTES {
        let (has, wants) = (stack_bytes >> 10, LEAST_STACK_BYTES >> 10);
        return Err(format!("the host's thread has a stack of {has} KiB; Saki takes {wants} KiB"));
    }
    let mut options = settings::of_guest();
    settings::apply_environment(&mut options)?;
    crate::config::apply(&mut options);
    // Frames of the host lie on the thread's stack and hold objects, so that it must stay the OS thread's.
    options.threads = ThreadMode::Native;
    host::show_symbols();
    saki_thread::hold_native_code().map_err(|error| format!("no handler for a signal: {error}"))?;
    let machine = Vm::builder(layers()).options(options).start().map_err(|error| error.to_string())?;
    go_native(machine.main_thread());
    MACHINE.set(Some(machine));
    Ok(())
}

/// The host goes on with the thread.
fn go_native(t: CurrentThread) {
    // SAFETY: the thread is RUNNING; the frames above are those of this file and of the host, and collections hold it.
    unsafe { saki_thread::enter_native(t.abi()) };
}

/// Ends the machine: handlers of ProcessExit, finalizers, then `last`. The calling thread is its main thread, or
/// nothing happens.
pub(crate) fn shut_down(last: fn(CurrentThread<'_>)) {
    let Some(machine) = MACHINE.take() else { return };
    let t = machine.main_thread();
    // SAFETY: `go_native` was called at the end of `start_machine`, and each call since has ended in native code.
    unsafe { saki_thread::leave_native(t.abi()) };
    vm::exit::run_exit_hooks(t);
    last(t);
    go_native(t);
    // Release, as each change; nothing is published by it.
    STATE.store(ENDED, Ordering::Release);
}
