//! Records that live as long as the process and of which there are as many as threads: the first ones lie on the heap,
//! those of a crowd densely in memory of huge pages.
//!
//! A crowd's records take a page fault for each page and an entry of the TLB for each look at a thread that has not run
//! for long; of a page of 2 MiB they take one for a thousand threads.
//!
//! Invariant: memory is handed out once. Left out: giving memory back, since owners use records again.

use crate::address_space::scarcity;
use crate::memory::Reservation;
use saki_base::locks::{Mutex, rank};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Records on the heap: some megabytes, as much as huge pages of a crowd hardly begun would take.
const FIRST_RECORDS: usize = 1 << 13;

const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Address space that is reserved at a time.
const BLOCK_BYTES: usize = 64 << 20;

/// How many records were made. Relaxed: a number.
static MADE: AtomicUsize = AtomicUsize::new(0);
/// Addresses that are left of the last block.
static LEFT: Mutex<rank::Records, Range<usize>> = Mutex::new(0..0);

/// A place for a value in memory of huge pages; None where the system has no address space for it, and while another
/// thread looks for one: that thread may not exist any more in the child of a fork, and its lock stays taken there.
fn place<T>() -> Option<*mut T> {
    let align = align_of::<T>().max(align_of::<usize>());
    let mut left = LEFT.try_lock()?;
    let fits = |left: &Range<usize>| left.start.next_multiple_of(align) + size_of::<T>() <= left.end;
    if !fits(&left) {
        let (base, len_bytes) = Reservation::reserve_writable(BLOCK_BYTES + HUGE_PAGE_BYTES).ok()?.leak();
        let base = base.expose_provenance();
        *left = base.next_multiple_of(HUGE_PAGE_BYTES)..base + len_bytes;
        // SAFETY: the mapping was made above, and nothing is in it. Where the kernel has no huge pages it has small
        // ones.
        unsafe { libc::madvise(left.start as *mut libc::c_void, left.len(), libc::MADV_HUGEPAGE) };
    }
    let start = left.start.next_multiple_of(align);
    left.start = start + size_of::<T>();
    Some(std::ptr::with_exposed_provenance_mut(start))
}

/// Keeps one more value for ever.
pub fn keep<T>(value: T) -> &'static T {
    const { assert!(size_of::<T>() <= HUGE_PAGE_BYTES && align_of::<T>() <= HUGE_PAGE_BYTES) };
    if MADE.fetch_add(1, Ordering::Relaxed) >= FIRST_RECORDS
        && scarcity().is_none()
        && let Some(place) = place::<T>()
    {
        // SAFETY: memory of a leaked mapping, aligned and large enough for the value, that was handed out just now and
        // is handed out only once.
        unsafe { place.write(value) };
        // SAFETY: written above; the mapping stays, and nobody writes there any more.
        return unsafe { &*place };
    }
    saki_base::leak(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_a_crowd_are_disjoint_and_keep_their_values() {
        #[repr(align(64))]
        struct Aligned(usize);
        let numbers: Vec<&'static [usize; 37]> = (0..3 * FIRST_RECORDS).map(|number| keep([number; 37])).collect();
        let aligned: Vec<&'static Aligned> = (0..1000).map(|number| keep(Aligned(number))).collect();
        assert!(numbers.iter().enumerate().all(|(number, record)| record.iter().all(|&word| word == number)));
        assert!(aligned.iter().enumerate().all(|(number, record)| record.0 == number));
        assert!(aligned.iter().all(|record| std::ptr::from_ref(*record).addr().is_multiple_of(64)));
        let addresses = numbers.iter().map(|record| std::ptr::from_ref(*record).addr());
        let mut sorted: Vec<usize> = addresses.collect();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= size_of::<[usize; 37]>()));
    }
}
