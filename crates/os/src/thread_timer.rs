//! Timers that send a signal to one thread again and again.

use crate::error::check;
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

/// Sends its signal until dropped; one or two may still be on their way then.
pub struct ThreadTimer(libc::timer_t);

// SAFETY: a timer's id is a number of the process; any thread may delete it.
unsafe impl Send for ThreadTimer {}

impl ThreadTimer {
    /// Sends `signal` to a thread of this process every `interval` of wall time. timer_create(2), SIGEV_THREAD_ID.
    ///
    /// Errors: those of `timer_create`, EAGAIN for too many and EINVAL for an unknown thread among them.
    pub fn new(native_id: u32, signal: i32, interval: Duration) -> io::Result<ThreadTimer> {
        // SAFETY: all-zero is a valid `sigevent`.
        let mut event: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = native_id as i32;
        let mut id = MaybeUninit::<libc::timer_t>::uninit();
        // SAFETY: the event is initialised, the id writable.
        check(unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, id.as_mut_ptr()) })?;
        // SAFETY: set by the call that succeeded.
        let timer = ThreadTimer(unsafe { id.assume_init() });
        let interval = libc::timespec {
            tv_sec: interval.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(interval.subsec_nanos()),
        };
        let setting = libc::itimerspec { it_interval: interval, it_value: interval };
        // SAFETY: the timer exists, the setting is initialised, the old one is not asked for.
        check(unsafe { libc::timer_settime(timer.0, 0, &setting, std::ptr::null_mut()) })?;
        Ok(timer)
    }
}

impl Drop for ThreadTimer {
    fn drop(&mut self) {
        // SAFETY: the timer exists until here.
        unsafe { libc::timer_delete(self.0) };
    }
}
