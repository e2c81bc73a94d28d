//! One CIL body being imported: the method itself, an inlined callee, or a filter of either.

use super::evaluation_stack::EvaluationStack;
use super::facts::Noting;
use super::scan::Scan;
use super::state::{BlockLabel, ExceptionInfo, StackEntry, Var, VarRef};
use crate::ir::{BlockId, LocalId, RegionId};
use rustc_hash::FxHashMap;
use saki_metadata::MethodBody;
use saki_sync::SlotPool;
use saki_types::resolve::LocalSig;
use saki_types::{GenericContext, Image, LoadError, LoadResult, Method, MethodSig, Ty};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicU32;

/// The effect of `ret`.
pub(super) enum Return {
    /// Returns from the function.
    Method,
    /// Synchronized method: leaves the protected region through this block, with the result in this local.
    Exit { block: BlockId, result: Option<LocalId> },
    /// Inlined body with one `ret`: where it ended, and the result.
    InlineOnce { end: Option<(BlockId, Option<StackEntry>)> },
    /// Inlined body with several `ret`s.
    InlineJoin { result: Option<LocalId>, continuation: Option<BlockId> },
    /// In a filter.
    Never,
}

/// Prefixes that apply to the next instruction. ECMA-335 §III.2.
#[derive(Clone, Copy, Default)]
pub(super) struct Prefixes {
    pub volatile: bool,
    pub unaligned: bool,
    pub tail: bool,
    pub readonly: bool,
    pub constrained: Option<Ty>,
    /// Bits of `no.`: 1 type checks, 2 range checks, 4 null checks; these are hints, and ignored.
    pub no: u8,
}

pub(super) struct Scope {
    pub method: &'static Method,
    pub image: &'static Image,
    pub context: GenericContext,
    pub sig: &'static MethodSig,
    pub body: MethodBody<'static>,
    pub local_sigs: Vec<LocalSig>,
    pub scan: Scan,
    pub args: Vec<Var>,
    pub locals: Vec<Var>,
    pub stack: EvaluationStack,
    pub labels: FxHashMap<u32, BlockLabel>,
    /// Code offsets of labels to import, lowest first; maybe more than once.
    pub worklist: BinaryHeap<Reverse<u32>>,
    /// Region of code outside every try range of this body.
    pub base_region: Option<RegionId>,
    pub exceptions: ExceptionInfo,
    pub ret: Return,
    pub prefixes: Prefixes,
    /// Offset at which the block being imported begins.
    pub block_start: u32,
    /// How often blocks ran in the first tier, by `Scan::block_number`; empty if that is not known.
    pub block_counts: &'static [AtomicU32],
    /// Offset of the instruction being imported, and of the next one.
    pub offset: u32,
    pub next_offset: u32,
    /// Inlined into another method.
    pub is_inlined: bool,
    /// Inlined into a loop.
    pub is_in_loop: bool,
    /// Number in `ir::position`s; 0 = the function itself, or an inlined body without a number.
    pub inline_site: u32,
    /// In a filter: variables of the method that are bound to locals of the filter, and what they were before.
    pub bound: Vec<(VarRef, Var)>,
    /// Inlined: locals from here on were made for this body.
    pub first_own_local: u32,
    /// The memory of the scope's vectors, returned to the pool afterwards.
    spare: Box<ScopeLists>,
}

/// Vectors of a scope, reused by later scopes: most bodies are small, and allocating them anew costs a tenth of the
/// import.
#[derive(Default)]
struct ScopeLists {
    reached: Vec<u8>,
    args: Vec<Var>,
    locals: Vec<Var>,
    stack: Vec<StackEntry>,
    labels: FxHashMap<u32, BlockLabel>,
    worklist: BinaryHeap<Reverse<u32>>,
}

impl ScopeLists {
    fn clear(&mut self) {
        self.reached.clear();
        self.args.clear();
        self.locals.clear();
        self.stack.clear();
        self.labels.clear();
        self.worklist.clear();
    }
}

static SPARE: SlotPool<ScopeLists> = SlotPool::new();
/// Vectors of longer bodies are not kept.
const MAX_KEPT_CODE_BYTES: usize = 1024;

impl Scope {
    /// # Errors
    /// The errors of the local variables' types; `InvalidProgram` for malformed code.
    pub fn new(
        method: &'static Method,
        sig: &'static MethodSig,
        body: MethodBody<'static>,
        facts: Noting,
    ) -> LoadResult<Box<Scope>> {
        let context = method.context();
        let local_sigs = facts.resolve_locals(method.image(), body.local_var_sig, &context)?;
        let arg_count = sig.params.len() + usize::from(!method.is_static());
        let mut spare = SPARE.take().unwrap_or_default();
        let lists = std::mem::take(&mut *spare);
        let scan = Scan::new(lists.reached, &body, arg_count, local_sigs.len())?;
        Ok(Box::new(Scope {
            method,
            image: method.image(),
            context,
            sig,
            body,
            local_sigs,
            scan,
            args: lists.args,
            locals: lists.locals,
            stack: EvaluationStack::with_memory(lists.stack),
            labels: lists.labels,
            worklist: lists.worklist,
            base_region: None,
            exceptions: ExceptionInfo::default(),
            ret: Return::Method,
            prefixes: Prefixes::default(),
            block_start: 0,
            block_counts: &[],
            offset: 0,
            next_offset: 0,
            is_inlined: false,
            is_in_loop: false,
            inline_site: 0,
            bound: Vec::new(),
            first_own_local: 0,
            spare,
        }))
    }

    /// Makes the scope of a filter ready for the next one of its method.
    pub fn begin_next_filter(&mut self) {
        self.stack.clear();
        self.labels.clear();
        self.worklist.clear();
        self.prefixes = Prefixes::default();
        for (var, before) in self.bound.drain(..) {
            match var {
                VarRef::Arg(index) => self.args[index] = before,
                VarRef::Local(index) => self.locals[index] = before,
            }
        }
    }

    /// Returns the memory of the vectors to the pool.
    pub fn recycle(self: Box<Scope>) {
        let Scope { mut spare, args, locals, stack, labels, worklist, scan, .. } = *self;
        *spare =
            ScopeLists { reached: scan.into_reached(), args, locals, stack: stack.into_memory(), labels, worklist };
        if spare.reached.capacity() > MAX_KEPT_CODE_BYTES {
            return;
        }
        spare.clear();
        SPARE.give(spare);
    }

    /// Type of argument `index`, `this` included.
    ///
    /// # Errors
    /// `InvalidProgram`: no such argument.
    pub fn arg_type(&self, index: usize) -> LoadResult<Ty> {
        let missing = || LoadError::invalid_program(format!("there is no argument {index}"));
        if self.method.is_static() {
            return self.sig.params.get(index).copied().ok_or_else(missing);
        }
        match index.checked_sub(1) {
            Some(index) => self.sig.params.get(index).copied().ok_or_else(missing),
            None if self.method.owner.is_value_type() => Ok(saki_types::universe().byref_to(self.method.owner)),
            None => Ok(self.method.owner),
        }
    }

    /// The number of arguments, `this` included.
    pub fn arg_count(&self) -> usize {
        self.sig.params.len() + usize::from(!self.method.is_static())
    }

    /// Whether the instruction being imported lies in a handler or filter of its body.
    pub fn is_in_handler(&self) -> bool {
        matches!(self.ret, Return::Never) || self.exceptions.handlers.at(self.offset).next().is_some()
    }

    /// Rejects a branch into a handler, which only an exception may enter. ECMA-335 §III.1.7.2.
    pub fn check_not_into_handler(&self, target: u32) -> LoadResult<()> {
        let offset = self.offset;
        if self.exceptions.handlers.left(target, offset).next().is_some() {
            return Err(LoadError::invalid_program(format!("IL_{offset:04x} goes into a handler, at IL_{target:04x}")));
        }
        Ok(())
    }

    /// Innermost region that protects the code at `offset`.
    pub fn region_at(&self, offset: u32) -> Option<RegionId> {
        let innermost = self.exceptions.tries.at(offset).next();
        innermost.map(|try_block| self.exceptions.region(try_block)).or(self.base_region)
    }

    /// Queues the handlers of the regions around a block that is imported.
    pub fn enter_handlers_of(&mut self, offset: u32) {
        let ExceptionInfo { tries, clauses_of, clauses, entered, first_region, .. } = &mut self.exceptions;
        for try_block in tries.at(offset) {
            if entered.insert(RegionId(*first_region + try_block as u32)) {
                let starts = clauses_of[try_block].iter().map(|&clause| clauses[clause].handler_range.start);
                self.worklist.extend(starts.map(Reverse));
            } else if tries.is_nested() {
                // The regions around it were entered with it.
                break;
            }
        }
    }
}
