//! The sampling profiler: signals that may come anywhere find where threads spend their time.
//!
//! ```text
//!   timer of an OS thread → SIGPROF → handler → ring          on that thread: no lock, no allocation
//!                                               ring → reader → Profile        on a thread of its own
//! ```
//!
//! - Each OS thread that runs managed code (each carrier) has a timer of its own that counts its processor time, armed when the thread is attached
//!   and disarmed before it detaches. So there is no process-wide signal that reaches an arbitrary thread, and no signal before the thread knows
//!   its managed thread.
//! - A sample has the weight of all expirations of its timer since the one before: kernels look at these timers at their own ticks, 250 or 1,000 a second.
//! - The handler walks the frames of the managed thread that runs, whatever the instruction (`saki_unwind::Frames::of_context`); from native code it
//!   finds the managed frames by the call frame information (`native_walk`).
//! - Samples belong to managed threads: green threads have no timers of their own, their carriers have.
//! - Threads of the machine that take no signals (the collector's) are counted as a whole, by their processor time.
//!
//! Besides processor time, the profiler measures wall-clock time (`wall`), and threads record events themselves (`events`). A session has any combination of
//! them, each in its own profile, and may pass all samples and events on as they come (`Consumer`).
//!
//! Invariant: while nothing is sampled, no code of this crate runs: no hook is on a path of managed code. Left out: file formats (`saki_profile`).

pub mod allocations;
mod call_frame_information;
mod demangle;
pub mod events;
mod handler;
mod modules;
mod native_walk;
mod reader;
mod stack;
mod symbols;
mod threads;
mod wall;

pub use events::{Consumer, Event, EventKind, Kinds, StackSample, Subject};
pub use reader::{Place, Resolve};
pub use stack::{Stack, StackFrame};
pub use symbols::{NativeName, Symbols};

use parking_lot::Mutex;
use reader::Reader;
use rustc_hash::FxHashMap;
use saki_os::TimerClock;
use saki_os::signal;
use saki_profile::Profile;
use saki_sync::WaitWord;
use saki_thread::{Carrier, CarrierHooks};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The quantity that a profile measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Samples of timers.
    Cpu,
    /// Samples by the clock on the wall.
    Wall,
    /// Events with their values.
    Events(Kinds),
    /// Methods' code in bytes, of `EventKind::Compilation`.
    CodeBytes,
}

/// A profile that is to be made.
pub struct Recording {
    pub what: What,
    /// An empty profile with its name and unit; its period is the value of a sample.
    pub profile: Profile,
}

/// The recordings of a session, their rates and their consumer, in any combination.
#[derive(Default)]
pub struct Session {
    /// Signals by timers of this clock, so many a second (at least 1).
    pub timers: Option<(TimerClock, u32)>,
    /// All threads, by the clock on the wall, so many times a second (at least 1).
    pub wall_hz: Option<u32>,
    /// The kinds of events; all events of these kinds are recorded.
    pub events: Kinds,
    pub recordings: Vec<Recording>,
    /// Gets everything as well.
    pub consumer: Option<Box<dyn Consumer>>,
}

/// The rates of the kinds of sampling.
#[derive(Clone, Copy)]
struct Rates {
    timers: Option<(TimerClock, u32)>,
    wall_hz: Option<u32>,
    events: Kinds,
}

/// The time between two samples.
pub fn interval(hz: u32) -> Duration {
    Duration::from_secs(1) / hz.max(1)
}

/// The results of a session.
pub struct Sampled {
    /// In the order of the session's recordings.
    pub profiles: Vec<Profile>,
    /// OS threads that could not be sampled, for lack of timers.
    pub threads_not_sampled: u64,
    /// Processor time of the thread that read the samples.
    pub reader_ns: u64,
}

const SIGNAL: i32 = libc::SIGPROF;

/// The most that the reader waits between two looks, and the number of samples of a thread that it aims at in between: at 10 kHz a ring holds as many with
/// 600 frames each. With half as many samples per look, the looks took 23 instead of 17 ms of each second at that rate.
const MAX_ROUND: Duration = Duration::from_millis(50);
const MIN_ROUND: Duration = Duration::from_millis(2);
const SAMPLES_A_ROUND: u32 = 100;

/// The threads being sampled, by the kernel's id; None while nothing is. Locked by hooks, for moments; no thread stops the world while it holds the lock.
static ARMED: Mutex<Option<Arming>> = Mutex::new(None);

struct Arming {
    rates: Rates,
    threads: FxHashMap<u32, threads::Armed>,
}

/// The reader, between `start` and `stop`.
static READER: Mutex<Option<Running>> = Mutex::new(None);

struct Running {
    reader: Reader,
    /// Processor time of the process's OS threads when sampling began.
    cpu_before: FxHashMap<u32, u64>,
    not_sampled_before: u64,
}

/// The reader's thread waits here; the number changes when it is to look at once.
static WAKE: WaitWord = WaitWord::new(0);
/// How many times sampling was begun; Relaxed: only compared.
static SESSIONS: AtomicU64 = AtomicU64::new(0);
/// The kernel's id of the reader's thread.
static READER_THREAD: Mutex<Option<u32>> = Mutex::new(None);

static HOOKS: CarrierHooks = CarrierHooks { attached, detaching };
static HAS_HOOKS: AtomicBool = AtomicBool::new(false);

/// Begins to record what the session asks for, of all threads that run managed code, now and later.
///
/// # Errors
/// The system's; and AlreadyExists if a session has begun already.
pub fn start(session: Session, resolve: Resolve) -> io::Result<()> {
    let mut running = READER.lock();
    if running.is_some() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let Session { timers, wall_hz, events, recordings, consumer } = session;
    signal::install(SIGNAL, handler::handle)?;
    ensure_reader_thread()?;
    let reader = Reader::new(recordings, consumer, resolve);
    // Relaxed: a count.
    let not_sampled_before = threads::NOT_SAMPLED.load(Ordering::Relaxed);
    *running = Some(Running { reader, cpu_before: cpu_of_threads(), not_sampled_before });
    drop(running);
    *ARMED.lock() = Some(Arming { rates: Rates { timers, wall_hz, events }, threads: FxHashMap::default() });
    events::take();
    events::listen(events);
    // Relaxed: under no lock, but a second `start` at the same time fails above.
    if HAS_HOOKS.swap(true, Ordering::Relaxed) {
        saki_thread::for_each_carrier(arm);
    } else {
        saki_thread::add_carrier_hooks(&HOOKS);
    }
    // Relaxed: only compared.
    let number = SESSIONS.fetch_add(1, Ordering::Relaxed) + 1;
    wake_reader();
    if let Some(hz) = wall_hz {
        saki_os::thread::start_service("profile-wall", move || {
            wall::run(interval(hz), || ARMED.lock().is_none() || SESSIONS.load(Ordering::Relaxed) != number);
        })?;
    }
    Ok(())
}

/// Makes the reader look at once.
pub(crate) fn wake_reader() {
    // Relaxed: only compared.
    WAKE.atomic().fetch_add(1, Ordering::Relaxed);
    WAKE.wake(1);
}

/// The record of an OS thread that is being sampled.
pub(crate) fn record_of(native_id: u32) -> Option<&'static threads::ThreadRecord> {
    ARMED.lock().as_ref()?.threads.get(&native_id).map(threads::Armed::record)
}

fn attached(carrier: &'static Carrier) {
    arm(carrier);
}

fn arm(carrier: &'static Carrier) {
    let mut guard = ARMED.lock();
    let Some(arming) = guard.as_mut() else { return };
    let Rates { timers, wall_hz, .. } = arming.rates;
    // The ring has room for whichever signals come more often.
    let Some(hz) = timers.map(|(_, hz)| hz).max(wall_hz) else { return };
    let native_id = carrier.native_id();
    if native_id == 0 || arming.threads.contains_key(&native_id) {
        return;
    }
    if let Some(armed) = threads::arm(native_id, SIGNAL, timers.map(|(clock, hz)| (clock, interval(hz))), hz) {
        arming.threads.insert(native_id, armed);
    }
}

fn detaching(carrier: &'static Carrier) {
    let armed = ARMED.lock().as_mut().and_then(|arming| arming.threads.remove(&carrier.native_id()));
    if let Some(armed) = armed {
        threads::disarm(armed);
    }
}

/// How long the reader may wait.
fn round() -> Option<Duration> {
    let Rates { timers, wall_hz, events } = ARMED.lock().as_ref()?.rates;
    let hz = timers.map(|(_, hz)| hz).max(wall_hz).unwrap_or(1).max(1);
    // Events come in bursts.
    let hz = if events.is_empty() { hz } else { u32::MAX };
    Some((Duration::from_secs(1) * SAMPLES_A_ROUND / hz).clamp(MIN_ROUND, MAX_ROUND))
}

fn ensure_reader_thread() -> io::Result<()> {
    let mut thread = READER_THREAD.lock();
    if thread.is_none() {
        saki_os::thread::start_service("profiler", || {
            *READER_THREAD.lock() = Some(saki_os::thread::native_id());
            loop {
                // Relaxed: only compared.
                let before = WAKE.atomic().load(Ordering::Relaxed);
                if let Some(running) = READER.lock().as_mut() {
                    running.reader.read();
                }
                WAKE.wait(before, round());
            }
        })?;
        *thread = Some(0);
    }
    Ok(())
}

/// Ends the session that `start` began, and returns its results; None if there was none.
pub fn stop() -> Option<Sampled> {
    /// Handlers take microseconds, unless their thread is not let run.
    const MAX_WAIT: Duration = Duration::from_millis(200);
    let arming = ARMED.lock().take()?;
    let counts_cpu = arming.rates.timers.is_some_and(|(clock, _)| clock == TimerClock::ThreadCpu);
    events::listen(Kinds::NONE);
    arming.threads.into_values().for_each(threads::disarm);
    let mut running = READER.lock().take()?;
    let deadline = std::time::Instant::now() + MAX_WAIT;
    while !running.reader.read() && std::time::Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(100));
    }
    running.reader.name_threads();
    let reader_thread = *READER_THREAD.lock();
    let mut reader_ns = 0;
    for (native_id, cpu_ns) in cpu_of_threads() {
        let cpu_ns = cpu_ns.saturating_sub(running.cpu_before.get(&native_id).copied().unwrap_or(0));
        if Some(native_id) == reader_thread {
            reader_ns = cpu_ns;
        } else if counts_cpu && !was_sampled(native_id) && cpu_ns > 0 {
            running.reader.add_unsampled(native_id, &name_of(native_id), cpu_ns);
        }
    }
    // Relaxed: a count.
    let threads_not_sampled = threads::NOT_SAMPLED.load(Ordering::Relaxed) - running.not_sampled_before;
    Some(Sampled { profiles: running.reader.finish(), threads_not_sampled, reader_ns })
}

/// Whether an OS thread that exists now is a carrier.
fn was_sampled(native_id: u32) -> bool {
    let mut is_carrier = false;
    saki_thread::for_each_carrier(|carrier| is_carrier |= carrier.native_id() == native_id);
    is_carrier
}

/// Processor time of the OS threads of the process, by the kernel's id.
fn cpu_of_threads() -> FxHashMap<u32, u64> {
    let folder = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let ids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.map(|id| (id, saki_os::clock::cpu_ns_of_thread(id))).collect()
}

/// The name of an OS thread.
fn name_of(native_id: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/self/task/{native_id}/comm"));
    name.map_or_else(|_| native_id.to_string(), |name| name.trim_end().to_owned())
}
