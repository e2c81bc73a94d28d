//! Models of an object's lock as a whole: thin lock, inflation, retirement.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | inflation under a thin owner | `inflate`'s CAS Relaxed; `prepare` after it |
//! | a retired monitor gives way | `deflate`'s CAS Relaxed; `retire` without a look at `in_flight` and the queues |

use super::*;
use crate::facade::{Arc, thread};
use crate::model::{ModelThread, Section, explore};

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
    // An entrant inflates between the owner's look at the word and its CAS, the owner leaves by the monitor, the entrant looks
    // again or queues: three preemptions. Six let that happen in both rounds.
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
    // The owner retires the monitor between the entrant's look at the word and its count of itself, and the entrant comes
    // back before or after the word is thin: three preemptions. Six let both of the owner's rounds be cut so.
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
