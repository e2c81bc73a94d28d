//! Object, string and array headers.
//!
//! Every heap object starts with `[vtable][sync word]`. The layouts of strings and arrays equal Mono's, because class
//! library code hard-codes them (`RuntimeHelpers.OffsetToStringData` is 20).

use crate::vtable::VTable;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The two words that begin every heap object.
#[repr(C)]
pub struct Object {
    /// The vtable; the collector may use its low bits while it runs.
    pub vtable: *const VTable,
    /// Thin lock, hash code, or inflated monitor index (see `sync::thin_lock`).
    pub sync: AtomicUsize,
}

/// `System.String`: UTF-16 code units inline, NUL-terminated.
#[repr(C)]
pub struct StringHeader {
    /// The vtable and the synchronisation word.
    pub object: Object,
    /// Number of UTF-16 code units, without the terminator.
    pub length: i32,
    /// The first of `length` UTF-16 units; a zero unit follows the last.
    pub first_char: u16,
}

/// Every array. SZ arrays have `bounds == null`.
#[repr(C)]
pub struct ArrayHeader {
    /// The vtable and the synchronisation word.
    pub object: Object,
    /// Null for SZ arrays; else `rank` pairs of (length: u32, lower bound: i32), stored behind the elements.
    pub bounds: *mut ArrayBound,
    /// Total number of elements.
    pub length: u32,
    /// Keeps the elements aligned to 8 bytes.
    pub padding: u32,
    // elements follow at ARRAY_DATA_OFFSET
}

/// One dimension of a multi-dimensional array.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayBound {
    /// The number of elements of the dimension.
    pub length: u32,
    /// The smallest index of the dimension.
    pub lower_bound: i32,
}

/// Bytes from an object's address to the address of its vtable.
pub const OBJECT_VTABLE_OFFSET: i32 = 0;
/// Bytes from an object's address to its synchronisation word (`sync_word`).
pub const OBJECT_SYNC_OFFSET: i32 = std::mem::offset_of!(Object, sync) as i32;
/// Bytes of the header, which is also the offset of a boxed value's data.
pub const OBJECT_HEADER_BYTES: u32 = size_of::<Object>() as u32;
/// Bytes from a string's address to its length in UTF-16 units.
pub const STRING_LENGTH_OFFSET: i32 = std::mem::offset_of!(StringHeader, length) as i32;
/// Bytes from a string's address to its first unit.
pub const STRING_CHARS_OFFSET: i32 = std::mem::offset_of!(StringHeader, first_char) as i32;
/// Bytes from an array's address to the address of its bounds.
pub const ARRAY_BOUNDS_OFFSET: i32 = std::mem::offset_of!(ArrayHeader, bounds) as i32;
/// Bytes from an array's address to the number of its elements.
pub const ARRAY_LENGTH_OFFSET: i32 = std::mem::offset_of!(ArrayHeader, length) as i32;
/// Bytes from an array's address to its first element.
pub const ARRAY_DATA_OFFSET: i32 = size_of::<ArrayHeader>() as i32;
/// Bytes of one dimension's entry in the bounds of an array, and the offset of the lower bound in it.
pub const ARRAY_BOUND_BYTES: i32 = size_of::<ArrayBound>() as i32;
/// Bytes from an `ArrayBound` to its lower bound.
pub const ARRAY_LOWER_BOUND_OFFSET: i32 = std::mem::offset_of!(ArrayBound, lower_bound) as i32;
/// Accesses of compiled code below this address count as a null reference plus an offset: they fault, since no kernel
/// maps anything there by itself (`vm.mmap_min_addr`), and the handler of faults throws NullReferenceException. Code
/// checks larger offsets explicitly.
pub const NULL_AREA_BYTES: usize = 64 << 10;
/// All objects are multiples of this size and aligned to it.
pub const OBJECT_ALIGNMENT_BYTES: usize = 8;

const _: () = assert!(STRING_CHARS_OFFSET == 20 && ARRAY_DATA_OFFSET == 32 && OBJECT_HEADER_BYTES == 16);

/// A nullable reference to a heap object. It may live in Rust locals (stacks are scanned conservatively) but not in
/// the Rust heap or statics: use a GC handle there.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjRef(pub *mut Object);

impl ObjRef {
    /// The null reference.
    pub const NULL: ObjRef = ObjRef(std::ptr::null_mut());

    /// Whether it is the null reference.
    #[inline]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The object's address; 0 for null.
    #[inline]
    pub fn address(self) -> usize {
        self.0 as usize
    }

    /// The reference at a place that other threads may write at the same time.
    ///
    /// # Safety
    /// The place holds a reference, at a multiple of 8, and stays for the call.
    #[inline]
    pub unsafe fn load(place: *mut ObjRef) -> ObjRef {
        // SAFETY: a reference is a pointer, and the place that of one (contract).
        let place = unsafe { AtomicPtr::from_ptr(place.cast::<*mut Object>()) };
        // Relaxed: writers store with Release, and what is read through the reference depends on its address, which
        // orders it on all processors. (C11 alone would want Acquire.)
        ObjRef(place.load(Ordering::Relaxed))
    }

    /// Byte address `offset_bytes` into the object; not dereferenced here.
    pub fn field_ptr<T>(self, offset_bytes: usize) -> *mut T {
        (self.0 as *mut u8).wrapping_add(offset_bytes) as *mut T
    }
}

impl std::fmt::Debug for ObjRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ObjRef({:p})", self.0)
    }
}
