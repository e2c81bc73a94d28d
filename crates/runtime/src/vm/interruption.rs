//! Ending system calls that block, for `Thread.Abort`.
//!
//! A signal whose handler does nothing makes the system call that a thread is blocked in end with EINTR; the code that
//! made the call then looks for requests. A signal that arrives after that look and before the next system call has no
//! effect. So a helper thread, which lives only while some abort is unnoticed, sends the signal again until the target
//! has noticed the abort.
//!
//! Invariant: a thread gets the signal only in a safe region, and only while it has an abort request that it has not
//! taken.
//! Left out: `Thread.Interrupt`, which ends only waits, and waits are by parking.

use saki_base::locks::rank;
use saki_sync::word_locks::Mutex;
use saki_thread::{ManagedThread, REQUEST_ABORT, ThreadKind, ThreadRef};
use std::sync::Once;
use std::time::Duration;

/// The pause between the first two signals; it doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// The most signals for one abort, which are sent within 10 s. A thread that has not noticed by then is in a finally
/// block, where aborts wait, or in native code that repeats its system calls; more signals would only disturb it.
const MAX_SIGNALS: u32 = 200;

/// Threads that have not noticed their abort yet, and the number of signals sent to each.
struct Unnoticed {
    threads: Vec<(ThreadRef, u32)>,
    pause: Duration,
    has_sender: bool,
}

static UNNOTICED: Mutex<rank::UnnoticedRequests, Unnoticed> =
    Mutex::new(Unnoticed { threads: Vec::new(), pause: FIRST_PAUSE, has_sender: false });

/// The number of the signal, whose handler is installed. Real-time signals have no other use here.
pub fn signal_number() -> i32 {
    extern "C" fn ignore(_signal: i32) {}
    static INSTALLED: Once = Once::new();
    let signal = libc::SIGRTMIN() + 5;
    INSTALLED.call_once(|| {
        // SAFETY: all-zero is a valid `sigaction`; without SA_RESTART the handler ends system calls with EINTR.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ignore as *const () as usize;
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    });
    signal
}

/// Sends the signal to a thread of this process. Harmless if the thread has ended or its id was reused: interrupted
/// calls are restarted.
pub fn signal_thread(native_id: u32) {
    // SAFETY: a handled signal; no memory is involved.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), native_id, signal_number()) };
}

/// Ends the system call that a thread with a new abort request is blocked in, or is about to be.
pub fn end_system_call(thread: ThreadRef) {
    signal_if_unnoticed(thread.as_static());
    let mut unnoticed = UNNOTICED.lock();
    // A native loop may call back again and again: it gets no more signals for that.
    if unnoticed.threads.iter().any(|(known, _)| std::ptr::eq(known.as_static(), thread.as_static())) {
        return;
    }
    unnoticed.threads.push((thread, 0));
    unnoticed.pause = FIRST_PAUSE;
    let starts = !std::mem::replace(&mut unnoticed.has_sender, true);
    drop(unnoticed);
    if starts && saki_thread::spawn(ThreadKind::Internal, Some("Abort Signals"), 0, send_until_noticed).is_err() {
        // Only the first signal is sent then; the next abort tries again to start the helper.
        UNNOTICED.lock().has_sender = false;
    }
}

/// In a forked child, which has neither the helper nor the threads that are aborted.
pub(crate) fn forget_helper() {
    saki_thread::child_locks::revive(&UNNOTICED);
    let mut unnoticed = UNNOTICED.lock();
    unnoticed.has_sender = false;
    unnoticed.threads.clear();
}

fn has_unnoticed_abort(thread: &ManagedThread) -> bool {
    !thread.is_detached() && thread.pending_requests() & REQUEST_ABORT != 0
}

fn signal_if_unnoticed(thread: &ManagedThread) {
    if has_unnoticed_abort(thread) && thread.is_in_safe_region() {
        signal_thread(thread.native_id());
    }
}

fn send_until_noticed(me: &'static ManagedThread) {
    loop {
        let pause = {
            let mut unnoticed = UNNOTICED.lock();
            unnoticed.threads.retain(|(thread, count)| has_unnoticed_abort(thread.as_static()) && *count < MAX_SIGNALS);
            for (thread, count) in &mut unnoticed.threads {
                signal_if_unnoticed(thread.as_static());
                *count += 1;
            }
            if unnoticed.threads.is_empty() {
                unnoticed.has_sender = false;
                return;
            }
            let pause = unnoticed.pause;
            unnoticed.pause = (pause * 2).min(LONGEST_PAUSE);
            pause
        };
        me.sleep(Some(pause), false);
    }
}
