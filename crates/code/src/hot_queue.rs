//! Requests to the second tier: the methods whose counters have overflowed, and the queue between the threads that run
//! them and the thread that compiles.
//!
//! The caller keeps a `HotQueue` under a lock. The thread that compiles sleeps on a `HotSignal` while there is no
//! request.
//!
//! | word of `HotSignal` | who moves it | ordering |
//! |---|---|---|
//! | the number of times that requests were added | `requested`, after the lock is free | Release |
//!
//! Invariant: a method is asked for once as a whole, and once for each loop, the loops only when the whole is replaced.
//! The sleeper reads the word under the lock under which it finds no request, so a request that comes later changes the
//! word after that. Left out: compiling, and the versions of a method (`hand_over`).

use saki_sync::WaitWord;
use saki_sync::facade::atomic::Ordering;
use std::collections::{BTreeMap, VecDeque};

/// A request to compile a method whose version `counted` counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HotRequest<M, V> {
    /// The method.
    pub method: M,
    /// Its version in the first tier.
    pub counted: V,
    /// IL offset of a loop to continue; None: the whole method.
    pub round_of: Option<u32>,
}

/// What the second tier has for a method, or will have.
struct HotMethod<V> {
    counted: V,
    /// Whether the second tier's version is current.
    is_replaced: bool,
    /// By IL offset of a loop: the address of its continuation, 0 until there is one.
    continuations: BTreeMap<u32, usize>,
}

/// The answer to an overflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Noted {
    /// The address of the code that continues the loop, or 0.
    pub code: usize,
    /// Whether there is a request more.
    pub is_requested: bool,
}

/// Hot methods and requests. See the module header.
pub struct HotQueue<M, V> {
    methods: BTreeMap<M, HotMethod<V>>,
    /// Requests that loops made, in their order.
    of_loops: VecDeque<HotRequest<M, V>>,
    /// Requests that calls made, in their order.
    of_calls: VecDeque<HotRequest<M, V>>,
}

impl<M, V> HotQueue<M, V> {
    /// A queue without requests.
    pub const fn new() -> HotQueue<M, V> {
        HotQueue { methods: BTreeMap::new(), of_loops: VecDeque::new(), of_calls: VecDeque::new() }
    }

    /// Requests that wait.
    pub fn waiting(&self) -> usize {
        self.of_loops.len() + self.of_calls.len()
    }
}

impl<M, V> Default for HotQueue<M, V> {
    fn default() -> HotQueue<M, V> {
        HotQueue::new()
    }
}

impl<M: Copy + Ord, V: Copy> HotQueue<M, V> {
    /// Notes that a counter has overflowed, that of a loop at an IL offset or, without one, that of calls. `counted`
    /// gives the method's version if it is one that counts.
    pub fn note(&mut self, method: M, round_of: Option<u32>, counted: impl FnOnce() -> Option<V>) -> Noted {
        let nothing = Noted { code: 0, is_requested: false };
        let Some(known) = self.methods.get_mut(&method) else {
            let Some(counted) = counted() else { return nothing };
            let hot = HotMethod { counted, is_replaced: false, continuations: BTreeMap::new() };
            self.methods.insert(method, hot);
            let queue = if round_of.is_some() { &mut self.of_loops } else { &mut self.of_calls };
            queue.push_back(HotRequest { method, counted, round_of: None });
            return Noted { code: 0, is_requested: true };
        };
        let Some(offset) = round_of.filter(|_| known.is_replaced) else { return nothing };
        if let Some(&code) = known.continuations.get(&offset) {
            return Noted { code, is_requested: false };
        }
        known.continuations.insert(offset, 0);
        self.of_loops.push_back(HotRequest { method, counted: known.counted, round_of });
        Noted { code: 0, is_requested: true }
    }

    /// Takes the oldest request that a loop made, or else, if `are_calls_served`, the oldest one that calls made.
    pub fn take(&mut self, are_calls_served: bool) -> Option<HotRequest<M, V>> {
        let next = self.of_loops.pop_front();
        next.or_else(|| self.of_calls.pop_front_if(|_| are_calls_served))
    }

    /// The second tier's version of the method is current.
    pub fn set_replaced(&mut self, method: M) {
        if let Some(known) = self.methods.get_mut(&method) {
            known.is_replaced = true;
        }
    }

    /// The loop at this IL offset goes on at `code`.
    pub fn set_continuation(&mut self, method: M, offset: u32, code: usize) {
        if let Some(known) = self.methods.get_mut(&method) {
            known.continuations.insert(offset, code);
        }
    }

    /// Forgets the requests, and what has been asked for and is not there: it is asked for again.
    pub fn forget_requests(&mut self) {
        self.methods.retain(|_, known| known.is_replaced);
        self.methods.values_mut().for_each(|known| known.continuations.retain(|_, code| *code != 0));
        self.of_loops.clear();
        self.of_calls.clear();
    }
}

/// On what the thread that compiles sleeps.
pub struct HotSignal(WaitWord);

impl HotSignal {
    /// Nothing was requested.
    #[cfg(not(loom))]
    pub const fn new() -> HotSignal {
        HotSignal(WaitWord::new(0))
    }

    /// Nothing was requested.
    #[cfg(loom)]
    pub fn new() -> HotSignal {
        HotSignal(WaitWord::new(0))
    }

    /// Wakes the sleeper. The request was added, and the lock is free.
    pub fn requested(&self) {
        // Release: pairs with the Acquire in `seen_if_idle`.
        self.0.atomic().fetch_add(1, Ordering::Release);
        self.0.wake_all();
    }

    /// What to sleep on if there is no request. To be called with the queue's lock.
    pub fn seen_if_idle<M, V>(&self, queue: &HotQueue<M, V>) -> Option<u32> {
        // Acquire: a later request ends the wait.
        (queue.waiting() == 0).then(|| self.0.load(Ordering::Acquire))
    }

    /// Sleeps until `look`, which calls `seen_if_idle` with the queue's lock and lets go of it, finds a request.
    pub fn wait(&self, look: impl Fn(&HotSignal) -> Option<u32>) {
        while let Some(seen) = look(self) {
            self.0.wait(seen, None);
        }
    }
}

impl Default for HotSignal {
    fn default() -> HotSignal {
        HotSignal::new()
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_asked_for_once_and_then_its_loops() {
        let mut queue = HotQueue::new();
        assert!(!queue.note(1, None, || None::<u8>).is_requested, "a method of the second tier");
        assert!(queue.note(1, Some(8), || Some(7)).is_requested);
        assert!(!queue.note(1, Some(8), || Some(7)).is_requested, "it is not replaced yet");
        assert_eq!(queue.take(true), Some(HotRequest { method: 1, counted: 7, round_of: None }));
        assert_eq!(queue.take(true), None);
        queue.set_replaced(1);
        assert!(!queue.note(1, None, || None).is_requested);
        assert!(queue.note(1, Some(8), || None).is_requested);
        assert!(!queue.note(1, Some(8), || None).is_requested);
        assert_eq!(
            (queue.waiting(), queue.take(true)),
            (1, Some(HotRequest { method: 1, counted: 7, round_of: Some(8) }))
        );
        queue.set_continuation(1, 8, 0x1000);
        assert_eq!(queue.note(1, Some(8), || None), Noted { code: 0x1000, is_requested: false });
    }

    #[test]
    fn loops_are_served_before_calls_and_calls_when_it_is_their_time() {
        let mut queue = HotQueue::new();
        for (method, round_of) in [(1, None), (2, Some(8)), (3, None), (4, Some(2))] {
            assert!(queue.note(method, round_of, || Some(())).is_requested);
        }
        let mut take = |are_calls_served| queue.take(are_calls_served).map(|request| request.method);
        assert_eq!([false, true, false].map(&mut take), [Some(2), Some(4), None]);
        assert_eq!([true, false, true, true].map(&mut take), [Some(1), None, Some(3), None]);
    }

    #[test]
    fn what_is_not_there_is_asked_for_again_in_a_child() {
        let mut queue = HotQueue::new();
        (0..3).for_each(|method| assert!(queue.note(method, None, || Some(())).is_requested));
        let _ = queue.take(true);
        queue.set_replaced(0);
        assert!(queue.note(0, Some(4), || None).is_requested && queue.note(0, Some(6), || None).is_requested);
        queue.set_continuation(0, 4, 0x1000);
        queue.forget_requests();
        assert_eq!(queue.waiting(), 0);
        assert_eq!(queue.note(0, Some(4), || None).code, 0x1000);
        assert!(queue.note(0, Some(6), || None).is_requested);
        assert!(queue.note(1, None, || Some(())).is_requested);
    }
}
