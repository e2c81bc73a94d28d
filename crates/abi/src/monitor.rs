//! An inflated lock, as far as compiled code takes and releases it: the first two rows of the table in `sync::monitor`,
//! with a compare-and-swap that is sequentially consistent there.
//!
//! The index in an object's sync word names an entry of the table of monitors. The address of entry `index` is
//! `ThreadAbi::monitor_entries + index * ENTRY_BYTES`, and the monitor begins `MONITOR_OFFSET` bytes behind it.
//!
//! Invariant: `sync::monitor` and `sync::monitor_table` compare each offset with their types when they are compiled.

/// Bytes of an entry of the table; a power of two.
pub const ENTRY_BYTES: i32 = 128;
/// Offset of the monitor from its entry.
pub const MONITOR_OFFSET: i32 = 0;

// Offsets of 32-bit words from the start of the monitor.
/// Managed id of the owner; 0 = free.
pub const OWNER_OFFSET: i32 = 80;
/// The flags `WAITERS` and `WAKING`, and flags that compiled code does not use.
pub const FLAGS_OFFSET: i32 = 84;
/// Entries beyond the first, except those that the object's word counts.
pub const RECURSION_OFFSET: i32 = 88;
/// Exits since a thread last found another thread inside the monitor.
pub const QUIET_OFFSET: i32 = 92;
/// Managed id of the thread that last left the monitor in compiled code.
pub const LAST_OFFSET: i32 = 104;

/// Flag: threads are queued.
pub const WAITERS: u32 = 1;
/// Flag: a thread was woken and has not tried to enter yet.
pub const WAKING: u32 = 2;
/// Owner of a monitor that does not belong to an object any more; no managed id.
pub const RETIRED: u32 = 1 << 29;

/// After this many exits in a row without contention a monitor gives way to the thin lock, which costs less. The number
/// is large, because threads that seldom contend may still take a lock in turns, and with a thin lock the object's
/// cache line moves along with it (`sync::monitor`, `has_met_contention`).
pub const QUIET_EXITS: u32 = 4096;

const _: () = assert!((ENTRY_BYTES as u32).is_power_of_two());
// The words that threads use without waiting lie on one cache line, and the lock of the queues on another.
const _: () = assert!(OWNER_OFFSET / 64 == LAST_OFFSET / 64 && OWNER_OFFSET >= 64);
