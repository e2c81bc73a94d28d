//! The machine as a whole across a fork (`saki_os::fork`): the locks that threads which are not stopped may hold, and
//! the machine's own threads.
//!
//! Native code may fork: programs that become daemons do, and libraries that start programs. A child goes on with the
//! thread that forked, and with a collector, a scheduler, a finalizer thread and a thread for dumps of its own; a
//! thread of the runtime ends the process when the last foreground thread has ended, if the main thread is not the one
//! that forked. Left out: profiles, which are the parent's, and what internal calls keep.

use crate::thread::CurrentThread;
use crate::upper_layers::upper_layers;
use crate::vm::tiers;
use crate::{
    class_init, code_cache, compile, exit, finalizer, finalizer_signal, interruption, monitors, suspension, thread_dump,
};
use saki_os::{ForkActions, ForkStage, on_fork};
use saki_thread::ThreadKind;
use saki_types::dynamic_records;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program runs on threads that the child does not have: its end is looked after by a thread of the
/// runtime. Relaxed: set before the child has another thread.
static LACKS_MAIN_THREAD: AtomicBool = AtomicBool::new(false);

/// Adds the parts that take notice of forks. Once, before there is managed code.
///
/// # Errors
/// The system's, when it has no memory for the list of functions to call.
pub(crate) fn hook() -> io::Result<()> {
    saki_thread::fork::start();
    saki_sched::hook_forks();
    saki_reactor::hook_forks();
    on_fork(ForkStage::Machine, ForkActions { prepare, parent, child, restart });
    on_fork(ForkStage::Calls, upper_layers().forks);
    saki_os::fork::register()
}

fn prepare() {
    finalizer_signal::hold();
    code_cache::hold();
    class_init::hold();
    tiers::hold();
    compile::hold();
    dynamic_records::hold();
}

fn parent() {
    dynamic_records::release();
    compile::release();
    tiers::release();
    class_init::release();
    code_cache::release();
    finalizer_signal::release();
}

fn child() {
    let me = saki_thread::current();
    finalizer_signal::forget_thread(me.map(|me| me.managed_id()));
    class_init::begin_child(me.map(|me| me.managed_id()));
    code_cache::begin_child();
    tiers::begin_child();
    compile::begin_child();
    dynamic_records::begin_child();
    saki_types::lazy::revive_loader_lock();
    monitors::forget_waiters();
    interruption::forget_helper();
    exit::forget_end();
    suspension::begin_child(me);
    let lacks_main = me.is_some_and(|me| me.kind() != ThreadKind::Main);
    LACKS_MAIN_THREAD.store(lacks_main, Ordering::Relaxed);
}

fn restart() {
    if let Err(error) = start_threads() {
        saki_base::bug!("the system has no room for the threads of a forked process: {error}");
    }
}

fn start_threads() -> io::Result<()> {
    if !finalizer_signal::is_started() {
        finalizer::start()?;
    }
    thread_dump::start_again()?;
    if LACKS_MAIN_THREAD.load(Ordering::Relaxed) {
        saki_thread::spawn(ThreadKind::Internal, Some("Main"), 0, |thread| {
            // SAFETY: the thread just attached.
            exit::end_with_last_thread(unsafe { CurrentThread::from_abi(thread.abi()) });
        })?;
    }
    Ok(())
}
