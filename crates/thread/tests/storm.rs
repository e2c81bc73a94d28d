//! Stops of the world while threads run, poll, block, attach and detach; nothing may change while it is stopped.
#![cfg(not(loom))]

use saki_thread::{
    ManagedThread, StopReason, ThreadKind, attach_current, blocking, detach_current, for_each_thread, resume_the_world,
    spawn, stop_latency_histogram, stop_the_world, with_world_stopped,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Counters that threads change while they run.
struct Shared {
    counters: Vec<AtomicU64>,
    done: AtomicBool,
}

fn mutate(thread: &ManagedThread, shared: &Shared, which: usize) {
    let mut turn = which as u64;
    while !shared.done.load(Ordering::Relaxed) {
        turn = turn.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        for _ in 0..(turn >> 60) * 20 {
            shared.counters[which].fetch_add(1, Ordering::Relaxed);
        }
        match turn >> 40 & 7 {
            0 => thread.blocking(std::thread::yield_now),
            1 => blocking(|| std::thread::sleep(Duration::from_micros(20))),
            2 => {
                let region = thread.enter_safe_region();
                std::hint::spin_loop();
                region.leave();
            }
            3 => {
                // SAFETY: this thread, RUNNING; no references here.
                unsafe { saki_thread::enter_native(thread.abi()) };
                std::hint::spin_loop();
                // SAFETY: as above.
                unsafe { saki_thread::leave_native(thread.abi()) };
            }
            4 => thread.blocking(|| thread.blocking(std::hint::spin_loop)),
            _ => {
                thread.poll();
            }
        }
    }
}

fn check_frozen(shared: &Shared) {
    let before: Vec<u64> = shared.counters.iter().map(|c| c.load(Ordering::Relaxed)).collect();
    for _ in 0..200 {
        std::hint::spin_loop();
    }
    let after: Vec<u64> = shared.counters.iter().map(|c| c.load(Ordering::Relaxed)).collect();
    assert_eq!(before, after, "a thread ran while the world was stopped");
}

#[test]
fn storm() {
    const MUTATORS: usize = 4;
    const STOPS: usize = 1500;
    let shared =
        Arc::new(Shared { counters: (0..MUTATORS).map(|_| AtomicU64::new(0)).collect(), done: AtomicBool::new(false) });
    let mutators: Vec<_> = (0..MUTATORS)
        .map(|which| {
            let shared = shared.clone();
            spawn(ThreadKind::Background, Some("mutator"), 0, move |t| mutate(t, &shared, which)).unwrap()
        })
        .collect();
    let churn = {
        let shared = shared.clone();
        std::thread::spawn(move || {
            while !shared.done.load(Ordering::Relaxed) {
                let thread = attach_current(ThreadKind::Background);
                thread.poll();
                detach_current();
            }
        })
    };
    let stoppers: Vec<_> = (0..2)
        .map(|which| {
            let shared = shared.clone();
            std::thread::spawn(move || {
                if which == 1 {
                    attach_current(ThreadKind::Background);
                }
                for i in 0..STOPS {
                    if i % 2 == 0 {
                        with_world_stopped(StopReason::Test, |_| check_frozen(&shared));
                    } else {
                        let token = stop_the_world(StopReason::Test);
                        check_frozen(&shared);
                        for_each_thread(|thread| {
                            let stack = thread.stopped_stack_range();
                            assert!(stack.end == thread.stack_bounds().end && stack.start <= stack.end);
                            if !stack.is_empty() {
                                assert!(thread.stack_bounds().contains(&stack.start));
                            }
                        });
                        resume_the_world(token);
                    }
                }
            })
        })
        .collect();
    for stopper in stoppers {
        stopper.join().unwrap();
    }
    // On a loaded machine the stops may be over before each thread has had a turn.
    let deadline = Instant::now() + Duration::from_secs(60);
    let all_ran = || shared.counters.iter().all(|c| c.load(Ordering::Relaxed) > 0);
    while !all_ran() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    shared.done.store(true, Ordering::Relaxed);
    churn.join().unwrap();
    for mutator in mutators {
        assert!(mutator.join(Some(Duration::from_secs(60))));
    }
    assert!(all_ran());
    let latency = stop_latency_histogram();
    assert!(latency.total() >= 2 * STOPS as u64);
    println!("stop latency ≤ ns: median {}, p99 {}", latency.quantile_ns(0.5), latency.quantile_ns(0.99));
}

/// Calls `f(argument)` with `!hidden` in a callee-saved register and nowhere else.
///
/// # Safety
/// `f` may be called with `argument`.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn call_with_register(hidden: u64, f: extern "C" fn(usize), argument: usize) {
    std::arch::naked_asm!(
        "push r12",
        "mov r12, rdi",
        "not r12",
        "mov rdi, rdx",
        "mov rax, rsi",
        "xor edx, edx",
        "call rax",
        "pop r12",
        "ret",
    )
}

#[cfg(target_arch = "x86_64")]
mod registers {
    use super::*;

    const HIDDEN: u64 = !0x5a5a_1234_9876_0042;
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    static FOUND: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn wait_somehow(how: usize) {
        let thread = saki_thread::current().unwrap();
        WAITING.store(how, Ordering::Release);
        let found = || FOUND.load(Ordering::Acquire) == how;
        match how {
            1 => thread.blocking(|| {
                while !found() {
                    std::thread::yield_now()
                }
            }),
            2 => {
                while !found() {
                    thread.poll();
                }
            }
            3 => {
                let region = thread.enter_safe_region();
                while !found() {
                    std::thread::yield_now();
                }
                drop(region);
            }
            _ => {
                // SAFETY: this thread, RUNNING; r12 is a register of the caller.
                unsafe { saki_thread::enter_native(thread.abi()) };
                while !found() {
                    std::thread::yield_now();
                }
                // SAFETY: as above.
                unsafe { saki_thread::leave_native(thread.abi()) };
            }
        }
    }

    fn count_hidden(thread: &ManagedThread) -> usize {
        let mut count = 0;
        thread.for_each_conservative_range(|range| {
            for word in range.step_by(8) {
                // SAFETY: the thread is stopped; the range is its mapped stack or its saved registers.
                count += usize::from(unsafe { (word as *const u64).read_volatile() } == !std::hint::black_box(HIDDEN));
            }
        });
        count
    }

    #[test]
    fn a_reference_in_a_register_is_found_in_every_kind_of_wait() {
        let thread = spawn(ThreadKind::Background, None, 0, |_| {
            for how in 1..=4 {
                // SAFETY: `wait_somehow` has the expected signature.
                unsafe { call_with_register(HIDDEN, wait_somehow, how) };
            }
        })
        .unwrap();
        for how in 1..=4 {
            while WAITING.load(Ordering::Acquire) != how {
                std::thread::yield_now();
            }
            let token = stop_the_world(StopReason::Test);
            let count = count_hidden(&thread);
            resume_the_world(token);
            assert!(count > 0, "wait {how} hides a register");
            FOUND.store(how, Ordering::Release);
        }
        assert!(thread.join(None));
    }
}
