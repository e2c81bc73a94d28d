//! Order, limits, and a storm in which every task must come out once.

use super::*;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

fn task(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

fn drain(queue: &RunQueue<NonZeroUsize>) -> Vec<usize> {
    std::iter::from_fn(|| queue.pop()).map(NonZeroUsize::get).collect()
}

#[test]
fn tasks_come_out_in_order_and_a_full_ring_refuses() {
    let queue = RunQueue::new();
    // Twice, so that the ring goes round.
    for _ in 0..2 {
        for number in 1..=CAPACITY {
            queue.push(task(number)).unwrap();
        }
        assert_eq!(queue.push(task(1000)), Err(task(1000)));
        assert_eq!((queue.len(), queue.room()), (CAPACITY, 0));
        assert_eq!(queue.pop(), Some(task(1)));
        queue.push(task(1001)).unwrap();
        assert_eq!(drain(&queue), (2..=CAPACITY).chain([1001]).collect::<Vec<_>>());
        assert!(queue.is_empty());
    }
}

#[test]
fn a_thief_gets_the_older_half_as_far_as_there_is_room() {
    let [victim, thief] = [(); 2].map(|()| RunQueue::new());
    assert_eq!(victim.steal_half_into(&thief), None);
    victim.push(task(1)).unwrap();
    assert_eq!(victim.steal_half_into(&thief), Some(task(1)));
    assert!(victim.is_empty() && thief.is_empty());
    for number in 1..=9 {
        victim.push(task(number)).unwrap();
    }
    assert_eq!(victim.steal_half_into(&thief), Some(task(1)));
    assert_eq!(drain(&thief), [2, 3, 4, 5]);
    for number in 0..CAPACITY - 1 {
        thief.push(task(number + 100)).unwrap();
    }
    assert_eq!(victim.steal_half_into(&thief), Some(task(6)));
    assert_eq!(drain(&thief).last(), Some(&7));
    for _ in 0..CAPACITY {
        thief.push(task(1)).unwrap();
    }
    assert_eq!(victim.steal_half_into(&thief), Some(task(8)), "one needs no room");
    assert_eq!([victim.steal(), victim.steal()], [Some(task(9)), None]);
}

#[test]
fn a_full_ring_spills_its_older_half() {
    let queue = RunQueue::new();
    let injector = Injector::new();
    for number in 1..=CAPACITY + 1 {
        queue.push_or_spill(task(number), &injector);
    }
    let spilled: Vec<_> = std::iter::from_fn(|| injector.pop()).map(NonZeroUsize::get).collect();
    assert_eq!(spilled, (1..=CAPACITY / 2).chain([CAPACITY + 1]).collect::<Vec<_>>());
    assert_eq!(drain(&queue), (CAPACITY / 2 + 1..=CAPACITY).collect::<Vec<_>>());
}

#[test]
fn every_task_comes_out_once_in_a_storm() {
    const TASKS: usize = 200_000;
    const THIEVES: usize = 3;
    let seen: Vec<AtomicU64> = (0..=TASKS).map(|_| AtomicU64::new(0)).collect();
    let note = |task: NonZeroUsize| seen[task.get()].fetch_add(1, Ordering::Relaxed);
    let queue = RunQueue::new();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thief in 0..THIEVES {
            let by_one = thief == 0;
            let (queue, is_over, note) = (&queue, &is_over, &note);
            scope.spawn(move || {
                let own = RunQueue::new();
                loop {
                    let was_over = is_over.load(Ordering::Acquire);
                    match if by_one { queue.steal() } else { queue.steal_half_into(&own) } {
                        Some(task) => {
                            note(task);
                            while let Some(task) = own.pop() {
                                note(task);
                            }
                        }
                        None if was_over => break,
                        None => std::thread::yield_now(),
                    }
                }
            });
        }
        for number in 1..=TASKS {
            while queue.push(task(number)).is_err() {
                if let Some(task) = queue.pop() {
                    note(task);
                }
            }
            if number % 7 == 0
                && let Some(task) = queue.pop()
            {
                note(task);
            }
        }
        while let Some(task) = queue.pop() {
            note(task);
        }
        is_over.store(true, Ordering::Release);
    });
    let wrong: Vec<_> = (1..=TASKS).filter(|&number| seen[number].load(Ordering::Relaxed) != 1).take(5).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
