//! The sync word of an object's header, as far as compiled code reads and writes it. `sync::thin_lock` has the table of
//! its states.
//!
//! ```text
//! 63  62            32 31  30           8 7         0
//! [I][      hash      ][I][ owner or index ][ recursion ]    I = inflated, once in each half
//! ```

/// "Inflated" in the lower half; it is exchanged together with that half.
pub const INFLATED_BIT: usize = 1 << 31;
/// "Inflated" in the upper half.
pub const INFLATED_HINT_BIT: usize = 1 << 63;
/// The lowest byte: how many more times the owner has entered.
pub const RECURSION_MASK: usize = 0xff;
/// The most entries beyond the first that a thin lock counts.
pub const MAX_RECURSION: u32 = 255;
/// The place of the owner's managed id in a thin lock.
pub const OWNER_SHIFT: u32 = 8;
/// Managed ids and monitor indices fit into 23 bits.
pub const MAX_OWNER: u32 = (1 << 23) - 1;
