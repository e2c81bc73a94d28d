//! Placing code: allocation from chunks owned by the placing thread, relocation, publication.
//!
//! Publication order: code, header and tables are written → start bit (Release) → instruction caches synchronised, and
//! every core passes a barrier → the caller stores the address in an entry cell. Each step happens before the next
//! becomes visible, so a thread that can execute the code can also look it up. The bit comes before the barrier, since
//! nothing else orders a thread's look at the map behind the jump that has led it into the code.
//!
//! Chunk cursors, and rooms that removed bodies have left, are kept in pools with a slot per processor (`SlotPool`,
//! `Recycler`), so that placing threads do not contend for a lock or a cache line.
//!
//! Removal, of the bodies compiled as removable (dynamic methods, methods of collectible assemblies and of domains),
//! has these steps: published → `retire` clears the start bit → grace period of `walks` → `free_all`: the room waits
//! for a body of its size, oldest room first → placed again.
//!
//! Left out: giving room back to the system.

use crate::arch::{Arch, Architecture};
use crate::call_sites::{self, NewCall};
use crate::entry::MethodEntry;
use crate::error::CodeError;
use crate::info::{CodeInfo, NewBody};
use crate::map;
use crate::observer::observer;
use crate::region::{CHUNK_BYTES, GRANULE_BYTES, Region, mapped_region, region};
use crate::start_map;
use crate::stub_slots::veneer;
use saki_abi::{AddressUse, Reloc};
use saki_base::locks::{Mutex, rank};
use saki_sync::{Recycler, SlotPool};
use std::collections::BTreeMap;

/// What a relocation of a placed body leads to.
#[derive(Clone, Copy, Debug)]
pub enum PlacedTarget {
    Address(usize),
    /// A method. Where it is called, the current version of its code, or the entry stub while there is none; the
    /// calling code lives as long as the entry. Where its address is taken, the entry stub.
    Method(MethodEntry),
    /// The method whose body this is, and which lives as long as its entry. A call goes to this body's own start, and
    /// follows the method's versions like others.
    OwnMethod(MethodEntry),
    /// Bytes from the start of the body itself.
    OwnOffset(u32),
}

/// Free room for bodies, between two offsets from the region's base.
#[derive(Default)]
struct Cursor {
    next: usize,
    end: usize,
}

/// Least alignment of bodies, as the code generator requires; the sizes of their rooms are multiples of it.
const ROOM_BYTES: usize = 32;
/// Rooms of this size and more are in one list for all processors; a lambda has a few hundred bytes.
const MAX_FREED_ROOMS: usize = 128;
const _: () = assert!(ROOM_BYTES.is_multiple_of(GRANULE_BYTES));
/// Bodies of a size freed on a processor before the oldest room is reused, so that an address does not soon denote
/// another body.
const QUARANTINED_BODIES: usize = 32;

/// Offsets of freed bodies, by size in units of `ROOM_BYTES`.
static FREED: Recycler<u32, MAX_FREED_ROOMS> = Recycler::new(QUARANTINED_BODIES);

/// Offsets of larger freed bodies, by size.
static LARGE_FREED: Mutex<rank::LargeRooms, BTreeMap<usize, Vec<u32>>> = Mutex::new(BTreeMap::new());

static CURSORS: SlotPool<Cursor> = SlotPool::new();

/// Copies a body into the code region, relocates and publishes it. `info.start` and `len_bytes` are set here.
/// `align` is in bytes, a power of two. The result's `start` is the address to call.
///
/// # Errors
/// `CodeError`; nothing is published then.
pub fn place(
    mut body: Vec<u8>,
    align: u32,
    relocs: &[Reloc<PlacedTarget>],
    new: NewBody,
) -> Result<&'static CodeInfo, CodeError> {
    debug_assert_eq!(new.tables.check(), Ok(()), "tables of {}", new.name);
    let region = region()?;
    let align = (align as usize).max(ROOM_BYTES);
    assert!(align.is_power_of_two() && align <= CHUNK_BYTES / 2 && !body.is_empty());
    let offset = allocate(region, body.len(), align)?;
    let start = region.base + offset;
    let mut calls = Vec::new();
    for reloc in relocs {
        let target = address_of(reloc, start);
        if let (PlacedTarget::Method(callee) | PlacedTarget::OwnMethod(callee), AddressUse::Called) =
            (reloc.target, reloc.usage)
        {
            let is_own = matches!(reloc.target, PlacedTarget::OwnMethod(_));
            calls.push(NewCall { callee, offset: offset + reloc.offset as usize, placed: target, is_own });
        }
        let Reloc { offset, kind, usage, addend, .. } = *reloc;
        Arch::relocate(&mut body, start, &Reloc { offset, kind, usage, target, addend }, veneer)?;
    }
    let len_bytes = u32::try_from(body.len())
        .map_err(|_| CodeError::BadRelocation { offset: 0, reason: "body of 4 GiB or more" })?;
    let info: &'static CodeInfo = Box::leak(Box::new(new.placed_at(start, len_bytes))); // until `free`
    let header = (&raw const *info as usize).to_le_bytes();
    // SAFETY: `allocate` gave us [offset − 8, offset + len), which no start bit or entry reaches yet.
    unsafe { region.write(offset - header.len(), &header) };
    // SAFETY: `allocate` gave us these bytes, too; the start bit is set below.
    unsafe { region.write(offset, &body) };
    calls.iter().for_each(|call| call_sites::link(region, call));
    if let Some(observer) = observer() {
        observer.placed(info);
    }
    map::publish(region, offset);
    saki_os::i_cache::synchronise(start..start + body.len());
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

/// Makes the rooms of retired bodies reusable and frees their `CodeInfo`s.
///
/// # Safety
/// The bodies were retired, a stamp of `walks()` taken after that has passed, and nothing uses `bodies` any more; none
/// is listed twice.
pub unsafe fn free_all(bodies: &[&'static CodeInfo]) {
    FREED.free(rooms(bodies).filter(|(room, _)| *room < MAX_FREED_ROOMS));
    free_large_rooms(bodies);
    // SAFETY: the bodies were retired, no walk can have found them (the stamp has passed), and each is listed once.
    unsafe { free_infos(bodies) };
}

/// Frees the retired bodies of a domain: their rooms, many of each size, may be reused at once and on any
/// processor.
///
/// # Safety
/// The bodies were retired, a stamp of `walks()` taken after that has passed, and nothing uses `bodies` any more; none
/// is listed twice.
pub unsafe fn free_all_of_domain(bodies: &[&'static CodeInfo]) {
    let mut by_size: Vec<(usize, u32)> = rooms(bodies).filter(|(room, _)| *room < MAX_FREED_ROOMS).collect();
    by_size.sort_unstable();
    for same in by_size.chunk_by(|(room, _), (other, _)| room == other) {
        FREED.free_at_once(same[0].0, same.iter().map(|(_, offset)| *offset));
    }
    free_large_rooms(bodies);
    // SAFETY: the domain's bodies were retired, no walk can have found them, and each is listed once.
    unsafe { free_infos(bodies) };
}

/// Size in units and offset of the bodies' rooms.
fn rooms(bodies: &[&'static CodeInfo]) -> impl Iterator<Item = (usize, u32)> {
    let region = mapped_region();
    bodies.iter().filter_map(move |info| {
        let room = room_of(info.len_bytes as usize);
        let offset = region?.offset_of(info.start)?;
        // A longer body of as many units must not reach into the next chunk.
        let fits_chunk = offset % CHUNK_BYTES + room * ROOM_BYTES <= CHUNK_BYTES;
        Some((room, u32::try_from(offset).ok().filter(|_| fits_chunk)?))
    })
}

fn free_large_rooms(bodies: &[&'static CodeInfo]) {
    let mut large = rooms(bodies).filter(|(room, _)| *room >= MAX_FREED_ROOMS).peekable();
    if large.peek().is_some() {
        let mut freed = LARGE_FREED.lock();
        large.for_each(|(room, offset)| freed.entry(room).or_default().push(offset));
    }
}

/// # Safety
/// The bodies were retired, a stamp of `walks()` taken after that has passed, and nothing uses `bodies` any more; none
/// is listed twice.
unsafe fn free_infos(bodies: &[&'static CodeInfo]) {
    for &info in bodies {
        // SAFETY: leaked by `place`; by the contract of `free_all` nothing else uses it.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(info).cast_mut()) });
    }
}

/// Units that a body takes up with its header, whose word lies before the first one.
fn room_of(len_bytes: usize) -> usize {
    (len_bytes + size_of::<usize>()).div_ceil(ROOM_BYTES)
}

/// Offset of room for a header word and `len` bytes; only the caller may write there.
fn allocate(region: &Region, len: usize, align: usize) -> Result<usize, CodeError> {
    if let Some(offset) = take_freed(len, align) {
        return Ok(offset);
    }
    let mut cursor = CURSORS.take().unwrap_or_default();
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
                CURSORS.give(cursor);
                return Ok(offset);
            }
            offset
        }
    };
    cursor.next = offset + len;
    CURSORS.give(cursor);
    Ok(offset)
}

/// A free room of a former body of this size.
fn take_freed(len: usize, align: usize) -> Option<usize> {
    let room = room_of(len);
    if align != ROOM_BYTES {
        return None;
    }
    let offset = if room < MAX_FREED_ROOMS { FREED.take(room) } else { LARGE_FREED.lock().get_mut(&room)?.pop() };
    offset.map(|offset| offset as usize)
}

fn fit(cursor: &Cursor, len: usize, align: usize) -> Option<usize> {
    let offset = (cursor.next + size_of::<usize>()).next_multiple_of(align);
    // A body must not continue into a chunk that it does not start in, unless its run was taken for it.
    (offset + len <= cursor.end).then_some(offset)
}

/// The address that a relocation of a body at `start` leads to.
fn address_of(reloc: &Reloc<PlacedTarget>, start: usize) -> usize {
    match (reloc.target, reloc.usage) {
        (PlacedTarget::Address(address), _) => address,
        (PlacedTarget::Method(entry), AddressUse::Called) => entry.target().unwrap_or_else(|| entry.stub_address()),
        (PlacedTarget::OwnMethod(_), AddressUse::Called) => start,
        (PlacedTarget::Method(entry) | PlacedTarget::OwnMethod(entry), AddressUse::AddressTaken) => {
            entry.stub_address()
        }
        (PlacedTarget::OwnOffset(offset), _) => start + offset as usize,
    }
}
