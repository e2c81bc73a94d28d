//! What the slot holds, and a storm in which every task must come out once.

use super::*;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

fn task(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

#[test]
fn a_new_task_pushes_the_old_one_out() {
    let next = RunNext::new();
    assert_eq!((next.pop(), next.steal(), next.is_some()), (None, None, false));
    assert_eq!(next.push(task(1)), None);
    assert_eq!(next.push(task(2)), Some(task(1)));
    assert!(next.is_some());
    assert_eq!(next.pop(), Some(task(2)));
    assert_eq!(next.push(task(3)), None);
    assert_eq!(next.steal(), Some(task(3)));
    assert_eq!((next.pop(), next.steal()), (None, None));
}

#[test]
fn every_task_comes_out_once_in_a_storm() {
    const TASKS: usize = 100_000;
    let seen: Vec<AtomicUsize> = (0..=TASKS).map(|_| AtomicUsize::new(0)).collect();
    let note = |task: NonZeroUsize| seen[task.get()].fetch_add(1, Ordering::Relaxed);
    let next = RunNext::new();
    let (is_over, stolen) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Acquire) {
                    match next.steal() {
                        Some(task) => {
                            note(task);
                            stolen.fetch_add(1, Ordering::Relaxed);
                        }
                        None => std::thread::yield_now(),
                    }
                }
            });
        }
        for number in 1..=TASKS {
            next.push(task(number)).map(note);
            if number % 3 == 0 {
                next.pop().map(note);
            }
            // Thieves must get some, however few processors there are.
            while number % 1024 == 0 && next.is_some() {
                std::thread::yield_now();
            }
        }
        is_over.store(true, Ordering::Release);
    });
    next.pop().map(note);
    let wrong: Vec<_> = (1..=TASKS).filter(|&number| seen[number].load(Ordering::Relaxed) != 1).take(5).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(stolen.into_inner() > 0, "nothing was stolen");
}
