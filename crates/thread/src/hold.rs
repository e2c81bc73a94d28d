//! Holding threads in native code during a collection, by a signal, for hosts whose code has references in its hands.
//!
//! A thread in native code is SAFE: a collection goes on beside it, and scans its stack from where managed code called.
//! That is too little for a host in C that has addresses of objects on its stack and in registers, and reads objects
//! through them (Mono's embedding API). [`hold_native_code`] says that this process has such a host. From then on the
//! stopper of a collection sends each such thread a signal; the handler says where the stack ends and where the
//! registers lie, and waits for the end of the collection.
//!
//! The states of a thread's [`HoldWord`]:
//!
//! | state | meaning | who leaves it |
//! |---|---|---|
//! | FREE | the thread is not held | stopper → ASKED, before the signal |
//! | ASKED | the signal is on its way | the thread's handler → HELD, or BUSY if it may have a lock of the C library |
//! | URGED | as ASKED, after many times BUSY | the thread's handler → HELD |
//! | BUSY | the handler has let the thread go on | stopper → ASKED or URGED, after a pause, before the next signal |
//! | HELD | the handler waits; `sp` and `context` are the thread's | stopper → FREE, when the world runs again |
//!
//! Orderings: the handler's Release of HELD publishes `sp`, `context` and the stack to the stopper's Acquire; the
//! stopper's Release of FREE publishes what the collector changed to the handler's Acquire. A signal that finds another
//! state than ASKED does nothing.
//!
//! Invariant: only threads are asked that a stop has found SAFE, and not in a safe region of the runtime's own code:
//! that may hold a lock which the collection needs, and leads to the host's code by way of RUNNING alone. Such a thread
//! may be about to leave its safe region
//! (RUNNING for a moment, see `protocol`), but it stays in the code that does so, and has all its frames at and above
//! the interrupted stack pointer. Threads that are STOPPED have published all that they hold.
//! Stopper and collector take memory from the C library's allocator. So a thread is not held where it may have a lock
//! of that (`os::c_library`), unless it is found there [`MAX_BUSY`] times.
//! Left out: threads on carriers of a scheduler (a host has native threads alone); a host that blocks the signal for
//! good is waited for, as Mono does.

use saki_sync::WaitWord;
use saki_sync::facade::atomic::{AtomicUsize, Ordering};

const FREE: u32 = 0;
const ASKED: u32 = 1;
const HELD: u32 = 2;
const URGED: u32 = 3;
const BUSY: u32 = 4;

/// How often a thread that may have a lock of the C library is let go on: for about a second. So many looks find a
/// thread in the library's code each time only if it waits there for a thread that is held (`pthread_spin_lock`).
const MAX_BUSY: u32 = 5000;

/// One thread's part of the protocol; see the module header.
pub(crate) struct HoldWord {
    state: WaitWord,
    /// The interrupted stack pointer.
    sp: AtomicUsize,
    /// The address of the saved registers.
    context: AtomicUsize,
}

impl HoldWord {
    pub(crate) fn new() -> HoldWord {
        HoldWord { state: WaitWord::new(FREE), sp: AtomicUsize::new(0), context: AtomicUsize::new(0) }
    }

    /// Stopper: the signal follows. `busy`: how often the thread was BUSY in this stop.
    pub(crate) fn ask(&self, busy: u32) {
        // Release, although nothing is published by it: the handler reads nothing but the state.
        self.state.atomic().store(if busy < MAX_BUSY { ASKED } else { URGED }, Ordering::Release);
    }

    /// Stopper: waits for the handler. False: the thread is BUSY, and is to be asked again.
    pub(crate) fn is_held_now(&self) -> bool {
        loop {
            // Acquire: pairs with the Release in `hold`.
            match self.state.load(Ordering::Acquire) {
                state @ (ASKED | URGED) => {
                    self.state.wait(state, None);
                }
                state => return state == HELD,
            }
        }
    }

    /// The thread's handler: if the thread is asked, waits until it is released. `is_busy`: it may have a lock that the
    /// stopper needs. Async-signal-safe.
    pub(crate) fn hold(&self, sp: usize, context: usize, is_busy: bool) {
        // Relaxed: the state alone is read, and `ask` came before the signal.
        match self.state.load(Ordering::Relaxed) {
            ASKED if is_busy => {
                // Release, although nothing is published by it.
                self.state.atomic().store(BUSY, Ordering::Release);
                self.state.wake_all();
                return;
            }
            ASKED | URGED => {}
            _ => return,
        }
        // Relaxed, both words: the Release below publishes them.
        self.sp.store(sp, Ordering::Relaxed);
        self.context.store(context, Ordering::Relaxed);
        // Release: pairs with the Acquire in `is_held_now` and `held`.
        self.state.atomic().store(HELD, Ordering::Release);
        self.state.wake_all();
        // Acquire: pairs with the Release in `release`.
        while self.state.load(Ordering::Acquire) == HELD {
            self.state.wait(HELD, None);
        }
    }

    /// Stopper: lets the thread go on.
    pub(crate) fn release(&self) {
        // Release: what the collector changed.
        self.state.atomic().store(FREE, Ordering::Release);
        self.state.wake_all();
    }

    /// Collector: stack pointer and address of the registers of a thread that is held.
    pub(crate) fn held(&self) -> Option<(usize, usize)> {
        // Acquire: pairs with the Release in `hold`.
        let is_held = self.state.load(Ordering::Acquire) == HELD;
        // Relaxed: published by the state.
        is_held.then(|| (self.sp.load(Ordering::Relaxed), self.context.load(Ordering::Relaxed)))
    }
}

#[cfg(not(loom))]
pub use machine::hold_native_code;
#[cfg(not(loom))]
pub(crate) use machine::{hold_all, release_all};

#[cfg(not(loom))]
mod machine {
    use crate::carrier::Carrier;
    use crate::current::current;
    use crate::managed_thread::ManagedThread;
    use crate::protocol::STOPPED;
    use saki_os::c_library;
    use saki_os::fault_context::FaultContext;
    use saki_os::signal::{self, Disposition};
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    /// Set once, before there is managed code; Relaxed: the start of each thread comes after it.
    static IS_ON: AtomicBool = AtomicBool::new(false);

    /// From now on each collection holds the threads that are in native code, and scans their frames there. Called
    /// before the machine starts; the machine's threads are native.
    ///
    /// # Errors
    /// The system's, for the handler.
    pub fn hold_native_code() -> io::Result<()> {
        c_library::find_code();
        signal::install(signal::of_holds(), handle)?;
        IS_ON.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn handle(context: &mut FaultContext) -> Disposition {
        if let Some(thread) = current() {
            thread.hold.hold(context.sp(), context.raw().1.addr(), c_library::may_hold_lock(context));
        }
        Disposition::Handled
    }

    /// The world is stopped: holds the threads of these carriers that are in native code.
    pub(crate) fn hold_all(carriers: &[&'static Carrier]) -> Vec<&'static ManagedThread> {
        if !IS_ON.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let mut asked = Vec::new();
        for carrier in carriers {
            // Relaxed, both: the stop has read the state with Acquire. STOPPED lasts as long as the stop does, and the
            // runtime's code comes to the host's only by way of RUNNING.
            let is_in_native_code = |thread: &&ManagedThread| {
                thread.state.load(Ordering::Relaxed) != STOPPED && !thread.is_in_runtime.load(Ordering::Relaxed)
            };
            let Some(thread) = carrier.current().filter(is_in_native_code) else { continue };
            ask(carrier, thread, 0);
            asked.push((carrier, thread));
        }
        for (carrier, thread) in &asked {
            let mut busy = 0;
            while !thread.hold.is_held_now() {
                busy += 1;
                std::thread::sleep(if busy < FEW { SHORT_PAUSE } else { PAUSE });
                ask(carrier, thread, busy);
            }
        }
        asked.into_iter().map(|(_, thread)| thread).collect()
    }

    /// How long a busy thread is left alone, and the first times.
    const PAUSE: Duration = Duration::from_micros(200);
    const SHORT_PAUSE: Duration = Duration::from_micros(20);
    const FEW: u32 = 50;

    fn ask(carrier: &Carrier, thread: &ManagedThread, busy: u32) {
        thread.hold.ask(busy);
        if let Err(error) = saki_os::thread::send_signal(carrier.native_id(), signal::of_holds()) {
            saki_base::bug!("thread {thread:?} cannot be held: {error}");
        }
    }

    pub(crate) fn release_all(held: &[&'static ManagedThread]) {
        for thread in held {
            thread.hold.release();
        }
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;
    use saki_sync::model::{Section, explore};

    /// The stack is the thread's, except between `wait_until_held` and `release`.
    #[test]
    fn model_a_held_thread_does_not_touch_its_stack() {
        explore(None, || {
            let parts = Arc::new((HoldWord::new(), Section::default()));
            let thread = {
                let parts = Arc::clone(&parts);
                parts.0.ask(0);
                thread::spawn(move || {
                    parts.1.touch();
                    // The signal.
                    parts.0.hold(1, 2, false);
                    parts.1.touch();
                    // One more that nobody asked for, or that the next stop did.
                    parts.0.hold(3, 4, false);
                })
            };
            assert!(parts.0.is_held_now());
            assert_eq!(parts.0.held(), Some((1, 2)));
            parts.1.touch();
            parts.0.release();
            let _ = thread.join();
            assert_eq!(parts.0.held(), None);
        });
    }

    /// A busy thread goes on with its stack, and is held when it is asked again.
    #[test]
    fn model_a_busy_thread_is_asked_again() {
        explore(None, || {
            let parts = Arc::new((HoldWord::new(), Section::default(), AtomicUsize::new(0)));
            parts.0.ask(0);
            let thread = {
                let parts = Arc::clone(&parts);
                thread::spawn(move || {
                    parts.0.hold(1, 2, true);
                    parts.1.touch();
                    // A signal of another sender, and the one that follows the next question.
                    parts.0.hold(3, 4, false);
                    while parts.2.load(Ordering::Acquire) == 0 {
                        thread::yield_now();
                    }
                    parts.0.hold(5, 6, false);
                    parts.1.touch();
                })
            };
            assert!(!parts.0.is_held_now());
            assert_eq!(parts.0.held(), None);
            parts.0.ask(1);
            parts.2.store(1, Ordering::Release);
            assert!(parts.0.is_held_now());
            assert!(parts.0.held().is_some());
            parts.1.touch();
            parts.0.release();
            let _ = thread.join();
        });
    }
}
