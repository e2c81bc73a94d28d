//! The computation that the calling thread is in, if its failures may prove nothing (`requests`).
//!
//! A managed thread may change its OS thread when it waits for the loader lock, so the word that leads to the
//! computation is the managed thread's; other threads have one in thread-local storage. Invariant: a thread's word
//! leads to a value on its own stack, in a frame that has not returned, or is null.

use std::cell::Cell;
use std::sync::atomic::Ordering;

thread_local! {
    /// For threads that are not managed.
    static OF_OTHERS: Cell<*mut ()> = const { Cell::new(std::ptr::null_mut()) };
}

/// A computation, with what its user keeps about it.
pub(crate) struct Computation {
    /// Whether failures from now on prove nothing, because something that they may follow from was not tried.
    pub are_failures_doubted: Cell<bool>,
    /// The user's own; see `requests`.
    pub details: *const (),
}

/// Sets the calling thread's word, and returns the one before.
fn replace(word: *mut ()) -> *mut () {
    match saki_thread::current() {
        // Relaxed: only the thread itself uses it.
        Some(thread) => thread.computation.swap(word, Ordering::Relaxed),
        None => OF_OTHERS.replace(word),
    }
}

/// Puts the word back, also when the computation panics.
struct Before(*mut ());

impl Drop for Before {
    fn drop(&mut self) {
        replace(self.0);
    }
}

/// Runs `work` as this computation. The thread stays managed, or not managed, meanwhile.
pub(crate) fn run<T>(computation: &Computation, work: impl FnOnce() -> T) -> T {
    let _before = Before(replace(std::ptr::from_ref(computation).cast_mut().cast()));
    work()
}

/// Calls `ask` with the computation that the thread is in.
pub(crate) fn with_current<T>(ask: impl FnOnce(Option<&Computation>) -> T) -> T {
    let word = match saki_thread::current() {
        // Relaxed: as in `replace`.
        Some(thread) => thread.computation.load(Ordering::Relaxed),
        None => OF_OTHERS.get(),
    };
    // SAFETY: null, or what `run` stored on this thread; it has not returned, since it puts the word back when it does.
    ask(unsafe { word.cast::<Computation>().as_ref() })
}
