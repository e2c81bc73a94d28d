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
//! Invariant: a method is compiled once as a whole, and once for each loop. One that cannot be compiled stays in the
//! first tier. Left out: methods that end before the process, which run in the second tier from the start.

use crate::compile::{self, NextTier};
use crate::object::versions::{self, CodeVersion, Purpose, Replaced};
use crate::thread::CurrentThread;
use rustc_hash::FxHashMap;
use saki_abi::ThreadAbi;
use saki_abi::stubs::NO_LOOP;
use saki_base::locks::rank;
use saki_il::import::Continuation;
use saki_sync::WaitWord;
use saki_sync::word_locks::{Mutex, MutexGuard};
use saki_thread::{StopReason, ThreadKind, child_locks};
use saki_types::Method;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// What the second tier has for a method, or will have.
struct HotMethod {
    /// The version that counts.
    counted: &'static CodeVersion,
    /// Whether the second tier's version is current.
    is_replaced: bool,
    /// By IL offset of a loop: the address of its continuation, 0 until there is one.
    continuations: FxHashMap<u32, usize>,
}

#[derive(Clone, Copy)]
struct Request {
    method: &'static Method,
    counted: &'static CodeVersion,
    /// A loop to continue; None: the whole method.
    round_of: Option<u32>,
}

#[derive(Default)]
struct State {
    methods: FxHashMap<*const Method, HotMethod>,
    /// In the order of the requests; those before `next` are done.
    queue: Vec<Request>,
    next: usize,
    is_started: bool,
}

// SAFETY: the keys of `methods` are not followed.
unsafe impl Send for State {}

static HOT: Mutex<rank::HotMethods, Option<State>> = Mutex::new(None);
/// Counts requests; the thread sleeps on it.
static REQUESTED: WaitWord = WaitWord::new(0);

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
        let state = state.get_or_insert_default();
        let requested = state.queue.len();
        let code = state.note(method, round_of);
        if state.queue.len() == requested {
            return code;
        }
        // Relaxed: a counter.
        STATISTICS.longest_queue.fetch_max((state.queue.len() - state.next) as u64, Ordering::Relaxed);
        (code, !std::mem::replace(&mut state.is_started, true))
    };
    if must_start
        && start().is_err()
        && let Some(state) = &mut *HOT.lock()
    {
        // The next request tries again.
        state.is_started = false;
    }
    // Release: pairs with the Acquire in `wait`.
    REQUESTED.atomic().fetch_add(1, Ordering::Release);
    REQUESTED.wake_all();
    code
}

impl State {
    fn note(&mut self, method: &'static Method, round_of: Option<u32>) -> usize {
        let Some(known) = self.methods.get_mut(&std::ptr::from_ref(method)) else {
            let version = versions::current(method);
            if let Some(counted) = version.filter(|version| version.purpose == Purpose::Counted) {
                let hot = HotMethod { counted, is_replaced: false, continuations: FxHashMap::default() };
                self.methods.insert(method, hot);
                self.queue.push(Request { method, counted, round_of: None });
            }
            return 0;
        };
        let Some(offset) = round_of.filter(|_| known.is_replaced) else { return 0 };
        if let Some(&code) = known.continuations.get(&offset) {
            if code != 0 {
                // Relaxed: a counter.
                STATISTICS.continued.fetch_add(1, Ordering::Relaxed);
            }
            return code;
        }
        known.continuations.insert(offset, 0);
        self.queue.push(Request { method, counted: known.counted, round_of });
        0
    }
}

fn start() -> std::io::Result<()> {
    saki_thread::spawn(ThreadKind::Internal, Some("Second tier"), 0, |thread| {
        // SAFETY: the thread just attached.
        let t = unsafe { CurrentThread::from_abi(thread.abi()) };
        let mut replaced = Vec::new();
        loop {
            match next_request() {
                Some(request) => replaced.extend(serve(t, request)),
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

fn next_request() -> Option<Request> {
    let mut state = HOT.lock();
    let state = state.as_mut()?;
    let request = state.queue.get(state.next).copied();
    match request {
        Some(_) => state.next += 1,
        None => {
            state.queue.clear();
            state.next = 0;
        }
    }
    request
}

/// Waits for a request.
fn wait() {
    let mut state = HOT.lock();
    while state.as_ref().is_none_or(|state| state.next == state.queue.len()) {
        // Acquire: a later request ends the wait.
        let seen = REQUESTED.load(Ordering::Acquire);
        MutexGuard::unlocked(&mut state, || REQUESTED.wait(seen, None));
    }
}

/// Compiles what is asked for; what was replaced by it.
fn serve(t: CurrentThread, request: Request) -> Option<Replaced> {
    let Request { method, counted, round_of } = request;
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
        let mut state = HOT.lock();
        let known = state.as_mut().and_then(|state| state.methods.get_mut(&std::ptr::from_ref(method)));
        if let Some(known) = known {
            known.continuations.insert(il_offset, body.start);
        }
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
    let mut state = HOT.lock();
    if let Some(known) = state.as_mut().and_then(|state| state.methods.get_mut(&std::ptr::from_ref(method))) {
        known.is_replaced = true;
    }
    Some(Replaced { method, version: counted })
}

fn settle(replaced: &mut Vec<Replaced>) {
    if replaced.is_empty() {
        return;
    }
    saki_thread::with_world_stopped(StopReason::Unloading, |token| versions::settle(replaced, token));
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
    if let Some(state) = &mut *HOT.lock() {
        state.methods.retain(|_, known| known.is_replaced);
        state.methods.values_mut().for_each(|known| known.continuations.retain(|_, code| *code != 0));
        let methods = std::mem::take(&mut state.methods);
        *state = State { methods, ..State::default() };
    }
}
