//! Type tests and unboxing.
//!
//! A class test compares the vtable (sealed classes) or looks the class up in the display of ancestors. For interfaces
//! and other types that these cannot decide, the vtable caches a few outcomes (`abi::vtable::Casts`). Other outcomes,
//! and every failure that must throw, are left to the runtime.

use super::clif_builder::MemoryKind;
use super::context::Lowering;
use crate::error::Lowered;
use crate::type_facts::{CastKind, cast_kind};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value, types};
use saki_abi::HelperId;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_abi::vtable::{
    VTABLE_CAST_HIT_OFFSETS, VTABLE_CAST_MISS_OFFSETS, VTABLE_DEPTH_OFFSET, VTABLE_DISPLAY_OFFSET,
    VTABLE_ELEMENT_TYPE_OFFSET, VTABLE_TYPE_OFFSET,
};
use saki_il::ir::{Symbol, ValueId};
use saki_types::Ty;

pub(super) fn cast_class(cx: &mut Lowering<'_, '_>, id: ValueId, ty: Ty) -> Lowered<Value> {
    let object = cx.value_as(id, types::I64)?;
    let kind = cast_kind(ty)?;
    if kind == CastKind::Always {
        return Ok(object);
    }
    let test = cx.new_block(false);
    let next = cx.new_block(false);
    cx.branch(object, test, next);
    cx.continue_in(test);
    let slow = cx.new_block(true);
    class_test(cx, object, kind, ty, next, slow);
    cx.continue_in(slow);
    call_cast_helper(cx, HelperId::CastClass, object, ty);
    cx.jump_clif(next, &[]);
    cx.continue_in(next);
    Ok(object)
}

pub(super) fn is_instance(cx: &mut Lowering<'_, '_>, id: ValueId, ty: Ty) -> Lowered<Value> {
    let object = cx.value_as(id, types::I64)?;
    let kind = cast_kind(ty)?;
    if kind == CastKind::Always {
        return Ok(object);
    }
    let test = cx.new_block(false);
    let done = cx.new_block(false);
    let result = cx.b.append_block_param(done, types::I64);
    cx.b.ins().brif(object, test, &[], done, &[object.into()]);
    cx.continue_in(test);
    let yes = cx.new_block(false);
    let no = cx.new_block(false);
    let vtable = class_test(cx, object, kind, ty, yes, no);
    cx.continue_in(yes);
    cx.jump_clif(done, &[object]);
    cx.continue_in(no);
    let other = match kind {
        CastKind::Runtime => {
            let wanted = cx.symbol_address(Symbol::TypeHandle(ty));
            let null = cx.i64_const(0);
            for (number, offset) in VTABLE_CAST_MISS_OFFSETS.into_iter().enumerate() {
                let other = cx.new_block(number + 1 == VTABLE_CAST_MISS_OFFSETS.len());
                let missed = remembered(cx, vtable, offset, wanted);
                cx.b.ins().brif(missed, done, &[null.into()], other, &[]);
                cx.continue_in(other);
            }
            call_cast_helper(cx, HelperId::IsInst, object, ty)
        }
        CastKind::ExactOrRuntime(_) | CastKind::Display { or_runtime: true, .. } => {
            call_cast_helper(cx, HelperId::IsInst, object, ty)
        }
        _ => cx.i64_const(0),
    };
    cx.jump_clif(done, &[other]);
    cx.continue_in(done);
    Ok(result)
}

fn call_cast_helper(cx: &mut Lowering<'_, '_>, helper: HelperId, object: Value, ty: Ty) -> Value {
    let ty = cx.symbol_address(Symbol::TypeHandle(ty));
    cx.call_helper(helper, &[object, ty]).expect("casts have a result")
}

/// Whether a word of the vtable's `Casts` holds the type `wanted`.
fn remembered(cx: &mut Lowering<'_, '_>, vtable: Value, offset: i32, wanted: Value) -> Value {
    // Any earlier value of the word is acceptable.
    let flags = cx.trusted(MemoryKind::ClassData);
    let word = cx.b.ins().load(types::I64, flags, vtable, offset);
    cx.b.ins().icmp(IntCC::Equal, word, wanted)
}

/// Ends the block with a branch to `yes` if the object (not null) is of the type, else to `no`. Returns the object's
/// vtable.
fn class_test(
    cx: &mut Lowering<'_, '_>,
    object: Value,
    kind: CastKind,
    ty: Ty,
    yes: ClifBlock,
    no: ClifBlock,
) -> Value {
    let flags = cx.trusted(MemoryKind::VTableWord);
    let vtable = cx.b.ins().load(types::I64, flags, object, saki_abi::object::OBJECT_VTABLE_OFFSET);
    match kind {
        CastKind::Exact(exact) | CastKind::ExactOrRuntime(exact) => {
            let wanted = cx.symbol_address(Symbol::VTable(exact));
            let same = cx.b.ins().icmp(IntCC::Equal, vtable, wanted);
            cx.branch(same, yes, no);
        }
        CastKind::Display { index, .. } => {
            let flags = cx.trusted(MemoryKind::ClassData);
            let depth = cx.b.ins().load(types::I32, flags, vtable, VTABLE_DEPTH_OFFSET);
            let deep_enough = cx.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, depth, i64::from(index));
            let look = cx.new_block(false);
            cx.branch(deep_enough, look, no);
            cx.continue_in(look);
            let display = cx.b.ins().load(types::I64, flags, vtable, VTABLE_DISPLAY_OFFSET);
            let ancestor = cx.b.ins().load(types::I64, flags, display, (index * 8) as i32);
            let wanted = cx.symbol_address(Symbol::TypeHandle(ty));
            let same = cx.b.ins().icmp(IntCC::Equal, ancestor, wanted);
            cx.branch(same, yes, no);
        }
        CastKind::Runtime => {
            let [first, second] = VTABLE_CAST_HIT_OFFSETS;
            let other = cx.new_block(false);
            let wanted = cx.symbol_address(Symbol::TypeHandle(ty));
            let same = remembered(cx, vtable, first, wanted);
            cx.branch(same, yes, other);
            cx.continue_in(other);
            let same = remembered(cx, vtable, second, wanted);
            cx.branch(same, yes, no);
        }
        CastKind::Always => cx.jump_clif(yes, &[]),
    }
    vtable
}

pub(super) fn unbox(cx: &mut Lowering<'_, '_>, id: ValueId, ty: Ty) -> Lowered<Value> {
    let object = cx.value_as(id, types::I64)?;
    let vtable = cx.vtable_of(Some(id), object);
    let wanted = cx.symbol_address(Symbol::VTable(ty));
    let same = cx.b.ins().icmp(IntCC::Equal, vtable, wanted);
    let slow = cx.new_block(true);
    let next = cx.new_block(false);
    let result = cx.b.append_block_param(next, types::I64);
    let inside = cx.b.ins().iadd_imm_u(object, i64::from(OBJECT_HEADER_BYTES));
    cx.b.ins().brif(same, next, &[inside.into()], slow, &[]);
    cx.continue_in(slow);
    let address = call_cast_helper(cx, HelperId::Unbox, object, ty);
    cx.jump_clif(next, &[address]);
    cx.continue_in(next);
    Ok(result)
}

/// The array store check. In line pass null, a value of exactly the element type, any value in an `object[]`, and
/// values whose vtable remembers the element type.
pub(super) fn check_array_store(cx: &mut Lowering<'_, '_>, array: ValueId, value: ValueId) -> Lowered {
    if cx.constant(value) == Some(0) {
        return Ok(());
    }
    let (array, value) = (cx.value_as(array, types::I64)?, cx.value_as(value, types::I64)?);
    let next = cx.new_block(false);
    let test = cx.new_block(false);
    cx.branch(value, test, next);
    cx.continue_in(test);
    let array_vtable = cx.vtable_of(None, array);
    let flags = cx.trusted(MemoryKind::ClassData);
    let wanted = cx.b.ins().load(types::I64, flags, array_vtable, VTABLE_ELEMENT_TYPE_OFFSET);
    let word = cx.trusted(MemoryKind::VTableWord);
    let vtable = cx.b.ins().load(types::I64, word, value, saki_abi::object::OBJECT_VTABLE_OFFSET);
    let ty = cx.b.ins().load(types::I64, flags, vtable, VTABLE_TYPE_OFFSET);
    let same = cx.b.ins().icmp(IntCC::Equal, wanted, ty);
    let other = cx.new_block(false);
    cx.branch(same, next, other);
    cx.continue_in(other);
    let object = cx.symbol_address(Symbol::TypeHandle(saki_types::universe().object()));
    let any = cx.b.ins().icmp(IntCC::Equal, wanted, object);
    let known = cx.new_block(false);
    cx.branch(any, next, known);
    cx.continue_in(known);
    let same = remembered(cx, vtable, VTABLE_CAST_HIT_OFFSETS[0], wanted);
    let slow = cx.new_block(true);
    cx.branch(same, next, slow);
    cx.continue_in(slow);
    cx.call_helper(HelperId::CheckArrayStore, &[array, value]);
    cx.jump_clif(next, &[]);
    cx.continue_in(next);
    Ok(())
}
