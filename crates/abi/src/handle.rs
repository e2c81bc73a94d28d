//! GC handles and their slots, as compiled code reads them (`sync::handle_table` owns them).
//!
//! The slot of a handle is number `handle >> SLOT_SHIFT` of those that `ThreadAbi::handle_slots` points at. The number is inside the room
//! for any 32 bits if the room is whole (`sync::handle_table::is_room_whole`); otherwise compiled code must not look up slots itself.
//! The slot holds an object, and is the handle's, if it equals the object's address under xor with `handle << GENERATION_SHIFT`
//! (64 bits) and `LIVE`.

/// A handle's bits below are its generation; those above are the number of its slot.
pub const SLOT_SHIFT: u32 = 4;
/// Slot bit: a handle names the slot.
pub const OCCUPIED: usize = 1;
/// Slot bit: the slot holds an object's address.
pub const VALID: usize = 2;
/// The two bits of a slot that holds an object.
pub const LIVE: usize = VALID | OCCUPIED;
/// Where a slot has its generation.
pub const GENERATION_SHIFT: u32 = 60;
pub const GENERATION_MASK: usize = 0xf << GENERATION_SHIFT;
/// No object's address: what the Rust function behind `GetTarget` returns for a stale handle.
pub const STALE_TARGET: usize = 1;

const _: () = assert!(GENERATION_MASK >> GENERATION_SHIFT == (1 << SLOT_SHIFT) - 1);
