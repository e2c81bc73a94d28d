//! Times of the collection under way, for the policy, the statistics and the client (`gc::Collection`).

use saki_base::locks::{Mutex, rank};
use saki_os::clock::Moment;
use std::time::Duration;

#[derive(Clone, Copy, Default)]
struct Clock {
    last_start: Option<Moment>,
    /// Times of the collection under way: when the world had stopped, when weak processing began, and when it last
    /// ended.
    stopped: Option<Moment>,
    weak_start: Option<Moment>,
    weak_end: Option<Moment>,
    /// The thread that noted the start, and its processor time then.
    starter: (u32, Duration),
    last_end: Option<Moment>,
}

static CLOCK: Mutex<rank::CollectionClock, Clock> = Mutex::new(Clock {
    last_start: None,
    stopped: None,
    weak_start: None,
    weak_end: None,
    starter: (0, Duration::ZERO),
    last_end: None,
});

/// The pause begins: called when the collector asks the world to stop.
pub(super) fn note_pause_start() {
    let mut clock = CLOCK.lock();
    *clock = Clock {
        last_start: Some(Moment::now()),
        starter: processor_time(),
        last_end: clock.last_end,
        ..Clock::default()
    };
}

/// All threads have stopped.
pub(super) fn note_stopped() {
    CLOCK.lock().stopped = Some(Moment::now());
}

/// All strongly reachable objects are marked, and weak processing begins. Called several times, since weak processing
/// may reach more objects.
pub(super) fn note_weak_start() {
    CLOCK.lock().weak_start.get_or_insert_with(Moment::now);
}

/// Weak processing has ended.
pub(super) fn note_weak_end() {
    CLOCK.lock().weak_end = Some(Moment::now());
}

/// The calling thread and the processor time it has had.
fn processor_time() -> (u32, Duration) {
    (saki_os::thread::native_id(), Duration::from_nanos(saki_os::clock::thread_cpu_ns()))
}

/// The times of a collection that has ended.
pub(super) struct Times {
    pub(super) pause: Duration,
    /// Processor time of the collector in the pause.
    pub(super) work: Duration,
    /// Between the end of the collection before and the start of this one.
    pub(super) mutator_time: Duration,
    /// As in `gc::Collection`.
    pub(super) steps: [Moment; 5],
}

/// The pause ends.
pub(super) fn note_end() -> Times {
    let now = Moment::now();
    let mut clock = CLOCK.lock();
    let start = clock.last_start.unwrap_or(now);
    let pause = now - start;
    // With several collector threads another one may end the pause: then all of it counts as work.
    let (thread, had) = clock.starter;
    let work = Some(processor_time()).filter(|now| now.0 == thread).map_or(pause, |now| now.1 - had);
    let mutator_time = clock.last_end.map_or(Duration::ZERO, |end| start.saturating_duration_since(end));
    clock.last_end = Some(now);
    // A step that did not come took no time.
    let stopped = clock.stopped.unwrap_or(start);
    let weak_start = clock.weak_start.unwrap_or(now);
    let steps = [start, stopped, weak_start, clock.weak_end.unwrap_or(now), now];
    Times { pause, work, mutator_time, steps }
}
