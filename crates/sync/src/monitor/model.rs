//! Models of the monitor. In these models a thread is handed the lock after one lost race, and a monitor is retired
//! after one uncontended exit.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | entrants | the CAS of `try_acquire` Relaxed; the store of `exit` Relaxed; no barrier behind it, no second look; `acquire_or_flag` without WAITERS, without the barrier, keeping WAKING, or without a look when woken |
//! | hand-over | `release` tells the heir before the word names it |
//! | pulse | `wait` queues its node after it has freed the lock; the wait queue's length is not kept |
//! | pulse of all | who gets the lock leaves its node in the entry queue |
//! | timeout against pulse | `wait` takes PULSED for timed out; a timed-out node stays; a pulsed one enters twice |
//! | interrupt against exit | an interrupted entrant that was woken leaves without competing |
//! | interrupt against pulse | as timeout against pulse |
//!
//! No model shows that `give_up_to_pulsed` must set WAITERS: `release` does so, too, unless a woken thread is on its
//! way.
//! No model can fail when the phase's Release is weakened: the heir locks `queues` before it returns, which acquires as
//! well.

use super::*;
use crate::facade::{Arc, atomic::AtomicUsize, thread};
use crate::model::{ModelThread, Section, TIMED, explore};

/// The last is for the model.
type Shared = (Monitor, Section, AtomicUsize);

fn shared() -> Arc<Shared> {
    Arc::default()
}

fn run(me: &ModelThread, (monitor, section, _): &Shared) {
    assert_eq!(monitor.enter(me, None), Ok(EnterEnd::Entered));
    section.touch();
    monitor.exit(me.managed_id()).unwrap();
}

/// Nobody is in it or queued, and no flag has stayed behind.
fn assert_unused(monitor: &Monitor) {
    assert!(monitor.is_idle());
    assert_eq!((monitor.owner(), monitor.flags.load(Ordering::Relaxed)), (0, 0));
}

#[test]
fn model_no_wake_is_lost_between_entrants() {
    explore(None, || {
        let shared = shared();
        let other = shared.clone();
        let thread = thread::spawn(move || run(&ModelThread::new(2), &other));
        run(&ModelThread::new(1), &shared);
        thread.join().unwrap();
        assert_unused(&shared.0);
    });
}

#[test]
fn model_no_wake_is_lost_among_three_entrants() {
    // Two preemptions put two threads into the entry queue behind an owner; from there on the order is the queue's.
    explore(Some(2), || {
        let shared = shared();
        let threads = [2, 3].map(|id| {
            let shared = shared.clone();
            thread::spawn(move || run(&ModelThread::new(id), &shared))
        });
        run(&ModelThread::new(1), &shared);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_unused(&shared.0);
    });
}

#[test]
fn model_a_thread_that_loses_the_race_is_handed_the_lock() {
    // One preemption to get a waiter, one for the race that it loses, one for the hand-over.
    explore(Some(3), || {
        let shared = shared();
        let heir = Arc::new(ModelThread::new(2));
        let (other, its) = (shared.clone(), heir.clone());
        let thread = thread::spawn(move || run(&its, &other));
        // The second and third entry compete with the thread that the exit before has woken.
        let me = ModelThread::new(1);
        run(&me, &shared);
        run(&me, &shared);
        // A stale token, as interrupts leave one: the heir may check its phase before it is woken.
        heir.node().parker.unpark();
        run(&me, &shared);
        thread.join().unwrap();
        assert_unused(&shared.0);
    });
}

#[test]
fn model_a_pulse_reaches_the_waiter() {
    explore(None, || {
        let shared = shared();
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let (monitor, section, ready) = &*other;
            let me = ModelThread::new(2);
            monitor.enter(&me, None).unwrap();
            while ready.load(Ordering::Relaxed) == 0 {
                assert_eq!(monitor.wait(&me, None), Ok(WaitOutcome::Pulsed));
            }
            section.touch();
            monitor.exit(2).unwrap();
        });
        let (monitor, section, ready) = &*shared;
        let me = ModelThread::new(1);
        monitor.enter(&me, None).unwrap();
        section.touch();
        ready.store(1, Ordering::Relaxed);
        monitor.pulse(1).unwrap();
        monitor.exit(1).unwrap();
        thread.join().unwrap();
        assert_unused(monitor);
    });
}

/// A waiter enters, waits with or without a timeout, and touches the section. An interrupt may end the entry already.
fn spawn_waiter(
    me: &Arc<ModelThread>,
    shared: &Arc<Shared>,
    timeout: Option<Duration>,
) -> thread::JoinHandle<WaitOutcome> {
    let (me, shared) = (me.clone(), shared.clone());
    thread::spawn(move || {
        let (monitor, section, _) = &*shared;
        if monitor.enter(&*me, None) != Ok(EnterEnd::Entered) {
            return WaitOutcome::Interrupted;
        }
        let end = monitor.wait(&*me, timeout).unwrap();
        section.touch();
        monitor.exit(me.managed_id()).unwrap();
        end
    })
}

/// Pulses one or all; how many of the waiters it has reached. A pulsed node stays so until the pulser leaves.
fn pulse(me: &ModelThread, (monitor, section, _): &Shared, waiters: &[&Arc<ModelThread>], is_all: bool) -> usize {
    monitor.enter(me, None).unwrap();
    section.touch();
    if is_all { monitor.pulse_all(me.managed_id()) } else { monitor.pulse(me.managed_id()) }.unwrap();
    let pulsed = waiters.iter().filter(|w| w.node().signal.load(Ordering::Relaxed) == PULSED).count();
    monitor.exit(me.managed_id()).unwrap();
    pulsed
}

#[test]
fn model_a_timeout_and_a_pulse_agree() {
    // The waiter's timeout can come at any moment (a timed wait may end at once), so three preemptions place enter,
    // timeout and the way back into the monitor anywhere against enter, pulse and exit.
    explore(Some(3), || {
        let shared = shared();
        let me = Arc::new(ModelThread::new(2));
        let waiter = spawn_waiter(&me, &shared, TIMED);
        let pulsed = pulse(&ModelThread::new(1), &shared, &[&me], false);
        let end = waiter.join().unwrap();
        assert_eq!(end, if pulsed == 1 { WaitOutcome::Pulsed } else { WaitOutcome::TimedOut });
        assert_unused(&shared.0);
    });
}

#[test]
fn model_an_entrant_that_times_out_leaves_nothing_behind() {
    // The timeout falls between any two steps of the owner's two rounds with three preemptions: into the queue, out of
    // it, and back while a wake is on its way.
    explore(Some(3), || {
        let shared = shared();
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let me = ModelThread::new(2);
            match other.0.enter(&me, TIMED).unwrap() {
                EnterEnd::Entered => {
                    other.1.touch();
                    other.0.exit(2).unwrap();
                }
                end => assert_eq!(end, EnterEnd::TimedOut),
            }
        });
        let me = ModelThread::new(1);
        run(&me, &shared);
        run(&me, &shared);
        thread.join().unwrap();
        assert_unused(&shared.0);
    });
}

#[test]
fn model_an_interrupted_entrant_passes_its_wake_on() {
    // Thread 3 waits behind the entrant that is interrupted: it must get the lock whatever becomes of the one before
    // it.
    // One preemption has both queue behind the owner (that they then run in either order costs none), and one puts the
    // owner's exit between the entrant's look at its request and its look at its phase.
    explore(Some(2), || {
        let shared = shared();
        let victim = Arc::new(ModelThread::new(2));
        let (other, its) = (shared.clone(), victim.clone());
        let entrant = thread::spawn(move || match other.0.enter(&*its, None).unwrap() {
            EnterEnd::Entered => {
                other.1.touch();
                other.0.exit(2).unwrap();
            }
            end => assert_eq!(end, EnterEnd::Interrupted),
        });
        let other = shared.clone();
        let bystander = thread::spawn(move || run(&ModelThread::new(3), &other));
        let me = ModelThread::new(1);
        assert_eq!(shared.0.enter(&me, None), Ok(EnterEnd::Entered));
        shared.1.touch();
        victim.interrupt();
        shared.0.exit(1).unwrap();
        entrant.join().unwrap();
        bystander.join().unwrap();
        assert_unused(&shared.0);
    });
}

#[test]
fn model_an_interrupt_and_a_pulse_agree() {
    // As for the timeout. The interrupter has two steps, store and token, of which the waiter sees the first alone: it
    // adds a place, not a preemption.
    explore(Some(3), || {
        let shared = shared();
        let victim = Arc::new(ModelThread::new(2));
        let waiter = spawn_waiter(&victim, &shared, None);
        let interrupter = thread::spawn({
            let victim = victim.clone();
            move || victim.interrupt()
        });
        let pulsed = pulse(&ModelThread::new(1), &shared, &[&victim], false);
        let end = waiter.join().unwrap();
        interrupter.join().unwrap();
        assert_eq!(end, if pulsed == 1 { WaitOutcome::Pulsed } else { WaitOutcome::Interrupted });
        assert_unused(&shared.0);
    });
}

#[test]
fn model_a_pulse_is_not_lost_on_a_waiter_that_times_out() {
    // Two waiters, the first with a timeout. A pulse that finds a waiter ends exactly one wait. That both wait costs no
    // preemption; one puts the timeout between the pulse and the exit, one the exit between the timeout and its look.
    explore(Some(2), || {
        let shared = shared();
        let (hasty, patient) = (Arc::new(ModelThread::new(2)), Arc::new(ModelThread::new(3)));
        let threads = [spawn_waiter(&hasty, &shared, TIMED), spawn_waiter(&patient, &shared, None)];
        let pulsed = pulse(&ModelThread::new(1), &shared, &[&hasty, &patient], false);
        // Ends the patient wait in case the pulse came too early or was another's.
        patient.interrupt();
        let ends = threads.map(|t| t.join().unwrap());
        assert_eq!(ends.iter().filter(|end| **end == WaitOutcome::Pulsed).count(), pulsed);
        assert_unused(&shared.0);
    });
}

#[test]
fn model_a_pulse_of_all_reaches_a_waiter_that_times_out_and_one_that_does_not() {
    // The exit puts both into the entry queue, or the first has put itself there, or it gets the lock without. One
    // preemption puts the timeout before the pulse or behind it, one the exit into the way back into the monitor.
    explore(Some(2), || {
        let shared = shared();
        let (hasty, patient) = (Arc::new(ModelThread::new(2)), Arc::new(ModelThread::new(3)));
        let threads = [spawn_waiter(&hasty, &shared, TIMED), spawn_waiter(&patient, &shared, None)];
        let pulsed = pulse(&ModelThread::new(1), &shared, &[&hasty, &patient], true);
        // Ends the patient wait in case the pulse came too early.
        patient.interrupt();
        let ends = threads.map(|t| t.join().unwrap());
        assert_eq!(ends.iter().filter(|end| **end == WaitOutcome::Pulsed).count(), pulsed);
        assert_unused(&shared.0);
    });
}
