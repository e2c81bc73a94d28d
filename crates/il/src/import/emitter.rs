//! The state of the code being emitted: the function under construction, the body being read, and what is known here.
//!
//! Everything that emits code for an instruction is a method of `Emitter`, in the file of its family. None of them can
//! import another body: that, and what it needs to know (`importer`), lies above.

use super::builder::FnBuilder;
use super::facts::Noting;
use super::options::ImportOptions;
use super::scope::Scope;
use super::state::Note;
use crate::ir::{Decision, LocalId, MemType, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::HelperId;
use saki_types::{LoadError, Method, Ty};

/// See the module header.
pub(super) struct Emitter<'e> {
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
    pub(super) known: Knowledge,
    /// Locals of joins whose type was widened after a predecessor had written them.
    pub(super) widened_joins: Vec<LocalId>,
    pub(super) temps: CallTemps,
    /// Parameter that holds the address of the variable arguments.
    pub(super) arg_block: Option<LocalId>,
    pub(super) has_loops: bool,
    pub(super) has_calls: bool,
    /// Whether the code makes pointers, which can be kept anywhere, of byrefs.
    pub(super) makes_pointers: bool,
    /// Whether the code counts the rounds of a loop.
    pub(super) counts_loops: bool,
    /// See `Facts::statements`.
    pub(super) statements: Vec<u32>,
}

/// What is known of values at the current place.
#[derive(Default)]
pub(super) struct Knowledge {
    /// Locals of small integer types: their values are always in range.
    pub(super) narrow_locals: FxHashMap<LocalId, MemType>,
    /// Calls whose result is of a small integer type, with its range.
    pub(super) narrow_calls: FxHashMap<ValueId, (i32, i32)>,
    /// Types whose constructors ran earlier in the current block.
    pub(super) initialised_here: FxHashSet<Ty>,
    /// Types whose constructors ran in the prologue.
    pub(super) initialised_at_entry: Vec<Ty>,
    /// Unexposed reference locals known, in the current block, to be non-null.
    pub(super) known_locals: FxHashMap<LocalId, KnownObject>,
}

/// What is known of the object that a local holds.
pub(super) struct KnownObject {
    pub(super) exact: Option<Ty>,
    /// A delegate's method, if that is known.
    pub(super) note: Note,
}

impl Default for KnownObject {
    fn default() -> Self {
        KnownObject { exact: None, note: Note::None }
    }
}

impl Knowledge {
    /// Forgets the facts that hold only within the block that was current.
    pub(super) fn forget_block(&mut self) {
        self.initialised_here.clear();
        self.known_locals.clear();
    }
}

/// Struct temps (including copies for callees), with their types.
#[derive(Default)]
pub(super) struct CallTemps {
    /// Those that are free again because their last call has been emitted.
    pub(super) free: Vec<(Ty, LocalId)>,
    /// Those that hold arguments of the call being made.
    pub(super) of_arguments: Vec<(Ty, LocalId)>,
}

impl Emitter<'_> {
    /// Notes what is decided about the current instruction.
    pub(super) fn decide(&mut self, text: impl FnOnce() -> String) {
        if self.options.explain {
            let (method, il_offset) = (Some(self.s.method), self.s.offset);
            self.b.f.decisions.push(Decision { method, il_offset, text: text() });
        }
    }

    /// Code that throws a load error; ends the block.
    pub(super) fn throw_deferred(&mut self, error: LoadError) {
        let index = self.deferred.len() as i32;
        self.deferred.push(error);
        self.has_calls = true;
        let index = self.b.i32(index);
        self.b.helper(HelperId::ThrowDeferred, vec![index]);
        self.b.mark_cold();
        self.b.terminate(Terminator::Unreachable);
    }
}
