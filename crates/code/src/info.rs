//! `CodeInfo`, the record of one body of compiled code: identity, exception table, IL map, traps.
//!
//! Invariant: immutable once placed (but for `liveness`, which is computed once), so that signal handlers may read it; freed only
//! after the body was retired and the walks that could hold it are over (`heap`). Left out: locations of variables (stacks are
//! scanned conservatively).

use crate::frame_liveness::FrameLiveness;
use saki_abi::{SpillArea, position};
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
    /// Bytes from FP down to SP in the body, after the prologue; 0 = unknown.
    pub frame_size_bytes: u32,
    /// Where the register allocator's words lie; `None` = unknown.
    pub spill_area: Option<SpillArea>,
    /// Computed on first use.
    pub(crate) liveness: OnceLock<Option<FrameLiveness>>,
    /// Call sites that have handlers, sorted by `return_offset`.
    pub call_sites: Box<[CallSite]>,
    /// Handlers of all call sites, see `CallSite::first_handler`.
    pub handlers: Box<[Handler]>,
    /// The method's exception clauses in metadata order; handlers name them by index.
    pub clauses: Box<[ClauseInfo]>,
    /// Sorted by `native_offset`; an entry holds up to the next one.
    pub il_map: Box<[IlMapEntry]>,
    /// Bodies inlined into this one; `abi::position`s number them from 1.
    pub inline_sites: Box<[InlineSite]>,
    /// Instructions that may trap, sorted by `offset`.
    pub traps: Box<[TrapSite]>,
    /// For diagnostics and perf maps.
    pub name: Cow<'static, str>,
}

// SAFETY: `method` is an identity that this crate never dereferences, and everything else is plain immutable data.
unsafe impl Send for CodeInfo {}
// SAFETY: as above; no field changes after `place`.
unsafe impl Sync for CodeInfo {}

/// A call with handlers around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Return address, in bytes from the start of the body.
    pub return_offset: u32,
    /// Landing: SP = FP − this.
    pub frame_offset_bytes: u32,
    /// Index of the innermost handler in `CodeInfo::handlers`.
    pub first_handler: u32,
    pub handler_count: u32,
}

/// One handler that encloses a call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// Index into `CodeInfo::clauses`; below `0xffff` (see the unwind token).
    pub clause_index: u32,
    /// Landing pad, in bytes from the start of the body.
    pub landing_offset: u32,
}

/// One exception clause (ECMA-335 §II.25.4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClauseInfo {
    pub kind: ClauseKind,
}

/// The condition under which a clause is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseKind {
    /// The caught `types::Type`, untyped; null catches everything.
    Catch(*const ()),
    /// Callable address of the filter function (`fn(parent_fp, exception) -> i32`, Tail convention).
    Filter(usize),
    Finally,
    Fault,
}

/// A body that was inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineSite {
    /// The `types::Method`, untyped.
    pub method: *const (),
    /// `abi::position` of the call, in the body that it was inlined into.
    pub call_position: u32,
}

/// Native → IL position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IlMapEntry {
    pub native_offset: u32,
    /// An `abi::position`.
    pub il_offset: u32,
}

/// An instruction that may trap, and the raw Cranelift trap code (`saki_abi::stubs::trap`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapSite {
    pub offset: u32,
    pub code: u8,
}

impl CodeInfo {
    /// A description without tables; fill in the public fields before `place`.
    pub fn new(kind: CodeKind, method: *const (), name: impl Into<Cow<'static, str>>) -> CodeInfo {
        CodeInfo {
            kind,
            method,
            start: 0,
            len_bytes: 0,
            frame_size_bytes: 0,
            spill_area: None,
            liveness: OnceLock::new(),
            call_sites: Box::default(),
            handlers: Box::default(),
            clauses: Box::default(),
            il_map: Box::default(),
            inline_sites: Box::default(),
            traps: Box::default(),
            name: name.into(),
        }
    }

    /// Whether `pc` lies in the body.
    pub fn covers(&self, pc: usize) -> bool {
        pc.wrapping_sub(self.start) < self.len_bytes as usize
    }

    /// The call site that returns to `return_address`, if it has handlers.
    pub fn call_site(&self, return_address: usize) -> Option<&CallSite> {
        let offset = u32::try_from(return_address.checked_sub(self.start)?).ok()?;
        let index = self.call_sites.binary_search_by_key(&offset, |site| site.return_offset).ok()?;
        self.call_sites.get(index)
    }

    /// Handlers around a call site, innermost first.
    pub fn handlers_of(&self, site: &CallSite) -> &[Handler] {
        let first = site.first_handler as usize;
        self.handlers.get(first..first + site.handler_count as usize).unwrap_or(&[])
    }

    /// `abi::position` of the instruction at native `offset` bytes (pass `return offset − 1` for callers); `None` = unmapped.
    pub fn position(&self, offset: u32) -> Option<u32> {
        let after = self.il_map.partition_point(|entry| entry.native_offset <= offset);
        Some(self.il_map[after.checked_sub(1)?].il_offset)
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
    pub fn inline_site(&self, at: u32) -> Option<&InlineSite> {
        self.inline_sites.get((position::unpack(at).0 as usize).checked_sub(1)?)
    }

    /// Raw trap code of the instruction at `pc`.
    pub fn trap_code(&self, pc: usize) -> Option<u8> {
        let offset = u32::try_from(pc.checked_sub(self.start)?).ok()?;
        let index = self.traps.binary_search_by_key(&offset, |trap| trap.offset).ok()?;
        Some(self.traps[index].code)
    }

    /// Checks the order and index invariants; `place` calls it in debug builds.
    pub fn check(&self) -> Result<(), &'static str> {
        if !self.call_sites.is_sorted_by(|a, b| a.return_offset < b.return_offset) {
            return Err("call sites are not strictly sorted");
        }
        if !self.il_map.is_sorted_by_key(|entry| entry.native_offset) {
            return Err("IL map is not sorted");
        }
        if !self.traps.is_sorted_by_key(|trap| trap.offset) {
            return Err("trap table is not sorted");
        }
        if self.call_sites.iter().any(|s| (s.first_handler + s.handler_count) as usize > self.handlers.len()) {
            return Err("call site names handlers that do not exist");
        }
        let clause_count = self.clauses.len().min(0xffff);
        if self.handlers.iter().any(|h| h.clause_index as usize >= clause_count) {
            return Err("handler names a clause that does not exist");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> CodeInfo {
        let mut info = CodeInfo::new(CodeKind::Method, std::ptr::null(), "sample");
        info.start = 0x1000;
        info.len_bytes = 0x100;
        info.il_map = Box::new([(4, 0), (16, 3), (40, 9)].map(|(n, i)| IlMapEntry { native_offset: n, il_offset: i }));
        info.clauses = Box::new([ClauseInfo { kind: ClauseKind::Finally }]);
        info.handlers = Box::new([Handler { clause_index: 0, landing_offset: 0x80 }]);
        info.call_sites =
            Box::new([CallSite { return_offset: 0x20, frame_offset_bytes: 16, first_handler: 0, handler_count: 1 }]);
        info
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
    fn call_sites_match_exactly() {
        let info = sample();
        assert_eq!(info.check(), Ok(()));
        assert!(info.call_site(0x101f).is_none());
        let site = info.call_site(0x1020).unwrap();
        assert_eq!(info.handlers_of(site).len(), 1);
    }
}
