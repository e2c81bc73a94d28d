//! `CodeInfo`, the record of one placed body of compiled code: identity, place, and the tables of `abi::tables`.
//!
//! Invariant: immutable once placed (but for `liveness`, which is computed once), so that signal handlers may read it; freed only
//! after the body was retired and the walks that could hold it are over (`heap`). Left out: locations of variables (stacks are
//! scanned conservatively).

use crate::arch::{Arch, Architecture, FrameState};
use crate::frame_liveness::FrameLiveness;
use saki_abi::{BodyTables, ClauseKind, InlineSite, PackedPairs, ProtectedCall, position};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The kind of a body; by it stack walks decide how to treat its frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    /// A compiled CIL method.
    Method,
    /// An exception filter of a method; runs on its own frame with the parent's frame pointer as argument.
    Filter,
    /// Managed → Rust transition; never shown in traces.
    HelperThunk,
    /// Managed → native (P/Invoke) or managed → internal-call wrapper; shown in traces as its method.
    NativeThunk,
    /// Rust → managed: loads arguments for one signature.
    EntryThunk,
    /// Any other glue (delegate invocation, array accessors): never shown in traces.
    Stub,
}

/// The tables of a placed body. Methods and types are addresses of `types::Method`s and `types::Type`s, untyped (this crate is below
/// `types`); a filter is the callable address of its code (`fn(parent_fp, exception) -> i32`, Tail convention).
pub type PlacedTables = BodyTables<*const (), *const (), usize>;
/// See [`PlacedTables`]; a caught type that is null catches everything.
pub type PlacedClause = ClauseKind<*const (), usize>;
/// See [`PlacedTables`].
pub type PlacedInlineSite = InlineSite<*const ()>;

/// Description of one placed body.
#[derive(Debug)]
pub struct CodeInfo {
    pub kind: CodeKind,
    /// The `types::Method`, untyped (this crate is below `types`); null for code without one.
    pub method: *const (),
    /// First address; set by `place`.
    pub start: usize,
    /// Length in bytes; set by `place`.
    pub len_bytes: u32,
    /// Of a placed body without the IL map and the traps, which are packed.
    pub tables: PlacedTables,
    /// Native offsets and positions of `BodyTables::il_map`, packed by `place`.
    positions: PackedPairs,
    /// Offsets and codes of `BodyTables::traps`, packed by `place`.
    traps: PackedPairs,
    /// Computed on first use.
    pub(crate) liveness: OnceLock<Option<Box<FrameLiveness>>>,
    /// For diagnostics and perf maps.
    pub name: Cow<'static, str>,
}

// SAFETY: `method` is an identity that this crate never dereferences, and everything else is plain immutable data.
unsafe impl Send for CodeInfo {}
// SAFETY: as above; no field changes after `place`.
unsafe impl Sync for CodeInfo {}

impl CodeInfo {
    /// A description with empty tables; fill them in before `place`.
    pub fn new(kind: CodeKind, method: *const (), name: impl Into<Cow<'static, str>>) -> CodeInfo {
        CodeInfo {
            kind,
            method,
            start: 0,
            len_bytes: 0,
            tables: PlacedTables::default(),
            positions: PackedPairs::default(),
            traps: PackedPairs::default(),
            liveness: OnceLock::new(),
            name: name.into(),
        }
    }

    /// Packs the long tables, when the body is placed.
    pub(crate) fn pack(&mut self) {
        let il_map = std::mem::take(&mut self.tables.il_map);
        self.positions = PackedPairs::pack(il_map.iter().map(|entry| (entry.native_offset, entry.il_offset)));
        let traps = std::mem::take(&mut self.tables.traps);
        self.traps = PackedPairs::pack(traps.iter().map(|trap| (trap.offset, u32::from(trap.code))));
    }

    /// The positions (`abi::position`) of a placed body, each with the native offset from which on it holds, in the
    /// order of the code.
    pub fn positions(&self) -> impl Iterator<Item = (u32, u32)> {
        self.positions.iter()
    }

    /// Whether `pc` lies in the body.
    pub fn covers(&self, pc: usize) -> bool {
        pc.wrapping_sub(self.start) < self.len_bytes as usize
    }

    /// The protected call that returns to `return_address`, if it has handlers.
    pub fn protected_call(&self, return_address: usize) -> Option<&ProtectedCall> {
        let offset = u32::try_from(return_address.checked_sub(self.start)?).ok()?;
        let calls = &self.tables.protected_calls;
        calls.get(calls.binary_search_by_key(&offset, |call| call.return_offset).ok()?)
    }

    /// Whether the call that returns to this address does the rest of the frame's work, as code of the same method.
    /// Then the frame itself is not one that a program knows of.
    #[inline]
    pub fn is_continued_at(&self, return_address: usize) -> bool {
        self.tables.frame_map.as_ref().is_some_and(|map| {
            let offset = return_address.wrapping_sub(self.start);
            u32::try_from(offset).is_ok_and(|offset| map.continued.binary_search(&offset).is_ok())
        })
    }

    /// `abi::position` of the instruction at native `offset` bytes (pass `return offset − 1` for callers); `None` = unmapped.
    pub fn position(&self, offset: u32) -> Option<u32> {
        self.positions().take_while(|&(from, _)| from <= offset).last().map(|(_, position)| position)
    }

    /// IL offset in the body's own method of the instruction at native `offset`: that of the call for inlined code.
    pub fn il_offset(&self, offset: u32) -> Option<u32> {
        let mut at = self.position(offset)?;
        while let Some(site) = self.inline_site(at) {
            at = site.call_position;
        }
        Some(position::unpack(at).1)
    }

    /// The inlined body in which a position lies; `None` for the method itself.
    pub fn inline_site(&self, at: u32) -> Option<&PlacedInlineSite> {
        self.tables.inline_sites.get((position::unpack(at).0 as usize).checked_sub(1)?)
    }

    /// How far the body's frame is made or undone at its instruction `pc`.
    pub fn frame_state(&self, pc: usize) -> FrameState {
        assert!(self.covers(pc));
        // SAFETY: a placed body covers `pc`, so `start` is where it begins.
        unsafe { Arch::frame_state(self.start, pc) }
    }

    /// Whether the instruction at `pc`, in the body, is a stack probe: in the prologue of a frame larger than a page, it touches the stack
    /// page by page.
    pub fn is_stack_probe(&self, pc: usize) -> bool {
        assert!(self.covers(pc));
        // SAFETY: as above.
        unsafe { Arch::is_stack_probe(self.start, self.start + self.len_bytes as usize, pc) }
    }

    /// Raw trap code of the instruction at `pc`.
    pub fn trap_code(&self, pc: usize) -> Option<u8> {
        let offset = u32::try_from(pc.checked_sub(self.start)?).ok()?;
        let (_, code) = self.traps.iter().find(|&(at, _)| at == offset)?;
        Some(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_abi::{EnclosingHandler, IlMapEntry, TrapSite};

    fn sample() -> CodeInfo {
        let mut info = CodeInfo::new(CodeKind::Method, std::ptr::null(), "sample");
        info.start = 0x1000;
        info.len_bytes = 0x100;
        info.tables.il_map =
            Box::new([(4, 0), (16, 3), (40, 9)].map(|(n, i)| IlMapEntry { native_offset: n, il_offset: i }));
        info.tables.clauses = Box::new([PlacedClause::Finally]);
        info.tables.handlers = Box::new([EnclosingHandler { clause_index: 0, landing_offset: 0x80 }]);
        let call = ProtectedCall { return_offset: 0x20, frame_offset_bytes: 16, first_handler: 0, handler_count: 1 };
        info.tables.protected_calls = Box::new([call]);
        info.tables.traps = Box::new([(8, 3), (24, 1)].map(|(offset, code)| TrapSite { offset, code }));
        assert_eq!(info.tables.check(), Ok(()));
        info.pack();
        info
    }

    #[test]
    fn traps_match_exactly() {
        let info = sample();
        assert_eq!([0x1007, 0x1008, 0x1018, 0x1019].map(|pc| info.trap_code(pc)), [None, Some(3), Some(1), None]);
    }

    #[test]
    fn il_offsets_hold_up_to_the_next_entry() {
        let info = sample();
        let check = |offset, expect| assert_eq!(info.il_offset(offset), expect, "at {offset}");
        check(3, None);
        check(4, Some(0));
        check(15, Some(0));
        check(16, Some(3));
        check(1000, Some(9));
    }

    #[test]
    fn protected_calls_match_exactly() {
        let info = sample();
        assert!(info.protected_call(0x101f).is_none());
        let call = info.protected_call(0x1020).unwrap();
        assert_eq!(info.tables.handlers_of(call).len(), 1);
    }
}
