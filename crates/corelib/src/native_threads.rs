//! The function that stands in for the one of libSystem.Native that tells threads apart.
//!
//! `System.Threading.Lock` knows its owner by the system's number of the thread. Green threads that share a carrier would
//! have the same, and would enter a lock that another one of them holds. The function says that there is no such number;
//! then the lock takes the managed one.

use saki_runtime::OwnFunction;

/// What the library's function returns where the system's number does not fit.
const NO_NUMBER: u32 = u32::MAX;

extern "C" fn try_get_thread_id() -> u32 {
    NO_NUMBER
}

/// See the module header.
pub static OWN_FUNCTIONS: &[OwnFunction] = &[OwnFunction {
    library: "libSystem.Native",
    name: "SystemNative_TryGetUInt32OSThreadId",
    address: try_get_thread_id as *const (),
    original: None,
}];
