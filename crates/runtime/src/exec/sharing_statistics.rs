//! Statistics of the code that a runtime generic context would save: instantiations whose arguments differ only in reference types.
//!
//! Counted only when asked for (`--stats`). docs/design/types.md rests on these numbers.

use rustc_hash::FxHashSet;
use saki_base::locks::{Mutex, rank};
use saki_types::{Method, Ty, universe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static ENABLED: AtomicBool = AtomicBool::new(false);
/// A method definition, and its arguments with Object for every reference type.
type Shared = (usize, Vec<Ty>);

static SEEN: Mutex<rank::SharedBodies, Option<FxHashSet<Shared>>> = Mutex::new(None);

/// Bodies that sharing would have made unnecessary, and their costs.
pub static SHAREABLE_METHODS: AtomicU64 = AtomicU64::new(0);
pub static SHAREABLE_CODE_BYTES: AtomicU64 = AtomicU64::new(0);
pub static SHAREABLE_NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// Starts counting.
pub fn enable() {
    // Relaxed: set before managed code runs.
    ENABLED.store(true, Ordering::Relaxed);
}

/// Notes a compiled method.
pub fn note(method: &'static Method, code_bytes: u32, nanoseconds: u64) {
    // Relaxed: as in `enable`.
    if !ENABLED.load(Ordering::Relaxed) {
        return;
    }
    let arguments = method.owner.args.iter().chain(method.generic_args);
    let canonical: Vec<Ty> = arguments.map(|a| if a.is_reference_type() { universe().object() } else { *a }).collect();
    if canonical.is_empty() || !canonical.contains(&universe().object()) {
        return;
    }
    let Some(rid) = method.rid() else { return };
    let identity = std::ptr::from_ref(method.image()) as usize ^ rid as usize;
    if !SEEN.lock().get_or_insert_default().insert((identity, canonical)) {
        // Relaxed: counters.
        SHAREABLE_METHODS.fetch_add(1, Ordering::Relaxed);
        SHAREABLE_CODE_BYTES.fetch_add(u64::from(code_bytes), Ordering::Relaxed);
        SHAREABLE_NANOSECONDS.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}
