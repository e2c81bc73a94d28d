//! Forks of a running machine: native code may call `fork`, and the child goes on with the one thread that called it.
//!
//! The C library calls three functions around a fork. Before it, in `prepare`, the parts bring themselves to rest, so
//! that no other thread holds a lock of theirs or is in the middle of a change. After it they go on in the parent, and
//! in the child they forget the other threads, which do not exist there. A child that only calls `exec` must not pay
//! for more. So threads are started again (`restart`) when the child first comes back to the machine.
//!
//! | `CHILD` | meaning | who moves it |
//! |---|---|---|
//! | NONE | not a child, or everything was restarted | `restart_if_child` |
//! | PENDING | a child that has not come back to the machine | the forking thread, in the child |
//! | RESTARTING | a thread starts the parts again; others wait for it | `restart_if_child`: CAS |
//!
//! Acquire and Release throughout: a thread that sees NONE sees the parts restarted.
//!
//! Invariant: the parts are at rest from `prepare` until the fork; each action neither unwinds nor ends the process.
//! Left out: `vfork` and `posix_spawn`, whose children share the parent's memory until they call `exec`, and calls that
//! the C library does not see (`clone`).

use crate::error::errno;
use crate::futex;
use std::cell::Cell;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The parts, in the order in which they come to rest and go on in a child; in the parent they go on in the opposite
/// order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum ForkStage {
    /// Managed threads stop, and the collector's threads end.
    World,
    /// The lists of threads and carriers: the child's is alone.
    Threads,
    /// The child gets a scheduler of its own.
    Scheduler,
    /// The child gets a code region of its own.
    Code,
    /// Waiting for descriptors.
    Reactor,
    /// Locks and threads of the machine as a whole.
    Machine,
    /// What internal calls keep: the thread pool, handles that threads wait for, processes.
    Calls,
}

const STAGES: usize = ForkStage::Calls as usize + 1;

/// What a part does around a fork.
#[derive(Clone, Copy)]
pub struct ForkActions {
    /// Before the fork, on the thread that forks.
    pub prepare: fn(),
    /// After it, on the same thread.
    pub parent: fn(),
    /// In the child, on its only thread. Starts no thread.
    pub child: fn(),
    /// In the child, when a thread of it comes back to the machine.
    pub restart: fn(),
}

fn nothing() {}

impl ForkActions {
    pub const NONE: ForkActions = ForkActions { prepare: nothing, parent: nothing, child: nothing, restart: nothing };
}

static ACTIONS: [OnceLock<ForkActions>; STAGES] = [const { OnceLock::new() }; STAGES];

const NONE: u32 = 0;
const PENDING: u32 = 1;
const RESTARTING: u32 = 2;

static CHILD: AtomicU32 = AtomicU32::new(NONE);
/// Relaxed: set on the only thread of a child.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread forks without the machine (`plainly`).
    static IS_PLAIN: Cell<bool> = const { Cell::new(false) };
}

/// Adds a part. The first actions of a stage stay.
pub fn on_fork(stage: ForkStage, actions: ForkActions) {
    let _ = ACTIONS[stage as usize].set(actions);
}

/// Asks the C library to call the parts' actions; once, after they were added.
///
/// # Errors
/// The C library's, when it has no memory.
pub fn register() -> io::Result<()> {
    // SAFETY: functions without arguments that do not unwind, and stay.
    match unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Runs `f`, whose forks concern no part: the child calls nothing of the machine before it calls `exec` or `_exit`, or
/// looks after its threads itself.
pub fn plainly<R>(f: impl FnOnce() -> R) -> R {
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            IS_PLAIN.set(self.0);
        }
    }
    let _back = Back(IS_PLAIN.replace(true));
    f()
}

/// Whether the process is a child that was forked off a running machine.
pub fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// Whether the process is a child whose parts have not been restarted.
pub fn is_restart_due() -> bool {
    CHILD.load(Ordering::Acquire) != NONE
}

fn actions() -> impl DoubleEndedIterator<Item = &'static ForkActions> {
    ACTIONS.iter().filter_map(OnceLock::get)
}

/// `errno` belongs to the caller of `fork`.
fn keeping_errno(f: impl FnOnce()) {
    let before = errno();
    f();
    crate::error::set_errno(before);
}

extern "C" fn prepare() {
    if !IS_PLAIN.get() {
        // A child that forks before it came back to the machine has nothing to bring to rest but what the restart
        // makes.
        restart_if_child();
        keeping_errno(|| actions().for_each(|actions| (actions.prepare)()));
    }
}

extern "C" fn parent() {
    if !IS_PLAIN.get() {
        keeping_errno(|| actions().rev().for_each(|actions| (actions.parent)()));
    }
}

extern "C" fn child() {
    IS_CHILD.store(true, Ordering::Relaxed);
    if !IS_PLAIN.get() {
        crate::services::machine().forget_all();
        CHILD.store(PENDING, Ordering::Release);
        // The child has one thread, which frees the locks of the others.
        saki_base::locks::order::alone(|| keeping_errno(|| actions().for_each(|actions| (actions.child)())));
    }
}

/// To be called where a thread comes back to the machine from native code: restarts the parts of a child, once.
pub fn restart_if_child() {
    if !is_restart_due() {
        return;
    }
    thread_local!(static IS_MINE: Cell<bool> = const { Cell::new(false) });
    // Acquire: the thread that restarts the parts sees what `child` did before its Release, and one that finds NONE
    // instead sees the parts restarted. The Release half publishes nothing: RESTARTING only makes threads wait.
    if CHILD.compare_exchange(PENDING, RESTARTING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        IS_MINE.set(true);
        keeping_errno(|| actions().for_each(|actions| (actions.restart)()));
        IS_MINE.set(false);
        CHILD.store(NONE, Ordering::Release);
        futex::wake_all(&CHILD);
    }
    // Threads of native code that come to the machine meanwhile wait. Those that the restart starts do not come here:
    // it may wait for them.
    while !IS_MINE.get() && CHILD.load(Ordering::Acquire) == RESTARTING {
        futex::wait(&CHILD, RESTARTING, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static SEEN: Mutex<Vec<&str>> = Mutex::new(Vec::new());

    fn see(what: &'static str) {
        SEEN.lock().unwrap().push(what);
    }

    fn fork(in_child: impl FnOnce() -> i32) -> i32 {
        let mut status = 0;
        // SAFETY: the child calls what the test gives it, and ends.
        match unsafe { libc::fork() } {
            // SAFETY: ends the child.
            0 => unsafe { libc::_exit(in_child()) },
            // SAFETY: waits for the child just made.
            pid => assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid),
        }
        libc::WEXITSTATUS(status)
    }

    #[test]
    fn parts_rest_before_a_fork_and_go_on_after_it_in_their_order() {
        let first = ForkActions {
            prepare: || see("first rests"),
            parent: || see("first goes on"),
            child: || see("first in the child"),
            restart: || see("first again"),
        };
        let second = ForkActions { prepare: || see("second rests"), parent: || see("second goes on"), ..first };
        on_fork(ForkStage::Scheduler, ForkActions { child: nothing, restart: nothing, ..second });
        on_fork(ForkStage::World, first);
        register().unwrap();
        let code = fork(|| {
            let before = is_restart_due() && is_child();
            restart_if_child();
            let after = !is_restart_due() && is_child();
            let seen = SEEN.lock().unwrap();
            let is_right = *seen == ["first rests", "second rests", "first in the child", "first again"];
            i32::from(before) | i32::from(after) << 1 | i32::from(is_right) << 2
        });
        assert_eq!(code, 7);
        assert_eq!(*SEEN.lock().unwrap(), ["first rests", "second rests", "second goes on", "first goes on"]);
        SEEN.lock().unwrap().clear();
        assert_eq!(plainly(|| fork(|| i32::from(is_restart_due()))), 0);
        assert!(SEEN.lock().unwrap().is_empty() && !is_child());
    }
}
