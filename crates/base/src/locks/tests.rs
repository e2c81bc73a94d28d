//! Locks with ranks: what is taken in order, and what a debug build says of misuse.

use super::*;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

type Outer<T> = Mutex<rank::Domains, T>;
type Inner<T> = Mutex<rank::FreedCells, T>;

#[test]
fn a_lock_is_as_large_as_one_without_a_rank() {
    assert_eq!(size_of::<Outer<u64>>(), size_of::<parking_lot::Mutex<u64>>());
    assert_eq!(size_of::<RwLock<rank::Domains, u64>>(), size_of::<parking_lot::RwLock<u64>>());
}

#[test]
fn locks_are_taken_in_the_order_of_the_table() {
    static OUTER: Outer<u32> = Mutex::new(1);
    static INNER: Inner<u32> = Mutex::new(2);
    static ANYWHERE: RwLock<rank::Symbols, u32> = RwLock::new(3);
    let sharded: ShardedLock<rank::ConstructedTypes, u32> = ShardedLock::default();
    for _ in 0..3 {
        let outer = OUTER.lock();
        let inner = INNER.lock();
        assert_eq!(*outer + *inner + *ANYWHERE.read(), 6);
        drop(outer);
        assert_eq!(*ANYWHERE.write(), 3);
        assert!(!order::holds(&sharded));
    }
    *sharded.write() += 4;
    assert_eq!(*sharded.read(), 4);
    std::thread::scope(|scope| {
        let _inner = INNER.lock();
        // Another thread holds nothing.
        scope.spawn(|| *OUTER.lock() += 1);
    });
    assert_eq!(*OUTER.lock(), 2);
}

#[test]
fn a_lock_is_tried_in_any_order() {
    static OUTER: Outer<()> = Mutex::new(());
    static INNER: Inner<()> = Mutex::new(());
    let _inner = INNER.lock();
    assert!(OUTER.try_lock().is_some() && OUTER.try_lock_for(Duration::ZERO).is_some());
}

#[test]
fn a_lock_that_is_read_is_read_again() {
    static LIST: RwLock<rank::Threads, ()> = RwLock::new(());
    let _first = LIST.read_recursive();
    let _second = LIST.read_recursive();
}

#[test]
fn a_green_thread_takes_its_locks_along() {
    static LOADER: Mutex<rank::Loader, ()> = Mutex::new(());
    static INNER: Inner<()> = Mutex::new(());
    let guard = LOADER.lock();
    let carried = order::carry();
    // SAFETY: locked, and only looked at, as below.
    assert!(!order::holds(unsafe { LOADER.raw() }), "the OS thread may run others");
    drop(INNER.lock());
    carried.restore();
    // SAFETY: as above.
    assert_eq!(order::holds(unsafe { LOADER.raw() }), cfg!(debug_assertions));
    drop(guard);
}

/// Runs `misuse` in a process of its own, and returns what that says before it ends. The test calls it with its own
/// name.
fn last_words(test: &str, misuse: impl FnOnce()) -> String {
    const IS_CHILD: &str = "SAKI_TEST_OF_LOCKS";
    if std::env::var_os(IS_CHILD).is_some() {
        misuse();
        std::process::exit(0);
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", "--nocapture", &format!("locks::tests::{test}")]).env(IS_CHILD, "1").output();
    let output = output.unwrap();
    assert!(!output.status.success(), "the check has missed it");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[cfg(debug_assertions)]
fn a_lock_out_of_order_is_named_with_the_one_that_is_held() {
    let words = last_words("a_lock_out_of_order_is_named_with_the_one_that_is_held", || {
        let (outer, inner) = (Outer::new(()), Inner::new(()));
        let _inner = inner.lock();
        let _outer = outer.lock();
    });
    assert!(words.contains("the lock Domains (crates/runtime/src/object/domain.rs) must not be taken"), "{words}");
    assert!(words.contains("while FreedCells (crates/runtime/src/object/cells.rs) is held, at crates/base"), "{words}");
}

#[test]
#[cfg(debug_assertions)]
fn two_locks_of_one_rank_are_found() {
    let words = last_words("two_locks_of_one_rank_are_found", || {
        let locks: [RwLock<rank::Domains, ()>; 2] = Default::default();
        let _first = locks[0].read();
        let _second = locks[1].read();
    });
    assert!(words.contains("the lock Domains") && words.contains("while Domains"), "{words}");
}

#[test]
#[cfg(debug_assertions)]
fn a_wait_outside_of_a_safe_region_is_found_though_the_lock_is_free() {
    let words = last_words("a_wait_outside_of_a_safe_region_is_found_though_the_lock_is_free", || {
        const RUNNING: u32 = 5;
        static STATE: AtomicU32 = AtomicU32::new(RUNNING + 1);
        let session: Mutex<rank::ProfileSession, ()> = Mutex::new(());
        order::runs_by(Some(&STATE), RUNNING);
        drop(session.lock());
        STATE.store(RUNNING, Ordering::Relaxed);
        order::check_before_region::<rank::Loader>();
        drop(session.try_lock());
        drop(Inner::new(()).lock());
        drop(session.lock());
    });
    assert!(
        words.contains("the lock ProfileSession (crates/cli/src/profile/command.rs) must be waited for"),
        "{words}"
    );
    assert!(words.contains("in a safe region, at crates/base"), "{words}");
}

#[test]
#[cfg(debug_assertions)]
fn a_lock_at_a_safepoint_is_found() {
    let words = last_words("a_lock_at_a_safepoint_is_found", || {
        let inner = Inner::new(());
        order::check_safepoint();
        let _inner = inner.lock();
        order::check_safepoint();
    });
    assert!(words.contains("the lock World") && words.contains("while FreedCells"), "{words}");
}

#[test]
#[cfg(debug_assertions)]
fn a_lock_that_a_green_thread_must_not_keep_is_found() {
    let words = last_words("a_lock_that_a_green_thread_must_not_keep_is_found", || {
        let inner = Inner::new(());
        let _inner = inner.lock();
        let _carried = order::carry();
    });
    assert!(words.contains("the lock World") && words.contains("while FreedCells"), "{words}");
}
