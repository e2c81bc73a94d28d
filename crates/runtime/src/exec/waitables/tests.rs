//! Waitable objects, by threads of the system.

use super::*;
use saki_thread::{ThreadKind, WaitState};
use std::time::Duration;

fn event(is_manual: bool) -> usize {
    create_unnamed(Kind::Event { is_manual, is_set: false })
}

fn wait(handles: &[usize], for_all: bool, milliseconds: u64) -> Option<u32> {
    let thread = saki_thread::attach_current(ThreadKind::Background);
    match begin(thread, handles, for_all, milliseconds == 0, None) {
        Ok(Begin::Satisfied(outcome)) => Some(outcome),
        Ok(Begin::Waiting(waiting)) => {
            let time = Some(Duration::from_millis(milliseconds));
            thread.wait_until(WaitState::Handle, time, false, || waiting.is_satisfied());
            waiting.end()
        }
        _ => None,
    }
}

#[test]
fn events_reset_themselves_unless_manual() {
    let (auto, manual) = (event(false), event(true));
    assert_eq!(wait(&[auto, manual], false, 0), None);
    assert!(set_event(manual, true) && set_event(auto, true));
    assert_eq!(wait(&[auto, manual], true, 0), Some(0));
    assert_eq!(wait(&[auto, manual], false, 0), Some(1));
    assert!(set_event(manual, false));
    assert_eq!(wait(&[auto, manual], false, 1), None);
    assert!(close(auto) && !close(auto) && !set_event(auto, true));
    let reused = event(false);
    assert_ne!(reused, auto, "a new generation");
}

#[test]
fn a_waiter_gets_what_another_thread_signals() {
    let (a, b) = (event(false), event(false));
    let waiter = std::thread::spawn(move || wait(&[a, b], true, 20_000));
    std::thread::sleep(Duration::from_millis(10));
    set_event(a, true);
    std::thread::sleep(Duration::from_millis(10));
    set_event(b, true);
    assert_eq!(waiter.join().unwrap(), Some(0));
    assert_eq!(wait(&[a, b], false, 0), None, "both were taken");
}

#[test]
fn mutexes_are_recursive_and_can_be_abandoned() {
    let mutex = create_unnamed(Kind::Mutex { owner: 0, depth: 0, is_abandoned: false });
    let own = saki_thread::attach_current(ThreadKind::Background).managed_id();
    assert_eq!(wait(&[mutex], false, 0), Some(0));
    assert_eq!(wait(&[mutex], false, 0), Some(0));
    let other = std::thread::spawn(move || (wait(&[mutex], false, 1), release_mutex(mutex, u32::MAX)));
    assert_eq!(other.join().unwrap(), (None, Err(SignalError::NotOwner)));
    assert_eq!(release_mutex(mutex, own), Ok(()));
    let waiter = std::thread::spawn(move || wait(&[mutex], false, 20_000));
    std::thread::sleep(Duration::from_millis(10));
    abandon_mutexes(own);
    assert_eq!(waiter.join().unwrap(), Some(ABANDONED));
}

#[test]
fn two_hundred_thousand_waits_for_one_object_leave_and_end() {
    // Took half a minute when each wait searched all others.
    const WAITS: usize = 200_000;
    const LIMIT: Duration = Duration::from_secs(10);
    let (gate, never) = (event(true), event(true));
    let thread = saki_thread::attach_current(ThreadKind::Background);
    let begun = std::time::Instant::now();
    let waits: Vec<Waiting> = (0..WAITS)
        .filter_map(|_| match begin(thread, &[never, gate, gate], false, false, None) {
            Ok(Begin::Waiting(waiting)) => Some(waiting),
            _ => None,
        })
        .collect();
    assert_eq!(waits.len(), WAITS);
    let (leave, stay): (Vec<_>, Vec<_>) = waits.into_iter().enumerate().partition(|(i, _)| i % 2 == 0);
    assert!(leave.into_iter().rev().all(|(_, waiting)| waiting.end().is_none()));
    assert!(set_event(gate, true));
    assert!(stay.into_iter().all(|(_, waiting)| waiting.end() == Some(1)));
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    assert!(close(gate) && close(never));
    assert!(!is_open(gate) && !is_open(never), "the waits have given their references back");
}

#[test]
fn semaphores_count_and_names_are_shared() {
    let kind = || Kind::Semaphore { count: 1, max: 3 };
    let name = Some("waitables-test".to_string());
    let Created::New(first) = create(kind(), name.clone()) else { panic!("the name is new") };
    assert_eq!(create(kind(), name.clone()), Created::Existing(first));
    assert_eq!(create(Kind::Event { is_manual: true, is_set: false }, name), Created::NameTaken);
    assert_eq!(release_semaphore(first, 3), Err((SignalError::TooManyPosts, 1)));
    assert_eq!(release_semaphore(first, 2), Ok(1));
    assert_eq!((0..4).filter(|_| wait(&[first], false, 0).is_some()).count(), 3);
    assert!(close(first) && close(first));
    assert_eq!(open("waitables-test", KindName::Semaphore), Err(OpenError::UnknownName));
}
