//! How much address space the process may take: whether tables can be reserved at their largest, or have to be made to
//! fit.
//!
//! Reserving costs nothing on an ordinary system, so the virtual machine reserves the terabytes that it could ever
//! need. Where that is refused (a limit, strict accounting) or paid for page by page (user-mode emulators keep a record
//! of each page), everything that reserves asks here for its share, and the heap is mapped by need.
//!
//! Invariant: the answer is found once, at the first call, and holds for the process. Left out: limits that change
//! later; limits of memory (control groups), since reservations take none.

use crate::limits::{Resource, limit_bytes};
use crate::memory::Reservation;
use std::sync::OnceLock;

/// Why address space is scarce.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scarcity {
    /// The process has a limit (`ulimit -v`, `ulimit -d`) of so many bytes.
    Limited { bytes: usize },
    /// There is no vDSO, as under user-mode emulators.
    Emulated,
    /// The kernel refuses large reservations: it accounts strictly (`vm.overcommit_memory` = 2), or for another reason.
    Refused,
}

impl std::fmt::Display for Scarcity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scarcity::Limited { bytes } => write!(f, "the process may have {} MiB (ulimit -v, ulimit -d)", bytes >> 20),
            Scarcity::Emulated => f.write_str("this looks like an emulator (no vDSO)"),
            Scarcity::Refused => f.write_str("the kernel refuses large reservations (vm.overcommit_memory)"),
        }
    }
}

/// Limits from here on are none: all that is reserved at its largest, some 13 TiB, fits below.
const AMPLE_BYTES: usize = 1 << 45;
/// The size of the reservation that tests whether the kernel accounts reservations: more memory than machines have.
const PROBE_BYTES: usize = 1 << 40;
/// The budget that is shared out where no limit says how much address space there is.
const UNKNOWN_BUDGET_BYTES: usize = 4 << 30;

/// None: there is as much address space as anyone could ask for.
pub fn scarcity() -> Option<Scarcity> {
    static FOUND: OnceLock<Option<Scarcity>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let bytes = limit_bytes(Resource::AddressSpace).min(limit_bytes(Resource::Data));
        if bytes < AMPLE_BYTES {
            return Some(Scarcity::Limited { bytes });
        }
        // SAFETY: no preconditions.
        if unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } == 0 {
            return Some(Scarcity::Emulated);
        }
        Reservation::reserve_writable(PROBE_BYTES).is_err().then_some(Scarcity::Refused)
    })
}

/// How many bytes a table should reserve that takes `most_bytes` where there is room, and does not work with less than
/// `least_bytes`: elsewhere the largest power of two within one part in `parts` of the address space. All three are
/// powers of two.
pub fn share_bytes(most_bytes: usize, least_bytes: usize, parts: usize) -> usize {
    let Some(scarcity) = scarcity() else { return most_bytes };
    let budget = match scarcity {
        Scarcity::Limited { bytes } => bytes,
        Scarcity::Emulated | Scarcity::Refused => UNKNOWN_BUDGET_BYTES,
    };
    share_of(budget, parts).clamp(least_bytes, most_bytes)
}

fn share_of(budget: usize, parts: usize) -> usize {
    1 << (budget / parts).max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_powers_of_two_within_their_part() {
        assert_eq!(share_of(4 << 30, 32), 128 << 20);
        assert_eq!(share_of((4 << 30) - 1, 32), 64 << 20);
        assert_eq!(share_of(5, 32), 1);
    }

    #[test]
    fn without_a_limit_a_table_has_its_largest_size() {
        match scarcity() {
            None => assert_eq!(share_bytes(1 << 40, 1 << 12, 64), 1 << 40),
            Some(_) => assert!((1 << 12..1 << 40).contains(&share_bytes(1 << 40, 1 << 12, 64))),
        }
    }
}
