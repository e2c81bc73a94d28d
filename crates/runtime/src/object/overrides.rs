//! Which virtual methods are overridden by a class that has objects.
//!
//! As long as no class with a vtable overrides a method, a virtual call that finds it in the static type of its
//! receiver may call it directly: an object of another class cannot exist. That ends when a class gets its vtable. So
//! code compares a byte of the method at each such call (`MethodRuntime::overrides`) and makes the virtual call when it
//! has changed: the code stays right for ever, no frame has to be left, and it can be kept for later runs.
//!
//! | bit | meaning | who sets it |
//! |---|---|---|
//! | `RELIED_ON` | placed code compares the byte | `relied_on_byte`, AcqRel |
//! | `OVERRIDDEN` | a class overrides the method, and may have a vtable | `note_overrides`, AcqRel, under the loader lock, before the vtable is published |
//!
//! Neither bit is ever cleared. Code that runs beside `note_overrides` must not see an object of the new class and
//! then the byte without `OVERRIDDEN`. It loads the object before the byte; the load of the byte is volatile, so the
//! compiler keeps that order; and after the bit was set, `membarrier::heavy` has each thread pass a barrier before the
//! first object can exist. If `RELIED_ON` was not set before, there is no such code: code that is placed later is
//! published by a thread that has seen `OVERRIDDEN`.
//!
//! Left out: interface methods, which a subclass can map to another method without overriding one.

use crate::object::perturbation;
use saki_os::membarrier;
use saki_types::method::OVERRIDDEN;
use saki_types::{LoadResult, Method, Ty};
use std::sync::atomic::{AtomicU64, Ordering};

const RELIED_ON: u8 = OVERRIDDEN << 1;

/// Methods that were overridden after code had been placed which relied on the contrary.
pub static OVERRIDDEN_LATE: AtomicU64 = AtomicU64::new(0);

/// Whether a direct call may stand behind a comparison with the method's byte: no class overrides it yet.
pub fn is_never_overridden(method: &Method) -> bool {
    // Relaxed: a guess, which the code compares again.
    membarrier::is_asymmetric() && method.runtime.overrides.load(Ordering::Relaxed) & OVERRIDDEN == 0
}

/// The address of the method's byte, for code that compares it.
pub fn relied_on_byte(method: &'static Method) -> usize {
    // AcqRel: see the module header.
    let bits = if perturbation::is_overridden(method) { RELIED_ON | OVERRIDDEN } else { RELIED_ON };
    method.runtime.overrides.fetch_or(bits, Ordering::AcqRel);
    method.runtime.overrides.as_ptr().addr()
}

/// Notes which methods a class overrides, before it gets its vtable. To be called under the loader lock.
///
/// # Errors
/// `TypeLoad` when the layout of an ancestor fails.
pub fn note_overrides(ty: Ty) -> LoadResult<()> {
    let mut has_changed_code = false;
    let mut class = ty;
    while let Some(parent) = class.parent()? {
        let (slots, inherited) = (&class.vtable_layout()?.slots, &parent.vtable_layout()?.slots);
        for (_, inherited) in slots.iter().zip(inherited).filter(|(own, inherited)| own != inherited) {
            // AcqRel: see the module header.
            let before = inherited.runtime.overrides.fetch_or(OVERRIDDEN, Ordering::AcqRel);
            if before == RELIED_ON {
                has_changed_code = true;
                // Relaxed: a counter.
                OVERRIDDEN_LATE.fetch_add(1, Ordering::Relaxed);
            }
        }
        // Relaxed: under the loader lock, by which vtables are made.
        if !parent.runtime.vtable.load(Ordering::Relaxed).is_null() {
            // What its ancestors have lost was noted when it got its own.
            break;
        }
        class = parent;
    }
    if has_changed_code {
        membarrier::heavy();
    }
    Ok(())
}
