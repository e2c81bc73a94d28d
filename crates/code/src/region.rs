//! The reserved address range: code, mapped twice (W^X), and behind it the records that entry stubs jump through.
//!
//! ```text
//! base                    base + code_bytes            + data_bytes
//! │ code                   │ entry records              │   read + execute view: what runs, and what stubs read
//! │ same pages, at `writable_base`                      │   read + write view: where code and records are written
//! ```
//! Invariant: no page is both writable and executable at one address, unless a debugger was asked for
//! (`allow_breakpoints`); every code address reaches every other with a call or jump, and all records with a load.
//! Both views stay mapped for the life of the process. Only their length depends on the address space available. Left
//! out: returning pages of retired code.

use crate::arch::{Arch, Architecture};
use crate::error::CodeError;
use saki_base::locks::{Mutex, MutexGuard, rank};
use saki_os::{DualMapping, ForkActions, ForkStage, Reservation, on_fork};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Unit of allocation; small enough to scan its start bits (64 words) in a signal handler.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;
/// After so many chunks were taken, pages of the writable view are taken out of the page table: most of them are never
/// written to again, and would count as resident a second time. Those in which a call is changed come back at a page
/// fault each.
const CHUNKS_WRITTEN_AT_ONCE: usize = 8;
const CALL_REACH_BYTES: usize = saki_abi::NativeAbi::HOST.call_reach_bytes;
/// Reserved for code where there is room. Roslyn on itself needs about 60 MiB; the rest costs address space only. All
/// code is within reach of all calls in it.
const MAX_CODE_BYTES: usize = if CALL_REACH_BYTES < 1 << 30 { CALL_REACH_BYTES } else { 1 << 30 };
/// The least size with which Saki starts: `mcs` compiling a program fills a third of it.
const MIN_CODE_BYTES: usize = 8 << 20;
/// The part of scarce address space that the code region may ask for; it is mapped twice, and its tables take a quarter
/// of it.
const CODE_SHARE: usize = 32;
/// The part of the code region's size that is reserved for entry records: enough for a quarter of the region full of
/// entry stubs.
const DATA_SHARE: usize = 4;
pub(crate) const MAX_DATA_CHUNKS: usize = MAX_CODE_BYTES / DATA_SHARE / CHUNK_BYTES;
/// Bodies start at multiples of this; one start bit covers one granule.
pub(crate) const GRANULE_BYTES: usize = 16;

/// The mapped region and the tables indexed by its chunks.
pub(crate) struct Region {
    /// First address of the executable view.
    pub base: usize,
    /// First address of the writable view.
    pub writable_base: usize,
    /// Size of the code part of each view; a power of two.
    pub code_bytes: usize,
    /// One bit per granule: a body starts here. Set by release `fetch_or` after its header is written.
    pub starts: &'static [AtomicU64],
    /// Per chunk: 0 = plain; n = continues a body that starts n chunks before; `start_map::STUB_CHUNK | i` = stubs,
    /// whose records are in data chunk i.
    pub chunk_kinds: &'static [AtomicU32],
    next_chunk: AtomicUsize,
    next_data_chunk: AtomicUsize,
    /// Keeps the views mapped.
    views: DualMapping,
    /// Between the start of a fork and its end: the child's memory.
    child_views: Mutex<rank::ChildViews, Option<io::Result<DualMapping>>>,
}
const _: () = assert!(crate::start_map::GRANULES_PER_CHUNK * GRANULE_BYTES == CHUNK_BYTES);

static REGION: OnceLock<Result<Region, CodeError>> = OnceLock::new();

/// Maps the region now instead of at first use, to learn early that it cannot be mapped, or that Saki does not run on
/// this processor.
///
/// # Errors
/// `CodeError::Map`, `CodeError::Unsupported`.
pub fn init() -> Result<(), CodeError> {
    Arch::check()?;
    region().map(|_| ())?;
    on_fork(
        ForkStage::Code,
        ForkActions {
            prepare: || with_region(Region::prepare_fork),
            parent: || with_region(Region::end_fork),
            child: || with_region(Region::begin_child),
            restart: || with_region(Region::check_child),
        },
    );
    Ok(())
}

fn with_region(action: fn(&Region)) {
    if let Some(region) = mapped_region() {
        action(region);
    }
}

/// Lets debuggers set breakpoints in code, at the price of pages that are writable and executable.
///
/// # Errors
/// `CodeError::Map`, also where a security policy forbids such pages.
pub fn allow_breakpoints() -> Result<(), CodeError> {
    region()?.views.allow_breakpoints().map_err(|error| CodeError::map("code region", &error))
}

/// First and one-past-last address of the executable view.
///
/// # Errors
/// `CodeError::Map`.
pub fn region_range() -> Result<std::ops::Range<usize>, CodeError> {
    region().map(Region::code_range)
}

/// To be called when calls in code all over the region have been changed, and more will not be for a while: takes the
/// pages in which they were changed out of the page table, where they count as resident a second time.
pub fn forget_written() {
    with_region(Region::unmap_written);
}

pub(crate) fn region() -> Result<&'static Region, CodeError> {
    REGION.get_or_init(Region::map).as_ref().map_err(Clone::clone)
}

/// The region if it is mapped; safe in signal handlers.
pub(crate) fn mapped_region() -> Option<&'static Region> {
    REGION.get()?.as_ref().ok()
}

impl Region {
    fn map() -> Result<Region, CodeError> {
        let mut code_bytes = saki_os::address_space::share_bytes(MAX_CODE_BYTES, MIN_CODE_BYTES, CODE_SHARE);
        let views = loop {
            match DualMapping::new(code_bytes + code_bytes / DATA_SHARE) {
                Ok(views) => break views,
                Err(_) if code_bytes > MIN_CODE_BYTES => code_bytes /= 2,
                Err(error) => return Err(CodeError::map("code region", &error)),
            }
        };
        Ok(Region {
            code_bytes,
            base: views.rx() as usize,
            writable_base: views.rw() as usize,
            starts: zeroed_words(code_bytes / GRANULE_BYTES / 64)?,
            chunk_kinds: zeroed_words(code_bytes / CHUNK_BYTES)?,
            next_chunk: AtomicUsize::new(0),
            next_data_chunk: AtomicUsize::new(0),
            views,
            child_views: Mutex::new(None),
        })
    }

    /// Before a fork, with the world stopped: copies what a child needs. Both views are shared memory, so that parent
    /// and child would write into each other's code otherwise, and the child's code must be that of this moment:
    /// afterwards the parent goes on.
    fn prepare_fork(&self) {
        // Relaxed: the world is stopped, so no thread takes chunks meanwhile.
        let chunks = |next: &AtomicUsize, room: usize| (next.load(Ordering::Relaxed) * CHUNK_BYTES).min(room);
        let code = 0..chunks(&self.next_chunk, self.code_bytes);
        let data = self.code_bytes..self.code_bytes + chunks(&self.next_data_chunk, self.data_bytes());
        *self.child_views() = Some(self.views.copy(&[code, data]));
    }

    /// In the parent, which needs no copy.
    fn end_fork(&self) {
        *self.child_views() = None;
    }

    /// In the child, which has one thread. Without a copy the views stay as they are, so that a child that only calls
    /// `exec` is not kept from it.
    fn begin_child(&self) {
        let mut copy = self.child_views();
        *copy = match copy.take() {
            // SAFETY: the child has this thread only, and the copy has all that is in use.
            Some(Ok(copy)) => unsafe { self.views.replace_by(copy) }.err().map(Err),
            failed => failed,
        };
    }

    /// The child comes back to the machine, which must not write into the code of its parent.
    fn check_child(&self) {
        if let Some(Err(error)) = &*self.child_views() {
            saki_base::bug!("a forked process has no memory for code of its own: {error}");
        }
    }

    fn child_views(&self) -> MutexGuard<'_, rank::ChildViews, Option<io::Result<DualMapping>>> {
        self.child_views.lock()
    }

    /// Size of the part of each view for entry records.
    pub fn data_bytes(&self) -> usize {
        self.code_bytes / DATA_SHARE
    }

    /// First and one-past-last address of code in the executable view.
    pub fn code_range(&self) -> std::ops::Range<usize> {
        self.base..self.base + self.code_bytes
    }

    /// Takes `count` adjacent chunks; returns the first one's offset in bytes from `base`.
    pub fn take_chunks(&self, count: usize) -> Result<usize, CodeError> {
        // Relaxed: the counter hands out numbers; what is written to the chunk is published by its start bits.
        let first = self.next_chunk.fetch_add(count, Ordering::Relaxed);
        if first + count > self.code_bytes / CHUNK_BYTES {
            return Err(CodeError::RegionFull { region_bytes: self.code_bytes });
        }
        if first / CHUNKS_WRITTEN_AT_ONCE != (first + count) / CHUNKS_WRITTEN_AT_ONCE {
            // Without effect the pages only count twice.
            let _ = self.views.unmap_written(0, first * CHUNK_BYTES);
        }
        // A program that starts fills a chunk at once. Without effect there is a fault for each page.
        let _ = self.views.populate_written(first * CHUNK_BYTES, count * CHUNK_BYTES);
        Ok(first * CHUNK_BYTES)
    }

    /// Takes all pages of the writable view out of the page table. Without effect the pages only count twice.
    fn unmap_written(&self) {
        // Relaxed: chunks that are taken meanwhile are left out.
        let len_bytes = |next: &AtomicUsize, room: usize| (next.load(Ordering::Relaxed) * CHUNK_BYTES).min(room);
        let _ = self.views.unmap_written(0, len_bytes(&self.next_chunk, self.code_bytes));
        let _ = self.views.unmap_written(self.code_bytes, len_bytes(&self.next_data_chunk, self.data_bytes()));
    }

    /// Takes one chunk of the data area; returns its index.
    pub fn take_data_chunk(&self) -> Result<usize, CodeError> {
        // Relaxed: the counter hands out numbers; records in the chunk are published with their stubs.
        let index = self.next_data_chunk.fetch_add(1, Ordering::Relaxed);
        if (index + 1) * CHUNK_BYTES > self.data_bytes() {
            return Err(CodeError::RegionFull { region_bytes: self.data_bytes() });
        }
        Ok(index)
    }

    /// Address of data chunk `index` in the view that stubs read.
    pub fn data_chunk(&self, index: usize) -> usize {
        self.base + self.code_bytes + index * CHUNK_BYTES
    }

    /// The writable address of an executable one.
    pub fn writable(&self, address: usize) -> usize {
        address - self.base + self.writable_base
    }

    /// Offset of a code address, if it is one.
    pub fn offset_of(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.code_bytes).then_some(offset)
    }

    /// Writes through the writable view.
    ///
    /// # Safety
    /// `[offset, offset + bytes.len())` was taken by the caller and is not reachable by any executing thread.
    pub unsafe fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.code_bytes);
        let destination = (self.writable_base + offset) as *mut u8;
        // SAFETY: inside the writable view (asserted), owned by the caller.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), destination, bytes.len()) };
    }

    /// The aligned word of 8 bytes of placed code in which the byte at `offset` lies, through the writable view. Other
    /// threads may execute it.
    pub fn code_word(&self, offset: usize) -> &AtomicU64 {
        let word = offset / 8 * 8;
        assert!(word < self.code_bytes);
        // SAFETY: aligned and inside the writable view (asserted), which stays mapped; a placed body's bytes are only
        // changed by such words, and rooms of bodies are multiples of 8 bytes.
        unsafe { AtomicU64::from_ptr((self.writable_base + word) as *mut u64) }
    }
}

/// A zeroed table of `count` atomics (u32 or u64), whose pages are committed when touched; lives for ever.
pub(crate) fn zeroed_words<T>(count: usize) -> Result<&'static [T], CodeError> {
    const { assert!(align_of::<T>() <= 8 && !std::mem::needs_drop::<T>()) };
    let table = Reservation::reserve_writable(count * size_of::<T>()).map_err(|e| CodeError::map("code map", &e))?;
    let (base, _) = table.leak();
    // SAFETY: a fresh, zeroed, page-aligned mapping of this many bytes, never unmapped; zero is a valid atomic integer.
    Ok(unsafe { std::slice::from_raw_parts(base as *const T, count) })
}
