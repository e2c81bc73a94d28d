//! Boxes that do not escape become locals.
//!
//! A boxed value type whose contents are only loaded and stored (as `Enum.HasFlag` leaves behind) need not be
//! allocated: its value becomes a local, which `promote` then keeps in variables.

use crate::import::kinds::mem_type as memory_type;
use crate::ir::{Function, Inst, IrType, Local, LocalId, LocalKind, Op, ValueId, verify};
use rustc_hash::FxHashMap;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_types::Ty;

/// Runs the pass.
pub(super) fn run(function: &mut Function) {
    let mut boxes: FxHashMap<ValueId, Ty> = FxHashMap::default();
    for value in function.blocks.iter().flat_map(|b| &b.insts) {
        if let Op::NewObject(ty) = function.insts[value.0 as usize].op
            && ty.is_value_type()
        {
            boxes.insert(*value, ty);
        }
    }
    if boxes.is_empty() {
        return;
    }
    for block in &function.blocks {
        for value in &block.insts {
            let op = &function.insts[value.0 as usize].op;
            match op {
                Op::Load { addr, offset, flags, .. } if is_inside(*offset) && !flags.volatile => {
                    debug_assert!(*addr != *value);
                }
                Op::Store { value: stored, offset, flags, .. } if is_inside(*offset) && !flags.volatile => {
                    boxes.remove(stored);
                }
                Op::NullCheck(_) => {}
                _ => verify::operands(op, &mut |used| {
                    boxes.remove(&used);
                }),
            }
        }
        verify::terminator_operands(&block.terminator, &mut |used| {
            boxes.remove(&used);
        });
    }
    if !boxes.is_empty() {
        replace(function, &boxes);
    }
}

fn is_inside(offset: i32) -> bool {
    offset >= OBJECT_HEADER_BYTES as i32
}

fn replace(function: &mut Function, boxes: &FxHashMap<ValueId, Ty>) {
    for block in 0..function.blocks.len() {
        let old = std::mem::take(&mut function.blocks[block].insts);
        let mut new = Vec::with_capacity(old.len());
        for value in old {
            let header = OBJECT_HEADER_BYTES as i32;
            let il_offset = function.insts[value.0 as usize].il_offset;
            match &mut function.insts[value.0 as usize].op {
                Op::Load { addr, offset, .. } | Op::Store { addr, offset, .. } if boxes.contains_key(addr) => {
                    *offset -= header;
                }
                Op::NullCheck(checked) if boxes.contains_key(checked) => continue,
                Op::NewObject(ty) if boxes.contains_key(&value) => {
                    let ty = *ty;
                    let local = local_for(function, ty);
                    function.insts[value.0 as usize] = Inst { op: Op::LocalAddr(local), ty: IrType::ByRef, il_offset };
                    new.push(value);
                    zero(function, local, value, il_offset, &mut new);
                    continue;
                }
                _ => {}
            }
            new.push(value);
        }
        function.blocks[block].insts = new;
    }
}

fn local_for(function: &mut Function, ty: Ty) -> LocalId {
    let ir = match memory_type(ty) {
        Ok(Some(mem)) => mem.loaded(),
        _ => IrType::Struct(ty),
    };
    let id = LocalId(function.locals.len() as u32);
    function.locals.push(Local {
        ty: ir,
        kind: LocalKind::Normal,
        address_exposed: true,
        zero_init: false,
        pinned: false,
    });
    id
}

/// Zeroes the local, as a new object is zeroed.
fn zero(function: &mut Function, local: LocalId, addr: ValueId, il_offset: u32, out: &mut Vec<ValueId>) {
    let ty = function.locals[local.0 as usize].ty;
    let mut emit = |op: Op, ty: IrType| {
        let id = ValueId(function.insts.len() as u32);
        function.insts.push(Inst { op, ty, il_offset });
        out.push(id);
        id
    };
    let zero = match ty {
        IrType::Struct(ty) => {
            emit(Op::InitStruct { addr, ty }, IrType::Void);
            return;
        }
        IrType::I32 => emit(Op::ConstI32(0), ty),
        IrType::F32 => emit(Op::ConstF32(0.0), ty),
        IrType::F64 => emit(Op::ConstF64(0.0), ty),
        _ => emit(Op::ConstI64(0), ty),
    };
    emit(Op::LocalSet(local, zero), IrType::Void);
}
