//! One region of memory mapped twice, writable and executable (W^X without `mprotect`).
//!
//! Invariant: `rw + n` and `rx + n` are the same byte for every `n < len_bytes`; no page is ever writable and
//! executable at one address, unless a debugger is to set breakpoints (`allow_breakpoints`). Left out: who writes when,
//! and instruction-cache synchronisation (`i_cache`).

use crate::error::check;
use crate::limits::{Resource, limit_bytes};
use crate::memory::{Protection, page_size_bytes, round_up_to_page};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Two views of one region; pages are committed when touched.
///
/// The memory is shared and anonymous, not that of a `memfd`: tools recognise such mappings ("/dev/zero") as memory for
/// generated code and look names up in the process's perf map, whereas a file's name would make them read the file.
#[derive(Debug)]
pub struct DualMapping {
    rw: *mut u8,
    rx: *mut u8,
    len_bytes: usize,
}

// SAFETY: plain memory; nothing is tied to a thread.
unsafe impl Send for DualMapping {}
// SAFETY: shared methods compute addresses or make system calls on checked ranges.
unsafe impl Sync for DualMapping {}

impl DualMapping {
    /// Reserves `len_bytes` (rounded up to pages) twice.
    pub fn new(len_bytes: usize) -> io::Result<DualMapping> {
        let len_bytes = round_up_to_page(len_bytes);
        // User-mode emulators know shared memory, but not the second view of an anonymous one.
        Self::of_anonymous_memory(len_bytes).or_else(|error| Self::of_file(len_bytes).map_err(|_| error))
    }

    fn of_anonymous_memory(len_bytes: usize) -> io::Result<DualMapping> {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let rw = map(len_bytes, Protection::ReadWrite, flags, -1)?;
        let mut mapping = DualMapping { rw, rx: std::ptr::null_mut(), len_bytes };
        // An `mremap` with an old size of 0 makes a second mapping of a shared mapping's pages (mremap(2),
        // "old_size is zero"). SAFETY: the mapping is ours and stays as it is; the new one is at an address of the
        // kernel's choice.
        let rx = unsafe { libc::mremap(rw.cast(), 0, len_bytes, libc::MREMAP_MAYMOVE) };
        if rx == libc::MAP_FAILED {
            return Err(crate::error::last_error());
        }
        mapping.rx = rx.cast();
        // SAFETY: the second mapping is ours, and nothing is in it yet.
        check(unsafe { libc::mprotect(rx, len_bytes, Protection::ReadExecute.bits()) })?;
        Ok(mapping)
    }

    fn of_file(len_bytes: usize) -> io::Result<DualMapping> {
        // The signal that answers a file that becomes too long would end the process.
        if len_bytes > limit_bytes(Resource::FileSize) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        // SAFETY: the name is a C string.
        let file = unsafe { libc::memfd_create(c"saki-code".as_ptr(), libc::MFD_CLOEXEC) };
        check(file)?;
        // SAFETY: the descriptor was just opened and has no other owner. It is closed at the end, but the mappings keep
        // the memory.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        let len = libc::off_t::try_from(len_bytes).map_err(io::Error::other)?;
        // SAFETY: no pointers.
        check(unsafe { libc::ftruncate(file.as_raw_fd(), len) })?;
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let rw = map(len_bytes, Protection::ReadWrite, flags, file.as_raw_fd())?;
        let mut mapping = DualMapping { rw, rx: std::ptr::null_mut(), len_bytes };
        mapping.rx = map(len_bytes, Protection::ReadExecute, flags, file.as_raw_fd())?;
        Ok(mapping)
    }

    /// Makes the executable view writable, too, for a debugger: the kernel refuses a debugger's writes to shared memory
    /// that the process itself may not write, so it could set no breakpoints. This gives up the invariant of this file.
    ///
    /// # Errors
    /// The system's; security policies may forbid it.
    pub fn allow_breakpoints(&self) -> io::Result<()> {
        let protection = Protection::ReadExecute.bits() | Protection::ReadWrite.bits();
        // SAFETY: the view is ours, and only its protection changes.
        check(unsafe { libc::mprotect(self.rx.cast(), self.len_bytes, protection) }).map(|_| ())
    }

    /// A mapping of the same length with the same contents in these ranges (offsets in bytes) and zeroes elsewhere.
    /// Nobody writes there meanwhile.
    ///
    /// # Errors
    /// The system's, when there is no address space or memory for it.
    pub fn copy(&self, ranges: &[Range<usize>]) -> io::Result<DualMapping> {
        let copy = DualMapping::new(self.len_bytes)?;
        for range in ranges {
            assert!(range.start <= range.end && range.end <= self.len_bytes);
            let (from, to) = (self.rw.wrapping_add(range.start), copy.rw.wrapping_add(range.start));
            // SAFETY: the range lies inside both mappings, which are different ones.
            unsafe { std::ptr::copy_nonoverlapping(from, to, range.len()) };
        }
        Ok(copy)
    }

    /// Puts another mapping of the same length in the place of this one, at the same addresses: the memory that was
    /// there stays with those who share it.
    ///
    /// # Errors
    /// The system's; then either view may be missing.
    ///
    /// # Safety
    /// There is no other thread, and the contents that are in use are the same in both.
    pub unsafe fn replace_by(&self, other: DualMapping) -> io::Result<()> {
        assert_eq!(self.len_bytes, other.len_bytes);
        let mut other = std::mem::ManuallyDrop::new(other);
        let DualMapping { rw, rx, .. } = &mut *other;
        for (from, to) in [(rw, self.rw), (rx, self.rx)] {
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            // SAFETY: both ranges are whole mappings of ours, of this length; no other thread is there to see the
            // change.
            let moved = unsafe { libc::mremap((*from).cast(), self.len_bytes, self.len_bytes, flags, to) };
            if moved == libc::MAP_FAILED {
                return Err(crate::error::last_error());
            }
            *from = std::ptr::null_mut();
        }
        Ok(())
    }

    /// Base of the writable view.
    pub fn rw(&self) -> *mut u8 {
        self.rw
    }

    /// Base of the executable view.
    pub fn rx(&self) -> *mut u8 {
        self.rx
    }

    /// The length of each view, in bytes.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// The writable address of an executable one.
    pub fn rw_of_rx(&self, rx_address: usize) -> *mut u8 {
        let offset = rx_address.wrapping_sub(self.rx as usize);
        assert!(offset <= self.len_bytes, "{rx_address:#x} is not in the executable view");
        self.rw.wrapping_add(offset)
    }

    /// The executable address of a writable one.
    pub fn rx_of_rw(&self, rw_address: usize) -> *mut u8 {
        let offset = rw_address.wrapping_sub(self.rw as usize);
        assert!(offset <= self.len_bytes, "{rw_address:#x} is not in the writable view");
        self.rx.wrapping_add(offset)
    }

    /// Whether the address is in the executable view.
    pub fn contains_rx(&self, address: usize) -> bool {
        address.wrapping_sub(self.rx as usize) < self.len_bytes
    }

    /// Takes whole pages of the writable view out of the process's page table, where they count as resident besides
    /// those of the executable view. Their contents stay, and each page comes back when it is used next. Other threads may
    /// write meanwhile.
    ///
    /// # Errors
    /// The system's; nothing has changed then.
    pub fn unmap_written(&self, offset_bytes: usize, len_bytes: usize) -> io::Result<()> {
        assert!(offset_bytes.is_multiple_of(page_size_bytes()) && offset_bytes + len_bytes <= self.len_bytes);
        let start = self.rw.wrapping_add(offset_bytes);
        // SAFETY: a range of our mapping, checked above; of a shared mapping this call drops no contents (madvise(2),
        // MADV_DONTNEED).
        check(unsafe { libc::madvise(start.cast(), len_bytes, libc::MADV_DONTNEED) }).map(|_| ())
    }

    /// Asks for the memory of whole pages now and maps them in the writable view, in one call instead of one fault for
    /// each page. Their contents stay. Linux 5.14; elsewhere an error, and the pages come when they are touched.
    ///
    /// # Errors
    /// The system's.
    pub fn populate_written(&self, offset_bytes: usize, len_bytes: usize) -> io::Result<()> {
        assert!(offset_bytes.is_multiple_of(page_size_bytes()) && offset_bytes + len_bytes <= self.len_bytes);
        let start = self.rw.wrapping_add(offset_bytes);
        // SAFETY: a range of our mapping, checked above, whose contents the advice leaves as they are.
        check(unsafe { libc::madvise(start.cast(), len_bytes, libc::MADV_POPULATE_WRITE) }).map(|_| ())
    }

    /// Gives the memory of whole pages back to the system; they read as zero in both views.
    pub fn discard(&self, offset_bytes: usize, len_bytes: usize) -> io::Result<()> {
        assert!(offset_bytes.is_multiple_of(page_size_bytes()) && offset_bytes + len_bytes <= self.len_bytes);
        let start = self.rw.wrapping_add(offset_bytes);
        // SAFETY: a range of our mapping, checked above; a mapping's memory that is given back reads as zero.
        check(unsafe { libc::madvise(start.cast(), len_bytes, libc::MADV_REMOVE) })
    }
}

impl Drop for DualMapping {
    fn drop(&mut self) {
        for view in [self.rw, self.rx] {
            if !view.is_null() {
                // SAFETY: this value owns both mappings, made with this length.
                unsafe { libc::munmap(view.cast(), self.len_bytes) };
            }
        }
    }
}

fn map(len_bytes: usize, protection: Protection, flags: libc::c_int, file: RawFd) -> io::Result<*mut u8> {
    // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
    let view = unsafe { libc::mmap(std::ptr::null_mut(), len_bytes, protection.bits(), flags, file, 0) };
    if view == libc::MAP_FAILED { Err(crate::error::last_error()) } else { Ok(view.cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn code_written_in_one_view_runs_in_the_other() {
        check(DualMapping::of_anonymous_memory(512 << 20).unwrap());
        check(DualMapping::of_file(512 << 20).unwrap());
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_copy_in_the_place_of_a_mapping_is_private_to_a_forked_child() {
        let shared = DualMapping::new(1 << 20).unwrap();
        let word = shared.rw().cast::<u32>();
        // SAFETY: inside the writable view.
        unsafe { word.write(1) };
        let copy = shared.copy(std::slice::from_ref(&(0..4096))).unwrap();
        // SAFETY: the child touches its own memory, and ends.
        let pid = crate::fork::plainly(|| unsafe { libc::fork() });
        if pid == 0 {
            // SAFETY: the child has one thread.
            let is_replaced = unsafe { shared.replace_by(copy) }.is_ok();
            // SAFETY: inside the views, which are there.
            let seen = unsafe { (word.read(), shared.rx().cast::<u32>().read()) };
            // SAFETY: inside the views, which are there.
            unsafe { word.write(2) };
            // SAFETY: inside the views, which are there.
            let after = unsafe { shared.rx().cast::<u32>().read() };
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(is_replaced && seen == (1, 1) && after == 2)) };
        }
        drop(copy);
        let mut status = 0;
        // SAFETY: waits for the child just made.
        unsafe { libc::waitpid(pid, &mut status, 0) };
        assert_eq!(libc::WEXITSTATUS(status), 1);
        // SAFETY: inside the writable view.
        assert_eq!(unsafe { word.read() }, 1, "the parent's memory is its own");
    }

    #[cfg(target_arch = "x86_64")]
    fn check(mapping: DualMapping) {
        // mov eax, 42; ret
        let code = [0xb8u8, 42, 0, 0, 0, 0xc3];
        let place = mapping.rw().wrapping_add(0x1000);
        // SAFETY: inside the writable view.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), place, code.len()) };
        let entry = mapping.rx_of_rw(place as usize);
        assert_eq!(mapping.rw_of_rx(entry as usize), place);
        // SAFETY: `entry` holds the function written above, of this signature.
        let function = unsafe { std::mem::transmute::<*mut u8, extern "C" fn() -> i32>(entry) };
        assert_eq!(function(), 42);
        mapping.unmap_written(0x1000, 0x1000).unwrap();
        // SAFETY: inside the writable view.
        assert_eq!(unsafe { place.read() }, code[0]);
        assert_eq!(function(), 42);
        mapping.discard(0x1000, 0x1000).unwrap();
        // SAFETY: inside the writable view.
        assert_eq!(unsafe { place.read() }, 0);
    }
}
