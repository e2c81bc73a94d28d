//! The switch from one thread to the next.
//!
//! A thread that parks chooses the next one itself and switches to it, on its own stack; only when there is none it
//! switches to the worker's *base context*, which looks further (`search`: other workers, the injector, timers) and
//! sleeps. The remaining work for a thread that was switched away from (`After`) is done by the context that runs next,
//! because until then the thread's stack is in use.

use crate::cold;
use crate::green::Green;
use crate::growth;
use crate::parts::{self, slots};
use crate::runnable::{inject, make_runnable, put_behind};
use crate::search::find_work;
use crate::worker::{After, Worker, here_for_switch};
use saki_base::locks::order;
use saki_fiber::Context;
use saki_thread::scheduling;
use std::sync::atomic::Ordering;

impl Worker {
    /// Does the remaining work for the thread that ran before, and waits for a stop whose stopper may not have seen the
    /// present one.
    fn finish_switch(&'static self) {
        if let Some((after, green)) = self.after.take() {
            match after {
                After::Park if green.word.publish_parked() => {}
                After::Park => make_runnable(green),
                After::Yield => put_behind(green),
                After::Requeue => inject(green),
                After::End => end(green),
            }
        }
        if let Some(carrier) = self.carrier() {
            scheduling::heed_stop(carrier);
        }
    }

    /// Suspends the present context in `from` and goes on with `next`.
    #[inline(always)]
    fn switch_to(&'static self, from: *mut Context, next: &'static Green) {
        // Relaxed: a hint.
        next.has_run.store(true, Ordering::Relaxed);
        if next.thread.is_cold() {
            cold::restore(next);
        }
        // SAFETY: `next` came from a queue, so no other thread has its record.
        if unsafe { (*next.context.get()).stack_pointer() } == 0 {
            prepare(next);
        }
        if let Some(carrier) = self.carrier() {
            scheduling::take_up(carrier, Some(next.thread));
        }
        // SAFETY: both are alive; `next` came from a queue, so it is suspended or prepared and no other thread has it.
        unsafe { saki_fiber::switch(from, next.context.get()) };
    }
}

/// A worker's base context: runs one thread after the other, for ever.
pub(crate) fn run(worker: &'static Worker) -> ! {
    loop {
        worker.finish_switch();
        let next = find_work(worker);
        worker.switch_to(worker.base(), next);
    }
}

/// Whether the present thread must not choose the next one itself: the worker has no slot, or has to give it away, or
/// is to look for events.
#[inline]
fn must_go_to_base(worker: &Worker) -> bool {
    slots().has_returning() || !worker.is_active() || worker.is_look_due()
}

/// Switches away from `green`, the present thread, which is WAITING; returns when it is its turn again, perhaps on
/// another carrier.
pub(crate) fn leave(green: &'static Green, after: After) {
    if after == After::Park {
        growth::give_inner(green, false);
    }
    let held = order::carry();
    let worker = here_for_switch();
    worker.after.set(Some((after, green)));
    let next = if must_go_to_base(worker) { None } else { worker.pick() };
    match next {
        Some(next) => worker.switch_to(green.context.get(), next),
        None => {
            if let Some(carrier) = worker.carrier() {
                scheduling::take_up(carrier, None);
            }
            // SAFETY: both are alive; the base context is suspended while the worker runs a thread.
            unsafe { saki_fiber::switch(green.context.get(), worker.base()) };
        }
    }
    here_for_switch().finish_switch();
    held.restore();
}

/// Writes the first frame of a thread that has never run. Done here rather than where the thread is started, so that
/// the carriers, and not one thread that starts many, wait for the page of each stack.
#[cold]
fn prepare(next: &'static Green) {
    // SAFETY: the thread has not begun, and came from a queue: the cells are this carrier's.
    let (stack, context) = unsafe { ((*next.stack.get()).as_ref(), &mut *next.context.get()) };
    let Some(stack) = stack else { saki_base::bug!("a green thread that begins has no stack") };
    // SAFETY: the stack was taken for this thread, which keeps it until it ends; nothing uses it yet.
    *context = unsafe { saki_fiber::prepare(stack.top(), begin, next.as_pointer().cast()) };
}

/// The first function of a new green thread.
extern "C" fn begin(green: *mut u8) -> ! {
    // SAFETY: `scheduler::spawn` prepared the context with a record, which is never freed.
    let green: &'static Green = unsafe { &*green.cast::<Green>() };
    here_for_switch().finish_switch();
    // SAFETY: the thread runs: the cells are its own.
    let (body, stack) = unsafe { ((*green.body.get()).take(), (*green.stack.get()).as_ref()) };
    if let (Some(body), Some(stack)) = (body, stack) {
        scheduling::run_green(green.thread, stack.bounds(), &stack.guard(), growth::of(green), body);
    }
    leave(green, After::End);
    saki_base::bug!("a thread that had ended went on")
}

/// The first function of the main worker's base context.
pub(crate) extern "C" fn begin_base(worker: *mut u8) -> ! {
    // SAFETY: `scheduler::start` prepared the context with a worker, which is never freed.
    let worker: &'static Worker = unsafe { &*worker.cast::<Worker>() };
    run(worker)
}

/// A thread has ended and left its stack.
pub(crate) fn end(green: &'static Green) {
    // SAFETY: the thread runs no more, and its record is used again only after `end_green`.
    let stack = unsafe { (*green.stack.get()).take() };
    growth::give_inner(green, true);
    if let (Some(stack), Some(parts)) = (stack, parts::get()) {
        parts.stacks.give(stack);
        cold::note_end();
    }
    scheduling::end_green(green.thread);
}
