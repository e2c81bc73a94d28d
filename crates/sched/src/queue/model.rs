//! Models of the run queue, whose ring has four slots here.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | a task has one user | the store of `tail` in `push` Relaxed; the load of `tail` in `steal_half_into` Relaxed; either CAS of `head` torn apart |
//! | a single task has one user | the load of `tail` in `steal` Relaxed; its CAS of `head` torn apart |
//! | stolen tasks are stolen on | the store of the destination's `tail` Relaxed |
//!
//! No model can show that the Acquire load of `head` in `push` matters: in loom no thread reads a value that another
//! thread writes later.

use super::*;
use crate::task_word::leak;
use saki_sync::facade::{Arc, thread};
use saki_sync::model::{Section, explore};

type Task = &'static Section;

/// Touches the task's data, which its maker has touched once. More than two touches, or one that nothing orders, fail.
fn run(task: Task) -> usize {
    assert_eq!(task.get(), 1, "it has come out before");
    task.touch();
    1
}

fn make() -> Task {
    let task = leak(Section::default());
    task.touch();
    task
}

fn drain(queue: &RunQueue<Task>) -> usize {
    std::iter::from_fn(|| queue.pop()).map(run).sum()
}

/// As the queue's owner, pushes five tasks, so that the ring goes round, and takes what is left; how many it ran.
fn own_five(queue: &RunQueue<Task>) -> usize {
    let mut done = 0;
    for _ in 0..3 {
        assert!(queue.push(make()).is_ok());
    }
    done += queue.pop().map_or(0, run);
    // The ring goes round.
    for _ in 0..2 {
        if let Err(task) = queue.push(make()) {
            done += run(task);
        }
    }
    done + drain(queue)
}

#[test]
fn model_a_task_has_one_user() {
    // A thief can only disturb between an owner's load and its CAS, and the owner between the thief's: three
    // preemptions are both, and one more.
    explore(Some(3), || {
        let queue = Arc::new(RunQueue::new());
        let other = queue.clone();
        let thief = thread::spawn(move || {
            let own = RunQueue::new();
            other.steal_half_into(&own).map_or(0, |task| run(task) + drain(&own))
        });
        assert_eq!(own_five(&queue) + thief.join().unwrap(), 5);
    });
}

#[test]
fn model_a_single_task_has_one_user() {
    // Three preemptions, as where the thief steals half: both may disturb the other once, and one of them again.
    explore(Some(3), || {
        let queue = Arc::new(RunQueue::new());
        let other = queue.clone();
        let thief = thread::spawn(move || std::iter::from_fn(|| other.steal()).take(2).map(run).sum::<usize>());
        assert_eq!(own_five(&queue) + thief.join().unwrap(), 5);
    });
}

#[test]
fn model_stolen_tasks_are_stolen_on() {
    // The second thief can look at the first one's ring at any moment: one preemption of each of the others.
    explore(Some(3), || {
        let [first, second] = [(); 2].map(|()| Arc::new(RunQueue::new()));
        for _ in 0..4 {
            assert!(first.push(make()).is_ok());
        }
        let (from, to) = (first.clone(), second.clone());
        let thief = thread::spawn(move || from.steal_half_into(&to).map_or(0, run));
        let from = second.clone();
        let on = thread::spawn(move || {
            let own = RunQueue::new();
            from.steal_half_into(&own).map_or(0, run) + drain(&own)
        });
        let done = drain(&first);
        let done = done + thief.join().unwrap() + on.join().unwrap() + drain(&second);
        assert_eq!(done, 4);
    });
}
