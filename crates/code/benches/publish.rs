//! `cargo bench -p saki-code`: nanoseconds per published body at 1, 2, 4 and 8 threads, with and without removal, and
//! per look-up, with and without other threads that publish. Not a criterion benchmark, since criterion measures one
//! thread at a time.

use saki_code::{CodeInfo, CodeKind, NewBody, free_all, lookup, place, retire, walks};
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A body of about the size of a small lambda's.
const BODY: [u8; 48] = [0xcc; 48];
const BODIES_PER_THREAD: u32 = 100_000;

fn publish() -> &'static CodeInfo {
    place(BODY.to_vec(), 32, &[], NewBody::new(CodeKind::Method, std::ptr::null(), "")).expect("room in the region")
}

/// Wall-clock nanoseconds per body, over the bodies of all threads.
fn insert(threads: usize, removes: bool) -> f64 {
    let barrier = Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut batch = Vec::with_capacity(32);
                barrier.wait();
                for _ in 0..BODIES_PER_THREAD {
                    let info = black_box(publish());
                    if !removes {
                        continue;
                    }
                    batch.push(info);
                    if batch.len() == batch.capacity() {
                        remove(&mut batch);
                    }
                }
                barrier.wait();
            });
        }
        barrier.wait();
        let started = Instant::now();
        barrier.wait();
        started.elapsed().as_nanos() as f64 / (threads as f64 * f64::from(BODIES_PER_THREAD))
    })
}

fn remove(batch: &mut Vec<&'static CodeInfo>) {
    for info in batch.iter() {
        // SAFETY: the bodies never run.
        unsafe { retire(info) };
    }
    let stamp = walks().stamp();
    while !walks().has_passed(stamp) {
        walks().try_advance();
    }
    for info in batch.drain(..) {
        // SAFETY: retired, and the stamp has passed.
        unsafe { free_all(&[info]) };
    }
}

/// Nanoseconds per look-up of one thread while `publishers` others publish and remove.
fn look_up(publishers: usize, in_walk: bool) -> f64 {
    let bodies: Vec<_> = (0..1024).map(|_| publish()).collect();
    let stop = AtomicBool::new(false);
    let (lookups, nanoseconds) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..publishers {
            scope.spawn(|| {
                let mut batch = Vec::new();
                // Relaxed: only ends the loops.
                while !stop.load(Ordering::Relaxed) {
                    batch.extend((0..32).map(|_| publish()));
                    remove(&mut batch);
                }
            });
        }
        let started = Instant::now();
        let mut done = 0;
        while started.elapsed() < Duration::from_millis(300) {
            for (index, body) in bodies.iter().enumerate() {
                let walk = in_walk.then(|| walks().enter());
                black_box(lookup(black_box(body.start + index % BODY.len())));
                drop(walk);
            }
            done += bodies.len() as u64;
        }
        // Relaxed: read when the threads have ended.
        lookups.store(done, Ordering::Relaxed);
        nanoseconds.store(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        stop.store(true, Ordering::Relaxed);
    });
    remove(&mut bodies.clone());
    nanoseconds.into_inner() as f64 / lookups.into_inner() as f64
}

fn main() {
    publish();
    println!(
        "wall ns per published body, all threads together (processors: {})",
        std::thread::available_parallelism().map_or(1, |n| n.get())
    );
    println!("{:>8} {:>10} {:>22}", "threads", "publish", "publish, remove, reuse");
    for threads in [1, 2, 4, 8] {
        println!("{threads:>8} {:>10.0} {:>22.0}", insert(threads, false), insert(threads, true));
    }
    println!("ns per look-up by one thread");
    println!("{:>10} {:>10} {:>10}", "publishers", "plain", "in a walk");
    for publishers in [0, 1, 2, 4] {
        println!("{publishers:>10} {:>10.1} {:>10.1}", look_up(publishers, false), look_up(publishers, true));
    }
}
