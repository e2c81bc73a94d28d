//! Carriers that wait for events, or look for them (`poller`).

use crate::idle::IdleCarriers;
use crate::parts::{is_polled, slots};
use crate::poller::{self, Poller};
use crate::watcher_sleep::note_work;
use crate::worker::Worker;
use std::time::Duration;

/// From now on there is something to wait for. At the first call carriers begin to.
pub fn start_polling(poller: &'static Poller) {
    if poller::set(poller) {
        note_work();
        is_polled();
    }
}

/// For a worker with a slot, in its base context: looks for events without waiting. Whether they woke threads, which
/// are in the worker's queue.
pub(crate) fn look(worker: &'static Worker, idle: &IdleCarriers) -> bool {
    worker.note_look();
    worker.set_collecting(true);
    let has_woken = poller::look_from_outside(idle);
    worker.set_collecting(false);
    if has_woken {
        note_work();
    }
    has_woken
}

/// For an idle worker, which has the role: as `Poller::poll`. If there are events it takes a slot if it gets one, after
/// `before`.
pub(crate) fn wait(worker: &'static Worker, poller: &Poller, timeout: Option<Duration>, before: &mut dyn FnMut()) {
    let mut is_first = true;
    (poller.poll)(timeout, &mut |thread| {
        if std::mem::take(&mut is_first) {
            before();
            worker.set_collecting(slots().keep(&worker.slot));
        }
        thread.unpark();
    });
    worker.set_collecting(false);
}
