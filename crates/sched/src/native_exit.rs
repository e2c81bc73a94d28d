//! Native code that ends the OS thread it runs on (`pthread_exit`): the managed thread that called it ends, and its
//! carrier is replaced.
//!
//! The C library leaves the frames of the green stack and goes to the outermost frame of the OS thread's own stack,
//! where it runs the destructors of thread-local variables and those of thread-specific data. One of the latter is
//! ours. It parks the managed thread for good and detaches it; no thread returns to its stack, which becomes free. The
//! slot goes to another worker.
//!
//! The OS thread then ends, except the one on whose stack the main managed thread runs: that OS thread sleeps until the
//! process ends. The C library and the destructors use a part of its stack that is a gap above all frames that are
//! still needed (`os::thread::run_below_gap`).
//!
//! Invariant: the thread that ends is in a safe region. Left out: resources of native code, which its own destructors
//! release.

use crate::carriers::forget_worker;
use crate::green::Green;
use crate::switch::end;
use crate::worker::{self, Worker};
use saki_os::signal::SignalMask;
use saki_os::thread::EndNotice;
use saki_thread::{POLL_TAKEN, scheduling};
use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// The kernel's id of the OS thread that may not end; 0: there is none. Relaxed: changes before there are workers.
static KEPT: AtomicU32 = AtomicU32::new(0);

/// The notice of the ends of workers' OS threads. On the main thread, before there are workers.
///
/// # Errors
/// The system's, when it has no room for another kind of thread-specific data.
pub(crate) fn notice() -> io::Result<EndNotice> {
    keep_this_os_thread(true);
    EndNotice::new(os_thread_ends)
}

/// The main managed thread is on the calling OS thread's stack, or, in a forked child, there is no such thread.
pub(crate) fn keep_this_os_thread(is_main: bool) {
    KEPT.store(if is_main { saki_os::thread::native_id() } else { 0 }, Ordering::Relaxed);
}

/// # Safety
/// Called by the C library at the end of an OS thread with the worker that asked for the notice.
unsafe extern "C" fn os_thread_ends(worker: *mut c_void) {
    // SAFETY: the notice is asked for with workers, which are never freed.
    let worker: &'static Worker = unsafe { &*worker.cast::<Worker>() };
    let thread = worker.carrier().and_then(|carrier| carrier.current());
    let Some(green) = thread.and_then(Green::of) else { saki_base::bug!("a carrier ended without a thread") };
    // Signals stay blocked for good, because the alternate stack is removed.
    SignalMask::block_all();
    green.thread.become_waiting();
    // Its carrier may have been taken from it. The next thread of the structure would keep the bit.
    green.thread.clear_poll(POLL_TAKEN);
    if let Some(carrier) = worker.carrier() {
        scheduling::take_up(carrier, None);
    }
    worker::forget_here();
    forget_worker(worker);
    scheduling::detach_ended(green.thread);
    end(green);
    if KEPT.load(Ordering::Relaxed) == saki_os::thread::native_id() {
        saki_os::thread::sleep_for_ever()
    }
}
