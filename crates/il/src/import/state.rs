//! What the import of a body remembers: entries of the simulated stack, variables, blocks, try regions.
//!
//! Plain data, so that `scope` can hold it and the files that work on it can name the importer: `stack`, `vars`,
//! `blocks`, `exceptions`.

use super::ranges::RangeIndex;
use crate::ir::{BlockId, IrType, LocalId, MemFlags, RegionId, Symbol, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_metadata::EhKind;
use saki_types::{Method, Ty};
use std::ops::Range;

/// Where an entry's value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Val {
    Scalar(ValueId),
    /// A struct in a local that belongs to this entry alone.
    Temp(LocalId),
    /// A struct at a byte offset in a local that others may write.
    InLocal(LocalId, i32),
    /// A struct in memory; the address has been null-checked.
    InMemory {
        addr: ValueId,
        offset: i32,
        flags: MemFlags,
    },
    /// The result of this getter of `EqualityComparer<T>.Default`, which has not been called yet.
    DefaultComparer(&'static Method),
    /// A RuntimeTypeHandle, RuntimeMethodHandle or RuntimeFieldHandle.
    Handle(Symbol),
}

/// A further fact about a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Note {
    None,
    /// Code address of a method, by `ldftn` or `ldvirtftn`.
    Function(&'static Method),
    /// A delegate that calls this method alone, made in this function.
    Delegate(&'static Method),
    /// The System.Type object of this type.
    TypeObject(Ty),
    /// `this` of the method: never a transparent proxy, since a call on a proxy does not get here.
    This,
}

/// What is on the simulated evaluation stack, see `stack`.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackEntry {
    pub ir: IrType,
    pub val: Val,
    /// Static type, where known.
    pub ty: Option<Ty>,
    /// The object's type is exactly `ty`.
    pub is_exact: bool,
    pub is_non_null: bool,
    pub note: Note,
}

impl StackEntry {
    /// A value of which no more than its IR type is known.
    pub fn scalar(value: ValueId, ir: IrType) -> StackEntry {
        StackEntry { ir, val: Val::Scalar(value), ty: None, is_exact: false, is_non_null: false, note: Note::None }
    }

    /// A struct of exactly this type.
    pub fn of_struct(val: Val, ty: Ty) -> StackEntry {
        StackEntry { ir: IrType::Struct(ty), val, ty: Some(ty), is_exact: true, is_non_null: false, note: Note::None }
    }

    /// With a static type.
    pub fn with_type(mut self, ty: Ty) -> StackEntry {
        self.ty = Some(ty);
        self
    }

    /// Known not to be null.
    pub fn non_null(mut self) -> StackEntry {
        self.is_non_null = true;
        self
    }

    /// With a static type, which the object has exactly.
    pub fn exact(mut self, ty: Ty) -> StackEntry {
        self.ty = Some(ty);
        self.is_exact = true;
        self
    }
}

/// How an argument or local variable is represented.
#[derive(Clone, Copy)]
pub(super) enum Binding {
    Local(LocalId),
    /// Never written and its address never taken: the caller's operand.
    Operand(StackEntry),
    /// In a filter, before its first use: the parent's local.
    Parent(LocalId),
}

/// An argument or local variable.
#[derive(Clone, Copy)]
pub(super) struct Var {
    pub binding: Binding,
    pub ty: Ty,
    /// `this` of a reference type.
    pub is_this: bool,
    /// The type that the variable's object is known to have exactly.
    pub is_exact: bool,
}

/// Selects an argument or a local variable of the current body.
#[derive(Clone, Copy)]
pub(super) enum VarRef {
    Arg(usize),
    Local(usize),
}

/// The block at a code offset.
pub(super) struct BlockLabel {
    pub block: BlockId,
    /// Stack at the start; values are meaningful only when `joins` is None.
    pub entries: Vec<StackEntry>,
    pub joins: Option<Vec<LocalId>>,
    /// Handler of a catch or filter clause: the stack holds the exception in this local.
    pub exception: Option<LocalId>,
    pub is_imported: bool,
    /// Whether the block hardly ever runs, as far as the edges so far show.
    pub is_cold: bool,
    /// Whether an edge leads here.
    pub is_entered: bool,
    /// Whether code of the first tier counts it, since a branch leads here and nothing else does.
    pub is_counted: bool,
}

impl BlockLabel {
    /// A block that is to be imported with this stack.
    pub fn new(block: BlockId, entries: Vec<StackEntry>) -> BlockLabel {
        BlockLabel {
            block,
            entries,
            joins: None,
            exception: None,
            is_imported: false,
            is_cold: false,
            is_entered: false,
            is_counted: false,
        }
    }
}

/// One exception clause of the body.
pub(super) struct ClauseInfo {
    pub index: u32,
    pub kind: EhKind,
    pub handler_range: Range<u32>,
    pub filter_offset: Option<u32>,
    pub exception: LocalId,
    /// Finally: see the header of `exceptions`.
    pub selector: Option<LocalId>,
    /// Finally: where `endfinally` jumps, made on first use.
    pub dispatch: Option<BlockId>,
    /// Finally: the blocks that continue at the targets of the leaves; selector = index + 1.
    pub continuations: Vec<BlockId>,
    /// Finally: the indices of the continuations by the targets of the leaves.
    pub continuation_of: FxHashMap<u32, usize>,
}

/// The try regions and clauses of a body.
#[derive(Default)]
pub(super) struct ExceptionInfo {
    /// The try blocks; the function's regions from `first_region` on are theirs.
    pub tries: RangeIndex,
    pub first_region: u32,
    /// By try block: its clauses.
    pub clauses_of: Vec<Vec<usize>>,
    pub clauses: Vec<ClauseInfo>,
    pub handlers: RangeIndex,
    /// By number of a range in `handlers`: the clause.
    pub handler_clauses: Vec<usize>,
    pub entered: FxHashSet<RegionId>,
}

impl ExceptionInfo {
    /// The region of a try block.
    pub fn region(&self, try_block: usize) -> RegionId {
        RegionId(self.first_region + try_block as u32)
    }

    /// The clauses whose handlers contain the offset, innermost first.
    pub fn handlers_at(&self, offset: u32) -> impl Iterator<Item = usize> + '_ {
        self.handlers.at(offset).map(|range| self.handler_clauses[range])
    }

    /// The clauses whose handlers a jump from one offset to another leaves, innermost first.
    pub fn left_handlers(&self, from: u32, to: u32) -> impl Iterator<Item = usize> + '_ {
        self.handlers.left(from, to).map(|range| self.handler_clauses[range])
    }
}
