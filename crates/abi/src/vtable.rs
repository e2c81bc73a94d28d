//! The vtable: facts about an object's type, laid out for compiled code and for the collector.
//!
//! Memory: `[imt slot IMT_SLOTS-1 … imt slot 0][VTable][virtual slot 0, 1, …]`; objects point at `VTable`. Vtables are
//! never moved or freed while an object of the type can exist.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Interface dispatch slots in front of the vtable. A slot holds a code address: the only method hashed there, or the
/// resolver stub, which finds the method by `ThreadAbi::imt_method`.
pub const IMT_SLOTS: usize = 19;

/// Byte offset of IMT slot `index` from the vtable address (negative).
pub const fn imt_slot_offset(index: usize) -> i32 {
    -((index as i32 + 1) * 8)
}

/// Facts about a type that the collector and fast paths need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct VTableFlags(pub u32);

impl VTableFlags {
    /// An array; `element_size_bytes` and `element_ref_map` are valid.
    pub const ARRAY: u32 = 1;
    /// `System.String`.
    pub const STRING: u32 = 2;
    /// Has a finalizer other than Object's.
    pub const FINALIZER: u32 = 4;
    /// A multi-dimensional array (bounds follow the elements).
    pub const MULTI_DIM: u32 = 8;
    /// Derives from CriticalFinalizerObject.
    pub const CRITICAL_FINALIZER: u32 = 16;
    /// A delegate type.
    pub const DELEGATE: u32 = 32;
    /// A value type (boxed instances carry this vtable).
    pub const VALUE_TYPE: u32 = 64;
    /// `System.WeakReference`, `WeakReference<T>` or `InternalThread`: the finalizer only gives a resource back to the
    /// runtime, so collections do it themselves.
    pub const IS_RELEASED_BY_COLLECTOR: u32 = 128;
    /// Instances are transparent proxies: they have the layout of TransparentProxy, whatever `ty` is.
    pub const PROXY: u32 = 256;
    /// An array of ephemerons: (key, value) pairs of references; the value is kept alive only while the key is.
    pub const EPHEMERONS: u32 = 512;

    /// Whether the flag is set.
    pub fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }
}

/// Offsets of references, in bytes from the start of the object (instance maps) or of an element (element maps).
#[repr(C)]
pub struct RefMap {
    /// The number of offsets that follow.
    pub count: u32,
    // `count` u32 offsets follow
    offsets: [u32; 0],
}

impl RefMap {
    /// A leaked map of these offsets; vtables live as long as the process.
    pub fn leak(offsets: &[u32]) -> *const RefMap {
        if offsets.is_empty() {
            return std::ptr::null();
        }
        let mut words = Vec::with_capacity(offsets.len() + 1);
        words.push(offsets.len() as u32);
        words.extend_from_slice(offsets);
        RefMap::from_words(Box::leak(words.into_boxed_slice()))
    }

    /// The map in `words`: the number of offsets, then the offsets.
    pub fn from_words(words: &'static [u32]) -> *const RefMap {
        debug_assert!(words.first().is_some_and(|&count| count as usize == words.len() - 1));
        words.as_ptr() as *const RefMap
    }

    /// # Safety
    /// `map` is null or came from `leak`.
    pub unsafe fn offsets<'a>(map: *const RefMap) -> &'a [u32] {
        if map.is_null() {
            return &[];
        }
        // SAFETY: `leak` wrote `count` and behind it that many u32, and never frees them.
        unsafe { std::slice::from_raw_parts((map as *const u32).add(1), (*map).count as usize) }
    }
}

// SAFETY: immutable after it is published, except for its slots, which are atomic.
unsafe impl Sync for VTable {}

/// See the module header.
#[repr(C)]
pub struct VTable {
    /// The `types::Type` of the instances, as an untyped pointer (this crate is below `types`).
    pub ty: *const (),
    /// References in the fixed part of an instance; null = none. Offsets from the object start.
    pub ref_map: *const RefMap,
    /// Arrays: references in one element. Classes: the fields that are weak references, which `ref_map` leaves out;
    /// offsets from the object start. Null = none.
    pub element_ref_map: *const RefMap,
    /// Bytes of an instance with header, rounded up to 8. Arrays: bytes before the elements. Strings: 20.
    pub instance_size_bytes: u32,
    /// Arrays: bytes of an element; strings: 2; else 0.
    pub element_size_bytes: u32,
    /// What kind of type it is, for the collector and for casts.
    pub flags: VTableFlags,
    /// Number of entries in `display` (Object = 1).
    pub depth: u32,
    /// `display[i]` = the type's ancestor at depth `i`; the last entry is the type itself. Entries are `types::Type`.
    pub display: *const *const (),
    /// Array rank, 0 for non-arrays.
    pub rank: u32,
    /// Number of virtual slots behind this struct.
    pub slot_count: u32,
    /// Array: vtable-independent identity of the element type (`types::Type`), else null.
    pub element_type: *const (),
    /// The `MethodTable` that .NET's class libraries read; null with other class libraries.
    pub method_table: *const crate::method_table::MethodTable,
    /// Outcomes of casts of such objects that were found before.
    pub casts: Casts,
    /// The start of the virtual slots; see `slot`.
    pub slots: [AtomicUsize; 0],
}

/// Bytes from a vtable's address to the address of the `MethodTable`.
pub const VTABLE_METHOD_TABLE_OFFSET: i32 = std::mem::offset_of!(VTable, method_table) as i32;
/// Bytes from a vtable's address to its flags.
pub const VTABLE_FLAGS_OFFSET: i32 = std::mem::offset_of!(VTable, flags) as i32;
/// Bytes from a vtable's address to the address of its type's record.
pub const VTABLE_TYPE_OFFSET: i32 = std::mem::offset_of!(VTable, ty) as i32;
/// Bytes from a vtable's address to the number of entries in the display.
pub const VTABLE_DEPTH_OFFSET: i32 = std::mem::offset_of!(VTable, depth) as i32;
/// Bytes from a vtable's address to the address of the display.
pub const VTABLE_DISPLAY_OFFSET: i32 = std::mem::offset_of!(VTable, display) as i32;
/// Bytes from a vtable's address to the address of its element type's record.
pub const VTABLE_ELEMENT_TYPE_OFFSET: i32 = std::mem::offset_of!(VTable, element_type) as i32;
/// Bytes from a vtable's address to the number of dimensions.
pub const VTABLE_RANK_OFFSET: i32 = std::mem::offset_of!(VTable, rank) as i32;
/// The two words of `casts` that hold types to which a cast of an instance succeeds.
pub const VTABLE_CAST_HIT_OFFSETS: [i32; CAST_HITS] = {
    let first = (std::mem::offset_of!(VTable, casts) + std::mem::offset_of!(Casts, hits)) as i32;
    [first, first + 8]
};
/// The words of `casts` that hold types to which a cast of an instance fails.
pub const VTABLE_CAST_MISS_OFFSETS: [i32; CAST_MISSES] = {
    let first = (std::mem::offset_of!(VTable, casts) + std::mem::offset_of!(Casts, misses)) as i32;
    [first, first + 8, first + 16]
};
/// Bytes from a vtable's address to the first slot of a virtual method.
pub const VTABLE_SLOTS_OFFSET: i32 = size_of::<VTable>() as i32;

/// Cache of cast outcomes, read by compiled code: for types (`types::Type`) such as interfaces, for which `display`
/// does not decide.
///
/// | word | who moves it |
/// |---|---|
/// | null: free | initial |
/// | a type | `remember`, Relaxed: readers only compare the pointer. Seldom replaced, so that threads do not contend for the line |
/// | null again | `forget`, Relaxed: when the type ends |
#[repr(C)]
pub struct Casts {
    hits: [AtomicPtr<()>; CAST_HITS],
    misses: [AtomicPtr<()>; CAST_MISSES],
}

const CAST_HITS: usize = 2;
/// `is` asks the same objects for several interfaces, most of which they lack.
const CAST_MISSES: usize = 3;

impl Casts {
    const fn empty() -> Casts {
        Casts {
            hits: [const { AtomicPtr::new(std::ptr::null_mut()) }; CAST_HITS],
            misses: [const { AtomicPtr::new(std::ptr::null_mut()) }; CAST_MISSES],
        }
    }

    /// The remembered outcome of a cast to `to`, if there is one.
    pub fn find(&self, to: *const ()) -> Option<bool> {
        // Relaxed: only compared, see the table.
        let is_in = |words: &[AtomicPtr<()>]| words.iter().any(|word| word.load(Ordering::Relaxed).cast_const() == to);
        if is_in(&self.hits) {
            return Some(true);
        }
        is_in(&self.misses).then_some(false)
    }

    /// Remembers an outcome if a word is free or `may_replace` is set, which callers should rarely do (see the table).
    /// Whether it is remembered now.
    pub fn remember(&self, to: *const (), is_instance: bool, may_replace: bool) -> bool {
        let words = if is_instance { &self.hits[..] } else { &self.misses[..] };
        let free = words.iter().find(|word| word.load(Ordering::Relaxed).is_null());
        let word = free.or_else(|| words.last().filter(|_| may_replace));
        word.inspect(|word| word.store(to.cast_mut(), Ordering::Relaxed)).is_some()
    }

    /// Whether `is` holds for one of the types that are remembered.
    pub fn any(&self, is: impl Fn(*const ()) -> bool) -> bool {
        // Relaxed: see the table.
        self.words().map(|word| word.load(Ordering::Relaxed)).any(|ty| !ty.is_null() && is(ty))
    }

    /// Frees the words of the types for which `is` holds.
    pub fn forget(&self, is: impl Fn(*const ()) -> bool) {
        for word in self.words() {
            // Relaxed, both: see the table.
            let ty = word.load(Ordering::Relaxed);
            if !ty.is_null() && is(ty) {
                word.store(std::ptr::null_mut(), Ordering::Relaxed);
            }
        }
    }

    fn words(&self) -> impl Iterator<Item = &AtomicPtr<()>> {
        self.hits.iter().chain(&self.misses)
    }
}

impl VTable {
    /// A vtable of zeroes, to fill in with struct update syntax.
    pub const fn empty() -> VTable {
        VTable {
            ty: std::ptr::null(),
            ref_map: std::ptr::null(),
            element_ref_map: std::ptr::null(),
            instance_size_bytes: 0,
            element_size_bytes: 0,
            flags: VTableFlags(0),
            depth: 0,
            display: std::ptr::null(),
            rank: 0,
            slot_count: 0,
            element_type: std::ptr::null(),
            method_table: std::ptr::null(),
            casts: Casts::empty(),
            slots: [],
        }
    }

    /// Allocates a vtable with zeroed IMT slots and `header.slot_count` zeroed virtual slots, never freed.
    pub fn leak(header: VTable) -> &'static VTable {
        let units = VTable::memory_units(header.slot_count);
        let block = Box::leak(vec![0u128; units].into_boxed_slice()).as_mut_ptr();
        // SAFETY: fresh, of that size and zeroed; leaked.
        unsafe { VTable::write(block, header) }
    }

    /// Memory that a vtable with `slot_count` virtual slots takes, in units of 16 bytes.
    pub const fn memory_units(slot_count: u32) -> usize {
        const HEADER_WORDS: usize = size_of::<VTable>() / 8;
        let words = IMT_SLOTS + HEADER_WORDS + slot_count as usize;
        // 16-byte units leave the low bits of objects' vtable words free for the collector.
        (words + IMT_SLOTS % 2).div_ceil(2)
    }

    /// Writes a vtable into `memory`.
    ///
    /// # Safety
    /// `memory` is zeroed, not used for anything else, `memory_units (header.slot_count)` units long, and lives as long
    /// as objects of the type.
    pub unsafe fn write(memory: *mut u128, header: VTable) -> &'static VTable {
        let at = memory.cast::<usize>().wrapping_add(IMT_SLOTS + IMT_SLOTS % 2) as *mut VTable;
        // SAFETY: `at` is aligned, and there is room for header and slots behind it.
        unsafe { at.write(header) };
        // SAFETY: just written; the memory stays.
        unsafe { &*at }
    }

    /// Address of virtual slot `index`.
    pub fn slot(&self, index: u32) -> &AtomicUsize {
        assert!(index < self.slot_count, "vtable slot {index} of {}", self.slot_count);
        // SAFETY: `index < slot_count` checked; the allocation holds `slot_count` words behind the struct.
        unsafe { &*(self as *const VTable).add(1).cast::<AtomicUsize>().add(index as usize) }
    }

    /// Address of IMT slot `index`.
    pub fn imt_slot(&self, index: usize) -> &AtomicUsize {
        assert!(index < IMT_SLOTS);
        // SAFETY: `index < IMT_SLOTS`; the allocation holds that many words in front of the struct.
        unsafe { &*(self as *const VTable).cast::<AtomicUsize>().sub(index + 1) }
    }
}
