//! The one machine of the process, calls into it, and the objects that are kept for the host.
//!
//! | `MACHINE` | meaning | who changes it |
//! |---|---|---|
//! | none | no machine has been started | |
//! | a machine | it runs, or has ended, which `saki::Vm::run` says | `saki_start`, once |

use saki::{Object, Refused, Thread, Unscoped, Vm};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

static MACHINE: OnceLock<Vm> = OnceLock::new();

/// Objects that are kept for the host: by handles and errors. Relaxed throughout: a count, which publishes nothing.
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// The most objects that are kept for the host, of some 33 million handles that there are: the machine has the others.
const MAX_KEPT: usize = 1 << 24;

/// The machine, if one has been started.
pub fn machine() -> Option<&'static Vm> {
    MACHINE.get()
}

/// The process has its machine. False if it had one.
pub fn set_machine(started: Vm) -> bool {
    MACHINE.set(started).is_ok()
}

/// Runs `body` inside the machine. The calling thread stays attached afterwards.
///
/// # Errors
/// The machine has ended, or the thread is at its end.
pub fn enter<R>(vm: &Vm, body: impl for<'t> FnOnce(Thread<'t>) -> R) -> Result<R, Refused> {
    if !saki::is_attached() {
        vm.attach()?.keep();
    }
    vm.run(body)
}

/// How many objects are kept.
pub fn count() -> usize {
    KEPT.load(Ordering::Relaxed)
}

/// Keeps an object until it is let go. None, without a change, if there are too many.
pub fn keep(t: Thread<'_>, object: Object<'_>) -> Option<Unscoped> {
    if KEPT.load(Ordering::Relaxed) >= MAX_KEPT {
        return None;
    }
    let kept = Unscoped::new(t, object)?;
    KEPT.fetch_add(1, Ordering::Relaxed);
    Some(kept)
}

/// Lets an object go, on a thread inside the machine.
pub fn let_go(t: Thread<'_>, kept: Unscoped) {
    if kept.free(t) {
        KEPT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets objects go that the host keeps, from outside.
pub fn release(all: &mut Vec<Unscoped>) {
    let Some(vm) = machine().filter(|_| !all.is_empty()) else { return };
    if enter(vm, |t| all.drain(..).for_each(|kept| let_go(t, kept))).is_ok() {
        return;
    }
    // The machine or the thread is at its end.
    let freed = all.drain(..).filter(|kept| kept.free_from_outside()).count();
    KEPT.fetch_sub(freed, Ordering::Relaxed);
}
