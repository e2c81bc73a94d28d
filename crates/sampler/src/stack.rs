//! A recorded stack, for consumers: decodes the words of `handler`'s format.
//!
//! Invariant: a stack is used only while the reader's walk keeps the code that its words name (`reader`); its lifetime
//! ensures that, since stacks are lent for one call.

use crate::handler::{FLAGS_SHIFT, MANAGED, TRUNCATED};
use saki_code::CodeInfo;

/// Innermost frames that are not code but say what a thread waits for. Their numbers are below any address of code.
pub(crate) const NOTES: [&str; 7] = [
    "",
    "[sleeping]",
    "[joining a thread]",
    "[waiting for a lock]",
    "[waiting for a handle]",
    "[in native code]",
    "[waiting]",
];

/// Innermost frame first.
#[derive(Clone, Copy)]
pub struct Stack<'a> {
    frames: &'a [u64],
    is_truncated: bool,
}

/// See `Stack`.
#[derive(Clone, Copy)]
pub enum StackFrame<'a> {
    Managed {
        code: &'a CodeInfo,
        native_offset: u32,
    },
    /// The instruction's address.
    Native(usize),
    /// A note that says what a thread waits for.
    Note(&'static str),
}

impl<'a> Stack<'a> {
    /// The stack of a sample in the handler's format.
    pub(crate) fn new(words: &'a [u64]) -> Stack<'a> {
        let flags = words.get(1).map_or(0, |time| time >> FLAGS_SHIFT);
        Stack { frames: words.get(2..).unwrap_or_default(), is_truncated: flags & TRUNCATED != 0 }
    }

    /// Whether the outermost frames are missing.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    pub fn frames(&self) -> impl Iterator<Item = StackFrame<'a>> + use<'a> {
        let mut rest = self.frames.iter();
        std::iter::from_fn(move || {
            loop {
                let &word = rest.next()?;
                return Some(match NOTES.get(word as usize) {
                    Some(&"") => continue,
                    Some(&note) => StackFrame::Note(note),
                    None if word & MANAGED == 0 => StackFrame::Native(word as usize),
                    None => {
                        let native_offset = *rest.next()? as u32;
                        let info = (word & !MANAGED) as usize as *const CodeInfo;
                        // SAFETY: the recorder found it in the code map, and the reader's walk keeps it; see the module
                        // header.
                        StackFrame::Managed { code: unsafe { &*info }, native_offset }
                    }
                });
            }
        })
    }
}
