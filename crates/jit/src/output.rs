//! The result of a compilation: bytes and tables, all relative to the start of the code.

use crate::symbols::RelocTarget;
use saki_abi::BodyTables;
use saki_types::{Method, Ty};
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

/// The tables of code that is not placed; a filter is an index into [`CompiledCode::filters`].
pub type CompiledTables = BodyTables<&'static Method, Ty, u32>;

/// Machine code of one function, ready to be placed.
#[derive(Clone, Debug, Default)]
pub struct CompiledCode {
    pub name: Cow<'static, str>,
    /// Code, then its constants.
    pub bytes: Vec<u8>,
    /// Required alignment of the first byte.
    pub alignment_bytes: u32,
    pub relocs: Vec<Reloc>,
    pub tables: CompiledTables,
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
