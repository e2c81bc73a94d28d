//! Models of the slot.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | a task has one user | either way of `push` Relaxed; the CAS of `steal` Relaxed; the swap of `pop` or the CAS of `steal` torn apart |

use super::*;
use crate::task_word::leak;
use saki_sync::facade::{Arc, thread};
use saki_sync::model::{Section, explore};

type Task = &'static Section;

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

#[test]
fn model_a_task_has_one_user() {
    explore(None, || {
        let next = Arc::new(RunNext::new());
        let other = next.clone();
        let thief = thread::spawn(move || other.steal().map_or(0, run));
        let mut done = next.push(make()).map_or(0, run);
        done += next.push(make()).map_or(0, run);
        done += next.pop().map_or(0, run);
        done += thief.join().unwrap();
        assert_eq!(done, 2);
        assert!(!next.is_some());
    });
}

#[test]
fn model_two_thieves_and_an_owner() {
    explore(None, || {
        let next = Arc::new(RunNext::new());
        next.push(make());
        let thieves = [(); 2].map(|()| {
            let next = next.clone();
            thread::spawn(move || next.steal().map_or(0, run))
        });
        let mut done = next.pop().map_or(0, run);
        done += next.push(make()).map_or(0, run);
        done += next.pop().map_or(0, run);
        for thief in thieves {
            done += thief.join().unwrap();
        }
        assert_eq!(done, 2);
    });
}
