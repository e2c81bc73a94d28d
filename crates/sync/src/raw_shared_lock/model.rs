//! Model of the lock with one writer or many readers. Fails when weakened so (`tests/models/weakened.txt`): either
//! unlock Relaxed; the reader's CAS Relaxed; the look for readers Relaxed; either unlock without the wake.

use super::*;
use crate::facade::{Arc, thread};
use crate::model::{Section, explore};

#[test]
fn model_readers_and_writers_exclude_each_other_and_wake() {
    // Two readers and a writer: the writer can sleep behind a reader, and a reader behind the writer.
    explore(Some(3), || {
        let shared = Arc::new((RawSharedLock::new(), Section::default()));
        let read = |shared: &(RawSharedLock, Section)| {
            shared.0.lock_shared();
            shared.1.get();
            shared.0.unlock_shared();
        };
        let readers = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || read(&shared))
        });
        shared.0.lock_exclusive();
        shared.1.touch();
        shared.0.unlock_exclusive();
        for reader in readers {
            reader.join().unwrap();
        }
        assert!(shared.0.try_lock_exclusive(), "free at the end");
    });
}
