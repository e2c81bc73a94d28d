//! Models of the stop protocol. A thread's stack is a section that the thread writes while RUNNING and the stopper
//! while the thread is stopped: loom reports any overlap, and a stopper or thread that sleeps for ever.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | leaving a safe region | the light or the heavy fence left out |
//! | a polling thread stops | the store of STOPPED in `wait_out_stop` Relaxed; `resume` clears STOP Relaxed |
//! | entering a safe region | the store of SAFE Relaxed; `enter_safe` without the arrival |
//! | waiting in one's place | `leave_stopped` waits as SAFE |
//! | one stop after another | `resume` without raising the epoch; the epoch read after the poll word |
//! | two threads | `wait_until_stopped` reads the arrivals after the states |
//! | leaving only when no stop is wanted | `try_leave_safe` stays RUNNING when it fails |

use super::*;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU32 as LoomU32;
use loom::thread;
use saki_sync::Parker;
use saki_sync::model::{Section, explore};

struct ModelThread {
    state: AtomicU32,
    poll: LoomU32,
    stack: Section,
}

impl ModelThread {
    fn new(state: u32) -> ModelThread {
        ModelThread { state: AtomicU32::new(state), poll: LoomU32::new(0), stack: Section::default() }
    }

    fn poll(&self, words: &StopWords) {
        if self.poll.load(Ordering::Relaxed) & STOP != 0 {
            words.wait_out_stop(&self.state, &self.poll, STOPPED);
        }
    }
}

struct World<const N: usize> {
    words: StopWords,
    threads: [ModelThread; N],
}

impl<const N: usize> World<N> {
    fn new(state: u32) -> Arc<World<N>> {
        Arc::new(World { words: StopWords::new(), threads: std::array::from_fn(|_| ModelThread::new(state)) })
    }

    fn stop_and_resume(&self) {
        self.words.request(self.threads.iter().map(|t| &t.poll));
        // As in `stop_the_world`, a thread that was found stopped is not checked again.
        let mut left = N;
        self.words.wait_until_stopped(0, || {
            while left > 0 && self.threads[left - 1].state.load(Ordering::Acquire) != RUNNING {
                left -= 1;
            }
            left > 0
        });
        for thread in &self.threads {
            thread.stack.touch();
        }
        self.words.resume(self.threads.iter().map(|t| &t.poll));
    }

    /// Runs `run` as thread 0 against `stops` stops, and ends it in a safe region as a detaching thread does.
    fn against_stops(world: Arc<Self>, stops: usize, run: impl FnOnce(&ModelThread, &StopWords) + Send + 'static) {
        let other = world.clone();
        let mutator = thread::spawn(move || {
            let me = &other.threads[0];
            run(me, &other.words);
            me.stack.touch();
            other.words.enter_safe(&me.state, &me.poll);
        });
        for _ in 0..stops {
            world.stop_and_resume();
        }
        mutator.join().unwrap();
    }
}

#[test]
fn model_leaving_a_safe_region_excludes_the_stopper() {
    explore(None, || {
        World::<1>::against_stops(World::new(SAFE), 1, |me, words| words.leave_safe(&me.state, &me.poll));
    });
}

#[test]
fn model_a_polling_thread_stops() {
    explore(None, || {
        World::<1>::against_stops(World::new(RUNNING), 1, |me, words| {
            me.stack.touch();
            me.poll(words);
        });
    });
}

#[test]
fn model_entering_a_safe_region_lets_the_stopper_go_on() {
    // Each side does its part once: enter, leave, enter against request, stop, resume. Three preemptions place the
    // request and the resume anywhere in the region, and one more switch between.
    explore(Some(3), || {
        World::<1>::against_stops(World::new(RUNNING), 1, |me, words| {
            me.stack.touch();
            words.enter_safe(&me.state, &me.poll);
            words.leave_safe(&me.state, &me.poll);
        });
    });
}

#[test]
fn model_a_thread_that_waits_in_its_place_is_not_taken() {
    // A second stop comes while the thread leaves; one preemption places each.
    explore(Some(3), || {
        let world = World::<1>::new(RUNNING);
        let other = world.clone();
        let mutator = thread::spawn(move || {
            let me = &other.threads[0];
            me.stack.touch();
            other.words.enter(&me.state, &me.poll, STOPPED);
            other.words.leave_stopped(&me.state, &me.poll);
            me.stack.touch();
            other.words.enter(&me.state, &me.poll, STOPPED);
        });
        for _ in 0..2 {
            world.stop_and_resume();
            // As one looks that would take its carrier.
            assert_ne!(world.threads[0].state.load(Ordering::Acquire), SAFE);
        }
        mutator.join().unwrap();
    });
}

#[test]
fn model_one_stop_after_another() {
    // The second request may come before the thread has noticed that the first stop is over: that takes one preemption
    // of the thread between its wake and its look, and one of the stopper.
    explore(Some(3), || {
        World::<1>::against_stops(World::new(RUNNING), 2, |me, words| {
            me.poll(words);
            me.stack.touch();
            me.poll(words);
        });
    });
}

#[test]
fn model_two_threads_stop() {
    // That one thread has stopped, or is in its safe region, while the other runs costs no preemption: they end or wait
    // there.
    // Two place the request between the look and the step of either, and the resume before or after the other's.
    explore(Some(2), || {
        let world = World::<2>::new(RUNNING);
        let mutators = [0, 1].map(|i| {
            let world = world.clone();
            thread::spawn(move || {
                let me = &world.threads[i];
                me.stack.touch();
                me.poll(&world.words);
                me.stack.touch();
                world.words.enter_safe(&me.state, &me.poll);
            })
        });
        world.stop_and_resume();
        for mutator in mutators {
            mutator.join().unwrap();
        }
    });
}

#[test]
fn model_leaving_only_when_no_stop_is_wanted() {
    // A thread that may not leave stays stopped for as long as it likes: here until the stopper has done its work.
    explore(None, || {
        let world = World::<1>::new(SAFE);
        let done = Arc::new(Parker::new());
        let (other, stopped) = (world.clone(), done.clone());
        let mutator = thread::spawn(move || {
            let me = &other.threads[0];
            while !other.words.try_leave_safe(&me.state, &me.poll) {
                stopped.park(None);
            }
            me.stack.touch();
            other.words.enter_safe(&me.state, &me.poll);
        });
        world.stop_and_resume();
        done.unpark();
        mutator.join().unwrap();
    });
}
