//! The facts about the heap that compiled code depends on: the buffer in which it allocates, and the bits beside the
//! heap that it sets and tests.
//!
//! The collector's binding fills in a [`HeapLayout`] (`gc::heap_layout`); `jit` reads it as a value and knows nothing
//! else of the collector. With `bit` and `byte` as [`BitTable`] says, compiled code allocates `size` ≤
//! `max_inline_bytes` bytes (a multiple of 8) of zeroed memory by
//!
//! ```text
//!     obj = [thread + cursor]; end = obj + size; if end > [thread + limit] goto slow
//!     [thread + cursor] = end; [obj] = vtable; set obj's bit in valid_object_bits
//! ```
//!
//! with no safepoint in between; array lengths are stored before the next safepoint, too. Types with finalizers are not
//! allocated inline. After the store of a reference into `obj`, compiled code tests obj's bit in `unlogged_bits`, and
//! takes the slow path of the barrier if the bit is set.

/// See the module header. Offsets are bytes from the pinned register (`*ThreadAbi`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeapLayout {
    /// Offset of the address of the next free byte of the thread's buffer.
    pub alloc_cursor_offset: i32,
    /// Offset of the address of the end of the thread's buffer.
    pub alloc_limit_offset: i32,
    /// Larger objects may belong in another space than the buffer's.
    pub max_inline_bytes: u32,
    /// A set bit marks the start of an object.
    pub valid_object_bits: BitTable,
    /// A set bit means that the object must be remembered when a reference is stored into it.
    pub unlogged_bits: BitTable,
}

/// A table with one bit for each place where an object may start: for the object at `a`, bit `(a >> granule_shift) & 7`
/// of the byte at `base + (a >> (granule_shift + 3))`. The other bits of the byte belong to its neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BitTable {
    /// Offset of the word that holds the base, from the pinned register; the word does not change while the thread
    /// runs.
    pub base_offset: i32,
    pub granule_shift: u32,
}

impl BitTable {
    /// The shift by which an address becomes the index of its byte.
    pub const fn byte_shift(self) -> u32 {
        self.granule_shift + 3
    }
}
