//! Models of the sleep. Both barriers are symmetric here; a lost wake-up leaves a carrier asleep, which loom reports as
//! a deadlock.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | no work is left to a sleeper | no light barrier in `has_idle`; no heavy barrier in `sleep`; a wake that only leaves its notice; a carrier that leaves the list uncounted |
//! | the last searcher wakes the next | no heavy barrier in `stop_searching`; no look behind it; a searcher that falls asleep counts on |
//! | a notice meets a find | a notice that stays behind |
//! | a deadline meets a wake-up | a carrier that was notified takes itself for timed out |
//! | a task in a queue reaches a sleeper | a task goes into the injector uncounted |
//! | events and tasks reach the poller | the poller is woken as a sleeper; a poller that keeps the role; one that does not leave the list before it deals with events |
//! | whoever polls has the role alone | the role taken by a load and a store; given Relaxed; taken Relaxed |
//! | a certain carrier is woken | the swap of `notify` Relaxed; the load of `wait` in `sleep` Relaxed |

use super::*;
use crate::task_word::leak;
use crate::{Injector, RunNext, RunQueue};
use saki_sync::facade::atomic::AtomicUsize;
use saki_sync::facade::{Arc, thread};
use saki_sync::model::{Section, explore};

/// The simplest queue there can be: so many tasks.
#[derive(Default)]
struct Work(AtomicUsize);

impl Work {
    fn push(&self, idle: &IdleCarriers) {
        // Relaxed: only the barriers order it.
        self.0.fetch_add(1, Ordering::Relaxed);
        if idle.has_idle() {
            idle.wake_one();
        }
    }

    fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Says that there is none only if there is none.
    fn take(&self) -> Option<()> {
        let mut count = self.0.load(Ordering::Relaxed);
        while count > 0 {
            match self.0.compare_exchange(count, count - 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(()),
                Err(now) => count = now,
            }
        }
        None
    }
}

fn no_poller() {
    panic!("nobody polls");
}

/// Events of the system: a task each. What ends a wait for them changes `changes`.
struct Events {
    waiting: AtomicUsize,
    changes: WaitWord,
}

impl Events {
    fn new() -> Arc<Events> {
        Arc::new(Events { waiting: AtomicUsize::new(0), changes: WaitWord::new(0) })
    }

    fn interrupt(&self) {
        // The system orders them.
        self.changes.atomic().fetch_add(1, Ordering::AcqRel);
        self.changes.wake(1);
    }

    fn occur(&self) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        self.interrupt();
    }

    fn poll(&self, work: &Work, seen: &mut u32, before: &mut dyn FnMut()) {
        loop {
            let changes = self.changes.load(Ordering::Acquire);
            let count = self.waiting.swap(0, Ordering::AcqRel);
            if count > 0 {
                before();
                work.0.fetch_add(count, Ordering::Relaxed);
                return;
            }
            if changes != *seen {
                *seen = changes;
                return;
            }
            self.changes.wait(changes, None);
        }
    }
}

type Polling = Arc<(IdleCarriers<Box<dyn Fn() + Send + Sync>>, Work, Arc<Events>)>;

fn polling(carriers: usize) -> Polling {
    let events = Events::new();
    let other = events.clone();
    Arc::new((IdleCarriers::new(carriers, Box::new(move || other.interrupt())), Work::default(), events))
}

/// As `carry_one`; polls if nobody else does. `seen`: the last change that ended a wait for events.
fn carry_one_or_poll(shared: &Polling, carrier: usize, seen: &mut u32) {
    let (idle, work, events) = &**shared;
    let mut searches = false;
    loop {
        if work.take().is_some() {
            if searches {
                idle.stop_searching(|| work.is_there());
            }
            return;
        }
        let mut poll = |_: Option<Duration>, before: &mut dyn FnMut()| events.poll(work, seen, before);
        let end = idle.sleep_or_poll(carrier, searches, || None, || work.take(), Some(&mut poll));
        searches = end != SleepEnd::Polled;
        if end == SleepEnd::Found(()) {
            return idle.stop_searching(|| work.is_there());
        }
        assert!(!searches || idle.counts().1 > 0, "a carrier that is awake searches");
    }
}

#[test]
fn model_events_and_tasks_reach_the_poller() {
    explore(Some(3), || {
        let shared = polling(1);
        let other = shared.clone();
        let carrier = thread::spawn(move || {
            let mut seen = 0;
            carry_one_or_poll(&other, 0, &mut seen);
            carry_one_or_poll(&other, 0, &mut seen);
        });
        let (idle, work, events) = &*shared;
        events.occur();
        work.0.fetch_add(1, Ordering::Relaxed);
        if idle.has_idle() {
            idle.wake_one();
        }
        carrier.join().unwrap();
        assert!(!work.is_there());
        assert_eq!((idle.counts(), idle.is_polled()), ((0, 0), false));
    });
}

#[test]
fn model_whoever_polls_has_the_role_alone() {
    explore(None, || {
        let shared = Arc::new((IdleCarriers::new(1, no_poller as fn()), Section::default()));
        let other = shared.clone();
        let look = |(idle, section): &(IdleCarriers, Section)| {
            if idle.try_look() {
                section.touch();
                idle.end_poll();
            }
        };
        let poller = thread::spawn(move || look(&other));
        look(&shared);
        poller.join().unwrap();
        assert!(shared.0.try_poll() && shared.0.is_polled());
    });
}

type Shared = Arc<(IdleCarriers, Work)>;

fn shared(carriers: usize) -> Shared {
    Arc::new((IdleCarriers::new(carriers, no_poller as fn()), Work::default()))
}

/// Gets one task as a carrier that neither searches nor is idle before and after.
fn carry_one((idle, work): &(IdleCarriers, Work), carrier: usize, deadline_ns: Option<u64>) {
    if work.take().is_some() {
        return;
    }
    let mut searches = false;
    loop {
        let end = idle.sleep(carrier, searches, || deadline_ns, || work.take());
        searches = true;
        if matches!(end, SleepEnd::Found(())) || work.take().is_some() {
            return idle.stop_searching(|| work.is_there());
        }
    }
}

fn assert_at_rest((idle, work): &(IdleCarriers, Work)) {
    assert!(!work.is_there());
    assert_eq!(idle.counts(), (0, 0));
    assert!(idle.carriers.iter().all(|carrier| carrier.wait.load(Ordering::Relaxed) == AWAKE));
}

#[test]
fn model_no_work_is_left_to_a_sleeper() {
    explore(None, || {
        let shared = shared(1);
        let other = shared.clone();
        let carrier = thread::spawn(move || carry_one(&other, 0, None));
        shared.1.push(&shared.0);
        carrier.join().unwrap();
        assert_at_rest(&shared);
    });
}

#[test]
fn model_a_notice_meets_a_find() {
    // The first task may be found by the last look while its notice is on its way; the second sleep must not end by it.
    // Three preemptions put either push between the steps of a sleep; all two million interleavings pass as well.
    explore(Some(3), || {
        let shared = shared(1);
        let other = shared.clone();
        let carrier = thread::spawn(move || {
            carry_one(&other, 0, None);
            carry_one(&other, 0, None);
        });
        shared.1.push(&shared.0);
        shared.1.push(&shared.0);
        carrier.join().unwrap();
        assert_at_rest(&shared);
    });
}

#[test]
fn model_the_last_searcher_wakes_the_next() {
    // Both carriers asleep, or one about to be, when two tasks come, the second while the first carrier searches: its
    // maker has woken no carrier for it, and each carrier takes one task. That carriers fall asleep costs no
    // preemption.
    explore(Some(3), || {
        let shared = shared(2);
        let carriers = [0, 1].map(|carrier| {
            let shared = shared.clone();
            thread::spawn(move || carry_one(&shared, carrier, None))
        });
        shared.1.push(&shared.0);
        shared.1.push(&shared.0);
        for carrier in carriers {
            carrier.join().unwrap();
        }
        assert_at_rest(&shared);
    });
}

#[test]
fn model_a_deadline_meets_a_wake_up() {
    // A timed wait ends at once in models, so the carrier looks again and again: bounded by its two sleeps.
    explore(None, || {
        let shared = shared(1);
        let other = shared.clone();
        let carrier = thread::spawn(move || {
            let (idle, work) = &*other;
            let far = Some(u64::MAX / 2);
            let first = idle.sleep(0, false, || far, || work.take());
            let second = match first {
                SleepEnd::Found(()) => None,
                _ => Some(idle.sleep(0, true, || far, || work.take())),
            };
            idle.stop_searching(|| work.is_there());
            (first, second)
        });
        let (idle, work) = &*shared;
        work.0.fetch_add(1, Ordering::Relaxed);
        let has_woken = idle.has_idle() && idle.wake_one();
        let (first, second) = carrier.join().unwrap();
        // A carrier that was taken off the list has noticed that.
        if has_woken && first == SleepEnd::TimedOut {
            assert!(second.is_some_and(|end| end != SleepEnd::TimedOut), "{first:?} {second:?}");
        }
        let (idle_carriers, searching) = idle.counts();
        assert_eq!((idle_carriers, searching), (0, 0));
    });
}

#[test]
fn model_a_certain_carrier_is_woken() {
    explore(None, || {
        let shared = Arc::new((IdleCarriers::new(1, no_poller as fn()), Section::default()));
        let other = shared.clone();
        let carrier = thread::spawn(move || {
            assert_eq!(other.0.sleep(0, false, || None, || None::<()>), SleepEnd::Woken);
            other.1.touch();
        });
        shared.1.touch();
        while !shared.0.wake(0) {
            thread::yield_now();
        }
        carrier.join().unwrap();
    });
}

/// A carrier sleeps, another thread pushes a task in some way: the task must be found, with what its maker wrote.
fn check_reaches(push: fn(&Queues, &'static Section), take: fn(&Queues) -> Option<&'static Section>) {
    explore(None, move || {
        let shared = Arc::new((IdleCarriers::new(1, no_poller as fn()), Queues::default()));
        let other = shared.clone();
        let carrier = thread::spawn(move || {
            let (idle, queues) = &*other;
            let mut searches = false;
            let task = loop {
                let end = idle.sleep(0, searches, || None, || take(queues));
                searches = true;
                if let SleepEnd::Found(task) = end {
                    break task;
                }
            };
            task.touch();
        });
        let task: &'static Section = leak(Section::default());
        task.touch();
        push(&shared.1, task);
        if shared.0.has_idle() {
            shared.0.wake_one();
        }
        carrier.join().unwrap();
    });
}

#[derive(Default)]
struct Queues {
    ring: RunQueue<&'static Section>,
    next: RunNext<&'static Section>,
    injector: Injector<&'static Section>,
}

#[test]
fn model_a_task_in_a_ring_reaches_a_sleeper() {
    check_reaches(
        |queues, task| assert!(queues.ring.push(task).is_ok()),
        |queues| queues.ring.steal_half_into(&RunQueue::new()),
    );
}

#[test]
fn model_a_task_in_the_injector_reaches_a_sleeper() {
    check_reaches(|queues, task| queues.injector.push(task), |queues| queues.injector.pop());
}

#[test]
fn model_a_task_that_is_to_run_next_reaches_a_sleeper() {
    check_reaches(|queues, task| assert!(queues.next.push(task).is_none()), |queues| queues.next.steal());
}
