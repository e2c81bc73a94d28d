//! Models of the word: the thread's stack is a section that is touched before it parks, by a mover, and by the thread
//! that resumes it.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | a parked thread is resumed once | `publish_parked` Relaxed; the exchange of `unpark` Relaxed |
//! | no wake of two is lost | an `unpark` that does not publish a token anew; one that leaves none to a woken thread |
//! | a moved stack is back before its thread runs | `begin_move` Relaxed; `end_move` Relaxed; `unpark` takes MOVING for PARKED; `end_move` overwrites a token |

use super::*;
use saki_sync::facade::atomic::AtomicUsize;
use saki_sync::facade::{Arc, thread};
use saki_sync::model::{Section, explore};

#[derive(Default)]
struct Thread {
    word: ParkWord,
    stack: Section,
    resumed: AtomicUsize,
}

impl Thread {
    /// The carrier switches away from the thread.
    fn park(&self) {
        self.stack.touch();
        if !self.word.publish_parked() {
            self.resume();
        }
    }

    /// The part of the carrier that takes the thread from a run queue.
    fn resume(&self) {
        self.stack.touch();
        self.resumed.fetch_add(1, Ordering::Relaxed);
    }

    fn unpark(&self) {
        if self.word.unpark() {
            self.resume();
        }
    }

    fn move_away(&self) {
        if self.word.begin_move() {
            self.stack.touch();
            if !self.word.end_move() {
                self.resume();
            }
        }
    }

    fn expect_resumed_once(&self) {
        assert_eq!(self.resumed.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn model_a_parked_thread_is_resumed_once() {
    explore(None, || {
        let parked = Arc::new(Thread::default());
        let waker = parked.clone();
        let waker = thread::spawn(move || waker.unpark());
        parked.park();
        waker.join().unwrap();
        parked.expect_resumed_once();
    });
}

/// A thread that parks until two others have done something, and runs on whichever of them wakes it.
#[derive(Default)]
struct Waiter {
    thread: Thread,
    done: [AtomicUsize; 2],
}

impl Waiter {
    fn run(&self) {
        loop {
            self.thread.stack.touch();
            // Relaxed: the wakes publish it.
            if self.done.iter().all(|done| done.load(Ordering::Relaxed) == 1) {
                self.thread.resumed.fetch_add(1, Ordering::Relaxed);
                return;
            }
            if !self.thread.word.take_present_token() && self.thread.word.publish_parked() {
                return;
            }
        }
    }

    fn wake(&self, number: usize) {
        self.done[number].store(1, Ordering::Relaxed);
        if self.thread.word.unpark() {
            self.run();
        }
    }
}

#[test]
fn model_no_wake_of_two_is_lost() {
    explore(None, || {
        let waiter = Arc::new(Waiter::default());
        let wakers = [0, 1].map(|number| {
            let waiter = waiter.clone();
            thread::spawn(move || waiter.wake(number))
        });
        waiter.run();
        for waker in wakers {
            waker.join().unwrap();
        }
        waiter.thread.expect_resumed_once();
    });
}

#[test]
fn model_a_moved_stack_is_back_before_its_thread_runs() {
    explore(None, || {
        let parked = Arc::new(Thread::default());
        let (waker, mover) = (parked.clone(), parked.clone());
        let waker = thread::spawn(move || waker.unpark());
        let mover = thread::spawn(move || mover.move_away());
        parked.park();
        waker.join().unwrap();
        mover.join().unwrap();
        parked.expect_resumed_once();
    });
}
