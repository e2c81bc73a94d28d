//! Slots for stubs: chunks of the code region that are divided into stubs of 16 bytes, each with a record in the data
//! area.
//!
//! A stub chunk holds 4096 stubs; stub i's record is slot i of a data chunk of its own (so that storing to a cell never
//! hits a cache line that is being executed). Entry stubs use their records; unboxing stubs and veneers leave theirs
//! unused. Left out: what stubs do (`arch`), and freeing slots.

use crate::arch::{Arch, Architecture, STUB_BYTES};
use crate::error::CodeError;
use crate::observer::observer;
use crate::region::{CHUNK_BYTES, Region, region};
use crate::start_map::STUB_CHUNK;
use saki_base::locks::{Mutex, RwLock, rank};
use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

const STUBS_PER_CHUNK: usize = CHUNK_BYTES / STUB_BYTES;

/// The record that an entry stub reads, in the data area behind the code; references point to the writable view, the
/// stub reads the other one.
#[repr(C)]
pub struct EntryRecord {
    /// Where the stub jumps.
    pub(crate) target: AtomicUsize,
    /// The method, given to the compile hook.
    pub(crate) argument: AtomicPtr<()>,
}

const _: () = assert!(size_of::<EntryRecord>() == STUB_BYTES);

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

/// Takes a stub slot and writes the result of `encode(stub address, record address)`; `fill(stub address, record)`
/// gives the record its first contents. Afterwards every core has passed a barrier, so whoever jumps to the stub sees
/// both.
pub(crate) fn place_stub(
    encode: impl FnOnce(usize, usize) -> [u8; STUB_BYTES],
    fill: impl FnOnce(usize, &EntryRecord),
) -> Result<(usize, &'static EntryRecord), CodeError> {
    let region = region()?;
    let (offset, record) = take_slot(region)?;
    let stub = region.base + offset;
    let bytes = encode(stub, record);
    // SAFETY: the slot is ours alone and nothing leads to it yet.
    unsafe { region.write(offset, &bytes) };
    // SAFETY: a zeroed, aligned 16-byte slot of the data area, never unmapped; all its fields are atomic.
    let record: &'static EntryRecord = unsafe { &*(region.writable(record) as *const EntryRecord) };
    fill(stub, record);
    saki_os::i_cache::synchronise(stub..stub + STUB_BYTES);
    Ok((stub, record))
}

fn take_slot(region: &Region) -> Result<(usize, usize), CodeError> {
    static GROW: Mutex<rank::StubSlots, ()> = Mutex::new(());
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
        let _growing = GROW.lock();
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

pub(crate) fn record_of_stub(region: &Region, stub: usize) -> Option<&'static EntryRecord> {
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

/// The stub of the record whose writable address is `record`.
pub(crate) fn stub_of_record(region: &Region, record: usize) -> usize {
    let data_offset = record - region.writable(region.data_chunk(0));
    let (data_chunk, slot) = (data_offset / CHUNK_BYTES, data_offset % CHUNK_BYTES);
    // Relaxed: written before any record of the chunk was handed out.
    DATA_TO_STUB_CHUNK[data_chunk].load(Ordering::Relaxed) * CHUNK_BYTES + region.base + slot
}

/// Address inside the region that jumps to `target` and changes no register. One per target.
///
/// # Errors
/// `CodeError` when the region is full.
pub fn veneer(target: usize) -> Result<usize, CodeError> {
    static VENEERS: LazyLock<RwLock<rank::Veneers, HashMap<usize, usize>>> = LazyLock::new(Default::default);
    if let Some(&address) = VENEERS.read().get(&target) {
        return Ok(address);
    }
    let mut veneers = VENEERS.write();
    if let Some(&address) = veneers.get(&target) {
        return Ok(address);
    }
    let address = place_stub(|_, _| Arch::encode_veneer(target), |_, _| ())?.0;
    veneers.insert(target, address);
    Ok(address)
}
