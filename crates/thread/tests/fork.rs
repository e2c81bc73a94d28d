//! A forked child goes on whatever the threads that it does not have were in the middle of.
#![cfg(not(loom))]

use saki_os::{ForkActions, ForkStage, on_fork};
use saki_thread::cold_stack::while_moving;
use saki_thread::{StopReason, ThreadKind, attach_current, with_world_stopped};
use std::sync::atomic::{AtomicU32, Ordering};

/// The kernel's id of the thread that is about to move a stack; 0: there is none yet.
static MOVER: AtomicU32 = AtomicU32::new(0);

/// A child that hangs ends after so many seconds.
const CHILD_LIMIT_SECONDS: u32 = 20;

/// Whether the thread sleeps in the kernel.
fn is_asleep(native_id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{native_id}/stat")).unwrap();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S'))
}

/// Stops the world, and waits until the mover waits for the stop to end: it sleeps, and nothing else can make it sleep.
fn stop_while_a_stack_is_about_to_move() {
    saki_thread::fork::stop();
    saki_os::thread::start(Some("mover"), 1 << 20, |_| {
        MOVER.store(saki_os::thread::native_id(), Ordering::Release);
        while_moving(|| ());
    })
    .unwrap();
    let mover = loop {
        match MOVER.load(Ordering::Acquire) {
            0 => std::thread::yield_now(),
            mover => break mover,
        }
    };
    while !is_asleep(mover) {
        std::thread::yield_now();
    }
}

#[test]
fn a_child_stops_its_world_although_a_stack_was_about_to_move_at_the_fork() {
    attach_current(ThreadKind::Background);
    let world = ForkActions {
        prepare: stop_while_a_stack_is_about_to_move,
        parent: saki_thread::fork::resume,
        ..ForkActions::NONE
    };
    on_fork(ForkStage::World, world);
    saki_thread::fork::start();
    saki_os::fork::register().unwrap();
    // SAFETY: the child uses what the fork has made ready, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: no preconditions.
        unsafe { libc::alarm(CHILD_LIMIT_SECONDS) };
        with_world_stopped(StopReason::Test, |_| ());
        while_moving(|| ());
        with_world_stopped(StopReason::Test, |_| ());
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child hung");
    with_world_stopped(StopReason::Test, |_| ());
}
