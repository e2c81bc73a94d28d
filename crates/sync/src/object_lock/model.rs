//! Models of an object's lock as a whole: thin lock, inflation, retirement.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | inflation under a thin owner | `inflate`'s CAS Relaxed; `prepare` after it |
//! | entries of the owner | `inflate` drops them; they are counted by load and store; `exit` forgets them |
//! | wait | `wait` keeps the entries that the word counts |
//! | a retired monitor gives way | `deflate`'s CAS Relaxed; `retire` without a look at `in_flight` and the queues |

use super::*;
use crate::facade::{Arc, thread};
use crate::model::{ModelThread, Section, TIMED, explore};

type Shared = (ThinLockWord, MonitorTable, Section);

fn lock_of((word, table, _): &Shared) -> ObjectLock<'_> {
    ObjectLock { word, object: 8, table }
}

fn run(id: u32, times: usize, shared: &Shared) {
    let me = ModelThread::new(id);
    for _ in 0..times {
        assert_eq!(lock_of(shared).enter(&me, None), EnterEnd::Entered);
        shared.2.touch();
        lock_of(shared).exit(id).unwrap();
    }
}

fn shared() -> Arc<Shared> {
    Arc::new((ThinLockWord::new(), MonitorTable::new(), Section::default()))
}

#[test]
fn model_inflation_under_a_thin_owner_keeps_exclusion() {
    // An entrant inflates between the owner's look at the word and its CAS, the owner leaves by the monitor, the
    // entrant looks again or queues: three preemptions. Six let that happen in both rounds.
    explore(Some(6), || {
        let shared = shared();
        let other = shared.clone();
        let thread = thread::spawn(move || run(2, 2, &other));
        run(1, 2, &shared);
        thread.join().unwrap();
        assert_eq!(lock_of(&shared).owner(), 0);
    });
}

#[test]
fn model_a_retired_monitor_gives_way_to_the_thin_lock() {
    // The owner retires the monitor between the entrant's look at the word and its count of itself, and the entrant
    // comes back before or after the word is thin: three preemptions. Six let both of the owner's rounds be cut so.
    explore(Some(6), || {
        let shared = shared();
        let lock = lock_of(&shared);
        lock.inflate(lock.word.snapshot());
        let other = shared.clone();
        let thread = thread::spawn(move || run(2, 1, &other));
        run(1, 2, &shared);
        thread.join().unwrap();
        assert_eq!(lock_of(&shared).owner(), 0);
    });
}

#[test]
fn model_inflation_keeps_the_owners_entries() {
    // The entrant inflates before, between and behind the owner's entries and exits: one preemption each.
    explore(Some(6), || {
        let shared = shared();
        let other = shared.clone();
        let thread = thread::spawn(move || run(2, 1, &other));
        let me = ModelThread::new(1);
        let lock = lock_of(&shared);
        for _ in 0..2 {
            assert_eq!(lock.enter(&me, None), EnterEnd::Entered);
        }
        shared.2.touch();
        lock.exit(1).unwrap();
        shared.2.touch();
        lock.exit(1).unwrap();
        thread.join().unwrap();
        assert_eq!((lock.owner(), lock.word.snapshot().recursion()), (0, 0));
    });
}

#[test]
fn model_a_wait_gives_all_entries_up() {
    // The other thread enters while the first waits or before it does: one preemption; another where the wait ends.
    explore(Some(2), || {
        let shared = shared();
        let other = shared.clone();
        let thread = thread::spawn(move || {
            run(2, 1, &other);
            // Nobody's entries were left to it.
            assert_eq!(lock_of(&other).exit(2), Err(NotOwner));
        });
        let me = ModelThread::new(1);
        let lock = lock_of(&shared);
        for _ in 0..2 {
            assert_eq!(lock.enter(&me, None), EnterEnd::Entered);
        }
        assert_eq!(lock.wait(&me, TIMED), Ok(WaitOutcome::TimedOut));
        shared.2.touch();
        lock.exit(1).unwrap();
        shared.2.touch();
        lock.exit(1).unwrap();
        thread.join().unwrap();
        assert_eq!((lock.owner(), lock.word.snapshot().recursion()), (0, 0));
    });
}
