//! Threads: life, joins, interrupts, foreground counts, statics, monitors and blocking locks.
#![cfg(not(loom))]

use saki_sync::monitor::{BlockEnd, EnterEnd, WaitOutcome};
use saki_sync::object_lock::ObjectLock;
use saki_sync::{MonitorTable, RawLock, ThinLockWord};
use saki_thread::{
    BlockScan, REQUEST_ABORT, REQUEST_INTERRUPT, StopReason, ThreadKind, WaitState, current, find_thread,
    foreground_thread_count, lock_in_safe_region, spawn, wait_for_foreground_threads, with_world_stopped,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn a_thread_lives_between_spawn_and_join() {
    let seen = Arc::new(AtomicU64::new(0));
    let inner = seen.clone();
    let thread = spawn(ThreadKind::Background, Some("worker"), 512 << 10, move |thread| {
        assert_eq!(current(), Some(thread));
        assert_eq!(thread.name().as_deref(), Some("worker"));
        assert!(thread.stack_bounds().len() <= 512 << 10);
        inner.store(u64::from(thread.managed_id()), Ordering::Release);
    })
    .unwrap();
    assert!(thread.join(None) && thread.is_detached());
    assert_eq!(seen.load(Ordering::Acquire), u64::from(thread.managed_id()));
    assert!(find_thread(thread.managed_id()).is_none());
}

#[test]
fn sleep_and_join_end_by_time_and_by_interrupt() {
    let steps = Arc::new(AtomicU64::new(0));
    let step = steps.clone();
    let thread = spawn(ThreadKind::Background, None, 0, move |thread| {
        assert_eq!(thread.sleep(Some(Duration::from_millis(1)), true), BlockEnd::TimedOut);
        step.store(1, Ordering::Release);
        assert_eq!(thread.sleep(None, true), BlockEnd::Interrupted);
        assert_eq!(thread.take_requests(REQUEST_INTERRUPT), REQUEST_INTERRUPT);
        step.store(2, Ordering::Release);
        assert_eq!(thread.sleep(None, true), BlockEnd::Interrupted);
        assert_ne!(thread.poll(), 0);
        assert_eq!(thread.take_requests(REQUEST_ABORT), REQUEST_ABORT);
        assert_eq!(thread.poll(), 0);
    })
    .unwrap();
    let wait_until = |is_there: &dyn Fn() -> bool| {
        while !is_there() {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    wait_until(&|| steps.load(Ordering::Acquire) == 1);
    assert!(!thread.join(Some(Duration::from_millis(5))));
    thread.request(REQUEST_INTERRUPT);
    wait_until(&|| steps.load(Ordering::Acquire) == 2 && thread.wait_state() == WaitState::Sleep);
    thread.request(REQUEST_ABORT);
    let joiner = spawn(ThreadKind::Background, None, 0, move |_| assert!(thread.join(None))).unwrap();
    assert!(joiner.join(None));
}

#[test]
fn the_process_waits_for_foreground_threads_only() {
    let go = Arc::new(AtomicBool::new(false));
    let gate = go.clone();
    let wait = move |gate: Arc<AtomicBool>| {
        while !gate.load(Ordering::Acquire) {
            saki_thread::blocking(std::thread::yield_now);
        }
    };
    let foreground = spawn(ThreadKind::Foreground, None, 0, move |_| wait(gate)).unwrap();
    let gate = go.clone();
    let other = spawn(ThreadKind::Foreground, None, 0, move |_| wait(gate)).unwrap();
    assert_eq!(foreground_thread_count(), 2);
    other.set_background(true);
    other.set_background(true);
    assert_eq!((foreground_thread_count(), other.is_background()), (1, true));
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(5));
        go.store(true, Ordering::Release);
    });
    wait_for_foreground_threads();
    assert!(foreground.join(None) && other.join(None));
    assert_eq!(foreground_thread_count(), 0);
}

#[test]
fn static_blocks_stay_and_are_listed() {
    let thread = spawn(ThreadKind::Background, None, 0, |thread| {
        assert!(thread.static_block(70).is_null());
        let block = thread.ensure_static_block(70, 24, BlockScan::Conservative);
        let early = thread.ensure_static_block(0, 8, BlockScan::Precise(std::ptr::null()));
        assert_eq!((thread.static_block(70), thread.static_block(0)), (block, early));
        assert_eq!(thread.ensure_static_block(70, 24, BlockScan::Conservative), block);
        let mut count = 0;
        thread.for_each_static_block(|_| count += 1);
        assert_eq!(count, 2);
        // SAFETY: this thread's own ABI part; the table has more than 70 entries.
        assert_eq!(unsafe { *(*thread.abi()).thread_statics.add(70) }, block);
        // SAFETY: inside the block, which nobody else uses.
        let word = || unsafe { &mut *block.cast::<u64>() };
        *word() = 5;
        // No other thread: as good as a stopped world.
        thread.clear_static_block(70);
        thread.clear_static_block(71);
        assert_eq!(*word(), 0);
        thread.free_static_block(70);
        assert!(thread.static_block(70).is_null());
        thread.free_static_block(70);
        let again = thread.ensure_static_block(70, 400, BlockScan::Conservative);
        assert!(!again.is_null() && thread.static_block(0) == early);
    })
    .unwrap();
    assert!(thread.join(None));
}

#[test]
fn object_locks_exclude_while_the_world_stops() {
    struct Shared {
        word: ThinLockWord,
        table: MonitorTable,
        sum: AtomicU64,
    }
    const THREADS: u64 = 5;
    const ROUNDS: u64 = 3000;
    let shared = Arc::new(Shared { word: ThinLockWord::new(), table: MonitorTable::new(), sum: AtomicU64::new(0) });
    let threads: Vec<_> = (0..THREADS)
        .map(|which| {
            let shared = shared.clone();
            spawn(ThreadKind::Background, None, 0, move |thread| {
                let lock = ObjectLock { word: &shared.word, object: 0x1000, table: &shared.table };
                for i in 0..ROUNDS {
                    assert_eq!(lock.enter(thread, None), EnterEnd::Entered);
                    shared.sum.store(shared.sum.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    if i % 500 == which {
                        let end = lock.wait(thread, Some(Duration::from_micros(300)));
                        assert!(matches!(end, Ok(WaitOutcome::TimedOut | WaitOutcome::Pulsed)));
                    } else if i % 100 == 0 {
                        lock.pulse_all(thread.managed_id()).unwrap();
                    }
                    assert_eq!(shared.word.install_hash(7), 7);
                    lock.exit(thread.managed_id()).unwrap();
                    thread.poll();
                }
            })
            .unwrap()
        })
        .collect();
    for _ in 0..200 {
        with_world_stopped(StopReason::Test, |_| {
            let lock = ObjectLock { word: &shared.word, object: 0x1000, table: &shared.table };
            if let Some(index) = shared.word.snapshot().inflated_index()
                && shared.table.get(index).monitor.is_idle()
            {
                assert_eq!(lock.owner(), 0);
                assert!(shared.word.deflate(index));
                shared.table.free(index);
            }
        });
        std::thread::sleep(Duration::from_micros(200));
    }
    for thread in threads {
        assert!(thread.join(None));
    }
    assert_eq!(shared.sum.load(Ordering::Relaxed), THREADS * ROUNDS);
}

#[test]
fn a_lock_that_is_waited_for_in_safe_regions_lets_the_world_stop() {
    static LOCK: RawLock = RawLock::new();
    static SUM: AtomicU64 = AtomicU64::new(0);
    let add = |number: u64| {
        // Not atomic: the lock is what keeps threads apart.
        SUM.store(SUM.load(Ordering::Relaxed) + number, Ordering::Relaxed);
        LOCK.unlock();
    };
    let threads: Vec<_> = (0..4)
        .map(|_| {
            spawn(ThreadKind::Background, None, 0, move |thread| {
                for _ in 0..2000 {
                    lock_in_safe_region(&LOCK);
                    add(1);
                    thread.poll();
                }
            })
            .unwrap()
        })
        .collect();
    for _ in 0..200 {
        // Taken while the world is stopped: no stopped thread holds it.
        with_world_stopped(StopReason::Test, |_| {
            LOCK.lock();
            add(0);
        });
    }
    for thread in threads {
        assert!(thread.join(None));
    }
    assert_eq!(SUM.load(Ordering::Relaxed), 8000);
}
