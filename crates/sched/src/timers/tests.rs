//! Single timers at the borders of levels, and a random run beside a sorted list.

use super::*;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;

fn expired(timers: &Timers<u32>, now_ns: u64) -> Vec<u32> {
    let mut tasks = Vec::new();
    assert_eq!(timers.expire(now_ns, |task| tasks.push(task)), tasks.len());
    tasks
}

/// When a timer for that time expires: at its tick's beginning.
fn rounded(deadline_ns: u64) -> u64 {
    deadline_ns.div_ceil(TICK_NS) * TICK_NS
}

#[test]
fn a_timer_expires_at_its_tick_and_no_earlier() {
    for base in [0, 7 * MS, 123_456_789_012, 1 << 55] {
        for distance in [1, TICK_NS, 63 * TICK_NS, 64 * TICK_NS, MS, 4096 * TICK_NS + 1, 1 << 32, 1 << 40, 1 << 50] {
            let timers = Timers::new();
            assert_eq!((timers.next_deadline_ns(), expired(&timers, base)), (None, vec![]));
            // So that `current` is the base.
            timers.insert(base, 1);
            assert_eq!(expired(&timers, base + TICK_NS), [1]);
            let deadline = base + 2 * TICK_NS + distance;
            timers.insert(deadline, 2);
            assert_eq!(timers.next_deadline_ns(), Some(rounded(deadline)));
            assert_eq!(expired(&timers, rounded(deadline) - 1), []);
            assert_eq!(timers.next_deadline_ns(), Some(rounded(deadline)));
            assert_eq!(expired(&timers, rounded(deadline)), [2]);
            assert_eq!((timers.next_deadline_ns(), timers.len()), (None, 0));
        }
    }
}

#[test]
fn a_late_timer_expires_with_the_next_tick() {
    let timers = Timers::new();
    timers.insert(1000 * MS, 1);
    assert_eq!(expired(&timers, 2000 * MS), [1]);
    timers.insert(5 * MS, 2);
    let next = timers.next_deadline_ns().unwrap();
    assert!(next > 2000 * MS - TICK_NS && next <= 2000 * MS + TICK_NS, "{next}");
    assert_eq!(expired(&timers, next), [2]);
}

#[test]
fn a_deadline_that_never_comes_can_be_cancelled() {
    let timers = Timers::new();
    let never = timers.insert(u64::MAX, 1);
    let soon = timers.insert(MS, 2);
    assert_eq!(expired(&timers, 1 << 60), [2]);
    assert!(!timers.cancel(soon));
    assert!(timers.cancel(never));
    assert!(timers.is_empty() && timers.next_deadline_ns().is_none());
    assert_eq!(expired(&timers, u64::MAX), []);
}

#[test]
fn cancelled_timers_leave_nothing() {
    let timers = Timers::new();
    for round in 0..1000 {
        let keys: Vec<_> = (0..10).map(|index| timers.insert(round * MS + index * 100 * MS, index as u32)).collect();
        for key in keys {
            assert!(timers.cancel(key) && !timers.cancel(key));
        }
        assert_eq!(timers.next_deadline_ns(), None);
    }
    assert_eq!(lock(&timers.wheels).entries.len(), 10);
}

#[test]
fn a_callback_may_insert_and_many_expire_at_once() {
    let timers = Timers::new();
    for task in 0..100 {
        timers.insert(MS, task);
    }
    let mut order = Vec::new();
    timers.expire(2 * MS, |task| {
        order.push(task);
        if task < 50 {
            timers.insert(3 * MS, task + 1000);
        }
    });
    assert_eq!(order, (0..100).collect::<Vec<_>>());
    assert_eq!(expired(&timers, 4 * MS), (1000..1050).collect::<Vec<_>>());
}

#[test]
fn a_random_run_agrees_with_a_sorted_list() {
    let mut random = 88_172_645_463_325_252_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for _ in 0..20 {
        let timers = Timers::new();
        let mut model: BTreeMap<(u64, u32), TimerKey> = BTreeMap::new();
        let mut now = next() % (1 << 50);
        let mut number = 0;
        assert_eq!(expired(&timers, now), []);
        for _ in 0..3000 {
            match next() % 8 {
                0..4 => {
                    number += 1;
                    // The earlier ones expire with the next tick; `now` is past them all.
                    let deadline = now + TICK_NS + (next() % (1 << (8 + next() % 36)));
                    model.insert((rounded(deadline), number), timers.insert(deadline, number));
                }
                4 if !model.is_empty() => {
                    let place = next() as usize % model.len();
                    let (&at, &key) = model.iter().nth(place).unwrap();
                    model.remove(&at);
                    assert!(timers.cancel(key));
                }
                _ => {
                    now = match model.keys().next() {
                        Some(&(first, _)) if next() % 2 == 0 => now.max(first),
                        _ => now + next() % (1 << (8 + next() % 36)),
                    };
                    let mut tasks = expired(&timers, now);
                    let later = model.split_off(&(now + 1, 0));
                    let mut wanted: Vec<u32> = model.keys().map(|&(_, task)| task).collect();
                    // Timers of one tick may have come into it from several levels.
                    tasks.sort_unstable();
                    wanted.sort_unstable();
                    assert_eq!(tasks, wanted);
                    model = later;
                }
            }
            assert_eq!(timers.len(), model.len());
            let first = model.keys().next().map(|&(at, _)| at);
            match (timers.next_deadline_ns(), first) {
                (None, None) => {}
                (Some(hint), Some(first)) => assert!(hint <= first && hint > now, "{hint} {first} {now}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
