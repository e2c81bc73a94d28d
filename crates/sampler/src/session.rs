//! Sessions: what is to be recorded, and beginning and ending that.

use crate::carriers::{self, Rates, interval};
use crate::events::{self, Consumer, Kinds};
use crate::reader::{Reader, Resolve};
use crate::reader_thread::{self, READER, Running};
use crate::recording::Recording;
use crate::unsampled::Unsampled;
use crate::wake::wake_reader;
use crate::{handler, threads, wall};
use saki_os::clock::Moment;
use saki_os::services::{self, Service};
use saki_os::{TimerClock, signal};
use saki_profile::Profile;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The recordings of a session, their rates and their consumer, in any combination.
#[derive(Default)]
pub struct Session {
    /// Timer signals: the clock that drives them and the rate in Hz (at least 1).
    pub timers: Option<(TimerClock, u32)>,
    /// Samples of all threads by wall-clock time: the rate in Hz (at least 1).
    pub wall_hz: Option<u32>,
    /// The kinds of events; all events of these kinds are recorded.
    pub events: Kinds,
    pub recordings: Vec<Recording>,
    /// Gets everything as well.
    pub consumer: Option<Box<dyn Consumer>>,
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

/// How many times sampling was begun; Relaxed: only compared.
static SESSIONS: AtomicU64 = AtomicU64::new(0);

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
    signal::install(carriers::SIGNAL, handler::handle)?;
    reader_thread::ensure()?;
    let reader = Reader::new(recordings, consumer, resolve);
    // Relaxed: a count.
    let not_sampled_before = threads::NOT_SAMPLED.load(Ordering::Relaxed);
    *running = Some(Running { reader, unsampled: Unsampled::begin(), not_sampled_before });
    drop(running);
    carriers::begin(Rates { timers, wall_hz, events });
    events::take();
    events::listen(events);
    carriers::arm_all();
    // Relaxed: only compared.
    let number = SESSIONS.fetch_add(1, Ordering::Relaxed) + 1;
    wake_reader();
    if let Some(hz) = wall_hz {
        services::machine().start(Service::ProfileWall, move || {
            wall::run(interval(hz), || {
                services::machine().is_ending()
                    || carriers::rates().is_none()
                    || SESSIONS.load(Ordering::Relaxed) != number
            });
        })?;
    }
    Ok(())
}

/// Ends the session that `start` began, and returns its results; None if there was none.
pub fn stop() -> Option<Sampled> {
    /// Handlers take microseconds, unless their thread is not let run.
    const MAX_WAIT: Duration = Duration::from_millis(200);
    let arming = carriers::end()?;
    let counts_cpu = arming.rates.counts_cpu();
    events::listen(Kinds::NONE);
    arming.threads.into_values().for_each(threads::disarm);
    let mut running = READER.lock().take()?;
    let deadline = Moment::now() + MAX_WAIT;
    while !running.reader.read() && Moment::now() < deadline {
        std::thread::sleep(Duration::from_micros(100));
    }
    running.reader.name_threads();
    let reader_ns = running.unsampled.end(&mut running.reader, counts_cpu);
    // Relaxed: a count.
    let threads_not_sampled = threads::NOT_SAMPLED.load(Ordering::Relaxed) - running.not_sampled_before;
    Some(Sampled { profiles: running.reader.finish(), threads_not_sampled, reader_ns })
}
