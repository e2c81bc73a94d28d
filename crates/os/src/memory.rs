//! Address space: reserve, commit, protect, give back.
//!
//! Invariant: a `Reservation` owns its range and unmaps it when dropped, unless leaked; ranges given to its methods are
//! checked to lie inside. Left out: allocation policy, double mappings (see `dual_mapping`).

use crate::error::check;
use crate::limits::{Resource, limit_bytes};
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The accesses that a range of pages allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protection {
    None,
    Read,
    ReadWrite,
    ReadExecute,
}

impl Protection {
    pub(crate) fn bits(self) -> i32 {
        match self {
            Protection::None => libc::PROT_NONE,
            Protection::Read => libc::PROT_READ,
            Protection::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
            Protection::ReadExecute => libc::PROT_READ | libc::PROT_EXEC,
        }
    }
}

/// Bytes of a page.
pub fn page_size_bytes() -> usize {
    static CACHED: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: every thread would compute the same value.
    match CACHED.load(Ordering::Relaxed) {
        0 => {
            // SAFETY: no preconditions.
            let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
            CACHED.store(size, Ordering::Relaxed);
            size
        }
        size => size,
    }
}

/// Asks the processor to fetch the cache line of an address, any address, while the program goes on.
#[inline(always)]
pub fn prefetch(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it faults on no address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address as *const i8);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint; it faults on no address, and changes neither registers nor memory.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
}

/// `prefetch` for each cache line of a range.
#[inline]
pub fn prefetch_range(start: usize, len_bytes: usize) {
    const LINE_BYTES: usize = 64;
    (start..start + len_bytes).step_by(LINE_BYTES).for_each(prefetch);
}

/// Bytes of memory that the machine has; 0 if the system does not say.
pub fn physical_bytes() -> usize {
    // SAFETY: no preconditions.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    usize::try_from(pages).unwrap_or(0) * page_size_bytes()
}

/// Whether the process has a limit of address space (`ulimit -v`) now.
pub fn is_address_space_limited() -> bool {
    limit_bytes(Resource::AddressSpace) != usize::MAX
}

/// `value` rounded up to whole pages.
pub fn round_up_to_page(value: usize) -> usize {
    value.next_multiple_of(page_size_bytes())
}

/// A range of address space.
#[derive(Debug)]
pub struct Reservation {
    base: *mut u8,
    len_bytes: usize,
}

// SAFETY: the range is plain memory; nothing in it is tied to a thread.
unsafe impl Send for Reservation {}
// SAFETY: shared methods only make system calls on page ranges.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Reserves address space that cannot be touched before `commit`. `len_bytes` is rounded up to pages.
    pub fn reserve(len_bytes: usize) -> io::Result<Reservation> {
        Self::map(len_bytes, Protection::None)
    }

    /// Reserves address space that is readable and writable at once; pages are committed when touched.
    pub fn reserve_writable(len_bytes: usize) -> io::Result<Reservation> {
        Self::map(len_bytes, Protection::ReadWrite)
    }

    /// Reserves address space that reads as zero and cannot be written to before `commit`. It takes no memory.
    pub fn reserve_readable(len_bytes: usize) -> io::Result<Reservation> {
        Self::map(len_bytes, Protection::Read)
    }

    /// Reserves what `reserve_writable` does, at this address if nothing is there, else at one of the kernel's choice.
    pub fn reserve_writable_near(hint: usize, len_bytes: usize) -> io::Result<Reservation> {
        Self::map_near(hint, len_bytes, Protection::ReadWrite)
    }

    fn map(len_bytes: usize, protection: Protection) -> io::Result<Reservation> {
        Self::map_near(0, len_bytes, protection)
    }

    fn map_near(hint: usize, len_bytes: usize, protection: Protection) -> io::Result<Reservation> {
        let len_bytes = round_up_to_page(len_bytes);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let hint = std::ptr::without_provenance_mut(hint);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no existing memory; so does one
        // with a hint, which is not MAP_FIXED.
        let base = unsafe { libc::mmap(hint, len_bytes, protection.bits(), flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(crate::error::last_error());
        }
        Ok(Reservation { base: base.cast(), len_bytes })
    }

    /// The first address.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// The length, in bytes, of what is reserved.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Whether the address lies in it.
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base as usize) < self.len_bytes
    }

    /// Makes pages readable and writable; their content is zero unless they were committed before.
    pub fn commit(&self, offset_bytes: usize, len_bytes: usize) -> io::Result<()> {
        self.protect(offset_bytes, len_bytes, Protection::ReadWrite)
    }

    /// Asks for the memory of writable pages now, in one call instead of one fault for each page. Linux 5.14; elsewhere
    /// an error, and the pages come when they are touched.
    pub fn populate(&self, offset_bytes: usize, len_bytes: usize) -> io::Result<()> {
        let start = self.range(offset_bytes, len_bytes);
        // SAFETY: `range` checked that the pages are ours; their contents stay.
        check(unsafe { libc::madvise(start, len_bytes, libc::MADV_POPULATE_WRITE) })
    }

    /// Gives the memory back and makes the pages untouchable.
    pub fn decommit(&self, offset_bytes: usize, len_bytes: usize) -> io::Result<()> {
        self.discard(offset_bytes, len_bytes)?;
        self.protect(offset_bytes, len_bytes, Protection::None)
    }

    /// Gives the memory back; the pages keep their protection and read as zero.
    pub fn discard(&self, offset_bytes: usize, len_bytes: usize) -> io::Result<()> {
        let start = self.range(offset_bytes, len_bytes);
        // SAFETY: `range` checked that the pages are ours.
        check(unsafe { libc::madvise(start, len_bytes, libc::MADV_DONTNEED) })
    }

    /// Changes the protection of whole pages.
    pub fn protect(&self, offset_bytes: usize, len_bytes: usize, protection: Protection) -> io::Result<()> {
        let start = self.range(offset_bytes, len_bytes);
        // SAFETY: `range` checked that the pages are ours.
        check(unsafe { libc::mprotect(start, len_bytes, protection.bits()) })
    }

    /// Keeps the mapping for the rest of the process.
    pub fn leak(self) -> (*mut u8, usize) {
        let parts = (self.base, self.len_bytes);
        std::mem::forget(self);
        parts
    }

    /// What `leak` has kept.
    ///
    /// # Safety
    /// `leak` gave these parts, and nobody else has them.
    pub(crate) unsafe fn reclaim(base: *mut u8, len_bytes: usize) -> Reservation {
        Reservation { base, len_bytes }
    }

    /// Keeps the kernel from giving huge pages to the mapping, where little of each is used. Errors are ignored: a
    /// kernel without huge pages does not know the advice.
    pub fn forbid_huge_pages(&self) {
        // SAFETY: the mapping is ours, and its contents stay.
        unsafe { libc::madvise(self.base.cast(), self.len_bytes, libc::MADV_NOHUGEPAGE) };
    }

    pub(crate) fn range(&self, offset_bytes: usize, len_bytes: usize) -> *mut libc::c_void {
        let end = offset_bytes.checked_add(len_bytes);
        assert!(
            end.is_some_and(|end| end <= self.len_bytes),
            "{offset_bytes:#x}+{len_bytes:#x} is outside the mapping"
        );
        assert!(offset_bytes.is_multiple_of(page_size_bytes()), "{offset_bytes:#x} is not a page boundary");
        self.base.wrapping_add(offset_bytes).cast()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, made in `map` with this base and length.
        unsafe { libc::munmap(self.base.cast(), self.len_bytes) };
    }
}

/// Copies bytes among which are references, at places that are multiples of 8; the ranges may overlap. Threads that
/// read such a place meanwhile find the whole old or the whole new reference. The C library's `memmove` promises that
/// nowhere; x86-64's keeps it, and is used there.
///
/// # Safety
/// Both ranges are valid for the size.
#[inline]
pub unsafe fn copy_whole_words(source: *const u8, destination: *mut u8, size_bytes: usize) {
    if cfg!(target_arch = "x86_64") || !(source.addr() | destination.addr()).is_multiple_of(WORD_BYTES) {
        // SAFETY: both ranges are valid for the size; `copy` lets them overlap.
        unsafe { std::ptr::copy(source, destination, size_bytes) };
    } else {
        // SAFETY: both ranges are valid for the size and aligned, which was just asked.
        unsafe { copy_by_words(source, destination, size_bytes) };
    }
}

const WORD_BYTES: usize = size_of::<u64>();

/// # Safety
/// Both ranges are valid for the size and begin at multiples of 8.
unsafe fn copy_by_words(source: *const u8, destination: *mut u8, size_bytes: usize) {
    let whole = size_bytes / WORD_BYTES * WORD_BYTES;
    let copy_word = |offset: usize| {
        // SAFETY: an aligned word inside the source's range.
        let from = unsafe { &*source.add(offset).cast::<AtomicU64>() };
        // SAFETY: an aligned word inside the destination's range.
        let to = unsafe { &*destination.add(offset).cast::<AtomicU64>() };
        // Relaxed, both: a word is whole, and a fence before the copy orders it after what it refers to.
        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    };
    // SAFETY: what is behind the last whole word of both ranges; a copy of less than a word.
    let copy_rest = || unsafe { std::ptr::copy(source.add(whole), destination.add(whole), size_bytes - whole) };
    if destination.addr() <= source.addr() {
        (0..whole).step_by(WORD_BYTES).for_each(copy_word);
        copy_rest();
    } else {
        copy_rest();
        (0..whole).step_by(WORD_BYTES).rev().for_each(copy_word);
    }
}

/// Changes the protection of pages of any mapping, e.g. of a shared library's.
///
/// # Safety
/// Nothing that runs may rely on the old protection of `[address, address + len_bytes)`, which must be mapped pages.
pub unsafe fn protect_raw(address: *mut u8, len_bytes: usize, protection: Protection) -> io::Result<()> {
    // SAFETY: mapped pages, and nothing that runs relies on their old protection.
    check(unsafe { libc::mprotect(address.cast(), len_bytes, protection.bits()) })
}

/// Gives the memory of private anonymous pages back; they read as zero from now on.
///
/// # Safety
/// `[address, address + len_bytes)` are whole mapped pages whose contents nobody needs or refers to.
pub unsafe fn discard_raw(address: usize, len_bytes: usize) -> io::Result<()> {
    // SAFETY: whole mapped pages whose contents nobody needs.
    check(unsafe { libc::madvise(address as *mut libc::c_void, len_bytes, libc::MADV_DONTNEED) })
}

/// Whether the page at an address is resident. False for an unmapped address.
pub fn is_resident(address: usize) -> bool {
    let page = address & !(page_size_bytes() - 1);
    let mut state = 0_u8;
    // SAFETY: one page makes the kernel write one byte; it only looks at the page itself.
    unsafe { libc::mincore(page as *mut libc::c_void, 1, &raw mut state) == 0 && state & 1 != 0 }
}

/// Makes pages at the low end of the calling thread's stack inaccessible. Where the main thread's stack has not grown
/// to them yet, they are mapped so; the kernel lets it grow down to such a mapping.
///
/// # Safety
/// No used part of the stack lies in `[address, address + len_bytes)`, which are whole pages.
pub unsafe fn close_stack_pages(address: *mut u8, len_bytes: usize) -> io::Result<()> {
    // SAFETY: no used part of the stack lies in these pages, so nothing relies on access to them.
    match unsafe { protect_raw(address, len_bytes, Protection::None) } {
        Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => {}
        result => return result,
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: the flags keep the kernel from touching a mapping that exists.
    let base = unsafe { libc::mmap(address.cast(), len_bytes, libc::PROT_NONE, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(crate::error::last_error());
    }
    if base != address.cast() {
        // A kernel from before 4.17, which takes the address for a hint.
        // SAFETY: mapped just now.
        unsafe { libc::munmap(base, len_bytes) };
        return Err(io::ErrorKind::AddrInUse.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_copied_as_bytes_are_also_where_ranges_overlap() {
        for size_bytes in [0, 3, 8, 24, 29, 64] {
            for (source, destination) in [(0, 0), (0, 8), (16, 0), (0, 24), (40, 8)] {
                let mut words: [u64; 16] = std::array::from_fn(|index| 0x0101_0101_0101_0101 * index as u64);
                let mut expected: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                expected.copy_within(source..source + size_bytes, destination);
                let base = words.as_mut_ptr().cast::<u8>();
                // SAFETY: both ranges lie in the array and begin at words.
                unsafe { copy_by_words(base.add(source), base.add(destination), size_bytes) };
                let found: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                assert_eq!(found, expected, "{size_bytes} bytes from {source} to {destination}");
            }
        }
    }

    #[test]
    fn committed_pages_hold_data_and_decommit_drops_it() {
        let page = page_size_bytes();
        let region = Reservation::reserve(16 * page).unwrap();
        region.commit(4 * page, 2 * page).unwrap();
        let byte = region.base().wrapping_add(4 * page);
        // SAFETY: the page was just committed.
        unsafe { byte.write(7) };
        region.decommit(4 * page, page).unwrap();
        region.commit(4 * page, page).unwrap();
        // SAFETY: the page was just committed again.
        assert_eq!(unsafe { byte.read() }, 0);
    }
}
