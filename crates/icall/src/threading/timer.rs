//! System.Threading.Timer: the clock behind the class library's timer thread.

use saki_runtime::{CurrentThread, InternalCall};

const NS_PER_TICK: u64 = 100;

/// 100-ns ticks since a fixed moment.
fn time_monotonic(t: CurrentThread) -> i64 {
    (t.vm().clock().monotonic_ns() / NS_PER_TICK) as i64
}

/// The internal calls of `System.Threading.Timer`.
pub const TABLE: &[InternalCall] = &[InternalCall::new("System.Threading.Timer::GetTimeMonotonic", &time_monotonic)];
