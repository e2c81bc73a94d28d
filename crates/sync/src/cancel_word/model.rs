//! Models of the word. When the call has ended, the canceller must not touch data of the interruption any more.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | a cancelled call learns that it is cancelled | a canceller that writes nothing where there is no call; `begin` that does not acquire |
//! | an interruption lies within the call | an end that does not wait for the canceller; the last swap of `cancel` Relaxed |
//! | a call that two end is seen by both or sees both | the last swap of `cancel` a store |

use super::*;
use crate::facade::{Arc, thread};
use crate::model::{Section, explore};

#[test]
fn model_a_cancelled_call_hears_of_it() {
    explore(None, || {
        let shared = Arc::new((CancelWord::new(), AtomicU32::new(0)));
        let other = shared.clone();
        let canceller = thread::spawn(move || {
            // Relaxed: only the word orders it.
            other.1.store(1, Ordering::Relaxed);
            let mut has_found = false;
            other.0.cancel(|| has_found = true);
            has_found
        });
        shared.0.begin();
        let is_over = shared.1.load(Ordering::Relaxed) == 1;
        let has_found = canceller.join().unwrap();
        assert!(is_over || has_found, "the call would go on for ever");
        assert_eq!(shared.0.is_cancelled(), has_found);
        shared.0.end();
    });
}

#[test]
fn model_an_interruption_lies_within_the_call() {
    explore(None, || {
        let shared = Arc::new((CancelWord::new(), Section::default()));
        let other = shared.clone();
        let canceller = thread::spawn(move || other.0.cancel(|| other.1.touch()));
        shared.0.begin();
        shared.0.end();
        shared.1.touch();
        canceller.join().unwrap();
    });
}

/// A canceller that leaves the call to another one has been heard of when the call has ended.
#[test]
fn model_a_canceller_may_leave_the_call_to_another() {
    explore(Some(3), || {
        let shared = Arc::new((CancelWord::new(), AtomicU32::new(0)));
        let (first, second) = (shared.clone(), shared.clone());
        shared.0.begin();
        let first = thread::spawn(move || first.0.cancel(|| ()));
        let second = thread::spawn(move || {
            // Relaxed: only the word orders it.
            second.1.store(1, Ordering::Relaxed);
            second.0.cancel(|| ());
        });
        shared.0.end();
        shared.0.begin();
        let is_over = shared.1.load(Ordering::Relaxed) == 1;
        first.join().unwrap();
        second.join().unwrap();
        assert!(is_over || shared.0.is_cancelled(), "the second call would go on for ever");
        shared.0.end();
    });
}
