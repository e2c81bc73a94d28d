//! The machine's clocks: monotonic time, the time of day, and processor time.
//!
//! All code of the machine reads time here. Normally the answers are the system's; a test can own them
//! ([`Clock::owned_by`]), so that an hour passes when the test says so. A value [`Clock`] says whose time it is; the
//! functions of this module read the machine's, for code that has no thread at hand. A [`Moment`] is a point of
//! monotonic time.
//!
//! Invariant: monotonic time never goes back, and reading it is async-signal-safe. Left out: time zones, timers;
//! waiting, which takes as long as the system says, whoever owns the clock.

use std::ops::{Add, Sub};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// A clock whose time passes when its owner says so.
#[derive(Debug, Default)]
pub struct OwnedTime {
    /// Relaxed: a number by itself, which orders nothing else.
    monotonic_ns: AtomicU64,
    /// Relaxed: likewise a number by itself.
    realtime_ns: AtomicU64,
}

impl OwnedTime {
    /// Monotonic time begins at 0.
    pub const fn starting_at(realtime_ns: u64) -> OwnedTime {
        OwnedTime { monotonic_ns: AtomicU64::new(0), realtime_ns: AtomicU64::new(realtime_ns) }
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        let by_ns = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.monotonic_ns.fetch_add(by_ns, Ordering::Relaxed);
        self.realtime_ns.fetch_add(by_ns, Ordering::Relaxed);
    }
}

/// Whose time it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock(Option<&'static OwnedTime>);

impl Clock {
    /// The system's time.
    pub const SYSTEM: Clock = Clock(None);

    /// A test's time. Processor time stays the system's.
    pub const fn owned_by(time: &'static OwnedTime) -> Clock {
        Clock(Some(time))
    }

    /// Nanoseconds since an arbitrary start (boot), without jumps.
    #[inline]
    pub fn monotonic_ns(self) -> u64 {
        self.0.map_or_else(|| read(libc::CLOCK_MONOTONIC), |time| time.monotonic_ns.load(Ordering::Relaxed))
    }

    /// Nanoseconds since 1970-01-01 UTC.
    #[inline]
    pub fn realtime_ns(self) -> u64 {
        self.0.map_or_else(|| read(libc::CLOCK_REALTIME), |time| time.realtime_ns.load(Ordering::Relaxed))
    }

    #[inline]
    pub fn now(self) -> Moment {
        Moment(self.monotonic_ns())
    }
}

/// The machine's clock; null is the system's. Set before the machine starts, so Relaxed.
static MACHINE: AtomicPtr<OwnedTime> = AtomicPtr::new(std::ptr::null_mut());

/// The clock of the machine in this process.
#[inline]
pub fn machine() -> Clock {
    // SAFETY: null, or what `set_machine` was given, which is never freed.
    Clock(unsafe { MACHINE.load(Ordering::Relaxed).as_ref() })
}

/// Decides whose time the machine runs by. To be called before it starts.
pub fn set_machine(clock: Clock) {
    MACHINE.store(clock.0.map_or(std::ptr::null_mut(), |time| std::ptr::from_ref(time).cast_mut()), Ordering::Relaxed);
}

/// `Clock::monotonic_ns` of the machine.
#[inline]
pub fn monotonic_ns() -> u64 {
    machine().monotonic_ns()
}

/// `Clock::realtime_ns` of the machine.
#[inline]
pub fn realtime_ns() -> u64 {
    machine().realtime_ns()
}

/// The machine's time of day, to compare with times of files.
pub fn system_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(realtime_ns())
}

/// The present moment of the machine.
#[inline]
pub fn now() -> Moment {
    machine().now()
}

/// The time of the kernel's last tick, nanoseconds: it changes once in some milliseconds, and is cheap to read.
pub fn tick_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC_COARSE)
}

/// Processor time of the calling thread, nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Processor time of a thread of this process, nanoseconds; 0 for a thread that has ended.
pub fn cpu_ns_of_thread(native_id: u32) -> u64 {
    read(crate::thread_timer::thread_cpu_clock(native_id))
}

/// Processor time of the process, nanoseconds.
pub fn process_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable; the clock ids used here exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A point of monotonic time, nanoseconds since the clock's start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Moment(u64);

impl Moment {
    /// Of the machine's clock.
    #[inline]
    pub fn now() -> Moment {
        now()
    }

    /// None: so late that it never comes.
    pub fn checked_add(self, time: Duration) -> Option<Moment> {
        self.0.checked_add(u64::try_from(time.as_nanos()).ok()?).map(Moment)
    }

    /// The time from `earlier` to this moment; none if that is later.
    pub fn saturating_duration_since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The time from this moment to the machine's present one.
    pub fn elapsed(self) -> Duration {
        now().saturating_duration_since(self)
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;

    /// The last moment of all, where the sum would be later.
    fn add(self, time: Duration) -> Moment {
        self.checked_add(time).unwrap_or(Moment(u64::MAX))
    }
}

impl Sub for Moment {
    type Output = Duration;

    fn sub(self, earlier: Moment) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_a_test_owns_passes_when_the_test_says_so() {
        static TIME: OwnedTime = OwnedTime::starting_at(1_000);
        let clock = Clock::owned_by(&TIME);
        let begun = clock.now();
        let deadline = begun + Duration::from_secs(3600);
        assert_eq!((clock.monotonic_ns(), clock.realtime_ns()), (0, 1_000));
        assert_eq!(deadline.saturating_duration_since(clock.now()), Duration::from_secs(3600));
        TIME.advance(Duration::from_secs(3601));
        assert!(clock.now() > deadline);
        assert_eq!(clock.now() - begun, Duration::from_secs(3601));
        assert_eq!(deadline.saturating_duration_since(clock.now()), Duration::ZERO);
        assert_eq!(clock.realtime_ns(), 3_601_000_001_000);
    }

    #[test]
    fn the_systems_time_goes_on() {
        let begun = Clock::SYSTEM.now();
        std::thread::sleep(Duration::from_millis(1));
        assert!(Clock::SYSTEM.now() - begun >= Duration::from_millis(1));
        assert_eq!(begun.checked_add(Duration::MAX), None);
        assert_eq!(begun + Duration::MAX, Moment(u64::MAX));
    }
}
