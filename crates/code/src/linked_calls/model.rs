//! Models of entries and calls that follow the versions of a method's code.
//!
//! They fail when weakened so (`tests/models/weakened.txt`): `add`'s exchange Release (the call misses the target);
//! `for_each` as a plain load (likewise) or its access to the head Release (sites are read before they are written);
//! the swap of the target Relaxed, or a `lead` that does not look again (an entry is left with a version that another
//! thread has replaced); a `follow` that does not look again (a call is).

use super::*;
use loom::sync::Arc;
use loom::thread;
use saki_sync::facade::atomic::AtomicUsize;
use saki_sync::model::explore;

/// Where calls go before there is code.
const STUB: usize = 7;
const CALLS: usize = 2;

struct Entry {
    /// The version that is current; STUB = none.
    version: AtomicUsize,
    head: AtomicU32,
    /// Site 0 means no site.
    sites: [AtomicU64; CALLS + 1],
    target: AtomicUsize,
    /// Where the calls go, by offset - 1.
    fields: [AtomicUsize; CALLS],
}

impl Entry {
    fn new() -> Arc<Entry> {
        Arc::new(Entry {
            version: AtomicUsize::new(STUB),
            head: AtomicU32::new(0),
            sites: std::array::from_fn(|_| AtomicU64::new(0)),
            target: AtomicUsize::new(STUB),
            fields: std::array::from_fn(|_| AtomicUsize::new(STUB)),
        })
    }

    /// Places a call, which is linked to what the target is now.
    fn link(&self, call: usize) {
        let placed = self.target.load(Ordering::Acquire);
        let field = &self.fields[call];
        field.store(placed, Ordering::Relaxed);
        // From 1: a site's word is 0 before it is written.
        add(&self.head, &self.sites, call as u32 + 1, call as u32 + 1);
        let lead_call = |code| _ = field.swap(code, Ordering::AcqRel);
        follow(|| self.target.load(Ordering::Acquire), placed, lead_call);
    }

    /// Makes `to` current instead of `from`. False: another thread was faster.
    fn activate(&self, from: usize, to: usize) -> bool {
        if self.version.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return false;
        }
        let lead_calls = |code| {
            for_each(&self.head, &self.sites, |offset| {
                _ = self.fields[offset as usize - 1].swap(code, Ordering::AcqRel)
            });
        };
        lead(&self.target, || self.version.load(Ordering::Acquire), lead_calls);
        true
    }

    fn check(&self, calls: usize) {
        let current = self.version.load(Ordering::Relaxed);
        assert_eq!(self.target.load(Ordering::Relaxed), current, "the entry is led to the current version");
        for field in &self.fields[..calls] {
            assert_eq!(field.load(Ordering::Relaxed), current, "a call is led to the current version");
        }
    }
}

#[test]
fn model_calls_find_code_that_comes_while_they_are_placed() {
    explore(None, || {
        let entry = Entry::new();
        let linking = [0, 1].map(|call| {
            let entry = entry.clone();
            thread::spawn(move || entry.link(call))
        });
        assert!(entry.activate(STUB, 1));
        for thread in linking {
            thread.join().unwrap();
        }
        entry.check(2);
    });
}

#[test]
fn model_calls_follow_versions_that_replace_each_other() {
    explore(Some(3), || {
        let entry = Entry::new();
        let linking = thread::spawn({
            let entry = entry.clone();
            move || entry.link(0)
        });
        let replacing = thread::spawn({
            let entry = entry.clone();
            // The first version may not be there yet.
            move || _ = entry.activate(1, 2)
        });
        assert!(entry.activate(STUB, 1));
        linking.join().unwrap();
        replacing.join().unwrap();
        entry.check(1);
    });
}

#[test]
fn model_a_version_that_is_taken_back_is_led_to_again() {
    explore(Some(3), || {
        let entry = Entry::new();
        entry.link(0);
        assert!(entry.activate(STUB, 1));
        let replacing = thread::spawn({
            let entry = entry.clone();
            move || assert!(entry.activate(1, 2))
        });
        let taking_back = thread::spawn({
            let entry = entry.clone();
            move || _ = entry.activate(2, 1)
        });
        replacing.join().unwrap();
        taking_back.join().unwrap();
        entry.check(1);
    });
}
