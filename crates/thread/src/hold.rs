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
//! | ASKED | the signal is on its way | the thread's handler → HELD |
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
//! A thread may be held while it has a lock of its C library, its allocator's above all, from which stopper and
//! collector take memory, too: a weak point, since two of them may share an arena.
//! Left out: threads on carriers of a scheduler (a host has native threads alone); a host that blocks the signal for
//! good is waited for, as Mono does.

use saki_sync::WaitWord;
use saki_sync::facade::atomic::{AtomicUsize, Ordering};

const FREE: u32 = 0;
const ASKED: u32 = 1;
const HELD: u32 = 2;

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

    /// Stopper: the signal follows.
    pub(crate) fn ask(&self) {
        // Release, although nothing is published by it: the handler reads nothing but the state.
        self.state.atomic().store(ASKED, Ordering::Release);
    }

    /// Stopper: waits until the thread is held.
    pub(crate) fn wait_until_held(&self) {
        // Acquire: pairs with the Release in `hold`.
        while self.state.load(Ordering::Acquire) == ASKED {
            self.state.wait(ASKED, None);
        }
    }

    /// The thread's handler: if the thread is asked, waits until it is released. Async-signal-safe.
    pub(crate) fn hold(&self, sp: usize, context: usize) {
        // Relaxed: the state alone is read, and `ask` came before the signal.
        if self.state.load(Ordering::Relaxed) != ASKED {
            return;
        }
        // Relaxed, both words: the Release below publishes them.
        self.sp.store(sp, Ordering::Relaxed);
        self.context.store(context, Ordering::Relaxed);
        // Release: pairs with the Acquire in `wait_until_held` and `held`.
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
    use saki_os::fault_context::FaultContext;
    use saki_os::signal::{self, Disposition};
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Set once, before there is managed code; Relaxed: the start of each thread comes after it.
    static IS_ON: AtomicBool = AtomicBool::new(false);

    /// From now on each collection holds the threads that are in native code, and scans their frames there. Called
    /// before the machine starts; the machine's threads are native.
    ///
    /// # Errors
    /// The system's, for the handler.
    pub fn hold_native_code() -> io::Result<()> {
        signal::install(signal::of_holds(), handle)?;
        IS_ON.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn handle(context: &mut FaultContext) -> Disposition {
        if let Some(thread) = current() {
            thread.hold.hold(context.sp(), context.raw().1.addr());
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
            thread.hold.ask();
            match saki_os::thread::send_signal(carrier.native_id(), signal::of_holds()) {
                Ok(()) => asked.push(thread),
                Err(error) => saki_base::bug!("thread {thread:?} cannot be held: {error}"),
            }
        }
        for thread in &asked {
            thread.hold.wait_until_held();
        }
        asked
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
                parts.0.ask();
                thread::spawn(move || {
                    parts.1.touch();
                    // The signal.
                    parts.0.hold(1, 2);
                    parts.1.touch();
                    // One more that nobody asked for, or that the next stop did.
                    parts.0.hold(3, 4);
                })
            };
            parts.0.wait_until_held();
            assert_eq!(parts.0.held(), Some((1, 2)));
            parts.1.touch();
            parts.0.release();
            let _ = thread.join();
            assert_eq!(parts.0.held(), None);
        });
    }
}
