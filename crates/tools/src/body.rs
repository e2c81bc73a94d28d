//! A piece of compiled code as its descriptions see it: place, name, source lines.

use saki_metadata::SourcePosition;

/// The source position of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// In bytes from the start of the body; the line holds up to the next entry.
    pub native_offset: u32,
    pub position: SourcePosition,
}

/// Code as the tools see it.
pub(crate) struct DescribedCode<'a> {
    pub start: usize,
    pub len_bytes: usize,
    pub name: &'a str,
    /// No frames: the caller's return address is on top of the stack.
    pub is_stubs: bool,
}

impl DescribedCode<'_> {
    /// Entry stubs are written one by one after their chunk was announced; other code does not change.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the heap announces bodies that it has written, in its readable view, which is never unmapped.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.len_bytes) }
    }
}
