//! A place in the program: an IL offset within the method itself or within a body inlined into it, packed into 32 bits.
//!
//! ```text
//! 31            20 19                0
//! [ inline site  ][ IL offset        ]   site 0 = the method itself, n = entry n - 1 of the body's inline sites
//! ```

/// Bits of the IL offset; larger offsets are reported as the largest that fits.
pub const OFFSET_BITS: u32 = 20;
/// The bits of a position that hold the offset in the IL.
pub const OFFSET_MASK: u32 = (1 << OFFSET_BITS) - 1;
/// Bodies inlined beyond this number are attributed to their callers.
pub const MAX_SITES: usize = 4000;

/// A position out of the number of an inlined call's site and an offset in the IL.
pub fn pack(site: u32, il_offset: u32) -> u32 {
    (site << OFFSET_BITS) | il_offset.min(OFFSET_MASK)
}

/// (site, IL offset)
pub fn unpack(position: u32) -> (u32, u32) {
    (position >> OFFSET_BITS, position & OFFSET_MASK)
}
