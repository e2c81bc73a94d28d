//! The poller: asking the system which descriptors are ready, and waking whoever waits for them.
//!
//! Invariant: a record's lock is held for a few instructions and one system call, never while waking or waiting.

use crate::backend::{Backend, Event};
use crate::descriptor::{self, Descriptor, Waiter, record};
use crate::model::{PolledBy, model, polled_by};
use crate::observer;
use crate::record::{Interest, Woken};
use saki_base::locks::rank;
use saki_os::services::{self, Service};
use saki_os::{ForkActions, ForkStage, on_fork};
use saki_sync::word_locks::Mutex;
use saki_thread::{ManagedThread, child_locks};
use std::io;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// Null until the first wait, in a forked child again. Release, read with Acquire. Never freed.
static BACKEND: AtomicPtr<Started> = AtomicPtr::new(std::ptr::null_mut());
/// Held by the thread that starts the backend.
static START: Mutex<rank::ReactorStart, ()> = Mutex::new(());

type Started = Result<Box<dyn Backend>, i32>;

fn started() -> Option<&'static Started> {
    // SAFETY: null, or a leaked value.
    unsafe { BACKEND.load(Ordering::Acquire).as_ref() }
}

/// The backend, which starts at the first wait, together with the thread or scheduler that polls.
///
/// # Errors
/// The system's, which has no descriptor or no thread left.
pub(crate) fn backend() -> io::Result<&'static dyn Backend> {
    let started = started().unwrap_or_else(|| {
        let _start = START.lock();
        if let Some(started) = started() {
            return started;
        }
        let number = |error: io::Error| error.raw_os_error().unwrap_or(libc::EAGAIN);
        let new: &'static Started = saki_base::leak(model().open().map_err(number));
        let is_polled = match polled_by() {
            PolledBy::OwnThread if new.is_ok() => services::machine().start(Service::Reactor, poll_for_ever),
            _ => Ok(()),
        };
        let new = is_polled.map_or_else(|error| saki_base::leak(Err(number(error))), |()| new);
        BACKEND.store(std::ptr::from_ref(new).cast_mut(), Ordering::Release);
        if new.is_ok()
            && let PolledBy::Others { begun } = polled_by()
        {
            begun();
        }
        new
    });
    match started {
        Ok(backend) => Ok(&**backend),
        Err(errno) => Err(io::Error::from_raw_os_error(*errno)),
    }
}

fn poll_for_ever() {
    while !services::machine().is_ending() {
        match started() {
            Some(Ok(_)) => poll(None, &mut ManagedThread::unpark),
            Some(Err(_)) => return,
            // The starter stores it right after this thread began.
            None => std::thread::yield_now(),
        }
    }
}

/// Asks the system which descriptors are ready, and waits until there are some, the timeout has passed, or
/// [`interrupt`] is called; each thread that has to go on is passed to `wake`, which unparks it. May return without an
/// event. One caller at a time, namely the poller that `start` has named.
pub fn poll(timeout: Option<Duration>, wake: &mut dyn FnMut(&'static ManagedThread)) {
    let Some(Ok(backend)) = started() else { return };
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
    if let Some(Ok(backend)) = started() {
        backend.interrupt();
    }
}

/// Adds the reactor to the parts that take notice of forks: a child shares the descriptors of the system's interfaces
/// with its parent, whose events it would take. It asks for its own at its first wait; the parent's stay open, as all
/// descriptors do.
pub fn hook_forks() {
    on_fork(
        ForkStage::Reactor,
        ForkActions {
            prepare: || child_locks::hold(&START),
            parent: || child_locks::release(&START),
            child: || {
                child_locks::revive(&START);
                BACKEND.store(std::ptr::null_mut(), Ordering::Release);
                descriptor::forget_all();
            },
            ..ForkActions::NONE
        },
    );
}

/// The descriptor is about to be closed: threads that wait for it try again, and find it closed.
pub fn forget(fd: i32) {
    let (Some(Ok(backend)), Some(place)) = (started(), record(fd)) else { return };
    wake_all(fd, place.forget(|| backend.unwatch(fd)), &mut ManagedThread::unpark);
}
