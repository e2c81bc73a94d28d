//! Monitors under contention, timeouts, pulses and interruption.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

struct TestThread {
    id: u32,
    node: &'static MonitorNode,
    interrupted: AtomicBool,
}

impl TestThread {
    fn new(id: u32) -> TestThread {
        TestThread { id, node: Box::leak(Box::default()), interrupted: AtomicBool::new(false) }
    }
}

impl Blocker for TestThread {
    fn managed_id(&self) -> u32 {
        self.id
    }
    fn node(&self) -> &'static MonitorNode {
        self.node
    }
    fn block(&self, timeout: Option<Duration>, interruptible: bool) -> BlockEnd {
        let woken = self.node.parker.park(timeout);
        if interruptible && self.interrupted.swap(false, Ordering::AcqRel) {
            BlockEnd::Interrupted
        } else if woken {
            BlockEnd::Woken
        } else {
            BlockEnd::TimedOut
        }
    }
}

#[test]
fn torture_enter_exit_with_timeouts() {
    let monitor = Arc::new(Monitor::new());
    let sum = Arc::new(AtomicU64::new(0));
    let entered = Arc::new(AtomicU64::new(0));
    std::thread::scope(|scope| {
        for id in 1..=6u32 {
            let (monitor, sum, entered) = (monitor.clone(), sum.clone(), entered.clone());
            scope.spawn(move || {
                let me = TestThread::new(id);
                for i in 0..4000u32 {
                    let timeout = (i % 3 == 0).then_some(Duration::from_micros(u64::from(i % 50)));
                    if monitor.enter(&me, timeout) != Ok(EnterEnd::Entered) {
                        continue;
                    }
                    assert_eq!(monitor.enter(&me, None), Ok(EnterEnd::Entered));
                    sum.store(sum.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    entered.fetch_add(1, Ordering::Relaxed);
                    if i % 64 == 0 {
                        std::thread::yield_now();
                    }
                    monitor.exit(id).unwrap();
                    monitor.exit(id).unwrap();
                    assert_eq!(monitor.exit(id), Err(NotOwner));
                }
            });
        }
    });
    assert_eq!(sum.load(Ordering::Relaxed), entered.load(Ordering::Relaxed));
    assert!(monitor.is_idle());
}

#[test]
fn producer_and_consumers_meet_by_wait_and_pulse() {
    let monitor = Arc::new(Monitor::new());
    let items = Arc::new(AtomicU64::new(0));
    const PER_CONSUMER: u64 = 2000;
    std::thread::scope(|scope| {
        for id in 1..=3u32 {
            let (monitor, items) = (monitor.clone(), items.clone());
            scope.spawn(move || {
                let me = TestThread::new(id);
                for _ in 0..PER_CONSUMER {
                    monitor.enter(&me, None).unwrap();
                    while items.load(Ordering::Relaxed) == 0 {
                        assert_eq!(monitor.wait(&me, None), Ok(WaitOutcome::Pulsed));
                    }
                    items.store(items.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
                    monitor.exit(id).unwrap();
                }
            });
        }
        let (monitor, items) = (monitor.clone(), items.clone());
        scope.spawn(move || {
            let me = TestThread::new(9);
            for i in 0..3 * PER_CONSUMER {
                monitor.enter(&me, None).unwrap();
                items.store(items.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                if i % 7 == 0 {
                    monitor.pulse_all(9).unwrap()
                } else {
                    monitor.pulse(9).unwrap()
                }
                monitor.exit(9).unwrap();
            }
        });
    });
    assert_eq!(items.load(Ordering::Relaxed), 0);
    assert!(monitor.is_idle());
}

#[test]
fn wait_times_out_and_keeps_the_recursion() {
    let monitor = Monitor::new();
    let me = TestThread::new(3);
    assert_eq!(monitor.wait(&me, None), Err(NotOwner));
    monitor.enter(&me, None).unwrap();
    monitor.enter(&me, None).unwrap();
    assert_eq!(monitor.wait(&me, Some(Duration::from_millis(2))), Ok(WaitOutcome::TimedOut));
    assert_eq!((monitor.owner(), monitor.recursion()), (3, 1));
    me.interrupted.store(true, Ordering::Release);
    me.node.parker.unpark();
    assert_eq!(monitor.wait(&me, None), Ok(WaitOutcome::Interrupted));
    monitor.exit(3).unwrap();
    monitor.exit(3).unwrap();
    assert!(monitor.is_idle());
}

/// Waits of all lengths end by themselves while others, and the same, are pulsed; the models say whether one is lost.
#[test]
fn torture_pulses_of_threads_whose_waits_time_out() {
    const ITEMS: u64 = 3000;
    let monitor = Monitor::new();
    let (items, taken) = (AtomicU64::new(0), AtomicU64::new(0));
    let take = || {
        items.store(items.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        taken.fetch_add(1, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        for id in 1..=4u32 {
            let (monitor, items, taken, take) = (&monitor, &items, &taken, &take);
            scope.spawn(move || {
                let me = TestThread::new(id);
                let mut turn = id;
                monitor.enter(&me, None).unwrap();
                while taken.load(Ordering::Relaxed) < ITEMS {
                    turn += 1;
                    let timeout = Duration::from_micros(u64::from(turn % 40));
                    let has_come = monitor.wait(&me, Some(timeout)).unwrap() == WaitOutcome::Pulsed;
                    if has_come && items.load(Ordering::Relaxed) > 0 {
                        take();
                    }
                }
                monitor.exit(id).unwrap();
            });
        }
        let me = TestThread::new(9);
        while taken.load(Ordering::Relaxed) < ITEMS {
            monitor.enter(&me, None).unwrap();
            if items.load(Ordering::Relaxed) < 3 {
                items.store(items.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
            if taken.load(Ordering::Relaxed).is_multiple_of(5) {
                monitor.pulse_all(9).unwrap();
            } else {
                monitor.pulse(9).unwrap();
            }
            // A wait of its own gives the monitor up to those that were pulsed.
            let _ = monitor.wait(&me, Some(Duration::from_micros(20))).unwrap();
            monitor.exit(9).unwrap();
        }
    });
    assert!(taken.load(Ordering::Relaxed) >= ITEMS);
    assert!(monitor.is_idle());
}
