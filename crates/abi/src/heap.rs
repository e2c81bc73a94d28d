//! What compiled code knows of the heap: where it allocates, and the bits that it sets and tests beside objects.
//!
//! The collector's binding fills in a [`HeapLayout`] (`gc::heap_layout`); `jit` reads it as a value and knows nothing else of the
//! collector. With `bit` and `byte` as [`BitTable`] says, compiled code allocates `size` ≤ `max_inline_bytes` bytes (a multiple of 8) of
//! zeroed memory by
//!
//! ```text
//!     obj = [thread + cursor]; end = obj + size; if end > [thread + limit] goto slow
//!     [thread + cursor] = end; [obj] = vtable; set obj's bit in valid_object_bits
//! ```
//!
//! with no safepoint in between; array lengths are stored before the next one too. Types with finalizers are not allocated inline. After
//! the store of a reference into `obj` it tests obj's bit in `unlogged_bits`, and takes the slow path of the barrier if it is set.

/// See the module documentation. Offsets are bytes from the pinned register (`*ThreadAbi`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeapLayout {
    /// Of the address of the next free byte of the thread's buffer.
    pub alloc_cursor_offset: i32,
    /// Of the end of the thread's buffer.
    pub alloc_limit_offset: i32,
    /// Objects of more bytes may belong in another space than the buffer's.
    pub max_inline_bytes: u32,
    /// A set bit marks the start of an object.
    pub valid_object_bits: BitTable,
    /// A set bit says that the object is to be remembered when a reference is stored into it.
    pub unlogged_bits: BitTable,
}

/// A table with one bit for each place where an object may start: for the object at `a`, bit `(a >> granule_shift) & 7` of the byte at
/// `base + (a >> (granule_shift + 3))`. The other bits of the byte belong to its neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BitTable {
    /// Offset of the word that holds the base, from the pinned register; the word does not change while the thread runs.
    pub base_offset: i32,
    pub granule_shift: u32,
}

impl BitTable {
    /// The shift that makes the byte's index of an address.
    pub const fn byte_shift(self) -> u32 {
        self.granule_shift + 3
    }
}
