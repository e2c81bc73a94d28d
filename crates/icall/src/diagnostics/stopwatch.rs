//! System.Diagnostics.Stopwatch, which counts 100 ns ticks.

use saki_runtime::{CurrentThread, InternalCall};

const NANOSECONDS_PER_TICK: u64 = 100;

fn timestamp(t: CurrentThread) -> i64 {
    (t.vm().clock().monotonic_ns() / NANOSECONDS_PER_TICK) as i64
}

/// The internal calls of `System.Diagnostics.Stopwatch`.
pub const TABLE: &[InternalCall] = &[InternalCall::new("System.Diagnostics.Stopwatch::GetTimestamp", &timestamp)];
