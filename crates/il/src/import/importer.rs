//! The state of one import: the function under construction, the body being read, and what is known at this place.

use super::builder::FnBuilder;
use super::facts::Noting;
use super::options::ImportOptions;
use super::scope::Scope;
use crate::ir::{LocalId, MemType, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_types::{LoadError, Method, Ty};

/// See the module header.
pub(super) struct Importer<'e> {
    pub(super) facts: Noting<'e>,
    pub(super) options: &'e ImportOptions,
    /// The outermost method.
    pub(super) method: &'static Method,
    pub(super) b: FnBuilder,
    pub(super) s: Box<Scope>,
    /// While a filter is imported: the function that contains it.
    pub(super) parent: Option<Box<FnBuilder>>,
    /// Load errors that the emitted code throws.
    pub(super) deferred: Vec<LoadError>,
    /// Locals of small integer types: their values are always in range.
    pub(super) narrow_locals: FxHashMap<LocalId, MemType>,
    /// Calls whose result is of a small integer type, with its range.
    pub(super) narrow_calls: FxHashMap<ValueId, (i32, i32)>,
    /// Locals of joins whose type was widened after a predecessor had written them.
    pub(super) widened_joins: Vec<LocalId>,
    /// Types whose constructors ran earlier in the current block, or in the prologue.
    pub(super) initialised_here: Vec<Ty>,
    pub(super) initialised_at_entry: Vec<Ty>,
    /// Unexposed reference locals known, in the current block, to be non-null, with their exact type if that is known.
    pub(super) known_locals: FxHashMap<LocalId, Option<Ty>>,
    /// Struct temps (including copies for callees) that are free again because their last call has been emitted, with their types.
    pub(super) free_temps: Vec<(Ty, LocalId)>,
    /// Temps that hold arguments of the call being made.
    pub(super) argument_temps: Vec<(Ty, LocalId)>,
    /// Methods being inlined, outermost first.
    pub(super) inlining: Vec<&'static Method>,
    /// Methods found not to be inlinable at a limit of bytes.
    pub(super) not_inlinable: FxHashSet<(&'static Method, usize)>,
    /// Parameter that holds the address of the variable arguments.
    pub(super) arg_block: Option<LocalId>,
    /// CIL bytes that may still be inlined.
    pub(super) inline_budget_bytes: u32,
    pub(super) has_loops: bool,
    pub(super) has_calls: bool,
    /// See `Facts::statements`.
    pub(super) statements: Vec<u32>,
}
