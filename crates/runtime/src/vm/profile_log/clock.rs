//! The clock of the log.

pub(super) fn now_ns() -> u64 {
    saki_os::clock::monotonic_ns()
}
