//! Which process of a chain of forks this is.
//!
//! Left out: everything else about forks (`fork`).

use std::sync::atomic::{AtomicU32, Ordering};

/// How many forks lie between the first process with this machine and the present one. Relaxed: it changes while a
/// child has one thread.
static PROCESS_NUMBER: AtomicU32 = AtomicU32::new(0);

/// A number that a process shares with none that it was forked from. Threads that have begun are in the registry, so a
/// child knows that they have ended; of the others, whose OS threads are about to begin or which wait in a queue, it
/// knows by this number.
#[inline]
pub(crate) fn process_number() -> u32 {
    PROCESS_NUMBER.load(Ordering::Relaxed)
}

/// A forked child begins: it has one thread.
pub(crate) fn begin_child() {
    PROCESS_NUMBER.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::begin_child;
    use crate::managed_thread::{ATTACHED, ThreadKind};
    use crate::registry::{ThreadRef, attach_current, detach_current};
    use std::sync::atomic::Ordering;

    /// A child that hangs ends after so many seconds.
    const CHILD_LIMIT_SECONDS: u32 = 20;

    #[test]
    fn a_child_does_not_wait_for_a_thread_that_was_telling_its_end_at_the_fork() {
        let me = attach_current(ThreadKind::Background);
        let other = ThreadRef::create(ThreadKind::Background, None);
        // As it leaves the list of threads: it is not marked as ended yet, and its list of joiners may be locked.
        other.lifecycle.store(ATTACHED, Ordering::Release);
        let joiners = other.joiners.lock();
        // SAFETY: the child touches words of these two threads, and ends.
        let child = saki_os::fork::plainly(|| unsafe { libc::fork() });
        if child == 0 {
            // SAFETY: no preconditions.
            unsafe { libc::alarm(CHILD_LIMIT_SECONDS) };
            begin_child();
            me.join_this_process();
            let is_right = !me.is_detached() && other.is_detached() && other.join(None);
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(is_right)) };
        }
        let mut status = 0;
        // SAFETY: waits for the child just made.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1, "{status:#x}");
        assert!(!other.is_detached(), "the parent's thread has not ended");
        drop(joiners);
        detach_current();
    }
}
