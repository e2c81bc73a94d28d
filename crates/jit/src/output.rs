//! The result of a compilation: bytes, relocations (`abi::reloc`) and tables (`abi::tables`), all relative to the start
//! of the code.

use crate::symbols::RelocTarget;
use saki_abi::{BodyTables, Reloc};
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
    pub relocs: Vec<Reloc<RelocTarget>>,
    pub tables: CompiledTables,
    /// Code of the filter functions, in the order of `Function::filters`.
    pub filters: Vec<CompiledCode>,
    pub compiled_by: CompiledBy,
    /// Whether the code counts, towards its method's next tier.
    pub is_counted: bool,
    /// Whether it is that of a `Function::is_continuation`.
    pub is_continuation: bool,
}
