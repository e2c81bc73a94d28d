//! `cargo bench -p saki-sched`: nanoseconds per operation of each part. criterion measures one thread at a time, so
//! this benchmark prints its own table.
//!
//! The best of several rounds counts, since disturbances only lengthen a round.

use saki_os::clock::monotonic_ns;
use saki_sched::{IdleCarriers, Injector, RunNext, RunQueue, SleepEnd, Timers};
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

const ROUNDS: usize = 15;

fn task(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

/// Nanoseconds of one of `operations` in the best round.
fn best(operations: usize, mut round: impl FnMut()) -> f64 {
    let times = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        round();
        begun.elapsed().as_nanos() as f64 / operations as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

fn show(what: &str, nanoseconds: f64) {
    println!("{what:<60} {nanoseconds:>10.1}");
}

fn queue() {
    const TIMES: usize = 1_000_000;
    let queue = RunQueue::new();
    let pair = best(TIMES, || {
        for _ in 0..TIMES {
            queue.push(black_box(task(1))).unwrap();
            black_box(queue.pop());
        }
    });
    show("queue: push and pop", pair);
    let thief = RunQueue::new();
    let half = best(TIMES, || {
        for _ in 0..TIMES / 128 {
            for _ in 0..128 {
                queue.push(black_box(task(1))).unwrap();
            }
            while queue.steal_half_into(&thief).is_some() {
                while thief.pop().is_some() {}
            }
        }
    });
    show("queue: push, steal by halves of 128, pop (a task)", half);
    println!("{:<60} {:>10.1}", "queue: beside a thief, push and pop (a task, wall)", beside_a_thief(&queue));
    let injector = Injector::new();
    let pair = best(TIMES, || {
        for _ in 0..TIMES {
            injector.push(black_box(task(1)));
            black_box(injector.pop());
        }
    });
    show("injector: push and pop", pair);
    let batch = best(TIMES, || {
        for _ in 0..TIMES / 64 {
            injector.push_batch((1..=64).map(task));
            black_box(injector.pop_some_into(&queue, 64));
            while queue.pop().is_some() {}
        }
    });
    show("injector: push_batch and pop_some_into of 64 (a task)", batch);
}

fn beside_a_thief(queue: &RunQueue<NonZeroUsize>) -> f64 {
    const TASKS: usize = 1_000_000;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let own = RunQueue::new();
            while !is_over.load(Ordering::Relaxed) {
                if queue.steal_half_into(&own).is_some() {
                    while own.pop().is_some() {}
                }
            }
        });
        let time = best(TASKS, || {
            for number in 1..=TASKS {
                if queue.push(task(number)).is_err() {
                    black_box(queue.pop());
                }
            }
        });
        is_over.store(true, Ordering::Relaxed);
        time
    })
}

fn run_next() {
    const TIMES: usize = 1_000_000;
    let next = RunNext::new();
    let pair = best(TIMES, || {
        for _ in 0..TIMES {
            black_box(next.push(black_box(task(1))));
            black_box(next.pop());
        }
    });
    show("run_next: push and pop", pair);
    // The time without thieves, for comparison.
    let word = AtomicUsize::new(0);
    let pair = best(TIMES, || {
        for _ in 0..TIMES {
            if word.load(Ordering::Relaxed) == 0 {
                word.store(black_box(1), Ordering::Release);
            }
            black_box(word.load(Ordering::Relaxed));
            word.store(0, Ordering::Relaxed);
        }
    });
    show("run_next: the same by loads and stores (not used)", pair);
    next.push(task(1));
    let replace = best(TIMES, || {
        for _ in 0..TIMES {
            black_box(next.push(black_box(task(1))));
        }
    });
    show("run_next: push that pushes a task out", replace);
    let steal = best(TIMES, || {
        for _ in 0..TIMES {
            next.push(black_box(task(1)));
            black_box(next.steal());
        }
    });
    show("run_next: push and steal, owner on the same processor", steal);
    let is_over = AtomicBool::new(false);
    let stolen = AtomicUsize::new(0);
    let (time, others) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                if next.steal().is_some() {
                    stolen.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let time = best(TIMES, || {
            for _ in 0..TIMES {
                black_box(next.push(black_box(task(1))));
                black_box(next.pop());
            }
        });
        is_over.store(true, Ordering::Relaxed);
        (time, stolen.load(Ordering::Relaxed))
    });
    show(&format!("run_next: push and pop beside a thief ({others} stolen)"), time);
}

fn idle() {
    const TIMES: usize = 1_000_000;
    let idle = IdleCarriers::new(2, (|| {}) as fn());
    let look = best(TIMES, || {
        for _ in 0..TIMES {
            black_box(idle.has_idle());
        }
    });
    show("idle: has_idle", look);
    let search = best(TIMES, || {
        for _ in 0..TIMES {
            black_box(idle.start_searching());
            idle.stop_searching(|| false);
        }
    });
    show("idle: start and stop searching, nobody idle", search);
    let found = best(TIMES / 100, || {
        for _ in 0..TIMES / 100 {
            idle.sleep(0, false, || None, || Some(()));
            idle.stop_searching(|| false);
        }
    });
    show("idle: announce, find, leave", found);
    wake_ups(&idle);
}

/// A carrier woken from its sleep: the waker's cost, and the time until the carrier runs.
fn wake_ups(idle: &IdleCarriers) {
    const TIMES: usize = 2_000;
    let is_over = AtomicBool::new(false);
    let awake_at = AtomicUsize::new(0);
    let (mut paid, mut taken) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut searches = false;
            while !is_over.load(Ordering::Relaxed) {
                let end = idle.sleep(1, searches, || None, || None::<()>);
                assert_eq!(end, SleepEnd::Woken);
                awake_at.store(monotonic_ns() as usize, Ordering::Release);
                searches = true;
            }
            idle.stop_searching(|| false);
        });
        for round in 0..TIMES {
            while !idle.has_idle() {
                std::hint::spin_loop();
            }
            // The carrier sleeps in the kernel by then.
            let begun = Instant::now();
            while begun.elapsed().as_micros() < 50 {}
            awake_at.store(0, Ordering::Relaxed);
            is_over.store(round + 1 == TIMES, Ordering::Relaxed);
            let before = monotonic_ns();
            assert!(idle.wake_one());
            paid.push(monotonic_ns() - before);
            let at = loop {
                match awake_at.load(Ordering::Acquire) {
                    0 => std::hint::spin_loop(),
                    at => break at as u64,
                }
            };
            taken.push(at - before);
        }
    });
    for (what, mut times) in
        [("idle: wake_one, paid by the waker (median)", paid), ("idle: wake_one, until awake (median)", taken)]
    {
        times.sort_unstable();
        show(what, times[times.len() / 2] as f64);
    }
}

fn timers() {
    const TIMES: usize = 200_000;
    const MS: u64 = 1_000_000;
    for others in [0, 10_000, 1_000_000] {
        let timers = Timers::new();
        let mut random = 88_172_645_463_325_252_u64;
        let mut next = move || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        let mut now = 1 << 45;
        timers.expire(now, |_: NonZeroUsize| ());
        for _ in 0..others {
            // None expires here.
            timers.insert(now + 3_600_000 * MS + next() % (60_000 * MS), task(1));
        }
        let same = best(TIMES, || {
            for _ in 0..TIMES {
                now += 1000;
                let key = timers.insert(now + 30_000 * MS, black_box(task(1)));
                timers.cancel(key);
            }
        });
        show(&format!("timers, {others} others: insert and cancel, a fixed timeout"), same);
        let mut keys = Vec::with_capacity(1000);
        let spread = best(TIMES, || {
            for _ in 0..TIMES / 1000 {
                for _ in 0..1000 {
                    keys.push(timers.insert(now + next() % (1 << (20 + next() % 20)), black_box(task(1))));
                }
                while !keys.is_empty() {
                    let place = next() as usize % keys.len();
                    timers.cancel(keys.swap_remove(place));
                }
            }
        });
        show(&format!("timers, {others} others: insert and cancel, 1,000 at random"), spread);
        let expiry = best(TIMES, || {
            for _ in 0..TIMES / 1000 {
                for _ in 0..1000 {
                    timers.insert(now + next() % (100 * MS), black_box(task(1)));
                }
                for _ in 0..100 {
                    now += MS + MS / 50;
                    timers.expire(now, |task| {
                        black_box(task);
                    });
                }
            }
        });
        show(&format!("timers, {others} others: insert and expire within 100 ms"), expiry);
        let peek = best(TIMES, || {
            for _ in 0..TIMES {
                black_box(timers.next_deadline_ns());
            }
        });
        show(&format!("timers, {others} others: next_deadline_ns"), peek);
    }
}

fn main() {
    saki_os::membarrier::initialise();
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    println!("nanoseconds per operation ({processors} processors)");
    queue();
    run_next();
    idle();
    timers();
}
