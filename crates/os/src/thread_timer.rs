//! Timers that send a signal to one thread periodically.

use crate::error::check;
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

/// Sends its signal until dropped; one or two may still be on their way then.
pub struct ThreadTimer(libc::timer_t);

// SAFETY: a timer's id is a number of the process; any thread may delete it.
unsafe impl Send for ThreadTimer {}

/// The clock that a timer counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerClock {
    /// Wall time.
    Monotonic,
    /// Processor time of the thread that gets the signals.
    ThreadCpu,
}

/// A timer that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct TimerSetting {
    pub clock: TimerClock,
    pub signal: i32,
    /// Comes with each signal (`FaultContext::timer`).
    pub value: usize,
    /// Until the first signal; not 0.
    pub first: Duration,
    pub interval: Duration,
}

impl ThreadTimer {
    /// Sends `signal` to a thread of this process every `interval` of wall time.
    ///
    /// Errors: those of `start`.
    pub fn new(native_id: u32, signal: i32, interval: Duration) -> io::Result<ThreadTimer> {
        let setting = TimerSetting { clock: TimerClock::Monotonic, signal, value: 0, first: interval, interval };
        ThreadTimer::start(native_id, &setting)
    }

    /// Begins to send signals to a thread of this process. timer_create(2), SIGEV_THREAD_ID.
    ///
    /// Errors: those of `timer_create`, EAGAIN for too many and EINVAL for an unknown thread among them.
    pub fn start(native_id: u32, setting: &TimerSetting) -> io::Result<ThreadTimer> {
        // SAFETY: all-zero is a valid `sigevent`.
        let mut event: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = setting.signal;
        event.sigev_value.sival_ptr = setting.value as *mut libc::c_void;
        event.sigev_notify_thread_id = native_id as i32;
        let clock = match setting.clock {
            TimerClock::Monotonic => libc::CLOCK_MONOTONIC,
            TimerClock::ThreadCpu => thread_cpu_clock(native_id),
        };
        let mut id = MaybeUninit::<libc::timer_t>::uninit();
        // SAFETY: the event is initialised, the id writable.
        check(unsafe { libc::timer_create(clock, &mut event, id.as_mut_ptr()) })?;
        // SAFETY: set by the call that succeeded.
        let timer = ThreadTimer(unsafe { id.assume_init() });
        let time = |duration: Duration| libc::timespec {
            tv_sec: duration.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(duration.subsec_nanos()),
        };
        let setting = libc::itimerspec { it_interval: time(setting.interval), it_value: time(setting.first) };
        // SAFETY: the timer exists, the setting is initialised, the old one is not asked for.
        check(unsafe { libc::timer_settime(timer.0, 0, &setting, std::ptr::null_mut()) })?;
        Ok(timer)
    }
}

/// The clock of a thread's processor time, which the C library gives for its own threads' handles only: the kernel's
/// encoding (MAKE_THREAD_CPUCLOCK, in use since Linux 2.6.12 and part of its interface).
pub(crate) fn thread_cpu_clock(native_id: u32) -> libc::clockid_t {
    const PER_THREAD: i32 = 4;
    const SCHEDULED: i32 = 2;
    (!(native_id as i32) << 3) | PER_THREAD | SCHEDULED
}

impl Drop for ThreadTimer {
    fn drop(&mut self) {
        // SAFETY: the timer exists until here.
        unsafe { libc::timer_delete(self.0) };
    }
}
