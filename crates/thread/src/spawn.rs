//! Starting OS threads that are managed threads.
//!
//! Invariant: the thread is attached before `f` runs and detached after; while it is not attached it takes no signals.
//! It counts as foreground from before `spawn` returns. Its system resources are acquired before it begins, so that a
//! refusal reaches the caller of `spawn`. Left out: the managed `Thread` object (the caller gives `f` a handle to it).

use crate::managed_thread::ThreadKind;
use crate::managed_thread::{CREATED, ManagedThread};
use crate::registry::{ThreadRef, attach_as, detach_current};
use crate::stack_reserve::STACK_RESERVE_BYTES;
use saki_os::memory::{Reservation, is_address_space_limited};
use saki_os::signal::{AlternateStackMemory, SignalMask};
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Stack of a thread that asked for none: what `ulimit -s` usually gives the main thread. Committed on touch.
const DEFAULT_STACK_BYTES: usize = 8 << 20;
/// Where address space is scarce, the default stack is this fraction of it, but no less than .NET's on small systems.
const STACK_SHARE: usize = 256;
const LEAST_DEFAULT_STACK_BYTES: usize = 1 << 20;
const MIN_STACK_BYTES: usize = 256 << 10;

/// Address space that is left when a thread is made. Where it is limited (`ulimit -v`), a program is refused a new
/// thread while there is still room for the small allocations of running threads, whose failure could only end the
/// process.
const HEADROOM_BYTES: usize = 16 << 20;

/// How often the creator looks whether the thread has attached, which takes some 50 µs, where address space is limited.
const ATTACH_LOOK_INTERVAL: Duration = Duration::from_micros(20);

/// A started thread.
pub type SpawnedThread = ThreadRef;

struct DetachAfter;

impl Drop for DetachAfter {
    fn drop(&mut self) {
        // For good: the thread ends, and its alternate stack with the attachment.
        SignalMask::block_all();
        detach_current();
    }
}

/// Stack of a thread that asked for no size, which depends on the available address space.
pub fn default_stack_bytes() -> usize {
    saki_os::address_space::share_bytes(DEFAULT_STACK_BYTES, LEAST_DEFAULT_STACK_BYTES, STACK_SHARE)
}

/// The stack of a thread that asks for `asked_bytes` (0 = default) and needs `least_bytes`, where its program chose too
/// little.
pub fn stack_bytes(asked_bytes: usize, least_bytes: usize) -> usize {
    if asked_bytes == 0 { default_stack_bytes() } else { asked_bytes.max(least_bytes) }
}

/// Starts an OS thread, attached as a managed one. `stack_size_bytes` 0 = default.
///
/// Errors: the system's, when it has no room for another thread.
pub fn spawn(
    kind: ThreadKind,
    name: Option<&str>,
    stack_size_bytes: usize,
    f: impl FnOnce(&'static ManagedThread) + Send + 'static,
) -> io::Result<SpawnedThread> {
    let thread = ThreadRef::create(kind, name);
    let is_limited = is_address_space_limited();
    let usable_bytes = stack_bytes(stack_size_bytes, MIN_STACK_BYTES);
    let reserve_bytes = match stack_size_bytes {
        // Part of it.
        0 => 0,
        // Where address space is limited a smaller reserve lets more threads begin.
        _ if is_limited => STACK_RESERVE_BYTES.min(usable_bytes / 2),
        _ => STACK_RESERVE_BYTES,
    };
    let stack = usable_bytes.saturating_add(reserve_bytes);
    let headroom = if is_limited { Some(Reservation::reserve(HEADROOM_BYTES)?) } else { None };
    let alternate_stack = AlternateStackMemory::map()?;
    let own = thread.clone();
    let spawned = saki_os::thread::start(name, stack, move |mask| {
        let attached = attach_as(&own, alternate_stack);
        attached.get_ready();
        drop(own);
        mask.set();
        let _detach = DetachAfter;
        f(attached);
    });
    drop(headroom);
    spawned?;
    if is_limited {
        // The new thread's allocations while it attaches must come out of this headroom before the next thread checks
        // for its own.
        crate::blocking(|| {
            // Acquire: pairs with the Release with which the thread becomes attached: its allocations are done.
            while thread.lifecycle.load(Ordering::Acquire) == CREATED {
                std::thread::sleep(ATTACH_LOOK_INTERVAL);
            }
        });
    }
    Ok(thread)
}
