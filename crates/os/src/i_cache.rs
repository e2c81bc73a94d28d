//! Making freshly written code visible to instruction fetch on every core.
//!
//! Invariant: after `synchronise` returns, any thread that then learns the range's address fetches the new bytes. The
//! range is given in the addresses that will be executed. Left out: publication of the address itself.

use std::ops::Range;

#[cfg(target_arch = "aarch64")]
#[path = "i_cache/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "i_cache/x86_64.rs"]
mod arch;
// The algorithm of aarch64 is tested everywhere, on a simulated machine of unequal cores.
#[cfg(any(target_arch = "aarch64", test))]
mod lines;

/// Call after writing code and before publishing its address.
pub fn synchronise(executed: Range<usize>) {
    arch::synchronise(executed);
}

/// Call after writing data that placed code reads at constant addresses, and before publishing the address of that
/// code: whoever then learns the address reads what was written. On x86-64 that is so anyway, since a later load is not
/// done before an earlier one.
pub fn pass_barriers() {
    arch::pass_barriers();
}
