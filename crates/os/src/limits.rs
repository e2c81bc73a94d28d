//! The process's limits (`ulimit`).
//!
//! Invariant: `limit_bytes` returns the soft limit at the moment of the call.

use std::mem::MaybeUninit;

/// The resources that a limit applies to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// Everything that is mapped (`ulimit -v`).
    AddressSpace,
    /// Private writable mappings (`ulimit -d`).
    Data,
    /// The main thread's stack (`ulimit -s`).
    Stack,
    /// The length of a file that is written; more is answered by SIGXFSZ, which ends the process (`ulimit -f`).
    FileSize,
}

/// The limit in bytes; `usize::MAX` without one.
pub fn limit_bytes(resource: Resource) -> usize {
    let resource = match resource {
        Resource::AddressSpace => libc::RLIMIT_AS,
        Resource::Data => libc::RLIMIT_DATA,
        Resource::Stack => libc::RLIMIT_STACK,
        Resource::FileSize => libc::RLIMIT_FSIZE,
    };
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: `limit` is writable; the call initialises it when it returns 0.
    if unsafe { libc::getrlimit(resource, limit.as_mut_ptr()) } != 0 {
        return usize::MAX;
    }
    // SAFETY: initialised by the call above.
    match unsafe { limit.assume_init() }.rlim_cur {
        libc::RLIM_INFINITY => usize::MAX,
        bytes => usize::try_from(bytes).unwrap_or(usize::MAX),
    }
}

/// Raises the soft limit of descriptors to the hard one (`ulimit -Sn`, `ulimit -Hn`). Where that fails it stays.
pub fn raise_descriptor_limit() {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: `limit` is writable; the call initialises it when it returns 0.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, limit.as_mut_ptr()) } != 0 {
        return;
    }
    // SAFETY: initialised by the call above.
    let mut limit = unsafe { limit.assume_init() };
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: reads `limit` only.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
}
