//! Waiting on a word of memory, within this process.
//!
//! Invariant: `wait` sleeps only while the word holds `expected`; spurious returns are possible and reported as
//! `Woken`. Left out: queues and fairness (see `sync`).

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Why `wait` returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitEnd {
    /// Woken, spuriously or by `wake`, or interrupted by a signal.
    Woken,
    /// The word did not hold the expected value.
    ValueDiffers,
    TimedOut,
}

/// Sleeps while `word == expected`; `timeout` is relative, on the monotonic clock; `None` waits for ever.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> WaitEnd {
    let spec = timeout.map(|t| libc::timespec {
        tv_sec: t.as_secs().min(i64::MAX as u64) as i64,
        tv_nsec: i64::from(t.subsec_nanos()),
    });
    let spec_ptr = spec.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: `word` is borrowed for the call, `spec_ptr` is null or points at `spec`, which outlives it.
    let result = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, expected, spec_ptr) };
    if result == 0 {
        return WaitEnd::Woken;
    }
    match crate::error::errno() {
        libc::ETIMEDOUT => WaitEnd::TimedOut,
        libc::EAGAIN => WaitEnd::ValueDiffers,
        _ => WaitEnd::Woken,
    }
}

/// Wakes at most `count` waiters; returns how many. The kernel only compares the word's address.
pub fn wake(word: &AtomicU32, count: u32) -> u32 {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: FUTEX_WAKE does not access the word.
    let woken = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, count.min(i32::MAX as u32)) };
    woken.max(0) as u32
}

/// Wakes every waiter.
pub fn wake_all(word: &AtomicU32) -> u32 {
    wake(word, u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn wait_ends_by_value_timeout_and_wake() {
        let word = AtomicU32::new(1);
        assert_eq!(wait(&word, 2, None), WaitEnd::ValueDiffers);
        assert_eq!(wait(&word, 1, Some(Duration::from_millis(2))), WaitEnd::TimedOut);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while word.load(Ordering::Acquire) == 1 {
                    wait(&word, 1, None);
                }
            });
            word.store(3, Ordering::Release);
            wake_all(&word);
        });
    }
}
