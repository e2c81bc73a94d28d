//! The search for the next thread to run, by workers that find none in their own queues.
//!
//! A worker without work gives its slot back and sleeps (`IdleCarriers`), or waits for events in place of that
//! (`polling`). Invariant: it gives its slot back before it is counted as idle, and looks at all queues after that.

use crate::carriers::wake_one;
use crate::green::Green;
use crate::idle::{self, SleepEnd};
use crate::parts::{self, next_deadline_ns, pop_shared, slots};
use crate::runnable::{expire_timers, spill};
use crate::watcher_sleep::note_work;
use crate::worker::Worker;
use crate::workers::{has_stealable_work, has_waiting_work, steal};
use crate::{poller, polling};
use std::time::Duration;

/// For a worker's base context: the next thread to run; sleeps until there is one.
pub(crate) fn find_work(worker: &'static Worker) -> &'static Green {
    let idle = parts::idle();
    let mut is_searching = false;
    loop {
        if slots().keep(&worker.slot) {
            expire_timers();
            let has_looked = worker.is_look_due();
            if has_looked {
                polling::look(worker, idle);
            }
            let found = worker.pick();
            let found = found.or_else(|| if !has_looked && polling::look(worker, idle) { worker.pick() } else { None });
            let found = found.or_else(|| {
                is_searching = is_searching || idle.start_searching();
                if is_searching { search_for_long(worker) } else { None }
            });
            if let Some(green) = found {
                return found_work(green, is_searching);
            }
            slots().give_back(&worker.slot);
        } else {
            spill(worker);
        }
        // Without a slot for it a worker cannot look after timers; then the watcher does. It searches after every
        // sleep.
        let deadline_ns = || if slots().free() == 0 { None } else { next_deadline_ns() };
        let poller = poller::get();
        let mut poll = |timeout: Option<Duration>, before: &mut dyn FnMut()| {
            if let Some(poller) = poller {
                polling::wait(worker, poller, timeout, before);
            }
        };
        let poll: Option<idle::Poll> = if poller.is_some() { Some(&mut poll) } else { None };
        let end = idle.sleep_or_poll(worker.number, is_searching, deadline_ns, || look_again(worker), poll);
        // However it ended: the watcher may sleep because this worker waited for events, which it does no more.
        note_work();
        match end {
            SleepEnd::Found(green) => return found_work(green, true),
            SleepEnd::Woken | SleepEnd::TimedOut => is_searching = true,
            SleepEnd::Polled => is_searching = false,
        }
    }
}

fn found_work(green: &'static Green, is_searching: bool) -> &'static Green {
    if is_searching {
        parts::idle().stop_searching(has_waiting_work);
    }
    // There is a worker without a slot for it, too, if more is queued.
    if slots().free() != 0 && has_waiting_work() {
        wake_one();
    }
    green
}

/// Before a worker sleeps: a thread that has come meanwhile, with a slot for it.
fn look_again(worker: &'static Worker) -> Option<&'static Green> {
    if !has_stealable_work() || !slots().keep(&worker.slot) {
        return None;
    }
    let found = worker.pick().or_else(|| steal(worker, false));
    if found.is_none() {
        slots().give_back(&worker.slot);
    }
    found
}

/// Spins for some microseconds, unless it can wait for events instead; at the end also takes threads from other
/// workers' `run_next` slots that those have not come to.
fn search_for_long(worker: &'static Worker) -> Option<&'static Green> {
    const LOOKS: u32 = 20;
    const SPINS: u32 = 40;
    let looks = if poller::get().is_some() { 0 } else { LOOKS };
    for _ in 0..looks {
        for _ in 0..SPINS {
            saki_os::cpu::spin_hint();
        }
        if let Some(green) = pop_shared().or_else(|| steal(worker, false)) {
            return Some(green);
        }
    }
    pop_shared().or_else(|| steal(worker, true))
}
