//! System.Security.Cryptography.RNGCryptoServiceProvider, over the kernel's generator.

use saki_runtime::{CurrentThread, InternalCall};

/// Handle of every generator: the kernel's needs no state. 0 would mean failure.
const HANDLE: usize = 1;

/// False: there is no shared handle that managed code would have to lock.
fn rng_open(_t: CurrentThread) -> bool {
    false
}

/// Seeds are ignored: the kernel's generator is seeded already.
fn rng_initialize(_t: CurrentThread, _seed: *const u8, _length_bytes: usize) -> usize {
    HANDLE
}

/// The handle, or 0 when there are no random bytes; managed code then throws CryptographicException.
fn rng_get_bytes(_t: CurrentThread, handle: usize, data: *mut u8, length_bytes: usize) -> usize {
    if length_bytes == 0 {
        return handle;
    }
    // SAFETY: managed code passes a pinned buffer of this length.
    let buffer = unsafe { std::slice::from_raw_parts_mut(data, length_bytes) };
    match saki_os::random::fill(buffer) {
        Ok(()) => handle,
        Err(_) => 0,
    }
}

fn rng_close(_t: CurrentThread, _handle: usize) {}

/// The internal calls of `System.Security.Cryptography.RNGCryptoServiceProvider`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Security.Cryptography.RNGCryptoServiceProvider::RngOpen", &rng_open),
    InternalCall::new("System.Security.Cryptography.RNGCryptoServiceProvider::RngInitialize", &rng_initialize),
    InternalCall::new("System.Security.Cryptography.RNGCryptoServiceProvider::RngGetBytes", &rng_get_bytes),
    InternalCall::new("System.Security.Cryptography.RNGCryptoServiceProvider::RngClose", &rng_close),
];
