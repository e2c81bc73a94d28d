//! Models of slots: threads in native code lose their slot and come back. A thread enters a section while it has the
//! slot; there is one slot, so loom reports two threads that run managed code at once, and a thread that waits for a
//! slot for ever.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | a thread leaves native code while its slot is taken | `take_from` without the barrier, or without the second look; `reclaim` takes a slot uncounted |
//! | a pinned thread gets its slot back | `pass_on` forgets those that return; `activate` without a wake, or its count Relaxed; `reclaim` leaves the thread asked |
//! | a worker gives way to a thread that returns | `keep` does not look at those that return; `reclaim` does not say that it waits |
//! | a thread gives its slot away before it blocks | `give_own` does not ask |

use super::*;
use saki_sync::Parker;
use saki_sync::facade::{Arc, thread};
use saki_sync::model::{Section, explore};
use saki_thread::protocol::{self, RUNNING, SAFE, StopWords};

/// A thread on a worker: in native code, until it leaves.
struct OnWorker {
    state: AtomicU32,
    poll: AtomicU32,
    words: StopWords,
}

impl SlotHolder for OnWorker {
    fn is_safe(&self) -> bool {
        self.state.load(Ordering::Acquire) == SAFE
    }

    fn ask(&self) {
        self.poll.fetch_or(protocol::TAKEN, Ordering::Release);
    }

    fn withdraw(&self) {
        self.poll.fetch_and(!protocol::TAKEN, Ordering::AcqRel);
    }
}

/// One slot, which `first` has, whose thread is in native code; `second` has nothing to do yet.
struct World {
    slots: Slots,
    first: &'static WorkerSlot,
    second: &'static WorkerSlot,
    thread: OnWorker,
    managed: Section,
    waits: Parker,
}

fn world() -> Arc<World> {
    let worker = || crate::task_word::leak(WorkerSlot::new_active());
    let world = World {
        slots: Slots::new(1, 1),
        first: worker(),
        second: worker(),
        thread: OnWorker { state: AtomicU32::new(SAFE), poll: AtomicU32::new(0), words: StopWords::new() },
        managed: Section::default(),
        waits: Parker::new(),
    };
    world.second.set_status(IDLE);
    Arc::new(world)
}

impl World {
    /// The thread comes back from native code, and goes there again. False: it found no slot and went to the queue.
    fn come_back(&self, is_pinned: bool) -> bool {
        let OnWorker { state, poll, words } = &self.thread;
        while !words.try_leave_safe(state, poll) {
            match self.slots.reclaim(self.first, &self.thread, is_pinned) {
                Reclaimed::Slot => {}
                Reclaimed::Nothing => {
                    self.slots.give_back(self.first);
                    return false;
                }
                Reclaimed::Wait(seen) => {
                    self.waits.unpark();
                    self.first.wait_for_activation(seen);
                }
            }
        }
        // Its status may still say TAKEN, until a taker that came too late has put it right.
        assert_eq!(state.load(Ordering::Relaxed), RUNNING);
        self.managed.touch();
        words.enter_safe(state, poll);
        true
    }

    /// The watcher takes the slot, and the second worker runs something with it.
    fn take_and_run(&self) {
        if self.slots.take_from(self.first, &self.thread) == Some(true) {
            self.run_second();
        }
    }

    fn run_second(&self) {
        if self.slots.keep(self.second) {
            self.managed.touch();
            self.slots.give_back(self.second);
        }
    }

    fn assert_counted(&self) {
        let counts = lock(&self.slots.counts);
        let active = [self.first, self.second].iter().filter(|worker| worker.is_active()).count();
        assert_eq!((counts.active, self.slots.free()), (active, 1 - active));
        assert!(counts.returning.is_empty() && !self.slots.has_returning());
    }
}

#[test]
fn model_a_thread_leaves_native_code_while_its_slot_is_taken() {
    explore(None, || {
        let world = world();
        let other = world.clone();
        let thread = thread::spawn(move || other.come_back(false));
        world.take_and_run();
        thread.join().unwrap();
        world.assert_counted();
    });
}

#[test]
fn model_a_pinned_thread_gets_its_slot_back() {
    explore(None, || {
        let world = world();
        let other = world.clone();
        let thread = thread::spawn(move || other.come_back(true));
        world.take_and_run();
        assert!(thread.join().unwrap());
        world.assert_counted();
    });
}

#[test]
fn model_a_worker_gives_way_to_a_thread_that_returns() {
    explore(None, || {
        let world = world();
        assert_eq!(world.slots.take_from(world.first, &world.thread), Some(true));
        assert!(world.slots.keep(world.second));
        let other = world.clone();
        let thread = thread::spawn(move || other.come_back(true));
        world.managed.touch();
        world.waits.park(None);
        // The worker could run for ever, and the thread would wait as long.
        assert!(!world.slots.keep(world.second));
        assert!(thread.join().unwrap());
        world.slots.give_back(world.second);
        world.assert_counted();
    });
}

#[test]
fn model_a_thread_gives_its_slot_away_before_it_blocks() {
    explore(None, || {
        let world = world();
        let other = world.clone();
        // The watcher may come at the same time: one of the two takes the slot.
        let watcher = thread::spawn(move || other.take_and_run());
        let is_free = world.slots.give_own(world.first, &world.thread);
        assert_ne!(is_free, Some(false), "nobody returns");
        let is_asked = world.thread.poll.load(Ordering::Relaxed) & protocol::TAKEN != 0;
        assert!(is_free.is_none() || is_asked, "it goes on as if it had the slot");
        if is_free == Some(true) {
            world.run_second();
        }
        world.come_back(false);
        watcher.join().unwrap();
        world.assert_counted();
    });
}
