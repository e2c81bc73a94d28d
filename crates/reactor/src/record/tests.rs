//! Tests of a record: what it remembers, and which waiters it wakes.

use super::*;
use std::cell::RefCell;

/// A backend that notes what it is asked.
#[derive(Default)]
struct Asked {
    calls: RefCell<Vec<String>>,
    has_only_once: bool,
    is_closed: bool,
}

impl Watch for Asked {
    type Error = ();

    fn once(&self, wanted: Readiness) -> Result<(), ()> {
        let (read, write) = (u8::from(wanted.read), u8::from(wanted.write));
        self.calls.borrow_mut().push(format!("once {read}{write}"));
        if self.is_closed { Err(()) } else { Ok(()) }
    }

    fn always(&self, is_watched: bool) -> Result<bool, ()> {
        self.calls.borrow_mut().push(format!("always {}", u8::from(is_watched)));
        if self.is_closed { Err(()) } else { Ok(!self.has_only_once) }
    }
}

impl Asked {
    fn check(&self, expect: &str) {
        assert_eq!(std::mem::take(&mut *self.calls.borrow_mut()).join(", "), expect);
    }
}

const NONE: Readiness = Readiness { read: false, write: false, has_ended: false, is_watch_over: false };
const READ: Readiness = Readiness { read: true, ..NONE };
const BOTH: Readiness = Readiness { read: true, write: true, ..NONE };
const END: Readiness = Readiness { read: true, has_ended: true, ..NONE };

fn names(woken: [Woken<u32>; 2]) -> Vec<u32> {
    let mut names = Vec::new();
    woken.into_iter().for_each(|woken| woken.for_each(&mut |name| names.push(name)));
    names
}

fn joined(record: &DescriptorRecord<u32>, name: u32, interest: Interest, seen: Option<Seen>, asked: &Asked) -> bool {
    record.join(name, interest, Lifetime::Known, seen, asked).unwrap().is_some()
}

#[test]
fn a_call_that_would_fail_is_known_after_the_first_wait() {
    let (record, asked) = (DescriptorRecord::new(), Asked::default());
    let seen = record.look(Interest::Read);
    assert!(seen.may_work, "nothing is known yet");
    record.note_nothing_left(Interest::Read, seen, false);
    assert!(record.look(Interest::Read).may_work, "nobody would say when that changes");
    assert!(joined(&record, 1, Interest::Read, Some(seen), &asked));
    asked.check("always 0");
    assert!(!record.look(Interest::Read).may_work);
    assert!(record.look(Interest::Write).may_work, "nobody has tried");
    assert_eq!(names(record.report(READ, &asked)), [1]);
    let seen = record.look(Interest::Read);
    assert!(seen.may_work);
    record.note_nothing_left(Interest::Read, seen, true);
    assert!(!record.look(Interest::Read).may_work);
    assert!(joined(&record, 1, Interest::Read, Some(record.look(Interest::Read)), &asked));
    asked.check("");
}

#[test]
fn a_report_after_the_look_is_not_taken_back() {
    let (record, asked) = (DescriptorRecord::new(), Asked::default());
    assert!(joined(&record, 1, Interest::Read, Some(record.look(Interest::Read)), &asked));
    let seen = record.look(Interest::Read);
    assert_eq!(names(record.report(READ, &asked)), [1]);
    record.note_nothing_left(Interest::Read, seen, false);
    assert!(record.look(Interest::Read).may_work);
    assert!(!joined(&record, 1, Interest::Read, Some(seen), &asked), "it tries again");
}

#[test]
fn a_short_transfer_proves_nothing_after_the_end() {
    let (record, asked) = (DescriptorRecord::new(), Asked::default());
    assert!(joined(&record, 1, Interest::Read, Some(record.look(Interest::Read)), &asked));
    assert_eq!(names(record.report(END, &asked)), [1]);
    let seen = record.look(Interest::Read);
    record.note_nothing_left(Interest::Read, seen, true);
    assert!(record.look(Interest::Read).may_work, "the end itself is to be read");
    record.note_nothing_left(Interest::Read, seen, false);
    assert!(!record.look(Interest::Read).may_work);
}

#[test]
fn those_who_wait_without_a_look_hear_of_the_present_state() {
    let (record, asked) = (DescriptorRecord::new(), Asked::default());
    assert!(joined(&record, 1, Interest::Read, Some(record.look(Interest::Read)), &asked));
    assert!(joined(&record, 2, Interest::Read, None, &asked));
    assert!(joined(&record, 3, Interest::Write, None, &asked));
    asked.check("always 0, always 1, always 1");
    record.leave(2, Interest::Read, 0);
    assert_eq!(names(record.report(BOTH, &asked)), [1, 3]);
    asked.check("");
}

#[test]
fn a_descriptor_that_is_watched_once_is_watched_again_for_the_other_direction() {
    let record = DescriptorRecord::new();
    let mut asked = Asked { has_only_once: true, ..Asked::default() };
    assert!(joined(&record, 1, Interest::Read, None, &asked));
    assert!(joined(&record, 2, Interest::Write, None, &asked));
    asked.check("always 0, once 10, always 0, once 11");
    assert_eq!(names(record.report(READ, &asked)), [1]);
    asked.check("once 01");
    assert!(record.look(Interest::Read).may_work, "always tried");
    asked.is_closed = true;
    assert!(joined(&record, 1, Interest::Read, None, &Asked { has_only_once: true, ..Asked::default() }));
    assert_eq!(names(record.report(READ, &asked)), [1, 2], "nobody waits for what is closed");
    assert!(record.join(1, Interest::Read, Lifetime::Unknown, None, &asked).is_err());
    assert_eq!(names(record.report(BOTH, &asked)), [], "it does not wait");
}

#[test]
fn forgetting_wakes_all_and_knows_nothing_of_the_next_descriptor() {
    let (record, asked) = (DescriptorRecord::new(), Asked::default());
    assert!(joined(&record, 1, Interest::Read, Some(record.look(Interest::Read)), &asked));
    assert!(joined(&record, 2, Interest::Write, Some(record.look(Interest::Write)), &asked));
    let seen = record.look(Interest::Read);
    let mut is_unwatched = false;
    assert_eq!(names(record.forget(|| is_unwatched = true)), [1, 2]);
    assert!(is_unwatched);
    record.note_nothing_left(Interest::Read, seen, false);
    assert!(record.look(Interest::Read).may_work && record.look(Interest::Write).may_work);
    assert_eq!(names(record.forget(|| panic!("nobody watches"))), []);
}

#[test]
fn a_watch_that_is_over_is_asked_for_anew() {
    let (record, asked) = (DescriptorRecord::new(), Asked::default());
    assert!(joined(&record, 1, Interest::Read, Some(record.look(Interest::Read)), &asked));
    assert_eq!(names(record.report(Readiness { is_watch_over: true, ..NONE }, &asked)), [1]);
    assert!(record.look(Interest::Read).may_work);
    assert!(joined(&record, 1, Interest::Read, Some(record.look(Interest::Read)), &asked));
    asked.check("always 0, always 0");
}

#[test]
fn a_question_that_a_waiter_left_in_the_system_is_taken_back_before_the_close() {
    let (record, asked) = (DescriptorRecord::new(), Asked { has_only_once: true, ..Asked::default() });
    assert!(joined(&record, 1, Interest::Read, None, &asked));
    // Its time has passed.
    record.leave(1, Interest::Read, 0);
    let mut is_unwatched = false;
    assert_eq!(names(record.forget(|| is_unwatched = true)), []);
    assert!(is_unwatched, "poll(2) would go on waiting for the open file, and keep it open");
    assert_eq!(names(record.forget(|| panic!("nobody watches"))), []);
}
