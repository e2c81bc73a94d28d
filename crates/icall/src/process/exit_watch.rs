//! `Process.Exited` and `Process.Close`, which exclude each other as in .NET.
//!
//! When a process ends, a thread of the pool takes the watch down and runs the handlers of `Exited` under the object's
//! lock. The class library's `Close` asks without the lock whether there is still a watch, and so closes the process's
//! handle under a handler that runs: its `ExitCode` throws InvalidOperationException, in one of thirty processes that
//! are disposed of after `WaitForExit`. In .NET both hold the lock from the question to the end.
//!
//! `EnableRaisingEvents` begins the watch before it notes that events are wanted (`watchForExit`), and where they are
//! not, none is raised: the event of a process that had ended already was lost in one of a thousand.
//!
//! Invariant: `watchingForExit` is read and written under the lock of the Process object. A handler runs to its end
//! before `Close` goes on, and does not run after it.

use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::exec::monitors;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, ExceptionType, Managed, ManagedField, Obj};
use saki_types::{LibraryType, Ty, universe};

static IS_WATCHING: ManagedField = ManagedField::new(LibraryType::Process, "watchingForExit");
static ARE_EVENTS_WANTED: ManagedField = ManagedField::new(LibraryType::Process, "watchForExit");
static REGISTRATION: ManagedField = ManagedField::new(LibraryType::Process, "registeredWaitHandle");
static WAIT_HANDLE: ManagedField = ManagedField::new(LibraryType::Process, "waitHandle");

/// Runs `work` with the lock of the Process object.
fn locked(t: CurrentThread, process: Option<Obj>, work: impl FnOnce(CurrentThread, Obj) -> Managed<()>) -> Managed<()> {
    let process = process.ok_or_else(|| exceptions::throw_default(t, ExceptionType::NullReference))?;
    monitors::enter_helper(t, Some(process))?;
    let outcome = work(t, process);
    monitors::exit(t, Some(process)).and(outcome)
}

fn call(t: CurrentThread, owner: Ty, name: &str, receiver: Option<Obj>, arguments: &[Slot]) -> Managed<()> {
    let receiver = receiver.ok_or_else(|| exceptions::throw_default(t, ExceptionType::NullReference))?;
    match owner.find_method(name, arguments.len()).to_managed(t)? {
        Some(method) => invoke::invoke_virtual(t, method, receiver, arguments).map(|_| ()),
        None => Err(exceptions::throw_not_implemented(t, &format!("{}.{name}", owner.full_name()))),
    }
}

/// Takes the watch down, with the lock held. False if there is none.
fn end_watch(t: CurrentThread, process: Obj) -> Managed<bool> {
    if IS_WATCHING.get::<u8>(process) == 0 {
        return Ok(false);
    }
    IS_WATCHING.set(process, 0_u8);
    let type_of = |role| universe().library_type(role).to_managed(t);
    let nobody = Slot::from_ref(None::<Obj>);
    call(t, type_of(LibraryType::RegisteredWaitHandle)?, "Unregister", REGISTRATION.obj(process), &[nobody])?;
    call(t, type_of(LibraryType::WaitHandle)?, "Close", WAIT_HANDLE.obj(process), &[])?;
    WAIT_HANDLE.set_ref(t, process, None::<Obj>);
    REGISTRATION.set_ref(t, process, None::<Obj>);
    Ok(true)
}

/// `Process.StopWatchingForExit`, which `Close` calls first.
fn stop_watching(t: CurrentThread, process: Option<Obj>) -> Managed<()> {
    locked(t, process, |t, process| end_watch(t, process).map(|_| ()))
}

/// `Process.CompletionCallback`, on a thread of the pool when the process has ended. If the watch was taken down
/// meanwhile, nobody waits for the event.
fn process_ended(t: CurrentThread, process: Option<Obj>, _context: Option<Obj>, _was_signaled: bool) -> Managed<()> {
    locked(t, process, |t, process| match end_watch(t, process)? {
        true => {
            // Who watches wants events, and who wants none any more takes the watch down first.
            ARE_EVENTS_WANTED.set(process, 1_u8);
            call(t, IS_WATCHING.field().owner, "RaiseOnExited", Some(process), &[])
        }
        false => Ok(()),
    })
}

/// Methods of the class library that do otherwise than .NET's.
pub(crate) const CORRECTIONS: &[LoopRow] = &[
    LoopRow::new("System.Diagnostics.Process::StopWatchingForExit() System.Void", &stop_watching).correcting(),
    LoopRow::new(
        "System.Diagnostics.Process::CompletionCallback(System.Object,System.Boolean) System.Void",
        &process_ended,
    )
    .correcting(),
];
