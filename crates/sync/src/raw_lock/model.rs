//! Model of the mutex without data. Fails when weakened so (`tests/models/weakened.txt`): `unlock`'s swap Relaxed;
//! `try_lock`'s CAS Relaxed; the swap to CONTENDED Relaxed; `unlock` without the wake.

use super::*;
use crate::facade::{Arc, thread};
use crate::model::{Section, explore};

#[test]
fn model_excludes_and_wakes() {
    // Three threads, so that one can sleep behind another's CONTENDED; each preemption beyond the third only repeats a
    // look at a word that has three values.
    explore(Some(3), || {
        let shared = Arc::new((RawLock::new(), Section::default()));
        let run = |shared: &(RawLock, Section)| {
            shared.0.lock();
            shared.1.touch();
            shared.0.unlock();
        };
        let threads = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || run(&shared))
        });
        run(&shared);
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(shared.0.try_lock(), "free at the end");
    });
}
