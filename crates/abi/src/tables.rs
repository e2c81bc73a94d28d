//! The tables of one compiled body, in which exceptions, signal handlers and stack traces look up facts by the offset
//! of an instruction.
//!
//! `jit` fills them, the code cache stores them, `code` keeps them with the placed body, the two longest as
//! [`PackedPairs`](crate::PackedPairs). On the way only references
//! change ([`BodyTables::bind`]): in `jit` a method and a type are records and a filter is a number; in `code`, which
//! lies below `types`, all three are addresses.
//!
//! Invariant: each table is defined here and nowhere else. Offsets are bytes from the start of the body. Left out:
//! relocations (`crate::reloc`), and looking instructions up (`code`).

use crate::frame::SpillArea;

/// A call that has handlers around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectedCall {
    /// Offset of the return address.
    pub return_offset: u32,
    /// At the landing pad, SP = FP − this.
    pub frame_offset_bytes: u32,
    /// Index of the innermost handler in [`BodyTables::handlers`].
    pub first_handler: u32,
    /// How many handlers the site has, from `first_handler` on.
    pub handler_count: u32,
}

impl ProtectedCall {
    /// The handlers around the call, innermost first, of those of all calls of its body.
    pub fn handlers_in<'a>(&self, handlers: &'a [EnclosingHandler]) -> &'a [EnclosingHandler] {
        let first = self.first_handler as usize;
        handlers.get(first..first + self.handler_count as usize).unwrap_or(&[])
    }
}

/// One handler around a protected call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnclosingHandler {
    /// Index into [`BodyTables::clauses`]; below `0xffff` (see the unwind token).
    pub clause_index: u32,
    /// Offset of the landing pad.
    pub landing_offset: u32,
}

/// The condition under which an exception clause is selected (ECMA-335 §II.25.4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseKind<Type, Filter> {
    /// The caught type.
    Catch(Type),
    /// A filter function `fn(parent_fp, exception) -> i32` decides.
    Filter(Filter),
    Finally,
    Fault,
}

/// Native → IL position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IlMapEntry {
    /// Bytes from the begin of the code.
    pub native_offset: u32,
    /// A `crate::position`.
    pub il_offset: u32,
}

/// A body that was inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineSite<Method> {
    /// The inlined method.
    pub method: Method,
    /// The `crate::position` of the call, in the body that it was inlined into.
    pub call_position: u32,
}

/// An instruction that may trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapSite {
    /// Bytes from the begin of the code to the instruction that traps.
    pub offset: u32,
    /// Raw trap code: `crate::stubs::trap`.
    pub code: u8,
}

/// Where a body of the first tier keeps its method's variables when a loop begins another round, so that other code can
/// go on there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameMap {
    /// By argument, and behind those by local variable: bytes from FP to its slot, or [`NO_SLOT`]. The slot of an
    /// argument of a struct type holds the struct's address.
    pub slots: Box<[i32]>,
    /// Whether pointers may be kept, somewhere, to variables whose address is taken.
    pub makes_pointers: bool,
    /// Offsets of the return addresses of calls of such other code, which does the rest of the frame's work. Ascending.
    pub continued: Box<[u32]>,
}

/// The place of a variable that no code reads before it writes it.
pub const NO_SLOT: i32 = i32::MIN;

/// All tables of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyTables<Method, Type, Filter> {
    /// Bytes from FP down to SP in the body, after the prologue; 0 = unknown.
    pub frame_size_bytes: u32,
    /// The place of the register allocator's words; `None` = unknown.
    pub spill_area: Option<SpillArea>,
    /// The words of that place which only the body's own instructions touch, if others lie between them: bit N stands
    /// for the word at FP − 8 (N + 1). Empty: all words.
    pub own_words: Box<[u64]>,
    /// Strictly sorted by `return_offset`.
    pub protected_calls: Box<[ProtectedCall]>,
    /// Handlers of all protected calls; those of one call are adjacent, innermost first.
    pub handlers: Box<[EnclosingHandler]>,
    /// The method's exception clauses, in metadata order.
    pub clauses: Box<[ClauseKind<Type, Filter>]>,
    /// Sorted by `native_offset`; an entry holds up to the next one.
    pub il_map: Box<[IlMapEntry]>,
    /// Bodies inlined into this one; `crate::position`s number them from 1.
    pub inline_sites: Box<[InlineSite<Method>]>,
    /// Sorted by `offset`.
    pub traps: Box<[TrapSite]>,
    /// `None` where no loop can be continued by other code.
    pub frame_map: Option<Box<FrameMap>>,
}

impl<Method, Type, Filter> Default for BodyTables<Method, Type, Filter> {
    fn default() -> Self {
        BodyTables {
            frame_size_bytes: 0,
            spill_area: None,
            own_words: Box::default(),
            protected_calls: Box::default(),
            handlers: Box::default(),
            clauses: Box::default(),
            il_map: Box::default(),
            inline_sites: Box::default(),
            traps: Box::default(),
            frame_map: None,
        }
    }
}

impl<Method, Type, Filter> BodyTables<Method, Type, Filter> {
    /// Handlers around a protected call, innermost first.
    pub fn handlers_of(&self, call: &ProtectedCall) -> &[EnclosingHandler] {
        call.handlers_in(&self.handlers)
    }

    /// The same tables with other references to methods, types and filters.
    pub fn bind<OtherMethod, OtherType, OtherFilter>(
        self,
        method: impl Fn(Method) -> OtherMethod,
        ty: impl Fn(Type) -> OtherType,
        filter: impl Fn(Filter) -> OtherFilter,
    ) -> BodyTables<OtherMethod, OtherType, OtherFilter> {
        let clause = |kind| match kind {
            ClauseKind::Catch(caught) => ClauseKind::Catch(ty(caught)),
            ClauseKind::Filter(number) => ClauseKind::Filter(filter(number)),
            ClauseKind::Finally => ClauseKind::Finally,
            ClauseKind::Fault => ClauseKind::Fault,
        };
        let site =
            |site: InlineSite<Method>| InlineSite { method: method(site.method), call_position: site.call_position };
        BodyTables {
            frame_size_bytes: self.frame_size_bytes,
            spill_area: self.spill_area,
            own_words: self.own_words,
            protected_calls: self.protected_calls,
            handlers: self.handlers,
            clauses: self.clauses.into_iter().map(clause).collect(),
            il_map: self.il_map,
            inline_sites: self.inline_sites.into_iter().map(site).collect(),
            traps: self.traps,
            frame_map: self.frame_map,
        }
    }

    /// Checks the order of the tables and that their indices are in range.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), &'static str> {
        if !self.protected_calls.is_sorted_by(|a, b| a.return_offset < b.return_offset) {
            return Err("protected calls are not strictly sorted");
        }
        if !self.il_map.is_sorted_by_key(|entry| entry.native_offset) {
            return Err("IL map is not sorted");
        }
        if self.frame_map.as_ref().is_some_and(|map| !map.continued.is_sorted()) {
            return Err("calls of continuations are not sorted");
        }
        if !self.traps.is_sorted_by_key(|trap| trap.offset) {
            return Err("trap table is not sorted");
        }
        let handler_count = self.handlers.len() as u64;
        let end = |call: &ProtectedCall| u64::from(call.first_handler) + u64::from(call.handler_count);
        if self.protected_calls.iter().any(|call| end(call) > handler_count) {
            return Err("protected call names handlers that do not exist");
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

    type Named = BodyTables<&'static str, &'static str, u32>;

    fn sample() -> Named {
        let call = ProtectedCall { return_offset: 32, frame_offset_bytes: 16, first_handler: 0, handler_count: 1 };
        Named {
            frame_size_bytes: 48,
            protected_calls: Box::new([call]),
            handlers: Box::new([EnclosingHandler { clause_index: 1, landing_offset: 128 }]),
            clauses: Box::new([ClauseKind::Catch("type"), ClauseKind::Filter(7), ClauseKind::Finally]),
            inline_sites: Box::new([InlineSite { method: "method", call_position: 3 }]),
            ..Named::default()
        }
    }

    #[test]
    fn binding_changes_references_only() {
        let bound = sample().bind(str::len, |ty| ty.len() * 100, |filter| u64::from(filter) << 32);
        assert_eq!(*bound.clauses, [ClauseKind::Catch(400), ClauseKind::Filter(7 << 32), ClauseKind::Finally]);
        assert_eq!(*bound.inline_sites, [InlineSite { method: 6, call_position: 3 }]);
        assert_eq!((bound.frame_size_bytes, bound.protected_calls), (48, sample().protected_calls));
        assert_eq!(bound.handlers, sample().handlers);
    }

    #[test]
    fn checks_find_indices_out_of_range_and_disorder() {
        let check = |change: fn(&mut Named), expect| {
            let mut tables = sample();
            change(&mut tables);
            assert_eq!(tables.check(), expect);
        };
        check(|_| (), Ok(()));
        check(|t| t.clauses = Box::default(), Err("handler names a clause that does not exist"));
        check(
            |t| t.protected_calls[0].first_handler = u32::MAX,
            Err("protected call names handlers that do not exist"),
        );
        let twice = |t: &mut Named| t.protected_calls = Box::new([t.protected_calls[0]; 2]);
        check(twice, Err("protected calls are not strictly sorted"));
        check(
            |t| t.il_map = Box::new([(8, 0), (4, 1)].map(|(n, i)| IlMapEntry { native_offset: n, il_offset: i })),
            Err("IL map is not sorted"),
        );
        check(
            |t| t.traps = Box::new([9, 8].map(|offset| TrapSite { offset, code: 1 })),
            Err("trap table is not sorted"),
        );
    }
}
