//! Which process of a chain of forks this is.
//!
//! Left out: everything else about forks (`fork`).

use std::sync::atomic::{AtomicU32, Ordering};

/// How many forks lie between the first process with this machine and the present one. Relaxed: it changes while a child has one thread.
static PROCESS_NUMBER: AtomicU32 = AtomicU32::new(0);

/// A number that a process shares with none that it was forked from. Threads that have begun are in the registry, so a child knows that they have ended; of the
/// others, whose OS threads are about to begin or which wait in a queue, it knows by this number.
#[inline]
pub(crate) fn process_number() -> u32 {
    PROCESS_NUMBER.load(Ordering::Relaxed)
}

/// A forked child begins: it has one thread.
pub(crate) fn begin_child() {
    PROCESS_NUMBER.fetch_add(1, Ordering::Relaxed);
}
