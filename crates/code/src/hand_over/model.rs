//! Models of a method that goes from the first tier to the second while threads call it.
//!
//! They fail when weakened so (`tests/models/weakened.txt`): the exchange Acquire (a caller jumps to code that it does
//! not see), or torn apart (two versions win); the claim torn apart (a current version counts as retired); a version
//! that lost and is not given back; `publish` as a store (a replaced version never retires).

use super::*;
use crate::linked_calls;
use loom::sync::Arc;
use loom::thread;
use saki_sync::facade::atomic::{AtomicU64, AtomicUsize};
use saki_sync::model::{Section, explore};

/// Where calls go before there is code.
const STUB: usize = 7;
const VERSIONS: usize = 3;

struct Body {
    state: VersionState,
    /// Its code: written before it is published, and read by callers.
    code: Section,
    /// Its number, from 1.
    number: usize,
}

impl VersionOfCode for Body {
    fn state(&self) -> &VersionState {
        &self.state
    }
}

/// A method with an entry, a direct call and a slot of a vtable.
struct Method {
    bodies: [Body; VERSIONS],
    current: AtomicPtr<u8>,
    head: AtomicU32,
    /// Site 0 means no site.
    sites: [AtomicU64; 2],
    target: AtomicUsize,
    field: AtomicUsize,
}

impl Method {
    fn new() -> Arc<Method> {
        let body = |index| Body { state: VersionState::default(), code: Section::default(), number: index + 1 };
        let method = Arc::new(Method {
            bodies: std::array::from_fn(body),
            current: AtomicPtr::new(std::ptr::null_mut()),
            head: AtomicU32::new(0),
            sites: std::array::from_fn(|_| AtomicU64::new(0)),
            target: AtomicUsize::new(STUB),
            field: AtomicUsize::new(STUB),
        });
        linked_calls::add(&method.head, &method.sites, 1, 1);
        method
    }

    fn current(&self) -> Option<&Body> {
        // SAFETY: null or one of `bodies`, which live as long.
        unsafe { current::<Body>(&self.current).as_ref() }
    }

    /// Leads entry and call to what is current.
    fn lead(&self) {
        let lead_calls = |code| {
            linked_calls::for_each(&self.head, &self.sites, |_| _ = self.field.swap(code, Ordering::AcqRel));
        };
        linked_calls::lead(&self.target, || self.current().map_or(STUB, |body| body.number), lead_calls);
    }

    /// Compiles a body and makes it the method's first.
    fn publish(&self, body: usize) -> bool {
        let body = &self.bodies[body];
        body.code.touch();
        publish_first(&self.current, body, || self.lead()).is_ok()
    }

    /// Compiles a body and makes it current instead of `replaced`.
    fn replace(&self, replaced: usize, body: usize) -> bool {
        self.bodies[body].code.touch();
        self.replace_by_known(replaced, body)
    }

    fn replace_by_known(&self, replaced: usize, body: usize) -> bool {
        replace(&self.current, &self.bodies[replaced], &self.bodies[body], || self.lead())
    }

    /// Jumps through a word, and reads the code there.
    fn call(&self, through: &AtomicUsize) {
        // Acquire stands for the dependency of the jump.
        match through.load(Ordering::Acquire) {
            STUB => {}
            number => _ = self.bodies[number - 1].code.get(),
        }
    }

    /// The world is stopped: all threads are joined. Everything leads to the current version, and what was replaced
    /// retires.
    fn settle(&self, replaced: &[usize]) {
        let current = self.current().expect("a version").number;
        assert_eq!(self.target.load(Ordering::Relaxed), current, "the entry is led to the current version");
        assert_eq!(self.field.load(Ordering::Relaxed), current, "the call is led to the current version");
        for &body in replaced {
            self.bodies[body].state.retire();
            assert!(self.bodies[body].state.is_retired(), "version {} is retired", body + 1);
        }
        assert_eq!(self.state_of(current - 1), PUBLISHED, "the current version is published");
    }

    fn state_of(&self, body: usize) -> u32 {
        self.bodies[body].state.0.load(Ordering::Relaxed)
    }
}

fn spawn(method: &Arc<Method>, run: impl FnOnce(&Method) -> bool + 'static) -> thread::JoinHandle<bool> {
    let method = method.clone();
    thread::spawn(move || run(&method))
}

/// The second tier replaces the version while the thread that made it still leads the program there.
#[test]
fn model_callers_see_the_code_of_the_tier_that_they_reach() {
    explore(Some(3), || {
        let method = Method::new();
        let replacing = spawn(&method, |method| method.current().is_some() && method.replace(0, 1));
        let calling = spawn(&method, |method| {
            method.call(&method.target);
            method.call(&method.field);
            true
        });
        assert!(method.publish(0));
        calling.join().unwrap();
        let replaced: &[usize] = if replacing.join().unwrap() { &[0] } else { &[] };
        method.settle(replaced);
    });
}

#[test]
fn model_one_of_two_versions_replaces_the_first() {
    explore(None, || {
        let method = Method::new();
        assert!(method.publish(0));
        let other = spawn(&method, |method| method.replace(0, 1));
        let won = method.replace(0, 2);
        assert_eq!(other.join().unwrap(), !won, "one replaces the first version");
        let (winner, loser) = if won { (2, 1) } else { (1, 2) };
        assert_eq!(method.state_of(loser), MADE, "the version that lost can be used");
        method.settle(&[0]);
        assert!(method.replace_by_known(winner, loser), "it is used");
        method.settle(&[winner]);
    });
}

#[test]
fn model_a_version_is_taken_back_once() {
    explore(None, || {
        let method = Method::new();
        assert!(method.publish(0) && method.replace(0, 1));
        method.settle(&[0]);
        let other = spawn(&method, |method| method.replace_by_known(1, 0));
        let won = method.replace_by_known(1, 0);
        assert_eq!(other.join().unwrap(), !won, "one takes it back");
        method.settle(&[1]);
    });
}

#[test]
fn model_one_first_version_is_published() {
    explore(None, || {
        let method = Method::new();
        let other = spawn(&method, |method| method.publish(1));
        let won = method.publish(0);
        assert_eq!(other.join().unwrap(), !won, "one is published");
        assert_eq!(method.state_of(if won { 1 } else { 0 }), MADE, "nothing leads to the other");
        method.settle(&[]);
    });
}
