//! The domain that the calling thread runs in.
//!
//! A managed thread's `ThreadAbi` holds the universe of its domain; code that switches a thread to another domain calls
//! `enter`. Threads that are not managed are in the first domain.

use crate::domain::Universe;
use saki_abi::ThreadAbi;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The universe of the domain in which the process starts.
static ROOT: OnceLock<&'static Universe> = OnceLock::new();

/// Whether there has ever been a second universe: in programs with one domain, look-ups need not determine the calling
/// thread.
static HAS_SEVERAL: AtomicBool = AtomicBool::new(false);

/// The tables of the domain that the calling thread runs in; `init` must have been called.
pub fn universe() -> &'static Universe {
    // Relaxed: a thread that enters a second universe got it from the thread that made it, which set this flag before.
    if HAS_SEVERAL.load(Ordering::Relaxed) { entered().unwrap_or_else(root) } else { root() }
}

/// The universe that the calling thread has entered; None if it has entered none or is not a managed thread.
#[inline(never)]
fn entered() -> Option<&'static Universe> {
    let thread = saki_thread::current()?;
    // SAFETY: the calling thread's own structure.
    unsafe { entered_by(thread.abi()) }
}

/// The universe that a thread has entered; None if it has entered none.
///
/// # Safety
/// `thread` is the calling thread or a stopped one: only the thread itself writes the field.
pub unsafe fn entered_by(thread: *const ThreadAbi) -> Option<&'static Universe> {
    // SAFETY: as the caller promises.
    let entered = unsafe { (*thread).universe };
    // SAFETY: `replace_entered` put a `&'static Universe` or null there.
    unsafe { entered.cast::<Universe>().as_ref() }
}

/// Sets the universe that the calling thread has entered, and returns the previous one. A thread that is not managed
/// stays in the root universe.
fn replace_entered(universe: Option<&'static Universe>) -> Option<&'static Universe> {
    let Some(thread) = saki_thread::current() else {
        if universe.is_some_and(|universe| universe != root()) {
            saki_base::bug!("a thread that is not managed enters another domain");
        }
        return None;
    };
    let before = entered();
    // SAFETY: the calling thread's own structure; only the thread itself touches the field.
    unsafe { (*thread.abi()).universe = universe.map_or(std::ptr::null(), std::ptr::from_ref).cast() };
    before
}

/// The tables of the domain in which the process started.
pub fn root() -> &'static Universe {
    ROOT.get().expect("types::universe::init was called at start-up")
}

/// Guard of `enter`; when dropped, the thread goes back to the previous universe.
#[must_use]
pub struct Entered {
    before: Option<&'static Universe>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        replace_entered(self.before);
    }
}

/// Makes `universe` the calling thread's until the guard is dropped.
pub fn enter(universe: &'static Universe) -> Entered {
    Entered { before: replace_entered(Some(universe)) }
}

/// Makes `universe` the calling thread's.
pub fn set_current(universe: &'static Universe) {
    replace_entered(Some(universe));
}

/// Publishes a universe that has just been made, without types yet. Returns whether it is the first.
pub(crate) fn publish(universe: &'static Universe) -> bool {
    // The first universe is published at once: no other thread exists yet that could see it incomplete.
    let is_first = ROOT.set(universe).is_ok();
    if !is_first {
        // Relaxed: see `universe`.
        HAS_SEVERAL.store(true, Ordering::Relaxed);
    }
    is_first
}
