//! The state of one import: the code emitted so far, and the bodies that are being inlined.

use super::emitter::Emitter;
use rustc_hash::FxHashMap;
use saki_types::Method;

/// See the module header.
pub(super) struct Importer<'e> {
    pub(super) emit: Emitter<'e>,
    /// Methods being inlined, outermost first.
    pub(super) inlining: Vec<&'static Method>,
    /// Methods found not to be inlinable at a limit of bytes, and why.
    pub(super) not_inlinable: FxHashMap<(&'static Method, usize), &'static str>,
    /// Whether the call being made is guarded, and in the second tier: it runs often.
    pub(super) is_guessed: bool,
    /// CIL bytes that may still be inlined.
    pub(super) inline_budget_bytes: u32,
}
