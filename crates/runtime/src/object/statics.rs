//! Static storage: one zeroed area per type for normal statics, one block per type and thread for thread-statics.

use crate::vtables;
use saki_abi::{ObjRef, RefMap};
use saki_base::locks::{RwLock, rank};
use saki_thread::StopReason;
use saki_types::collectible::{self, Owner};
use saki_types::layout::StaticLayout;
use saki_types::{Field, Image, LoadResult, Ty, Universe};
use std::alloc::Layout;
use std::sync::atomic::{AtomicPtr, Ordering};

/// References among the statics of one type.
struct StaticRoots {
    ty: Ty,
    base: usize,
    ref_offsets: &'static [u32],
}

impl StaticRoots {
    fn for_each(&self, visit: &mut dyn FnMut(Ty, u32, *mut ObjRef)) {
        for &offset in self.ref_offsets {
            visit(self.ty, offset, (self.base + offset as usize) as *mut ObjRef);
        }
    }
}

static ROOTS: RwLock<rank::StaticRoots, Vec<StaticRoots>> = RwLock::new(Vec::new());
/// Areas that lie among the records of an owner, so that heap snapshots can name them. Entries are removed with their
/// owners.
static OWNED_ROOTS: RwLock<rank::OwnedStaticRoots, Vec<StaticRoots>> = RwLock::new(Vec::new());

/// What the blocks of thread-statics of one type have in common.
struct ThreadBlocks {
    ty: Ty,
    /// Where the references in a block are; null until a thread has needed it.
    ref_map: AtomicPtr<RefMap>,
}

/// Types with thread-statics, by block number. The number of a freed type is reused: by then no thread has a block of
/// it.
static THREAD_BLOCKS: RwLock<rank::ThreadStaticTypes, Vec<Option<ThreadBlocks>>> = RwLock::new(Vec::new());

/// A copy of a writable image section.
struct WritableCopy {
    /// Address of the section's data: in a mapped file, which all domains share, or in memory, which is freed with the
    /// image.
    section: usize,
    copy: usize,
    image: &'static Image,
}

static WRITABLE_SECTIONS: RwLock<rank::WritableSections, Vec<WritableCopy>> = RwLock::new(Vec::new());

fn zeroed(size_bytes: usize) -> *mut u8 {
    let words = size_bytes.div_ceil(16).max(1);
    Box::leak(vec![0u128; words].into_boxed_slice()).as_mut_ptr() as *mut u8
}

/// Statics that are roots only while something refers to the type.
fn collectible_area(owner: &'static Owner, layout: &StaticLayout) -> Option<*mut u8> {
    let size = Layout::from_size_align((layout.size_bytes as usize).max(1), align_of::<u128>()).ok()?;
    let base = owner.allocate(size)?;
    layout.ref_offsets.iter().for_each(|&offset| owner.add_slot(base + offset as usize));
    Some(base as *mut u8)
}

/// Base of the type's static area, allocated on first use.
///
/// # Errors
/// The type's layout errors.
pub fn static_base(ty: Ty) -> LoadResult<*mut u8> {
    // Acquire: pairs with the Release below.
    let known = ty.runtime.statics.load(Ordering::Acquire);
    if !known.is_null() {
        return Ok(known);
    }
    let layout = ty.static_layout()?;
    let mut roots = ROOTS.write();
    // Acquire: as above; the lock alone would do, since the store is made under it.
    let known = ty.runtime.statics.load(Ordering::Acquire);
    if !known.is_null() {
        return Ok(known);
    }
    let base = match collectible::owner_of(ty).and_then(|owner| collectible_area(owner, layout)) {
        Some(base) => base,
        None => zeroed(layout.size_bytes as usize),
    };
    if !layout.ref_offsets.is_empty() {
        let of_type = StaticRoots { ty, base: base as usize, ref_offsets: &layout.ref_offsets };
        match collectible::of(base.addr()) {
            Some(_) => OWNED_ROOTS.write().push(of_type),
            None => roots.push(of_type),
        }
    }
    // Release: the area is zeroed and registered before it is seen.
    ty.runtime.statics.store(base, Ordering::Release);
    Ok(base)
}

/// The address of a writable copy of `data`: images are mapped read-only, so a section that programs may write to
/// is copied as a whole when a field in it is first used. Fields in the copy keep their distances.
fn writable_address(field: &'static Field, data: &'static [u8]) -> LoadResult<Option<*mut u8>> {
    let image = &field.image().meta;
    let Some(rva) = image.field_rva(field.rid)? else { return Ok(None) };
    let Some(section) = image.writable_section(rva) else { return Ok(None) };
    let offset = data.as_ptr() as usize - section.as_ptr() as usize;
    let mut copies = WRITABLE_SECTIONS.write();
    let key = section.as_ptr() as usize;
    let known = copies.iter().find(|known| known.section == key).map(|known| known.copy);
    let base = known.unwrap_or_else(|| {
        let copy = zeroed(section.len());
        // SAFETY: a fresh area of at least that many bytes.
        unsafe { std::ptr::copy_nonoverlapping(section.as_ptr(), copy, section.len()) };
        copies.push(WritableCopy { section: key, copy: copy as usize, image: field.image() });
        copy as usize
    });
    Ok(Some((base + offset) as *mut u8))
}

/// Address of a static field that is not thread-static; RVA fields lie in the image, or in a copy of their section.
///
/// # Errors
/// Layout errors; `BadImageFormat`.
pub fn static_field_address(field: &'static Field) -> LoadResult<*mut u8> {
    if field.has_rva()
        && let Some(data) = field.rva_data()?
    {
        if let Some(copy) = writable_address(field, data)? {
            return Ok(copy);
        }
        return Ok(data.as_ptr().cast_mut());
    }
    let offset = field.offset_bytes()? as usize;
    Ok(static_base(field.owner)?.wrapping_add(offset))
}

/// The bits of a static number of one to eight bytes, extended by zeros; None if there is no such number at one place.
pub fn number(field: &'static Field) -> Option<u64> {
    if !field.is_static() || field.is_thread_static || field.has_rva() {
        return None;
    }
    let ty = field.ty().ok().filter(|ty| ty.is_value_type())?;
    let size_bytes = ty.value_size_bytes().ok()?;
    let address = static_field_address(field).ok()?;
    // SAFETY: the field's own bytes, which are aligned for its type and live as long as it; other threads write them by
    // stores of the same width.
    let bits = unsafe {
        match size_bytes {
            1 => u64::from(address.read_volatile()),
            2 => u64::from(address.cast::<u16>().read_volatile()),
            4 => u64::from(address.cast::<u32>().read_volatile()),
            8 => address.cast::<u64>().read_volatile(),
            _ => return None,
        }
    };
    Some(bits)
}

/// The number of the type's thread-static blocks, given on first use.
pub(crate) fn thread_block_number(ty: Ty) -> u32 {
    // Acquire, here and below: pairs with the Release that gave the number, when the block's description was there.
    let known = ty.thread_static_block.load(Ordering::Acquire);
    if known != u32::MAX {
        return known;
    }
    let mut blocks = THREAD_BLOCKS.write();
    // Acquire: as above; the lock alone would do, since the store is made under it.
    let known = ty.thread_static_block.load(Ordering::Acquire);
    if known != u32::MAX {
        return known;
    }
    let number = blocks.iter().position(Option::is_none).unwrap_or(blocks.len());
    if number == blocks.len() {
        blocks.push(None);
    }
    blocks[number] = Some(ThreadBlocks { ty, ref_map: AtomicPtr::default() });
    let number = number as u32;
    // Release: the number is in the table before it is seen.
    ty.thread_static_block.store(number, Ordering::Release);
    number
}

/// Where the references in a type's blocks of thread-statics are, at `offsets`: one map for all threads.
pub(crate) fn thread_block_map(ty: Ty, offsets: &[u32]) -> *const RefMap {
    let number = thread_block_number(ty) as usize;
    let exchange = |made: *mut RefMap| match THREAD_BLOCKS.read().get(number) {
        // Acquire: pairs with the Release of the exchange that was first, when the map's words were there.
        Some(Some(blocks)) => {
            match blocks.ref_map.compare_exchange(std::ptr::null_mut(), made, Ordering::Release, Ordering::Acquire) {
                Ok(_) => made,
                Err(known) => known,
            }
        }
        _ => saki_base::bug!("no type has thread-statics with number {number}"),
    };
    let known = exchange(std::ptr::null_mut());
    if known.is_null() { exchange(vtables::ref_map(ty, offsets).cast_mut()) } else { known }
}

/// The value of `Symbol::ThreadStaticPlace`.
///
/// # Errors
/// The type's layout errors.
pub fn thread_static_place(field: &'static Field) -> LoadResult<usize> {
    let offset = field.offset_bytes()? as usize;
    Ok(offset << u32::BITS | thread_block_number(field.owner) as usize)
}

/// Empties the statics and thread-statics of an unloaded domain; statics that lie among its records were emptied as
/// cells.
pub fn release(universe: &'static Universe) {
    ROOTS.write().retain(|roots| *roots.ty.universe() != *universe);
    saki_thread::with_world_stopped(StopReason::Unloading, |_| {
        for_each_block_number(
            |ty| *ty.universe() == *universe,
            // No code runs in the domain, so the block is not read.
            |number, _| saki_thread::for_each_thread(|thread| thread.clear_static_block(number)),
        );
    });
}

/// Whether types of dead owners have thread-statics.
pub(crate) fn has_dead_thread_blocks() -> bool {
    let is_dead = |blocks: &ThreadBlocks| collectible::is_dead(std::ptr::from_ref(blocks.ty).addr());
    THREAD_BLOCKS.read().iter().flatten().any(is_dead)
}

/// Frees the thread-static blocks of types of dead owners. The world is stopped.
pub(crate) fn forget_dead_thread_blocks() {
    for_each_block_number(
        |ty| collectible::is_dead(std::ptr::from_ref(ty).addr()),
        |number, place| {
            saki_thread::for_each_thread(|thread| thread.free_static_block(number));
            *place = None;
        },
    );
}

/// Visits the numbers of types that satisfy `is_wanted`, with their places in the table.
fn for_each_block_number(is_wanted: impl Fn(Ty) -> bool, mut visit: impl FnMut(usize, &mut Option<ThreadBlocks>)) {
    for (number, place) in THREAD_BLOCKS.write().iter_mut().enumerate() {
        if place.as_ref().is_some_and(|blocks| is_wanted(blocks.ty)) {
            visit(number, place);
        }
    }
}

/// Forgets the areas of dead owners, and copies of sections of images that were loaded from memory in dead domains:
/// their addresses will be reused.
pub(crate) fn forget_dead_sections() {
    OWNED_ROOTS.write().retain(|roots| !collectible::is_dead(roots.base));
    let is_dead = |image: &'static Image| collectible::is_dead(std::ptr::from_ref(image).addr());
    WRITABLE_SECTIONS.write().retain(|known| !is_dead(known.image) || known.image.is_manifest_of_file());
}

/// Reference slots of all static areas, for the collector. Left out: areas among the records of an owner, which reports
/// their slots itself.
pub fn for_each_root(visit: &mut dyn FnMut(*mut ObjRef)) {
    for_each_named_root(&mut |_, _, slot| visit(slot));
}

/// Reference slots of all static areas, with the type and the offset of each slot in its area. Left out: areas among
/// the records of an owner, which reports their slots itself.
pub(crate) fn for_each_named_root(visit: &mut dyn FnMut(Ty, u32, *mut ObjRef)) {
    ROOTS.read().iter().for_each(|roots| roots.for_each(visit));
}

/// Reference slots of the static areas that lie among the records of live owners, with the type and the offset of each
/// slot in its area.
pub(crate) fn for_each_owned_root(visit: &mut dyn FnMut(Ty, u32, *mut ObjRef)) {
    let is_dead = |roots: &StaticRoots| collectible::is_dead(roots.base);
    OWNED_ROOTS.read().iter().filter(|roots| !is_dead(roots)).for_each(|roots| roots.for_each(visit));
}

/// The type with this number of thread-static blocks.
pub fn type_of_thread_block(number: usize) -> Option<Ty> {
    THREAD_BLOCKS.read().get(number)?.as_ref().map(|blocks| blocks.ty)
}
