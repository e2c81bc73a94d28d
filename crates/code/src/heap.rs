//! Placing code: allocation from chunks owned by the placing thread, relocation, publication; and veneers.
//!
//! Publication order: code, header and tables are written → instruction caches synchronised → start bit (Release) →
//! the caller stores the address in an entry cell. Each step happens before the next becomes visible, so whoever can
//! execute the code can also look it up.
//!
//! Chunk cursors wait in a fixed set of slots; a placing thread takes one with a swap (starting at a slot of its own),
//! so threads do not meet on a lock. | slot | null = empty or in use | non-null = a cursor nobody uses |.
//!
//! Removal, of what dynamic methods were compiled to: | published | `retire`: start bit cleared | grace period of `walks` |
//! `free`: the room waits for a body of its size, oldest first | placed again |.
//!
//! Left out: patching of call sites (calls go through entry stubs or are final); giving room back to the system.

use crate::entry;
use crate::error::CodeError;
use crate::info::CodeInfo;
use crate::map;
use crate::observer::observer;
use crate::region::{CHUNK_BYTES, GRANULE_BYTES, Region, mapped_region, region};
use crate::start_map;
use crate::x86_64 as arch;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, RwLock};

/// A place in a body that depends on an address.
#[derive(Clone, Copy, Debug)]
pub struct Reloc {
    /// Bytes from the start of the body.
    pub offset: u32,
    pub kind: RelocKind,
    pub target: RelocTarget,
    pub addend: i64,
}

/// How the address is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocKind {
    /// 4 bytes, target + addend − place, of a call or jump; goes through a veneer when the target is too far.
    X86CallPCRel4,
    /// 4 bytes, target + addend − place, of data or code that must be in reach.
    X86PCRel4,
    /// 8 bytes, target + addend.
    Abs8,
}

/// What a relocation names, already resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocTarget {
    Address(usize),
    /// Bytes from the start of the body itself.
    OwnOffset(u32),
}

/// Room to place bodies in, between two offsets from the region's base.
struct Cursor {
    next: usize,
    end: usize,
}

/// Offsets of freed bodies of one size, oldest first. Any thread frees and uses them.
struct FreedBodies {
    offsets: Mutex<VecDeque<u32>>,
    /// Their number: a hint, so that sizes of which there are none cost no lock.
    count: AtomicUsize,
}

/// By size in units of `ROOM_BYTES`.
static FREED: [FreedBodies; MAX_FREED_ROOMS] =
    [const { FreedBodies { offsets: Mutex::new(VecDeque::new()), count: AtomicUsize::new(0) } }; MAX_FREED_ROOMS];

/// Bodies start at multiples of this at least, which is what the code generator asks for; their rooms are multiples of it.
const ROOM_BYTES: usize = 32;
/// Freed bodies of this size and more are not used again; a lambda has a few hundred bytes.
const MAX_FREED_ROOMS: usize = 128;
const _: () = assert!(ROOM_BYTES.is_multiple_of(GRANULE_BYTES));
/// So many freed bodies of a size wait before the oldest is used: an address does not soon mean something else.
const QUARANTINED_BODIES: usize = 32;

const CURSOR_SLOTS: usize = 64;
static CURSORS: [AtomicPtr<Cursor>; CURSOR_SLOTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; CURSOR_SLOTS];
static NEXT_HOME_SLOT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Where this OS thread looks for a cursor first. Only a hint: a green thread may carry it to another thread.
    // Relaxed: any number will do.
    static HOME_SLOT: usize = NEXT_HOME_SLOT.fetch_add(1, Ordering::Relaxed) % CURSOR_SLOTS;
}

/// Copies a body into the code region, relocates and publishes it. `info.start` and `len_bytes` are set here.
/// `align` is in bytes, a power of two. The result's `start` is the address to call.
///
/// # Errors
/// `CodeError`; nothing is published then.
pub fn place(bytes: &[u8], align: u32, relocs: &[Reloc], mut info: CodeInfo) -> Result<&'static CodeInfo, CodeError> {
    debug_assert_eq!(info.check(), Ok(()), "tables of {}", info.name);
    let region = region()?;
    let align = (align as usize).max(ROOM_BYTES);
    assert!(align.is_power_of_two() && align <= CHUNK_BYTES / 2 && !bytes.is_empty());
    let offset = allocate(region, bytes.len(), align)?;
    let start = region.base + offset;
    let mut body = bytes.to_vec();
    for reloc in relocs {
        apply(&mut body, start, reloc)?;
    }
    info.start = start;
    info.len_bytes = u32::try_from(bytes.len())
        .map_err(|_| CodeError::BadRelocation { offset: 0, reason: "body of 4 GiB or more" })?;
    let info: &'static CodeInfo = Box::leak(Box::new(info)); // until `free`
    let header = (&raw const *info as usize).to_le_bytes();
    // SAFETY: `allocate` gave us [offset − 8, offset + len), which no start bit or entry reaches yet.
    unsafe { region.write(offset - header.len(), &header) };
    // SAFETY: as above.
    unsafe { region.write(offset, &body) };
    saki_os::i_cache::synchronise(start..start + body.len());
    if let Some(observer) = observer() {
        observer.placed(info);
    }
    map::publish(region, offset);
    Ok(info)
}

/// Takes a body out of the code map. Its memory stays as it is, and its `CodeInfo` readable, until `free`.
///
/// # Safety
/// No entry leads to the code, and no stack holds an address in it.
pub unsafe fn retire(info: &CodeInfo) {
    if let Ok(region) = region()
        && let Some(offset) = region.offset_of(info.start)
    {
        map::unpublish(region, offset);
        if let Some(observer) = observer() {
            observer.removed(info);
        }
    }
}

/// Lets a retired body's room be used again and frees its `CodeInfo`.
///
/// # Safety
/// The body was retired, a stamp of `walks()` taken after that has passed, and nobody uses `info` any more.
pub unsafe fn free(info: &'static CodeInfo) {
    let room = room_of(info.len_bytes as usize);
    // A longer body of as many units must not reach into the next chunk.
    let fits_chunk = |offset: &usize| offset % CHUNK_BYTES + room * ROOM_BYTES <= CHUNK_BYTES;
    if let Some(offset) = mapped_region().and_then(|region| region.offset_of(info.start)).filter(fits_chunk)
        && let Some(freed) = FREED.get(room)
        && let Ok(offset) = u32::try_from(offset)
    {
        freed.offsets.lock().unwrap_or_else(|e| e.into_inner()).push_back(offset);
        // Relaxed: a hint.
        freed.count.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: leaked by `place`; by the contract nobody else has it.
    drop(unsafe { Box::from_raw(std::ptr::from_ref(info).cast_mut()) });
}

/// Units that a body takes up with its header, whose word lies before the first one.
fn room_of(len_bytes: usize) -> usize {
    (len_bytes + size_of::<usize>()).div_ceil(ROOM_BYTES)
}

/// Address inside the region that jumps to `target` and changes no register. One per target.
///
/// # Errors
/// `CodeError` when the region is full.
pub fn veneer(target: usize) -> Result<usize, CodeError> {
    static VENEERS: LazyLock<RwLock<HashMap<usize, usize>>> = LazyLock::new(Default::default);
    if let Some(&address) = VENEERS.read().unwrap_or_else(|e| e.into_inner()).get(&target) {
        return Ok(address);
    }
    let mut veneers = VENEERS.write().unwrap_or_else(|e| e.into_inner());
    if let Some(&address) = veneers.get(&target) {
        return Ok(address);
    }
    let address = entry::place_stub(|_, _| arch::encode_veneer(target))?.0;
    veneers.insert(target, address);
    Ok(address)
}

/// Offset of room for a header word and `len` bytes; only the caller may write there.
fn allocate(region: &Region, len: usize, align: usize) -> Result<usize, CodeError> {
    if let Some(offset) = take_freed(len, align) {
        return Ok(offset);
    }
    let mut cursor = take_cursor();
    let offset = match fit(&cursor, len, align) {
        Some(offset) => offset,
        None => {
            // A fresh run of chunks; the body starts in the first one, behind room for its header.
            let chunk_count = (align + len).div_ceil(CHUNK_BYTES);
            let first = region.take_chunks(chunk_count)?;
            for back in 1..chunk_count {
                start_map::continue_body(region.chunk_kinds, first / CHUNK_BYTES + back, back as u32);
            }
            let offset = first + align;
            let end = first + chunk_count * CHUNK_BYTES;
            let room_left = end - (offset + len);
            if room_left > cursor.end - cursor.next {
                *cursor = Cursor { next: offset, end };
            } else {
                give_cursor(cursor);
                return Ok(offset);
            }
            offset
        }
    };
    cursor.next = offset + len;
    give_cursor(cursor);
    Ok(offset)
}

/// Room that a body of this size had.
fn take_freed(len: usize, align: usize) -> Option<usize> {
    let freed = FREED.get(room_of(len))?;
    // Relaxed: a hint.
    if align != ROOM_BYTES || freed.count.load(Ordering::Relaxed) <= QUARANTINED_BODIES {
        return None;
    }
    let mut offsets = freed.offsets.lock().unwrap_or_else(|e| e.into_inner());
    let offset = if offsets.len() > QUARANTINED_BODIES { offsets.pop_front() } else { None };
    freed.count.store(offsets.len(), Ordering::Relaxed);
    offset.map(|offset| offset as usize)
}

fn fit(cursor: &Cursor, len: usize, align: usize) -> Option<usize> {
    let offset = (cursor.next + size_of::<usize>()).next_multiple_of(align);
    // A body must not continue into a chunk that it does not start in, unless its run was taken for it.
    (offset + len <= cursor.end).then_some(offset)
}

fn take_cursor() -> Box<Cursor> {
    let home = HOME_SLOT.with(|slot| *slot);
    for step in 0..CURSOR_SLOTS {
        let slot = &CURSORS[(home + step) % CURSOR_SLOTS];
        // Acquire: pairs with the Release in `give_cursor`; the cursor's fields are ours afterwards.
        let cursor = slot.swap(std::ptr::null_mut(), Ordering::Acquire);
        if !cursor.is_null() {
            // SAFETY: came from `Box::into_raw` in `give_cursor`, and the swap made us its only owner.
            return unsafe { Box::from_raw(cursor) };
        }
        if step > 0 && step % 8 == 0 {
            break; // Enough looking: a new chunk costs less than a tour of busy slots.
        }
    }
    Box::new(Cursor { next: 0, end: 0 })
}

fn give_cursor(cursor: Box<Cursor>) {
    let home = HOME_SLOT.with(|slot| *slot);
    let cursor = Box::into_raw(cursor);
    for step in 0..CURSOR_SLOTS {
        let slot = &CURSORS[(home + step) % CURSOR_SLOTS];
        // Release: publishes the fields to the next taker. Relaxed on failure: nothing is read.
        let outcome = slot.compare_exchange(std::ptr::null_mut(), cursor, Ordering::Release, Ordering::Relaxed);
        if outcome.is_ok() {
            return;
        }
    }
    // SAFETY: no slot took it, so we still own it; its chunk's tail is lost.
    drop(unsafe { Box::from_raw(cursor) });
}

fn apply(body: &mut [u8], start: usize, reloc: &Reloc) -> Result<(), CodeError> {
    let fail = |reason| CodeError::BadRelocation { offset: reloc.offset, reason };
    let at = reloc.offset as usize;
    let place = start + at;
    let target = match reloc.target {
        RelocTarget::Address(address) => address,
        RelocTarget::OwnOffset(offset) => start + offset as usize,
    };
    let relative = |target: usize| -> Option<i32> {
        i32::try_from((target as i64).wrapping_add(reloc.addend).wrapping_sub(place as i64)).ok()
    };
    let field_bytes = if reloc.kind == RelocKind::Abs8 { 8 } else { 4 };
    let field = body.get_mut(at..at + field_bytes).ok_or_else(|| fail("outside the body"))?;
    match reloc.kind {
        RelocKind::Abs8 => field.copy_from_slice(&(target as i64).wrapping_add(reloc.addend).to_le_bytes()),
        RelocKind::X86PCRel4 => {
            let value = relative(target).ok_or_else(|| fail("data target is more than 2 GiB away"))?;
            field.copy_from_slice(&value.to_le_bytes());
        }
        RelocKind::X86CallPCRel4 => {
            let value = match relative(target) {
                Some(value) => value,
                None => relative(veneer(target)?).ok_or_else(|| fail("veneer is out of reach"))?,
            };
            field.copy_from_slice(&value.to_le_bytes());
        }
    }
    Ok(())
}
