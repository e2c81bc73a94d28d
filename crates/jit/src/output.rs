//! The result of a compilation: bytes and tables, all relative to the start of the code.

use crate::symbols::RelocTarget;
use saki_abi::SpillArea;
use saki_il::ir::{Clause, InlineSite};
use std::borrow::Cow;

/// Origin of a body's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CompiledBy {
    Baseline,
    /// Cranelift, without its mid-end.
    Quick,
    #[default]
    Optimising,
    /// An earlier run, from whose code cache the body was loaded.
    EarlierRun,
}

/// Machine code of one function, ready to be placed.
#[derive(Clone, Debug, Default)]
pub struct CompiledCode {
    pub name: Cow<'static, str>,
    /// Code, then its constants.
    pub bytes: Vec<u8>,
    /// Required alignment of the first byte.
    pub alignment_bytes: u32,
    pub relocs: Vec<Reloc>,
    /// Calls that have handlers, sorted by `return_offset`.
    pub call_sites: Vec<CallSite>,
    /// Handlers of all call sites, see `CallSite::first_handler`.
    pub handlers: Vec<Handler>,
    /// The function's exception clauses; handlers and filters are named by index.
    pub clauses: Vec<Clause>,
    /// Instructions that may trap, sorted by offset.
    pub traps: Vec<TrapSite>,
    /// Sorted by `native_offset`; an entry holds up to the next one.
    pub il_map: Vec<IlMapEntry>,
    /// Bodies inlined into the function; `abi::position`s number them from 1.
    pub inline_sites: Vec<InlineSite>,
    /// Bytes from FP down to SP after the prologue.
    pub frame_size_bytes: u32,
    /// Where the register allocator's words lie; `None` = unknown.
    pub spill_area: Option<SpillArea>,
    /// Code of the filter functions, in the order of `Function::filters`.
    pub filters: Vec<CompiledCode>,
    pub compiled_by: CompiledBy,
}

/// A place in the code that must be patched.
#[derive(Clone, Debug, PartialEq)]
pub struct Reloc {
    /// Bytes from the start of the code.
    pub offset: u32,
    pub kind: RelocKind,
    pub target: RelocTarget,
    /// Added to the target's address.
    pub addend: i64,
}

/// How to patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelocKind {
    /// 8 bytes: target + addend.
    Abs8,
    /// 4 bytes of a call or jump: target + addend − address of the field (the addend is −4). The target is within ±2 GiB. May be
    /// changed later, to lead to a method's code instead of its entry.
    X86CallPcRel4,
    /// As `X86CallPcRel4`, in an instruction that loads the address. The address of a method is always that of its entry, so that all
    /// function pointers to a method are equal.
    X86PcRel4,
    /// `bl`/`b`: 26-bit word offset. The target is within ±128 MiB.
    Arm64Call,
    /// `adrp`: 21-bit page offset.
    Arm64AdrPage21,
    /// `add`: low 12 bits of the address.
    Arm64AddLow12,
}

/// A call with handlers around it; the layout of `code::CallSite`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Return address, in bytes from the start of the code.
    pub return_offset: u32,
    /// Landing: SP = FP − this.
    pub frame_offset_bytes: u32,
    /// Index of the innermost handler in `CompiledCode::handlers`.
    pub first_handler: u32,
    pub handler_count: u32,
}

/// One handler that encloses a call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// Index into `CompiledCode::clauses`.
    pub clause_index: u32,
    /// Landing pad, in bytes from the start of the code.
    pub landing_offset: u32,
}

/// An instruction that may trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapSite {
    pub offset: u32,
    /// Raw trap code: `saki_abi::stubs::trap`.
    pub code: u8,
}

/// Native → IL position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IlMapEntry {
    pub native_offset: u32,
    /// An `abi::position`.
    pub il_offset: u32,
}

impl CompiledCode {
    /// Handlers around a call site, innermost first.
    pub fn handlers_of(&self, site: &CallSite) -> &[Handler] {
        let first = site.first_handler as usize;
        &self.handlers[first..first + site.handler_count as usize]
    }
}
