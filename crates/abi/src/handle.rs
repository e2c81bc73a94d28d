//! GC handles and their slots, as compiled code reads them (`sync::handle_table` owns them).
//!
//! The slot of a handle is number `handle >> SLOT_SHIFT` of the slots that `ThreadAbi::handle_slots` points at. If the
//! table's address range is whole (`sync::handle_table::is_room_whole`), the number is inside it for any 32 bits;
//! otherwise compiled code must not look up slots itself. `slot ^ (handle << GENERATION_SHIFT) ^ LIVE` (64 bits) is the
//! address of the handle's object if it has no bit of `GENERATION_MASK` and `LIVE`; otherwise the handle is stale or
//! has no object.

/// The bits of a handle below this one are its generation; the others are the number of its slot.
pub const SLOT_SHIFT: u32 = 4;
/// Slot bit: a handle names the slot.
pub const OCCUPIED: usize = 1;
/// Slot bit: the slot holds an object's address.
pub const VALID: usize = 2;
/// The two bits of a slot that holds an object.
pub const LIVE: usize = VALID | OCCUPIED;
/// The lowest bit of the generation in a slot.
pub const GENERATION_SHIFT: u32 = 60;
/// The bits of a slot that hold its generation, which a handle must match.
pub const GENERATION_MASK: usize = 0xf << GENERATION_SHIFT;
/// The result of the Rust function behind `GetTarget` for a stale handle; no object has this address.
pub const STALE_TARGET: usize = 1;

const _: () = assert!(GENERATION_MASK >> GENERATION_SHIFT == (1 << SLOT_SHIFT) - 1);
