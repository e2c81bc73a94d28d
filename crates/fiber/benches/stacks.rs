//! `cargo bench -p saki-fiber`: the cost of a hop in a ring of contexts for several layouts of their stacks, and the
//! cost of the pool.
//!
//! The benchmark makes layouts itself, so that layouts other than the pool's can be compared: strides with an even and
//! an odd number of pages, with and without a stagger of the tops.

use saki_fiber::{Context, GUARD_BYTES, PooledStack, StackPool, StackPoolOptions, prepare, switch};
use saki_os::Reservation;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const KIB: usize = 1 << 10;
const PAGE: usize = 4 << 10;

/// Contexts in a ring: each switches to the next.
struct Ring {
    contexts: Vec<Context>,
    main: Context,
    current: usize,
    left: usize,
    /// Stands for a scheduler's slot for the next task, which is emptied with or without a locked instruction.
    next: AtomicUsize,
    is_locked: bool,
    /// Nanoseconds of a hop in the best round.
    best: f64,
    /// Keeps the stacks.
    _memory: Option<Reservation>,
}

extern "C" fn hop(argument: *mut u8) -> ! {
    let ring = argument.cast::<Ring>();
    loop {
        // Stands for the frames that a waiting thread leaves on its stack.
        let frame = std::hint::black_box([0_u64; 16]);
        // SAFETY: one context runs at a time, and the ring outlives them all.
        let (from, to) = unsafe {
            let ring = &mut *ring;
            let from = &raw mut ring.contexts[ring.current];
            ring.next.store(ring.current + 1, Ordering::Release);
            if ring.left == 0 {
                (from, &raw const ring.main)
            } else {
                ring.left -= 1;
                let next = if ring.is_locked {
                    ring.next.swap(0, Ordering::Relaxed)
                } else {
                    let next = ring.next.load(Ordering::Relaxed);
                    ring.next.store(0, Ordering::Relaxed);
                    next
                };
                ring.current = if next == ring.contexts.len() { 0 } else { next };
                (from, &raw const ring.contexts[ring.current])
            }
        };
        // SAFETY: `to` is prepared or suspended, `from` is this one's place.
        unsafe { switch(from, to) };
        std::hint::black_box(&frame);
    }
}

impl Ring {
    /// The stacks that end at `tops` must live as long as the ring.
    fn new(tops: &[usize], memory: Option<Reservation>) -> Box<Ring> {
        let mut ring = Box::new(Ring {
            contexts: Vec::new(),
            main: Context::default(),
            current: 0,
            left: 0,
            next: AtomicUsize::new(0),
            is_locked: false,
            best: f64::INFINITY,
            _memory: memory,
        });
        let place = &raw mut *ring;
        // SAFETY: fresh stacks, used by the ring's contexts alone.
        ring.contexts = tops.iter().map(|&top| unsafe { prepare(top, hop, place.cast()) }).collect();
        ring
    }

    fn by_hand(count: usize, stride_pages: usize, lines: usize) -> Box<Ring> {
        let memory = Reservation::reserve_writable(count * stride_pages * PAGE).expect("address space");
        memory.forbid_huge_pages();
        let end = |index: usize| memory.base() as usize + (index + 1) * stride_pages * PAGE;
        let tops: Vec<usize> = (0..count).map(|index| end(index) - index % lines * 64).collect();
        Ring::new(&tops, Some(memory))
    }

    fn pooled(pool: &StackPool, count: usize, size_bytes: usize) -> Box<Ring> {
        // The pool outlives the ring; nothing runs on the stacks afterwards, but nothing needs them either.
        let tops: Vec<usize> = (0..count).map(|_| pool.take(size_bytes).expect("a stack").top()).collect();
        Ring::new(&tops, None)
    }

    fn round(&mut self, hops: usize) {
        self.left = hops;
        let place = &raw mut *self;
        let begun = Instant::now();
        // SAFETY: the ring is alive, and main is suspended while contexts run.
        unsafe {
            let first = &raw const (&(*place).contexts)[(*place).current];
            switch(&raw mut (*place).main, first);
        }
        self.best = self.best.min(begun.elapsed().as_nanos() as f64 / hops as f64);
    }
}

const LAYOUTS: &[(usize, usize)] = &[
    (16, 1),
    (17, 1),
    (32, 1),
    (33, 1),
    (33, 16),
    (33, 32),
    (33, 48),
    (64, 1),
    (65, 1),
    (65, 32),
    (2064, 1),
    (2065, 1),
    (2065, 32),
];
const SIZES: &[usize] = &[64 * KIB, 256 * KIB, 1024 * KIB, 8192 * KIB];

/// Many short rounds of all rings in turns, since other work on the machine comes in bursts; the best round counts.
fn rings() {
    const ROUNDS: usize = 60;
    let pool = StackPool::new(StackPoolOptions::DEFAULT);
    let mut names = Vec::new();
    let mut small = Vec::new();
    for &(stride, lines) in LAYOUTS {
        names.push(format!("{} KiB, {lines} lines", stride * PAGE / KIB));
        small.push(Ring::by_hand(503, stride, lines));
    }
    for &size_bytes in SIZES {
        for is_locked in [false, true] {
            names.push(format!("pool, {} KiB{}", size_bytes / KIB, if is_locked { ", with a swap" } else { "" }));
            let mut ring = Ring::pooled(&pool, 503, size_bytes);
            ring.is_locked = is_locked;
            small.push(ring);
        }
    }
    for _ in 0..ROUNDS {
        small.iter_mut().for_each(|ring| ring.round(20_000));
    }
    println!("ns a hop in a ring of 503 switches: stride, stagger");
    for (name, ring) in names.iter().zip(&small) {
        println!("{name:>30} {:>8.1}", ring.best);
    }
    println!("ns a hop in a ring of 100,000 switches: stride, stagger; with a swap");
    for &(stride, lines) in &[(33, 1), (33, 32), (65, 1), (65, 32), (2065, 1), (2065, 32)] {
        let mut ring = Ring::by_hand(100_000, stride, lines);
        let [plain, locked] = [false, true].map(|is_locked| {
            ring.is_locked = is_locked;
            ring.best = f64::INFINITY;
            for _ in 0..12 {
                ring.round(100_000);
            }
            ring.best
        });
        println!("{:>30} {plain:>8.1} {locked:>8.1}", format!("{} KiB, {lines} lines", stride * PAGE / KIB));
    }
}

/// A line of `/proc/self/status`, in KiB.
fn status_kib(key: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let line = text.lines().find(|line| line.starts_with(key)).expect("the key");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

fn pool_costs(size_bytes: usize) {
    const STACKS: usize = 100_000;
    let pool = StackPool::new(StackPoolOptions::DEFAULT);
    let per_stack = |begun: Instant| begun.elapsed().as_nanos() as f64 / STACKS as f64;
    let before = [status_kib("VmRSS"), status_kib("VmPTE")];
    let begun = Instant::now();
    let mut stacks: Vec<PooledStack> = (0..STACKS).map(|_| pool.take(size_bytes).expect("a stack")).collect();
    let carved = per_stack(begun);
    let touch = |stacks: &[PooledStack]| {
        let begun = Instant::now();
        for stack in stacks {
            // SAFETY: inside the stack, on which nothing runs.
            unsafe { ((stack.top() - 8) as *mut u64).write_volatile(1) };
        }
        per_stack(begun)
    };
    let touched = touch(&stacks);
    let after = [status_kib("VmRSS"), status_kib("VmPTE")];
    let begun = Instant::now();
    stacks.drain(..).for_each(|stack| pool.give(stack));
    let given = per_stack(begun);
    let begun = Instant::now();
    stacks.extend((0..STACKS).map(|_| pool.take(size_bytes).expect("a stack")));
    let taken = per_stack(begun);
    let touched_again = touch(&stacks);
    stacks.drain(..).for_each(|stack| pool.give(stack));
    let begun = Instant::now();
    pool.trim();
    let trimmed = per_stack(begun);
    let bytes = |index: usize| (after[index] - before[index]) * KIB / STACKS;
    println!(
        "{:>7} KiB {carved:>8.0} {touched:>8.0} {given:>8.0} {taken:>8.0} {touched_again:>8.0} {trimmed:>8.0} {:>8} {:>8}",
        size_bytes / KIB,
        bytes(0),
        bytes(1)
    );
    let mut best = f64::INFINITY;
    for _ in 0..8 {
        let begun = Instant::now();
        for _ in 0..STACKS {
            pool.give(std::hint::black_box(pool.take(size_bytes).expect("a stack")));
        }
        best = best.min(per_stack(begun));
    }
    println!("{:>7} KiB take and give, warm: {best:.1}", size_bytes / KIB);
}

fn main() {
    rings();
    println!("100,000 stacks with guards of {} KiB: ns a stack; bytes a stack, of page tables", GUARD_BYTES / KIB);
    println!(
        "{:>11} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "carve", "touch", "give", "take", "touch", "trim", "memory", "tables"
    );
    for &size_bytes in SIZES {
        pool_costs(size_bytes);
    }
}
