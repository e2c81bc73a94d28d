//! Tests of each way out of a sleep, and a storm in which no task may be left behind.

use super::*;
use crate::Injector;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Instant;

fn no_poller() {
    panic!("nobody polls");
}

fn no_look() -> Option<()> {
    None
}

#[test]
fn a_carrier_that_finds_something_does_not_sleep() {
    let idle = IdleCarriers::new(2, no_poller);
    assert!(!idle.has_idle());
    let end = idle.sleep(
        1,
        false,
        || None,
        || {
            assert_eq!(idle.counts(), (1, 0));
            assert!(idle.has_idle());
            Some(7)
        },
    );
    assert_eq!(end, SleepEnd::Found(7));
    assert_eq!(idle.counts(), (0, 1), "it searches");
    assert!(!idle.wake_one());
    idle.stop_searching(|| false);
    assert_eq!(idle.counts(), (0, 0));
}

#[test]
fn a_sleep_ends_at_its_deadline() {
    let idle = IdleCarriers::new(1, no_poller);
    let begun = Instant::now();
    assert_eq!(idle.sleep(0, false, || Some(monotonic_ns() + 5_000_000), no_look), SleepEnd::TimedOut);
    assert!(begun.elapsed() >= Duration::from_millis(5));
    assert_eq!(idle.sleep(0, true, || Some(0), no_look), SleepEnd::TimedOut);
    idle.stop_searching(|| false);
    assert_eq!(idle.counts(), (0, 0));
}

#[test]
fn nobody_is_woken_while_somebody_searches() {
    let idle = IdleCarriers::new(4, no_poller);
    assert!(idle.start_searching());
    let end = idle.sleep(
        0,
        false,
        || None,
        || {
            assert_eq!(idle.counts(), (1, 1));
            assert!(!idle.has_idle() && !idle.wake_one());
            // The last searcher finds work, and more.
            idle.stop_searching(|| true);
            assert_eq!(idle.counts(), (0, 1));
            None::<()>
        },
    );
    assert_eq!(end, SleepEnd::Woken);
    assert!(idle.start_searching(), "a second of four");
    assert!(!idle.start_searching(), "half of them");
    idle.stop_searching(|| panic!("another one searches"));
    idle.stop_searching(|| panic!("nobody is idle"));
}

#[test]
fn a_certain_carrier_is_woken_though_another_searches() {
    let idle = IdleCarriers::new(4, no_poller);
    assert!(idle.start_searching());
    let end = idle.sleep(
        2,
        false,
        || None,
        || {
            assert!(!idle.wake(1));
            assert!(idle.wake(2) && !idle.wake(2));
            None::<()>
        },
    );
    assert_eq!(end, SleepEnd::Woken);
    let found = idle.sleep(
        2,
        true,
        || None,
        || {
            assert!(idle.wake(2));
            Some(())
        },
    );
    assert_eq!(found, SleepEnd::Found(()), "its notice is taken back");
    assert_eq!(idle.sleep(2, true, || Some(0), no_look), SleepEnd::TimedOut);
    assert_eq!(idle.counts(), (0, 2));
}

#[test]
fn a_poller_runs_when_there_are_events_and_searches_when_it_is_woken() {
    let rings = Arc::new(AtomicUsize::new(0));
    let other = rings.clone();
    let idle = IdleCarriers::new(2, move || {
        other.fetch_add(1, Ordering::Relaxed);
    });
    let look = || None::<()>;
    let mut has_events = |_: Option<Duration>, before: &mut dyn FnMut()| {
        assert!(idle.is_polled() && !idle.try_look());
        assert_eq!(idle.counts(), (1, 0));
        before();
        assert_eq!(idle.counts(), (0, 0));
    };
    assert_eq!(idle.sleep_or_poll(0, false, || None, look, Some(&mut has_events)), SleepEnd::Polled);
    assert!(!idle.is_polled());
    let mut is_woken = |_: Option<Duration>, before: &mut dyn FnMut()| {
        // Woken while there are events, or without.
        if idle.wake_one() {
            assert_eq!(idle.counts(), (0, 1));
        } else {
            before();
        }
    };
    assert_eq!(idle.sleep_or_poll(0, false, || None, look, Some(&mut is_woken)), SleepEnd::Woken);
    assert_eq!((idle.counts(), rings.load(Ordering::Relaxed)), ((0, 1), 1));
    idle.stop_searching(|| false);
    // Another thread polls, so this carrier sleeps.
    assert!(idle.try_look());
    let mut never = |_: Option<Duration>, _: &mut dyn FnMut()| panic!("two poll");
    let end = idle.sleep_or_poll(1, false, || Some(0), look, Some(&mut never));
    assert_eq!(end, SleepEnd::TimedOut);
    idle.end_poll();
    idle.stop_searching(|| false);
    assert_eq!(idle.counts(), (0, 0));
}

#[test]
fn the_poller_is_woken_last() {
    let idle = IdleCarriers::new(2, || {});
    let woken_first = std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| idle.sleep(1, false, || None, || None::<()>));
        while idle.counts().0 == 0 {
            std::thread::yield_now();
        }
        let mut poll = |_: Option<Duration>, before: &mut dyn FnMut()| {
            assert!(idle.wake_one(), "the sleeper");
            before();
        };
        let end = idle.sleep_or_poll(0, false, || None, || None::<()>, Some(&mut poll));
        (sleeper.join().unwrap(), end)
    });
    assert_eq!(woken_first, (SleepEnd::Woken, SleepEnd::Polled));
}

#[test]
fn no_task_is_left_behind_in_a_storm() {
    const TASKS: usize = 20_000;
    const CARRIERS: usize = 3;
    saki_os::membarrier::initialise();
    let idle = IdleCarriers::new(CARRIERS, no_poller);
    let injector = Injector::new();
    let (done, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for carrier in 0..CARRIERS {
            let (idle, injector, done, is_over) = (&idle, &injector, &done, &is_over);
            scope.spawn(move || {
                let mut searches = false;
                while !is_over.load(Ordering::Acquire) {
                    let mut task = injector.pop();
                    if task.is_none() {
                        match idle.sleep(carrier, searches, || None, || injector.pop()) {
                            SleepEnd::Found(found) => task = Some(found),
                            SleepEnd::Woken => {
                                searches = true;
                                continue;
                            }
                            SleepEnd::TimedOut | SleepEnd::Polled => panic!("without a deadline or a poller"),
                        }
                        searches = true;
                    }
                    if searches {
                        idle.stop_searching(|| !injector.is_empty());
                        searches = false;
                    }
                    let _: NonZeroUsize = task.unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut random = 1_u32;
        for number in 1..=TASKS {
            injector.push(NonZeroUsize::new(number).unwrap());
            if idle.has_idle() {
                idle.wake_one();
            }
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if random >> 28 == 0 {
                // Until all is done, which a lost wake-up would prevent.
                let begun = Instant::now();
                while done.load(Ordering::Relaxed) < number {
                    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}, {}", idle.counts(), injector.len());
                    std::thread::yield_now();
                }
            }
        }
        while done.load(Ordering::Relaxed) < TASKS {
            std::thread::yield_now();
        }
        is_over.store(true, Ordering::Release);
        // Carriers that are falling asleep are on the list soon.
        while (0..CARRIERS).any(|carrier| idle.wake(carrier)) || idle.counts() != (0, CARRIERS) {
            if idle.counts().1 == 0 && idle.counts().0 == 0 {
                break;
            }
            std::thread::yield_now();
        }
    });
}
