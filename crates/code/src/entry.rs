//! Method entries: the 16-byte stubs that calls go through, and the records they read.
//!
//! A stub chunk holds 4096 stubs; stub i's record is slot i of a data chunk of its own (so that storing to a cell never
//! hits a cache line that is being executed).
//!
//! ```text
//! stub:  jmp [rip → record.target]     lazy (stub + 6):  call compile_trampoline (through a veneer-like hop)
//! unbox: add rdi, 16; jmp [rip → record.target of the method]
//! ```
//!
//! | `record.target` | meaning | who moves it |
//! |---|---|---|
//! | the stub's own lazy tail | not compiled | initial |
//! | code address | calls go there | `set_target`, Release; pairs with the data dependency of the jump (and the i-cache step of `place`) |
//!
//! The entry of a freed method (a dynamic method, or a method of an assembly or domain that ended) is reused for another method
//! (`free_all`); its argument is null in between. An unboxing stub stays with its entry, since it jumps through the entry's record.

use crate::call_sites;
use crate::error::CodeError;
use crate::observer::observer;
use crate::region::{CHUNK_BYTES, Region, mapped_region, region};
use crate::start_map::STUB_CHUNK;
use crate::x86_64 as arch;
use saki_sync::Recycler;
use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

pub(crate) const STUB_BYTES: usize = 16;
const STUBS_PER_CHUNK: usize = CHUNK_BYTES / STUB_BYTES;

/// The record that an entry stub reads, in the data area behind the code; references point to the writable view, the stub reads the other one.
#[repr(C)]
pub struct EntryRecord {
    /// Where the stub jumps.
    target: AtomicUsize,
    /// The method, given to the compile hook.
    argument: AtomicPtr<()>,
}

const _: () = assert!(size_of::<EntryRecord>() == STUB_BYTES);

/// A method's callable address, before and after it is compiled.
#[derive(Clone, Copy)]
pub struct MethodEntry(&'static EntryRecord);

impl MethodEntry {
    /// Makes an entry that compiles on first call; `argument` is passed to the compile hook (the `types::Method`).
    ///
    /// # Errors
    /// `CodeError` when the region is full.
    pub fn new(argument: *const ()) -> Result<MethodEntry, CodeError> {
        if let Some(entry) = FREED.take(0) {
            entry.reset_to_lazy();
            // Relaxed: the caller publishes the entry.
            entry.0.argument.store(argument.cast_mut(), Ordering::Relaxed);
            return Ok(entry);
        }
        let hop = arch::compile_hop()?;
        let (stub, record) = place_stub(|stub, record| arch::encode_entry(stub, record, hop))?;
        // Relaxed: the caller publishes the entry.
        record.argument.store(argument.cast_mut(), Ordering::Relaxed);
        record.target.store(stub + arch::LAZY_TAIL_OFFSET, Ordering::Relaxed);
        Ok(MethodEntry(record))
    }

    /// Frees entries for use by other methods. Until an entry is reused, its stub must not be called.
    ///
    /// # Safety
    /// Nothing refers to the stubs and no stack holds their addresses: their methods are freed, and so is all code with calls that wait
    /// for them. No entry is listed twice.
    pub unsafe fn free_all(entries: &[MethodEntry]) {
        for &entry in entries {
            call_sites::forget(entry);
            // Relaxed: no thread reads it meanwhile; the pool orders it before the next use.
            entry.0.argument.store(std::ptr::null_mut(), Ordering::Relaxed);
        }
        FREED.free(entries.iter().map(|&entry| (0, entry)));
    }

    /// The entry whose stub is at `stub`; `None` if no stub is there.
    pub fn of_stub(stub: usize) -> Option<MethodEntry> {
        let region = mapped_region()?;
        let record = record_of_stub(region, stub)?;
        // Relaxed: only tells whether the slot is an entry.
        (!record.argument.load(Ordering::Relaxed).is_null()).then_some(MethodEntry(record))
    }

    /// The address that calls may use; it stays the same as long as the entry is not freed.
    pub fn stub_address(self) -> usize {
        let region = mapped_region().expect("an entry exists, so the region is mapped");
        let data_offset = self.writable_cell() - region.writable(region.data_chunk(0));
        let (data_chunk, slot) = (data_offset / CHUNK_BYTES, data_offset % CHUNK_BYTES);
        // Relaxed: written before any record of the chunk was handed out.
        DATA_TO_STUB_CHUNK[data_chunk].load(Ordering::Relaxed) * CHUNK_BYTES + region.base + slot
    }

    /// Address of the word that holds the target, readable only and in reach of all code (for `jmp [cell]`).
    pub fn cell_address(self) -> usize {
        let region = mapped_region().expect("an entry exists, so the region is mapped");
        self.writable_cell() - region.writable_base + region.base
    }

    /// The entry's own number, below the number of records that the data area holds.
    pub(crate) fn number(self, region: &Region) -> usize {
        (self.writable_cell() - region.writable(region.data_chunk(0))) / STUB_BYTES
    }

    fn writable_cell(self) -> usize {
        &raw const self.0.target as usize
    }

    /// The argument for the compile hook.
    pub fn argument(self) -> *const () {
        // Relaxed: written once, before the entry was published.
        self.0.argument.load(Ordering::Relaxed)
    }

    /// Makes calls go to `code`; the code is already in the code map.
    pub fn set_target(self, code: usize) {
        // Release: a thread that jumps there sees the code and its tables.
        self.0.target.store(code, Ordering::Release);
        call_sites::patch(self, code);
    }

    /// Makes the next call through the stub compile again.
    pub fn reset_to_lazy(self) {
        self.0.target.store(self.stub_address() + arch::LAZY_TAIL_OFFSET, Ordering::Release);
    }

    /// The compiled code, or `None` before `set_target`.
    pub fn target(self) -> Option<usize> {
        // Acquire: the caller may look the code up.
        let target = self.0.target.load(Ordering::Acquire);
        (target != self.stub_address() + arch::LAZY_TAIL_OFFSET).then_some(target)
    }

    /// The stub that turns a boxed `this` into the address of its value, then jumps where this entry jumps.
    /// For virtual slots of value types; made on first use.
    ///
    /// # Errors
    /// `CodeError` when the region is full.
    pub fn unbox_stub(self) -> Result<usize, CodeError> {
        let cell = self.cell_address();
        let mut made = UNBOX_STUBS.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(&stub) = made.get(&cell) {
            return Ok(stub);
        }
        let stub = place_stub(|stub, _| arch::encode_unbox(stub, cell))?.0;
        made.insert(cell, stub);
        Ok(stub)
    }
}

impl std::fmt::Debug for MethodEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MethodEntry({:#x} → {:#x})", self.stub_address(), self.0.target.load(Ordering::Relaxed))
    }
}

/// Unboxing stubs, by the cell that they jump through.
static UNBOX_STUBS: LazyLock<Mutex<HashMap<usize, usize>>> = LazyLock::new(Mutex::default);

/// Entries of freed methods.
static FREED: Recycler<MethodEntry, 1> = Recycler::new(QUARANTINED_ENTRIES);

/// Entries freed on a processor before the oldest of them is reused, so that an address does not soon denote another method.
const QUARANTINED_ENTRIES: usize = 256;

/// Code chunk number of each data chunk's stubs.
static DATA_TO_STUB_CHUNK: [AtomicUsize; crate::region::MAX_DATA_CHUNKS] =
    [const { AtomicUsize::new(0) }; crate::region::MAX_DATA_CHUNKS];

/// Stubs handed out in one chunk.
struct StubChunk {
    code_offset: usize,
    data_address: usize,
    next: AtomicUsize,
}

/// The chunk that new stubs come from. Null at first; replaced when full (full ones leak: 32 bytes each).
static CURRENT: AtomicPtr<StubChunk> = AtomicPtr::new(std::ptr::null_mut());

/// Takes a stub slot and writes the result of `encode(stub address, record address)`.
pub(crate) fn place_stub(
    encode: impl FnOnce(usize, usize) -> [u8; STUB_BYTES],
) -> Result<(usize, &'static EntryRecord), CodeError> {
    let region = region()?;
    let (offset, record) = take_slot(region)?;
    let stub = region.base + offset;
    let bytes = encode(stub, record);
    // SAFETY: the slot is ours alone and nothing leads to it yet.
    unsafe { region.write(offset, &bytes) };
    saki_os::i_cache::synchronise(stub..stub + STUB_BYTES);
    // SAFETY: a zeroed, aligned 16-byte slot of the data area, never unmapped; all its fields are atomic.
    Ok((stub, unsafe { &*(region.writable(record) as *const EntryRecord) }))
}

fn take_slot(region: &Region) -> Result<(usize, usize), CodeError> {
    static GROW: Mutex<()> = Mutex::new(());
    loop {
        // Acquire: the chunk's fields were written before it was installed.
        let current = CURRENT.load(Ordering::Acquire);
        if !current.is_null() {
            // SAFETY: installed chunks are leaked boxes.
            let chunk = unsafe { &*current };
            // Relaxed: hands out numbers only.
            let slot = chunk.next.fetch_add(1, Ordering::Relaxed);
            if slot < STUBS_PER_CHUNK {
                return Ok((chunk.code_offset + slot * STUB_BYTES, chunk.data_address + slot * STUB_BYTES));
            }
        }
        let _growing = GROW.lock().unwrap_or_else(|e| e.into_inner());
        // Relaxed: only compared; the lock orders it against the store below.
        if CURRENT.load(Ordering::Relaxed) != current {
            continue;
        }
        let code_offset = region.take_chunks(1)?;
        let data_chunk = region.take_data_chunk()?;
        let code_chunk = code_offset / CHUNK_BYTES;
        // Relaxed: published by the Release store of `CURRENT`.
        DATA_TO_STUB_CHUNK[data_chunk].store(code_chunk, Ordering::Relaxed);
        // Release: pairs with the Acquire in `map::lookup` and `record_of_stub`.
        region.chunk_kinds[code_chunk].store(STUB_CHUNK | data_chunk as u32, Ordering::Release);
        if let Some(observer) = observer() {
            let start = region.base + code_offset;
            observer.stubs_placed(start..start + CHUNK_BYTES);
        }
        let data_address = region.data_chunk(data_chunk);
        let chunk = Box::leak(Box::new(StubChunk { code_offset, data_address, next: AtomicUsize::new(0) }));
        // Release: publishes the chunk's fields.
        CURRENT.store(chunk, Ordering::Release);
    }
}

fn record_of_stub(region: &Region, stub: usize) -> Option<&'static EntryRecord> {
    let offset = region.offset_of(stub)?;
    // Acquire: pairs with the store in `take_slot`.
    let kind = region.chunk_kinds[offset / CHUNK_BYTES].load(Ordering::Acquire);
    if kind & STUB_CHUNK == 0 {
        return None;
    }
    let record = region.data_chunk((kind & !STUB_CHUNK) as usize) + offset % CHUNK_BYTES / STUB_BYTES * STUB_BYTES;
    // SAFETY: a 16-byte slot of the data area, zeroed when mapped and only written atomically.
    Some(unsafe { &*(region.writable(record) as *const EntryRecord) })
}
