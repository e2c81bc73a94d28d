//! The end of the process: the ProcessExit event, then finalizers with the other threads stopped.
//!
//! The first thread that comes here ends the process. Another thread that asks for the end (`Environment.Exit`, the end
//! of Main) waits for ever; the exit code that it asked for is stored as `Environment.ExitCode`. A handler or a
//! finalizer that asks for the end ends the process at once, without a second event. Threads that were stopped do not
//! go on (`suspension`). Left out: unhandled exceptions (`unhandled`).
//!
//! | `ENDING_THREAD` | meaning | who moves it |
//! |---|---|---|
//! | 0 | the process runs | |
//! | managed id | this thread ends the process | that thread, once: AcqRel; nothing else is published by it |

use crate::domains::{self, Domain};
use crate::fields::ManagedField;
use crate::invoke::{self, Slot};
use crate::references::Obj;
use crate::thread::CurrentThread;
use crate::upper_layers::upper_layers;
use crate::vm::{net, options, unhandled};
use crate::{finalizer_signal, suspension, thread_aborts};
use saki_os::clock::Moment;
use saki_thread::ThreadKind;
use saki_types::LibraryType;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

static ENDING_THREAD: AtomicU32 = AtomicU32::new(0);
/// Relaxed: the flag publishes no other memory.
static ARE_FINALIZERS_RUNNING: AtomicBool = AtomicBool::new(false);

/// `Environment.HasShutdownStarted`: not yet in the handlers of ProcessExit, but in the finalizers that follow.
pub fn has_shutdown_started() -> bool {
    // Relaxed: the flag publishes no other memory.
    ARE_FINALIZERS_RUNNING.load(Ordering::Relaxed)
}

/// The end of a program after `Main`: foreground threads, ProcessExit, finalizers, output buffers.
pub(crate) fn shut_down(t: CurrentThread) {
    saki_thread::wait_for_foreground_threads();
    run_exit_hooks(t);
}

/// In a forked child: a thread that was about to end its parent is not there.
pub(crate) fn forget_end() {
    // Relaxed: there is no other thread.
    ENDING_THREAD.store(0, Ordering::Relaxed);
    ARE_FINALIZERS_RUNNING.store(false, Ordering::Relaxed);
}

/// Waits for the foreground threads and ends the process: in a forked child, in place of the main thread, which is not
/// there.
pub(crate) fn end_with_last_thread(t: CurrentThread) -> ! {
    shut_down(t);
    saki_thread::end_process(crate::exit_code::exit_code())
}

/// Whether another thread ends the process and has stopped the current one, a thread of the program, which must then
/// end without running more managed code.
pub(crate) fn is_over_for(t: CurrentThread) -> bool {
    // Acquire, though an old value does no harm: only the thread that stored its id finds its own.
    suspension::are_others_stopped()
        && ENDING_THREAD.load(Ordering::Acquire) != t.id()
        && t.managed().kind() != ThreadKind::Internal
}

/// Waits for ever, in a thread that asks for the end of the process while another one ends it.
pub(crate) fn wait_for_end() -> ! {
    saki_thread::blocking(|| {
        loop {
            std::thread::park();
        }
    })
}

/// The longest time for which the other threads stay stopped for the finalizers at exit; after it, or when a finalizer
/// waits for one of them, they are aborted. The same limit as in the .NET Framework, which then gives up the
/// finalizers.
const EXIT_STOP_LIMIT: Duration = Duration::from_secs(2);

/// The longest time for which the process then waits for the finalizers, as in Mono.
const FINALIZERS_LIMIT: Duration = Duration::from_secs(40);

/// Runs the handlers of `AppDomain.ProcessExit` and the finalizers; also on `Environment.Exit`. Other threads are
/// stopped before the finalizers run, since these finalize objects that the threads still use. What a handler throws
/// is unhandled under .NET, and not reported under Mono.
pub fn run_exit_hooks(t: CurrentThread) {
    // AcqRel: one thread wins; it publishes nothing else by this. Acquire on failure: only the id is looked at.
    match ENDING_THREAD.compare_exchange(0, t.id(), Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {}
        Err(ending) if ending == t.id() || finalizer_signal::is_finalizer_thread(t) => return,
        Err(_) => wait_for_end(),
    }
    (upper_layers().host.before_exit)();
    if options().net.is_some() {
        // .NET runs no finalizers at the end of a process.
        if net::notify_exit(t).is_err() {
            unhandled::report_and_exit(t);
        }
        return;
    }
    raise_process_exit(t);
    ARE_FINALIZERS_RUNNING.store(true, Ordering::Relaxed);
    let deadline = Moment::now() + EXIT_STOP_LIMIT;
    suspension::suspend_others(t, EXIT_STOP_LIMIT);
    let is_standard_stream = standard_streams();
    saki_gc::make_all_finalizable(&mut |object| {
        // SAFETY: an object that may have to be finalized, which the collector keeps.
        let object = unsafe { Obj::known(object) };
        !is_standard_stream(object) && !is_socket(object)
    });
    if !finalizer_signal::wait_while_others_are_stopped(t, deadline) {
        suspension::abort_others(t);
        // The deadline is needed because a finalizer may never return.
        finalizer_signal::wait_for_pending_until(t, Some(Moment::now() + FINALIZERS_LIMIT));
    }
    (upper_layers().host.after_exit)();
}

/// Calls the ProcessExit handlers of every domain. An exception from a handler skips the other handlers of its domain,
/// and is not reported.
fn raise_process_exit(t: CurrentThread) {
    let home = domains::current();
    let ids = domains::ROOT_DOMAIN_ID..domains::ROOT_DOMAIN_ID + domains::count() as i32;
    let others = ids.filter_map(domains::by_id).filter(|domain| !std::ptr::eq(*domain, home));
    for domain in std::iter::once(home).chain(others) {
        domains::run_in(t, domain, || raise_process_exit_in(t, domain));
    }
}

fn raise_process_exit_in(t: CurrentThread, domain: &Domain) {
    static PROCESS_EXIT: ManagedField = ManagedField::new(LibraryType::AppDomain, "ProcessExit");
    let Some(sender) = domain.object(t) else { return };
    let Some(handler) = PROCESS_EXIT.obj(sender) else { return };
    let words = [Slot::from_ref(handler), Slot::from_ref(sender), Slot::from_ref(None::<Obj>)];
    if let Ok(invoke) = saki_il::synth::delegate::invoke_method(handler.ty())
        && invoke::invoke(t, invoke, &words).is_err()
    {
        t.take_pending();
        thread_aborts::forget_abort(t);
    }
}

/// Whether an object is a socket. Sockets are not finalized at exit, since the system closes them with the process:
/// their finalizers would end the blocking calls of other threads, and wait for these to notice.
fn is_socket(object: Obj) -> bool {
    let Some(def) = object.ty().def() else { return false };
    def.namespace == "System.Net.Sockets"
        && matches!(def.name, "Socket" | "SafeSocketHandle")
        && def.image.assembly().name == "System"
}

/// A function that recognises the files behind Console.In, Out and Error, and their handles. These are not finalized,
/// so that finalizers can print until the process ends.
fn standard_streams() -> impl Fn(Obj) -> bool {
    static FILE_HANDLE: ManagedField = ManagedField::new(LibraryType::FileStream, "safeHandle");
    static HANDLE: ManagedField = ManagedField::new(LibraryType::SafeHandle, "handle");
    // The offsets are looked up now, because that is not allowed while the world is stopped.
    let _ = (FILE_HANDLE.offset_bytes(), HANDLE.offset_bytes());
    move |object| {
        let ty = object.ty();
        let handle = if ty.is(LibraryType::FileStream) {
            FILE_HANDLE.obj(object)
        } else if ty.is(LibraryType::SafeFileHandle) {
            Some(object)
        } else {
            return false;
        };
        handle.is_some_and(|handle| HANDLE.get::<isize>(handle) <= libc::STDERR_FILENO as isize)
    }
}
