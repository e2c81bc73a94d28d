//! Stops of the world that do not wait for every thread. Apart from other tests: threads that do not stop would keep
//! their stops from coming to an end.

#![cfg(not(loom))]

use saki_thread::{
    ManagedThread, StopReason, ThreadKind, resume_the_world, spawn, stop_the_world, visit_stopping_threads,
    with_world_stopped,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A thread that a signal ends, and one that waits for its locks, never stop.
#[test]
fn threads_that_do_not_stop_are_visited_as_running() {
    static STEP: AtomicU64 = AtomicU64::new(0);
    let wait_for = |step: u64| {
        while STEP.load(Ordering::Acquire) < step {
            std::hint::spin_loop();
        }
    };
    let deaf = |_: &'static ManagedThread| {
        STEP.fetch_add(1, Ordering::Release);
        while STEP.load(Ordering::Acquire) < 4 {
            std::hint::spin_loop();
        }
    };
    let (ending, stuck) =
        (spawn(ThreadKind::Background, None, 0, deaf).unwrap(), spawn(ThreadKind::Background, None, 0, deaf).unwrap());
    let polling = spawn(ThreadKind::Background, None, 0, |thread| {
        STEP.fetch_add(1, Ordering::Release);
        while STEP.load(Ordering::Acquire) < 4 {
            thread.poll();
        }
    })
    .unwrap();
    wait_for(3);
    let expected = [None, Some(false), Some(true)];
    let look = || {
        let mut found = [None; 3];
        // On a busy machine the thread that polls may get no turn in a short time.
        for patience_ms in [100, 1000, 10_000] {
            let mut seen = Vec::new();
            let visit = |thread: &'static ManagedThread, has_stopped| seen.push((thread.managed_id(), has_stopped));
            let is_visited =
                visit_stopping_threads(Some(ending.as_static()), Duration::from_millis(patience_ms), visit);
            let of = |id: u32| seen.iter().find(|(seen, _)| *seen == id).map(|(_, has_stopped)| *has_stopped);
            found = [&ending, &stuck, &polling].map(|thread| of(thread.managed_id()));
            if is_visited && found == expected {
                break;
            }
        }
        found
    };
    let found = look();
    // A stop that waits for the thread never comes to its end.
    let stopper = std::thread::spawn(|| with_world_stopped(StopReason::Test, |_| ()));
    while visit_stopping_threads(None, Duration::from_millis(1), |_, _| ()) {}
    let found_in_stop = look();
    // The machine goes on afterwards.
    STEP.store(4, Ordering::Release);
    stopper.join().unwrap();
    for thread in [&ending, &stuck, &polling] {
        assert!(thread.join(None));
    }
    assert_eq!((found, found_in_stop), (expected, expected));
    let token = stop_the_world(StopReason::Test);
    assert!(!visit_stopping_threads(None, Duration::from_millis(10), |_, _| panic!("the world is stopped")));
    resume_the_world(token);
    // Nor are there visits when a signal ends the thread that has stopped the world.
    let stopper = spawn(ThreadKind::Background, None, 0, |_| {
        with_world_stopped(StopReason::Test, |_| {
            STEP.store(5, Ordering::Release);
            // Not for ever, so that the test fails rather than hangs.
            let end = Instant::now() + Duration::from_secs(20);
            while STEP.load(Ordering::Acquire) < 6 && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    });
    let stopper = stopper.unwrap();
    wait_for(5);
    assert!(!visit_stopping_threads(Some(stopper.as_static()), Duration::from_millis(10), |_, _| ()));
    STEP.store(6, Ordering::Release);
    assert!(stopper.join(None));
}
