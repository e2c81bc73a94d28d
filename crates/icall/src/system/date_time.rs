//! System.DateTime.

use saki_runtime::{CurrentThread, InternalCall};

/// 100 ns intervals between 1601-01-01 and 1970-01-01.
const FILE_TIME_OF_UNIX_EPOCH: i64 = 116_444_736_000_000_000;
const NANOSECONDS_PER_TICK: u64 = 100;

fn system_time_as_file_time(t: CurrentThread) -> i64 {
    FILE_TIME_OF_UNIX_EPOCH + (t.vm().clock().realtime_ns() / NANOSECONDS_PER_TICK) as i64
}

/// The internal calls of `System.DateTime`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.DateTime::GetSystemTimeAsFileTime", &system_time_as_file_time)];
