//! Spinning before a wait: pauses that double between looks, for about as long as a wait through the kernel costs.
//!
//! Invariant: a spinner looks often at first, since most sections are over within nanoseconds, and rarely later, so
//! that the cache line stays with the owner: then contending threads take the lock in turns of many sections each, at
//! nearly the speed of one thread. The spin is limited by time, because the pause instruction takes 3 to 140 cycles
//! depending on the processor. Left out: the condition that is spun on, and adaptive statistics (a spin that fails
//! costs at most as much as the sleep after it).

#[cfg(not(loom))]
use saki_os::clock::Moment;
use std::time::Duration;

/// About the cost of a park and its wake (13–23 µs), so that a useless spin at most doubles the cost of waiting.
#[cfg(not(loom))]
const MAX_SPIN: Duration = Duration::from_micros(15);
/// About 3 µs between looks (22 ns a pause on the machine measured): up to this value, longer steps increased
/// throughput.
#[cfg(not(loom))]
const MAX_PAUSES: u32 = 128;
/// 0.4 to 1 µs. A look sooner takes the cache line from the owner at nearly every turn: half the throughput of short
/// sections.
#[cfg(not(loom))]
const PATIENT_PAUSES: u32 = 32;
/// Looks before the clock is read, which costs as much as a pause: 0.35 µs.
#[cfg(not(loom))]
const UNTIMED_PAUSES: u32 = 8;

/// The state of one spin.
#[cfg(not(loom))]
pub struct Backoff {
    pauses: u32,
    /// Different for each thread, so that spinners do not look in step.
    jitter: u32,
    end: Option<Moment>,
}

#[cfg(not(loom))]
impl Backoff {
    /// `seed` differs between threads: a managed id.
    #[inline]
    pub fn new(seed: u32) -> Backoff {
        Backoff { pauses: 1, jitter: seed.wrapping_mul(0x9e37_79b9) | 1, end: None }
    }

    /// Starts with long steps: for locks known to be contended.
    #[inline]
    pub fn patient(seed: u32) -> Backoff {
        Backoff { pauses: PATIENT_PAUSES, ..Backoff::new(seed) }
    }

    /// Pauses; `false`, without a pause, after the first few looks (0.35 µs): for callers that wait longer in another
    /// way.
    pub fn spin_briefly(&mut self) -> bool {
        self.pauses <= UNTIMED_PAUSES && self.spin()
    }

    /// Pauses; `false`, without a pause, when the time for spinning is over.
    pub fn spin(&mut self) -> bool {
        if self.pauses > UNTIMED_PAUSES {
            let now = Moment::now();
            if now >= *self.end.get_or_insert(now + MAX_SPIN) {
                return false;
            }
        }
        // xorshift32: cheap, never 0.
        self.jitter ^= self.jitter << 13;
        self.jitter ^= self.jitter >> 17;
        self.jitter ^= self.jitter << 5;
        // Half to three halves of the step.
        for _ in 0..self.pauses.div_ceil(2) + self.jitter % self.pauses {
            std::hint::spin_loop();
        }
        self.pauses = (self.pauses * 2).min(MAX_PAUSES);
        true
    }
}

/// Models: one look more, as a scheduling point.
#[cfg(loom)]
pub struct Backoff(bool);

#[cfg(loom)]
impl Backoff {
    pub fn new(_seed: u32) -> Backoff {
        Backoff(false)
    }

    pub fn patient(seed: u32) -> Backoff {
        Backoff::new(seed)
    }

    pub fn spin(&mut self) -> bool {
        if self.0 {
            return false;
        }
        self.0 = true;
        loom::thread::yield_now();
        true
    }

    pub fn spin_briefly(&mut self) -> bool {
        self.spin()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_spin_ends_in_bounded_time() {
        let start = Moment::now();
        let mut backoff = Backoff::new(7);
        let mut looks = 0;
        while backoff.spin() {
            looks += 1;
        }
        assert!(looks > 4 && start.elapsed() >= MAX_SPIN, "{looks} looks");
        assert!(!backoff.spin(), "over is over");
    }
}
