//! Where a store of references goes, in both compilers: memory that every collection scans, a heap object, or anywhere.

use saki_il::ir::{BinOp, ConvTarget, Function, IrType, LocalId, Op, Symbol, ValueId};
use saki_types::{LoadResult, Ty};

/// Steps of address arithmetic that are followed back.
const ADDRESS_STEPS: usize = 8;

/// The destination of a reference store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Destination {
    /// This frame, or a store of null: no barrier, and no other thread finds an object by it.
    Private,
    /// Statics, which every collection scans: no barrier.
    Root,
    /// This heap object.
    Object(ValueId),
    /// Unknown memory.
    Unknown,
}

/// The destination of a store of `value`; `object`: the heap object, if the importer knows it. `is_in_frame`: whether a
/// local's memory is part of a frame of this method.
pub(crate) fn store_destination(
    func: &Function,
    object: Option<ValueId>,
    addr: ValueId,
    value: ValueId,
    is_in_frame: impl Fn(LocalId) -> bool,
) -> Destination {
    match object {
        _ if constant(func, value) == Some(0) => Destination::Private,
        Some(object) => Destination::Object(object),
        None => of_address(func, addr, is_in_frame),
    }
}

/// The destination to which an address belongs, as far as its computation shows.
pub(crate) fn of_address(func: &Function, mut addr: ValueId, is_in_frame: impl Fn(LocalId) -> bool) -> Destination {
    let is_reference = |id: ValueId| func.insts.get(id.0 as usize).is_some_and(|inst| inst.ty == IrType::Ref);
    for _ in 0..ADDRESS_STEPS {
        let Some(inst) = func.insts.get(addr.0 as usize) else { break };
        addr = match inst.op {
            Op::ElementAddr { array, .. } if is_reference(array) => return Destination::Object(array),
            Op::Unbox(object, _) => return Destination::Object(object),
            Op::LocalAddr(local) if is_in_frame(local) => return Destination::Private,
            Op::SymbolAddr(Symbol::StaticField(_)) => return Destination::Root,
            Op::Bin(BinOp::Add, base, offset) if constant(func, offset).is_some() => base,
            Op::Bin(BinOp::Add, base, _) if is_reference(base) => return Destination::Object(base),
            _ => break,
        };
    }
    if is_reference(addr) { Destination::Object(addr) } else { Destination::Unknown }
}

/// Whether a copy of a struct of this type makes objects known to other threads, so that what was written to them must
/// be seen before. `barrier`: collections must learn of it; of copies to statics they need not. A copy to an unknown
/// place is made by a helper, which does it.
pub(crate) fn publishes(destination: Destination, ty: Ty, barrier: bool) -> LoadResult<bool> {
    Ok(match destination {
        Destination::Root => barrier || ty.contains_references()?,
        // Without a barrier it is an object that has just been made.
        Destination::Object(_) => barrier,
        Destination::Private | Destination::Unknown => false,
    })
}

/// The value of an integer constant.
pub(crate) fn constant(func: &Function, id: ValueId) -> Option<i64> {
    match func.insts.get(id.0 as usize)?.op {
        Op::ConstI32(n) => Some(i64::from(n)),
        Op::ConstI64(n) => Some(n),
        Op::Null => Some(0),
        Op::Conv { value, checked: false, target, .. } => match (target, &func.insts.get(value.0 as usize)?.op) {
            (ConvTarget::I | ConvTarget::I8, Op::ConstI32(n)) => Some(i64::from(*n)),
            _ => None,
        },
        _ => None,
    }
}
