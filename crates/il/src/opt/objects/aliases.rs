//! Which values are certainly the object that an allocation has made last, or an address in it.
//!
//! A variable holds the object where one assignment alone reaches. Reaching assignments are found by a flow over the
//! blocks; each block in a protected region also leads to the region's handlers, with what holds at its beginning and
//! behind each assignment. The function's beginning counts as an assignment.

use super::sites::Sites;
use crate::ir::{BinOp, Function, IrType, LocalId, LocalKind, Op, ValueId, verify};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_types::Ty;

/// Addresses further from the object's start are not followed.
const MAX_OFFSET_BYTES: u64 = 1 << 20;
/// Steps from a value to the allocation, at most.
const MAX_STEPS: u32 = 64;
/// Pairs of block and variable, at most.
const MAX_FLOW: usize = 2_000_000;

/// An address: so many bytes behind the beginning of the object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Alias {
    pub site: ValueId,
    pub offset: i32,
}

/// What reaches a place of a variable: one assignment (the function's beginning is one), or several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reaching {
    Beginning,
    Set(ValueId),
    Several,
}

impl Reaching {
    fn join(self, other: Reaching) -> Reaching {
        if self == other { self } else { Reaching::Several }
    }
}

/// See the module header.
pub(super) struct Aliases {
    of: FxHashMap<ValueId, Alias>,
    /// Variables that are followed.
    tracked: FxHashMap<LocalId, usize>,
    /// Those of them that are read where several assignments reach.
    merged: FxHashSet<LocalId>,
    is_reachable: Vec<bool>,
}

impl Aliases {
    /// Finds them.
    pub fn of(function: &Function, sites: &Sites) -> Aliases {
        let mut aliases = Aliases {
            of: FxHashMap::default(),
            tracked: FxHashMap::default(),
            merged: FxHashSet::default(),
            is_reachable: vec![false; function.blocks.len()],
        };
        aliases.track(function, sites);
        let starts = aliases.flow(function);
        let mut sources: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        for (block, start) in starts.into_iter().enumerate() {
            let Some(mut state) = start else { continue };
            aliases.is_reachable[block] = true;
            for value in &function.blocks[block].insts {
                match function.insts[value.0 as usize].op {
                    Op::LocalSet(local, _) => {
                        if let Some(&index) = aliases.tracked.get(&local) {
                            state[index] = Reaching::Set(*value);
                        }
                    }
                    Op::LocalGet(local) => match aliases.tracked.get(&local).map(|&index| state[index]) {
                        Some(Reaching::Set(set)) => {
                            if let Op::LocalSet(_, stored) = function.insts[set.0 as usize].op {
                                sources.insert(*value, stored);
                            }
                        }
                        Some(Reaching::Several) => {
                            aliases.merged.insert(local);
                        }
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        let mut resolver = Resolver { function, sites, sources: &sources, known: FxHashMap::default() };
        for value in function.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(alias) = resolver.resolve(*value, MAX_STEPS) {
                aliases.of.insert(*value, alias);
            }
        }
        aliases
    }

    /// The object into which a value certainly leads.
    pub fn get(&self, value: ValueId) -> Option<Alias> {
        self.of.get(&value).copied()
    }

    /// The object that a value is, as opposed to an address in it.
    pub fn object(&self, value: ValueId) -> Option<ValueId> {
        self.get(value).filter(|alias| alias.offset == 0).map(|alias| alias.site)
    }

    /// Whether it is followed what the variable holds.
    pub fn is_tracked(&self, local: LocalId) -> bool {
        self.tracked.contains_key(&local)
    }

    /// Whether the variable is read where it may hold one of several things.
    pub fn is_merged(&self, local: LocalId) -> bool {
        self.merged.contains(&local)
    }

    /// Whether control can reach the block.
    pub fn is_reachable(&self, block: usize) -> bool {
        self.is_reachable[block]
    }

    /// Finds the variables to which an object, or an address in it, may be assigned.
    fn track(&mut self, function: &Function, sites: &Sites) {
        let mut may_be = vec![false; function.insts.len()];
        loop {
            let before = self.tracked.len();
            for value in function.blocks.iter().flat_map(|block| &block.insts) {
                let may = match function.insts[value.0 as usize].op {
                    Op::NewObject(_) => sites.get(*value).is_some(),
                    Op::LocalGet(local) => self.tracked.contains_key(&local),
                    Op::LocalSet(local, stored) => {
                        if may_be[stored.0 as usize] && is_variable(function, local) {
                            let next = self.tracked.len();
                            self.tracked.entry(local).or_insert(next);
                        }
                        false
                    }
                    Op::Bin(BinOp::Add, a, _) | Op::CastClass(a, _) | Op::IsInst(a, _) | Op::Unbox(a, _) => {
                        may_be[a.0 as usize]
                    }
                    _ => false,
                };
                may_be[value.0 as usize] |= may;
            }
            if self.tracked.len() == before {
                break;
            }
        }
        if self.tracked.len() * function.blocks.len() > MAX_FLOW {
            self.tracked.clear();
        }
    }

    /// By block, what reaches the variables at its beginning; None: it cannot be reached.
    fn flow(&self, function: &Function) -> Vec<Option<Vec<Reaching>>> {
        let count = self.tracked.len();
        let mut starts: Vec<Option<Vec<Reaching>>> = vec![None; function.blocks.len()];
        starts[0] = Some(vec![Reaching::Beginning; count]);
        let mut pending = vec![0];
        while let Some(block) = pending.pop() {
            let Some(mut state) = starts[block].clone() else { continue };
            let body = &function.blocks[block];
            let mut thrown = state.clone();
            for value in &body.insts {
                if let Op::LocalSet(local, _) = function.insts[value.0 as usize].op
                    && let Some(&index) = self.tracked.get(&local)
                {
                    state[index] = Reaching::Set(*value);
                    thrown[index] = thrown[index].join(state[index]);
                }
            }
            verify::successors(&body.terminator, &mut |to| enter(&mut starts, &mut pending, to.0 as usize, &state));
            let mut region = body.region;
            while let Some(id) = region {
                let info = &function.regions[id.0 as usize];
                for &clause in &info.clauses {
                    let handler = function.clauses[clause as usize].handler.0 as usize;
                    enter(&mut starts, &mut pending, handler, &thrown);
                }
                region = info.parent;
            }
        }
        starts
    }
}

/// Adds what holds on an edge to what holds at the beginning of the block to which it leads.
fn enter(starts: &mut [Option<Vec<Reaching>>], pending: &mut Vec<usize>, block: usize, state: &[Reaching]) {
    let Some(start) = &mut starts[block] else {
        starts[block] = Some(state.to_vec());
        pending.push(block);
        return;
    };
    let mut has_changed = false;
    for (old, new) in start.iter_mut().zip(state) {
        let joined = old.join(*new);
        has_changed |= joined != *old;
        *old = joined;
    }
    if has_changed {
        pending.push(block);
    }
}

/// Whether assignments are all that changes the local.
fn is_variable(function: &Function, local: LocalId) -> bool {
    let info = &function.locals[local.0 as usize];
    let is_word = matches!(info.ty, IrType::Ref | IrType::ByRef | IrType::I64);
    let is_shared = || {
        let parent = LocalKind::ParentSlot(local);
        function.filters.iter().any(|filter| filter.locals.iter().any(|inner| inner.kind == parent))
    };
    is_word && !info.address_exposed && !info.pinned && !info.kind.is_elsewhere() && !is_shared()
}

/// Follows values back to allocations.
struct Resolver<'a> {
    function: &'a Function,
    sites: &'a Sites,
    /// What was assigned to the variable that a value reads.
    sources: &'a FxHashMap<ValueId, ValueId>,
    known: FxHashMap<ValueId, Option<Alias>>,
}

impl Resolver<'_> {
    fn resolve(&mut self, value: ValueId, steps: u32) -> Option<Alias> {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let steps = steps.checked_sub(1)?;
        let found = match self.function.insts[value.0 as usize].op {
            Op::NewObject(_) => self.sites.get(value).map(|_| Alias { site: value, offset: 0 }),
            Op::LocalGet(_) => self.sources.get(&value).copied().and_then(|source| self.resolve(source, steps)),
            Op::Bin(BinOp::Add, base, amount) => match self.function.insts[amount.0 as usize].op {
                Op::ConstI64(bytes) if bytes.unsigned_abs() < MAX_OFFSET_BYTES => {
                    let base = self.resolve(base, steps);
                    base.map(|base| Alias { offset: base.offset + bytes as i32, ..base })
                        .filter(|alias| u64::from(alias.offset.unsigned_abs()) < MAX_OFFSET_BYTES)
                }
                _ => None,
            },
            Op::CastClass(object, ty) | Op::IsInst(object, ty) => {
                self.resolve(object, steps).filter(|alias| alias.offset == 0 && self.is_a(*alias, ty))
            }
            Op::Unbox(object, ty) => {
                let alias = self.resolve(object, steps).filter(|alias| alias.offset == 0);
                alias
                    .filter(|alias| self.sites.get(alias.site).is_some_and(|site| site.ty == ty))
                    .map(|alias| Alias { offset: OBJECT_HEADER_BYTES as i32, ..alias })
            }
            _ => None,
        };
        self.known.insert(value, found);
        found
    }

    /// Whether a cast of the object to the type certainly succeeds.
    fn is_a(&self, alias: Alias, ty: Ty) -> bool {
        self.sites.get(alias.site).is_some_and(|site| site.ty.is_assignable_to(ty).unwrap_or(false))
    }
}
