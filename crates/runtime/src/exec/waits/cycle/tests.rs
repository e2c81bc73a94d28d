//! The cycle with a scripted thread, attempts and stays: no sockets, no clock, no machine.

use super::*;
use saki_os::error::Errno;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What happens, in order, as one line of words.
#[derive(Default)]
struct Log(RefCell<Vec<String>>);

impl Log {
    fn note(&self, word: impl Into<String>) {
        self.0.borrow_mut().push(word.into());
    }
}

struct Script<'a> {
    log: &'a Log,
    /// Answers to `Waiter::request`; then there is no request.
    requests: RefCell<VecDeque<Request>>,
}

impl Waiter for Script<'_> {
    fn request(&self) -> Request {
        self.requests.borrow_mut().pop_front().unwrap_or(Request::None)
    }

    fn stop_if_asked(&self) {
        self.log.note("stop?");
    }
}

struct Stays<'a> {
    log: &'a Log,
    ends: VecDeque<Parked<u32>>,
    may_work: bool,
    /// Counted up with each stay that ends.
    stays: &'a Cell<u32>,
}

impl Source<u32> for Stays<'_> {
    fn may_work(&mut self) -> bool {
        self.may_work
    }

    fn park(&mut self, stay: Stay<'_>) -> Parked<u32> {
        let how = if stay.heeds_aborts { "park" } else { "park-heedless" };
        self.log.note(if stay.rest.is_some() { format!("{how}-limited") } else { how.to_owned() });
        self.stays.set(self.stays.get() + 1);
        self.ends.pop_front().expect("a stay of the script")
    }
}

struct Waits<'a>(&'a Log);

impl Source<u32> for Waits<'_> {
    const ATTEMPTS_WAIT: bool = true;

    fn make(&mut self, attempt: impl FnOnce() -> Attempt<u32>) -> Attempt<u32> {
        self.0.note("region");
        attempt()
    }

    fn park(&mut self, _stay: Stay<'_>) -> Parked<u32> {
        unreachable!("attempts wait by themselves")
    }
}

/// A run: its input, and what is expected.
struct Case<'a> {
    requests: &'a [Request],
    attempts: &'a [Attempt<u32>],
    stays: &'a [Parked<u32>],
    may_work: bool,
    limit: Limit<'a>,
    /// The wait is over after so many stays.
    is_over_after: u32,
}

const PLAIN: Case<'static> =
    Case { requests: &[], attempts: &[], stays: &[], may_work: true, limit: Limit::Never, is_over_after: u32::MAX };

fn shown(end: Result<Waited<u32>, Requested>) -> String {
    match end {
        Ok(Ok(value)) => format!("done {value}"),
        Ok(Err(end)) => format!("{end:?}"),
        Err(Requested) => "Requested".to_owned(),
    }
}

/// Whether the run logs the expected words and ends as expected.
fn check(case: Case<'_>, expected: &str) {
    let (log, stays) = (Log::default(), Cell::new(0));
    let waiter = Script { log: &log, requests: RefCell::new(case.requests.iter().copied().collect()) };
    let source =
        Stays { log: &log, ends: case.stays.iter().copied().collect(), may_work: case.may_work, stays: &stays };
    let is_over = || stays.get() >= case.is_over_after;
    let mut attempts = case.attempts.iter().copied();
    let end = run(&waiter, Wait::new(source).within(case.limit).unless(&is_over), |_| {
        log.note("try");
        attempts.next().expect("an attempt of the script")
    });
    log.note(shown(end));
    assert_eq!(log.0.borrow().join(" "), expected);
}

/// As `check`, for attempts that wait by themselves.
fn check_waiting(requests: &[Request], attempts: &[Attempt<u32>], is_over: bool, expected: &str) {
    let log = Log::default();
    let waiter = Script { log: &log, requests: RefCell::new(requests.iter().copied().collect()) };
    let mut attempts = attempts.iter().copied();
    let end = run(&waiter, Wait::new(Waits(&log)).unless(&|| is_over), |_| {
        log.note("try");
        attempts.next().expect("an attempt of the script")
    });
    log.note(shown(end));
    assert_eq!(log.0.borrow().join(" "), expected);
}

use Attempt::{Done, Failed, Interrupted, WouldBlock};

#[test]
fn an_operation_that_works_at_once_never_parks() {
    check(Case { attempts: &[Done(1)], ..PLAIN }, "try done 1");
    check(Case { attempts: &[Failed(Errno(libc::EPIPE))], ..PLAIN }, "try Failed(Errno(32))");
    // Even if the wait is over already.
    check(Case { attempts: &[Done(1)], is_over_after: 0, ..PLAIN }, "try done 1");
}

#[test]
fn between_two_attempts_the_thread_parks_and_stops_if_asked() {
    let stays = &[Parked::TryAgain, Parked::TryAgain];
    let attempts = &[WouldBlock, WouldBlock, Done(7)];
    check(Case { attempts, stays, ..PLAIN }, "try park stop? try park stop? try done 7");
}

#[test]
fn a_signal_repeats_the_attempt_without_parking() {
    check(Case { attempts: &[Interrupted, Done(1)], ..PLAIN }, "try try done 1");
    // Where an attempt would block for sure, too; and a signal is not the end of a wait that does not block.
    check(Case { attempts: &[Interrupted, WouldBlock], is_over_after: 0, ..PLAIN }, "try try Cancelled");
}

#[test]
fn an_attempt_that_would_block_is_made_only_when_the_wait_is_over() {
    let stays = &[Parked::TryAgain, Parked::TryAgain];
    check(
        Case { attempts: &[WouldBlock], stays, may_work: false, is_over_after: 2, ..PLAIN },
        "park stop? park stop? try Cancelled",
    );
    // Data that came at the same time are not lost.
    check(Case { attempts: &[Done(3)], stays, may_work: false, is_over_after: 1, ..PLAIN }, "park stop? try done 3");
}

#[test]
fn a_cancelled_wait_ends_after_the_stay() {
    check(
        Case { attempts: &[WouldBlock, WouldBlock], stays: &[Parked::TryAgain], is_over_after: 1, ..PLAIN },
        "try park stop? try Cancelled",
    );
}

#[test]
fn a_wait_whose_time_has_passed_tries_once_more() {
    let passed = Limit::Until(Instant::now());
    check(Case { attempts: &[WouldBlock], limit: passed, ..PLAIN }, "try TimedOut");
    check(Case { attempts: &[WouldBlock], limit: passed, may_work: false, ..PLAIN }, "try TimedOut");
    check(Case { attempts: &[Done(1)], limit: passed, may_work: false, ..PLAIN }, "try done 1");
    // The stay says that the time has passed.
    let far = Limit::Until(Instant::now() + Duration::from_secs(1 << 20));
    check(
        Case { attempts: &[Done(2)], stays: &[Parked::TimedOut], limit: far, may_work: false, ..PLAIN },
        "park-limited stop? try done 2",
    );
}

#[test]
fn a_limit_begins_when_the_thread_has_to_wait() {
    let asked = Cell::new(0);
    let time = || {
        asked.set(asked.get() + 1);
        Some(Duration::ZERO)
    };
    check(Case { attempts: &[Done(1)], limit: Limit::After(&time), ..PLAIN }, "try done 1");
    assert_eq!(asked.get(), 0);
    check(Case { attempts: &[WouldBlock], limit: Limit::After(&time), ..PLAIN }, "try TimedOut");
    assert_eq!(asked.get(), 1);
    let for_ever = || None;
    check(
        Case { attempts: &[WouldBlock, Done(1)], stays: &[Parked::TryAgain], limit: Limit::After(&for_ever), ..PLAIN },
        "try park stop? try done 1",
    );
}

#[test]
fn an_abort_ends_the_wait_before_the_attempt() {
    check(Case { requests: &[Request::Ends], ..PLAIN }, "Requested");
    // One that comes during the stay.
    check(
        Case {
            requests: &[Request::None, Request::Ends],
            attempts: &[WouldBlock],
            stays: &[Parked::TryAgain],
            ..PLAIN
        },
        "try park stop? Requested",
    );
    // One that comes while a signal interrupts the attempt.
    check(Case { requests: &[Request::None, Request::Ends], attempts: &[Interrupted], ..PLAIN }, "try Requested");
}

#[test]
fn an_abort_that_has_to_wait_does_not_end_the_stay() {
    check(
        Case {
            requests: &[Request::Deferred, Request::None],
            attempts: &[WouldBlock, Done(1)],
            stays: &[Parked::TryAgain],
            ..PLAIN
        },
        "try park-heedless stop? try done 1",
    );
}

#[test]
fn a_stay_may_end_the_operation() {
    let attempts = &[WouldBlock];
    check(Case { attempts, stays: &[Parked::Done(5)], ..PLAIN }, "try park stop? done 5");
    check(Case { attempts, stays: &[Parked::Failed(Errno(1))], ..PLAIN }, "try park stop? Failed(Errno(1))");
    check(Case { attempts, stays: &[Parked::CannotPark], ..PLAIN }, "try park stop? CannotPark");
}

#[test]
fn attempts_that_wait_run_in_a_region_and_are_repeated_after_signals() {
    check_waiting(&[], &[Interrupted, Done(1)], false, "region try stop? region try stop? done 1");
    check_waiting(&[], &[WouldBlock], false, "region try stop? WouldBlock");
    check_waiting(&[], &[Interrupted], true, "region try stop? Cancelled");
    check_waiting(&[Request::None, Request::Ends], &[Interrupted], false, "region try stop? Requested");
    // A result is not lost because the wait is over.
    check_waiting(&[], &[Done(1)], true, "region try stop? done 1");
}

#[test]
fn system_calls_end_by_their_result_and_error() {
    assert_eq!(Attempt::of(3isize), Done(3));
    assert_eq!(Attempt::of(0i32), Done(0));
    for (errno, expected) in
        [(libc::EAGAIN, WouldBlock), (libc::EINTR, Interrupted), (libc::EPIPE, Failed(Errno(libc::EPIPE)))]
    {
        saki_os::error::set_errno(errno);
        assert_eq!(Attempt::of(-1i32), expected);
    }
}
