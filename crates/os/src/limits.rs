//! The process's limits (`ulimit`).
//!
//! Invariant: functions return the soft limits at the moment of the call. Left out: changing limits.

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
