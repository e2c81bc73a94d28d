//! What the translation of a function remembers: storage of its locals, facts, landing pads and cold blocks that are still to be emitted.
//!
//! Plain data, so that [`super::Lowering`] can hold it and the files that work on it can name that: `locals`, `facts`, `homes`, `exceptions`.

use crate::liveness::Liveness;
use crate::type_facts::ValueLayout;
use cranelift_codegen::entity::packed_option::PackedOption;
use cranelift_codegen::ir::{Block as ClifBlock, StackSlot, Value};
use cranelift_frontend::Variable;
use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::HelperId;
use saki_il::ir::{BlockId, RegionId};
use saki_types::Ty;

/// Storage of a local.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Variable(Variable),
    Slot(StackSlot),
    /// Struct parameter: the incoming pointer.
    Pointer(Value),
    /// In a filter: address is the parent's FP plus the offset; `indirect`: a pointer to the local is there.
    Parent {
        fp_offset: i32,
        indirect: bool,
    },
    /// A local without a value (`Void`).
    Nothing,
}

/// Frame layout of a method with filters: the slots of its locals.
#[derive(Default, Debug)]
pub(crate) struct ParentFrame {
    /// By local number: offset from FP, and whether the slot holds a pointer to the local.
    pub slots: FxHashMap<u32, (i32, bool)>,
}

/// Key bit of slots that hold a pointer to a struct parameter.
pub(crate) const INDIRECT_KEY: u64 = 1 << 32;

/// Stack slots for copies of struct arguments; free again after the call.
#[derive(Default)]
pub(super) struct StructTemps {
    pub(super) free: Vec<(ValueLayout, StackSlot)>,
    pub(super) used: Vec<(ValueLayout, StackSlot)>,
}

/// Facts that hold in a block, see `facts`.
#[derive(Default)]
pub(super) struct BlockFacts {
    pub(super) parent: Option<BlockId>,
    pub(super) not_null: FxHashSet<Value>,
    pub(super) in_bounds: FxHashSet<(Value, Value)>,
    pub(super) lengths: FxHashMap<Value, Value>,
    pub(super) initialized: Vec<Ty>,
    /// IR values whose null check has been left to the next access through them.
    pub(super) checked_by_access: Vec<saki_il::ir::ValueId>,
}

/// A throwing cold block: shared by checks of one kind at one IL offset in one region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct PendingThrow {
    pub(super) region: Option<RegionId>,
    pub(super) helper: HelperId,
    pub(super) il_offset: u32,
}

/// The landing pads of a clause: for calls whose locals are in variables, and for calls that left them in their homes.
#[derive(Clone, Copy, Default)]
pub(super) struct Landings {
    pub(super) from_variables: PackedOption<ClifBlock>,
    pub(super) from_homes: PackedOption<ClifBlock>,
}

/// A landing pad to be emitted.
#[derive(Clone, Copy)]
pub(super) struct PendingLanding {
    pub(super) clause: u32,
    pub(super) block: ClifBlock,
    pub(super) from_homes: bool,
}

/// Exception and unwind token that entered a finally or fault handler.
pub(super) type InFlight = [Variable; 2];

/// State of the function's homes.
#[derive(Default)]
pub(super) struct Homes {
    pub(super) liveness: Option<Liveness>,
    pub(super) slots: FxHashMap<u32, StackSlot>,
}
