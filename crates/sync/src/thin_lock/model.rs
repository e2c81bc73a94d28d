//! Models of the sync word.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | exclusion | `try_lock`'s CAS Relaxed together with the load before it; `unlock`'s CAS Relaxed; the CAS as load and store |
//! | hashing | the CAS of `install_hash` as load and store; `inflate` drops the hash |
//!
//! Inflation and deflation with real monitors: `object_lock::model`.

use super::*;
use crate::facade::{Arc, thread};
use crate::model::{Section, explore};

#[test]
fn model_owners_exclude_each_other() {
    explore(None, || {
        let shared = Arc::new((ThinLockWord::new(), Section::default()));
        let run = |id: u32, (word, section): &(ThinLockWord, Section)| {
            for _ in 0..2 {
                if word.try_lock(id) == TryLock::Acquired {
                    section.touch();
                    // Recursion changes the word in between.
                    assert_eq!(word.try_lock(id), TryLock::Acquired);
                    assert_eq!(word.unlock(id), Unlock::StillOwned);
                    section.touch();
                    assert_eq!(word.unlock(id), Unlock::Released);
                }
            }
        };
        let other = shared.clone();
        let thread = thread::spawn(move || run(2, &other));
        run(1, &shared);
        thread.join().unwrap();
        assert_eq!(shared.0.snapshot(), Snapshot(0));
    });
}

#[test]
fn model_the_hash_survives_every_transition() {
    // Three threads that each change the word once or twice: with three preemptions every change can fall between the
    // load and the CAS of every other.
    explore(Some(3), || {
        let shared = Arc::new((ThinLockWord::new(), Section::default()));
        let threads = [1, 2].map(|id| {
            let shared = shared.clone();
            thread::spawn(move || {
                let (word, section) = &*shared;
                match word.try_lock(id) {
                    TryLock::Acquired => {
                        section.touch();
                        match word.unlock(id) {
                            Unlock::Released => {}
                            Unlock::Inflated(index) => assert_eq!(index, 9),
                            other => panic!("{other:?}"),
                        }
                    }
                    TryLock::Contended(seen) => {
                        word.inflate(seen, 9);
                    }
                    TryLock::Inflated(index) => assert_eq!(index, 9),
                    other => panic!("{other:?}"),
                }
            })
        });
        let hash = shared.0.install_hash(42);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!((hash, shared.0.hash()), (42, Some(42)));
    });
}
