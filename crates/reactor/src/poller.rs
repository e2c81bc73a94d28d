//! The poller: asking the system which descriptors are ready, and waking whoever waits for them.
//!
//! Invariant: a record's lock is held for a few instructions and one system call, never while waking or waiting.

use crate::backend::{Backend, Event};
use crate::descriptor::{Descriptor, Waiter, record};
use crate::model::{PolledBy, model, polled_by};
use crate::observer;
use crate::record::{Interest, Woken};
use saki_thread::ManagedThread;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

static BACKEND: OnceLock<Result<Box<dyn Backend>, i32>> = OnceLock::new();

/// The backend, which starts at the first wait, together with the thread or scheduler that polls.
///
/// # Errors
/// The system's, which has no descriptor or no thread left.
pub(crate) fn backend() -> io::Result<&'static dyn Backend> {
    let mut is_new = false;
    let started = BACKEND.get_or_init(|| {
        let number = |error: io::Error| error.raw_os_error().unwrap_or(libc::EAGAIN);
        let backend = model().open().map_err(number)?;
        is_new = true;
        if matches!(polled_by(), PolledBy::OwnThread) {
            saki_os::thread::start_service("saki-reactor", poll_for_ever).map_err(number)?;
        }
        Ok(backend)
    });
    if is_new && let PolledBy::Others { begun } = polled_by() {
        begun();
    }
    match started {
        Ok(backend) => Ok(&**backend),
        Err(errno) => Err(io::Error::from_raw_os_error(*errno)),
    }
}

fn poll_for_ever() {
    loop {
        match BACKEND.get() {
            Some(Ok(_)) => poll(None, &mut ManagedThread::unpark),
            Some(Err(_)) => return,
            // The starter stores it right after this thread began.
            None => std::thread::yield_now(),
        }
    }
}

/// Asks the system which descriptors are ready, and waits until there are some, the timeout has passed, or [`interrupt`] is called; each thread that has to go
/// on is passed to `wake`, which unparks it. May return for nothing. One caller at a time, namely the poller that `start` has named.
pub fn poll(timeout: Option<Duration>, wake: &mut dyn FnMut(&'static ManagedThread)) {
    let Some(Ok(backend)) = BACKEND.get() else { return };
    let mut tell = |event: Event| match event {
        Event::Ready(fd, ready) => {
            if let Some(place) = record(fd) {
                wake_all(fd, place.report(ready, &Descriptor { backend: &**backend, fd }), wake);
            }
        }
        Event::Moved(thread) => wake(thread),
    };
    if let Err(error) = backend.wait(timeout, &mut tell) {
        saki_base::bug!("the system does not say which descriptors are ready: {error}");
    }
}

/// Wakes the threads that waited for the descriptor to be readable, and those that waited for it to be writable.
fn wake_all(fd: i32, woken: [Woken<Waiter>; 2], wake: &mut dyn FnMut(&'static ManagedThread)) {
    for (woken, interest) in woken.into_iter().zip([Interest::Read, Interest::Write]) {
        woken.for_each(&mut |waiter| match waiter {
            Waiter::Thread(thread) => wake(thread),
            Waiter::Observer => observer::tell(fd, interest).into_iter().for_each(&mut *wake),
        });
    }
}

/// Ends the present [`poll`], or the next one.
pub fn interrupt() {
    if let Some(Ok(backend)) = BACKEND.get() {
        backend.interrupt();
    }
}

/// The descriptor is about to be closed: threads that wait for it try again, and find it closed.
pub fn forget(fd: i32) {
    let (Some(Ok(backend)), Some(place)) = (BACKEND.get(), record(fd)) else { return };
    wake_all(fd, place.forget(|| backend.unwatch(fd)), &mut ManagedThread::unpark);
}
