//! `CodeInfo`, the record of one placed body of compiled code: identity, place, and the tables of `abi::tables`.
//!
//! Invariant: immutable (but for `liveness`, which is computed once), so that signal handlers may read it; freed only
//! after the body was retired and the walks that could hold it are over (`heap`). Left out: locations of variables (stacks are
//! scanned conservatively).

use crate::arch::{Arch, Architecture, FrameState};
use crate::frame_liveness::FrameLiveness;
use saki_abi::{
    BodyTables, ClauseKind, EnclosingHandler, FrameMap, InlineSite, PackedPairs, ProtectedCall, SpillArea, position,
};
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

impl CodeKind {
    /// Whether code of this kind has the name of its method.
    pub fn is_shown_as_method(self) -> bool {
        matches!(self, CodeKind::Method | CodeKind::NativeThunk | CodeKind::Filter)
    }
}

/// The tables of a body that is placed. Methods and types are addresses of `types::Method`s and `types::Type`s, untyped
/// (this crate is below `types`); a filter is the callable address of its code (`fn(parent_fp, exception) -> i32`, Tail
/// convention).
pub type PlacedTables = BodyTables<*const (), *const (), usize>;
/// See [`PlacedTables`]; a caught type that is null catches everything.
pub type PlacedClause = ClauseKind<*const (), usize>;
/// See [`PlacedTables`].
pub type PlacedInlineSite = InlineSite<*const ()>;

/// A body about to be placed.
#[derive(Debug)]
pub struct NewBody {
    pub kind: CodeKind,
    /// The `types::Method`, untyped (this crate is below `types`); null for code without one.
    pub method: *const (),
    /// For diagnostics and perf maps; empty for code that is shown by its method's name.
    pub name: Cow<'static, str>,
    pub tables: PlacedTables,
}

impl NewBody {
    /// A body with empty tables.
    pub fn new(kind: CodeKind, method: *const (), name: impl Into<Cow<'static, str>>) -> NewBody {
        NewBody { kind, method, name: name.into(), tables: PlacedTables::default() }
    }

    /// The description of the body when it lies there.
    pub fn placed_at(self, start: usize, len_bytes: u32) -> CodeInfo {
        let NewBody { kind, method, name, tables } = self;
        let PlacedTables { frame_size_bytes, spill_area, own_words, il_map, traps, .. } = tables;
        let PlacedTables { protected_calls, handlers, clauses, inline_sites, frame_map, .. } = tables;
        let rare = RareTables { name, protected_calls, handlers, clauses, inline_sites, frame_map };
        CodeInfo {
            kind,
            method,
            start,
            len_bytes,
            frame_size_bytes,
            has_spill_area: spill_area.is_some(),
            spill_low_bytes: spill_area.map_or(0, |area| area.low_bytes),
            spill_high_bytes: spill_area.map_or(0, |area| area.high_bytes),
            saved_registers: spill_area.map_or(0, |area| area.saved_registers),
            own_words,
            rare: (!rare.is_empty()).then(|| Box::new(rare)),
            positions: PackedPairs::pack(il_map.iter().map(|entry| (entry.native_offset, entry.il_offset))),
            traps: PackedPairs::pack(traps.iter().map(|trap| (trap.offset, u32::from(trap.code)))),
            liveness: OnceLock::new(),
        }
    }
}

/// What most bodies do not have; in a box of its own, since there are ten thousands of bodies.
#[derive(Debug)]
struct RareTables {
    /// See `NewBody`, and for the others `BodyTables`.
    name: Cow<'static, str>,
    protected_calls: Box<[ProtectedCall]>,
    handlers: Box<[EnclosingHandler]>,
    clauses: Box<[PlacedClause]>,
    inline_sites: Box<[PlacedInlineSite]>,
    frame_map: Option<Box<FrameMap>>,
}

impl RareTables {
    fn is_empty(&self) -> bool {
        self.name.is_empty()
            && self.protected_calls.is_empty()
            && self.clauses.is_empty()
            && self.inline_sites.is_empty()
            && self.frame_map.is_none()
    }
}

/// Description of one placed body.
#[derive(Debug)]
pub struct CodeInfo {
    pub kind: CodeKind,
    /// The `types::Method`, untyped (this crate is below `types`); null for code without one.
    pub method: *const (),
    /// First address.
    pub start: usize,
    /// Length in bytes.
    pub len_bytes: u32,
    /// See `BodyTables`, also for `own_words`.
    pub frame_size_bytes: u32,
    /// The parts of `spill_area`; as an option it would take 4 bytes more.
    has_spill_area: bool,
    saved_registers: u16,
    spill_low_bytes: u32,
    spill_high_bytes: u32,
    pub own_words: Box<[u64]>,
    rare: Option<Box<RareTables>>,
    /// Native offsets and positions of `BodyTables::il_map`.
    positions: PackedPairs,
    /// Offsets and codes of `BodyTables::traps`.
    traps: PackedPairs,
    /// Computed on first use.
    pub(crate) liveness: OnceLock<Option<Box<FrameLiveness>>>,
}

// SAFETY: `method` is an identity that this crate never dereferences, and everything else is plain immutable data.
unsafe impl Send for CodeInfo {}
// SAFETY: as above; no field changes after `place`.
unsafe impl Sync for CodeInfo {}

/// There are ten thousands of bodies, and the allocator's next size is a seventh larger.
const _: () = assert!(size_of::<CodeInfo>() <= 112);

impl CodeInfo {
    /// See `BodyTables::spill_area`.
    pub fn spill_area(&self) -> Option<SpillArea> {
        let CodeInfo { spill_low_bytes: low_bytes, spill_high_bytes: high_bytes, saved_registers, .. } = *self;
        self.has_spill_area.then_some(SpillArea { low_bytes, high_bytes, saved_registers })
    }

    /// See `NewBody::name`.
    pub fn name(&self) -> &str {
        self.rare.as_ref().map_or("", |rare| &rare.name)
    }

    /// Bytes of memory that the record takes with its tables, beside the code.
    pub fn record_bytes(&self) -> usize {
        let rare = self.rare.as_ref().map_or(0, |rare| {
            let map = rare
                .frame_map
                .as_ref()
                .map_or(0, |map| size_of::<FrameMap>() + size_of_val(&*map.slots) + size_of_val(&*map.continued));
            let calls = size_of_val(&*rare.protected_calls) + size_of_val(&*rare.handlers);
            size_of::<RareTables>() + calls + size_of_val(&*rare.clauses) + size_of_val(&*rare.inline_sites) + map
        });
        let pairs = self.positions.heap_bytes() + self.traps.heap_bytes();
        size_of::<CodeInfo>() + size_of_val(&*self.own_words) + rare + pairs
    }

    /// The body's exception clauses, in metadata order.
    pub fn clauses(&self) -> &[PlacedClause] {
        self.rare.as_ref().map_or(&[], |rare| &rare.clauses)
    }

    /// The handlers of all protected calls.
    pub fn handlers(&self) -> &[EnclosingHandler] {
        self.rare.as_ref().map_or(&[], |rare| &rare.handlers)
    }

    /// Handlers around a protected call, innermost first.
    pub fn handlers_of(&self, call: &ProtectedCall) -> &[EnclosingHandler] {
        self.rare.as_ref().map_or(&[], |rare| call.handlers_in(&rare.handlers))
    }

    /// Where loops can be continued; `None` where none can.
    pub fn frame_map(&self) -> Option<&FrameMap> {
        self.rare.as_ref()?.frame_map.as_deref()
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
        let calls = &self.rare.as_ref()?.protected_calls;
        calls.get(calls.binary_search_by_key(&offset, |call| call.return_offset).ok()?)
    }

    /// Whether the call that returns to this address does the rest of the frame's work, as code of the same method.
    /// Then the frame itself is not one that a program knows of.
    #[inline]
    pub fn is_continued_at(&self, return_address: usize) -> bool {
        self.frame_map().is_some_and(|map| {
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
        self.rare.as_ref()?.inline_sites.get((position::unpack(at).0 as usize).checked_sub(1)?)
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
    use saki_abi::{IlMapEntry, TrapSite};

    fn sample() -> CodeInfo {
        let mut body = NewBody::new(CodeKind::Method, std::ptr::null(), "sample");
        body.tables.il_map =
            Box::new([(4, 0), (16, 3), (40, 9)].map(|(n, i)| IlMapEntry { native_offset: n, il_offset: i }));
        body.tables.clauses = Box::new([PlacedClause::Finally]);
        body.tables.handlers = Box::new([EnclosingHandler { clause_index: 0, landing_offset: 0x80 }]);
        let call = ProtectedCall { return_offset: 0x20, frame_offset_bytes: 16, first_handler: 0, handler_count: 1 };
        body.tables.protected_calls = Box::new([call]);
        body.tables.traps = Box::new([(8, 3), (24, 1)].map(|(offset, code)| TrapSite { offset, code }));
        assert_eq!(body.tables.check(), Ok(()));
        body.placed_at(0x1000, 0x100)
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
        assert_eq!(info.handlers_of(call).len(), 1);
    }
}
