//! Stopping the world, and the safepoints where threads notice. The protocol and its state table are in `protocol`.
//!
//! Invariant: `STOP_LOCK` is held from before a stop is requested until after the world runs again, and for every
//! change of the list of carriers; so the set of carriers is fixed during a stop, a carrier that attaches waits for the
//! stop's end, and there is one stopper at a time. A stop stops carriers, because only they run managed code: threads
//! that wait for a carrier cannot begin to run, since a carrier checks for a stop before it takes a thread. A thread
//! waits for `STOP_LOCK` in a safe region or unattached. Left out: the work that is done while the world is stopped.

use crate::carrier::{Carrier, for_each_carrier};
use crate::cold_stack;
use crate::current::current;
use crate::histogram::{Histogram, HistogramSnapshot};
use crate::hold;
use crate::managed_thread::ManagedThread;
use crate::protocol::{RUNNING, STOPPED};
use crate::request::POLL_STOP;
use crate::scheduler_hooks::restore_cold_stacks;
use crate::spill::{CALLEE_SAVED_COUNT, capture_registers, stack_pointer, with_spilled_registers};
use crate::stop::{STOP_LOCK, STOP_WORDS};
use std::sync::atomic::Ordering;

static LATENCY: Histogram = Histogram::new();

/// Looks at the states this often before sleeping: a thread in compiled code reaches a poll within about a microsecond.
const MAX_STOP_SPINS: u32 = 100;

/// Why the world is stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    Collection,
    /// Stack dumps, thread lists.
    Inspection,
    /// Domain unloading, code removal.
    Unloading,
    /// The process is about to fork.
    Fork,
    Test,
}

/// A stopped world. It may be resumed on another thread than it was stopped on; dropping it is a fault of the virtual
/// machine.
#[must_use = "the world stays stopped until this is given to resume_the_world"]
pub struct StopToken {
    /// Why the world was stopped.
    pub reason: StopReason,
    /// From the request until the last thread had stopped.
    pub latency_ns: u64,
    stopper: Option<&'static ManagedThread>,
    /// The carriers and the threads that were asked to stop.
    carriers: Vec<&'static Carrier>,
    threads: Vec<&'static ManagedThread>,
    /// Those that are held in native code; see `hold`.
    held: Vec<&'static ManagedThread>,
}

impl StopToken {
    /// The attached thread that stopped the world, if it was one: it does not wait, and its published stack range
    /// begins where it called.
    pub fn stopper(&self) -> Option<&'static ManagedThread> {
        self.stopper
    }
}

impl Drop for StopToken {
    fn drop(&mut self) {
        saki_base::bug!("a stopped world was dropped instead of resumed ({:?})", self.reason);
    }
}

/// Stops every attached thread except the caller. Callable from attached and unattached threads; waits while another
/// thread has the world stopped. An attached caller goes on running: it may not touch references that it loads after
/// this call and that nothing else keeps alive.
#[inline(never)]
pub fn stop_the_world(reason: StopReason) -> StopToken {
    let me = current();
    match me {
        None => {
            // No thread may have attached yet.
            saki_os::membarrier::initialise();
            STOP_LOCK.lock();
        }
        // Its frames are frozen and its stack published already.
        Some(thread) if thread.is_in_safe_region() => STOP_LOCK.lock(),
        Some(thread) => {
            thread.blocking_in_place(|| STOP_LOCK.lock());
            let mut registers = [0; CALLEE_SAVED_COUNT];
            capture_registers(&mut registers);
            thread.publish_registers(&registers, stack_pointer());
        }
    }
    let start_ns = saki_os::clock::monotonic_ns();
    let mine = me.and_then(ManagedThread::carrier);
    let mut carriers: Vec<&'static Carrier> = Vec::new();
    for_each_carrier(|carrier| {
        if mine.is_none_or(|mine| !std::ptr::eq(mine, carrier)) {
            carriers.push(carrier);
        }
    });
    let threads = request_stop(&carriers);
    STOP_LOCK.note_asked();
    let mut left = carriers.len();
    STOP_WORDS.wait_until_stopped(MAX_STOP_SPINS, || {
        // Carriers that were found stopped stay stopped: only the remaining ones are looked
        // at again. Acquire pairs with the Release of SAFE and STOPPED: stack and SP are
        // visible.
        let runs = |carrier: &Carrier| carrier.current().is_some_and(|t| t.state.load(Ordering::Acquire) == RUNNING);
        while left > 0 && !runs(carriers[left - 1]) {
            left -= 1;
        }
        left > 0
    });
    STOP_LOCK.note_complete();
    cold_stack::forbid_moves();
    if !matches!(reason, StopReason::Collection | StopReason::Fork) {
        restore_cold_stacks();
    }
    // Only a collection moves objects.
    let held = if reason == StopReason::Collection { hold::hold_all(&carriers) } else { Vec::new() };
    let latency_ns = saki_os::clock::monotonic_ns() - start_ns;
    LATENCY.record_ns(latency_ns);
    StopToken { reason, latency_ns, stopper: me, carriers, threads, held }
}

/// Asks carriers, and the threads that they run, to stop; returns those threads. A carrier that changes threads
/// meanwhile either sees the request, or is seen with its new thread, which is asked too: the heavy fence stands
/// between both sides' store and load.
pub(crate) fn request_stop(carriers: &[&'static Carrier]) -> Vec<&'static ManagedThread> {
    let mut seen: Vec<Option<&'static ManagedThread>> = carriers.iter().map(|carrier| carrier.current()).collect();
    STOP_WORDS.request(carriers.iter().map(|c| &c.stop).chain(seen.iter().flatten().map(|t| t.poll_word())));
    let mut asked: Vec<&'static ManagedThread> = seen.iter().flatten().copied().collect();
    loop {
        let mut new: Vec<&'static ManagedThread> = Vec::new();
        for (carrier, seen) in carriers.iter().zip(&mut seen) {
            let now = carrier.current();
            if let Some(thread) = now.filter(|now| seen.is_none_or(|seen| !std::ptr::eq(*now, seen))) {
                new.push(thread);
            }
            *seen = now;
        }
        if new.is_empty() {
            return asked;
        }
        STOP_WORDS.request(new.iter().map(|t| t.poll_word()));
        asked.append(&mut new);
    }
}

/// Lets every thread run again.
pub fn resume_the_world(token: StopToken) {
    // The token's fields are taken out of it, since it may not be dropped.
    let mut token = std::mem::ManuallyDrop::new(token);
    let (carriers, threads) = (std::mem::take(&mut token.carriers), std::mem::take(&mut token.threads));
    hold::release_all(&std::mem::take(&mut token.held));
    if let Some(stopper) = token.stopper.filter(|s| s.is_running()) {
        // Relaxed: the stopper runs; the next publication sets it again if need be.
        stopper.registers_are_saved.store(false, Ordering::Relaxed);
    }
    // SAFETY: the function that made the token called `forbid_moves`.
    unsafe { cold_stack::allow_moves() };
    STOP_WORDS.resume(carriers.iter().map(|c| &c.stop).chain(threads.iter().map(|t| t.poll_word())));
    STOP_LOCK.unlock();
}

/// Stops the world, runs `f` with the caller's registers on its stack, resumes.
pub fn with_world_stopped<R>(reason: StopReason, f: impl FnOnce(&StopToken) -> R) -> R {
    with_spilled_registers(|_| {
        let token = stop_the_world(reason);
        let result = f(&token);
        resume_the_world(token);
        result
    })
}

/// Time from request to stopped world, of every stop so far.
pub fn stop_latency_histogram() -> HistogramSnapshot {
    LATENCY.snapshot()
}

impl ManagedThread {
    /// A safepoint: returns the poll bits other than the stop bit (abort, preemption), after any stop. Called by the
    /// thread itself, while RUNNING.
    #[inline(always)]
    pub fn poll(&self) -> u32 {
        // Relaxed: `poll_slow` orders; a stop seen late is only a longer stop latency.
        if self.poll_word().load(Ordering::Relaxed) == 0 { 0 } else { self.poll_slow() }
    }

    /// The slow half of `poll`: waits while a stop is requested, with registers spilled and SP published.
    #[cold]
    pub fn poll_slow(&self) -> u32 {
        saki_base::locks::order::check_safepoint();
        // The thread may be on another OS thread afterwards, which has another `errno`. Managed code reads that of its
        // last native call by a further call.
        let errno = saki_os::error::errno();
        if self.poll_word().load(Ordering::Acquire) & POLL_STOP != 0 {
            debug_assert!(self.is_running(), "a safepoint inside a safe region");
            with_spilled_registers(|sp| {
                // Relaxed: the Release store of the state publishes it.
                self.published_sp.store(sp, Ordering::Relaxed);
                STOP_WORDS.wait_out_stop(&self.state, self.poll_word(), STOPPED);
            });
        }
        self.come_back_if_forked();
        self.yield_if_asked();
        saki_os::error::set_errno(errno);
        // Acquire: pairs with the Release in `set_poll`: what the bits ask for is prepared.
        self.poll_word().load(Ordering::Acquire) & !POLL_STOP
    }

    fn publish_registers(&self, registers: &[usize; CALLEE_SAVED_COUNT], sp: usize) {
        for (slot, value) in self.saved_registers.iter().zip(registers) {
            // Relaxed: read by this thread's own collection, or after the Release of a state.
            slot.store(*value, Ordering::Relaxed);
        }
        self.registers_are_saved.store(true, Ordering::Relaxed);
        self.published_sp.store(sp, Ordering::Relaxed);
    }
}
