//! Clocks.
//!
//! Invariant: `monotonic_ns` never goes back and is async-signal-safe. Left out: time zones, timers.

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable; the clock ids used here exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds since an arbitrary start (boot), without jumps.
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since 1970-01-01 UTC.
pub fn realtime_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
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
