//! A model of waiting calls: each must be patched in the end.
//!
//! It fails when weakened so (`tests/models/weakened.txt`): `add`'s exchange Release (the call misses the target), `take_all`'s
//! swap Acquire (likewise) or Release (sites are read before they are written).

use super::*;
use loom::sync::Arc;
use loom::thread;
use saki_sync::facade::atomic::AtomicUsize;
use saki_sync::model::explore;

const CODE: usize = 7;
const CALLS: usize = 2;

struct Entry {
    head: AtomicU32,
    /// Site 0 means no site.
    sites: [AtomicU64; CALLS + 1],
    target: AtomicUsize,
    /// The targets of the calls, by offset - 1; 0 = the stub.
    fields: [AtomicUsize; CALLS],
}

impl Entry {
    fn patch(&self) {
        take_all(&self.head, &self.sites, |_, offset| self.fields[offset as usize - 1].store(CODE, Ordering::Relaxed));
    }

    fn wait(&self, call: usize) {
        // From 1: a site's word is 0 before it is written.
        add(&self.head, &self.sites, call as u32 + 1, call as u32 + 1);
        if self.target.load(Ordering::Acquire) != 0 {
            self.patch();
        }
    }

    fn set_target(&self) {
        self.target.store(CODE, Ordering::Release);
        self.patch();
    }
}

#[test]
fn model_no_call_waits_for_a_target_that_is_there() {
    explore(None, || {
        let entry = Arc::new(Entry {
            head: AtomicU32::new(0),
            sites: std::array::from_fn(|_| AtomicU64::new(0)),
            target: AtomicUsize::new(0),
            fields: std::array::from_fn(|_| AtomicUsize::new(0)),
        });
        let waiting = [0, 1].map(|call| {
            let entry = entry.clone();
            thread::spawn(move || entry.wait(call))
        });
        entry.set_target();
        for thread in waiting {
            thread.join().unwrap();
        }
        for field in &entry.fields {
            assert_eq!(field.load(Ordering::Relaxed), CODE);
        }
    });
}
