//! Replaces objects that do not escape by blocks of bytes in the frame, of the same layout.

use super::aliases::Aliases;
use super::sites::{Site, Sites, is_empty_constructor};
use crate::ir::{
    AliasClass, BinOp, CmpOp, Function, Inst, IrType, Local, LocalId, LocalKind, MemFlags, MemType, NullCheck, Op,
    Terminator, ValueId,
};
use crate::opt::leaves::Leaf;
use rustc_hash::FxHashMap;
use saki_abi::object::OBJECT_HEADER_BYTES;

/// Runs the pass; returns the blocks with the scalars that they consist of.
pub(super) fn run(
    function: &mut Function,
    sites: &Sites,
    aliases: &Aliases,
    replaced: &[ValueId],
) -> FxHashMap<LocalId, Vec<Leaf>> {
    let mut replacement = Replacement { function, aliases, blocks: FxHashMap::default() };
    let mut scalars = FxHashMap::default();
    for &value in replaced {
        let Some(site) = sites.get(value) else { continue };
        let local = replacement.block_for(site);
        replacement.blocks.insert(value, local);
        if let Some(leaves) = &site.leaves {
            scalars.insert(local, leaves.clone());
        }
    }
    for block in 0..replacement.function.blocks.len() {
        let old = std::mem::take(&mut replacement.function.blocks[block].insts);
        let mut new = Vec::with_capacity(old.len());
        for value in old {
            replacement.inst(value, sites, &mut new);
        }
        replacement.function.blocks[block].insts = new;
        if let Terminator::Brif { cond, then, .. } = replacement.function.blocks[block].terminator
            && replacement.block_of(cond).is_some()
        {
            replacement.function.blocks[block].terminator = Terminator::Jump(then);
        }
    }
    scalars
}

struct Replacement<'a> {
    function: &'a mut Function,
    aliases: &'a Aliases,
    /// By allocation that is replaced.
    blocks: FxHashMap<ValueId, LocalId>,
}

const PLAIN: MemFlags =
    MemFlags { null_check: NullCheck::None, alias: AliasClass::Any, volatile: false, unaligned: false };

impl Replacement<'_> {
    fn block_for(&mut self, site: &Site) -> LocalId {
        let id = LocalId(self.function.locals.len() as u32);
        self.function.locals.push(Local {
            ty: IrType::Block(site.size_bytes),
            kind: LocalKind::Normal,
            address_exposed: true,
            zero_init: false,
            pinned: false,
        });
        id
    }

    /// The block into which a value leads, and how far.
    fn block_of(&self, value: ValueId) -> Option<(LocalId, i32)> {
        let alias = self.aliases.get(value)?;
        self.blocks.get(&alias.site).map(|local| (*local, alias.offset))
    }

    fn emit(&mut self, op: Op, ty: IrType, il_offset: u32, out: &mut Vec<ValueId>) -> ValueId {
        let id = ValueId(self.function.insts.len() as u32);
        self.function.insts.push(Inst { op, ty, il_offset });
        out.push(id);
        id
    }

    fn inst(&mut self, value: ValueId, sites: &Sites, out: &mut Vec<ValueId>) {
        let il_offset = self.function.insts[value.0 as usize].il_offset;
        let op = self.function.insts[value.0 as usize].op.clone();
        match op {
            Op::NewObject(_) if self.blocks.contains_key(&value) => {
                let local = self.blocks[&value];
                self.become_op(value, Op::LocalAddr(local), IrType::ByRef);
                out.push(value);
                if let Some(site) = sites.get(value) {
                    self.zero(value, site, il_offset, out);
                }
                return;
            }
            Op::NullCheck(checked) | Op::LocalSet(_, checked) if self.block_of(checked).is_some() => return,
            Op::Call { ref args, .. } if args.first().is_some_and(|first| self.is_delegate(*first, value, sites)) => {
                return;
            }
            Op::Call { ref target, ref args, .. }
                if is_empty_constructor(target) && self.block_of(args[0]).is_some() =>
            {
                return;
            }
            Op::Cmp(compare @ (CmpOp::Eq | CmpOp::NeUn), a, b)
                if self.block_of(a).is_some() || self.block_of(b).is_some() =>
            {
                let are_equal = self.aliases.get(a) == self.aliases.get(b);
                let outcome = i32::from(are_equal == (compare == CmpOp::Eq));
                self.become_op(value, Op::ConstI32(outcome), IrType::I32);
            }
            // An address with a constant offset stays what it is.
            Op::Bin(..) => {}
            Op::LocalGet(_) | Op::CastClass(..) | Op::IsInst(..) | Op::Unbox(..) => {
                if let Some((local, offset)) = self.block_of(value) {
                    if offset == 0 {
                        self.become_op(value, Op::LocalAddr(local), IrType::ByRef);
                    } else {
                        let start = self.emit(Op::LocalAddr(local), IrType::ByRef, il_offset, out);
                        let bytes = self.emit(Op::ConstI64(i64::from(offset)), IrType::I64, il_offset, out);
                        self.become_op(value, Op::Bin(BinOp::Add, start, bytes), IrType::ByRef);
                    }
                }
            }
            Op::StoreRef { addr, offset, value: stored, flags, .. } if self.block_of(addr).is_some() => {
                let flags = MemFlags { unaligned: flags.unaligned, ..PLAIN };
                self.become_op(
                    value,
                    Op::Store { addr, offset, value: stored, mem: MemType::Ref, flags },
                    IrType::Void,
                );
            }
            Op::Load { addr, .. } | Op::Store { addr, .. } if self.block_of(addr).is_some() => {
                let (Op::Load { flags, .. } | Op::Store { flags, .. }) = &mut self.function.insts[value.0 as usize].op
                else {
                    return;
                };
                *flags = MemFlags { unaligned: flags.unaligned, ..PLAIN };
            }
            Op::CopyStruct { dst, src, .. } => {
                let (to, from) = (self.block_of(dst).is_some(), self.block_of(src).is_some());
                if let Op::CopyStruct { barrier, flags, .. } = &mut self.function.insts[value.0 as usize].op
                    && (to || from)
                {
                    *barrier &= !to;
                    flags.alias = AliasClass::Any;
                }
            }
            _ => {}
        }
        out.push(value);
    }

    fn become_op(&mut self, value: ValueId, op: Op, ty: IrType) {
        let inst = &mut self.function.insts[value.0 as usize];
        (inst.op, inst.ty) = (op, ty);
    }

    /// Whether the call makes this delegate, which is replaced.
    fn is_delegate(&self, object: ValueId, call: ValueId, sites: &Sites) -> bool {
        let delegate = sites.get(object).and_then(|site| site.delegate.as_ref());
        self.blocks.contains_key(&object) && delegate.is_some_and(|delegate| delegate.init == call)
    }

    /// Zeroes the fields, as those of a new object are.
    fn zero(&mut self, addr: ValueId, site: &Site, il_offset: u32, out: &mut Vec<ValueId>) {
        let Some(leaves) = &site.leaves else {
            let header = self.emit(Op::ConstI64(i64::from(OBJECT_HEADER_BYTES)), IrType::I64, il_offset, out);
            let start = self.emit(Op::Bin(BinOp::Add, addr, header), IrType::ByRef, il_offset, out);
            self.emit(Op::InitStruct { addr: start, ty: site.ty }, IrType::Void, il_offset, out);
            return;
        };
        for leaf in leaves {
            let zero = self.emit(leaf.zero(), leaf.ir_type(), il_offset, out);
            let store = Op::Store { addr, offset: leaf.offset_bytes, value: zero, mem: leaf.mem, flags: PLAIN };
            self.emit(store, IrType::Void, il_offset, out);
        }
    }
}
