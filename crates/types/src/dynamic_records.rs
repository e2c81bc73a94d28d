//! Memory of dynamic methods: records in chunks of their own, so that for any word it can be decided whether it points
//! into one.
//!
//! | state of a record | owner | next |
//! |---|---|---|
//! | free (in `Arena::free`, or never used) | the arena | in a reserve |
//! | in a reserve (`RESERVES`, one per processor) | the thread that takes the reserve | `store` → live; a reserve that has many gives some back: free |
//! | live | all holders of the method | `free` → in a reserve, by a caller that knows that there are no holders left |
//!
//! `is_live` is set by a release store after the contents are written, and read by an acquire load, so that a `Finder`
//! that sees the flag sees the contents. It is cleared with the arena locked, so a record that a `Finder` (which holds
//! the lock) has found stays live. Chunks are never given back.

use crate::domain::Image;
use crate::method::Method;
use rustc_hash::FxHashSet;
use saki_base::locks::rank;
use saki_sync::SlotPool;
use saki_sync::word_locks::{Mutex, MutexGuard};
use saki_thread::child_locks;
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Chunks are aligned to their size.
const CHUNK_BYTES: usize = 64 << 10;
const RECORDS_PER_CHUNK: usize = CHUNK_BYTES / size_of::<Record>();

/// Data of the runtime about a dynamic method.
#[derive(Default)]
pub struct DynamicNotes {
    /// Address of the DynamicMethod object, not a root; 0 before the object exists and after it was collected.
    pub object: AtomicUsize,
    /// Address of the RuntimeMethodInfo made for the method, not a root; 0 without one.
    pub info: AtomicUsize,
}

struct Contents {
    method: Method,
    image: Image,
    name: Box<str>,
    notes: DynamicNotes,
}

struct Record {
    contents: MaybeUninit<Contents>,
    is_live: AtomicBool,
}

/// A free record, owned by the holder of this value.
struct FreeRecord(*mut Record);

// SAFETY: the record belongs to the holder of this value alone.
unsafe impl Send for FreeRecord {}

struct Arena {
    chunks: FxHashSet<usize>,
    free: Vec<FreeRecord>,
}

/// Free records for use by one processor; the next one to use is last.
#[derive(Default)]
struct Reserve(Vec<FreeRecord>);

static RESERVES: SlotPool<Reserve> = SlotPool::new();
/// Records that a reserve takes at once.
const RESERVED_RECORDS: usize = 32;

static ARENA: Mutex<rank::DynamicRecords, Option<Arena>> = Mutex::new(None);

/// Address range from the lowest chunk to the end of the highest (with `HIGH`); it only grows. For a test without the
/// lock.
static LOW: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGH: AtomicUsize = AtomicUsize::new(0);

/// The address range that contains all dynamic methods that ever existed.
fn bounds() -> Range<usize> {
    // Relaxed: the bounds grow before a method is published, and that publication orders this for every thread that has
    // its address.
    LOW.load(Ordering::Relaxed)..HIGH.load(Ordering::Relaxed)
}

/// The live dynamic method whose record `address` points to or into. Takes the lock only for addresses within `bounds`.
pub fn find(address: usize) -> Option<&'static Method> {
    if bounds().contains(&address) { Finder::lock().find(address) } else { None }
}

/// Whether `address` lies in memory for dynamic methods, whether one lives there or not.
pub fn is_record(address: usize) -> bool {
    bounds().contains(&address) && Finder::lock().has_chunk(address)
}

/// Whether `address` was a dynamic method's once, but no method lives there now.
pub fn is_stale(address: usize) -> bool {
    bounds().contains(&address) && Finder::lock().is_stale(address)
}

impl Arena {
    fn new() -> Arena {
        Arena { chunks: FxHashSet::default(), free: Vec::new() }
    }

    /// Moves some free records to a reserve.
    fn fill(&mut self, reserve: &mut Vec<FreeRecord>) {
        if self.free.is_empty() {
            let layout = Layout::from_size_align(CHUNK_BYTES, CHUNK_BYTES).expect("a power of two");
            // SAFETY: the size is not zero.
            let chunk = unsafe { alloc_zeroed(layout) };
            if chunk.is_null() {
                handle_alloc_error(layout);
            }
            let address = chunk as usize;
            self.chunks.insert(address);
            // Relaxed, both: as in `bounds`; no method lies in the chunk yet.
            LOW.fetch_min(address, Ordering::Relaxed);
            HIGH.fetch_max(address + CHUNK_BYTES, Ordering::Relaxed);
            let first = chunk.cast::<Record>();
            self.free.extend((0..RECORDS_PER_CHUNK).rev().map(|index| FreeRecord(first.wrapping_add(index))));
        }
        let first = self.free.len().saturating_sub(RESERVED_RECORDS);
        reserve.extend(self.free.drain(first..));
    }
}

fn give_reserve(reserve: Box<Reserve>) {
    if let Err(reserve) = RESERVES.give_or_keep(reserve)
        && let Some(arena) = ARENA.lock().as_mut()
    {
        arena.free.extend(reserve.0);
    }
}

/// Puts a method and its image in a record; `make` builds the method.
pub(crate) fn store(
    image: Image,
    name: Box<str>,
    make: impl FnOnce(&'static Image, &'static str) -> Method,
) -> &'static Method {
    let mut reserve = RESERVES.take().unwrap_or_default();
    if reserve.0.is_empty() {
        ARENA.lock().get_or_insert_with(Arena::new).fill(&mut reserve.0);
    }
    let record = reserve.0.pop().expect("filled above").0;
    give_reserve(reserve);
    // SAFETY: a free record, which is ours alone, in memory that stays.
    let contents = unsafe { (&raw mut (*record).contents).cast::<Contents>() };
    // SAFETY: as above; each field is written before references to it are made.
    let method = unsafe {
        (&raw mut (*contents).name).write(name);
        (&raw mut (*contents).image).write(image);
        (&raw mut (*contents).notes).write(DynamicNotes::default());
        let method = make(&(*contents).image, &(*contents).name);
        (&raw mut (*contents).method).write(method);
        &(*contents).method
    };
    // Release: pairs with the load in `Finder::find`.
    // SAFETY: a record of a chunk, zeroed or written; the flag is atomic.
    unsafe { (*record).is_live.store(true, Ordering::Release) };
    method
}

const METHOD_OFFSET: usize = std::mem::offset_of!(Contents, method) + std::mem::offset_of!(Record, contents);

fn record_of(method: &'static Method) -> *mut Record {
    debug_assert!(method.is_dynamic());
    std::ptr::from_ref(method).cast_mut().cast::<u8>().wrapping_sub(METHOD_OFFSET).cast()
}

/// The notes of a dynamic method.
///
/// # Panics
/// In debug builds, for any other method.
pub fn notes(method: &'static Method) -> &'static DynamicNotes {
    // SAFETY: dynamic methods are made by `store` only, and live as long as something refers to them.
    unsafe { &(*(&raw const (*record_of(method)).contents).cast::<Contents>()).notes }
}

/// The records, locked for many look-ups.
pub struct Finder(MutexGuard<'static, rank::DynamicRecords, Option<Arena>>);

impl Finder {
    /// Locks the records. The result must not be held across a safepoint.
    pub fn lock() -> Finder {
        Finder(ARENA.lock())
    }

    /// The address range outside of which `find` finds nothing; empty when there are no records.
    pub fn bounds(&self) -> Range<usize> {
        bounds()
    }

    fn has_chunk(&self, address: usize) -> bool {
        let chunk = address & !(CHUNK_BYTES - 1);
        self.0.as_ref().is_some_and(|arena| arena.chunks.contains(&chunk))
    }

    /// Whether `address` was a dynamic method's once, but no method lives there now.
    fn is_stale(&self, address: usize) -> bool {
        self.has_chunk(address) && self.find(address).is_none()
    }

    /// The live dynamic method whose record `address` points to or into.
    pub fn find(&self, address: usize) -> Option<&'static Method> {
        let arena = self.0.as_ref()?;
        let chunk = address & !(CHUNK_BYTES - 1);
        if !bounds().contains(&address) || !arena.chunks.contains(&chunk) {
            return None;
        }
        let index = (address - chunk) / size_of::<Record>();
        if index >= RECORDS_PER_CHUNK {
            return None;
        }
        let record = (chunk as *const Record).wrapping_add(index);
        // Acquire: pairs with the store in `store`.
        // SAFETY: a record of a chunk, zeroed or written; the flag is atomic.
        if !unsafe { (*record).is_live.load(Ordering::Acquire) } {
            return None;
        }
        // SAFETY: live, so its contents were written.
        Some(unsafe { &(*(&raw const (*record).contents).cast::<Contents>()).method })
    }
}

/// Before a fork: threads in safe regions, which compile, may ask for records.
pub fn hold() {
    child_locks::hold(&ARENA);
}

/// In the parent.
pub fn release() {
    child_locks::release(&ARENA);
}

/// In a forked child.
pub fn begin_child() {
    child_locks::revive(&ARENA);
}

/// Frees dynamic methods, their images and bodies.
///
/// # Safety
/// Nothing refers to the methods, their images or bodies any more, their code is freed, and no method is listed twice.
pub unsafe fn free(methods: &[&'static Method]) {
    let records: Vec<*mut Record> = methods.iter().map(|method| record_of(method)).collect();
    {
        let _locked = ARENA.lock();
        for &record in &records {
            // Relaxed: the lock orders it for `Finder`s.
            // SAFETY: a live record; the flag is atomic.
            unsafe { (*record).is_live.store(false, Ordering::Relaxed) };
        }
    }
    for &record in &records {
        // SAFETY: live until now, hence written; the caller's alone, dropped once.
        unsafe { (*record).contents.assume_init_drop() };
    }
    // The records freed last are used first.
    let mut reserve = RESERVES.take().unwrap_or_default();
    reserve.0.extend(records.into_iter().map(FreeRecord));
    if reserve.0.len() >= 3 * RESERVED_RECORDS
        && let Some(arena) = ARENA.lock().as_mut()
    {
        arena.free.extend(reserve.0.drain(..2 * RESERVED_RECORDS));
    }
    give_reserve(reserve);
}
