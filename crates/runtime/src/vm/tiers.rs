//! The second tier in the background: a thread that compiles what runs often, and leads the program there.
//!
//! Code of the first tier counts calls and rounds of loops (`jit::baseline`). When a counter overflows, the thread that
//! runs the code comes to `hot_hook`, which queues the method and returns at once.
//!
//! | what overflows | what is compiled |
//! |---|---|
//! | calls, or rounds for the first time | the method; its version replaces the one that counts (`object::versions`) |
//! | rounds, and the method has its version | a continuation at this loop: the frame is in it for long |
//!
//! A continuation is asked for by the loop itself, when its counter overflows again. The world is stopped once for all
//! methods that were replaced since the last time, to lead those calls that move only then (`versions::settle`).
//!
//! Loops are served before calls, and calls wait while the program starts (`Start`).
//!
//! Invariant: a method is compiled once as a whole, and once for each loop (`code::hot_queue`). One that cannot be
//! compiled stays in the first tier. Left out: methods that end before the process, which run in the second tier from
//! the start.

use crate::compile::{self, NextTier};
use crate::object::versions::{self, CodeVersion, Purpose, Replaced};
use crate::thread::CurrentThread;
use saki_abi::ThreadAbi;
use saki_abi::stubs::NO_LOOP;
use saki_base::locks::rank;
use saki_code::hot_queue::{HotQueue, HotRequest, HotSignal};
use saki_il::import::Continuation;
use saki_sync::word_locks::Mutex;
use saki_thread::{StopReason, ThreadKind, child_locks};
use saki_types::Method;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Counts since the start. All accesses are relaxed.
#[derive(Default)]
pub struct TierStatistics {
    /// Counters that overflowed.
    pub overflows: AtomicU64,
    /// Methods whose code in the second tier replaced that in the first.
    pub methods: AtomicU64,
    /// Continuations that were compiled.
    pub continuations: AtomicU64,
    /// Times that a loop went on in one.
    pub continued: AtomicU64,
    /// Methods and continuations that could not be compiled.
    pub failed: AtomicU64,
    /// Times that the world was stopped to settle what was replaced.
    pub stops: AtomicU64,
    /// The most requests that waited for the thread.
    pub longest_queue: AtomicU64,
    /// Bytes of code that was replaced.
    pub replaced_code_bytes: AtomicU64,
    /// Bytes of memory that the records of replaced code take.
    pub replaced_record_bytes: AtomicU64,
    /// Time that the thread has spent on compiling.
    pub nanoseconds: AtomicU64,
}

/// Those of this process.
pub static STATISTICS: TierStatistics = TierStatistics {
    overflows: AtomicU64::new(0),
    methods: AtomicU64::new(0),
    continuations: AtomicU64::new(0),
    continued: AtomicU64::new(0),
    failed: AtomicU64::new(0),
    stops: AtomicU64::new(0),
    longest_queue: AtomicU64::new(0),
    replaced_code_bytes: AtomicU64::new(0),
    replaced_record_bytes: AtomicU64::new(0),
    nanoseconds: AtomicU64::new(0),
};

/// The address of a method, which lives as long as the process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MethodKey(*const Method);

// SAFETY: methods are shared between threads.
unsafe impl Send for MethodKey {}

impl MethodKey {
    fn method(self) -> &'static Method {
        // SAFETY: made of the method of code that counts, which lives as long as the process.
        unsafe { &*self.0 }
    }
}

struct State {
    hot: HotQueue<MethodKey, &'static CodeVersion>,
    is_started: bool,
}

static HOT: Mutex<rank::HotMethods, State> = Mutex::new(State { hot: HotQueue::new(), is_started: false });
/// The thread sleeps on it.
static REQUESTED: HotSignal = HotSignal::new();

/// The stub's hook for counters that have overflowed (`StubId::Hot`).
///
/// # Safety
/// Called by the stub with the current thread, whose `stub_arg` names the method and the loop.
pub unsafe extern "C" fn hot_hook(abi: *mut ThreadAbi) {
    // SAFETY: the stub passes the current thread.
    let [method, round_of, _] = unsafe { (*abi).stub_arg };
    // SAFETY: code that counts names its own method, which lives as long as the process.
    let method: &'static Method = unsafe { &*(method as *const Method) };
    let round_of = Some(round_of as u32).filter(|&offset| offset != NO_LOOP);
    let code = note(method, round_of);
    // SAFETY: the thread's own structure.
    unsafe { (*abi).stub_result = code as u64 };
}

/// Notes that the method is hot; the code that continues the loop, or 0.
fn note(method: &'static Method, round_of: Option<u32>) -> usize {
    // Relaxed: counters.
    method.runtime.heat.store(0, Ordering::Relaxed);
    STATISTICS.overflows.fetch_add(1, Ordering::Relaxed);
    let (code, must_start) = {
        let mut state = HOT.lock();
        let counted = || versions::current(method).filter(|version| version.purpose == Purpose::Counted);
        let noted = state.hot.note(MethodKey(method), round_of, counted);
        if noted.code != 0 {
            // Relaxed: a counter.
            STATISTICS.continued.fetch_add(1, Ordering::Relaxed);
        }
        if !noted.is_requested {
            return noted.code;
        }
        // Relaxed: a counter.
        STATISTICS.longest_queue.fetch_max(state.hot.waiting() as u64, Ordering::Relaxed);
        (noted.code, !std::mem::replace(&mut state.is_started, true))
    };
    if must_start && start().is_err() {
        // The next request tries again.
        HOT.lock().is_started = false;
    }
    REQUESTED.requested();
    code
}

fn start() -> std::io::Result<()> {
    saki_thread::spawn(ThreadKind::Internal, Some("Second tier"), 0, |thread| {
        // SAFETY: the thread just attached.
        let t = unsafe { CurrentThread::from_abi(thread.abi()) };
        let mut replaced = Vec::new();
        let mut start = Start::new();
        loop {
            let are_calls_served = !start.goes_on();
            // The lock is free again before the request is served.
            let (request, must_wait) = {
                let mut state = HOT.lock();
                let request = state.hot.take(are_calls_served);
                (request, request.is_none() && state.hot.waiting() > 0)
            };
            match request {
                Some(request) => replaced.extend(serve(t, request)),
                None if must_wait => {
                    settle(&mut replaced);
                    saki_thread::blocking(|| std::thread::sleep(LOOK_INTERVAL));
                }
                None => {
                    settle(&mut replaced);
                    saki_thread::blocking(wait);
                }
            }
            if replaced.len() >= MAX_UNSETTLED {
                settle(&mut replaced);
            }
        }
    })
    .map(drop)
}

/// So many methods are replaced before the world is stopped to settle them, though there are more requests.
const MAX_UNSETTLED: usize = 64;

/// How often the thread looks whether the program still starts.
const LOOK_INTERVAL: Duration = Duration::from_millis(4);
/// A program that starts compiles at least so many methods for the first tier in a millisecond of its processor time:
/// a third of it.
const STARTING_METHODS_PER_MS: u64 = 12;
/// Processor time over which methods are counted: a start has pauses of some milliseconds, in which it reads files or
/// runs one loop.
const COUNTED_NS: u64 = 8_000_000;
/// A program that has not had `COUNTED_NS` in so much of the clock's time does not start: it sleeps, or waits for
/// others.
const IDLE_NS: u64 = 64_000_000;
/// For so much of the program's processor time requests of calls wait at most.
const LONGEST_START_NS: u64 = 250_000_000;
/// For so long they wait at most.
const LONGEST_WAIT_NS: u64 = 1_000_000_000;

/// Whether the program still starts: while it runs ever new methods, those that were called often are seldom those that
/// it will spend its time in, and compiling them takes processor time from it. Loops are served at once: a frame in
/// one may never call its method again.
///
/// Time is the processor time of all other threads. How much of the clock's time a program gets depends on what else
/// the machine does; by that, a start on a busy machine would look like work.
struct Start {
    /// When the methods were counted last, in processor time and in time.
    looked: (u64, u64),
    /// Methods that the first tier had compiled then.
    methods: u64,
    /// Since when calls have waited, in processor time and in time.
    waiting_since: Option<(u64, u64)>,
}

impl Start {
    fn new() -> Start {
        // Relaxed: a counter.
        let methods = compile::BASELINE_METHODS.load(Ordering::Relaxed);
        let looked = (Start::program_ns(), saki_os::clock::monotonic_ns());
        Start { looked, methods, waiting_since: Some(looked) }
    }

    /// Processor time of the other threads.
    fn program_ns() -> u64 {
        saki_os::clock::process_cpu_ns().saturating_sub(saki_os::clock::thread_cpu_ns())
    }

    fn goes_on(&mut self) -> bool {
        // Relaxed: set before managed code runs.
        if ARE_CALLS_URGENT.load(Ordering::Relaxed) {
            return false;
        }
        let (program_ns, now_ns) = (Start::program_ns(), saki_os::clock::monotonic_ns());
        let passed_ns = program_ns.saturating_sub(self.looked.0);
        let is_idle = passed_ns < COUNTED_NS && now_ns - self.looked.1 >= IDLE_NS;
        if passed_ns >= COUNTED_NS || is_idle {
            // Relaxed: a counter.
            let methods = compile::BASELINE_METHODS.load(Ordering::Relaxed);
            let is_starting = !is_idle && methods - self.methods >= STARTING_METHODS_PER_MS * passed_ns / 1_000_000;
            (self.looked, self.methods) = ((program_ns, now_ns), methods);
            self.waiting_since = is_starting.then(|| self.waiting_since.unwrap_or((program_ns, now_ns)));
        }
        self.waiting_since.is_some_and(|(since_program_ns, since_ns)| {
            program_ns.saturating_sub(since_program_ns) < LONGEST_START_NS && now_ns - since_ns < LONGEST_WAIT_NS
        })
    }
}

/// Whether calls never wait.
static ARE_CALLS_URGENT: AtomicBool = AtomicBool::new(false);

/// Has requests of calls served at once, also while the program starts: for those who say when a method is hot.
pub(crate) fn serve_calls_at_once() {
    // Relaxed: set before managed code runs.
    ARE_CALLS_URGENT.store(true, Ordering::Relaxed);
}

/// Waits for a request.
fn wait() {
    REQUESTED.wait(|signal| signal.seen_if_idle(&HOT.lock().hot));
}

/// Compiles what is asked for; what was replaced by it.
fn serve(t: CurrentThread, request: HotRequest<MethodKey, &'static CodeVersion>) -> Option<Replaced> {
    let HotRequest { method: key, counted, round_of } = request;
    let method = key.method();
    let what = match round_of {
        None => NextTier::Whole,
        Some(il_offset) => {
            let map = counted.body.frame_map()?;
            NextTier::Continuation(Continuation { il_offset, slots: &map.slots, makes_pointers: map.makes_pointers })
        }
    };
    let began_ns = saki_os::clock::monotonic_ns();
    let compiled = compile::compile_next_tier(t, method, what);
    // Relaxed: a counter.
    STATISTICS.nanoseconds.fetch_add(saki_os::clock::monotonic_ns() - began_ns, Ordering::Relaxed);
    let Ok(body) = compiled else {
        t.take_pending();
        // Relaxed: a counter.
        STATISTICS.failed.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    compile::log_published(method, body.start);
    if let Some(il_offset) = round_of {
        HOT.lock().hot.set_continuation(key, il_offset, body.start);
        // Relaxed: a counter.
        STATISTICS.continuations.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    let version: &'static CodeVersion = Box::leak(CodeVersion::new(method, body, Purpose::Optimised));
    if !versions::replace(method, counted, version).ok()? {
        return None;
    }
    // Relaxed: counters.
    STATISTICS.methods.fetch_add(1, Ordering::Relaxed);
    STATISTICS.replaced_code_bytes.fetch_add(u64::from(counted.body.len_bytes), Ordering::Relaxed);
    STATISTICS.replaced_record_bytes.fetch_add(counted.body.record_bytes() as u64, Ordering::Relaxed);
    HOT.lock().hot.set_replaced(key);
    Some(Replaced { method, version: counted })
}

fn settle(replaced: &mut Vec<Replaced>) {
    if replaced.is_empty() {
        return;
    }
    saki_thread::with_world_stopped(StopReason::Unloading, |token| versions::settle(replaced, token));
    saki_code::forget_written();
    // Relaxed: a counter.
    STATISTICS.stops.fetch_add(1, Ordering::Relaxed);
    replaced.clear();
}

/// Before a fork: no request is made, or taken by the thread.
pub(crate) fn hold() {
    child_locks::hold(&HOT);
}

/// After the fork, in the parent: the thread goes on.
pub(crate) fn release() {
    child_locks::release(&HOT);
}

/// In a forked child, which has no such thread: what the parent's thread had not served yet is asked for again.
pub(crate) fn begin_child() {
    child_locks::revive(&HOT);
    let mut state = HOT.lock();
    state.hot.forget_requests();
    state.is_started = false;
}
