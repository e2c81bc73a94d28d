//! A stop of the world that does not wait for every thread: for the report of a signal that ends the process. The
//! thread that it ends reaches no safepoint any more, and neither does one that waits for a lock which that thread
//! holds.
//!
//! A stop of another thread's may be under way, which waits for the ending thread and so never comes to its end. Then
//! that stop serves as well, once it has asked the threads: before that, a thread that is found in a safe region may
//! leave it and run on while its frames are walked.
//!
//! Invariant: `STOP_LOCK` is held as in every stop, so threads and carriers neither attach nor detach meanwhile, and a
//! thread that was found stopped stays so until the visits are over. Left out: work for which all threads must have
//! stopped (`safepoint`).

use crate::carrier::{Carrier, for_each_carrier};
use crate::cold_stack;
use crate::managed_thread::ManagedThread;
use crate::registry::for_each_thread;
use crate::safepoint::request_stop;
use crate::scheduler_hooks::restore_cold_stacks;
use crate::stop::{STOP_LOCK, STOP_WORDS};
use saki_os::clock::Moment;
use std::time::Duration;

/// Between two looks at threads that have not stopped yet. Most have at the first.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Stops the threads but `ending`, as many as stop within `patience`, and visits each: with `true` if it has stopped,
/// so that its frames can be walked. False, and no visits: another stop of the world has lasted for that time, and it
/// does not wait for `ending`, which may have stopped the world itself; or it has not asked the threads in that time.
///
/// For threads that are not attached. `ending` does nothing at all until this returns. `visit` does as for
/// `for_each_thread`.
pub fn visit_stopping_threads(
    ending: Option<&'static ManagedThread>,
    patience: Duration,
    mut visit: impl FnMut(&'static ManagedThread, bool),
) -> bool {
    let is_other = |thread: &ManagedThread| Some(thread) != ending;
    let mut visit_all = || {
        cold_stack::forbid_moves();
        restore_cold_stacks();
        for_each_thread(|thread| {
            if is_other(thread) {
                visit(thread, !thread.is_running());
            }
        });
        // SAFETY: `forbid_moves` was called above.
        unsafe { cold_stack::allow_moves() };
    };
    if !STOP_LOCK.try_lock_for(patience) {
        let is_awaited = ending.is_some_and(ManagedThread::is_running) && STOP_LOCK.is_asked();
        if is_awaited {
            visit_all();
        }
        return is_awaited;
    }
    let mut carriers: Vec<&'static Carrier> = Vec::new();
    for_each_carrier(|carrier| carriers.push(carrier));
    let threads = request_stop(&carriers);
    let last_look = Moment::now().checked_add(patience);
    let runs = |carrier: &&Carrier| carrier.current().is_some_and(|thread| is_other(thread) && thread.is_running());
    while carriers.iter().any(runs) && last_look.is_none_or(|last| Moment::now() < last) {
        std::thread::sleep(LOOK_INTERVAL);
    }
    visit_all();
    STOP_WORDS.resume(carriers.iter().map(|carrier| &carrier.stop).chain(threads.iter().map(|t| t.poll_word())));
    STOP_LOCK.unlock();
    true
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::managed_thread::ThreadKind;
    use crate::spawn::spawn;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Threads in safe regions may leave them as long as nobody has asked them to stop, and when a stop of this kind
    /// comes to its end.
    #[test]
    fn a_stop_that_has_not_asked_the_threads_or_ends_by_itself_does_not_serve() {
        static STEP: AtomicU32 = AtomicU32::new(0);
        let ending = spawn(ThreadKind::Background, None, 0, |_| {
            while STEP.load(Ordering::Acquire) < 3 {
                std::hint::spin_loop();
            }
        })
        .unwrap();
        while !ending.is_running() {
            std::thread::yield_now();
        }
        let thread = ending.as_static();
        let is_visited = || {
            let visit = move || visit_stopping_threads(Some(thread), Duration::from_millis(10), |_, _| ());
            std::thread::spawn(visit).join().unwrap()
        };
        STOP_LOCK.lock();
        let while_not_asked = is_visited();
        STOP_LOCK.unlock();
        let other = std::thread::spawn(move || {
            let is_taken = visit_stopping_threads(None, Duration::from_millis(10), |visited, _| {
                if visited == thread {
                    STEP.store(1, Ordering::Release);
                    // Not for ever, so that the test fails rather than hangs.
                    let end = Moment::now() + Duration::from_secs(20);
                    while STEP.load(Ordering::Acquire) < 2 && Moment::now() < end {
                        std::thread::yield_now();
                    }
                }
            });
            assert!(is_taken);
        });
        while STEP.load(Ordering::Acquire) < 1 {
            std::thread::yield_now();
        }
        let beside_another = is_visited();
        STEP.store(3, Ordering::Release);
        other.join().unwrap();
        assert!(ending.join(None));
        assert_eq!((while_not_asked, beside_another), (false, false));
    }
}
