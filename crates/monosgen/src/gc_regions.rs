//! Regions of code that names what it does with objects, and attachments for the time of a call. Mono's library exports
//! them without a public header (`mono/utils/mono-threads-api.h`); hosts declare them.
//!
//! The frames of a host's thread are scanned wherever it stands (`docs/design/embedding.md`), so that a region changes
//! nothing, as under Mono with preemptive suspension: cookies are null.

use crate::domains::{mono_domain_get, mono_domain_set, mono_get_root_domain};
use crate::threads::mono_thread_attach;
use saki_runtime::vm::domains::Domain;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

macro_rules! regions {
    ($($(#[$doc:meta])* $enter:ident $exit:ident)*) => { $(
        $(#[$doc])*
        /// Begins; null, for the function that ends it.
        #[unsafe(no_mangle)]
        pub extern "C" fn $enter(_stack_data: *mut *mut c_void) -> *mut c_void {
            ptr::null_mut()
        }

        $(#[$doc])*
        /// Ends.
        #[unsafe(no_mangle)]
        pub extern "C" fn $exit(_cookie: *mut c_void, _stack_data: *mut *mut c_void) {}
    )* };
}

regions! {
    /// Code that uses objects.
    mono_threads_enter_gc_unsafe_region mono_threads_exit_gc_unsafe_region
    /// Code that uses objects; the end may be in another frame.
    mono_threads_enter_gc_unsafe_region_unbalanced mono_threads_exit_gc_unsafe_region_unbalanced
    /// Code that uses no objects.
    mono_threads_enter_gc_safe_region mono_threads_exit_gc_safe_region
    /// Code that uses no objects; the end may be in another frame.
    mono_threads_enter_gc_safe_region_unbalanced mono_threads_exit_gc_safe_region_unbalanced
}

/// Objects may be used everywhere: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_threads_assert_gc_unsafe_region() {}

/// Objects may be used everywhere: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_threads_assert_gc_safe_region() {}

/// Makes the calling thread managed, in the domain (null: the first one). The domain it was in, for
/// [`mono_threads_detach_coop`]; null if it was not managed. There is no cookie of a region to be written.
#[unsafe(no_mangle)]
pub extern "C" fn mono_threads_attach_coop(
    domain: Option<&'static Domain>,
    _cookie: *mut *mut c_void,
) -> Option<&'static Domain> {
    let before = saki_thread::current().and_then(|_| mono_domain_get());
    mono_thread_attach(domain.or_else(|| mono_get_root_domain()));
    before
}

/// Leads the thread back to the domain that [`mono_threads_attach_coop`] gave. It stays managed.
#[unsafe(no_mangle)]
pub extern "C" fn mono_threads_detach_coop(before: Option<&'static Domain>, _cookie: *mut *mut c_void) {
    if let Some(domain) = before {
        mono_domain_set(domain, 1);
    }
}

thread_local! {
    static IS_COOP_AWARE: Cell<bool> = const { Cell::new(false) };
}

/// Notes that the thread's code has regions.
#[unsafe(no_mangle)]
pub extern "C" fn mono_thread_set_coop_aware() {
    IS_COOP_AWARE.set(true);
}

/// Whether that was noted.
#[unsafe(no_mangle)]
pub extern "C" fn mono_thread_get_coop_aware() -> c_int {
    c_int::from(IS_COOP_AWARE.get())
}
