//! One CIL body being imported: the method itself, an inlined callee, or a filter of either.

use super::facts::Noting;
use super::scan::Scan;
use super::state::{Entry, ExceptionInfo, Label, Var};
use crate::ir::{BlockId, LocalId, RegionId};
use rustc_hash::FxHashMap;
use saki_metadata::MethodBody;
use saki_sync::SlotPool;
use saki_types::resolve::LocalSig;
use saki_types::{GenericContext, Image, LoadError, LoadResult, Method, MethodSig, Ty};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The effect of `ret`.
pub(super) enum Return {
    /// Returns from the function.
    Method,
    /// Synchronized method: leaves the protected region through this block, with the result in this local.
    Exit { block: BlockId, result: Option<LocalId> },
    /// Inlined body with one `ret`: where it ended, and the result.
    InlineOnce { end: Option<(BlockId, Option<Entry>)> },
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
    pub stack: Vec<Entry>,
    pub labels: FxHashMap<u32, Label>,
    /// Code offsets of labels to import, lowest first; maybe more than once.
    pub worklist: BinaryHeap<Reverse<u32>>,
    /// Region of code outside every try range of this body.
    pub base_region: Option<RegionId>,
    pub exceptions: ExceptionInfo,
    pub ret: Return,
    pub prefixes: Prefixes,
    /// Offset of the instruction being imported, and of the next one.
    pub offset: u32,
    pub next_offset: u32,
    /// Inlined into another method.
    pub is_inlined: bool,
    /// Inlined into a loop.
    pub is_in_loop: bool,
    /// Number in `ir::position`s; 0 = the function itself, or an inlined body without a number.
    pub inline_site: u32,
    /// Inlined: locals from here on were made for this body.
    pub first_own_local: u32,
    /// The memory of the scope's vectors, returned to the pool afterwards.
    spare: Box<Lists>,
}

/// Vectors of a scope, reused by later scopes: most bodies are small, and allocating them anew costs a tenth of the import.
#[derive(Default)]
struct Lists {
    reached: Vec<u8>,
    args: Vec<Var>,
    locals: Vec<Var>,
    stack: Vec<Entry>,
    labels: FxHashMap<u32, Label>,
    worklist: BinaryHeap<Reverse<u32>>,
}

impl Lists {
    fn clear(&mut self) {
        self.reached.clear();
        self.args.clear();
        self.locals.clear();
        self.stack.clear();
        self.labels.clear();
        self.worklist.clear();
    }
}

static SPARE: SlotPool<Lists> = SlotPool::new();
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
            stack: lists.stack,
            labels: lists.labels,
            worklist: lists.worklist,
            base_region: None,
            exceptions: ExceptionInfo::default(),
            ret: Return::Method,
            prefixes: Prefixes::default(),
            offset: 0,
            next_offset: 0,
            is_inlined: false,
            is_in_loop: false,
            inline_site: 0,
            first_own_local: 0,
            spare,
        }))
    }

    /// Returns the memory of the vectors to the pool.
    pub fn recycle(self: Box<Scope>) {
        let Scope { mut spare, args, locals, stack, labels, worklist, scan, .. } = *self;
        *spare = Lists { reached: scan.into_reached(), args, locals, stack, labels, worklist };
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

    pub fn arg_count(&self) -> usize {
        self.sig.params.len() + usize::from(!self.method.is_static())
    }
}
