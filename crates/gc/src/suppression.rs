//! Which objects are not to be finalized: `GC.SuppressFinalize`.
//!
//! A bit beside the heap says so (one per 8 bytes, in memory that costs nothing before its first use). Invariant: the
//! bit of an address is clear when an object is registered there, whatever earlier objects at that address left behind.
//! Left out: the lists of registered objects, which the bits do not change: an object's bit voids its entry when the
//! object dies.

use crate::mmtk::HEAP_START;
use saki_abi::ObjRef;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Suppression bits: bit `(a >> 3) & 7` of byte `base + ((a - HEAP_START) >> 6)`.
static TABLE: OnceLock<usize> = OnceLock::new();
/// Address of the table; 0 = no bit was ever set. Relaxed: the table is zero from the start, so nothing else is
/// published.
static BASE: AtomicUsize = AtomicUsize::new(0);

/// `table`: zeroes, a bit for each 8 bytes of the heap's address range. Called once, before there are objects.
pub(crate) fn set_table(table: usize) {
    let _ = TABLE.set(table);
}

/// The byte and the bit of an object.
fn suppressed_bit(base: usize, object: ObjRef) -> (&'static AtomicU8, u8) {
    let offset = object.address() - HEAP_START;
    // SAFETY: objects lie in the heap range, all of which the table covers; it is never unmapped.
    (unsafe { &*((base + (offset >> 6)) as *const AtomicU8) }, 1 << ((offset >> 3) & 7))
}

/// Clears the bit; whether it was set.
#[inline]
pub(crate) fn take_suppressed(object: ObjRef) -> bool {
    let base = BASE.load(Ordering::Relaxed);
    if base == 0 {
        return false;
    }
    let (byte, bit) = suppressed_bit(base, object);
    // Relaxed: the bit orders nothing. The load first: it is nearly always clear.
    byte.load(Ordering::Relaxed) & bit != 0 && byte.fetch_and(!bit, Ordering::Relaxed) & bit != 0
}

pub(crate) fn set_suppressed(object: ObjRef) {
    let base = *TABLE.get().expect("set when the heap was made");
    if BASE.load(Ordering::Relaxed) == 0 {
        BASE.store(base, Ordering::Relaxed);
    }
    let (byte, bit) = suppressed_bit(base, object);
    // Relaxed: the bit orders nothing; the collector looks at it with the world stopped.
    byte.fetch_or(bit, Ordering::Relaxed);
}
