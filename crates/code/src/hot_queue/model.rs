//! Models of threads whose counters overflow while another thread compiles, and of the way of a method to its second
//! tier from there: overflow, request, version, continuation. A request that is lost leaves the thread that compiles
//! asleep, which loom reports as a deadlock.
//!
//! They fail when weakened so (`tests/models/weakened.txt`): the sleeper reads the word after it has let go of the
//! lock; a request does not change the word, or wakes nobody; `note` knows no earlier request; a continuation is led to as
//! soon as it is asked for.

use super::*;
use crate::hand_over::{self, VersionOfCode, VersionState};
use saki_base::locks::rank;
use saki_sync::facade::atomic::{AtomicPtr, AtomicUsize};
use saki_sync::facade::{Arc, Mutex, lock, thread};
use saki_sync::model::{Section, explore};

const METHODS: usize = 2;
/// The loop of each method.
const LOOP: u32 = 8;

#[derive(Default)]
struct Body {
    state: VersionState,
    /// Its code: written before it is led to, and read by those who run it.
    code: Section,
}

impl VersionOfCode for Body {
    fn state(&self) -> &VersionState {
        &self.state
    }
}

struct Method {
    counted: Body,
    optimised: Body,
    continuation: Section,
    current: AtomicPtr<u8>,
    /// How often it was compiled as a whole.
    compiled: AtomicUsize,
}

struct Machine {
    methods: [Method; METHODS],
    queue: Mutex<rank::HotMethods, HotQueue<usize, usize>>,
    signal: HotSignal,
}

impl Machine {
    fn new() -> Arc<Machine> {
        let method = |_| Method {
            counted: Body::default(),
            optimised: Body::default(),
            continuation: Section::default(),
            current: AtomicPtr::new(std::ptr::null_mut()),
            compiled: AtomicUsize::new(0),
        };
        let methods = std::array::from_fn(method);
        let machine = Arc::new(Machine { methods, queue: Mutex::new(HotQueue::new()), signal: HotSignal::new() });
        for Method { counted, current, .. } in &machine.methods {
            counted.code.touch();
            assert!(hand_over::publish_first(current, counted, || {}).is_ok());
        }
        machine
    }

    /// A counter of the method overflows; the code that continues the loop, or 0.
    fn overflow(&self, method: usize, round_of: Option<u32>) -> usize {
        let Method { counted, current, .. } = &self.methods[method];
        let is_counted = || std::ptr::eq(hand_over::current::<Body>(current), counted).then_some(method);
        let noted = lock(&self.queue).note(method, round_of, is_counted);
        if noted.is_requested {
            self.signal.requested();
        }
        noted.code
    }

    /// Runs the method's current version.
    fn call(&self, method: usize) {
        // SAFETY: a version of the method, which lives as long as the machine.
        unsafe { (*hand_over::current::<Body>(&self.methods[method].current)).code.get() };
    }

    /// As the thread of the second tier, until it has served so many requests.
    fn serve(&self, requests: usize) {
        for _ in 0..requests {
            let request = loop {
                let taken = lock(&self.queue).take(true);
                match taken {
                    Some(request) => break request,
                    None => self.signal.wait(|signal| signal.seen_if_idle(&lock(&self.queue))),
                }
            };
            let method = &self.methods[request.method];
            if let Some(offset) = request.round_of {
                // Relaxed: written by this thread.
                assert_eq!(method.compiled.load(Ordering::Relaxed), 1, "the whole method comes first");
                method.continuation.touch();
                lock(&self.queue).set_continuation(request.method, offset, 1);
                continue;
            }
            method.optimised.code.touch();
            // Relaxed: read by this thread and after it has ended.
            method.compiled.fetch_add(1, Ordering::Relaxed);
            assert!(
                hand_over::replace(&method.current, &method.counted, &method.optimised, || {}),
                "it is replaced once"
            );
            lock(&self.queue).set_replaced(request.method);
        }
    }
}

/// Two threads make two methods hot, one of them both at the same time: each is compiled once.
#[test]
fn model_each_request_is_served_once() {
    explore(Some(3), || {
        let machine = Machine::new();
        let [serving, other] = [machine.clone(), machine.clone()];
        let serving = thread::spawn(move || serving.serve(METHODS));
        let other = thread::spawn(move || {
            other.overflow(0, None);
            other.call(0);
        });
        machine.overflow(0, None);
        machine.overflow(1, None);
        machine.call(0);
        other.join().unwrap();
        serving.join().unwrap();
        // Relaxed: the thread has ended.
        assert!(machine.methods.iter().all(|method| method.compiled.load(Ordering::Relaxed) == 1));
        assert_eq!(lock(&machine.queue).waiting(), 0, "nothing is asked for twice");
    });
}

/// A loop goes on in its continuation when there is one, and sees its code.
#[test]
fn model_a_loop_reaches_its_continuation() {
    explore(Some(4), || {
        let machine = Machine::new();
        let serving = machine.clone();
        // The whole method, and its loop.
        let serving = thread::spawn(move || serving.serve(2));
        let rounds = |most: usize| (0..most).find(|_| machine.overflow(0, Some(LOOP)) != 0);
        if rounds(3).is_some() {
            machine.methods[0].continuation.get();
        }
        // However the rounds met the other thread, these are enough requests for it to end.
        machine.overflow(0, None);
        while lock(&machine.queue).waiting() > 0 {
            thread::yield_now();
        }
        machine.call(0);
        while machine.overflow(0, Some(LOOP)) == 0 {
            thread::yield_now();
        }
        machine.methods[0].continuation.get();
        serving.join().unwrap();
    });
}
