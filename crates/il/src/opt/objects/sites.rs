//! The allocations of a function, with what is known of the objects that they make.

use super::reasons::Escape;
use crate::delegate_layout::{DelegateFields, DelegateKind, delegate_kind, is_made_in_line};
use crate::import::kinds::mem_type as memory_type;
use crate::ir::{CallTarget, Function, IrType, LocalKind, Op, Symbol, ValueId};
use crate::opt::leaves::{Leaf, access_bytes, leaves};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::HelperId;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_types::ty::type_flags;
use saki_types::{LoadResult, Ty, universe};

/// Objects of more scalar fields stay objects.
const MAX_LEAVES: usize = 16;
/// Larger boxes stay objects.
const MAX_BOX_BYTES: u32 = 256;

/// An allocation.
pub(super) struct Site {
    pub ty: Ty,
    pub size_bytes: u32,
    /// The scalars of the object, by offset from its start. None: a boxed value that stays in memory, in the frame.
    pub leaves: Option<Vec<Leaf>>,
    /// Of a delegate: what it was made of.
    pub delegate: Option<Delegate>,
    /// Why the object is allocated in any case.
    pub refusal: Option<Escape>,
}

/// What a delegate was made of, by its `DelegateInit`.
pub(super) struct Delegate {
    pub init: ValueId,
    pub target: ValueId,
    pub code: ValueId,
    pub method: ValueId,
    pub kind: DelegateKind,
    pub fields: DelegateFields,
}

/// The allocations, by the value that each defines.
pub(super) struct Sites {
    of: FxHashMap<ValueId, Site>,
    order: Vec<ValueId>,
}

impl Sites {
    /// Those in blocks that have any instructions.
    pub fn of(function: &Function) -> Sites {
        let mut sites = Sites { of: FxHashMap::default(), order: Vec::new() };
        for value in function.blocks.iter().flat_map(|block| &block.insts) {
            if let Op::NewObject(ty) = function.insts[value.0 as usize].op
                && !ty.mentions_stand_in()
                && let Ok(site) = site(ty)
            {
                sites.of.insert(*value, site);
                sites.order.push(*value);
            }
        }
        if sites.of.values().any(|site| site.ty.is_delegate()) {
            sites.find_delegates(function);
        }
        sites
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// In the order of the code.
    pub fn values(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.order.iter().copied()
    }

    /// The allocation that defines this value.
    pub fn get(&self, value: ValueId) -> Option<&Site> {
        self.of.get(&value)
    }

    fn find_delegates(&mut self, function: &Function) {
        let mut seen = FxHashSet::default();
        for value in function.blocks.iter().flat_map(|block| &block.insts) {
            let Op::Call { target: CallTarget::Helper(HelperId::DelegateInit), args, .. } =
                &function.insts[value.0 as usize].op
            else {
                continue;
            };
            let [object, target, code, method] = args[..] else { continue };
            let Some(site) = self.of.get_mut(&object) else { continue };
            site.delegate = match seen.insert(object) {
                true => delegate(function, site.ty, [*value, target, code, method]).ok().flatten(),
                false => None,
            };
        }
        for site in self.of.values_mut().filter(|site| site.ty.is_delegate()) {
            site.refusal = match site.delegate {
                Some(_) => None,
                None => Some(Escape::UnknownDelegate),
            };
        }
    }

    /// Whether a value is certainly an object.
    pub fn is_object(&self, function: &Function, value: ValueId) -> bool {
        match function.insts[value.0 as usize].op {
            Op::NewObject(_) | Op::NewArray(..) | Op::NewString(_) => true,
            Op::LocalGet(local) => {
                let info = &function.locals[local.0 as usize];
                let is_set = |value: &ValueId| matches!(function.insts[value.0 as usize].op, Op::LocalSet(set, _) if set == local);
                function.sig.has_this
                    && function.sig.params.first() == Some(&IrType::Ref)
                    && info.kind == LocalKind::Param(0)
                    && !info.address_exposed
                    && !function.blocks.iter().flat_map(|block| &block.insts).any(is_set)
            }
            _ => false,
        }
    }
}

/// Whether a call runs the constructor of System.Object, which does nothing.
pub(super) fn is_empty_constructor(target: &CallTarget) -> bool {
    matches!(target, CallTarget::Direct(method) if method.is_constructor() && method.owner == universe().object())
}

fn site(ty: Ty) -> LoadResult<Site> {
    let size_bytes = ty.instance_size_bytes()?.next_multiple_of(8);
    let mut site = Site { ty, size_bytes, leaves: None, delegate: None, refusal: None };
    if ty.is_value_type() {
        let header = OBJECT_HEADER_BYTES as i32;
        site.leaves = match memory_type(ty)? {
            Some(mem) => Some(vec![Leaf { offset_bytes: header, mem }]),
            None => leaves(ty, MAX_LEAVES, false).map(|mut found| {
                found.iter_mut().for_each(|leaf| leaf.offset_bytes += header);
                found
            }),
        };
        if size_bytes > MAX_BOX_BYTES {
            site.refusal = Some(Escape::Large);
        }
        return Ok(site);
    }
    if ty.finalizer()?.is_some() {
        site.refusal = Some(Escape::Finalizer);
    } else if ty.is_delegate() {
        // What it was made of is known, or it stays an object.
        site.leaves = Some(Vec::new());
    } else {
        site.leaves = fields(ty)?;
        if site.leaves.is_none() {
            site.refusal = Some(Escape::Large);
        }
    }
    Ok(site)
}

/// The scalars of a class's instance fields; None if they are too many, or overlap.
fn fields(ty: Ty) -> LoadResult<Option<Vec<Leaf>>> {
    let mut found = Vec::new();
    let mut class = Some(ty);
    while let Some(ty) = class {
        if ty.flags() & type_flags::LAYOUT_MASK == type_flags::EXPLICIT_LAYOUT {
            return Ok(None);
        }
        for field in ty.fields()?.iter().filter(|field| !field.is_static()) {
            let (field_ty, offset_bytes) = (field.storage_ty()?, field.offset_bytes()? as i32);
            match memory_type(field_ty)? {
                Some(mem) => found.push(Leaf { offset_bytes, mem }),
                None => {
                    let Some(nested) = leaves(field_ty, MAX_LEAVES, false) else { return Ok(None) };
                    found.extend(
                        nested.into_iter().map(|leaf| Leaf { offset_bytes: leaf.offset_bytes + offset_bytes, ..leaf }),
                    );
                }
            }
        }
        if found.len() > MAX_LEAVES {
            return Ok(None);
        }
        class = ty.parent()?;
    }
    found.sort_by_key(|leaf| leaf.offset_bytes);
    let overlaps = found.windows(2).any(|w| w[0].offset_bytes + access_bytes(w[0].mem) > w[1].offset_bytes);
    Ok((!overlaps).then_some(found))
}

fn delegate(function: &Function, ty: Ty, [init, target, code, method]: [ValueId; 4]) -> LoadResult<Option<Delegate>> {
    let op = |value: ValueId| &function.insts[value.0 as usize].op;
    let (&Op::SymbolAddr(Symbol::MethodEntry(called)), &Op::SymbolAddr(Symbol::MethodHandle(of))) =
        (op(code), op(method))
    else {
        return Ok(None);
    };
    if !std::ptr::eq(called, of) || !is_made_in_line(of) {
        return Ok(None);
    }
    let kind = delegate_kind(ty, of, true)?;
    let is_known = match kind {
        DelegateKind::ClosedInstance => true,
        DelegateKind::OpenStatic => matches!(op(target), Op::Null),
        _ => false,
    };
    let fields = DelegateFields::load()?;
    Ok(is_known.then_some(Delegate { init, target, code, method, kind, fields }))
}
