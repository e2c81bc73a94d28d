//! A stack with a guard below it.
//!
//! ```text
//! base ┌──────────────┐
//!      │ guard pages  │ PROT_NONE
//! low  ├──────────────┤
//!      │ usable       │ committed on touch, grows down
//! top  └──────────────┘ 16-byte aligned
//! ```

use saki_os::{Reservation, page_size_bytes};
use std::io;
use std::ops::Range;

/// Guard below each stack; larger than any frame that is not probed.
const GUARD_PAGES: usize = 4;

/// A mapped stack, unmapped when dropped.
pub struct Stack {
    memory: Reservation,
    guard_bytes: usize,
}

impl Stack {
    /// Maps a stack with at least `size_bytes` usable bytes. Errors: the system's.
    pub fn new(size_bytes: usize) -> io::Result<Stack> {
        let guard_bytes = GUARD_PAGES * page_size_bytes();
        let size_bytes = size_bytes.next_multiple_of(page_size_bytes());
        let memory = Reservation::reserve(guard_bytes + size_bytes)?;
        memory.commit(guard_bytes, size_bytes)?;
        Ok(Stack { memory, guard_bytes })
    }

    /// The usable addresses.
    pub fn bounds(&self) -> Range<usize> {
        let base = self.memory.base() as usize;
        base + self.guard_bytes..base + self.memory.len_bytes()
    }

    /// Where the first frame begins.
    pub fn top(&self) -> usize {
        self.bounds().end
    }

    /// Whether a fault at the address means that the stack overflowed.
    pub fn guard_contains(&self, address: usize) -> bool {
        let base = self.memory.base() as usize;
        (base..base + self.guard_bytes).contains(&address)
    }

    /// Gives unused memory of a stack that is not in use back to the system.
    pub fn discard(&self) -> io::Result<()> {
        self.memory.discard(self.guard_bytes, self.memory.len_bytes() - self.guard_bytes)
    }
}
