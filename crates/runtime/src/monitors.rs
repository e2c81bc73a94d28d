//! Monitor.Enter and its family on any object: `saki_sync`'s object locks with the process's monitor table.

use crate::exceptions::{self, Thrown};
use crate::object::vtable;
use crate::thread::{Managed, Thread};
use saki_abi::{ObjRef, Object};
use saki_gc::WeakFate;
use saki_sync::monitor::{EnterEnd, WaitOutcome};
use saki_sync::monitor_table::MonitorTable;
use saki_sync::object_lock::ObjectLock;
use saki_sync::thin_lock::ThinLockWord;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static MONITORS: MonitorTable = MonitorTable::new();

fn lock_of(object: ObjRef) -> ObjectLock<'static> {
    // SAFETY: a non-null reference is an object; the caller's frame keeps it alive and in place.
    let sync = unsafe { &(*(object.0 as *const Object)).sync };
    ObjectLock { word: ThinLockWord::of(sync), object: object.address(), table: &MONITORS }
}

fn check(t: Thread, object: ObjRef) -> Managed<()> {
    if object.is_null() {
        return Err(exceptions::throw_argument_null(t, "obj"));
    }
    debug_assert!(!vtable(object).ty.is_null());
    Ok(())
}

fn timeout(milliseconds: i32) -> Option<Duration> {
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

/// Enters; waits at most `milliseconds` (negative = for ever). Whether the lock was taken.
///
/// # Errors
/// ArgumentNullException; ThreadInterruptedException, ThreadAbortException.
pub fn try_enter(t: Thread, object: ObjRef, milliseconds: i32) -> Managed<bool> {
    check(t, object)?;
    match lock_of(object).enter(t.managed(), timeout(milliseconds)) {
        EnterEnd::Entered => Ok(true),
        EnterEnd::TimedOut => Ok(false),
        EnterEnd::Interrupted => Err(crate::pending::throw_requested(t)),
    }
}

fn not_owner(t: Thread) -> Thrown {
    exceptions::throw(
        t,
        "System.Threading",
        "SynchronizationLockException",
        "Object synchronization method was called from an unsynchronized block of code.",
    )
}

/// # Errors
/// ArgumentNullException, SynchronizationLockException.
pub fn exit(t: Thread, object: ObjRef) -> Managed<()> {
    check(t, object)?;
    lock_of(object).exit(t.id()).map_err(|_| not_owner(t))
}

/// Releases the lock, waits for a pulse, takes the lock again. False = the time was over.
///
/// # Errors
/// As `exit`; ThreadInterruptedException, ThreadAbortException.
pub fn wait(t: Thread, object: ObjRef, milliseconds: i32) -> Managed<bool> {
    check(t, object)?;
    match lock_of(object).wait(t.managed(), timeout(milliseconds)) {
        Ok(WaitOutcome::TimedOut) => Ok(false),
        Ok(WaitOutcome::Interrupted) => Err(crate::pending::throw_requested(t)),
        Ok(WaitOutcome::Pulsed) => Ok(true),
        Err(_) => Err(not_owner(t)),
    }
}

/// # Errors
/// As `exit`.
pub fn pulse(t: Thread, object: ObjRef, all: bool) -> Managed<()> {
    check(t, object)?;
    let lock = lock_of(object);
    let outcome = if all { lock.pulse_all(t.id()) } else { lock.pulse(t.id()) };
    outcome.map_err(|_| not_owner(t))
}

/// Managed id of the owner, 0 = not held.
pub fn owner(object: ObjRef) -> u32 {
    lock_of(object).owner()
}

/// # Safety
/// A helper: called by its thunk.
pub unsafe extern "C" fn enter_helper(t: Thread, object: ObjRef) {
    t.run(|| try_enter(t, object, -1).map(|_| ()));
}

/// # Safety
/// As `enter_helper`.
pub unsafe extern "C" fn exit_helper(t: Thread, object: ObjRef) {
    t.run(|| exit(t, object));
}

/// `RuntimeHelpers.GetHashCode`: stable for the object's life, kept in the sync word or its monitor.
pub fn hash_code(object: ObjRef) -> i32 {
    let word = lock_of(object).word;
    if let Some(hash) = word.hash() {
        return hash as i32;
    }
    // A Weyl sequence: well spread, cheap, different for objects hashed one after the other. Positive, as Mono's are.
    static NEXT: AtomicU32 = AtomicU32::new(0x1234_5677);
    // Relaxed: any distinct number will do.
    let mixed = NEXT.fetch_add(0x9e37_79b9, Ordering::Relaxed).wrapping_mul(0x85eb_ca6b);
    word.install_hash((mixed ^ (mixed >> 15)) & 0x7fff_ffff) as i32
}

/// Called by the collector: forgets monitors of dead objects, follows moved ones.
pub fn update_weak(fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
    let mut dead = Vec::new();
    MONITORS.for_each(|index, entry| {
        // Relaxed: the world is stopped.
        let address = entry.object.load(Ordering::Relaxed);
        if address == 0 {
            return;
        }
        match fate_of(ObjRef(address as *mut Object)) {
            WeakFate::Alive(object) => entry.object.store(object.address(), Ordering::Relaxed),
            WeakFate::Dead => dead.push(index),
        }
    });
    for index in dead {
        MONITORS.free(index);
    }
}
